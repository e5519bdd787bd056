"""Networks for the spaces of an environment: all of an actor's making that needs torch; on the CPU or on a GPU."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

import torch
from gymnasium import spaces

from steadyrl.actors.network import NetworkActor
from steadyrl.actors.options import GaussianOptions, NetworkOptions
from steadyrl.ground.option import listed
from steadyrl.policies.encoders import Encoder, encoder_for
from steadyrl.policies.networks import CategoricalNetwork, GaussianNetwork, NetworkPolicy
from steadyrl.policies.values import ValueNetwork
from steadyrl.policies.whole import WholePolicy, WholeValue, is_whole

GPUS: Final[Mapping[str, Callable[[], bool]]] = {
    "cuda": torch.cuda.is_available,
    "mps": torch.backends.mps.is_available,
}
"""Whether this machine, and this build of torch, has one of a kind; the one that `auto` prefers first."""


def device_named(name: str) -> torch.device:
    """cpu, cuda or mps, if it is there, or whichever is for auto (or a ValueError)."""
    present = [gpu for gpu, is_there in GPUS.items() if is_there()]
    if name == "auto":
        return torch.device(present[0] if present else "cpu")
    if name in GPUS and name not in present:
        raise ValueError(
            f"device = {name!r}: torch finds none on this machine: must be {listed(['cpu', *present, 'auto'])}"
        )
    return torch.device(name)


def network_actor(
    observation_space: spaces.Space[Any],
    action_space: spaces.Space[Any],
    options: NetworkOptions,
    value_factor: float,
    seed: int,
    module: str | None = None,
) -> NetworkActor:
    """A policy and a value network with the initial weights of this seed.

    They see pictures through a CNN each, or whatever observations through a module of the user's, module:Class; or they
    are such a module, both of them.
    """
    spec = None if module is None else Encoder(module, options.policy_options)
    device = device_named(options.device)
    if spec is not None and is_whole(spec):
        return _whole_actor(observation_space, action_space, options, value_factor, seed, spec, device)
    encoder = encoder_for(observation_space, spec)
    if encoder is not None:  # what it gives changes as it learns, so it has no units
        options = replace(options, normalise_observations=False)
    value = ValueNetwork(
        observation_space,
        hidden=options.hidden,
        activation=options.activation,
        seed=seed,
        initialisation=options.initialisation,
        normalise_observations=options.normalise_observations,
        normalise_targets=options.normalise_returns,
        encoder=encoder,
    )
    policy = _policy(observation_space, action_space, options, seed, encoder)
    return NetworkActor(policy, value, options, value_factor, seed, device=device)


def _whole_actor(
    observation_space: spaces.Space[Any],
    action_space: spaces.Space[Any],
    options: NetworkOptions,
    value_factor: float,
    seed: int,
    spec: Encoder,
    device: torch.device,
) -> NetworkActor:
    """A module of the user's that is policy and value function."""
    options = replace(options, normalise_observations=False)
    log_std = options.initial_log_std if isinstance(options, GaussianOptions) else GaussianOptions.initial_log_std
    policy = WholePolicy(spec, observation_space, action_space, initial_log_std=log_std, seed=seed)
    value = WholeValue(
        policy,
        hidden=options.hidden,
        activation=options.activation,
        initialisation=options.initialisation,
        normalise_targets=options.normalise_returns,
    )
    return NetworkActor(policy, value, options, value_factor, seed, device=device)


def _policy(
    observation_space: spaces.Space[Any],
    action_space: spaces.Space[Any],
    options: NetworkOptions,
    seed: int,
    encoder: Encoder | None,
) -> NetworkPolicy:
    shape: dict[str, Any] = {
        "hidden": options.hidden,
        "activation": options.activation,
        "output_gain": options.output_gain,
        "initialisation": options.initialisation,
        "normalise_observations": options.normalise_observations,
        "seed": seed,
        "encoder": encoder,
    }
    if not isinstance(options, GaussianOptions):
        return CategoricalNetwork(observation_space, action_space, **shape)
    return GaussianNetwork(
        observation_space,
        action_space,
        **shape,
        tanh_mean=options.tanh_mean,
        initial_log_std=options.initial_log_std,
        scale_to_bounds=options.scale_to_bounds,
    )


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread of torch: fastest for networks of this size, and the same bits on every machine's number of cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
