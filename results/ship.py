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

from steadyrl import __version__, measures
from steadyrl.policies import storage
from steadyrl.runs import Run, config_hash, load
from steadyrl.runs.evaluation import Evaluation
from steadyrl.runs.shipped import CARD, CONFIG, POLICY

HOME = Path(__file__).parents[1] / "src" / "steadyrl" / "shipped"
LARGEST = 400_000
"""Bytes of a policy: the package is to stay small."""
EXTRA = {
    "steadyrl/LunarLander-v0": "box2d",
    "steadyrl/InvertedPendulum-v0": "mujoco",
    "steadyrl/HalfCheetah-v0": "mujoco",
}


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
    (target / CARD).write_text(card(run, name, run.evaluate(episodes, seed)), encoding="utf-8")
    return target


def card(run: Run, name: str, evaluation: Evaluation) -> str:
    """What, how, numbers, limits."""
    config = run.config
    measure = measures.get(config.measure, **config.measure_params)
    last = run.metrics()[-1]
    summary = evaluation.summary(seed=0)
    rows = [(f"mean return, discounted by {evaluation.gamma:g}", summary["mean"])]
    rows += [(f"{measure.label} of it", summary[config.measure])] if config.measure in measures.names() else []
    rows += [("mean of the worst 20 %", summary["cvar"])]
    table = "\n".join("| {} | {} | {} to {} |".format(label, *row.rounded()) for label, row in rows)
    plain = evaluation.undiscounted_returns
    averse = "" if evaluation.risk_averse is None else f"| risk-averse rate | {evaluation.risk_averse:.3f} | |\n"
    goal = f"steadiness {config.steadiness:g}" if config.steadiness is not None else "the default steadiness"
    goal = f"lam {config.lam:g}" if config.lam is not None else goal
    options = dict(config.env_options)
    needs = f"\nNeeds {EXTRA[config.env]} and torch." if config.env in EXTRA else ""
    return (
        f"""# {name}

## What

A policy for `{config.env}`{f" with {options}" if options else ""}, a {type(run.policy).__name__}, trained to maximise
E[G0] - lam D[G0] with D the {measure.label} ({goal}).

```python
import steadyrl

run = steadyrl.load("{name}")
run.policy.predict(observation)
```

## How

`{config.algorithm}`, {run.update:,} updates of {config.n} episodes ({int(last["episodes"]):,} episodes in all), seed
{config.seed}, steadyrl {__version__}; config.json has every option (its hash begins {config_hash(config)[:12]}).

## Numbers

{evaluation.returns.size:,} new episodes with actions drawn from the policy, seed {evaluation.seed}; intervals of
0.95 over the episodes, by bootstrap.

| | | interval |
|---|---|---|
{table}
| mean return, undiscounted | {plain.mean():.5g} | standard deviation {plain.std(ddof=1):.4g} |
{averse}| mean length | {evaluation.lengths.mean():.1f} steps | |

## Limits

One seed of training, in simulation, under these options; in another environment, or with other noise, nothing is known
of it. It was chosen to be shown, so that it may be better than what the same options give with another seed.{needs}
""".rstrip()
        + "\n"
    )


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
