"""How much of its steadiness a policy has while it is young: little for a tenth of the run, all of it from half on.

A strong penalty from the first batch on teaches a policy to fail alike every time: on the way to a better policy the
returns vary more than before, and a failure that is always the same is the nearest thing that is steady. A penalty that
comes after a risk-neutral training finds a policy that no longer tries the other way, and rates that have fallen. A
mild one from the first batch on does neither: it decides between ways that are about as good, and leaves the rest to
the mean. So a policy begins with `young`, or with less if less is asked for, and

    steadiness now = young^(1 - grown) steadiness^grown,    grown from 0 to 1

where grown rises from 0 at `BEGIN` of the run to 1 at `END`. The clock is asked and not the mean: in much noise a mean
that rests, for a third of a run say, before it rises cannot be told from one that has stopped rising.
"""

from typing import Final

import numpy as np

from steadyrl.ground.state import Stateful

YOUNG: Final = 0.5
BEGIN: Final = 0.1
END: Final = 0.5


class Ramp(Stateful):
    """How far one run has come."""

    parts = ("batches",)

    def __init__(self, updates: int, young: float = YOUNG) -> None:
        """`updates` are those of the whole run, `young` is what it begins with."""
        self.updates = updates
        self.young = young
        self.batches = 0

    def see(self) -> None:
        """A batch has been played."""
        self.batches += 1

    @property
    def grown(self) -> float:
        """The share of the way from young to grown up."""
        return float(np.clip((self.batches / self.updates - BEGIN) / (END - BEGIN), 0.0, 1.0))

    def limited(self, steadiness: float) -> float:
        """What a policy of this age gets of it."""
        grown = self.grown
        if steadiness <= self.young or grown == 1.0:
            return steadiness
        return float(self.young ** (1.0 - grown) * steadiness**grown)
