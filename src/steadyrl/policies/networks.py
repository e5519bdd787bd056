"""Policies that are fully connected networks: categorical for discrete actions, Gaussian for real ones.

The networks of the paper are the defaults: two hidden layers of 128 ReLU; softmax, or tanh on the mean with a free
log standard deviation. Acting is NumPy on the memory of the torch parameters (`_forward`), learning is torch.
"""

from collections.abc import Sequence
from typing import Any

import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor

from steadyrl.envs.spaces import to_json
from steadyrl.ground import streams
from steadyrl.policies._heads import CategoricalHead, GaussianHead, Head
from steadyrl.policies._layers import Layers
from steadyrl.policies.encoders import Encoder, encoder_description, features_for
from steadyrl.policies.network_policy import NetworkPolicy

__all__ = ["CategoricalNetwork", "GaussianNetwork", "NetworkPolicy"]


class _Network(NetworkPolicy):
    """Layers between features and head."""

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        head: Head,
        hidden: Sequence[int],
        activation: str,
        output_gain: float,
        seed: int,
        dtype: torch.dtype,
        initialisation: str,
        normalise_observations: bool,
        encoder: Encoder | None,
    ) -> None:
        super().__init__()
        self.observation_space, self.action_space = observation_space, action_space
        self.features = features_for(observation_space, encoder, seed, 0, dtype)
        self.head = head
        self.hidden = tuple(hidden)
        sizes = (self.features.size, *self.hidden, head.outputs)
        self.layers = Layers(
            sizes,
            activation,
            streams.generator(seed, streams.INITIAL),
            output_gain,
            dtype,
            initialisation=initialisation,
            standardise=normalise_observations,
        )

    @property
    def dtype(self) -> torch.dtype:
        """In which the network computes, acting and learning."""
        return self.layers.dtype

    def forward(self, observations: Tensor) -> Tensor:
        """(..., outputs) for a tensor of observations of any leading shape."""
        return self.layers(self.features.encode(observations.to(self.layers.device), self.dtype))

    def outputs(self, observations: NDArray[Any]) -> NDArray[Any]:
        """(k, outputs) in NumPy; a row's bits do not depend on the other rows."""
        return self.layers.numpy(observations, self.features)

    def standardise(self, mean: NDArray[Any], std: NDArray[Any]) -> None:
        """Take the features of observations in these units from now on; they are saved with the policy."""
        self.layers.standardise(mean, std)

    def description(self) -> dict[str, Any]:
        """Spaces, sizes and choices."""
        return {
            "class": type(self).__name__,
            "observation_space": to_json(self.observation_space),
            "action_space": to_json(self.action_space),
            "hidden": list(self.hidden),
            "activation": self.layers.activation,
            "dtype": str(self.dtype).removeprefix("torch."),
            "normalise_observations": self.layers.standardises,
        } | encoder_description(self.features)


class CategoricalNetwork(_Network):
    """pi(a|s) = softmax(network(s))[a] for Discrete actions; a softmax for each number of several."""

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        *,
        hidden: Sequence[int] = (128, 128),
        activation: str = "relu",
        output_gain: float = 1.0,
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        initialisation: str = "uniform",
        normalise_observations: bool = False,
        encoder: Encoder | None = None,
    ) -> None:
        """Make a network with initial weights that depend on the seed and the sizes alone.

        Args:
            observation_space: The environment's own: Box, MultiBinary (flattened), Discrete, MultiDiscrete (one-hot),
                or a Dict or Tuple of these.
            action_space: The environment's own: Discrete, MultiDiscrete or MultiBinary.
            hidden: Units of each hidden layer; none makes a linear policy.
            activation: "relu", "tanh", "elu" or "silu".
            output_gain: What the last layer's initial weights are multiplied by; 0.1 begins nearly uniform.
            seed: Of the initial weights.
            dtype: torch.float32 or torch.float64.
            initialisation: "uniform" or "orthogonal".
            normalise_observations: Whether observations are standardised by a mean and a deviation that whoever trains
                the network sets, and that are saved with it.
            encoder: A module of your own between observations and layers (`steadyrl.policies.encoders`); without one,
                pictures have a CNN.
        """
        head = CategoricalHead(action_space)
        super().__init__(
            observation_space,
            action_space,
            head,
            hidden,
            activation,
            output_gain,
            seed,
            dtype,
            initialisation,
            normalise_observations,
            encoder,
        )


class GaussianNetwork(_Network):
    """Each number of a Box action is normal, with a mean from the network and a free standard deviation.

    By default the network works in the unit of half the action's range: the mean is the middle of the bounds plus
    tanh(network(s)) times half their distance, and the standard deviation is exp(log_std) times the same, so that the
    mean reaches every action and no more. Where the bounds are -1 and 1, or infinite, nothing is scaled.
    `scale_to_bounds=False` leaves the paper's mean in [-1, 1] whatever the bounds.

    Actions are drawn from the whole normal distribution and `act` does not clip them: clipping is the environment's
    affair, and `log_prob` is that of the action before it. `predict` clips.
    """

    head: GaussianHead

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        *,
        hidden: Sequence[int] = (128, 128),
        activation: str = "relu",
        output_gain: float = 1.0,
        tanh_mean: bool = True,
        initial_log_std: float = -1.0,
        scale_to_bounds: bool = True,
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        initialisation: str = "uniform",
        normalise_observations: bool = False,
        encoder: Encoder | None = None,
    ) -> None:
        """Make a network with initial weights that depend on the seed and the sizes alone.

        Args:
            observation_space: The environment's own: Box, MultiBinary (flattened), Discrete, MultiDiscrete (one-hot),
                or a Dict or Tuple of these.
            action_space: The environment's own: a Box of real numbers.
            hidden: Units of each hidden layer; none makes a linear policy.
            activation: "relu", "tanh", "elu" or "silu".
            output_gain: What the last layer's initial weights are multiplied by; 0.1 begins near the middle.
            tanh_mean: Whether the mean is the tanh of the network's output.
            initial_log_std: Where the log standard deviation begins.
            scale_to_bounds: Whether mean and standard deviation are in units of half the action's range.
            seed: Of the initial weights.
            dtype: torch.float32 or torch.float64.
            initialisation: "uniform" or "orthogonal".
            normalise_observations: Whether observations are standardised by a mean and a deviation that whoever trains
                the network sets, and that are saved with it.
            encoder: A module of your own between observations and layers (`steadyrl.policies.encoders`); without one,
                pictures have a CNN.
        """
        head = GaussianHead(
            action_space,
            tanh_mean=tanh_mean,
            initial_log_std=initial_log_std,
            scale_to_bounds=scale_to_bounds,
            dtype=dtype,
        )
        super().__init__(
            observation_space,
            action_space,
            head,
            hidden,
            activation,
            output_gain,
            seed,
            dtype,
            initialisation,
            normalise_observations,
            encoder,
        )

    def description(self) -> dict[str, Any]:
        """Spaces, sizes and choices."""
        choices = {"tanh_mean": self.head.tanh_mean, "scale_to_bounds": self.head.scale_to_bounds}
        return super().description() | choices
