"""Xie et al. 2018: the square of the mean as a maximum over y (Fenchel duality), so that one sample is enough.

Objective: E[R] - lam Var[R]. Since (E[R] + 1/(2 lam))^2 = max_y 2 y (E[R] + 1/(2 lam)) - y^2, it is lam times
max_y E[2 y R - R^2] + y / lam - y^2, up to a constant. Block by block:

    y += a (2 R + 1/lam - 2 y)
    theta += b (2 y R - R^2) z

At the best y, E[R] + 1/(2 lam), the expected step is the gradient of the objective divided by lam.

Choices: `rate_of_estimates` is 2 a, so that 1 puts y at the batch's best; y begins there too; y moves before theta. The
source draws its answer at random from all iterates, for its proof; here it is the last one, as everywhere. The weight
has no baseline, and with a small lam, y is large: 2 y R is then the mean's gradient at a rate of b / lam.
"""

from dataclasses import dataclass

from steadyrl.algorithms.baselines.actor import Actor, ascend
from steadyrl.algorithms.baselines.baseline import Baseline, BaselineSettings, check_rate
from steadyrl.ground.shapes import Array, Float
from steadyrl.rollouts.batch import Batch


@dataclass(frozen=True)
class FenchelSettings(BaselineSettings):
    """lam must be above 0, for y is 1/(2 lam) above the mean."""

    rate_of_estimates: float = 0.1
    """2 a: how fast y follows."""


class Fenchel(Baseline):
    """One run of the method."""

    settings_type = FenchelSettings
    settings: FenchelSettings

    def __init__(self, actor: Actor, settings: FenchelSettings, seed: int = 0) -> None:
        check_rate("rate_of_estimates", settings.rate_of_estimates)
        if settings.penalty.lam <= 0:
            raise ValueError(f"lam = {settings.penalty.lam}: must be > 0 with fenchel")
        super().__init__(actor, settings, seed)

    def learn(self, batch: Batch, returns: Float[Array, " n"]) -> dict[str, float]:
        """y, then theta."""
        y = self.track("y", float(returns.mean()) + 0.5 / self.lam, self.settings.rate_of_estimates)
        ascend(self.actor, batch, (2.0 * y * returns - returns**2)[:, None])
        return {"lam": self.lam, "y": y}
