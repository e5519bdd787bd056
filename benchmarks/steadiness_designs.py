"""What a steadiness could have been instead: designs beside the one that is there, on the Maze.

    python benchmarks/steadiness_designs.py [OUT] [--seeds 3]

Nine measures under four noises, REINFORCE on a table, every option at its default, 1,000 updates, seeds from 100 on:
of the 36 cells, how many take the long way in 0.95 of the episodes at the end, for each design and steadiness. Each
design is a study in a folder of its own, so the script can be stopped and started again. Prints a table in markdown.
"""

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from steadyrl.algorithms import reinforce, steadiness
from steadyrl.algorithms.penalty import Penalty
from steadyrl.algorithms.ramp import Ramp
from steadyrl.paper.presets import preset
from steadyrl.studies import read, run, study_from

STEADINESS = (1.0, 2.0, 4.0)
UPDATES = 1000
monotone = steadiness.monotone


def with_slack(slack: float) -> None:
    steadiness.monotone = lambda returns, c, lam, _: monotone(returns, c, lam, slack)


def without_order() -> None:
    steadiness.monotone = lambda _returns, c, _lam, _slack: c


def ramped(ramp: type[Ramp]) -> None:
    reinforce.Penalty = lambda options: Penalty(options, ramp(UPDATES))


class MildFirst(Ramp):
    """Only the steadiness grows."""

    def slack(self, slack: float) -> float:
        return slack


DESIGNS: dict[str, Callable[[], None]] = {
    "as it is: a better return is worth 0.05 of itself at the least": partial(with_slack, steadiness.SLACK),
    "the unit alone, weights may fall as the return rises": without_order,
    "nothing at the least (slack 0)": partial(with_slack, 0.0),
    "0.25 at the least": partial(with_slack, 0.25),
    "all of itself: the downside half of the measure alone (slack 1)": partial(with_slack, 1.0),
    "a mild one first, as PPO has it": partial(ramped, MildFirst),
    "a mild one first, and the downside half first, as PPO has it": partial(ramped, Ramp),
}


def cells_that_go_long(name: str, out: Path, seeds: int) -> dict[float, int]:
    plan: dict[str, Any] = preset("maze-steadiness")
    plan["seeds"] = list(range(100, 100 + seeds))
    plan["grid"]["steadiness"] = list(STEADINESS)
    folder = out / str(list(DESIGNS).index(name))
    run(study_from(plan, "designs"), folder, prepare=DESIGNS[name])
    long = dict.fromkeys(STEADINESS, 0)
    for cell in read(folder).cells:
        long[cell.runs[0].settings["steadiness"]] += bool(cell.finals("risk_averse").mean() >= 0.95)
    return long


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?", type=Path, default=Path("out/steadiness-designs"))
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    found = {name: cells_that_go_long(name, arguments.out, arguments.seeds) for name in DESIGNS}
    print(f"| design | {' | '.join(f'{s:g}' for s in STEADINESS)} |\n|---|{'---|' * len(STEADINESS)}")
    for name, long in found.items():
        print(f"| {name} | {' | '.join(str(long[s]) for s in STEADINESS)} |")


if __name__ == "__main__":
    main()
