"""Where a network learns: on the CPU, whose bits are promised, or on a GPU."""

from collections.abc import Callable, Mapping
from typing import Final

import torch

from steadyrl.ground.option import listed

GPUS: Final[Mapping[str, Callable[[], bool]]] = {
    "cuda": torch.cuda.is_available,
    "mps": torch.backends.mps.is_available,
}
"""Whether this machine, and this build of torch, has one of a kind; the one that `auto` prefers first."""


def device_named(name: str) -> torch.device:
    """cpu, cuda or mps, if it is there, or whichever is for auto (or a ValueError)."""
    present = [gpu for gpu, is_there in GPUS.items() if is_there()]
    if name == "auto":
        return torch.device(present[0] if present else "cpu")
    if name in GPUS and name not in present:
        raise ValueError(
            f"device = {name!r}: torch finds none on this machine: must be {listed(['cpu', *present, 'auto'])}"
        )
    return torch.device(name)
