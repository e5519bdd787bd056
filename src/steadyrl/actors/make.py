"""The actor that fits an environment: a table where observations and actions are few and whole, else a network."""

from collections.abc import Mapping
from typing import Any, Final, Literal

from gymnasium import spaces

from steadyrl.actors.actor import Actor
from steadyrl.actors.options import GaussianOptions, NetworkOptions, TableOptions
from steadyrl.actors.table import TableActor
from steadyrl.envs.spaces import table
from steadyrl.ground import streams

Kind = Literal["table", "network", "gaussian"]
OPTIONS: Final[Mapping[Kind, type[TableOptions] | type[NetworkOptions]]] = {
    "table": TableOptions,
    "network": NetworkOptions,
    "gaussian": GaussianOptions,
}
NAMES: Final[Mapping[Kind, str]] = {
    "table": "a table",
    "network": "a network",
    "gaussian": "a network for real actions",
}


def kind_of(policy: str, observation_space: spaces.Space[Any], action_space: spaces.Space[Any]) -> Kind:
    """Which kind of actor a run has, where `policy` is auto, tabular, network or module:Class (or a ValueError)."""
    if policy in ("auto", "tabular") and table(observation_space, action_space) is not None:
        return "table"
    if policy == "tabular":
        raise ValueError(
            f"policy = 'tabular': must be network for observations in {observation_space} and actions in {action_space}"
        )
    return "gaussian" if isinstance(action_space, spaces.Box) else "network"


def make_actor(
    observation_space: spaces.Space[Any],
    action_space: spaces.Space[Any],
    options: TableOptions | NetworkOptions,
    *,
    value_factor: float,
    seed: int,
    place: int = 0,
    module: str | None = None,
) -> Actor:
    """An actor for these spaces.

    Args:
        observation_space: Of the environment.
        action_space: Likewise.
        options: Of a table or of a network; they decide which of the two it is.
        value_factor: The value's learning rate over the policy's, where the options have none.
        seed: Of the initial weights.
        place: Makes a second and a third actor of one run begin with other weights.
        module: module:Class, what the networks see observations through.
    """
    size = table(observation_space, action_space)
    if isinstance(options, TableOptions) and size is not None:
        return TableActor(
            size.states,
            size.actions,
            options,
            value_factor,
            first_state=size.first_state,
            first_action=size.first_action,
        )
    if isinstance(options, TableOptions):
        raise TypeError(f"a table cannot be had for observations in {observation_space}, actions in {action_space}")
    from steadyrl.actors.make_network import network_actor  # noqa: PLC0415  a table needs no torch

    own_seed = streams.key(seed, streams.INITIAL, place) if place else seed
    return network_actor(observation_space, action_space, options, value_factor, own_seed, module)
