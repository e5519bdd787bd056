"""Show files of `results/` in the site.

A page links to them as they lie in the repository, `../results/estimators/bias.png`, which also works where the page is
read there. MkDocs sees no file outside docs/, so each one that a page links to is added to the site, as `results/...`.
"""

import re
from pathlib import Path
from typing import Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

LINK: Final = re.compile(r"(\]\((?:\.\./)*)\.\./(results/[^)\s]+\))")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what pages link to."""
    root = Path(config.docs_dir).parent
    for page in list(files.documentation_pages()):
        for _, target in LINK.findall(page.content_string):
            path = target.removesuffix(")")
            if files.get_file_from_path(path) is None:
                files.append(File.generated(config, path, abs_src_path=str(root / path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Point the links at what was added."""
    return LINK.sub(r"\1\2", markdown)
