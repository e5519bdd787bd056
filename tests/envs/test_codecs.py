"""What a Batch has of an observation or an action, against Gymnasium's own flattening, and back."""

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.spaces.utils import flatten
from gymnasium.vector.utils import concatenate, create_empty_array

from steadyrl.envs.codecs import ActionCodec, ObservationCodec
from tests import every_space


def samples(space, k):
    space.seed(0)
    return [space.sample() for _ in range(k)]


@pytest.mark.parametrize("space", every_space.TREES.values(), ids=every_space.TREES)
def test_a_tree_is_flattened_as_gymnasium_does(space):
    codec = ObservationCodec(space)
    for observation in samples(space, 20):
        vector = codec.encode(observation)
        np.testing.assert_array_equal(vector, flatten(space, observation))
        assert vector.dtype == codec.batch_space.dtype
        assert vector in codec.batch_space


@pytest.mark.parametrize("space", every_space.OBSERVATIONS.values(), ids=every_space.OBSERVATIONS)
def test_many_observations_are_encoded_as_one_by_one(space):
    codec, several = ObservationCodec(space), samples(space, 6)
    together = concatenate(space, several, create_empty_array(space, n=6))  # as a vector environment has them
    np.testing.assert_array_equal(codec.encode(together), np.stack([codec.encode(one) for one in several]))


def test_the_dtype_of_a_vector_is_the_smallest_that_holds_all_parts():
    reals = spaces.Box(-1, 1, (1,))
    bytes_ = spaces.Box(0, 255, (1,), np.uint8)
    choice = spaces.Discrete(3)
    for parts, dtype in (
        ((reals, choice), np.float32),
        ((bytes_, choice), np.uint8),
        ((choice, spaces.MultiBinary(2)), np.uint8),
        ((reals, bytes_), np.float32),
        ((reals, spaces.Box(-1, 1, (1,), np.float64)), np.float64),
        ((reals, spaces.Box(-9, 9, (1,), np.int32)), np.float64),
    ):
        assert ObservationCodec(spaces.Tuple(parts)).batch_space.dtype == dtype


def test_an_empty_branch_adds_nothing():
    space = spaces.Tuple((spaces.Dict(), spaces.Discrete(2), spaces.Box(0, 1, (0,))))
    assert ObservationCodec(space).encode(({}, 1, np.zeros(0))).tolist() == [0, 1]


def test_a_known_tree_has_a_known_vector():
    space = spaces.Dict(
        {"b": spaces.Tuple((spaces.Discrete(3, start=-1), spaces.MultiBinary(2))), "a": spaces.Box(0, 9, (2,))}
    )
    observation = {"a": np.array([4, 5], np.float32), "b": (0, np.array([1, 0], np.int8))}
    assert ObservationCodec(space).encode(observation).tolist() == [4, 5, 0, 1, 0, 1, 0]


@pytest.mark.parametrize("space", every_space.LEAVES.values(), ids=every_space.LEAVES)
def test_what_is_no_tree_keeps_its_shape_and_is_counted_from_zero(space):
    codec, start = ObservationCodec(space), getattr(space, "start", None)
    for observation in samples(space, 20):
        expected = observation if start is None else observation - start
        np.testing.assert_array_equal(codec.encode(observation), expected)
        assert np.asarray(codec.encode(observation)).dtype == codec.batch_space.dtype == space.dtype
    assert codec.batch_space.shape == space.shape
    if start is not None:
        assert not np.any(codec.batch_space.start)
        np.testing.assert_array_equal(getattr(codec.batch_space, "nvec", 0), getattr(space, "nvec", 0))
        assert getattr(codec.batch_space, "n", 0) == getattr(space, "n", 0)


@pytest.mark.parametrize("space", every_space.ACTIONS.values(), ids=every_space.ACTIONS)
def test_actions_of_a_batch_become_those_of_the_environment(space):
    codec, several = ActionCodec(space), np.stack(samples(space, 20))
    batch = several - space.start if hasattr(space, "start") else several
    np.testing.assert_array_equal(codec.decode(batch), several, strict=True)
    assert all(codec.batch_space.contains(np.asarray(action)) for action in batch)
    for one, own in zip(batch, several, strict=True):
        np.testing.assert_array_equal(codec.decode(one), own)


def test_spaces_that_a_batch_has_as_they_are_are_left_alone():
    for space in (spaces.Box(0, 1), spaces.Discrete(3), spaces.MultiDiscrete([2, 2]), spaces.MultiBinary(2)):
        assert ObservationCodec(space).batch_space is space
        assert ActionCodec(space).batch_space is space


PAIR = spaces.Dict({"a": spaces.Discrete(3, start=1), "b": spaces.Box(0, 1, (2,))})
WRONG = {
    "a missing part": ({"a": 1}, r"observation\['b'\] is missing: give the observation as the environment does"),
    "an array": (np.zeros(5), r"observation\['a'\] is missing"),
    "a choice too low": ({"a": 0, "b": np.zeros(2)}, r"observation\['a'\] = 0: must be in Discrete\(3, start=1\)"),
    "a choice too high": ({"a": 4, "b": np.zeros(2)}, r"observation\['a'\] = 4: must be in Discrete\(3, start=1\)"),
    "half a choice": ({"a": 1.5, "b": np.zeros(2)}, r"observation\['a'\] = 1\.5: must be whole numbers in Discrete"),
    "another shape": ({"a": 1, "b": np.zeros(3)}, r"observation\['b'\] of shape \(3,\): must be of shape \(2,\)"),
    "two and three": (
        {"a": np.array([1, 2]), "b": np.zeros((3, 2))},
        r"leading axes observation\['a'\] \(2,\), observation\['b'\] \(3,\): must be the same of all parts",
    ),
}


@pytest.mark.parametrize(("observation", "message"), WRONG.values(), ids=WRONG)
def test_an_observation_that_its_space_does_not_have_is_refused(observation, message):
    with pytest.raises(ValueError, match=message):
        ObservationCodec(PAIR).encode(observation)


def test_an_action_that_is_not_counted_from_zero_is_refused():
    codec = ActionCodec(spaces.Discrete(3, start=5))
    assert codec.decode(np.array([0, 2])).tolist() == [5, 7]
    for wrong in (5, -1, np.array([0, 3])):
        with pytest.raises(ValueError, match=r"must be in Discrete\(3\), counted from 0"):
            codec.decode(wrong)
