"""A risk-averse Stable-Baselines3: one callback for PPO and A2C, and sb3-contrib's RecurrentPPO, MaskablePPO and TRPO.

    PPO("MlpPolicy", env).learn(100_000, callback=RiskAverse("gini_deviation", lam=0.5))

A callback, and not a rollout buffer of ours: it sees the rewards before the value of a time limit's last observation is
added to them, it works with every kind of buffer, and nothing of ours is in the model that is saved.
"""

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from steadyrl.integrations.rollout import CRITIC_LAMBDA, RolloutPenalty, check_critic_lambda

try:
    import torch
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm
    from stable_baselines3.common.policies import ActorCriticPolicy
    from stable_baselines3.common.utils import obs_as_tensor
    from stable_baselines3.common.vec_env import VecNormalize, unwrap_vec_normalize
except ImportError as error:
    raise ImportError(f"steadyrl.integrations.sb3: {error}: pip install 'steadyrl[sb3]'") from error


class RiskAverse(BaseCallback):
    """Maximise E[G0] - lam D[G0]: every advantage A of a rollout becomes A - lam A_c, the step's own share of c_i.

    `RolloutPenalty` says which steps, and what becomes of episodes that outlast a rollout. The value function learns
    the same targets as ever. With lam = 0 nothing is changed, to the last bit.

    With `VecNormalize` the returns are those of the rewards before they are scaled, and the penalty is divided by the
    scale of now: lam keeps the unit that it has without. (Where rewards are clipped, the two differ by that.)

    Recorded with every rollout: `steady/variability`, `steady/lam`, `steady/episodes` (that both come from),
    `steady/penalised` (the share of steps), with a steadiness `steady/pooled` and `steady/implied_lam`.
    """

    def __init__(
        self,
        measure: str = "gini_deviation",
        *,
        gamma: float = 1.0,
        episodes: int = 50,
        critic_lambda: float | None = CRITIC_LAMBDA,
        verbose: int = 0,
        **options: Any,
    ) -> None:
        """As `RolloutPenalty`: `lam` or `steadiness`, `of`, `gamma`, which is not the model's, and the rest.

        The penalty has a critic, and advantages of its own with the decay `critic_lambda` (`rollout_critic`); with
        None there is none, and every step of an episode has lam (c_i - b).
        """
        super().__init__(verbose)
        check_critic_lambda(critic_lambda)
        self._critic_lambda = critic_lambda
        self._scaling: VecNormalize | None = None
        self._seen: list[NDArray[np.float32]] = []
        """What the critic is told of each step of a rollout."""
        self.penalty = RolloutPenalty(measure, gamma=gamma, episodes=episodes, **options)

    def _init_callback(self) -> None:
        if not isinstance(self.model, OnPolicyAlgorithm):
            raise ValueError(
                f"RiskAverse: {type(self.model).__name__} learns from a replay buffer, which has no advantages: "
                "must be PPO, A2C, or another algorithm of whole rollouts"
            )

    def _on_training_start(self) -> None:
        normalizer = unwrap_vec_normalize(self.training_env)
        self._scaling = normalizer if normalizer is not None and normalizer.norm_reward else None
        starts = self.model._last_episode_starts  # said nowhere else
        self.penalty.begin(np.ones(self.training_env.num_envs, np.bool_) if starts is None else starts)
        rollout_steps = cast(OnPolicyAlgorithm, self.model).n_steps * self.training_env.num_envs
        self.penalty.expect(max(1, self.locals["total_timesteps"] // rollout_steps))

    def _on_rollout_start(self) -> None:
        self.penalty.forget()
        self._seen = []

    def _on_step(self) -> bool:
        rewards = self.locals["rewards"] if self._scaling is None else self._scaling.get_original_reward()
        self.penalty.add(rewards, self.locals["dones"], self.locals["infos"])
        if self.penalty.active and self._critic_lambda is not None:
            self._seen.append(self._features(self.locals["obs_tensor"]))
        return True

    def _on_rollout_end(self) -> None:
        buffer = cast(OnPolicyAlgorithm, self.model).rollout_buffer
        if self._critic_lambda is not None and self._seen:
            last = self._features(obs_as_tensor(self.locals["new_obs"], self.model.device))
            penalties = self.penalty.take(np.stack(self._seen), last, self._critic_lambda)
        else:
            penalties = self.penalty.take()
        for name, value in self.penalty.logged.items():
            self.logger.record(f"steady/{name}", value)
        if self.penalty.active:
            buffer.advantages -= (penalties / self._scale()).astype(np.float32)

    def _features(self, observations: Any) -> NDArray[np.float32]:
        """What the model's own feature extractor makes of the observations of all environments."""
        with torch.no_grad():
            features = cast(ActorCriticPolicy, self.model.policy).extract_features(observations)
        features_of_value = features[-1] if isinstance(features, tuple) else features
        return features_of_value.numpy(force=True)

    def _scale(self) -> float:
        """What VecNormalize divides rewards by."""
        if self._scaling is None:
            return 1.0
        return float(np.sqrt(self._scaling.ret_rms.var + self._scaling.epsilon))
