"""Make a policy of torch again from its description and its weights."""

from itertools import pairwise
from typing import Any, Final

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import nn

from steadyrl.envs.return_so_far import so_far_options
from steadyrl.envs.spaces import choices, from_json
from steadyrl.policies._features import Features
from steadyrl.policies._layers import DTYPES, check_layers
from steadyrl.policies.encoders import Encoder, encoder_for
from steadyrl.policies.modules import ModulePolicy
from steadyrl.policies.networks import CategoricalNetwork, GaussianNetwork
from steadyrl.policies.storage import SO_FAR
from steadyrl.policies.values import ValueNetwork
from steadyrl.policies.whole import WholePolicy

FLAGS: Final = ("tanh_mean", "scale_to_bounds", "normalise_observations", "normalise_targets")
"""Options of networks that are true or false."""
LARGEST_SPACE: Final = 10_000_000
"""Numbers or values a space in a file may have: enough for any picture, and no file makes us ask for all memory."""


def rebuild(kind: str, config: dict[str, Any], arrays: dict[str, NDArray[Any]], module: Any) -> nn.Module:
    """A policy, or a value function, of the class that is called `kind`.

    Args:
        kind: The name of the class.
        config: What its file says of it: spaces, layers, options.
        arrays: The weights, by the names that torch gives them.
        module: The user's own network, which a file cannot hold; None for all but a ModulePolicy.
    """
    observation_space = from_json(config["observation_space"], LARGEST_SPACE)
    numbers_in_file = sum(array.size for array in arrays.values())
    policy: nn.Module
    if kind == "ValueNetwork":
        policy = ValueNetwork(observation_space, **_options(config, observation_space, 1, numbers_in_file))
    else:
        action_space = from_json(config["action_space"], LARGEST_SPACE)
        if kind == "ModulePolicy":
            policy = ModulePolicy(module, observation_space, action_space, block=config["block"])
        elif kind == "WholePolicy":
            encoder = _encoder(config) or Encoder("")
            policy = WholePolicy(encoder, observation_space, action_space, dtype=DTYPES[config["dtype"]])
        else:
            options = _options(config, observation_space, _outputs(action_space), numbers_in_file)
            policy = (CategoricalNetwork if kind == "CategoricalNetwork" else GaussianNetwork)(
                observation_space, action_space, **options
            )
    _fill(policy, arrays)
    if SO_FAR in config:
        policy.so_far = so_far_options(config[SO_FAR])
    return policy


def _options(
    config: dict[str, Any], observation_space: spaces.Space[Any], outputs: int, numbers_in_file: int
) -> dict[str, Any]:
    """A constructor's arguments; refused before memory is asked for, if they need more numbers than the file has."""
    hidden = tuple(config["hidden"])
    check_layers(hidden, config["activation"])
    encoder = _encoder(config)
    # What a module gives is known when it is made; the layers above it begin at the first hidden one then.
    sizes = (
        (*hidden, outputs)
        if encoder_for(observation_space, encoder) is not None
        else (Features(observation_space).size, *hidden, outputs)
    )
    if sum(a * b for a, b in pairwise(sizes)) > numbers_in_file:
        raise ValueError(f"layers of sizes {sizes} need more than the {numbers_in_file} numbers in the file")
    options = {
        "hidden": hidden,
        "activation": config["activation"],
        "dtype": DTYPES[config["dtype"]],
        "encoder": encoder,
    }
    return options | {name: bool(config[name]) for name in FLAGS if name in config}


def _encoder(config: dict[str, Any]) -> Encoder | None:
    if "encoder" not in config:
        return None
    name = config["encoder"]["name"]
    options = config["encoder"]["options"]
    if not isinstance(name, str) or not isinstance(options, dict):
        raise ValueError("encoder: must have a name and options")
    return Encoder(name, options)


def _outputs(space: spaces.Space[Any]) -> int:
    """Numbers that a network of these actions puts out: a logit for each choice, or a mean for each real number."""
    counts = choices(space)
    return int(counts.sum()) if counts.size else int(np.prod(space.shape or (), dtype=np.int64))


def _fill(policy: nn.Module, arrays: dict[str, NDArray[Any]]) -> None:
    """Put the weights in, if they have the names, shapes and dtypes of the policy's own."""
    weights = {name: torch.tensor(array) for name, array in arrays.items()}
    for name, own in policy.state_dict().items():
        if name in weights and weights[name].dtype != own.dtype:
            raise ValueError(f"{name} is {weights[name].dtype} in the file, {own.dtype} in the module")
    policy.load_state_dict(weights)
