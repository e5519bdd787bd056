"""Pictures of any environment, with or without a screen and OpenGL, written with a caption as a GIF or an MP4."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

Camera = Callable[[], NDArray[np.uint8]]
"""Takes a picture of an environment as it stands, (height, width, 3)."""

BACKENDS: Final = ("egl", "osmesa")
"""MuJoCo's ways to draw without a screen."""
Frame = NDArray[np.uint8]
SUFFIXES: Final = (".gif", ".mp4")
STRIP: Final = 30
"""Height of the caption, in pixels."""
PAPER = "#e9ebee"
TEXT = "#33383f"
RISKY = "#e4574c"
ON_RISKY = "#ffffff"
FASTEST: Final = 50
"""Pictures a second that a GIF can show: its clock ticks in hundredths, and viewers slow down below two."""


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


def check_path(path: Path) -> None:
    """Refuse what cannot be written before anything is played."""
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"out = {path}: must end in {' or '.join(SUFFIXES)}")
    if not path.parent.is_dir():
        raise ValueError(f"out = {path}: there is no directory {path.parent}")
    if path.suffix.lower() == ".mp4" and (find_spec("imageio") is None or find_spec("imageio_ffmpeg") is None):
        raise ValueError(f'out = {path}: MP4 needs `pip install "imageio[ffmpeg]"`; a .gif always works')


def captioned(frame: Frame, text: str, risky: bool) -> Frame:
    """The picture with a line of text below it, in red where the step was risky; both sides even, as MP4 wants."""
    height, width = frame.shape[0] // 2 * 2, frame.shape[1] // 2 * 2
    image = Image.new("RGB", (width, height + STRIP), RISKY if risky else PAPER)
    image.paste(Image.fromarray(frame[:height, :width]), (0, 0))
    draw = ImageDraw.Draw(image)
    colour = ON_RISKY if risky else TEXT
    size = min(15.0, 15.0 * (width - 20) / max(1.0, draw.textlength(text, ImageFont.load_default(size=15))))
    draw.text((10, height + STRIP / 2), text, fill=colour, font=ImageFont.load_default(size=size), anchor="lm")
    return np.asarray(image)


def write_video(path: Path, frames: Sequence[Frame], fps: int) -> None:
    """Write the pictures, all of one size, in the format the suffix says."""
    check_path(path)
    if path.suffix.lower() == ".mp4":
        import imageio.v3  # noqa: PLC0415

        imageio.v3.imwrite(path, np.stack(frames), fps=fps, codec="libx264", macro_block_size=2)
        return
    colours = [Image.fromarray(frame).quantize(colors=128, method=Image.Quantize.MEDIANCUT) for frame in frames]
    tick = round(100 / min(fps, FASTEST)) * 10
    colours[0].save(path, save_all=True, append_images=colours[1:], duration=tick, loop=0, disposal=1)
