"""The page on runs: its session runs, and its table has every option as the command has it."""

import dataclasses
import doctest
import re
from pathlib import Path

from steadyrl.cli._train import _text

from steadyrl.runs.config import RunConfig, field_docs, field_types

PAGE = Path(__file__).parents[2] / "docs" / "runs.md"


def test_the_session_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = doctest.testfile(str(PAGE), module_relative=False)
    assert result.failed == 0
    assert result.attempted >= 7


def test_every_option_is_in_the_table():
    rows = re.findall(r"^\| `(?:--)?([\w-]+)` \| (.*) \|$", PAGE.read_text().partition("## Options")[2], re.MULTILINE)
    expected = []
    for field in dataclasses.fields(RunConfig):
        given = field.default is not dataclasses.MISSING and not field_types()[field.name][1]
        name = "ENV" if field.name == "env" else field.name.replace("_", "-")
        default = f"`{_text(field.default)}`" if given else ""
        expected.append((name, f"{default} | {field_docs()[field.name]}"))
    assert [(name, row.lstrip()) for name, row in rows] == [(name, row.lstrip()) for name, row in expected]
