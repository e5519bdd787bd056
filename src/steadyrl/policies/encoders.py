"""What a network sees of an observation, if that is learned: a CNN for pictures, or a module of the user's own.

An `Encoder` says which; it is a few words that a file can hold. `ModuleFeatures` is what it makes: a torch module in
the place of `Features`, between observations and the layers of a policy or a value network.
"""

import importlib
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd

from steadyrl.ground import streams
from steadyrl.policies._features import Features, tensor

SMALLEST: Final = 8
"""Height and width from which on an observation is a picture; smaller ones are tables of numbers."""
ENOUGH: Final = 6
"""A convolution halves height and width until the smaller of them is no more than this."""
CHANNELS: Final = (16, 32)
"""Channels of the first convolution, and of each after it."""
CNN: Final = "cnn"
ENCODER: Final = 3
"""Keeps its initial weights apart from those of the layers above it."""
AT_ONCE: Final = 256
"""Observations in one forward pass where no gradient is wanted, for pictures take much memory."""


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


@dataclass(frozen=True)
class Encoder:
    """cnn, or module:Class and the arguments of the class beside the observation space."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def description(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"name": self.name, "options": dict(self.options)}


def encoder_for(space: spaces.Space[Any], encoder: Encoder | None) -> Encoder | None:
    """The one asked for; otherwise a CNN for pictures, and none for other observations."""
    return Encoder(CNN) if encoder is None and is_picture(space) else encoder


def features_for(
    space: spaces.Space[Any], encoder: Encoder | None, seed: int, place: int, dtype: torch.dtype
) -> "Features | ModuleFeatures":
    """What a network sees of the observations of a space; initial weights depend on the seed and the place alone."""
    spec = encoder_for(space, encoder)
    if spec is None:
        return Features(space)
    return ModuleFeatures(space, made(spec, seed, place, dtype, space), spec, dtype)


def made(
    encoder: Encoder, seed: int, place: int, dtype: torch.dtype, observation_space: spaces.Space[Any], *others: Any
) -> nn.Module:
    """A module of the class that an encoder names; initial weights depend on the seed and the place alone."""
    key = streams.key(seed, streams.INITIAL, ENCODER, place)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(key >> 1)  # of 63 bits
        return _made(encoder, observation_space, *others).to(dtype)


def encoder_description(features: "Features | ModuleFeatures") -> dict[str, Any]:
    """What a file says of the encoder, if there is one."""
    return {"encoder": features.encoder.description()} if isinstance(features, ModuleFeatures) else {}


class ModuleFeatures(nn.Module):
    """Features of observations, as `Features` has them, by a module that is trained with the layers above it.

    The module takes floats (k, *shape of an observation), or (k, size) one-hot for discrete observations and flat for
    trees, and gives (k, d).
    """

    def __init__(self, space: spaces.Space[Any], module: nn.Module, encoder: Encoder, dtype: torch.dtype) -> None:
        super().__init__()
        refuse_neighbours(module)
        self.module = module
        self.encoder = encoder
        self._plain = Features(space)
        self._dtype = dtype
        plain = self._plain
        self.codec = plain.codec
        self.shape = plain.shape
        self.start = plain.start
        self.discrete = plain.discrete
        self.size = self._trial()

    def numpy(self, observations: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
        """(k, size), one observation after the other: no row's bits depend on the others."""
        with torch.inference_mode():
            rows = self._rows(self.tensor(observations, self._dtype))
            # A copy of each row begins at an aligned address, as every other one does.
            features = [self.module(rows[k : k + 1].clone()) for k in range(len(rows))]
            return np.array(torch.cat(features).numpy(), dtype=dtype, order="C")

    def many(self, observations: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
        """As `numpy`, faster, for learning: the last bits of a row may depend on the others."""
        with torch.no_grad():
            inputs = self.tensor(observations, self._dtype).to(self._device)
            return np.array(self.encode(inputs, self._dtype).numpy(force=True), dtype=dtype, order="C")

    def tensor(self, observations: NDArray[Any] | Tensor, dtype: torch.dtype) -> Tensor:
        """Observations of any leading shape as a tensor that `encode` takes; bytes stay bytes, a quarter of floats."""
        if isinstance(observations, np.ndarray) and observations.dtype == np.uint8 and not self.discrete:
            observations = tensor(observations, torch.uint8)
        if isinstance(observations, Tensor) and observations.dtype == torch.uint8:
            return self._plain.tensor(observations, torch.uint8)
        return self._plain.tensor(observations, dtype)

    def encode(self, observations: Tensor, dtype: torch.dtype) -> Tensor:
        """(..., size) from (..., *shape)."""
        leading = observations.shape[: observations.ndim - len(self.shape)]
        flat = observations.reshape(-1, *self.shape)
        if torch.is_grad_enabled() or torch.compiler.is_compiling():
            return self.module(self._rows(flat)).to(dtype).reshape(*leading, self.size)
        parts = [self.module(self._rows(part)) for part in torch.split(flat, AT_ONCE)]
        return torch.cat(parts).to(dtype).reshape(*leading, self.size)

    @property
    def _device(self) -> torch.device:
        """That of the module's first parameter."""
        return next((one.device for one in self.module.parameters()), torch.device("cpu"))

    def _rows(self, observations: Tensor) -> Tensor:
        """What the module takes, for (k, *shape)."""
        if self.discrete:
            return self._plain.encode(observations, self._dtype)
        return observations.to(self._dtype)

    def _trial(self) -> int:
        """How many features the module gives, or a ValueError that says what it gives instead."""
        example = torch.zeros((2, *self.shape), dtype=torch.int64 if self.discrete else self._dtype)
        rows = self._rows(example)
        try:
            with torch.no_grad():
                outputs = self.module(rows)
        except Exception as error:
            raise ValueError(
                f"{self.encoder.name}: raised {type(error).__name__} for {tuple(rows.shape)}: {error}"
            ) from error
        if not isinstance(outputs, Tensor) or outputs.ndim != 2 or len(outputs) != 2 or outputs.shape[1] < 1:
            description = tuple(outputs.shape) if isinstance(outputs, Tensor) else f"a {type(outputs).__name__}"
            raise ValueError(
                f"{self.encoder.name}: gave {description} for {tuple(rows.shape)}: must give (2, number of features)"
            )
        return int(outputs.shape[1])


def refuse_neighbours(module: nn.Module) -> None:
    """Refuse a module (ValueError) whose outputs are no function of each observation alone."""
    for name, part in module.named_modules():
        if isinstance(part, _BatchNorm | _DropoutNd):
            raise ValueError(
                f"module{name and '.' + name}: {type(part).__name__} makes an action depend on chance "
                "or on other observations; use LayerNorm, or leave it out"
            )


def path_of(kind: type) -> str:
    """module:Class, by which a class can be found again, or a ValueError if it cannot."""
    path = f"{kind.__module__}:{kind.__qualname__}"
    if "<locals>" in path or imported(path) is not kind:
        raise ValueError(
            f"policy = {kind.__qualname__}: cannot be found again by its name: define it at the top of a module"
        )
    return path


def _made(encoder: Encoder, *inputs: Any) -> nn.Module:
    if encoder.name == CNN:
        return PictureNetwork(*inputs)
    kind = imported(encoder.name)
    try:
        module = kind(*inputs, **encoder.options)
    except Exception as error:
        names = ("observation_space", "action_space")[: len(inputs)]
        arguments = ", ".join([*names, *(f"{name}={value!r}" for name, value in encoder.options.items())])
        raise ValueError(
            f"policy = {encoder.name}: {kind.__name__}({arguments}) raised {type(error).__name__}: {error}"
        ) from error
    if not isinstance(module, nn.Module):
        raise ValueError(f"policy = {encoder.name}: made {module!r}: must be a torch.nn.Module")
    return module


def imported(path: str) -> Any:
    """What module:Class stands for."""
    name, _, inside = path.partition(":")
    try:
        target: Any = importlib.import_module(name)
        for part in inside.split("."):
            target = getattr(target, part)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"policy = {path!r}: {error}: must be module:Class, a class that Python can import") from error
    if not inspect.isclass(target):
        raise ValueError(f"policy = {path!r}: is {target!r}: must be a class")
    return target
