"""A page for each baseline: the same sections, the options that the code has, numbers that are those of results/."""

import csv
import re
import shlex
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from steadyrl.algorithms import AlgorithmOptions, get
from steadyrl.algorithms.registry import BUILT_IN
from steadyrl.cli import main
from steadyrl.ground.option import options_of
from steadyrl.paper.presets import preset
from tests.helpers.hooks import hook as hook_of
from tests.test_docs import FENCE, run_python

hook = hook_of("baseline_tables")
ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "baselines"
OURS = ["reinforce", "ppo"]
NEUTRAL = ["risk-neutral-reinforce", "risk-neutral-ppo"]
RIVALS = ["return-capping", "quantile-cvar"]
COMPETITORS = [name for name in BUILT_IN if name not in OURS + NEUTRAL]
NAMES = ["risk-neutral", *COMPETITORS]
SECTIONS = [
    "Objective",
    "Update",
    "Options",
    "Where ours differs",
    "What we changed, and why",
    "On the Maze",
    "Run it",
    "Source",
]
NOISES = ["gaussian", "pareto", "uniform", "handcraft"]
WORDS = {
    "lam": "λ", "policy_rate": "rate", "kl_stop": "KL", "perturbation": "β", "risk_level": "level",
    "soft_share": "softened over", "neutral_share": "neutral for", "cap_rate": "cap rate", "tail_weight": "tail weight",
}  # fmt: skip
MEASURES = {"gini_deviation": "Gini deviation", "cvar_deviation": "CVaR deviation"}
CURE = "renew the tables with `python docs/hooks/baseline_tables.py`"


@cache
def text(name: str) -> str:
    return (PAGES / f"{name}.md").read_text(encoding="utf-8")


@cache
def overview() -> str:
    return (ROOT / "docs" / "baselines.md").read_text(encoding="utf-8")


def algorithms(name: str) -> list[str]:
    return NEUTRAL if name == "risk-neutral" else [name]


def section(name: str, heading: str) -> str:
    return text(name).partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def table(markdown: str) -> list[list[str]]:
    """The rows of the one table there, without its head."""
    rows = re.findall(r"^\| (.*) \|$", markdown, flags=re.MULTILINE)
    assert len(rows) > 1
    return [[cell.strip() for cell in row.split(" | ")] for row in rows[1:]]


@cache
def cells(study: str) -> dict[str, dict[tuple, dict[str, dict[str, str]]]]:
    """Of each algorithm its cells in the order of the file, by all that varies: the rows by metric."""
    by_case: dict[str, dict[tuple, dict[str, dict[str, str]]]] = {}
    with (ROOT / "results" / study / "cells.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            fields = tuple(value for key, value in row.items() if key not in MEASURED and not key.startswith("median"))
            by_case.setdefault(row["algorithm"], {}).setdefault(fields, {})[row["metric"]] = row
    return by_case


MEASURED = {
    "metric", "runs", "finished", "mean", "standard_error", "low", "high", "iqm", "iqm_low", "iqm_high",
}  # fmt: skip


def told(row: dict[str, str], digits: int) -> tuple[str, str]:
    """A mean and its interval as a page writes them."""
    mean, low, high = (f"{float(row[key]):.{digits}f}" for key in ("mean", "low", "high"))
    return mean, f"{low} to {high}"


def chosen(study: str, row: dict[str, str]) -> list[str]:
    """The settings of a row of cells.csv as a page has them, in the order of the alphabet.

    They are the options that its method has, with a number that does something. A measure that is no column is the
    same for all and stands in the study itself.
    """
    algorithm = row["algorithm"]
    own = own_options(algorithm) | {"policy_rate"}
    parts = [f"{word} {row[field]}" for field, word in WORDS.items() if field in own and row.get(field)]
    if algorithm in OURS:
        parts.append(MEASURES[row.get("measure") or preset(study)["run"]["measure"]])
    if row.get("penalty_baseline") == "true":
        parts.append("learned baseline of c")
    return sorted(part for part in parts if part != "softened over 0")


def parts(settings: str) -> list[str]:
    return sorted(settings.split(", "))


@pytest.mark.parametrize("name", NAMES)
def test_a_baseline_has_a_page_with_all_sections(name):
    assert re.findall(r"^## (.*)$", text(name), flags=re.MULTILINE) == SECTIONS
    assert all(f"`{algorithm}`" in text(name).partition("\n## ")[0] for algorithm in algorithms(name))
    assert re.search(r"\b(19|20)\d\d\.$", section(name, "Source").strip())


def test_there_are_no_other_pages_and_all_are_in_the_navigation_and_on_the_overview():
    assert sorted(page.stem for page in PAGES.glob("*.md")) == sorted(NAMES)
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    under = re.search(r"^      - Competitors:\n((?:          - .*\n)+)", navigation, flags=re.MULTILINE)
    assert under is not None
    for name in NAMES:
        assert f": baselines/{name}.md\n" in under[1]
        for algorithm in algorithms(name):
            assert f"| [`{algorithm}`](baselines/{name}.md) |" in overview()


def own_options(algorithm: str) -> set[str]:
    """What an algorithm has beside discount and measure, which all have."""
    return set(options_of(get(algorithm).Options)) - set(options_of(AlgorithmOptions))


def default(algorithm: str, option: str) -> str:
    """As a page writes it."""
    value = options_of(get(algorithm).Options)[option].default
    if isinstance(value, bool | str):
        return str(value).lower()
    return "none" if value is None else f"{value:g}"


@pytest.mark.parametrize("name", NAMES)
def test_the_options_are_those_of_the_code_with_their_defaults(name):
    options = {row[0].strip("`"): row[1] for row in table(section(name, "Options"))}
    assert set(options) == set().union(*map(own_options, algorithms(name)))
    for option, text in options.items():
        defaults = [default(algorithm, option) for algorithm in algorithms(name) if option in own_options(algorithm)]
        assert text == " or ".join(dict.fromkeys(defaults)), option


@pytest.mark.parametrize("algorithm", [*NEUTRAL, *COMPETITORS])
def test_the_overview_lists_the_options_of_a_method(algorithm):
    row = next(row for row in overview().splitlines() if row.startswith(f"| [`{algorithm}`]"))
    assert set(re.findall(r"`(\w+)`", row.rpartition(" | ")[2] if not row.endswith("| |") else "")) == own_options(
        algorithm
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_numbers_on_a_page_are_those_of_the_study(name):
    expected = []
    for algorithm in algorithms(name):
        study = "rivals" if algorithm in RIVALS else "baselines"
        known = cells(study) if (ROOT / "results" / study).is_dir() else {}
        for of in known.get(algorithm, {}).values():
            long, total = told(of["risk_averse"], 2), told(of["return"], 1)
            shares = (f"{float(of[metric]['mean']):.2f}" for metric in ("path.short", "path.timeout"))
            row = of["return"]
            label = [f"`{algorithm}`"] * (name == "risk-neutral")  # a page of two methods
            case = sorted(label + chosen(study, row))
            expected.append([case, row["env_options.noise"], *long, *shares, *total])
            assert row["runs"] == row["finished"] == ("5" if algorithm in RIVALS else "10")
    if not expected:  # a method needs no study of 40 runs to come into the package
        assert hook.NOT_RUN in section(name, "On the Maze")
        assert hook.MAZE not in text(name)
        return
    assert hook.NOT_RUN not in text(name), CURE
    rows = [[parts(settings), *row] for settings, *row in table(section(name, "On the Maze"))]
    assert sorted(rows) == sorted(expected), CURE
    assert {row[1] for row in rows} == set(NOISES)


def test_a_page_says_that_it_was_not_yet_run_until_the_study_has_its_method():
    page = f"# A method\n\n## On the Maze\n\n{hook.NOT_RUN}\n\n## Run it\n"
    row = "| λ 1 | gaussian | 1.00 | 1.00 to 1.00 | 0.00 | 0.00 | -11.0 | -11.0 to -11.0 |"
    assert hook.with_maze(page, [], 10) == page
    with_table = hook.with_maze(page, [row], 10)
    assert table(with_table) == [[cell.strip() for cell in row.strip("|").split(" | ")]]
    assert hook.NOT_RUN not in with_table
    assert hook.with_maze(with_table, [row], 10) == with_table
    with pytest.raises(ValueError, match="Not yet run"):
        hook.with_maze(with_table, [], 10)


@pytest.mark.parametrize(("seeds", "low"), [(10, "0.69"), (5, "0.48")])
def test_an_interval_that_is_a_point_has_the_exact_one_beside_it(seeds, low):
    page = f"# A method\n\n## On the Maze\n\n{hook.NOT_RUN}\n\n## Run it\n"
    point = "| λ 1 | gaussian | 1.00 | 1.00 to 1.00 | 0.00 | 0.00 | -11.0 | -11.0 to -11.0 |"
    told_below = hook.with_maze(page, [point], seeds)
    assert f"|\n\nOf {seeds} seeds that are all but equal the bootstrap has no width; " in told_below
    assert f"the exact interval of {seeds} of {seeds} is {low} to 1.\n\n## Run it\n" in told_below
    wide = point.replace("1.00 to 1.00", "0.71 to 1.00")
    assert hook.with_maze(told_below, [wide], seeds) == hook.with_maze(page, [wide], seeds)
    assert "all but equal" not in hook.with_maze(page, [wide], seeds)


def test_the_overview_of_the_maze_has_every_case_best_first():
    rows = table(overview().partition("\n## On the Maze\n")[2].partition("\n## ")[0])
    means: dict[tuple, dict[tuple[str, str], str]] = {}
    for algorithm, of in cells("baselines").items():
        for (noise, *others), metrics in of.items():
            settings = tuple(chosen("baselines", metrics["return"]))
            case = (algorithm, settings, *others)
            means_by_noise = means.setdefault(case, {})
            means_by_noise["risk_averse", noise], means_by_noise["return", noise] = (
                told(metrics["risk_averse"], 2)[0],
                told(metrics["return"], 1)[0],
            )
    expected = [
        [f"`{name}`", list(settings), *(of[metric, noise] for metric in ("risk_averse", "return") for noise in NOISES)]
        for (name, settings, *_), of in means.items()
    ]
    assert sorted([row[0], parts(row[1]), *row[2:]] for row in rows) == sorted(expected), CURE
    shares = [sum(map(float, row[2:6])) for row in rows]
    assert all(a > b - 0.05 for a, b in pairwise(shares))


def test_the_episodes_to_90_that_the_pages_speak_of_are_those_of_the_study():
    def after(algorithm: str) -> list[dict[str, str]]:
        return [of["episodes_to_90"] for of in cells("baselines")[algorithm].values()]

    assert {(row["mean"], row["standard_error"]) for row in after("trvo") + after("mvpi")} == {("5000", "0")}
    with_baseline, fast = (
        sorted(int(row["median"]) for row in after("reinforce") if row[option] == value)
        for option, value in (("penalty_baseline", "true"), ("policy_rate", "0.01"))
    )
    said = " ".join(overview().split())
    assert f"{with_baseline[0]:,} to {with_baseline[-1]:,} with the learned baseline" in said
    assert f"{fast[0]:,} to {fast[-1]:,} at rate 0.01" in said


def test_the_risk_neutral_methods_take_the_short_way_in_every_seed_and_noise():
    for row in table(section("risk-neutral", "On the Maze")):
        assert float(row[4]) >= 0.95, row
        assert row[3] == "0.00 to 0.00"


def test_the_overview_of_lunarlander_has_every_case_highest_return_first():
    lander = overview().partition("\n## On LunarLander\n")[2]
    if not (ROOT / "results" / "baselines-lunarlander" / "cells.csv").is_file():
        assert "| method |" not in lander  # no number without a file that has it
        return
    expected = [
        [
            f"`{name}`",
            chosen("baselines-lunarlander", of["return"]),
            *told(of["return"], 1),
            *told(of["risk_averse"], 2),
            f"{float(of['length']['mean']):.0f}",
        ]
        for name, cases in cells("baselines-lunarlander").items()
        for of in cases.values()
    ]
    rows = [[row[0], parts(row[1]), *row[2:]] for row in table(lander)]
    assert sorted(rows) == sorted(expected), CURE
    returns = [float(row[2]) for row in table(lander)]
    assert returns == sorted(returns, reverse=True)


def commands() -> list[str]:
    blocks = [block for name in NAMES for language, block in FENCE.findall(text(name)) if language == "text"]
    return [line for block in [*blocks, *(b for k, b in FENCE.findall(overview()) if k == "text")]
            for line in block.splitlines()]  # fmt: skip


@pytest.mark.parametrize("command", commands())
def test_the_commands_are_accepted(command, tmp_path, monkeypatch):
    """With four updates of ten episodes, for it is not what they learn that is in question."""
    monkeypatch.chdir(tmp_path)
    words = shlex.split(command)
    assert words[:2] == ["steadyrl", "train"]
    for option, value in (("--updates", "4"), ("--n", "10")):
        words = words[: words.index(option)] + words[words.index(option) + 2 :] if option in words else words
        words += [option, value]
    assert main([*words[1:], "--out", "run", "--quiet"]) == 0


def test_the_python_of_the_overview_gives_what_it_shows():
    pairs = [pair for kind, block in FENCE.findall(overview()) if kind == "python" for pair in run_python(block, {})]
    assert pairs == [("True", "True")]
