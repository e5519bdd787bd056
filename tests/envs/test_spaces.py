"""Which spaces are supported is decided in one place; others are refused in one sentence; JSON has them exactly."""

import json

import numpy as np
import pytest
import torch
from gymnasium import spaces
from torch import nn

from steadyrl.envs.probe import BrokenEnvironmentError, probe
from steadyrl.envs.spaces import (
    ACTIONS,
    DEEPEST,
    OBSERVATIONS,
    Table,
    check_action_space,
    check_observation_space,
    from_json,
    leaves,
    table,
    to_json,
)
from steadyrl.policies import RandomPolicy
from steadyrl.policies.modules import ModulePolicy
from steadyrl.policies.networks import CategoricalNetwork, GaussianNetwork
from steadyrl.policies.values import ValueNetwork
from steadyrl.rollouts import Collector
from tests import every_space
from tests.every_space import Walk

torch.set_num_threads(1)
BOX, CHOICE = spaces.Box(-1, 1, (2,)), spaces.Discrete(2)

# ---- the list and the sentence


@pytest.mark.parametrize("space", every_space.OBSERVATIONS.values(), ids=every_space.OBSERVATIONS)
def test_every_observation_space_of_the_list_is_accepted(space):
    check_observation_space(space)


@pytest.mark.parametrize("space", every_space.ACTIONS.values(), ids=every_space.ACTIONS)
def test_every_action_space_of_the_list_is_accepted(space):
    check_action_space(space)


def sentence(refused, kind=ValueError):
    with pytest.raises(kind) as caught:
        refused()
    return str(caught.value)


def in_a_tree(space):
    return spaces.Dict({"fine": BOX, "odd": spaces.Tuple((CHOICE, space))})


@pytest.mark.parametrize("tree", [False, True], ids=["alone", "in a tree"])
@pytest.mark.parametrize("part", every_space.UNSUPPORTED.values(), ids=every_space.UNSUPPORTED)
def test_any_other_observation_space_is_refused_by_the_same_sentence_everywhere(part, tree):
    space = in_a_tree(part) if tree else part
    where = "['odd'][1]" if tree else ""
    expected = f"observation_space{where} = {part}: {OBSERVATIONS}"
    env = Walk(space, CHOICE)
    assert sentence(lambda: check_observation_space(space)) == expected
    assert sentence(lambda: probe(env), BrokenEnvironmentError) == f"{env}: {expected}"
    assert sentence(lambda: Collector(lambda: env, limit=9)) == expected
    assert sentence(lambda: CategoricalNetwork(space, CHOICE)) == expected
    assert sentence(lambda: GaussianNetwork(space, BOX)) == expected
    assert sentence(lambda: ModulePolicy(nn.Linear(2, 2), space, CHOICE)) == expected
    assert sentence(lambda: ValueNetwork(space)) == expected
    assert sentence(lambda: to_json(space)) == expected


NO_ACTIONS = every_space.UNSUPPORTED | {
    "Dict": spaces.Dict({"a": CHOICE}),
    "Tuple": spaces.Tuple((CHOICE, CHOICE)),
    "whole numbers": spaces.Box(0, 5, (2,), np.int64),
}


@pytest.mark.parametrize("space", NO_ACTIONS.values(), ids=NO_ACTIONS)
def test_any_other_action_space_is_refused_by_the_same_sentence_everywhere(space):
    expected = f"action_space = {space}: {ACTIONS}"
    env = Walk(BOX, space)
    assert sentence(lambda: check_action_space(space)) == expected
    assert sentence(lambda: probe(env), BrokenEnvironmentError) == f"{env}: {expected}"
    assert sentence(lambda: Collector(lambda: env, limit=9)) == expected
    assert sentence(lambda: CategoricalNetwork(BOX, space)) == expected
    assert sentence(lambda: GaussianNetwork(BOX, space)) == expected
    assert sentence(lambda: ModulePolicy(nn.Linear(2, 2), BOX, space)) == expected
    assert sentence(lambda: RandomPolicy(space)) == expected


@pytest.mark.parametrize("space", [spaces.Box(0, 1, (0,)), spaces.Dict(), spaces.Tuple((spaces.Tuple(()),))], ids=str)
def test_a_space_without_a_number_is_refused(space):
    with pytest.raises(ValueError, match=r"observation_space = .*: must hold at least one number"):
        check_observation_space(space)


def test_an_action_without_a_number_is_refused():
    with pytest.raises(ValueError, match=r"action_space = Box.*: must hold at least one number"):
        check_action_space(spaces.Box(0, 1, (2, 0)))


def nested(depth):
    space = CHOICE
    for _ in range(depth):
        space = spaces.Tuple((space,))
    return space


def test_trees_may_be_deep_but_not_without_end():
    check_observation_space(nested(DEEPEST))
    assert from_json(to_json(nested(DEEPEST)), 100) == nested(DEEPEST)
    with pytest.raises(ValueError, match="must be within 32 Dicts and Tuples; make it flatter"):
        check_observation_space(nested(DEEPEST + 1))


def test_the_keys_of_a_dict_are_strings():
    with pytest.raises(ValueError, match=r"observation_space\['a'\] = .*: must have keys that are strings"):
        check_observation_space(spaces.Dict({"a": spaces.Dict({1: CHOICE})}))


# ---- tables


def test_a_table_is_for_discrete_observations_and_actions_wherever_they_start():
    assert table(spaces.Discrete(36), spaces.Discrete(4)) == Table(36, 4, 0, 0)
    size = table(spaces.Discrete(5, start=-2), spaces.Discrete(3, start=7))
    assert (size.states, size.actions, size.first_state, size.first_action) == (5, 3, -2, 7)
    for others in (
        (BOX, CHOICE),
        (CHOICE, BOX),
        (spaces.MultiDiscrete([2]), CHOICE),
        (spaces.Tuple((CHOICE,)), CHOICE),
    ):
        assert table(*others) is None


# ---- JSON

SPACES = [
    *every_space.OBSERVATIONS.values(),
    *every_space.ACTIONS.values(),
    spaces.Box(-np.inf, np.inf, (2, 3)),
    spaces.Box(np.array([0.1, -np.inf]), np.array([0.3, 7.0]), dtype=np.float64),
    spaces.Box(-(2**62) - 1, 2**62 + 1, (1,), np.int64),
    spaces.MultiBinary([3]),
]


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_spaces_survive_json(space):
    again = from_json(json.loads(json.dumps(to_json(space), allow_nan=False)), 200)
    assert again == space
    for (path, part), (path_again, part_again) in zip(leaves(space), leaves(again), strict=True):  # in their order
        assert path_again == path
        assert part_again.dtype == part.dtype
        if isinstance(part, spaces.Box):  # whose equality is approximate
            np.testing.assert_array_equal(part_again.low, part.low, strict=True)
            np.testing.assert_array_equal(part_again.high, part.high, strict=True)


def box(*shape):
    return {"kind": "Box", "shape": list(shape), "low": 0, "high": 1, "dtype": "float32"}


def deep(depth):
    return {"kind": "Tuple", "spaces": [deep(depth - 1)]} if depth else box(1)


HOSTILE = {
    "an unknown kind": ({"kind": "Text"}, "kind = 'Text': must be one of Box, Discrete"),
    "no kind": ({}, "kind"),
    "a kind that is a list": ({"kind": []}, "must be one of Box"),
    "a huge Box": (box(10**6, 10**6), "from 0 to 100"),
    "a negative Box": (box(-1), "from 0 to 100"),
    "a Box of one and a half": (box(1.5), "must be a whole number"),
    "an unknown dtype": (box(1) | {"dtype": "object"}, "dtype = 'object': must be one of"),
    "a huge Discrete": ({"kind": "Discrete", "n": 101, "start": 0, "dtype": "int64"}, "n = 101"),
    "an empty Discrete": ({"kind": "Discrete", "n": 0, "start": 0, "dtype": "int64"}, "positive"),
    "a huge MultiDiscrete": (
        {"kind": "MultiDiscrete", "nvec": [60, 60], "start": [0, 0], "dtype": "int64"},
        "nvec = 120",
    ),
    "a huge MultiBinary": ({"kind": "MultiBinary", "n": [50, 50]}, "n = 2500"),
    "a true MultiBinary": ({"kind": "MultiBinary", "n": True}, "must be a whole number"),
    "an empty MultiBinary": ({"kind": "MultiBinary", "n": 0}, "positive"),
    "a huge Tuple": (
        {"kind": "Tuple", "spaces": [box(60), box(60)]},
        "shape = 60: must be a whole number from 0 to 39",
    ),
    "many empty parts": (
        {"kind": "Tuple", "spaces": [box(0)] * 200},
        "spaces = 101: must be a whole number from 0 to 100",
    ),
    "many empty trees": ({"kind": "Tuple", "spaces": [{"kind": "Tuple", "spaces": []}] * 200}, "spaces = 101"),
    "a tree without end": (deep(DEEPEST + 1), "must be at most 32 deep"),
    "a tree far deeper": (deep(900), "must be at most 32 deep"),
    "a number for parts": ({"kind": "Tuple", "spaces": 3}, "not iterable"),
    "a part that is a word": ({"kind": "Dict", "spaces": ["ab"]}, "indices"),
    "a key that is a number": ({"kind": "Dict", "spaces": [[1, box(1)]]}, "key 1: must be a string"),
    "a key that comes twice": ({"kind": "Dict", "spaces": [["a", box(1)], ["a", box(1)]]}, "the same key twice"),
}


@pytest.mark.parametrize(("description", "message"), HOSTILE.values(), ids=HOSTILE)
def test_a_description_that_no_space_has_is_refused(description, message):
    with pytest.raises((ValueError, TypeError, KeyError), match=message):
        from_json(description, 100)
