"""Zhang, Liu and Whiteson 2021 (MVPI): the per-step variance by Fenchel duality, a risk-neutral task again and again.

Objective: E[r] - lam Var[r], r the reward of a step drawn with probability (1 - gamma) gamma^t, as with TRVO. Since
E[r]^2 = max_y 2 y E[r] - y^2, in turn

    y = (1 - gamma) E[G0]
    a risk-neutral method on the rewards r' = r - lam r^2 + 2 lam y r

The source leaves the risk-neutral method open; here it is one PPO update (clipped, GAE) before y is renewed. r' is 0
where r is, so nothing is lost at an episode's end. The discount gamma^t, which PPO leaves out, is kept as a factor of
the advantages: without it the step is not along the gradient of the objective.
"""

import numpy as np

from steadyrl.algorithms.baselines._proximal import ProximalSettings, check_proximal, proximal_step
from steadyrl.algorithms.baselines.actor import Actor
from steadyrl.algorithms.baselines.baseline import Baseline, check_discount
from steadyrl.algorithms.baselines.trvo import per_step_rewards
from steadyrl.ground.shapes import Array, Float
from steadyrl.rollouts.batch import Batch
from steadyrl.rollouts.returns import generalised_advantages


class MVPI(Baseline):
    """One run of the method."""

    settings_type = ProximalSettings
    settings: ProximalSettings

    def __init__(self, actor: Actor, settings: ProximalSettings, seed: int = 0) -> None:
        check_discount("mvpi", settings.gamma)
        check_proximal(settings)
        super().__init__(actor, settings, seed)

    def learn(self, batch: Batch, returns: Float[Array, " n"]) -> dict[str, float]:
        """y, then PPO on r'."""
        settings, values = self.settings, self.actor.values(batch)
        y = (1.0 - settings.gamma) * float(returns.mean())
        advantages = generalised_advantages(
            per_step_rewards(batch.rewards, y, self.lam),
            values,
            self.actor.last_values(batch),
            batch.lengths,
            batch.terminated,
            settings.gamma,
            settings.gae_lambda,
        )
        discounts = settings.gamma ** np.arange(values.shape[1])
        proximal_step(self.actor, batch, discounts * advantages, advantages + values, settings)
        return {"lam": self.lam, "y": y}
