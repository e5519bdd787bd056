"""`steadyrl export`: the policy of a run, to be handed on, with a model card."""

import sys
from pathlib import Path

from steadyrl.cli.parser import Parser


def add_options(parser: Parser, arguments: list[str]) -> None:  # noqa: ARG001
    """What the command takes."""
    parser.add_argument("run", type=Path, metavar="RUN", help="the run's folder")
    parser.option("out", "where to write (default: policy in the run's folder)", Path)
    parser.option(
        "policy", "last, or best: by its evaluations, of a run with --keep-best", default="last", metavar="NAME"
    )
    parser.option("episodes", "how many episodes the card's numbers are from", int, 500)
    parser.option("seed", "of these episodes", int, 0)
    parser.flag("allow-import", "let the environment's id in the run's folder import a module")


def export(run: Path, *, out: Path | None, policy: str, episodes: int, seed: int, allow_import: bool) -> None:
    """Write policy.safetensors and README.md, its model card: what it is, how it was made, what it does, its limits."""
    from steadyrl.cli.train import check_import
    from steadyrl.envs._checks import check_count
    from steadyrl.ground.files import from_here
    from steadyrl.runs import folder
    from steadyrl.runs.run import load

    check_count("episodes", episodes, least=2)
    check_count("seed", seed, least=0)
    config, _ = folder.read_config(run)
    check_import(config.env, str(run / "run.json"), allow_import=allow_import)
    check_import(config.policy, str(run / "run.json"), allow_import=allow_import, field="policy")
    where = load(run, policy=policy).export(out, episodes=episodes, seed=seed)
    sys.stdout.write(f"written: {from_here(str(where))} (policy.safetensors, README.md)\n")
