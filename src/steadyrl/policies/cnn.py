"""A small convolutional network for pictures."""

from typing import Any, Final

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn

SMALLEST: Final = 8
"""Height and width from which on an observation is a picture; smaller ones are tables of numbers."""
ENOUGH: Final = 6
"""A convolution halves height and width until the smaller of them is no more than this."""
CHANNELS: Final = (16, 32)
"""Channels of the first convolution, and of each after it."""


def is_picture(space: spaces.Space[Any]) -> bool:
    """Is it a Box of bytes that are a picture: height and width, and colours first or last if there are some?"""
    if not isinstance(space, spaces.Box) or space.dtype != np.uint8 or len(space.shape) not in (2, 3):
        return False
    _, height, width = _layout(space.shape)
    return min(height, width) >= SMALLEST


class PictureNetwork(nn.Module):
    """Convolutions of 4 x 4 pixels with a stride of 2 and a ReLU after each; all that is left at the end, in a row.

    It takes pictures as they are, floats from 0 to 255, colours last (height, width, colours) or first, whichever of
    the two axes is shorter, and scales them to [0, 1].
    """

    def __init__(self, space: spaces.Space[Any]) -> None:
        super().__init__()
        self.shape = tuple(space.shape or ())
        channels, height, width = _layout(self.shape)
        self.last = len(self.shape) == 3 and self.shape != (channels, height, width)
        self.channels = channels
        layers: list[nn.Module] = []
        while not layers or min(height, width) > ENOUGH:
            outputs = CHANNELS[min(len(layers), 1)]
            layers += [nn.Conv2d(channels, outputs, 4, stride=2, padding=1), nn.ReLU()]
            channels = outputs
            height = height // 2
            width = width // 2
        self.layers = nn.Sequential(*layers, nn.Flatten())

    def forward(self, pictures: Tensor) -> Tensor:
        """(k, features) for (k, *shape)."""
        x = pictures / 255.0
        if len(self.shape) == 2:
            x = x.unsqueeze(1)
        elif self.last:
            x = x.movedim(-1, 1)
        return self.layers(x.contiguous(memory_format=torch.contiguous_format))


def _layout(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """Colours, height and width."""
    if len(shape) == 2:
        return 1, shape[0], shape[1]
    return (shape[2], shape[0], shape[1]) if shape[2] <= shape[0] else (shape[0], shape[1], shape[2])
