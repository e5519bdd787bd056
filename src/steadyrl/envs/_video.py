"""Pictures with a caption, written as an animated GIF or an MP4."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

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
