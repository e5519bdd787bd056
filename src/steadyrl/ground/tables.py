"""Tables for people who look: HTML for notebooks, and pandas where it is installed."""

import html
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any


def html_table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as a notebook shows it; nothing in it is taken for markup.

    >>> html_table("<b>", ["x"], [["1 < 2"]])
    '<table><caption>&lt;b&gt;</caption><tr><th>x</th></tr><tr><td>1 &lt; 2</td></tr></table>'
    """
    lines = [_line("th", head)] if head else []
    body = "".join([*lines, *(_line("td", row) for row in rows)])
    return f"<table><caption>{html.escape(title)}</caption>{body}</table>"


def frame(rows: Sequence[Mapping[str, Any]]) -> Any:
    """A pandas DataFrame with a row for each mapping; an ImportError says how to get pandas."""
    try:
        pandas = import_module("pandas")
    except ImportError as error:
        raise ImportError("frame() needs pandas: pip install pandas") from error
    return pandas.DataFrame(list(rows))


def _line(tag: str, entries: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{html.escape(entry)}</{tag}>' for entry in entries)}</tr>"
