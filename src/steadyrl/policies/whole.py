"""Policy and value function in one torch module of the user's: all layers are theirs, and may be shared.

The class takes the observation space and the action space, which is how it is told from one that gives features alone
(`encoders`), and its module maps k observations to what a `ModulePolicy` makes actions of and to k values.
"""

import inspect
from collections.abc import Sequence
from typing import Any, Final

import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor, nn

from steadyrl.envs.spaces import to_json
from steadyrl.policies.encoders import Encoder, imported, made
from steadyrl.policies.modules import ModulePolicy

AT_ONCE: Final = 256
"""Observations in one forward pass where no gradient is wanted, for pictures take much memory."""


def is_whole(encoder: Encoder) -> bool:
    """Does the class that it names take an action space?"""
    return ":" in encoder.name and "action_space" in inspect.signature(imported(encoder.name)).parameters


class WholeModule(nn.Module):
    """A module of the user's, whose two outputs are looked at before anybody believes them."""

    def __init__(self, module: nn.Module, name: str) -> None:
        super().__init__()
        self.module = module
        self.name = name
        self.outputs = 0

    def forward(self, rows: Tensor) -> Tensor:
        """The policy's side: (k, outputs) for k observations."""
        return self.both(rows)[0]

    def both(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """(k, outputs) and (k,) for k observations."""
        result = self.module(rows)
        k = rows.shape[0]
        if isinstance(result, tuple) and len(result) == 2 and all(isinstance(one, Tensor) for one in result):
            outputs, values = result
            if outputs.shape == (k, self.outputs) and values.shape in ((k,), (k, 1)):
                return outputs, values.reshape(k)
            description = f"tensors {tuple(outputs.shape)} and {tuple(values.shape)}"
        else:
            description = f"a {type(result).__name__}"
        expected = f"two tensors, ({k}, {self.outputs}) for the policy and ({k},) of values"
        raise ValueError(f"policy = {self.name}: gave {description} for {tuple(rows.shape)}: must give {expected}")


class WholePolicy(ModulePolicy):
    """The policy's side of such a module: logits, or means in the action's own unit with a free deviation beside."""

    module: WholeModule

    def __init__(
        self,
        encoder: Encoder,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        *,
        initial_log_std: float = -1.0,
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        """Make the module of the class that the encoder names, with initial weights that depend on the seed alone."""
        module = made(encoder, seed, 0, dtype, observation_space, action_space)
        super().__init__(
            WholeModule(module, encoder.name), observation_space, action_space, initial_log_std=initial_log_std
        )
        self.encoder = encoder
        self.module.outputs = self.head.outputs
        features = self.features
        example = torch.zeros((2, *features.shape), dtype=torch.int64 if features.discrete else self.dtype)
        try:
            with torch.no_grad():
                self(example)
        except ValueError:
            raise
        except Exception as error:
            reason = f"raised {type(error).__name__} for observations {tuple(example.shape)}: {error}"
            raise ValueError(f"policy = {encoder.name}: {reason}") from error

    def description(self) -> dict[str, Any]:
        """The spaces and the name of the class."""
        return {
            "class": type(self).__name__,
            "observation_space": to_json(self.observation_space),
            "action_space": to_json(self.action_space),
            "dtype": str(self.dtype).removeprefix("torch."),
            "encoder": self.encoder.description(),
        }


class WholeValue(nn.Module):
    """The value's side of the module of a `WholePolicy`, which it shares: what one of them learns, the other has.

    With `normalise_targets` V is target_mean + target_std times what the module gives. Its last layer is not known, so
    V moves a little when the units do.
    """

    target_mean: Tensor
    target_std: Tensor

    def __init__(
        self,
        policy: WholePolicy,
        *,
        hidden: Sequence[int],
        activation: str,
        initialisation: str,
        normalise_targets: bool,
    ) -> None:
        """The layers are those of a critic beside it."""
        super().__init__()
        self.module = policy.module
        self.features = policy.features
        self.dtype = policy.dtype
        self.critic_layers = {"hidden": tuple(hidden), "activation": activation, "initialisation": initialisation}
        self.critic_size = policy.head.outputs + 1
        self.register_buffer("target_mean", torch.zeros((), dtype=self.dtype))
        self.register_buffer("target_std", torch.full((), 0.0 if normalise_targets else 1.0, dtype=self.dtype))

    @property
    def device(self) -> torch.device:
        """Where it learns."""
        return self.target_mean.device

    def forward(self, observations: NDArray[Any] | Tensor) -> Tensor:
        """V(s) over any leading shape; differentiable."""
        leading = observations.shape[: observations.ndim - len(self.features.shape)]
        values = self.module.both(self._rows(observations))[1].reshape(leading)
        return self.target_mean + self.target_std * values

    def squared_error(self, observations: NDArray[Any] | Tensor, targets: Tensor) -> tuple[float, list[Tensor]]:
        """The mean of (V(s) - target)^2 over k observations in its units, and the gradient by each parameter."""
        values = self.module.both(self._rows(observations))[1]
        loss = (values - (targets - self.target_mean) / self.target_std).square().mean()
        trained = [one for one in self.parameters() if one.requires_grad]
        return float(loss.detach()), list(torch.autograd.grad(loss, trained, allow_unused=True, materialize_grads=True))

    @torch.no_grad()
    def rescale(self, mean: float, std: float, *, keep: bool = True) -> None:  # noqa: ARG002  V cannot be kept
        """Learn in these units from now on."""
        self.target_mean.fill_(mean)
        self.target_std.fill_(std)

    @torch.no_grad()
    def predict(self, observations: NDArray[Any]) -> NDArray[Any]:
        """V(s) over any leading shape in NumPy."""
        return self(observations).numpy(force=True)

    @torch.no_grad()
    def critic_inputs(self, observations: NDArray[Any]) -> NDArray[Any]:
        """(k, critic_size): what the module gives for k observations, policy and value side by side."""
        parts = [self.module.both(part) for part in torch.split(self._rows(observations), AT_ONCE)]
        return torch.cat([torch.cat([outputs, values[:, None]], dim=1) for outputs, values in parts]).numpy(force=True)

    def _rows(self, observations: NDArray[Any] | Tensor) -> Tensor:
        """What the module takes, all leading axes in one."""
        features = self.features
        inputs = features.tensor(observations, self.dtype).to(self.device)
        if features.discrete:
            return features.encode(inputs, self.dtype).reshape(-1, features.size)
        return inputs.to(self.dtype).reshape(-1, *features.shape)
