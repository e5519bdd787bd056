"""On what a run ran; and what an environment of a user's is made of, so that another one is not taken for it.

A file or a notebook may change while the name of a class stays. So the compiled code of the classes is hashed, which
is there even where no source is, and does not change with a comment or a blank line; of what is installed, the version
of its package is taken too. Gymnasium's environments and ours are known by their versions, which every run.json has.
"""

import hashlib
import platform
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, Final

import gymnasium as gym
import numpy as np
from gymnasium.vector import VectorEnv, VectorWrapper

from steadyrl import __version__
from steadyrl.envs.environment import close, layers
from steadyrl.ground import system
from steadyrl.rollouts.vector import environments_of
from steadyrl.runs.build import MakeEnv
from steadyrl.runs.config import RunConfig

KNOWN: Final = ("gymnasium", "steadyrl", "builtins", "typing", "abc")
Fingerprint = dict[str, str]
"""A name of a part (a class, a function, a package) and its hash or version."""
PACKAGES: Final = ("numpy", "scipy", "numba", "gymnasium", "safetensors", "torch", "box2d", "mujoco")


def fingerprint(config: RunConfig, make: MakeEnv) -> Fingerprint:
    """The fingerprint of the function that makes the environment, of its class and wrappers, and of their packages."""
    if _is_known(config.env):
        return {}
    try:
        env: Any = make()
    except KeyboardInterrupt:  # the user's
        raise
    except BaseException:  # whoever needs the environment will say what is wrong with it
        return {}
    try:
        parts: list[Any] = [type(layer) for layer in _layers(env)]
    finally:
        close(env)
    return hashes_of([*parts, make] if config.env.startswith("<") else parts)


def _layers(env: Any) -> list[Any]:
    """An environment and its wrappers; of a vector environment, also those of the environments that it holds here."""
    if not isinstance(env, VectorEnv):
        return list(layers(env))
    outer: list[Any] = [env]
    while isinstance(outer[-1], VectorWrapper):
        outer.append(outer[-1].env)
    return outer + [layer for one in environments_of(env) for layer in layers(one)]


def hashes_of(parts: Sequence[Any]) -> Fingerprint:
    """A hash of each class and function, and the versions of their packages; an object stands for its class."""
    hashes: Fingerprint = {}
    for part in parts:
        kinds = [part] if isinstance(part, FunctionType) else (part if isinstance(part, type) else type(part)).__mro__
        for kind in kinds:
            package = str(kind.__module__).partition(".")[0]
            if package not in KNOWN:
                hashes[f"{kind.__module__}.{kind.__qualname__}"] = hashlib.sha256(
                    _text(kind, set()).encode()
                ).hexdigest()[:16]
                hashes |= _version(package)
    return hashes


def differences(earlier: Mapping[str, str], current: Mapping[str, str]) -> str:
    """What has changed, in words; nothing where one of them is not known."""
    if not earlier or not current:
        return ""
    names = [name for name in {**earlier, **current} if earlier.get(name) != current.get(name)]
    return ", ".join(names)


def _is_known(env: str) -> bool:
    """Is it an environment that comes with Gymnasium or with us, by its id?"""
    spec = gym.registry.get(env)
    return spec is not None and str(spec.entry_point).partition(".")[0] in KNOWN


@cache
def _version(package: str) -> Fingerprint:
    """The version of the distribution that a module comes from, if it is installed."""
    names = metadata.packages_distributions().get(package, ())
    return {f"package {name}": metadata.version(name) for name in names}


def _text(value: Any, visited: set[int]) -> str:
    """Whatever decides what a class or a function does, as far as it can be seen, as text; no address is in it."""
    if isinstance(value, staticmethod | classmethod):
        value = value.__func__
    if isinstance(value, property):
        value = (value.fget, value.fset)
    if isinstance(value, FunctionType | type):
        if id(value) in visited or str(value.__module__).partition(".")[0] in KNOWN:
            return str(value.__qualname__)
        visited.add(id(value))
        return _function(value, visited) if isinstance(value, FunctionType) else _class(value, visited)
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_text(key, visited)}: {_text(entry, visited)}' for key, entry in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_text(entry, visited) for entry in value)}]"
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    plain = isinstance(value, str | bytes | bool | int | float | complex | None | gym.Space)
    return repr(value) if plain else type(value).__qualname__


def _class(kind: type, visited: set[int]) -> str:
    """What a class itself defines, but for what Python adds."""
    attributes = [
        (name, value)
        for name, value in sorted(vars(kind).items())
        if isinstance(value, FunctionType) or not (name.startswith("__") and name.endswith("__"))
    ]
    return f"class({', '.join(f'{name} = {_text(value, visited)}' for name, value in attributes)})"


def _function(function: FunctionType, visited: set[int]) -> str:
    """The instructions, the defaults, and what it has from around it, as far as its module or cell defines that."""
    cells = [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
    around = [function.__globals__.get(name) for name in _names(function.__code__)]
    of_its_module = [
        value for value in around if not isinstance(value, type(gym)) and _is_of(value, function.__module__)
    ]
    contents = [function.__defaults__, function.__kwdefaults__, cells, of_its_module]
    return f"{_code(function.__code__)}{_text(contents, visited)}"


def _is_of(value: Any, module: str) -> bool:
    """Is it a value of the function's own module? What it imports is known by its package, if at all."""
    return getattr(value, "__module__", module) == module


def _names(code: CodeType) -> tuple[str, ...]:
    inner = [name for constant in code.co_consts if isinstance(constant, CodeType) for name in _names(constant)]
    return tuple(dict.fromkeys([*code.co_names, *inner]))


def _code(code: CodeType) -> str:
    """The instructions of a function and all that they name."""
    constants = [_constant(constant) for constant in code.co_consts]
    return f"{code.co_code.hex()} {constants} {(code.co_names, code.co_varnames, code.co_freevars)}"


def _constant(constant: Any) -> str:
    if isinstance(constant, CodeType):
        return _code(constant)
    return repr(sorted(map(repr, constant))) if isinstance(constant, frozenset) else repr(constant)


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018  that is how one asks
    except ValueError:
        return False
    return True


@cache
def provenance() -> dict[str, Any]:
    """On what a run ran: versions, processor, threads, commit."""
    return {
        "versions": versions(),
        "cpu": _cpu(),
        "cores": system.cores(),
        "system": platform.platform(),
        "threads": 1,
        "git_commit": _git_commit(),
    }


@cache
def versions() -> dict[str, str]:
    """Of everything that has a part in the numbers of a run."""
    by_package = {"steadyrl": __version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            by_package[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return by_package


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _git_commit() -> str | None:
    """The commit of the folder one is in, whose code may have a part in the run."""
    git = shutil.which("git")
    if git is None:
        return None
    command = [git, "rev-parse", "--verify", "--quiet", "HEAD"]
    try:
        process = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return None
    return process.stdout.strip() or None
