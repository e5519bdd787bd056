"""The notebooks of the docs: every cell runs, and says what the notebook shows."""

import json
from pathlib import Path

import pytest

from tests.helpers.hooks import hook as hook_of

DOCS = Path(__file__).parents[1] / "docs"
hook = hook_of("notebooks")


@pytest.mark.parametrize("name", ["first-policy", "portfolio"])
def test_a_notebook_gives_what_it_shows(name):
    notebook = json.loads((DOCS / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    before = [hook.text_of(cell["outputs"]) for cell in hook.code_cells(notebook)]
    assert [hook.text_of(outputs) for outputs in hook.executed(notebook)] == before
    assert sum(map(bool, before)) >= 5


def test_every_notebook_is_run():
    assert {path.stem for path in (DOCS / "notebooks").glob("*.ipynb")} == {"first-policy", "portfolio"}
