"""Fully connected layers whose weights torch trains and NumPy reads."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from steadyrl.policies import _backward, _forward

ACTIVATIONS: Final[dict[str, Callable[[Tensor], Tensor]]] = {
    "relu": torch.relu,
    "tanh": torch.tanh,
    "elu": functional.elu,
    "silu": functional.silu,
}
DTYPES: Final = {"float32": torch.float32, "float64": torch.float64}
INITIALISATIONS: Final = ("uniform", "orthogonal")
FARTHEST: Final = 10.0
"""Standardised inputs are cut off here: a number never met before must not drown the others."""


@runtime_checkable
class InputFeatures(Protocol):
    """Observations as rows of numbers."""

    def numpy(self, observations: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
        """(k, size): a new array, no row of which depends on the others."""
        ...

    def many(self, observations: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
        """The same, as fast as can be."""
        ...


class Dense(nn.Module):
    """bias + x @ weight. The weight is (inputs, outputs), the order in which `_forward.dense` reads it."""

    def __init__(self, weight: NDArray[Any], bias: NDArray[Any], dtype: torch.dtype) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(weight, dtype=dtype))
        self.bias = nn.Parameter(torch.tensor(bias, dtype=dtype))
        self._views: tuple[int, int, _forward.Layer] | None = None

    def forward(self, x: Tensor) -> Tensor:
        return functional.linear(x, self.weight.t(), self.bias)

    def arrays(self) -> _forward.Layer:
        """Weight and bias in NumPy, on the parameters' own memory: always their present values.

        The arrays are kept, for making them takes longer than a layer does; made again when the parameters have moved.
        They hold on to the memory they see, so nothing else can be at its address.
        """
        parameters: dict[str, Any] = self._parameters  # self.weight takes torch several times as long
        weight = parameters["weight"]
        bias = parameters["bias"]
        addresses = weight.data_ptr(), bias.data_ptr()
        if self._views is None or self._views[:2] != addresses:
            self._views = (*addresses, (weight.detach().numpy(), bias.detach().numpy()))
        return self._views[2]

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_views": None}  # a copy has memory of its own


class Layers(nn.Module):
    """Dense layers with an activation after each but the last; `sizes` from the inputs to the outputs.

    Initial weights are drawn from `rng` and nothing else. uniform: weights and biases on +-1/sqrt(inputs), PyTorch's
    usual start. orthogonal: weights of norm sqrt(2), biases 0, the usual start of PPO. Those of the last layer are
    multiplied by `output_gain` (an orthogonal one has norm 1 then).

    With `standardise` the inputs are taken as (x - input_mean) / input_std, which are set from outside and travel with
    the weights.
    """

    input_mean: Tensor
    input_std: Tensor

    def __init__(
        self,
        sizes: Sequence[int],
        activation: str,
        rng: np.random.Generator,
        output_gain: float = 1.0,
        dtype: torch.dtype = torch.float32,
        *,
        initialisation: str = "uniform",
        standardise: bool = False,
    ) -> None:
        check_layers(sizes[1:-1], activation)
        if initialisation not in INITIALISATIONS:
            raise ValueError(f"initialisation = {initialisation!r}: must be one of {', '.join(INITIALISATIONS)}")
        check_dtype(dtype)
        if not np.isfinite(output_gain):
            raise ValueError(f"output_gain = {output_gain}: must be finite")
        super().__init__()
        self.activation = activation
        self.initialisation = initialisation
        for index, (inputs, outputs) in enumerate(pairwise(sizes)):
            last = index == len(sizes) - 2
            if initialisation == "uniform":
                gain = output_gain if last else 1.0
                bound = 1 / np.sqrt(inputs)
                weight = rng.uniform(-bound, bound, (inputs, outputs))
                bias = rng.uniform(-bound, bound, outputs)
            else:
                gain = output_gain if last else np.sqrt(2.0)
                weight = _orthogonal(rng, inputs, outputs)
                bias = np.zeros(outputs)
            self.add_module(str(index), Dense(gain * weight, gain * bias, dtype))
        self.standardises = standardise
        if standardise:
            self.register_buffer("input_mean", torch.zeros(sizes[0], dtype=dtype))
            self.register_buffer("input_std", torch.ones(sizes[0], dtype=dtype))

    @property
    def _dense(self) -> list[Dense]:
        return list(self._modules.values())  # type: ignore[arg-type]

    def standardise(self, mean: NDArray[Any], std: NDArray[Any]) -> None:
        """Take inputs in these units from now on."""
        self.input_mean.copy_(torch.from_numpy(mean))
        self.input_std.copy_(torch.from_numpy(std))

    def standardised(self, x: Tensor) -> Tensor:
        """Inputs as the first layer takes them."""
        if not self.standardises:
            return x
        return ((x - self.input_mean) / self.input_std).clamp(-FARTHEST, FARTHEST)

    @property
    def dtype(self) -> torch.dtype:
        return self._dense[0].weight.dtype

    @property
    def device(self) -> torch.device:
        return self._dense[0].weight.device

    def forward(self, x: Tensor) -> Tensor:
        activate = ACTIVATIONS[self.activation]
        x = self.standardised(x)
        *hidden, last = self._dense
        for layer in hidden:
            x = activate(layer(x))
        return last(x)

    def weights(self) -> list[_backward.Weights] | None:
        """Weight and bias of each layer if `_backward` has the gradient by all of them, otherwise None."""
        pairs: list[_backward.Weights] = [(layer.weight, layer.bias) for layer in self._dense]
        trained = all(weight.requires_grad and bias.requires_grad for weight, bias in pairs)
        return pairs if self.activation in _backward.ACTIVATIONS and trained else None

    def numpy(self, observations: NDArray[Any], features: InputFeatures) -> NDArray[Any]:
        """(k, outputs) for k observations in NumPy, in the same dtype; a row's bits do not depend on the others."""
        layers = [layer.arrays() for layer in self._dense]
        return _forward.forward(
            layers, self._standard(features.numpy(observations, layers[0][0].dtype)), self.activation
        )

    def inputs(self, observations: NDArray[Any], features: InputFeatures) -> NDArray[Any]:
        """(k, inputs): what the first layer takes, in NumPy; for learning, as it is quick with many observations."""
        return self._standard(features.many(observations, np.dtype(str(self.dtype).removeprefix("torch."))))

    def _standard(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """The features as the first layer takes them, in place."""
        if self.standardises:
            inputs -= self.input_mean.numpy(force=True)
            inputs /= self.input_std.numpy(force=True)
            np.clip(inputs, -FARTHEST, FARTHEST, out=inputs)
        return inputs


def _orthogonal(rng: np.random.Generator, inputs: int, outputs: int) -> NDArray[np.float64]:
    """(inputs, outputs) with orthonormal rows or columns, whichever are fewer."""
    tall = rng.standard_normal((max(inputs, outputs), min(inputs, outputs)))
    q, r = np.linalg.qr(tall)
    q = q * np.sign(np.diag(r))  # so that every rotation is as likely as any other
    return q if inputs >= outputs else q.T


def check_layers(hidden: Sequence[int], activation: str) -> None:
    """Refuse sizes and activations that no network has."""
    if not all(isinstance(size, int) and not isinstance(size, bool) and size >= 1 for size in hidden):
        raise ValueError(f"hidden = {tuple(hidden)}: must be whole numbers >= 1")
    if activation not in ACTIVATIONS:
        raise ValueError(f"activation = {activation!r}: must be one of {', '.join(ACTIVATIONS)}")


def check_dtype(dtype: torch.dtype) -> None:
    """Refuse what NumPy does not compute with."""
    if dtype not in DTYPES.values():
        raise ValueError(f"dtype = {dtype}: must be torch.float32 or torch.float64")
