"""Policies on disk: one safetensors file, weights and a description, nothing that could be executed.

The file's metadata has one entry, `steadyrl`: JSON with the format's version, the class (one of ours), its spaces,
sizes and choices, and the SHA-256 of the whole file with zeros in the digest's place. So every byte is checked, and the
same policy makes the same bytes.
"""

import dataclasses
import hashlib
import json
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Protocol, runtime_checkable

import safetensors.numpy
from numpy.typing import NDArray

from steadyrl.ground.files import write_atomically
from steadyrl.policies.card import card
from steadyrl.policies.protocol import Policy
from steadyrl.policies.tabular import TabularSoftmax

FORMAT: Final = 1
KEY: Final = "steadyrl"
SO_FAR: Final = "so_far"
"""What a policy sees beside the environment's own observation; written where there is something."""
NO_DIGEST: Final = "0" * 64
STARTS: Final = ("first_state", "first_action")
"""Of a table; written where they are not 0."""
LARGEST_START: Final = 2**63 - 1
NETWORKS: Final = ("CategoricalNetwork", "GaussianNetwork", "ModulePolicy", "ValueNetwork", "WholePolicy")
"""The classes a file may name beside TabularSoftmax; `_rebuild` makes them, and nothing is looked up by name."""


@runtime_checkable
class Storable(Protocol):
    """What can be saved."""

    def description(self) -> dict[str, Any]:
        """Its class and what else its constructor needs, as JSON has it."""
        ...

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Its numbers, by name."""
        ...


def save(policy: object, path: str | Path) -> None:
    """Write a policy or a value network; the file appears whole or not at all.

    Beside a policy there is its model card, a text of the same name and ".md".
    """
    file = Path(path)
    write_atomically(file, to_bytes(policy))
    if isinstance(policy, Policy):
        write_atomically(file.with_name(f"{file.name}.md"), card(policy, file.name).encode())


def load(path: str | Path, module: Any = None, *, allow_import: bool = False) -> Any:
    """Read what `save` wrote, or say what is wrong with it (ValueError).

    Args:
        path: The file.
        module: For a ModulePolicy, whose file has weights only: a module of the same layers to put them in.
        allow_import: Import the class that the file names, if its features are a module of the user's own.
    """
    return from_bytes(Path(path).read_bytes(), str(path), module, allow_import=allow_import)


def to_bytes(policy: object) -> bytes:
    """The file's content."""
    if isinstance(policy, TabularSoftmax):
        starts = {name: getattr(policy, name) for name in STARTS if getattr(policy, name) != 0}
        description = {"class": "TabularSoftmax"} | starts
        arrays = {"theta": policy.theta}
    elif isinstance(policy, Storable):
        so_far = getattr(policy, SO_FAR, None)
        description = policy.description() | ({} if so_far is None else {SO_FAR: dataclasses.asdict(so_far)})
        arrays = policy.arrays()
    else:
        raise ValueError(f"a {type(policy).__name__} cannot be saved: must be one of {_known()}")
    content = {"format": FORMAT, "sha256": NO_DIGEST} | description
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    # NumPy keeps an array in any order of its axes; a file has one.
    raw = safetensors.numpy.save({name: a.copy(order="C") for name, a in arrays.items()}, metadata={KEY: text})
    digest = hashlib.sha256(raw).hexdigest()
    return raw.replace(NO_DIGEST.encode(), digest.encode(), 1)


def from_bytes(raw: bytes, name: str, module: Any = None, *, allow_import: bool = False) -> Any:
    """A policy from a file's content; `name` says in messages where it came from."""
    description = _checked(raw, name)
    kind = description.get("class")
    if kind != "TabularSoftmax" and kind not in NETWORKS:
        raise ValueError(f"{name}: class {kind!r} is unknown: must be one of {_known()}")
    if (module is not None) != (kind == "ModulePolicy"):
        cure = "give load(..., module=...)" if module is None else f"a {kind} is loaded without a module"
        raise ValueError(f"{name} holds a {kind}: {cure}")
    if not allow_import:
        _refuse_import(description.get("encoder"), name)
    try:
        arrays = safetensors.numpy.load(raw)
        if kind == "TabularSoftmax":
            return _tabular(description, arrays)
        # Imported here because a table needs no torch.
        return import_module("steadyrl.policies._rebuild").rebuild(kind, description, arrays, module)
    except ModuleNotFoundError as error:
        raise ImportError(f'{name} holds a {kind}, which needs torch: pip install "steadyrl[torch]"') from error
    except (KeyError, TypeError, ValueError, RuntimeError, OverflowError, safetensors.SafetensorError) as error:
        raise ValueError(f"{name}: the description does not fit the weights: {error}") from error


def _checked(raw: bytes, name: str) -> dict[str, Any]:
    """The description in a file whose every byte is as it was written."""
    try:
        length = int.from_bytes(raw[:8], "little")
        header = json.loads(raw[8 : 8 + length])
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name}: no safetensors file, or a damaged one: its header is not JSON") from error
    try:
        description = json.loads(header["__metadata__"][KEY])
        version = description["format"]
        digest = description["sha256"]
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{name}: not saved by steadyrl, or damaged: the header has no {KEY!r} entry") from error
    if version != FORMAT:
        raise ValueError(f"{name}: format {version!r}, but this version of steadyrl reads format {FORMAT}")
    blank = raw.replace(str(digest).encode(), NO_DIGEST.encode(), 1)
    if hashlib.sha256(blank).hexdigest() != digest:
        raise ValueError(f"{name}: truncated or damaged: its SHA-256 is not the one written in it")
    return dict(description)


def _tabular(description: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> TabularSoftmax:
    theta = arrays["theta"]
    if theta.ndim != 2 or theta.dtype.kind != "f":
        raise ValueError(f"theta of shape {theta.shape} and dtype {theta.dtype}: must be (states, actions) and real")
    starts = {name: description.get(name, 0) for name in STARTS}
    for name, value in starts.items():
        if isinstance(value, bool) or not isinstance(value, int) or abs(value) > LARGEST_START:
            raise ValueError(f"{name} = {value}: must be a whole number within 64 bits")
    return TabularSoftmax(theta, **starts)


def _refuse_import(encoder: Any, name: str) -> None:
    """No code is imported because a file says so."""
    path = encoder.get("name") if isinstance(encoder, dict) else None
    if path not in (None, "cnn"):
        raise ValueError(f"{name}: imports {path!r}: give allow_import=True if you trust it")


def _known() -> str:
    return ", ".join(["TabularSoftmax", *NETWORKS])
