"""The policy gradient of exponential utility: maximise -(1/a) log E[exp(-a G0)]."""

from dataclasses import dataclass

import numpy as np

from steadyrl.algorithms import Algorithm, AlgorithmOptions
from steadyrl.ground.option import option


@dataclass(frozen=True)
class ExponentialOptions(AlgorithmOptions):
    """What it takes beside what every algorithm takes."""

    aversion: float = option(0.1, "a: how much a bad return weighs; near 0 is risk-neutral", above=0)


class ExponentialUtility(Algorithm):
    """One run of the method."""

    name = "exponential-utility"
    Options = ExponentialOptions

    def learn(self, batch, to_go):
        """One step from n episodes."""
        returns, a = to_go[:, 0], self.options.aversion
        tilted = np.exp(-a * (returns - returns.min()))
        weights = (1 - tilted / tilted.mean()) / a
        norm = self.actor.ascend(batch, weights[:, None])
        equivalent = float(returns.min() - np.log(tilted.mean()) / a)
        return {
            "gradient_norm": norm,
            "certainty_equivalent": self.running_estimate("certainty_equivalent", equivalent, 0.1),
        }
