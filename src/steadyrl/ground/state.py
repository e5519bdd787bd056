"""What an object remembers, as named arrays: written once, for whatever a checkpoint has to hold.

An object names its parts, and a part may be a number, an array, a torch tensor or module, a dictionary or a list of
parts, None, or another object with parts. Arrays and tensors are filled in place, so views of them stay views.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

State = dict[str, NDArray[Any]]


class Stateful:
    """Has a state that can be taken and put back."""

    parts: ClassVar[tuple[str, ...]] = ()
    """The attributes that hold what is to be remembered."""

    def state(self) -> State:
        """A copy of every part, by name."""
        arrays: State = {}
        for name in self.parts:
            _take(getattr(self, name), name, arrays)
        return arrays

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Put back what `state` gave. A KeyError names what is missing, a ValueError what does not fit."""
        for name in self.parts:
            setattr(self, name, _put(getattr(self, name), name, state))


def _take(part: Any, name: str, arrays: State) -> None:
    """Add a part's arrays under names that begin with its own."""
    if isinstance(part, Stateful):
        arrays |= {f"{name}.{key}": array for key, array in part.state().items()}
    elif isinstance(part, np.ndarray):
        arrays[name] = part.copy()
    elif hasattr(part, "detach"):
        arrays[name] = part.detach().cpu().numpy().copy()
    elif isinstance(part, int | float):  # and bool
        arrays[name] = np.array(part)
    elif part is not None:
        for key, entry in _entries(part):
            _take(entry, f"{name}.{key}", arrays)


def _put(part: Any, name: str, state: Mapping[str, NDArray[Any]]) -> Any:
    """The part as the state has it."""
    if part is None:
        return None
    if isinstance(part, Stateful):
        part.restore(_below(name, state))
    elif isinstance(part, np.ndarray):
        _fill(part, name, state[name])
    elif hasattr(part, "detach"):
        memory = part.detach().cpu()
        _fill(memory.numpy(), name, state[name])
        if part.device != memory.device:  # it was a copy
            part.detach().copy_(memory)
    elif isinstance(part, int | float):
        return type(part)(state[name])
    elif _is_numbers(part):  # whose names may come with time
        return {key: float(array) for key, array in _below(name, state).items()}
    elif hasattr(part, "state_dict"):
        for key, tensor in part.state_dict().items():
            _put(tensor, f"{name}.{key}", state)
    else:
        for key, entry in part.items() if isinstance(part, Mapping) else enumerate(part):
            part[key] = _put(entry, f"{name}.{key}", state)  # a number is not filled but replaced
    return part


def _entries(part: Any) -> list[tuple[str, Any]]:
    """What a module of torch, a dictionary or a list is made of."""
    if hasattr(part, "state_dict"):
        part = part.state_dict()
    pairs = part.items() if isinstance(part, Mapping) else enumerate(part)
    return [(str(key), entry) for key, entry in pairs]


def _is_numbers(part: Any) -> bool:
    return isinstance(part, dict) and all(isinstance(entry, int | float) for entry in part.values())


def _fill(target: NDArray[Any], name: str, array: NDArray[Any]) -> None:
    if array.shape != target.shape or array.dtype != target.dtype:
        raise ValueError(f"{name} is {array.dtype} of shape {array.shape}, must be {target.dtype} of {target.shape}")
    target[...] = array


def _below(name: str, state: Mapping[str, NDArray[Any]]) -> State:
    start = f"{name}."
    return {key.removeprefix(start): array for key, array in state.items() if key.startswith(start)}
