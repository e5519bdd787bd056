"""Does seeing the return so far help? Trained policies with and without it, beside the exact best of both kinds.

    python benchmarks/return_so_far.py [--seeds 5] [--out results/return-so-far]

The task is a portfolio over two quarters, small enough for the best policy of either kind to be computed: with the
return so far by dynamic programming over (step, state, return), without it by going through all policies
(`steadyrl.envs.finite_best`). PPO has the same options with and without `observe`; a run that is finished is not run
again. Writes table.csv and README.md.
"""

import argparse
import csv
import statistics
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from steadyrl import measures
from steadyrl.envs.finite import best_mean, distribution
from steadyrl.envs.finite_best import DISTANCES, best_with_return, best_without
from steadyrl.envs.portfolio import Portfolio
from steadyrl.runs import train
from steadyrl.runs.view import Quiet

QUARTERS: Final = 2
CASES: Final = (("mean_median_deviation", 0.8), ("cvar_deviation", 0.5))
RUN: Final[dict[str, Any]] = {
    "algorithm": "ppo", "policy": "network", "gamma": 1.0, "n": 100, "updates": 200, "hidden": (32, 32),
    "minibatch_size": 0,
}  # fmt: skip
EPISODES: Final = 10_000
COLUMNS: Final = ("measure", "lam", "observe", "seed", "objective", "mean", "variability")
NEUTRAL: Final = "risk-neutral"


def trained(measure: str, lam: float, observe: str | None, seed: int, folder: Path) -> dict[str, Any]:
    """One run, and what its policy does in new episodes."""
    fields = {**RUN, "measure": measure, "lam": lam, "seed": seed, **({} if observe is None else {"observe": observe})}
    run = train("steadyrl/Portfolio-v0", env_options={"quarters": QUARTERS}, out=folder, view=Quiet(), **fields)
    returns = run.evaluate(EPISODES, seed=1).returns
    mean, variability = float(returns.mean()), float(measures.get(measure).value(returns))
    numbers = (f"{number:.3f}" for number in (mean - lam * variability, mean, variability))
    return dict(zip(COLUMNS, (measure, lam, observe or "nothing", seed, *numbers), strict=True))


def exact(measure: str, lam: float) -> dict[str, float]:
    """E - lam D of the best policy of each kind, and of the best for the mean."""
    task = Portfolio(quarters=QUARTERS).task
    _, policy = best_mean(task)
    law = distribution(task, policy)
    neutral = float(law @ task.returns) - lam * float(measures.get(measure).value(task.returns, law))
    distance = DISTANCES[measure]
    return {
        NEUTRAL: neutral,
        "nothing": best_without(task, lam, distance),
        "return,time": best_with_return(task, lam, distance),
    }


def readme(rows: list[dict[str, Any]], seeds: list[int]) -> str:
    """The table as Markdown, and what it is of."""
    lines = ["| measure | lam | risk-neutral | best without | trained without | best with | trained with |"]
    lines.append("|---|---|---|---|---|---|---|")
    for measure, lam in CASES:
        best = exact(measure, lam)
        cells = [measure, f"{lam:g}", f"{best[NEUTRAL]:.2f}"]
        for observe in ("nothing", "return,time"):
            own = [float(r["objective"]) for r in rows if (r["measure"], r["observe"]) == (measure, observe)]
            of_seeds = f"{statistics.mean(own):.2f} ({min(own):.2f} to {max(own):.2f})" if own else "not run"
            cells += [f"{best[observe]:.2f}", of_seeds]
        lines.append(f"| {' | '.join(cells)} |")
    how = (
        f"`trained` is PPO of {RUN['updates']} updates of {RUN['n']} episodes with the same options for both, the mean "
        f"of {len(seeds)} seeds (lowest to highest in brackets), each played for {EPISODES:,} new episodes."
        if seeds
        else "Nothing was trained yet: `--seeds 5` does."
    )
    text = f"""# Does seeing the return so far help?

A portfolio over {QUARTERS} quarters (`steadyrl/Portfolio-v0`), E[G0] - lam D[G0]. With `--observe return,time` the
policy sees what it has earned, so that it can take back a loss and keep a gain; without, it sees quarter and regime.
`best` is exact: dynamic programming over (quarter, regime, return so far), and all policies gone through. {how}
"""
    command = "    python benchmarks/return_so_far.py"
    end = "table.csv has every run. The paper's domains have not been run with it."
    return "\n".join([text, *lines, "", command, "", end, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=5, help="0: the exact answers alone")
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "results" / "return-so-far")
    parser.add_argument("--runs", type=Path, help="keep the runs here, so that a call that was stopped resumes")
    options = parser.parse_args()
    seeds = list(range(options.seeds))
    options.out.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    with TemporaryDirectory() as folder:
        home = options.runs or Path(folder)
        for seed in seeds:
            for measure, lam in CASES:
                for observe in ("return,time", None):
                    name = f"{measure}-{observe or 'nothing'}-{seed}".replace(",", "-")
                    rows.append(trained(measure, lam, observe, seed, home / name))
                    print(rows[-1], flush=True)
    with (options.out / "table.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    (options.out / "README.md").write_text(readme(rows, seeds), encoding="utf-8")


if __name__ == "__main__":
    main()
