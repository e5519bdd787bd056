"""Pictures of the Maze: drawn with Pillow, shown in a window by pygame."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
from gymnasium.error import DependencyNotInstalled
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from steadyrl.envs._layout import GOAL, RED, START, WALL, Grid

CELL: Final = 72
FINE: Final = 3
"""Everything is drawn three times as large and shrunk, for smooth edges."""

PAPER = "#f7f6f2"
LINES = "#dedbd2"
WALLS = "#3d4451"
REDS = "#e4574c"
RED_MARK = "#ffffff"
GREENS = "#cfe8cf"
FLAG = "#2f9e58"
POLE = "#2b3a32"
AGENT = "#2f6fde"
AGENT_RIM = "#ffffff"
TRAIL = "#9dbcf2"
STARTS = "#b9b5a9"

Box = tuple[float, float, float, float]


def draw_maze(grid: Grid, state: int, trail: Sequence[int] = ()) -> NDArray[np.uint8]:
    """The maze with the agent at `state` and the states it came through as (height, width, 3) pixels."""
    image = _background(grid).copy()
    draw = ImageDraw.Draw(image)
    side = CELL * FINE
    centres = [_centre(s, len(grid[0]), side) for s in (*trail, state)]
    if len(centres) > 1:
        draw.line(centres, fill=TRAIL, width=side // 14, joint="curve")
        for x, y in centres[:-1]:
            draw.ellipse(_around(x, y, side / 28), fill=TRAIL)
    x, y = centres[-1]
    draw.ellipse(_around(x, y, side * 0.30), fill=AGENT_RIM)
    draw.ellipse(_around(x, y, side * 0.26), fill=AGENT)
    for eye in (-0.09, 0.09):
        draw.ellipse(_around(x + eye * side, y - 0.05 * side, side * 0.045), fill=AGENT_RIM)
    return np.asarray(image.resize((len(grid[0]) * CELL, len(grid) * CELL), Image.Resampling.BOX))


@lru_cache(maxsize=8)
def _background(grid: Grid) -> Image.Image:
    side = CELL * FINE
    image = Image.new("RGB", (len(grid[0]) * side, len(grid) * side), PAPER)
    draw = ImageDraw.Draw(image)
    for r, row in enumerate(grid):
        for c, kind in enumerate(row):
            draw.rectangle((c * side, r * side, (c + 1) * side, (r + 1) * side), outline=LINES, width=FINE)
            _draw_cell(draw, kind, c * side, r * side)
    return image


def _draw_cell(draw: ImageDraw.ImageDraw, kind: str, left: int, top: int) -> None:
    side = CELL * FINE
    box = (left, top, left + side, top + side)
    x, y = left + side / 2, top + side / 2
    if kind == WALL:
        draw.rectangle(box, fill=WALLS)
    elif kind == RED:
        draw.rectangle(box, fill=REDS)
        font = ImageFont.load_default(size=side * 0.62)
        draw.text((x, y), "?", fill=RED_MARK, font=font, anchor="mm")
    elif kind == GOAL:
        draw.rectangle(box, fill=GREENS)
        pole = x - 0.16 * side
        draw.line([(pole, top + 0.18 * side), (pole, top + 0.84 * side)], fill=POLE, width=side // 22)
        tip = (pole + 0.46 * side, top + 0.34 * side)
        draw.polygon([(pole, top + 0.18 * side), tip, (pole, top + 0.50 * side)], fill=FLAG)
    elif kind == START:
        draw.ellipse(_around(x, y, side * 0.36), outline=STARTS, width=side // 24)


def _centre(state: int, columns: int, side: int) -> tuple[float, float]:
    row, column = divmod(state, columns)
    return (column + 0.5) * side, (row + 0.5) * side


def _around(x: float, y: float, radius: float) -> Box:
    return (x - radius, y - radius, x + radius, y + radius)


class MazeWindow:
    """A window on the screen that shows pictures at a fixed pace."""

    def __init__(self, size: tuple[int, int], title: str) -> None:
        try:
            import pygame  # noqa: PLC0415
        except ImportError as error:
            raise DependencyNotInstalled('a window needs pygame: pip install "steadyrl[deep]"') from error
        self._pygame: Any = pygame
        pygame.display.init()
        pygame.display.set_caption(title)
        self._screen = pygame.display.set_mode(size)
        self._clock = pygame.time.Clock()

    def show(self, picture: NDArray[np.uint8], fps: int) -> None:
        """Put a picture on the screen, and wait until the next one is due."""
        surface = self._pygame.surfarray.make_surface(picture.swapaxes(0, 1))
        self._screen.blit(surface, (0, 0))
        self._pygame.event.pump()
        self._pygame.display.flip()
        self._clock.tick(fps)

    def close(self) -> None:
        """Take the window off the screen."""
        self._pygame.display.quit()
