"""Learners whose policy is a network: all that needs torch."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from gymnasium import spaces

from steadyrl.algorithms.baselines import HOMES
from steadyrl.algorithms.baselines.network import NetworkActor, NetworkRates
from steadyrl.algorithms.ppo import PPO, PPOSettings
from steadyrl.algorithms.reinforce import Reinforce, ReinforceSettings
from steadyrl.ground import streams
from steadyrl.policies.networks import CategoricalNetwork, GaussianNetwork, NetworkPolicy
from steadyrl.policies.values import ValueNetwork
from steadyrl.runs.build import Learner, baseline, settings_of
from steadyrl.runs.config import RunConfig


def network_learner(config: RunConfig, seen: spaces.Space[Any], done: spaces.Space[Any]) -> Learner:
    value = ValueNetwork(seen, hidden=config.hidden, activation=config.activation, seed=config.seed)
    if config.algorithm in HOMES:
        rates = settings_of(config, NetworkRates, f"{config.algorithm} and a network")
        return baseline(config, lambda role: _actor(config, seen, done, role, rates))
    if config.algorithm == "ppo":
        return PPO(_policy(config, seen, done), value, settings_of(config, PPOSettings, "ppo"), config.seed)
    settings = settings_of(config, ReinforceSettings, "reinforce and a network")
    return Reinforce(_policy(config, seen, done), value, settings, config.seed)


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread of torch: fastest for networks of this size, and the same bits on every machine's number of cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _actor(
    config: RunConfig, seen: spaces.Space[Any], done: spaces.Space[Any], role: str, rates: NetworkRates
) -> NetworkActor:
    """A policy and a value network; a second and a third of them begin with other weights."""
    place = ("averse", "gate").index(role) + 1 if role in ("averse", "gate") else 0
    if place:
        config = replace(config, seed=streams.key(config.seed, streams.INITIAL, place))
    value = ValueNetwork(seen, hidden=config.hidden, activation=config.activation, seed=config.seed)
    return NetworkActor(_policy(config, seen, spaces.Discrete(2) if role == "gate" else done), value, rates)


def _policy(config: RunConfig, seen: spaces.Space[Any], done: spaces.Space[Any]) -> NetworkPolicy:
    shape: dict[str, Any] = {
        "hidden": config.hidden,
        "activation": config.activation,
        "output_gain": config.output_gain,
        "seed": config.seed,
    }
    if not isinstance(done, spaces.Box):
        return CategoricalNetwork(seen, done, **shape)
    return GaussianNetwork(
        seen,
        done,
        **shape,
        tanh_mean=config.tanh_mean,
        initial_log_std=config.initial_log_std,
        scale_to_bounds=config.scale_to_bounds,
    )
