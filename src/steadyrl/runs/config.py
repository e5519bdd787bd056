"""What a run is asked to do: one flat, frozen record that decides every bit of it."""

import ast
import dataclasses
import hashlib
import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any, Literal, cast, get_args


@dataclass(frozen=True)
class RunConfig:
    """Train a policy that maximises E[G0] - lam D[G0]. None stands for the algorithm's own default."""

    env: str
    """The environment's id, as in gymnasium.make; module:id imports the module first."""
    env_options: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of the environment, such as noise=pareto."""
    limit: int | None = None
    """The longest an episode may last, in steps; needed if the environment has no time limit of its own."""
    backend: Literal["auto", "gymnasium"] = "auto"
    """What steps the environments: auto is the fastest that plays the same episodes."""
    algorithm: Literal[
        "reinforce", "ppo", "risk-neutral-reinforce", "risk-neutral-ppo", "tamar", "spsa", "smoothed-functional",
        "fenchel", "trvo", "mvpi", "cvar-pg", "mean-semivariance", "mixture",
    ] = "reinforce"  # fmt: skip
    """reinforce (Algorithm 1 of the paper), ppo (Algorithm 2), or one of the baselines."""
    policy: Literal["auto", "tabular", "network"] = "auto"
    """auto: a table if observations and actions are Discrete and the algorithm is not ppo, else a network."""
    n: int = 50
    """Episodes of each update."""
    updates: int = 1000
    """Updates of the policy."""
    seed: int = 0
    """Every random number of the run follows from it."""

    measure: str = "gini_deviation"
    """The measure of variability D, by name; `steadyrl measures --list` has them all."""
    measure_params: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of the measure, such as alpha=0.1."""
    lam: float = 1.0
    """The weight of D; 0 is risk-neutral. With a constraint, where its dual ascent begins."""
    estimator: str = "influence"
    """How the gradient of D is estimated: influence, jackknife or paper."""
    estimator_options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the estimator, such as mmd_sign=+."""
    unit_free: bool = False
    """Divide lam by twice the standard deviation of the first batch's returns if D is quadratic."""
    constraint: float | None = None
    """Maximise E[G0] subject to D[G0] <= constraint instead: lam by dual ascent."""
    dual_rate: float = 0.01
    """Step of the dual ascent."""
    penalty_baseline: bool = False
    """Subtract a learned baseline from the coefficients of D: no bias, less variance."""

    gamma: float | None = None
    """Discount factor (default: 0.999; ppo: 0.99)."""
    policy_rate: float | None = None
    """Learning rate of the policy (default: 0.0007; tables: 0.001; ppo: 0.0003)."""
    value_rate: float | None = None
    """Learning rate of the value function (default: ten times the policy's, the paper's rule; ppo: the same)."""
    optimiser: Literal["adam", "sgd"] | None = None
    """Of policy and value alike (default: adam; tables: always sgd)."""
    normalise_advantages: bool | None = None
    """Advantages of standard deviation 1, which rescales lam (default: False; ppo: True; tables: never)."""
    max_grad_norm: float | None = None
    """Clip the norm of the policy's gradient, 0 for no clipping (default: 0; ppo: 0.5; tables: never)."""

    hidden: tuple[int, ...] = (128, 128)
    """Units of each hidden layer of policy and value network."""
    activation: Literal["relu", "tanh", "elu", "silu"] = "relu"
    """Between the layers."""
    output_gain: float = 1.0
    """What the policy's last layer begins with is multiplied by; 0.1 begins nearly uniform."""
    tanh_mean: bool = True
    """The mean of a Gaussian policy is the tanh of the network's output."""
    initial_log_std: float = -1.0
    """Where the log standard deviation of a Gaussian policy begins."""
    scale_to_bounds: bool = True
    """Mean and standard deviation of a Gaussian policy are in units of half the action's range."""

    gae_lambda: float = 0.95
    """ppo: decay of the generalised advantage estimates."""
    clip: float = 0.2
    """ppo: range of the ratio of one step."""
    inner_updates: int = 10
    """ppo: passes over each batch, the paper's M."""
    minibatches: int = 1
    """ppo: parts that each pass is cut into."""
    value_epochs: int = 1
    """ppo: passes of the value function for each of the policy's."""
    kl_stop: float | None = None
    """ppo: end the passes over a batch at this mean KL of a step (default: never); trvo: its radius (default: 0.01)."""
    ratio: Literal["product", "one", "surrogate", "reward"] = "product"
    """ppo: how D is corrected for the policy's movement within a batch."""
    zeta: float = 2.0
    """ppo: largest importance ratio of a trajectory."""
    clip_rule: Literal["weight", "gradient"] = "weight"
    """ppo: beyond zeta, keep a trajectory's gradient at the largest ratio, or give it none."""
    penalty_scale: Literal["step", "trajectory"] = "step"
    """ppo: average the penalty over steps, or sum it over those of each trajectory."""

    rate_of_estimates: float = 0.1
    """tamar, fenchel: how fast the running estimates follow the policy; 1 takes each batch's own."""
    perturbation: float = 0.1
    """spsa, smoothed-functional: how far the second policy is from the first, in every parameter."""
    risk_level: float = 0.2
    """cvar-pg, mixture: the share of the worst episodes that counts."""
    soft_share: float = 0.0
    """cvar-pg: the share of the updates over which the risk level falls from 1 to its end."""
    neutral_share: float = 0.5
    """mixture: the share of the updates that trains the risk-neutral part, which is frozen then."""

    evaluate_every: int = 0
    """Updates from one evaluation to the next; 0 for none."""
    evaluate_episodes: int = 100
    """Episodes of each evaluation."""
    log_every: int = 1
    """Updates from one line of metrics.jsonl to the next."""
    checkpoint_every: int | None = None
    """Updates from one checkpoint to the next (default: as often as costs 1 % of the time at the most)."""

    def __post_init__(self) -> None:
        """Write whole numbers as floats where floats are asked for, so that 1 and 1.0 are the same run."""
        for name, (kind, _) in field_types().items():
            value = getattr(self, name)
            if kind is float and type(value) is int:
                object.__setattr__(self, name, _as_float(value))
            elif isinstance(value, Mapping):
                object.__setattr__(self, name, dict(value))

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON has them."""
        return {f.name: _plain(getattr(self, f.name)) for f in dataclasses.fields(self)}


@cache
def field_types() -> dict[str, tuple[Any, bool]]:
    """Of each field its type, and whether it may be None instead."""
    found = {}
    for f in dataclasses.fields(RunConfig):
        options = get_args(f.type)
        optional = type(None) in options
        found[f.name] = (options[0] if optional else f.type, optional)
    return found


@cache
def field_docs() -> dict[str, str]:
    """The sentence below each field: the help of its option."""
    body = cast("ast.ClassDef", ast.parse(inspect.getsource(RunConfig)).body[0]).body
    return {
        cast("ast.Name", a.target).id: ast.literal_eval(b.value)
        for a, b in pairwise(body)
        if isinstance(a, ast.AnnAssign) and isinstance(b, ast.Expr)
    }


def config_hash(config: RunConfig) -> str:
    """SHA-256 of the fields, in hexadecimal: the same on every machine, another for every other config."""
    text = json.dumps(config.to_dict(), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _as_float(value: int) -> float | int:
    try:
        return float(value)
    except OverflowError:  # left for the check to refuse
        return value


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    return [_plain(entry) for entry in value] if isinstance(value, list | tuple) else value
