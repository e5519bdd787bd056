"""The run-time checks of the tests: of shapes, and of types where shapes are declared.

An int is a float where a float is asked for.
"""

import dataclasses
import functools
import inspect

import jaxtyping
from beartype import BeartypeConf, beartype

check = beartype(conf=BeartypeConf(is_pep484_tower=True, violation_type=jaxtyping.TypeCheckError))
scope = jaxtyping.jaxtyped("context")
"""Within it, a dimension's name stands for one number."""


def checked(thing=None, *, typechecker=None):
    """What jaxtyping.jaxtyped does to a function or a dataclass, faster.

    It binds the arguments by their signature and checks them before the call and once more after it, for better
    messages; here they are checked once, and then what is returned.
    """
    if thing is None:
        return functools.partial(checked, typechecker=typechecker)
    if inspect.isclass(thing):
        if dataclasses.is_dataclass(thing) and "__init__" in vars(thing) and not hasattr(thing.__init__, "looked_at"):
            thing.__init__ = checked(thing.__init__)
        return thing
    strict = check(thing)
    if strict is thing:  # nothing is declared
        return thing

    @functools.wraps(thing)
    def call(*args, **kwargs):
        if jaxtyping.config.jaxtyping_disable:
            return thing(*args, **kwargs)
        with scope:
            return strict(*args, **kwargs)

    call.looked_at = True
    return call
