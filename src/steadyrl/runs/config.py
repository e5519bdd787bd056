"""What a run is asked to do: one flat, frozen record that decides every bit of it.

It has what every run has (`RunOptions`), every option of its algorithm, and those options of a table or a network that
were given: which of the two learns follows from the environment, and the others have that actor's own defaults.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal

from steadyrl import algorithms
from steadyrl.actors.make import NAMES, OPTIONS, Kind
from steadyrl.ground.option import Option, option, options_of, plain, shown

MILLION: Final = 1_000_000
NETWORK: Final = options_of(OPTIONS["network"])


@dataclass(frozen=True)
class RunOptions:
    """What every run has."""

    env: str = option("", "the environment's id, as in gymnasium.make; module:id imports the module first")
    env_options: Mapping[str, Any] = option({}, "arguments of the environment, such as noise=pareto")
    limit: int | None = option(
        None,
        "the longest an episode may last, in steps; needed if the environment has no time limit of its own",
        least=1,
        most=MILLION,
    )
    observe: Literal["return", "time", "return,time"] | None = option(
        None,
        "show the policy the return so far, the share of the longest episode that has passed, or both: what is best "
        "for the return's variability depends on them",
        later=True,
    )
    backend: Literal["auto", "gymnasium"] = option(
        "auto", "what steps the environments: auto is the fastest that plays the same episodes"
    )
    algorithm: str = option(
        "reinforce",
        "reinforce (Algorithm 1 of the paper), ppo (Algorithm 2), or a competitor (default: ppo for a network, "
        "reinforce for a table)",
    )
    policy: str = option(
        "auto",
        "auto: a table if observations and actions are Discrete, else a network; tabular; network; or module:Class, a "
        "torch module of yours through which the networks see observations, or which is both of them",
    )
    n: int = option(
        50, "episodes of each update; a network by ppo has more if they are short: 2,048 steps", least=1, most=MILLION
    )
    updates: int = option(1000, "updates of the policy", least=1, most=10**9)
    seed: int = option(0, "every random number of the run follows from it", least=0, most=2**63 - 1)
    evaluate_every: int = option(0, "updates from one evaluation to the next; 0 for none", least=0)
    evaluate_episodes: int = option(100, "episodes of each evaluation", least=1, most=MILLION)
    keep_best: Literal["no", "return", "undiscounted_return", "objective", "cvar"] = option(
        "no",
        "keep the policy with the best evaluation, too: by its mean return, by return - lam D (objective), or by the "
        "mean of the worst 20 % (cvar)",
    )
    patience: int = option(0, "end after so many evaluations without a better one; 0: never", least=0)
    stop_when: str | None = option(
        None, "end as soon as a logged update says so, such as 'return >= 200' or 'evaluation.cvar >= 0'"
    )
    log_every: int = option(1, "updates from one line of metrics.jsonl to the next", least=1)
    checkpoint_every: int | None = option(
        None,
        "updates from one checkpoint to the next (default: as often as costs 1 % of the time at the most)",
        least=1,
    )


class RunConfig:
    """A run's fields: config.lam, config.clip; a field that was not given and has no default yet is None."""

    __slots__ = ("_fields",)

    def __init__(self, env: str, **fields: Any) -> None:
        """Fill in the defaults. Nothing is checked: `runs.check` does that."""
        fields["env"] = env
        algorithm = fields.get("algorithm", RunOptions.algorithm)
        options, defaults = _layout(algorithms.get(algorithm))
        fields = algorithms.get(algorithm).Options.written_out(fields)
        unknown = fields.keys() - options.keys()
        if unknown:
            raise TypeError(f"{algorithm} has no field {min(unknown)!r}")
        values = {**defaults, **fields}
        ordered = {name: options[name].convert(values[name]) for name in options if name in values}
        for name in ordered.keys() - defaults.keys():
            if ordered[name] is None:  # of an actor: as if it had not been given
                del ordered[name]
        object.__setattr__(self, "_fields", ordered)

    def __getattr__(self, name: str) -> Any:
        """A field by its name."""
        fields = object.__getattribute__(self, "_fields")
        if name in fields:
            return fields[name]
        if not name.startswith("_") and _exists(name):
            return None
        raise AttributeError(f"a run has no field {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a config cannot be changed: use replace(...)")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RunConfig) and self._fields == other._fields

    def __hash__(self) -> int:
        return hash(config_hash(self))

    def __repr__(self) -> str:
        return f"RunConfig({', '.join(f'{name}={value!r}' for name, value in self._fields.items())})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_fields, (self.to_dict(),)

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON has them; an option that came later (`Option.later`) is left out at its default."""
        options, _ = _layout(algorithms.get(self._fields["algorithm"]))
        return {
            name: plain(value)
            for name, value in self._fields.items()
            if not (options[name].later and value == options[name].default)
        }

    def replace(self, **changes: Any) -> "RunConfig":
        """The same with other fields; with another algorithm, only what both have is kept."""
        fields = self.to_dict()
        algorithm = changes.get("algorithm", self.algorithm)
        if algorithm != self.algorithm:
            options, _ = _layout(algorithms.get(algorithm))
            fields = {name: value for name, value in fields.items() if name in options}
        return _from_fields({**fields, **changes})

    def algorithm_options(self) -> Any:
        """The options of its algorithm, as the algorithm takes them."""
        kind = algorithms.get(self.algorithm)
        return kind.Options(**{name: self._fields[name] for name in options_of(kind.Options) if name in self._fields})

    def actor_options(self, kind: Kind) -> Any:
        """The options of an actor of this kind: those given, and the defaults of the others with this algorithm."""
        options = options_of(OPTIONS[kind], actor_defaults(self.algorithm, kind))
        return OPTIONS[kind](**{name: self._fields.get(name, options[name].default) for name in options})

    def misplaced(self, kind: Kind) -> Iterator[str]:
        """What was given that an actor of this kind does not have."""
        options = options_of(OPTIONS[kind])
        learner = NAMES[kind]
        for name, entry in actor_options(self.algorithm).items():
            if name in self._fields and name not in options:
                cure = "; policy = network would have it" if kind == "table" and name in NETWORK else ""
                text = f"{entry.name} = {shown(plain(self._fields[name]))}"
                yield f"{text}: must be left out: {self.env} is learned by {learner}{cure}"


@cache
def run_options(algorithm: str | None = None) -> dict[str, Option]:
    """What every run has, by name; with the defaults that an algorithm has changed."""
    return options_of(RunOptions, None if algorithm is None else algorithms.get(algorithm).run_defaults)


def algorithm_options(algorithm: str) -> dict[str, Option]:
    """What an algorithm has beside that, by name."""
    return options_of(algorithms.get(algorithm).Options)


def actor_options(algorithm: str, kind: Kind | None = None) -> dict[str, Option]:
    """What an actor has beside that, by name, of one kind or of any."""
    kinds: tuple[Kind, ...] = ("table", "network", "gaussian") if kind is None else (kind,)
    options: dict[str, Option] = {}
    for one in kinds:
        options |= options_of(OPTIONS[one], actor_defaults(algorithm, one))
    return options


def actor_defaults(algorithm: str, kind: Kind) -> Mapping[str, Any]:
    """Defaults of an actor's options that an algorithm has changed."""
    learner = algorithms.get(algorithm)
    return learner.table_defaults if kind == "table" else learner.network_defaults


def all_options() -> dict[str, Option]:
    """Every option that any run may have, by name."""
    options = run_options()
    for name in algorithms.names():
        options = {**algorithm_options(name), **options}
    return {**options, **actor_options(RunOptions.algorithm)}


def config_hash(config: RunConfig) -> str:
    """SHA-256 of the fields, in hexadecimal: the same on every machine, another for every other config."""
    text = json.dumps(config.to_dict(), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


Layout = tuple[dict[str, Option], dict[str, Any]]
_layouts: dict[type[algorithms.Algorithm], Layout] = {}


def _layout(algorithm: type[algorithms.Algorithm]) -> Layout:
    """Every option of a run of this algorithm, in order; and the defaults of those that every config of it has."""
    if algorithm not in _layouts:  # a study asks thousands of times
        declared = {**options_of(RunOptions, algorithm.run_defaults), **options_of(algorithm.Options)}
        defaults = {name: entry.default for name, entry in declared.items() if not entry.shorthand}
        _layouts[algorithm] = ({**declared, **actor_options(algorithm.name)}, defaults)
    return _layouts[algorithm]


def _exists(name: str) -> bool:
    """Is it an option of any algorithm? To ask every installed package takes long, so what was there is remembered."""
    if name not in _names:
        _names.update(all_options())
    return name in _names


_names: set[str] = set()


def _from_fields(fields: Mapping[str, Any]) -> RunConfig:
    return RunConfig(**fields)
