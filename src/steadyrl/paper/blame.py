"""Whose failure it is that something does not work: the estimator's, lambda's, or the measure's."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

ESTIMATOR: Final = "the estimator"
MEASURE: Final = "not the estimator: the measure at this lambda and learning rate"
LAMBDA: Final = "lambda"
LAMBDA_AND_ESTIMATOR: Final = "lambda and the estimator"
NEITHER: Final = "neither: it does not fail here"
WORSE: Final = "ours is worse: with the paper's estimator it does not fail here"
UNKNOWN: Final = "not decided: too few runs of ours, or of either"

Works = tuple[str, bool | None, bool | None]
"""An item, and whether it works with the paper's estimator and with ours; None: not decided, or not run."""


def blame(works: Iterable[Works], of: int, remark: Callable[[str], str] = lambda _item: MEASURE) -> str:
    """Whose fault it is, from whether an item works with the paper's estimator and with ours (None: not known).

    Items are named unless the same is true of all of them, `of` so many.
    """
    groups: dict[str, list[str]] = {}
    for item, paper, ours in works:
        groups.setdefault(_whose(item, paper, ours, remark), []).append(item)
    if not groups or set(groups) == {NEITHER}:
        return NEITHER if groups else ""
    order = (ESTIMATOR, LAMBDA_AND_ESTIMATOR, LAMBDA, MEASURE, WORSE, UNKNOWN)
    parts = []
    for whose in sorted((one for one in groups if one != NEITHER), key=lambda one: _place(one, order)):
        items = groups[whose]
        parts.append(whose if len(items) == of else f"{whose} ({', '.join(items)})")
    return "; ".join(parts)


def _whose(item: str, paper: bool | None, ours: bool | None, remark: Callable[[str], str]) -> str:
    if paper is None or (ours is None and not paper):
        return UNKNOWN
    if paper:
        return WORSE if ours is False else NEITHER
    return ESTIMATOR if ours else remark(item)


def _place(whose: str, order: Sequence[str]) -> int:
    return next((k for k, start in enumerate(order) if whose.startswith(start)), len(order))
