"""`steadyrl evaluate`: how good and how steady the policy of a run is."""

import json
import sys
from pathlib import Path
from typing import Any

from steadyrl.cli.parser import Parser


def add_options(parser: Parser, arguments: list[str]) -> None:  # noqa: ARG001
    """What the command takes."""
    parser.add_argument(
        "run", type=Path, metavar="RUN", help="the run's folder; of an unfinished run the last checkpoint is taken"
    )
    parser.option(
        "policy", "last, or best: by its evaluations, of a run with --keep-best", default="last", metavar="NAME"
    )
    parser.flag("deterministic", "take the likeliest action at every step, instead of one drawn from the policy")
    parser.option("episodes", "how many episodes, none of which the policy was trained on", int, 1000)
    parser.option("seed", "of the episodes and of the resampling", int, 0)
    parser.option("gamma", "discount factor of the returns; 1 for plain sums (default: as in training)", float)
    parser.option("confidence", "how often an interval should hold the true value", float, 0.95)
    parser.option("resamples", "bootstrap resamples", int, 2000)
    parser.flag("json", "print JSON, for machines", "as_json")
    parser.flag("allow-import", "let the environment's id in the run's folder import a module")


def evaluate(
    run: Path,
    *,
    policy: str,
    deterministic: bool,
    episodes: int,
    seed: int,
    gamma: float | None,
    confidence: float,
    resamples: int,
    as_json: bool,
    allow_import: bool,
) -> None:
    """Mean, VaR, CVaR and every measure of variability of a policy's returns, with intervals; its risk-averse rate."""
    from steadyrl.cli import measures_output as output
    from steadyrl.cli.train import check_import, plain_warnings
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
        loaded = load(run, policy=policy)
        played = loaded.evaluate(episodes, seed, gamma, deterministic)
    options = {"confidence": confidence, "resamples": resamples, "seed": seed}
    summary = output.with_progress(played.returns, options)
    readings = {
        "length": float(played.lengths.mean()),
        "risk_averse": played.risk_averse,
        "undiscounted_return": float(played.undiscounted_returns.mean()),
    }
    told = {"run": str(run), "env": config.env, "status": loaded.status, "update": loaded.update, "gamma": played.gamma}
    told |= {"policy": policy, "deterministic": deterministic}
    if as_json:
        sys.stdout.write(json.dumps(told | readings | {"summary": summary.to_dict()}, indent=2) + "\n")
        return
    which = f"{'best, ' if policy == 'best' else ''}update {loaded.update}{', deterministic' if deterministic else ''}"
    output.print_summary(summary, f"{run} ({printable(config.env)}, {loaded.status}, {which})")
    output.show(_told(readings, played.gamma))


def _told(readings: dict[str, Any], gamma: float) -> str:
    averse = readings["risk_averse"]
    rate = "the environment does not say" if averse is None else f"{averse:.3f}"
    return (
        f"Returns are discounted by {gamma:g}; undiscounted, their mean is {readings['undiscounted_return']:.4g}.\n"
        f"Risk-averse rate: {rate}. Mean length: {readings['length']:.1f} steps."
    )
