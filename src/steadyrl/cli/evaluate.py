"""`steadyrl evaluate`: how good and how steady the policy of a run is, or a model of Stable-Baselines3."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steadyrl.cli.parser import Parser

if TYPE_CHECKING:
    from steadyrl.runs import Evaluation


def add_options(parser: Parser, arguments: list[str]) -> None:  # noqa: ARG001
    """What the command takes."""
    help_text = "the run's folder; of an unfinished run the last checkpoint is taken"
    parser.add_argument("run", type=Path, metavar="RUN", nargs="?", help=help_text)
    parser.option(
        "policy", "last, or best: by its evaluations, of a run with --keep-best", default="last", metavar="NAME"
    )
    parser.flag("deterministic", "take the likeliest action at every step, instead of one drawn from the policy")
    parser.option("episodes", "how many episodes, none of which the policy was trained on", int, 1000)
    parser.option("seed", "of the episodes and of the resampling", int, 0)
    parser.option(
        "gamma", "discount factor of the returns; 1 for plain sums (default: as in training; 1 with --sb3)", float
    )
    parser.option("confidence", "how often an interval should hold the true value", float, 0.95)
    parser.option("resamples", "bootstrap resamples", int, 2000)
    parser.flag("json", "print JSON, for machines", "as_json")
    parser.option("out", "write each episode to this .csv file, too, which steadyrl compare takes", Path)
    parser.flag("allow-import", "let the environment's id in the run's folder import a module")
    parser.option("sb3", "a model of Stable-Baselines3 instead of a run: the .zip file of model.save()", Path)
    parser.option("sb3-algorithm", "its class, of stable_baselines3 or sb3_contrib", default="PPO", metavar="NAME")
    parser.option("vec-normalize", "the file of VecNormalize.save(), if the model had one", Path)
    parser.option("env", "the environment's id, with --sb3", metavar="ID")
    parser.option("env-options", "its arguments, with --sb3", nargs="+", metavar="NAME=VALUE")
    parser.flag("trust-pickle", "load the model, which holds pickled Python: it runs the code of whoever made it")


def evaluate(
    run: Path | None,
    *,
    policy: str,
    deterministic: bool,
    episodes: int,
    seed: int,
    gamma: float | None,
    confidence: float,
    resamples: int,
    as_json: bool,
    out: Path | None,
    allow_import: bool,
    sb3: Path | None,
    sb3_algorithm: str,
    vec_normalize: Path | None,
    env: str | None,
    env_options: list[str] | None,
    trust_pickle: bool,
) -> None:
    """Mean, VaR, CVaR and every measure of variability of a policy's returns, with intervals; its risk-averse rate."""
    from steadyrl.cli import measures_output as output
    from steadyrl.cli.train import plain_warnings, run_fields
    from steadyrl.envs._checks import check_count, check_finite
    from steadyrl.runs.evaluation_file import check_path

    check_count("episodes", episodes, least=2)
    check_count("seed", seed, least=0)
    if gamma is not None:
        check_finite("gamma", gamma, least=0.0)
    if (run is None) == (sb3 is None):
        raise ValueError("give RUN, the folder of a run, or --sb3 FILE, one of the two; see steadyrl evaluate --help")
    if (env is None) != (sb3 is None):
        raise ValueError("--env ID belongs to --sb3 FILE: a run has its own environment, a model of SB3 needs one")
    if env_options is not None and sb3 is None:
        raise ValueError("--env-options belongs to --sb3 FILE: a run has its own")
    if out is not None:
        check_path(out)
    with plain_warnings():
        if run is not None:
            evaluation, content, title = of_run(run, policy, episodes, seed, gamma, deterministic, allow_import)
        elif sb3 is not None and env is not None:
            from steadyrl.integrations.sb3_model import load_sb3
            from steadyrl.runs.external import evaluate_policy

            model = load_sb3(
                sb3,
                algorithm=sb3_algorithm,
                normalize=vec_normalize,
                deterministic=deterministic,
                trust_pickle=trust_pickle,
            )
            options = run_fields({"env_options": env_options}).get("env_options", {})
            evaluation = evaluate_policy(
                model, env, episodes=episodes, seed=seed, gamma=1.0 if gamma is None else gamma, **options
            )
            content = {"sb3": str(sb3), "env": env, "gamma": evaluation.gamma}
            title = f"{sb3} ({env}, {sb3_algorithm}{', deterministic' if deterministic else ''})"
    if out is not None:
        evaluation.save(out)
    summary = output.with_progress(evaluation.returns, {"confidence": confidence, "resamples": resamples, "seed": seed})
    readings = {
        "length": float(evaluation.lengths.mean()),
        "risk_averse": evaluation.risk_averse,
        "undiscounted_return": float(evaluation.undiscounted_returns.mean()),
    }
    if as_json:
        content |= {"deterministic": deterministic, **readings, "summary": summary.to_dict()}
        sys.stdout.write(json.dumps(content, indent=2) + "\n")
        return
    output.print_summary(summary, title)
    output.show(_told(readings, evaluation.gamma), *([] if out is None else [f"written: {out}"]))


def of_run(
    run: Path, policy: str, episodes: int, seed: int, gamma: float | None, deterministic: bool, allow_import: bool
) -> tuple["Evaluation", dict[str, Any], str]:
    """What the policy of a run did, what JSON says of it, and its title."""
    from steadyrl.cli.train import check_import
    from steadyrl.ground.files import printable
    from steadyrl.runs import folder
    from steadyrl.runs.run import load
    from steadyrl.runs.shipped import is_shipped

    if not is_shipped(run):
        config, _ = folder.read_config(run)
        check_import(config.env, str(run / "run.json"), allow_import=allow_import)
        check_import(config.policy, str(run / "run.json"), allow_import=allow_import, field="policy")
    loaded = load(run, policy=policy)
    config = loaded.config
    evaluation = loaded.evaluate(episodes, seed, gamma, deterministic)
    content = {"run": str(run), "env": config.env, "status": loaded.status, "update": loaded.update}
    content |= {"gamma": evaluation.gamma, "policy": policy}
    which = f"{'best, ' if policy == 'best' else ''}update {loaded.update}{', deterministic' if deterministic else ''}"
    return evaluation, content, f"{run} ({printable(config.env)}, {loaded.status}, {which})"


def _told(readings: dict[str, Any], gamma: float) -> str:
    averse = readings["risk_averse"]
    rate = "the environment does not say" if averse is None else f"{averse:.3f}"
    return (
        f"Returns are discounted by {gamma:g}; undiscounted, their mean is {readings['undiscounted_return']:.4g}.\n"
        f"Risk-averse rate: {rate}. Mean length: {readings['length']:.1f} steps."
    )
