"""Put a trained policy into the package, with a card that has its numbers.

    python results/ship.py RUN NAME [--best] [--episodes 1000] [--seed 900000]

RUN is the folder of a finished run, such as out/lunarlander-best/runs/0a1b2c3d4e5f; NAME is what users will load it by,
such as lunarlander-gini. The policy is played in new episodes, with a seed that no training and no study has; the card
says what came out, whatever it is.
"""

import argparse
import json
import re
import sys
from pathlib import Path

from steadyrl.policies import storage
from steadyrl.runs import Run, card, load
from steadyrl.runs.shipped import CARD, CONFIG, POLICY

HOME = Path(__file__).parents[1] / "src" / "steadyrl" / "shipped"
LARGEST = 400_000
"""Bytes of a policy: the package is to stay small."""


def ship(run: Run, name: str, episodes: int, seed: int) -> Path:
    """Write policy, config and card; the folder."""
    if run.status != "finished":
        raise SystemExit(f"{run.folder}: is {run.status}: finish it first")
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name) or "-v" in name:
        raise SystemExit(f"NAME = {name!r}: must be small letters, digits and -, and not look like an environment's id")
    raw = storage.to_bytes(run.policy)
    if len(raw) > LARGEST:
        raise SystemExit(f"{run.folder}: a policy of {len(raw):,} bytes: must be {LARGEST:,} at the most")
    target = HOME / name
    target.mkdir(parents=True, exist_ok=True)
    (target / POLICY).write_bytes(raw)
    (target / CONFIG).write_text(json.dumps(run.config.to_dict(), indent=1, sort_keys=True) + "\n", encoding="utf-8")
    last = (run.metrics() or [{}])[-1]
    evaluation = run.evaluate(episodes, seed)
    text = card.card(run.config, run.status, run.update, run.policy, last, evaluation, name=name)
    (target / CARD).write_text(text, encoding="utf-8")
    return target


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("name")
    parser.add_argument(
        "--best", action="store_true", help="the policy with the best evaluation, if the run has kept it"
    )
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=900_000)
    options = parser.parse_args()
    run = load(options.run, policy="best" if options.best else "last")
    sys.stdout.write(f"written: {ship(run, options.name, options.episodes, options.seed)}\n")


if __name__ == "__main__":
    main()
