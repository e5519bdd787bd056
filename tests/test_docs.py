"""The documentation, run: its code gives what it shows, its links lead somewhere, its numbers are those measured."""

import ast
import contextlib
import csv
import doctest
import importlib
import io
import re
import shlex
import signal
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from steadyrl import estimators, measures
from steadyrl.cli import COMMANDS, main
from steadyrl.cli.parser import Parser
from steadyrl.ground import errors
from steadyrl.runs.config import all_options

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
RUN = (
    "index", "theory", "measures", *(f"measures/{page.stem}" for page in sorted((DOCS / "measures").glob("*.md"))),
    "estimators", "rollouts", "algorithms", "command-line", "frontier", "integrations", "own-loop", "own-network",
)  # fmt: skip
FENCE = re.compile(r"^```([\w-]*)[^\n]*\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"# -> ?(.*)$")
SLOW = ("reproduce",)


@cache
def text(page: str) -> str:
    return (DOCS / f"{page}.md").read_text(encoding="utf-8")


# Code


def run_python(source: str, namespace: dict[str, Any]) -> list[tuple[str, str]]:
    """Run a block statement by statement: (shown, printed) for each with `# -> ...` after it."""
    lines = source.splitlines()
    statements = ast.parse(source).body
    ends = [*(s.lineno - 1 for s in statements[1:]), len(lines)]
    pairs = []
    for statement, end in zip(statements, ends, strict=True):
        last = statement.end_lineno or statement.lineno
        comments = [match[1].strip() for line in lines[last - 1 : end] if (match := SHOWN.search(line))]
        printed = _run(statement, namespace)
        if comments:
            pairs.append(("\n".join(comments), "\n".join(line.strip() for line in printed.strip().splitlines())))
    return pairs


def _run(statement: ast.stmt, namespace: dict[str, Any]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        if isinstance(statement, ast.Expr):
            value = eval(compile(ast.Expression(statement.value), "<page>", "eval"), namespace)
            if value is not None:
                out.write(f"{value!r}\n")
        else:
            exec(compile(ast.Module([statement], []), "<page>", "exec"), namespace)
    return out.getvalue()


def run_session(source: str, namespace: dict[str, Any]) -> list[tuple[str, str]]:
    test = doctest.DocTestParser().get_doctest(source, {}, "page", None, 0)
    test.globs = namespace
    report: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=report.append, clear_globs=False)
    return [("", "".join(report))]


def run_commands(source: str, capsys: pytest.CaptureFixture[str]) -> list[tuple[str, str]]:
    """Each `$ steadyrl ...` and what is shown below it; `...` stands for anything. Other commands only explain."""
    pairs = []
    for part in re.split(r"^\$ ", source, flags=re.MULTILINE)[1:]:
        command, _, output_shown = part.partition("\n")
        words = shlex.split(command)
        if words[0] == "steadyrl" and words[1] not in SLOW and not set(words) & {"|", "<", ">"}:
            capsys.readouterr()
            main(words[1:])
            captured = capsys.readouterr()
            printed = "\n".join(line.rstrip() for line in (captured.out + captured.err).splitlines())
            same = doctest.OutputChecker().check_output(
                f"{output_shown.strip()}\n", f"{printed.strip()}\n", doctest.ELLIPSIS
            )
            pairs.append(("", "" if same else f"$ {command}\n{printed}"))
    return pairs


@pytest.mark.parametrize("page", RUN)
def test_the_code_on_a_page_gives_what_the_page_shows(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    namespace: dict[str, Any] = {"__name__": "__page__"}
    pairs = []
    for language, source in FENCE.findall(text(page)):
        if language == "python":
            pairs += run_python(source, namespace)
        elif language == "pycon":
            pairs += run_session(source, namespace)
        elif language == "console":
            pairs += run_commands(source, capsys)
    assert [on_page for on_page, _ in pairs] == [printed for _, printed in pairs]
    assert pairs


def test_every_shown_output_is_looked_at():
    for page in RUN:
        blocks = [source for language, source in FENCE.findall(text(page)) if language == "python"]
        assert text(page).count("# -> ") == sum(len(re.findall(r"# -> ", source)) for source in blocks)


def test_a_wrong_output_is_noticed():
    block = "x = 1\nx + 1  # -> 3\nprint('a')\nprint('b')\n# -> b\n"
    assert run_python(block, {}) == [("3", "2"), ("b", "b")]
    assert run_session(">>> 1 + 1\n2\n", {}) == [("", "")]
    assert "Got:\n    2" in run_session(">>> 1 + 1\n3\n", {})[0][1]


# Links


def links(path: Path) -> Iterator[str]:
    prose = re.sub(r"`[^`\n]*`", "", FENCE.sub("", path.read_text(encoding="utf-8")))
    yield from (target for target in re.findall(r"\]\(([^)\s]+)\)", prose) if "://" not in target)


@cache
def anchors(path: Path) -> set[str]:
    page = FENCE.sub("", path.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.*)$", page, flags=re.MULTILINE)
    words = (re.sub(r"[^\w\s-]", "", heading).strip().lower() for heading in headings)
    return {re.sub(r"[-\s]+", "-", word) for word in words} | set(re.findall(r"^::: (\S+)", page, flags=re.MULTILINE))


@pytest.mark.parametrize("path", [ROOT / "README.md", *PAGES], ids=lambda path: path.name)
def test_links_lead_to_files_and_headings_that_exist(path):
    for target in links(path):
        file, _, anchor = target.partition("#")
        there = (path.parent / file).resolve() if file else path
        assert there.exists(), target
        assert not anchor or anchor in anchors(there), target


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert [page.name for page in PAGES if f": {page.relative_to(DOCS).as_posix()}\n" not in navigation] == []


def test_the_first_page_links_to_every_other_one():
    targets = set(links(DOCS / "index.md"))
    others = {page.relative_to(DOCS).as_posix() for page in PAGES} - {"index.md"}
    assert sorted(others - targets) == [], "add them to the table at the end of docs/index.md"


def test_the_settings_name_no_address_to_fetch_from():
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "font: false" in settings
    assert "://" not in settings


# Names


MODULES = (
    "algorithms", "estimators", "evaluate", "envs", "measures", "policies", "rollouts", "runs", "studies",
    "ground", "actors", "integrations", "frontiers",
)  # fmt: skip
DOTTED = re.compile(rf"`(?:steadyrl\.)?((?:{'|'.join(MODULES)})(?:\.\w+)+)(?:\([^`]*\))?`")


def resolve(name: str) -> Any:
    thing: Any = importlib.import_module("steadyrl")
    for part in name.split("."):
        try:
            thing = getattr(thing, part)
        except AttributeError:
            thing = importlib.import_module(f"{thing.__name__}.{part}")
    return thing


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_names_in_the_text_exist(path):
    for name in DOTTED.findall(path.read_text(encoding="utf-8")):
        if not name.startswith("integrations.torchrl") or find_spec("tensordict") is not None:
            resolve(name)


@pytest.mark.parametrize(
    "module", ["estimators", "envs", "measures", "policies", "rollouts", "runs", "studies", "integrations", "frontiers"]
)
def test_every_public_name_is_on_the_api_page(module):
    documented = re.findall(rf"^::: steadyrl\.{module}\.(?:\w+\.)*(\w+)$", text("api"), flags=re.MULTILINE)
    public = importlib.import_module(f"steadyrl.{module}").__all__
    assert sorted(set(public) - set(documented)) == []


# Commands


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_and_option_is_on_the_command_page(command):
    section = text("command-line").partition(f"\n## {command}\n")[2].partition("\n## ")[0]
    assert f"| [`{command}`](#{command}) |" in text("command-line")
    parser = Parser(f"steadyrl {command}", None)
    importlib.import_module(f"steadyrl.cli.{command}").add_options(parser, [])
    options = {name for action in parser._actions for name in action.option_strings}
    if command in ("train", "frontier"):
        options -= {f"--{name.replace('_', '-')}" for name in all_options()}  # those are on the page about runs
    assert len(parser._actions) >= 1
    assert [option for option in sorted(options) if f"`{option}" not in section] == []


def test_every_exit_code_is_on_the_pages_that_list_them():
    codes = {0, errors.FAILED, errors.BAD_INPUT, errors.DISK, errors.CORRUPT}
    codes |= {errors.Interrupted(number, "").exit_code for number in (signal.SIGINT, signal.SIGTERM)}
    for page in ("command-line", "runs"):
        rows = re.findall(r"^\| ([\d, ]+) \|", text(page).partition("## Exit codes")[2], flags=re.MULTILINE)
        assert sorted(int(code) for row in rows for code in row.split(",")) == sorted(codes)


def test_the_verdicts_shown_are_those_of_the_study():
    claims = (ROOT / "results" / "estimators" / "claims.md").read_text(encoding="utf-8")
    paragraph = text("command-line").partition("# Is it unbiased?")[2].partition("\n...")[0]
    assert paragraph in claims


# Measures and numbers


def test_every_measure_has_a_row_with_its_facts():
    rows = re.findall(r"^\| `(\w+)` \|(.*)\|$", text("measures"), flags=re.MULTILINE)
    cells = {name: [cell.strip() for cell in row.split("|")] for name, row in rows}
    answer = {True: "yes", False: "no"}
    for name in estimators.paper.MEASURES:
        assert name in measures.names()
    for name in measures.names():
        measure = measures.get(name)
        _, degree, coherent, unbiased, parameters = cells[name]
        assert degree == str(measure.facts.degree)
        assert coherent == answer[measure.facts.coherent]
        assert unbiased == answer[measure.facts.unbiased]
        assert sorted(re.findall(r"`(\w+)`", parameters)) == sorted(measure.params)


def table_rows(markdown: str) -> list[str]:
    return [line for line in markdown.splitlines() if line.startswith("| ")]


def test_the_findings_are_those_of_the_study():
    claims = (ROOT / "results" / "estimators" / "claims.md").read_text(encoding="utf-8")
    assert [row for row in table_rows(claims) if row not in text("estimators")] == []


def cells() -> dict[tuple[str, str, int], dict[str, dict[str, float]]]:
    """By (measure, law, n): the numbers of each estimator."""
    by_case: dict[tuple[str, str, int], dict[str, dict[str, float]]] = {}
    with (ROOT / "results" / "estimators" / "table.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            numbers = {k: float(row[k]) for k in ("bias_percent", "variance", "rmse_percent")}
            by_case.setdefault((row["measure"], row["law"], int(row["n"])), {})[row["estimator"]] = numbers
    return by_case


def lost() -> list[str]:
    """A row for each cell where the paper's estimator has the smaller error."""
    rows = []
    for (measure, law, n), of in cells().items():
        paper, ours = of["paper"], of["influence"]
        if paper["rmse_percent"] < ours["rmse_percent"]:
            biases = [f"{of_it['bias_percent']:+.1f}" for of_it in (paper, ours)]
            errors = [f"{of_it['rmse_percent']:.0f}" for of_it in (paper, ours)]
            ratio = f"{paper['variance'] / ours['variance']:.2f}"
            row = [measures.get(measure).label, law, str(n), *biases, ratio, *errors]
            rows.append(f"| {' | '.join(row)} |")
    return rows


def test_the_page_lists_every_case_where_the_papers_estimator_has_the_smaller_error():
    rows = table_rows(text("estimators").partition("## Where ours does not win")[2].partition("\n## ")[0])
    assert sorted(rows[1:]) == sorted(lost())


def test_the_counts_on_the_page_are_those_of_the_study():
    all_cells = list(cells().values())
    better = {
        "the paper's estimator has the smaller error": sum(
            _less(c, "paper", "influence", "rmse_percent") for c in all_cells
        ),
        "the smaller variance": sum(_less(c, "paper", "influence", "variance") for c in all_cells),
        "the smaller bias, as estimated,": sum(_less(c, "influence", "paper", "bias_percent") for c in all_cells),
        "a smaller error than `influence`": sum(_less(c, "jackknife", "influence", "rmse_percent") for c in all_cells),
    }
    for what, count in better.items():
        sentence = next(s for s in re.split(r"[.:]\s", text("estimators")) if what in s)
        assert f"{count} of {len(all_cells)}" in sentence, what


def _less(cell: dict[str, dict[str, float]], one: str, other: str, number: str) -> bool:
    return abs(cell[one][number]) < abs(cell[other][number])
