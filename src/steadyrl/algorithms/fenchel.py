"""Xie et al. 2018: the square of the mean as a maximum over y (Fenchel duality), so that one sample is enough.

Objective: E[R] - lam Var[R]. Since (E[R] + 1/(2 lam))^2 = max_y 2 y (E[R] + 1/(2 lam)) - y^2, it is lam times
max_y E[2 y R - R^2] + y / lam - y^2, up to a constant. Block by block:

    y += a (2 R + 1/lam - 2 y)
    theta += b (2 y R - R^2) z

At the best y, E[R] + 1/(2 lam), the expected step is the gradient of the objective divided by lam.

Choices: `rate_of_estimates` is 2 a, so that 1 puts y at the batch's best; y begins there too; y moves before theta. The
source draws its answer at random from all iterates, for its proof; here it is the last one, as everywhere. Nothing is
subtracted from the weight, and with a small lam, y is large: 2 y R is then the mean's gradient at a rate of b / lam.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from steadyrl.algorithms.algorithm import Algorithm, WeightedOptions
from steadyrl.algorithms.registry import register
from steadyrl.ground.option import option
from steadyrl.ground.shapes import Array, Float
from steadyrl.rollouts.batch import Batch


@dataclass(frozen=True)
class FenchelOptions(WeightedOptions):
    """lam must be above 0, for y is 1/(2 lam) above the mean."""

    rate_of_estimates: float = option(
        0.1, "2 a: how fast y follows the policy; 1 takes each batch's own", above=0, most=1
    )


@register
class Fenchel(Algorithm):
    """One run of the method."""

    name = "fenchel"
    Options: ClassVar[type[Any]] = FenchelOptions

    @classmethod
    def problems(cls, options: Any, run: Mapping[str, Any]) -> Iterator[str]:
        """There is no y for lam = 0."""
        yield from super().problems(options, run)
        if options.lam <= 0:
            yield f"lam = {options.lam:g}: must be > 0 with algorithm = fenchel"

    def learn(self, batch: Batch, to_go: Float[Array, "n T"]) -> dict[str, float]:
        """y, then theta."""
        returns = to_go[:, 0]
        lam = self.options.lam
        y = self.running_estimate("y", float(returns.mean()) + 0.5 / lam, self.options.rate_of_estimates)
        self.actor.ascend(batch, (2.0 * y * returns - returns**2)[:, None])
        return {"lam": lam, "y": y}
