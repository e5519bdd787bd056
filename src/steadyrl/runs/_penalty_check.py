"""Do measure, estimator and the number of episodes go together?"""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from steadyrl.ground.shapes import Array
from steadyrl.runs.config import RunConfig

_FOUND_GOOD: set[str] = set()

ENOUGH = 64
"""Episodes that are enough for every estimator."""


def penalty_problems(config: RunConfig) -> Iterator[str]:
    """What is wrong with them; a study asks for thousands of runs with a handful of penalties."""
    fields = ("measure", "measure_params", "estimator", "estimator_options", "n", "lam", "constraint")
    key = json.dumps({name: config.to_dict()[name] for name in fields}, sort_keys=True)
    if key not in _FOUND_GOOD:
        found = list(_problems(config))
        yield from found
        if not found:
            _FOUND_GOOD.add(key)


def _problems(config: RunConfig) -> Iterator[str]:
    from steadyrl import estimators, measures  # noqa: PLC0415  `steadyrl train --help` needs neither

    given = ""
    try:
        measure = measures.get(config.measure)
        if measure.facts.shift != 0:
            yield f"measure = {config.measure!r}: must be a measure of variability: {', '.join(measures.names())}"
            return
        given = _given("measure_params", config.measure_params)
        measure = measures.get(measure, **config.measure_params)
        given = _given("estimator_options", config.estimator_options)
        estimator = estimators.get(config.estimator, **config.estimator_options)
        estimator.coefficients(measure, *_sample(ENOUGH))
        penalised, given = config.lam > 0 or config.constraint is not None, ""
        if penalised:
            estimator.coefficients(measure, *_sample(min(config.n, ENOUGH)))
    except Exception as error:  # a user's own measure may raise anything
        yield f"{given}{error}"
        return
    least = _fewest(measure.params)
    if penalised and config.n < least:
        yield f"n = {config.n}: must be >= {least} for a tail of {config.measure} to hold one episode"


def _given(name: str, options: Mapping[str, Any]) -> str:
    return f"{name} = {dict(options)}: " if options else ""


def _sample(n: int) -> tuple[Array, None, np.random.Generator]:
    """Returns, no weights, and a generator to split them with."""
    return np.arange(n, dtype=np.float64), None, np.random.default_rng(0)


def _fewest(params: Mapping[str, Any]) -> int:
    """Episodes for a measure's tail to hold one of them."""
    from steadyrl.measures._tails import facing_lower  # noqa: PLC0415

    if not {"alpha", "tail"} <= params.keys():
        return 1
    _, mass = facing_lower(np.zeros(1), params["alpha"], params["tail"])
    return math.ceil(round(1.0 / mass, 9))
