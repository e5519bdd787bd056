"""What to subtract from the advantages of a rollout: lam (c_i - b) for every step of episode i.

A rollout here is what PPO and A2C collect: so many steps of several environments side by side, whatever episodes they
belong to. Only an episode that has ended has a return, so

- an episode that began in an earlier rollout has its whole return, and its steps in this rollout are penalised;
- the steps of an episode that this rollout does not finish are not: a step with k steps of its episode to go is
  penalised if it is not among the last k of its rollout, so in a share 1 - k/T of all cases where T is the rollout's
  length and episodes begin anywhere in it.

The penalty of early decisions is too small by that factor, and none where k >= T: let T be a few times the length of
an episode. That is so without a critic. With one (`rollout_critic`) a step has its own share of c_i in the place of
c_i - b, and steps of unfinished episodes have what the critic predicts.
"""

import warnings
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from steadyrl.algorithms import quantity
from steadyrl.algorithms.algorithm import measure_problems
from steadyrl.algorithms.penalty import Penalty
from steadyrl.algorithms.penalty_options import PenaltyOptions, penalty_problems
from steadyrl.algorithms.ramp import LONG_END, SHORT_EPISODE, YOUNG, Ramp
from steadyrl.ground.option import check, options_of, unknown
from steadyrl.ground.shapes import Array, Bool, BoolArray, Float, Int, IntArray
from steadyrl.integrations.episode_number import Infos, Of, episode_number

if TYPE_CHECKING:
    from steadyrl.integrations.rollout_critic import RolloutCritic

FEWEST: Final = 4
"""Episodes without which there is no penalty, whatever the measure."""
BEARABLE: Final = 0.25
"""The share of steps without a penalty, on average over where episodes begin, above which there is a warning."""
OPEN: Final = -1
"""The episode of a step whose episode has not ended."""
UNKNOWN: Final = -2
"""Of one whose episode began before the penalty came in."""
LONG_YOUNG: Final = 0.25
"""What a larger steadiness begins with where episodes are long: milder still than in our own PPO."""
CRITIC_LAMBDA: Final = 0.95
"""Decay of the penalty's own advantages, where it has a critic."""


class RolloutPenalty:
    """The penalty of one training run, told of every step, asked at the end of every rollout.

    >>> import numpy as np
    >>> penalty = RolloutPenalty("gini_deviation", lam=0.5)
    >>> for reward in (1.0, 2.0, 4.0, 5.0):  # two environments, episodes of one step
    ...     penalty.add(np.array([reward, -reward]), np.array([True, True]))
    >>> penalty.take().round(3)
    array([[-0.667, -0.667],
           [-0.476, -0.476],
           [ 0.286,  0.286],
           [ 0.857,  0.857]])
    """

    def __init__(
        self,
        measure: str = "gini_deviation",
        *,
        gamma: float = 1.0,
        episodes: int = 50,
        updates: int = 100,
        of: Of = "return",
        young_steadiness: float | None = None,
        **options: Any,
    ) -> None:
        """Begin.

        Args:
            measure: D, by name.
            gamma: Discount factor of the return whose variability is penalised: the plain sum of rewards, whatever
                the discount factor of the advantages.
            episodes: The coefficients come from at least so many of the latest episodes, once there are so many:
                where a rollout finishes fewer, those of earlier rollouts are counted too. Only the steps of the
                rollout itself are penalised.
            updates: Rollouts of the whole training; a larger steadiness is `young_steadiness` for a tenth of them, and
                all there for the last tenth (`steadyrl.algorithms.ramp`).
            of: The risk of what: return, or with lam or constraint cost (the sum of info["cost"]), drawdown, length, a
                number of an episode's last info, or a function of its rewards and infos.
            young_steadiness: Less where a policy learns to fail alike every time, more where it keeps to the gamble
                that it began with; 1 if it is not given, and 0.25 as soon as an episode has had more than 100 steps.
            options: `lam`, `steadiness`, `objective`, `at_most`, `constraint`, `estimator`, `measure_params` and the
                other options of a penalty, as in `steadyrl train`.
        """
        names = [name for name in options_of(PenaltyOptions) if name != "mean_part"]  # only returns are known
        for name in options.keys() - names:
            raise ValueError(unknown(name, names))
        fields = {"measure": measure, "of": _name(of), **options}
        for problem in PenaltyOptions.shorthand_problems(fields):
            raise ValueError(problem)
        penalty_options = PenaltyOptions(gamma=gamma, mean_part="return", **PenaltyOptions.written_out(fields))
        check(penalty_options)
        for problem in measure_problems(
            penalty_options.measure, penalty_options.measure_params, levels=penalty_options.of != quantity.RETURN
        ):
            raise ValueError(problem)
        if type(episodes) is not int or episodes < FEWEST:
            raise ValueError(f"episodes = {episodes!r}: must be a whole number >= {FEWEST}")
        for problem in penalty_problems(penalty_options, episodes):
            raise ValueError(problem)
        if young_steadiness is not None and not (isinstance(young_steadiness, int | float) and young_steadiness > 0):
            raise ValueError(f"young_steadiness = {young_steadiness!r}: must be a number > 0, or None")
        enough = (n for n in range(FEWEST, episodes + 1) if not list(penalty_problems(penalty_options, n)))
        self.gamma = gamma
        self.episodes = episodes
        self.fewest = next(enough)
        self.of = of
        self.ramp = Ramp(updates, YOUNG if young_steadiness is None else float(young_steadiness), LONG_END)
        self._may_be_milder = young_steadiness is None
        self.penalty = Penalty(penalty_options, self.ramp, updates=updates)
        self.logged: dict[str, float] = {}
        """After `take`: variability, lam, the episodes behind both, the share of steps that were penalised."""
        self._past: deque[float] = deque(maxlen=episodes)
        """Numbers of the latest episodes of all rollouts."""
        self._ended: list[tuple[float, int]] = []
        """Number and length of each episode that ended in this rollout."""
        self._steps: list[Int[IntArray, " envs"]] = []
        """For each step of this rollout: the place in `_ended` of the episodes that end there, or OPEN, or UNKNOWN."""
        self._histories: list[Float[Array, "envs 2"]] = []
        """For each step of this rollout: return and length of the episodes before it."""
        self._critic: RolloutCritic | None = None
        self._so_far = np.empty(0)
        self._discount = np.empty(0)
        self._lengths = np.empty(0, np.int64)
        """Of the episode that each environment is in: its return, gamma^t and t so far."""
        self._known = np.empty(0, np.bool_)
        """Whether its first step was seen."""
        self._rewards: list[list[float]] = []
        self._infos: list[list[Mapping[str, Any]]] = []
        """All of its rewards and infos, where the risk is of something else than the return."""
        self._warned = False

    @property
    def active(self) -> bool:
        """Is there a penalty at all? Not with lam = 0."""
        return self.penalty.active

    def expect(self, updates: int) -> None:
        """Tell how many rollouts the training will have in all."""
        self.penalty.expect(updates)
        self.ramp.updates = updates

    def begin(self, starts: npt.ArrayLike) -> None:
        """Before the first step, if not all episodes are at their beginning: which ones are.

        An episode in whose middle the penalty comes in has an unknown return and is left out.
        """
        begins = np.asarray(starts, dtype=np.bool_)
        if self._known.size != begins.size:
            self._known = np.zeros(begins.size, np.bool_)
            self._so_far, self._discount = np.zeros(begins.size), np.ones(begins.size)
            self._lengths = np.zeros(begins.size, np.int64)
            self._rewards, self._infos = [[] for _ in begins], [[] for _ in begins]
        self._reset(begins)
        self.forget()

    def add(self, rewards: npt.ArrayLike, ends: npt.ArrayLike, infos: Infos | None = None) -> None:
        """One step of all environments: what each paid, nothing bootstrapped nor scaled, and whether it ended there.

        `infos`, one for each environment, are needed if the risk is that of something in them.
        """
        reward, over = np.asarray(rewards, dtype=np.float64), np.asarray(ends, dtype=np.bool_)
        if not self._known.size:
            self.begin(np.ones(reward.size, np.bool_))
        if reward.shape != self._known.shape or over.shape != reward.shape:
            raise ValueError(
                f"rewards and ends have the shapes {reward.shape} and {over.shape}: must both be {self._known.shape}, "
                "one for each environment"
            )
        self._histories.append(self._history())
        self._so_far += self._discount * reward
        self._discount *= self.gamma
        self._lengths += 1
        if self._may_be_milder and self._lengths.max() > SHORT_EPISODE:
            self.ramp.young = LONG_YOUNG
        if self.of != quantity.RETURN:
            self._keep(reward, infos)
        episode = np.full(reward.size, OPEN)
        for env in np.flatnonzero(over & self._known):
            episode[env] = len(self._ended)
            self._ended.append((self._number(int(env)), int(self._lengths[env])))
        episode[over & ~self._known] = UNKNOWN
        self._steps.append(episode)
        self._reset(over)

    def forget(self) -> None:
        """Drop the steps of a rollout that came to nothing. The returns of its episodes stay known."""
        self._past.extend(value for value, _ in self._ended)
        self._ended, self._steps, self._histories = [], [], []

    def take(
        self,
        observations: npt.ArrayLike | None = None,
        last_observations: npt.ArrayLike | None = None,
        critic_lambda: float = CRITIC_LAMBDA,
    ) -> Float[Array, "T envs"]:
        """The penalty of each step since the last call: subtract it from the advantages before they are normalised.

        Without observations it is lam (c_i - b), 0 for the steps of unfinished episodes; b is the mean of c.

        Args:
            observations: Of each step, (T, envs, ...), numbers. With them the penalty has a critic and advantages of
                its own (`rollout_critic`), far less noisy, and steps of unfinished episodes have theirs as well.
            last_observations: The observation after the last step of each environment, (envs, ...).
            critic_lambda: Decay of these advantages; at 1 those of finished episodes are unbiased whatever the critic
                says.
        """
        if not self._steps:
            raise ValueError("take() before any step: add() each step of the rollout first")
        rows = self._rows(observations, last_observations)
        self._warn_if_too_long(len(self._steps), with_critic=rows is not None)
        ends, owners = np.stack(self._steps), self._owners()
        returns = np.array([value for value, _ in self._ended])
        self.forget()
        sample = np.array(self._past) if returns.size < self.episodes else returns
        self.logged = {"episodes": float(sample.size), "penalised": 0.0}
        penalties = np.zeros(owners.shape)
        if sample.size < self.fewest:
            return penalties
        self.penalty.begin(sample)
        c = self.penalty.coefficients(sample).own
        lam = self.penalty.lam
        self.logged |= self.penalty.finish(sample)
        if not self.active:
            return penalties
        own = (c - c.mean())[sample.size - returns.size :]
        if rows is not None:
            penalised = owners != UNKNOWN
            penalties[penalised] = lam * self._shares(rows, own, ends, owners, critic_lambda)[penalised]
        else:
            penalised = owners >= 0
            penalties[penalised] = lam * own[owners[penalised]]
        self.logged["penalised"] = float(penalised.mean())
        return penalties

    def _rows(
        self, observations: npt.ArrayLike | None, last_observations: npt.ArrayLike | None
    ) -> Float[Array, "moments envs size"] | None:
        """What the critic sees of each step, and of what follows the last: observation, return and length so far."""
        if observations is None and last_observations is None:
            return None
        steps = (len(self._steps), self._known.size)
        numbers = [np.asarray(one, dtype=np.float64) for one in (observations, last_observations)]
        given, last = numbers
        if given.shape[:2] != steps or last.shape != given.shape[1:]:
            raise ValueError(
                f"observations and last_observations have the shapes {given.shape} and {last.shape}: must be "
                f"{steps} and {steps[1:]}, each followed by the same numbers"
            )
        seen = np.concatenate([given, last[None]]).reshape(steps[0] + 1, steps[1], -1)
        return np.concatenate([seen, np.stack([*self._histories, self._history()])], axis=-1)

    def _shares(
        self,
        rows: Float[Array, "moments envs size"],
        c: Float[Array, " k"],
        ends: Int[IntArray, "T envs"],
        owners: Int[IntArray, "T envs"],
        decay: float,
    ) -> Float[Array, "T envs"]:
        """Each step's own share of its episode's coefficient, by the critic, which then learns from the rollout."""
        from steadyrl.integrations.rollout_critic import RolloutCritic, shares  # noqa: PLC0415  nothing else needs torch

        if self._critic is None or self._critic.size != rows.shape[-1]:  # observations of another model
            self._critic = RolloutCritic(rows.shape[-1])
        b = self._critic.predict(rows)
        after = b[1:].copy()
        after[ends >= 0] = c[ends[ends >= 0]]
        finished = owners >= 0
        if finished.any():
            self._critic.learn(rows[:-1][finished], c[owners[finished]])
        return shares(b[:-1], after, ends != OPEN, decay)

    def _history(self) -> Float[Array, "envs 2"]:
        """Return and length of the episode that each environment is in, so far."""
        return np.stack([self._so_far, self._lengths], axis=-1)

    def _keep(self, reward: Float[Array, " envs"], infos: Infos | None) -> None:
        """What the number of an episode will be made of."""
        all_infos = infos if infos is not None else [{}] * reward.size
        if len(all_infos) != reward.size:
            raise ValueError(f"{len(all_infos)} infos: must be {reward.size}, one for each environment")
        for env, info in enumerate(all_infos):
            self._rewards[env].append(float(reward[env]))
            self._infos[env].append(info)

    def _number(self, env: int) -> float:
        if self.of == quantity.RETURN:
            return float(self._so_far[env])
        return episode_number(self.of, self._rewards[env], self._infos[env])

    def _reset(self, begins: Bool[BoolArray, " envs"]) -> None:
        self._so_far[begins] = 0.0
        self._discount[begins] = 1.0
        self._lengths[begins] = 0
        for env in np.flatnonzero(begins):
            self._rewards[env], self._infos[env] = [], []
        self._known |= begins

    def _owners(self) -> Int[IntArray, "T envs"]:
        """The episode of each step, from the last step back: that of the next step, unless an episode ended here."""
        owners = np.stack(self._steps)
        owners[-1, (owners[-1] == OPEN) & ~self._known] = UNKNOWN
        for t in range(len(owners) - 2, -1, -1):
            owners[t] = np.where(owners[t] == OPEN, owners[t + 1], owners[t])
        return owners

    def _warn_if_too_long(self, steps: int, *, with_critic: bool) -> None:
        lengths = [length for _, length in self._ended] or [int(self._lengths.max())]
        mean = float(np.mean(lengths))
        bearable = mean <= steps if with_critic else (mean - 1.0) / (2.0 * steps) <= BEARABLE
        if bearable or self._warned or not self.active:
            return
        self._warned = True
        what, enough = "a step whose episode does not end in its rollout has no penalty", 4 * mean
        if with_critic:
            what, enough = f"the penalty's critic learns of the last {steps} steps of an episode alone", 2 * mean
        warnings.warn(
            f"episodes of {mean:.0f} steps in rollouts of {steps}: {what}; collect {enough:.0f} steps or more of each "
            "environment before an update",
            stacklevel=3,
        )


def check_critic_lambda(critic_lambda: float | None) -> None:
    """Refuse what is no decay."""
    if critic_lambda is not None and not 0.0 <= critic_lambda <= 1.0:
        raise ValueError(f"critic_lambda = {critic_lambda!r}: must be from 0 to 1, or None for no critic")


def _name(of: Of) -> str:
    return of if isinstance(of, str) else getattr(of, "__name__", "function")
