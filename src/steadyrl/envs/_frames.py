"""Pictures of any environment on any machine, with or without a screen and OpenGL."""

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any, Final

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

Camera = Callable[[], NDArray[np.uint8]]
"""Takes a picture of an environment as it stands, (height, width, 3)."""

BACKENDS: Final = ("egl", "osmesa")
"""MuJoCo's ways to draw without a screen."""


def make_to_watch(name: str, **options: Any) -> tuple[gym.Env[Any, Any], Camera]:
    """The environment of that id, with its options, and a camera on it."""
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")  # pygame draws in memory
    try:
        env = gym.make(name, render_mode="rgb_array", **options)
    except (gym.error.Error, ImportError, TypeError, ValueError) as error:
        raise ValueError(f"environment {name!r} cannot be made: {error}") from error
    if hasattr(env.unwrapped, "mujoco_renderer") and not _can_draw_mujoco():
        from steadyrl.envs._side_view import side_view  # noqa: PLC0415

        return env, lambda: side_view(env)
    return env, lambda: _picture(env, name)


def _picture(env: gym.Env[Any, Any], name: str) -> NDArray[np.uint8]:
    frame = env.render()
    if not isinstance(frame, np.ndarray) or frame.ndim != 3 or frame.shape[2] != 3:
        raise ValueError(f"environment {name!r} gives no pictures: render() must return an array (height, width, 3)")
    return np.asarray(frame, dtype=np.uint8)


def _can_draw_mujoco() -> bool:
    """Is there an OpenGL that draws in memory? The first that works is chosen, unless MUJOCO_GL says which."""
    preference = os.environ.get("MUJOCO_GL")
    for backend in (preference,) if preference else BACKENDS:
        if _works(backend):
            os.environ["MUJOCO_GL"] = backend
            return True
    return False


def _works(backend: str) -> bool:
    """Tried in a process of its own: a driver that fails may take the process with it."""
    code = "import mujoco; context = mujoco.GLContext(8, 8); context.make_current(); context.free()"
    environment = {**os.environ, "MUJOCO_GL": backend}
    try:
        run = subprocess.run(  # noqa: S603
            [sys.executable, "-c", code], env=environment, capture_output=True, timeout=30, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return run.returncode == 0
