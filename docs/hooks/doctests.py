"""Show the sessions in docstrings as code: Markdown would take `>>>` for three quotations."""

import re
from typing import Any, Final

import griffe

SESSION: Final = re.compile(r"(?:^>>> .*(?:\n(?!\s*$).*)*)", flags=re.MULTILINE)


class Doctests(griffe.Extension):
    """Puts a fence around each session of each docstring."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:  # noqa: ARG002
        """Called for every module, class, function and attribute."""
        if obj.docstring is not None:
            obj.docstring.value = SESSION.sub(r"```pycon\n\g<0>\n```", obj.docstring.value)
