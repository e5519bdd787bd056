"""A MuJoCo model seen from the side, drawn with Pillow: for machines without OpenGL.

No library does this: Gymnasium's pictures and MuJoCo's `Renderer` need OpenGL, in software too (libEGL with Mesa, or
libOSMesa, which pip does not install), and MuJoCo's Filament needs it or Vulkan.
"""

import math
from typing import Any, Final

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from steadyrl.envs.environment import layers
from steadyrl.envs.risky import Above, Below, RiskyRegion

WIDTH = 480
HEIGHT = 360
FINE = 2
ON_GROUND, ON_RAIL = 3.6, 2.6
"""Metres from the left to the right edge: followed on the ground, still on a rail."""
PLANE = 0
SPHERE = 2
CAPSULE = 3
"""MuJoCo's numbers of the kinds of geoms."""

SKY = "#f7f6f2"
GROUND = "#e4e1d8"
LINES = "#c9c5b9"
TEXT = "#8b877b"
RISKY = "#f8dcd8"
PARTS: Final = ("#4c78a8", "#72a0cf", "#33475c", "#8fb8a8", "#5d9c86", "#3e7a66", "#e0b07a", "#c98f4f", "#a36d2f")

Point = tuple[float, float]


def side_view(env: gym.Env[Any, Any]) -> NDArray[np.uint8]:
    """The model in the plane of x and z as (height, width, 3) pixels; a risky stretch of x is shaded."""
    base: Any = env.unwrapped
    model, data = base.model, base.data
    on_ground = any(model.geom_type == PLANE)
    view = _View(float(data.xpos[1, 0]), ON_GROUND) if on_ground else _View(0.0, ON_RAIL)
    image = Image.new("RGB", (WIDTH * FINE, HEIGHT * FINE), SKY)
    draw = ImageDraw.Draw(image)
    _draw_risky(draw, env, view)
    _draw_scale(draw, view, on_ground)
    bodies = [i for i in range(model.ngeom) if model.geom_type[i] in (SPHERE, CAPSULE)]
    for k, i in enumerate(bodies):
        axis = data.geom_xmat[i].reshape(3, 3)[:, 2] * (model.geom_size[i, 1] if model.geom_type[i] == CAPSULE else 0.0)
        ends = [view.point(data.geom_xpos[i] + sign * axis) for sign in (-1, 1)]
        _draw_bar(draw, ends, float(model.geom_size[i, 0]) * view.scale, PARTS[k % len(PARTS)])
    return np.asarray(image.resize((WIDTH, HEIGHT), Image.Resampling.BOX))


class _View:
    """Where a point of the world is in a picture `width` metres wide around `x`; height 0 is three quarters down."""

    def __init__(self, x: float, width: float) -> None:
        self.x = x
        self.scale = WIDTH * FINE / width

    def point(self, position: Any) -> Point:
        """Pixels of a position (x, y, z)."""
        return self.across(float(position[0])), HEIGHT * FINE * 0.75 - float(position[2]) * self.scale

    def across(self, x: float) -> float:
        """The column of x."""
        return WIDTH * FINE / 2 + (x - self.x) * self.scale


def _draw_bar(draw: ImageDraw.ImageDraw, ends: list[Point], radius: float, colour: str) -> None:
    (x0, y0), (x1, y1) = ends
    length = math.hypot(x1 - x0, y1 - y0)
    if length > 0:
        dx, dy = -(y1 - y0) / length * radius, (x1 - x0) / length * radius
        draw.polygon([(x0 + dx, y0 + dy), (x1 + dx, y1 + dy), (x1 - dx, y1 - dy), (x0 - dx, y0 - dy)], fill=colour)
    for x, y in ends:
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour)


def _draw_risky(draw: ImageDraw.ImageDraw, env: gym.Env[Any, Any], view: _View) -> None:
    for layer in layers(env):
        region = layer.where if isinstance(layer, RiskyRegion) else None
        if isinstance(region, Above | Below) and region.index == 0:
            edge = min(max(view.across(region.threshold), -1.0), WIDTH * FINE + 1.0)
            left, right = (edge, WIDTH * FINE) if isinstance(region, Above) else (-1.0, edge)
            draw.rectangle((left, 0, right, HEIGHT * FINE), fill=RISKY)


def _draw_scale(draw: ImageDraw.ImageDraw, view: _View, on_ground: bool) -> None:
    """The ground, if there is one, and a mark at every metre (or half), so that motion is seen."""
    level = view.point((0.0, 0.0, 0.0))[1] if on_ground else HEIGHT * FINE * 0.88
    if on_ground:
        draw.rectangle((0, level, WIDTH * FINE, HEIGHT * FINE), fill=GROUND)
    draw.line([(0, level), (WIDTH * FINE, level)], fill=LINES, width=2 * FINE)
    font = ImageFont.load_default(size=11 * FINE)
    step = 1.0 if on_ground else 0.5
    reach = WIDTH * FINE / 2 / view.scale
    for k in range(math.ceil((view.x - reach) / step), math.floor((view.x + reach) / step) + 1):
        x = view.across(k * step)
        draw.line([(x, level), (x, level + 6 * FINE)], fill=TEXT, width=FINE)
        draw.text((x, level + 16 * FINE), f"{k * step:g}", fill=TEXT, font=font, anchor="mm")
