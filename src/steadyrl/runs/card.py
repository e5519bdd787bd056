"""A policy to hand on: its weights in one file, and a model card that says what it is, how it was made, what it does.

The card is a function of the run and of the episodes that are played for it: no time, no machine, no path is in it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from steadyrl import __version__, measures
from steadyrl.algorithms.penalty_options import DEFAULT_STEADINESS
from steadyrl.evaluate import Summary
from steadyrl.ground.files import on_disk, write_atomically
from steadyrl.ground.option import shown
from steadyrl.policies import Policy, TabularSoftmax
from steadyrl.policies.card import code, how_to_use, in_sections, table
from steadyrl.policies.storage import to_bytes
from steadyrl.runs.config import RunConfig, config_hash
from steadyrl.runs.evaluation import Evaluation

HOME: Final = "policy"
"""Where a run has its policy, if it was exported."""
WEIGHTS: Final = "policy.safetensors"
CARD: Final = "README.md"
HASH_LENGTH: Final = 12
FIRST_FIELDS: Final = (
    "env",
    "env_options",
    "algorithm",
    "measure",
    "measure_params",
    "lam",
    "steadiness",
    "gamma",
    "n",
    "seed",
)
"""The fields that come first on a card, whatever they are."""


def write(folder: Path, policy: Policy, text: str) -> None:
    """Write policy and card into a folder, each whole or not at all; what else is there is left alone."""
    with on_disk(folder):
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / WEIGHTS, to_bytes(policy))
        write_atomically(folder / CARD, text.encode())


def card(
    config: RunConfig,
    status: str,
    update: int,
    policy: Policy,
    last: Mapping[str, Any],
    evaluation: Evaluation,
    *,
    name: str = "",
) -> str:
    """The card of a policy: `last` is the last row of the run's metrics, `evaluation` what the policy did since.

    One that comes with the package has a `name` by which it is loaded.
    """
    title = f"{name + ', ' if name else ''}{code(config.env)}: {_aim(config)}"
    sections = {
        "What it is": _what(config, policy),
        "How it was trained": _how(config, status, update, last),
        "What it does": _numbers(config, evaluation),
        "How to use it": _load_by(name, policy) if name else how_to_use(policy, WEIGHTS),
        "Limits": _limits(config, status, update, evaluation, chosen=bool(name)),
    }
    return f"# {title}\n{in_sections(sections)}"


def _aim(config: RunConfig) -> str:
    """The objective in a few words."""
    options = config.algorithm_options()
    lam, steadiness = getattr(options, "lam", None), getattr(options, "steadiness", None)
    if not hasattr(options, "lam"):
        return f"trained by {config.algorithm}"
    of, constraint = getattr(options, "of", "return"), getattr(options, "constraint", None)
    name = _label(config) + ("" if of == "return" else f" of the {of}")
    if constraint is not None:
        return f"most return with a {name} of at most {constraint:g}"
    if lam is None:
        return f"a steady return ({name}, steadiness {DEFAULT_STEADINESS if steadiness is None else steadiness:g})"
    return f"E - {lam:g} D, D the {name}" if lam else "risk-neutral"


def _what(config: RunConfig, policy: Policy) -> str:
    kind = type(policy).__name__
    return (
        f"A policy ({code(kind)}) for the Gymnasium environment {code(config.env)}, trained with SteadyRL "
        f"{__version__} by {code(config.algorithm)}. D is a measure of variability of the episode's return, "
        f"discounted by {config.gamma:g}: here the {_label(config)}."
    )


def _how(config: RunConfig, status: str, update: int, last: Mapping[str, Any]) -> str:
    fields = config.to_dict()
    names: list[str] = [name for name in FIRST_FIELDS if name in fields]
    names += [name for name in fields if name not in FIRST_FIELDS]
    rows = [(code(name), code(shown(fields[name]))) for name in names if fields[name] not in (None, {})]
    played = ", ".join(f"{last[name]:,} {name}" for name in ("episodes", "steps") if name in last)
    numbers = [f"{name} {last[name]:.5g}" for name in ("return", "variability") if isinstance(last.get(name), float)]
    ended = f"{update} of {config.updates} updates ({status}{': ' + played if played else ''})."
    last_batch = f" The last batch it learned from had: {', '.join(numbers)}." if numbers else ""
    heading = f"The config, whose hash begins with {code(config_hash(config)[:HASH_LENGTH])}:"
    return f"{ended}{last_batch} {heading}\n\n{table(('option', 'value'), rows)}"


def _numbers(config: RunConfig, evaluation: Evaluation) -> str:
    """Of episodes that it did not learn from, with 95 % intervals."""
    summary: Summary = evaluation.summary(resamples=1000, seed=evaluation.seed)
    known = [row.name for row in summary.rows]
    chosen = [
        name for name in ("mean", "cvar", config.measure, "standard_deviation", "gini_deviation") if name in known
    ]
    rows = [(row.label, *row.rounded()) for row in (summary[name] for name in dict.fromkeys(chosen))]
    averse = "" if evaluation.risk_averse is None else f" Risk-averse rate: {evaluation.risk_averse:.3f}."
    return (
        f"{evaluation.returns.size} episodes that it was not trained on (seed {evaluation.seed}), actions drawn from "
        f"the policy, returns discounted by {evaluation.gamma:g}; bootstrap intervals of {summary.confidence:.0%}.\n\n"
        f"{table(('', 'value', 'low', 'high'), rows)}\n\n"
        f"Undiscounted, the mean is {evaluation.undiscounted_returns.mean():.5g}; episodes last "
        f"{evaluation.lengths.mean():.1f} steps on average.{averse}"
    )


def _load_by(name: str, policy: Policy) -> str:
    extra = "" if isinstance(policy, TabularSoftmax) else '  # pip install "steadyrl[deep]"'
    return f'```python\nimport steadyrl{extra}\n\nrun = steadyrl.load("{name}")\nrun.policy.predict(observation)\n```'


def _limits(config: RunConfig, status: str, update: int, evaluation: Evaluation, *, chosen: bool) -> str:
    points = []
    if chosen:
        points.append("It was chosen to be shown: with another seed the same options may give a worse one.")
    if status != "finished":
        points.append(f"The run is {status} after {update} of {config.updates} updates.")
    points += [
        "One seed of training: another one may give another policy.",
        "The numbers hold for the environment above with these options, and for nothing else: a steady return there "
        "says nothing about situations that it does not contain, nor about the world that it stands for.",
        f"{evaluation.returns.size} episodes say little of what happens less often than once in "
        f"{max(1, evaluation.returns.size // 10)} of them; the intervals do not cover that.",
        "Less variability is not safety: no action and no state is excluded.",
    ]
    return "\n".join(f"- {point}" for point in points)


def _label(config: RunConfig) -> str:
    label = measures.get(config.measure).label
    params = ", ".join(f"{name} = {shown(value)}" for name, value in config.measure_params.items())
    return f"{label} ({params})" if params else label
