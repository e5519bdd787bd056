"""The value of an observation as a network: what REINFORCE and PPO compare rewards-to-go with."""

from collections.abc import Sequence
from typing import Any, Final

import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor, nn

from steadyrl.envs.spaces import to_json
from steadyrl.ground import streams
from steadyrl.policies import _backward
from steadyrl.policies._layers import Layers
from steadyrl.policies.encoders import Encoder, encoder_description, features_for

VALUE: Final = 1
"""Keeps the value's initial weights apart from those of a policy with the same seed."""


class ValueNetwork(nn.Module):
    """V(s), one number for each observation.

    With `normalise_targets` it learns in units that follow its targets, V = target_mean + target_std times what
    the layers give, so that no learning rate depends on the scale of the rewards; when the units change, the last layer
    is changed back, and V stays as it was (PopArt: van Hasselt et al. 2016). Until the first units are set, V is 0:
    what random layers say has no unit, and would drown small rewards.
    """

    target_mean: Tensor
    target_std: Tensor

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        *,
        hidden: Sequence[int] = (128, 128),
        activation: str = "relu",
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        initialisation: str = "uniform",
        normalise_observations: bool = False,
        normalise_targets: bool = False,
        encoder: Encoder | None = None,
    ) -> None:
        """Make a network with initial weights that depend on the seed and the sizes alone.

        Args:
            observation_space: The environment's own: Box, MultiBinary (flattened), Discrete, MultiDiscrete (one-hot),
                or a Dict or Tuple of these.
            hidden: Units of each hidden layer; none makes a linear function.
            activation: "relu", "tanh", "elu" or "silu".
            seed: Of the initial weights.
            dtype: torch.float32 or torch.float64.
            initialisation: "uniform" or "orthogonal".
            normalise_observations: Whether observations are standardised, as a policy's are.
            normalise_targets: Whether it learns in units of its targets.
            encoder: As of a policy's network, with weights of its own.
        """
        super().__init__()
        self.observation_space = observation_space
        self.features = features_for(observation_space, encoder, seed, VALUE, dtype)
        self.hidden = tuple(hidden)
        rng = streams.generator(seed, streams.INITIAL, VALUE)
        self.layers = Layers(
            (self.features.size, *self.hidden, 1),
            activation,
            rng,
            dtype=dtype,
            initialisation=initialisation,
            standardise=normalise_observations,
        )
        self.normalises_targets = normalise_targets
        if normalise_targets:
            self.register_buffer("target_mean", torch.zeros((), dtype=dtype))
            self.register_buffer("target_std", torch.zeros((), dtype=dtype))

    @property
    def dtype(self) -> torch.dtype:
        """In which the network computes."""
        return self.layers.dtype

    @property
    def device(self) -> torch.device:
        """Where it learns."""
        return self.layers.device

    @property
    def critic_layers(self) -> dict[str, Any]:
        """What the layers of a critic beside it are like."""
        layers = self.layers
        return {"hidden": self.hidden, "activation": layers.activation, "initialisation": layers.initialisation}

    @property
    def critic_size(self) -> int:
        """How many numbers a critic sees of an observation."""
        return self.features.size

    def critic_inputs(self, observations: NDArray[Any]) -> NDArray[Any]:
        """(k, critic_size): what its own first layer takes, for k observations."""
        return self.layers.inputs(observations, self.features)

    def forward(self, observations: NDArray[Any] | Tensor) -> Tensor:
        """V(s) over any leading shape; differentiable."""
        inputs = self.features.tensor(observations, self.dtype).to(self.layers.device)
        outputs = self.layers(self.features.encode(inputs, self.dtype)).squeeze(-1)
        return self.target_mean + self.target_std * outputs if self.normalises_targets else outputs

    def standardise(self, mean: NDArray[Any], std: NDArray[Any]) -> None:
        """Take the features of observations in these units from now on."""
        self.layers.standardise(mean, std)

    @torch.no_grad()
    def rescale(self, mean: float, std: float, *, keep: bool = True) -> None:
        """Learn in these units from now on; V stays as it is, unless it means nothing yet (`keep` is False)."""
        if keep:
            *_, last = self.layers.children()
            weight, bias = last.parameters()
            old_mean = float(self.target_mean)
            old_std = float(self.target_std)
            weight.mul_(old_std / std)
            bias.mul_(old_std / std).add_((old_mean - mean) / std)
        self.target_mean.fill_(mean)
        self.target_std.fill_(std)

    def squared_error(self, observations: NDArray[Any] | Tensor, targets: Tensor) -> tuple[float, list[Tensor]]:
        """The mean of (V(s) - target)^2 over k observations, and its gradient by each parameter that is trained.

        In units of the targets, if it learns in these.
        """
        weights = self._plain_weights()
        if self.normalises_targets:
            targets = (targets - self.target_mean) / self.target_std
        if weights is None:
            outputs = self(observations)  # by whatever a subclass makes of it
            if self.normalises_targets:
                outputs = (outputs - self.target_mean) / self.target_std
            loss = (outputs - targets).square().mean()
            trained = [one for one in self.parameters() if one.requires_grad]
            gradient = torch.autograd.grad(loss, trained, allow_unused=True, materialize_grads=True)
            return float(loss.detach()), list(gradient)
        with torch.no_grad():
            observed = self.features.tensor(observations, self.dtype).to(self.layers.device)
            inputs = self.layers.standardised(self.features.encode(observed, self.dtype))
            activations = _backward.forward(weights, inputs, self.layers.activation)
            error = activations[-1].squeeze(-1) - targets
            by_value = (error * (2.0 / len(targets))).unsqueeze(-1)
            return float(error.square().mean()), _backward.backward(
                weights, activations, by_value, self.layers.activation
            )

    def _plain_weights(self) -> list[_backward.Weights] | None:
        """The layers' weights if they are all that is trained, in the order of the parameters; otherwise None."""
        weights = self.layers.weights() if type(self) is ValueNetwork else None
        tensors = [one for pair in weights or () for one in pair]
        all_of_them = list(self.parameters())
        same = len(tensors) == len(all_of_them) and all(a is b for a, b in zip(tensors, all_of_them, strict=True))
        return weights if same else None

    def predict(self, observations: NDArray[Any]) -> NDArray[Any]:
        """V(s) over any leading shape in NumPy; on the CPU no value depends on the others, to the last bit."""
        if self.layers.device.type != "cpu":
            with torch.no_grad():
                return self(observations).numpy(force=True)
        leading = observations.shape[: observations.ndim - len(self.features.shape)]
        rows = observations.reshape(-1, *observations.shape[len(leading) :])
        values = self.layers.numpy(rows, self.features).reshape(leading)
        if not self.normalises_targets:
            return values
        return self.target_mean.numpy() + self.target_std.numpy() * values

    def description(self) -> dict[str, Any]:
        """Space, sizes and choices, as JSON has them."""
        return {
            "class": type(self).__name__,
            "observation_space": to_json(self.observation_space),
            "hidden": list(self.hidden),
            "activation": self.layers.activation,
            "dtype": str(self.dtype).removeprefix("torch."),
            "normalise_observations": self.layers.standardises,
            "normalise_targets": self.normalises_targets,
        } | encoder_description(self.features)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The weights, by name."""
        return {name: value.numpy(force=True) for name, value in self.state_dict().items()}
