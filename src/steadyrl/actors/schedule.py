"""What changes with the progress of a run: from 1 at its beginning to 0 at its end, or not at all."""

import math


def scheduled(schedule: str, progress: float) -> float:
    """The factor after this share of the updates.

    >>> [round(scheduled("cosine", x), 3) for x in (0.0, 0.5, 1.0)]
    [1.0, 0.5, 0.0]
    """
    if schedule == "linear":
        return 1.0 - progress
    return 0.5 * (1.0 + math.cos(math.pi * progress)) if schedule == "cosine" else 1.0
