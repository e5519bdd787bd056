"""A risk-averse TorchRL: a module on the key `advantage`, between `GAE` and ClipPPOLoss, ReinforceLoss or another.

    for rollout in collector:
        gae(rollout)
        risk_averse(rollout)
        ...  # the loss, as ever

The value function's targets, which `GAE` has written under another key, are not touched.
"""

from collections.abc import Mapping
from typing import Any

from steadyrl.ground.shapes import Array, Float
from steadyrl.integrations.rollout import CRITIC_LAMBDA, RolloutPenalty, check_critic_lambda

try:
    import torch
    from tensordict import TensorDictBase, unravel_key
    from tensordict.nn import TensorDictModuleBase
except ImportError as error:
    raise ImportError(f"steadyrl.integrations.torchrl: {error}: pip install 'steadyrl[torchrl]'") from error

TRAJECTORY = ("collector", "traj_ids")
MASK = ("collector", "mask")
Key = str | tuple[str, ...]


class RiskAverse(TensorDictModuleBase):
    """Maximise E[G0] - lam D[G0]: every advantage A of a rollout becomes A - lam A_c, the step's own share of c_i.

    `RolloutPenalty` says which steps, and what becomes of episodes that outlast a rollout; rollouts must come in the
    order in which they were collected, each once. With lam = 0 nothing is changed, to the last bit.

    After each call `logged` has variability, lam, the episodes that both come from and the share of penalised steps.
    """

    def __init__(
        self,
        measure: str = "gini_deviation",
        *,
        gamma: float = 1.0,
        episodes: int = 50,
        reward: Key = ("next", "reward"),
        done: Key = ("next", "done"),
        advantage: Key = "advantage",
        observation: Key = "observation",
        critic_lambda: float | None = CRITIC_LAMBDA,
        **options: Any,
    ) -> None:
        """As `RolloutPenalty`: `lam` or `steadiness`, `of` and the rest.

        Args:
            measure: D, by name.
            gamma: Discount factor of the return whose variability is penalised, whatever that of the advantages.
            episodes: The coefficients come from at least so many of the latest episodes, once there are so many.
            reward: The key of what the environment paid, before any transform has scaled it.
            done: The key that says where an episode ended, terminated or truncated.
            advantage: The key that `GAE` wrote, not normalised (`average_gae=False`, which is its default).
            observation: The key of what the penalty's critic sees of a step: numbers, few enough for a small network;
                of pixels, the features that a network of yours makes of them.
            critic_lambda: Decay of the penalty's advantages; None for no critic (`RolloutPenalty.take`).
            options: As `RolloutPenalty`, with `updates`, how many rollouts, where there is a steadiness. With `of`,
                what it names must be an entry of `next`, one number a step.
        """
        super().__init__()
        check_critic_lambda(critic_lambda)
        self._critic_lambda = critic_lambda
        self.penalty = RolloutPenalty(measure, gamma=gamma, episodes=episodes, **options)
        self._keys = [unravel_key(key) for key in (reward, done, advantage)]
        self._observation = unravel_key(observation)
        with_critic = critic_lambda is not None and self.penalty.active
        self._after = unravel_key(("next", observation)) if with_critic else None
        self.in_keys = [*self._keys, *([self._observation, self._after] if with_critic else [])]
        self.out_keys = [self._keys[-1]]
        self._last_ids: Array | None = None

    @property
    def logged(self) -> dict[str, float]:
        """What to log of the last rollout."""
        return self.penalty.logged

    def forward(self, tensordict: TensorDictBase) -> TensorDictBase:
        """Subtract the penalty from the advantages of a rollout, in place."""
        missing = [key for key in self.in_keys if tensordict.get(key, None) is None]
        if missing and missing[0] in self._keys:
            raise ValueError(f"RiskAverse: the rollout has no {missing[0]!r}: call GAE first, or name the key")
        if missing:
            raise ValueError(
                f"RiskAverse: the rollout has no {missing[0]!r}: name what the critic sees, such as "
                "observation='pixels', or give critic_lambda=None for no critic"
            )
        if tensordict.get(MASK, None) is not None:
            raise ValueError("RiskAverse: the collector must not split trajectories (split_trajs=False, its default)")
        time = _time_dimension(tensordict)
        rewards, ends = (_steps(tensordict, key, time) for key in self._keys[:2])
        self._see_starts(tensordict, time)
        infos = _infos(tensordict["next"], time) if self.penalty.of != "return" else None
        for t in range(len(rewards)):
            self.penalty.add(rewards[t], ends[t], None if infos is None else infos[t])
        penalties = self._taken(tensordict, time)
        if self.penalty.active:
            advantages = tensordict.get(self._keys[2])
            shape = [tensordict.shape[time], *(size for place, size in enumerate(tensordict.shape) if place != time)]
            moved = torch.as_tensor(penalties.reshape(shape), dtype=advantages.dtype, device=advantages.device)
            tensordict.set(self._keys[2], advantages - moved.movedim(0, time).reshape(advantages.shape))
        return tensordict

    def _taken(self, tensordict: TensorDictBase, time: int) -> Float[Array, "T envs"]:
        if self._after is None or self._critic_lambda is None:
            return self.penalty.take()
        observations = _rows(tensordict, self._observation, time)
        return self.penalty.take(observations, _rows(tensordict, self._after, time)[-1], self._critic_lambda)

    def _see_starts(self, tensordict: TensorDictBase, time: int) -> None:
        """Which environments are at the beginning of an episode though the one before did not end in a rollout of ours.

        A collector that resets at each rollout leaves episodes without an end; its numbers of trajectories tell.
        """
        if tensordict.get(TRAJECTORY, None) is None:
            return
        ids = _steps(tensordict, TRAJECTORY, time)
        if self._last_ids is not None and self._last_ids.shape == ids[0].shape:
            self.penalty.begin(ids[0] != self._last_ids)
        self._last_ids = ids[-1]


def _time_dimension(tensordict: TensorDictBase) -> int:
    """The dimension named "time", or the last one, as for `GAE`."""
    names = list(tensordict.names)
    return names.index("time") if "time" in names else tensordict.ndim - 1


def _rows(tensordict: TensorDictBase, key: Any, time: int) -> Float[Array, "T envs k"]:
    """An entry with some numbers a step, time first and all environments in one row."""
    entry = tensordict.get(key).detach()
    ordered = entry.reshape(*tensordict.shape, -1).movedim(time, 0)
    return ordered.reshape(len(ordered), -1, ordered.shape[-1]).cpu().to(torch.float64).numpy()


def _steps(tensordict: TensorDictBase, key: Any, time: int) -> Float[Array, "T envs"]:
    """An entry with one number a step, time first and all environments in one row."""
    entry = tensordict.get(key)
    if entry.numel() != tensordict.numel():
        raise ValueError(
            f"RiskAverse: {key!r} has the shape {tuple(entry.shape)}: must be one number for each of "
            f"{tuple(tensordict.shape)} steps"
        )
    return _rows(tensordict, key, time)[..., 0]


def _infos(after: TensorDictBase, time: int) -> list[list[Mapping[str, Any]]]:
    """The numbers beside the reward, by name, of each step and environment."""
    entries = {name: after.get(name) for name in after.keys()}  # noqa: SIM118  iteration is over its first dimension
    names = [name for name, entry in entries.items() if torch.is_tensor(entry) and entry.numel() == after.numel()]
    numbers = {name: _steps(after, name, time) for name in names}
    steps, envs = next(iter(numbers.values())).shape
    return [[{name: numbers[name][t, env] for name in names} for env in range(envs)] for t in range(steps)]
