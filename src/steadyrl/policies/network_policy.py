"""What every policy made of torch shares: acting from given numbers, log-probabilities, prediction, storage."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor, nn

from steadyrl.envs.return_so_far import SoFarOptions
from steadyrl.ground.shapes import Array, Float
from steadyrl.policies import storage
from steadyrl.policies._features import Features
from steadyrl.policies._heads import Head
from steadyrl.policies.encoders import ModuleFeatures

SMALLEST_UNIFORM = 2.0**-54
"""Takes the place of the 0 that NumPy draws once in 2**53: its normal quantile is finite."""


class NetworkPolicy(nn.Module):
    """Features of an observation -> outputs -> a head that knows what they say about actions.

    Observations and actions are as a Batch has them (`steadyrl.envs.codecs`), and as the environment has them for
    `predict` alone.

    Calling the policy on a tensor of observations gives the outputs: logits, or what the means are made of. With
    `head.log_prob(outputs, actions)` and `head.entropy(outputs)` one forward pass serves both.
    """

    features: Features | ModuleFeatures
    head: Head
    so_far: SoFarOptions | None = None
    """What it sees beside the environment's own observation, if it was trained with `observe`."""

    @property
    def dtype(self) -> torch.dtype:
        """In which the network computes."""
        raise NotImplementedError

    def outputs(self, observations: NDArray[Any]) -> NDArray[Any]:
        """(k, outputs) for k observations; a row's bits do not depend on the other rows."""
        raise NotImplementedError

    def description(self) -> dict[str, Any]:
        """What is to be known, beside the weights, to make this policy again; as JSON has it."""
        raise NotImplementedError

    def standardise(self, mean: NDArray[Any], std: NDArray[Any]) -> None:  # noqa: ARG002
        """Take the features of observations in these units from now on; they are saved with the policy."""
        raise ValueError(f"normalise_observations = True: a {type(self).__name__} does not standardise observations")

    @property
    def uniforms_per_action(self) -> int:
        """One for each number of an action."""
        return self.head.uniforms

    def act(self, observations: NDArray[Any], uniforms: Float[Array, "k d"]) -> NDArray[Any]:
        """An action for each of k observations, drawn by inverse transform from its row of uniform numbers.

        A Gaussian action is not clipped to the bounds of its space: `log_prob` is the density of what was drawn.
        """
        return self.head.sample(self.outputs(observations), uniforms)

    def log_prob(self, observations: NDArray[Any] | Tensor, actions: NDArray[Any] | Tensor) -> Tensor:
        """log pi(a|s) over any leading shape, the density's logarithm for Box actions; differentiable."""
        return self.head.log_prob(self._forward(observations), actions)

    def entropy(self, observations: NDArray[Any] | Tensor) -> Tensor:
        """The entropy of pi(.|s) in nats over any leading shape; differentiable."""
        return self.head.entropy(self._forward(observations))

    def predict(
        self, observation: Any, deterministic: bool = True, rng: np.random.Generator | int | None = None
    ) -> Any:
        """An action for one observation, or an action for each of a batch of them.

        Args:
            observation: As the environment gives it; with one axis more in front, of each part of a tree, a batch.
            deterministic: The likeliest action; otherwise one drawn at random.
            rng: Where a random action comes from: a generator, a seed, or None for a different one every time.

        Returns:
            An int for one Discrete action, otherwise an array, as the environment takes it. Box actions are clipped to
            the bounds of their space.
        """
        encoded = self.features.codec.encode(observation)
        single = encoded.shape == self.features.shape
        outputs = self.outputs(encoded[None] if single else encoded)
        if deterministic:
            actions = self.head.likeliest(outputs)
        else:
            u = np.random.default_rng(rng).random((len(outputs), self.head.uniforms))
            actions = self.head.clip(self.head.sample(outputs, np.maximum(u, SMALLEST_UNIFORM)))
        actions = self.head.codec.decode(actions)
        if not single:
            return actions
        return int(actions[0]) if isinstance(self.head.codec.space, spaces.Discrete) else actions[0, ...]

    def save(self, path: str | Path) -> None:
        """Write the policy to a safetensors file that `steadyrl.policies.load_policy` reads, and its card beside it."""
        storage.save(self, path)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The weights, by name."""
        return {name: value.numpy(force=True) for name, value in self.state_dict().items()}

    def _forward(self, observations: NDArray[Any] | Tensor) -> Tensor:
        outputs: Tensor = self(self.features.tensor(observations, self.dtype))
        return outputs
