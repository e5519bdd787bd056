"""The page on runs: its session runs, and its tables have every option as it is declared."""

import doctest
import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from steadyrl.runs.config import all_options

PAGE = Path(__file__).parents[2] / "docs" / "runs.md"


def test_the_session_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert result.failed == 0
    assert result.attempted >= 7


def test_the_tables_are_those_of_the_options():
    spec = spec_from_file_location("options_hook", PAGE.parent / "hooks" / "options.py")
    hook = module_from_spec(spec)
    spec.loader.exec_module(hook)
    assert PAGE.read_text() == hook.page(PAGE.read_text()), "run docs/hooks/options.py"


def test_every_option_is_in_a_table():
    rows = re.findall(r"^\| `(?:--)?([\w-]+)` \| .* \|$", PAGE.read_text().partition("## Options")[2], re.MULTILINE)
    assert {name.lower().replace("-", "_") for name in rows} == set(all_options())
