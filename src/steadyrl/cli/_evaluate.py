"""`steadyrl evaluate`: how good and how steady the policy of a run is."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg


def evaluate(
    run: Annotated[Path, Positional, arg(metavar="RUN")],
    *,
    episodes: int = 1000,
    seed: int = 0,
    gamma: Annotated[float | None, arg(metavar="FLOAT", help_behavior_hint="(default: as in training)")] = None,
    confidence: float = 0.95,
    resamples: int = 2000,
    as_json: Annotated[bool, arg(name="json", help_behavior_hint="")] = False,
    allow_import: Annotated[bool, arg(help_behavior_hint="")] = False,
) -> None:
    """Mean, VaR, CVaR and every measure of variability of a policy's returns, with intervals; its risk-averse rate.

    Args:
        run: The run's folder; of an unfinished run the last checkpoint is taken.
        episodes: How many episodes, none of which the policy was trained on.
        seed: Of the episodes and of the resampling.
        gamma: Discount factor of the returns; 1 for plain sums of rewards.
        confidence: How often an interval should hold the true value.
        resamples: Bootstrap resamples.
        as_json: Print JSON, for machines.
        allow_import: Let the environment's id in the run's folder import a module.
    """
    from steadyrl.cli import _measures_output as output
    from steadyrl.cli._train import check_import, plain_warnings
    from steadyrl.envs._checks import check_count, check_finite
    from steadyrl.ground.files import printable
    from steadyrl.runs import folder
    from steadyrl.runs.run import load

    check_count("episodes", episodes, least=2)
    check_count("seed", seed, least=0)
    if gamma is not None:
        check_finite("gamma", gamma, least=0.0)
    config, _ = folder.read_config(run)
    check_import(config.env, str(run / "run.json"), allow_import=allow_import)
    with plain_warnings():
        loaded = load(run)
        played = loaded.evaluate(episodes, seed, gamma)
    options = {"confidence": confidence, "resamples": resamples, "seed": seed}
    summary = output._with_progress(played.returns, options)
    readings = {"length": float(played.lengths.mean()), "risk_averse": played.risk_averse}
    told = {"run": str(run), "env": config.env, "status": loaded.status, "update": loaded.update, "gamma": played.gamma}
    if as_json:
        sys.stdout.write(json.dumps(told | readings | {"summary": summary.to_dict()}, indent=2) + "\n")
        return
    output._print_summary(summary, f"{run} ({printable(config.env)}, {loaded.status}, update {loaded.update})")
    output._print(_told(readings, played.gamma))


def _told(readings: dict[str, Any], gamma: float) -> str:
    averse = readings["risk_averse"]
    rate = "the environment does not say" if averse is None else f"{averse:.3f}"
    return (
        f"Returns are discounted by {gamma:g}.\nRisk-averse rate: {rate}. Mean length: {readings['length']:.1f} steps."
    )
