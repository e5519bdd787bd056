"""Renew the tables of docs/baselines.md and docs/baselines/*.md from results/: `python docs/hooks/baseline_tables.py`.

tests/test_baseline_pages.py reads the pages and compares them with the same files in a way of its own.
"""

import re
from itertools import product
from typing import Final

from measure_tables import NOISES, ROOT, Rows, read, renewed, seeds_of

from steadyrl import algorithms
from steadyrl.ground.option import options_of

PAGES: Final = ROOT / "docs" / "baselines"
OVERVIEW: Final = ROOT / "docs" / "baselines.md"
OURS: Final = ("reinforce", "ppo")
NEUTRAL: Final = ("risk-neutral-reinforce", "risk-neutral-ppo")
RIVALS: Final = ("return-capping", "quantile-cvar")
RIVAL_RESULTS: Final = "rivals/cells.csv"
"""They have a study of their own."""
MAZE: Final = "| settings | noise | long way | interval | short way | never arrived | return | interval |"
ALL: Final = (
    "| method | settings | gaussian | pareto | uniform | handcraft | return, gaussian | pareto | uniform | handcraft |"
)
NOT_RUN: Final = "Not yet run."
"""In place of the table of a method that the study does not have."""
LANDER: Final = "| method | settings | return | interval | ended left | interval | episode length |"
LANDER_RESULTS: Final = "baselines-lunarlander/cells.csv"
LANDER_SECTION: Final = re.compile(r"(^## On LunarLander\n.*?)(\n+\| method \|.*)?\Z", flags=re.MULTILINE | re.DOTALL)
LABELS: Final = {"gini_deviation": "Gini deviation", "cvar_deviation": "CVaR deviation"}

Case = dict[str, dict[str, dict[str, str]]]
"""Of one case the rows by noise and metric."""


def cases(cells: Rows) -> dict[tuple[str, str], Case]:
    """By method and settings."""
    by_case: dict[tuple[str, str], Case] = {}
    for row in cells:
        case = by_case.setdefault((row["algorithm"], settings(row)), {})
        case.setdefault(row.get("env_options.noise", ""), {})[row["metric"]] = row
    return by_case


def settings(row: dict[str, str]) -> str:
    """What the study chose for a case, in a few words."""
    name = row["algorithm"]
    own = {*options_of(algorithms.get(name).Options), "policy_rate"}
    words = [LABELS[row.get("measure") or "gini_deviation"]] if name in OURS else []
    if "lam" in own:
        words.append(f"λ {row['lam']}")
    for column, word, off in (
        ("risk_level", "level", ""),
        ("policy_rate", "rate", ""),
        ("kl_stop", "KL", ""),
        ("perturbation", "β", ""),
        ("soft_share", "softened over", "0"),
        ("neutral_share", "neutral for", ""),
        ("cap_rate", "cap rate", ""),
        ("tail_weight", "tail weight", ""),
    ):
        if column in own and row.get(column, "") not in ("", off):
            words.append(f"{word} {row[column]}")
    return ", ".join(words + ["learned baseline of c"] * (row.get("penalty_baseline") == "true"))


def maze_rows(names: tuple[str, ...], by_case: dict[tuple[str, str], Case]) -> list[str]:
    """The ways, time-outs and return of some methods, by settings and noise."""
    rows = []
    for (name, words), noise in product(by_case, NOISES):
        if name in names:
            of = by_case[name, words][noise]
            label = f"`{name}`, {words}" if len(names) > 1 else words
            shares = (f"{float(of[metric]['mean']):.2f}" for metric in ("path.short", "path.timeout"))
            long, total = of["risk_averse"], of["return"]
            numbers = (_mean(long, 2), _interval(long, 2), *shares, _mean(total, 1), _interval(total, 1))
            rows.append(_row(label, noise, *numbers))
    return rows


def with_maze(text: str, rows: list[str], seeds: int) -> str:
    """A page with these rows as its table of the Maze; without any, a page has to say that it was not yet run."""
    if not rows and NOT_RUN not in text:
        raise ValueError(f"results/baselines has no runs of this method: write {NOT_RUN!r} in place of its table")
    return renewed(text.replace(NOT_RUN, MAZE), {MAZE: rows}, seeds) if rows else text


def all_rows(by_case: dict[tuple[str, str], Case]) -> list[str]:
    """Every case in one line, those that take the long way most often first, of these the highest return."""

    def average(case: Case, metric: str) -> float:
        return sum(float(case[noise][metric]["mean"]) for noise in NOISES) / len(NOISES)

    order = sorted(
        by_case, key=lambda k: (-round(average(by_case[k], "risk_averse"), 2), -average(by_case[k], "return"))
    )
    return [
        _row(
            f"`{name}`",
            words,
            *(_mean(by_case[name, words][noise]["risk_averse"], 2) for noise in NOISES),
            *(_mean(by_case[name, words][noise]["return"], 1) for noise in NOISES),
        )
        for name, words in order
    ]


def lander_rows(cells: Rows) -> list[str]:
    """Every case on LunarLander, the highest return first."""
    by_case = {key: case[""] for key, case in cases(cells).items()}
    order = sorted(by_case, key=lambda key: -float(by_case[key]["return"]["mean"]))
    return [
        _row(
            f"`{name}`",
            words,
            *(form(by_case[name, words][metric], digits) for metric, digits, form in LANDER_COLUMNS),
        )
        for name, words in order
    ]


def renew() -> None:
    """Write every page anew."""
    cells = read("baselines/cells.csv")
    rivals = read(RIVAL_RESULTS) if (ROOT / "results" / RIVAL_RESULTS).is_file() else []
    for page in sorted(PAGES.glob("*.md")):
        names = NEUTRAL if page.stem == "risk-neutral" else (page.stem,)
        text = page.read_text(encoding="utf-8")
        of = [row for row in (rivals if page.stem in RIVALS else cells) if row["algorithm"] in names]
        page.write_text(with_maze(text, maze_rows(names, cases(of)), seeds_of(of) if of else 0), encoding="utf-8")
    text = renewed(OVERVIEW.read_text(encoding="utf-8"), {ALL: all_rows(cases(cells))}, seeds_of(cells))
    if (ROOT / "results" / LANDER_RESULTS).is_file():
        rule = "|" + "---|" * (LANDER.count("|") - 1)
        table = "\n".join([LANDER, rule, *lander_rows(read(LANDER_RESULTS))])
        text = LANDER_SECTION.sub(lambda match: f"{match[1].rstrip()}\n\n{table}\n", text)
    OVERVIEW.write_text(text, encoding="utf-8")


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _mean(row: dict[str, str], digits: int) -> str:
    return f"{float(row['mean']):.{digits}f}"


def _interval(row: dict[str, str], digits: int) -> str:
    return f"{float(row['low']):.{digits}f} to {float(row['high']):.{digits}f}"


LANDER_COLUMNS: Final = (
    ("return", 1, _mean),
    ("return", 1, _interval),
    ("risk_averse", 2, _mean),
    ("risk_averse", 2, _interval),
    ("length", 0, _mean),
)

if __name__ == "__main__":
    renew()
