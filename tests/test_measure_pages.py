"""A page for each of the nine measures: the same sections, in the navigation, numbers that are those of results/."""

import csv
import re
import statistics
from functools import cache
from pathlib import Path

import pytest

from steadyrl import measures
from tests.reference import NINE as SHORT

ROOT = Path(__file__).parents[1]
NINE = sorted(SHORT.values())
PAGES = ROOT / "docs" / "measures"
SECTIONS = [
    "Definition",
    "Influence function",
    "Estimators",
    "When to use it, and when not",
    "What it did in the studies",
    "Example",
]
NOISES = ["gaussian", "pareto", "uniform", "handcraft"]
OTHER = "paper, other reading"
NUMBER = re.compile(r"[+-]?\d+(?:\.(\d+))?")
CURE = "renew the tables with `python docs/hooks/measure_tables.py`"


@cache
def text(name: str) -> str:
    return (PAGES / f"{name}.md").read_text(encoding="utf-8")


@cache
def results(path: str) -> list[dict[str, str]]:
    with (ROOT / "results" / path).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def table(name: str, first: str) -> list[list[str]]:
    """The rows of the one table of the page whose header begins with these words, as cells."""
    tables = re.findall(rf"^{re.escape(first)}.*\n\|[-|]+\n((?:\|.*\n)+)", text(name), flags=re.MULTILINE)
    assert len(tables) == 1, first
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in tables[0].splitlines()]


def same(printed: str, *values: float) -> bool:
    """Are these the numbers in a cell, to the digits it has?"""
    digits = [len(match[1] or "") for match in NUMBER.finditer(printed)]
    numbers = [float(match[0]) for match in NUMBER.finditer(printed)]
    return numbers == [round(value, places) for value, places in zip(values, digits, strict=True)]


def law(row: dict[str, str]) -> tuple[str, str, str]:
    return row["law"], row["n"], row["estimator"]


def cell(row: dict[str, str]) -> tuple[str, str, str]:
    estimator = OTHER if row.get("mean_part") == "return" else row["estimator"]
    return row["env_options.noise"], estimator, row["metric"]


@pytest.mark.parametrize("name", NINE)
def test_a_measure_has_a_page_with_all_sections(name):
    assert name in measures.names()
    assert text(name).startswith(f"# {measures.get(name).label}\n")
    assert re.findall(r"^## (.*)$", text(name), flags=re.MULTILINE) == SECTIONS


def test_there_are_no_other_pages():
    assert sorted(page.stem for page in PAGES.glob("*.md")) == sorted(NINE)


def test_the_pages_are_in_the_navigation_under_measures_and_on_the_overview():
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    under = re.search(r"^ +- Measures:\n((?:          - .*\n)+)", navigation, flags=re.MULTILINE)
    assert under is not None
    overview = (ROOT / "docs" / "measures.md").read_text(encoding="utf-8")
    for name in NINE:
        assert f"          - {measures.get(name).label}: measures/{name}.md\n" in under[1]
        assert f"(measures/{name}.md)" in overview


@pytest.mark.parametrize("name", NINE)
def test_the_definition_says_what_the_measure_says_of_itself(name):
    facts = dict(row for row in table(name, "| | |") if len(row) == 2)
    measure = measures.get(name)
    assert f"degree {measure.facts.degree}" in facts["unit"]
    assert facts["coherent"].startswith("yes" if measure.facts.coherent else "no")
    assert f"`{measure.facts.equation}`" in text(name)
    assert facts["parameters"] == "none" or sorted(measure.params) == re.findall(r"`(\w+)`:", facts["parameters"])
    assert (facts["parameters"] == "none") == (not measure.params)
    assert ("**Exactly unbiased**" in text(name)) == measure.facts.unbiased


@pytest.mark.parametrize("name", NINE)
def test_biases_and_variances_are_those_of_the_estimator_study(name):
    study = {law(row): row for row in results("estimators/table.csv") if row["measure"] == name}
    rows = table(name, "| law | n |")
    assert {(law, n) for law, n, *_ in rows} == {(law, n) for law, n, _ in study if n in ("10", "50")}
    assert len(rows) == 10
    for where, n, influence, jackknife, paper, ratio in rows:
        of = {e: study[where, n, e] for e in ("influence", "jackknife", "paper")}
        for estimator, printed in zip(of, (influence, jackknife, paper), strict=True):
            numbers = (float(of[estimator][key]) for key in ("bias_percent", "bias_error"))
            assert same(printed.replace(" ", ""), *numbers), (where, n, estimator, CURE)
        assert same(ratio, float(of["paper"]["variance"]) / float(of["influence"]["variance"])), (where, n, CURE)


@pytest.mark.parametrize("name", NINE)
def test_the_ratios_of_variances_are_summed_up_rightly(name):
    study = {law(row): float(row["variance"]) for row in results("estimators/table.csv") if row["measure"] == name}
    ratios = [study[where, n, "paper"] / study[where, n, "influence"] for where, n, e in study if e == "paper"]
    sentence = re.search(r"^In the .* `paper` varies .* of them\.$", text(name), flags=re.MULTILINE)
    assert sentence is not None
    below = sum(ratio < 1 for ratio in ratios)
    assert same(sentence[0], len(ratios), min(ratios), max(ratios), statistics.median(ratios), below), CURE


@pytest.mark.parametrize("name", NINE)
@pytest.mark.parametrize(
    ("path", "first", "settings"),
    [
        ("maze/cells.csv", "| noise | lambda | rate |", ["lam", "policy_rate", "updates"]),
        ("maze-best/cells.csv", "| noise | lambda | estimator |", ["lam"]),
    ],
    ids=["maze", "maze-best"],
)
def test_what_training_gave_is_what_the_study_has(name, path, first, settings):
    study = {cell(row): row for row in results(path) if row["measure"] == name}
    rows_of_page = []
    for noise, *rest in table(name, first):
        values, (estimator, *printed) = rest[: len(settings)], rest[len(settings) :]
        estimator = estimator.replace("`", "")
        long, late, total = (study[noise, estimator, m] for m in ("risk_averse", "path.timeout", "return"))
        assert values == [long[setting] for setting in settings], (noise, estimator, CURE)
        assert long["finished"] == long["runs"] == "10"
        numbers = [float(long[key]) for key in ("mean", "low", "high")] + [float(m["mean"]) for m in (late, total)]
        assert same(" ".join(printed), *numbers), (noise, estimator, CURE)
        rows_of_page.append((noise, estimator))
    both = [OTHER] if any(estimator == OTHER for _, estimator, _ in study) else []
    assert rows_of_page == [(noise, estimator) for noise in NOISES for estimator in ("paper", *both, "influence")]


@pytest.mark.parametrize("name", NINE)
def test_the_frame_of_the_tables_holds(name):
    rows = [row for row in results("maze/cells.csv") if row["measure"] == "risk_neutral"]
    neutral = {cell(row): float(row["mean"]) for row in rows if row["metric"] in ("return", "risk_averse")}
    returns = [neutral[noise, "influence", "return"] for noise in NOISES]
    assert f"return {max(returns):.1f} to {min(returns):.1f};" in text(name)
    assert max(neutral[noise, "influence", "risk_averse"] for noise in NOISES) < 0.005
    never_arriving = -sum(0.999**t for t in range(100))
    assert f"a policy that never arrives returns {never_arriving:.1f}." in text(name)


@pytest.mark.parametrize("name", NINE)
def test_the_papers_claims_are_quoted_with_their_verdicts(name):
    claims = (ROOT / "results" / "maze" / "claims.md").read_text(encoding="utf-8")
    about = re.compile(rf"^\| Maze: (?:of these four, )?{measures.get(name).label} .*$", flags=re.MULTILINE)
    expected = [[c.strip() for c in row.strip("|").split("|")] for row in about.findall(claims)]
    assert expected
    assert table(name, "| the paper says |") == [[row[0], *row[2:]] for row in expected], CURE


@pytest.mark.parametrize("name", ["variance", "semi_variance"])
def test_the_lambda_without_units_is_the_one_that_was_right(name):
    sentence = re.search(
        r"with it lambda = (\S+) took the long way in every one of 12 runs.*?; (\S+) and (\S+) did not", text(name)
    )
    assert sentence is not None
    options = (ROOT / "results" / "options.md").read_text(encoding="utf-8")
    for lam, every in zip(map(float, sentence.groups()), (True, False, False), strict=True):
        row = next(line for line in options.splitlines() if line.startswith(f"| {name} | {lam}, unit_free |"))
        rates = [
            float(rate) for rate in re.findall(r"\d\.\d\d(?= )", row.partition(" | 0.001 | ")[2].rpartition("|")[0])
        ]
        assert len(rates[:12]) == 12
        assert all(rate >= 0.95 for rate in rates[:12]) == every


def test_a_wrong_number_is_noticed():
    assert same("0.80 (0.51 to 1.00)", 0.8012, 0.507, 0.999)
    assert not same("0.80 (0.51 to 1.00)", 0.8062, 0.507, 0.999)
    assert same("-13.9", -13.94)
    assert not same("-13.9", -13.96)
