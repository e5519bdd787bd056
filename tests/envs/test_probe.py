"""The probe names what is wrong, where, and what was expected."""

import random
import re
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from steadyrl.envs.probe import BrokenEnvironmentError, probe


class Sound(gym.Env):
    """Keeps every promise; what `answer(step, result)` gives replaces what step number `step` (0: reset) returns."""

    def __init__(self, answer=lambda step, result: result, observations=None, actions=None):
        self.observation_space = observations or spaces.Box(-10.0, 10.0, (2,), np.float32)
        self.action_space = actions or spaces.Discrete(3)
        self.answer = answer

    def observe(self):
        return self.observation_space.sample() if self.fixed is None else self.fixed.copy()

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed, options=options)
        self.t = 0
        return self.answer(0, (self.observe(), {}))

    def step(self, _action):
        self.t += 1
        return self.answer(self.t, (self.observe(), 1.0, self.t >= 5, False, {}))

    @property
    def fixed(self):
        box = isinstance(self.observation_space, spaces.Box) and self.observation_space.shape == (2,)
        return np.array([self.t, 0.0], dtype=np.float32) if box else None

    def __str__(self):
        return "<Sound>"


def at(step, change):
    """An answer that changes the result of one step."""
    return lambda t, result: change(*result) if t == step else result


def never_ends(t, result):
    return (*result[:2], False, *result[3:]) if t else result


def fail(error):
    raise error


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (at(0, lambda *_: fail(OSError("no camera"))), "<Sound>: episode 0, reset: raised OSError: no camera"),
        (at(3, lambda *_: 1 / 0), "<Sound>: episode 0, step 3: raised ZeroDivisionError: division by zero"),
        (
            at(0, lambda observation, info: observation),
            "<Sound>: episode 0, reset: got an array of shape (2,) and dtype float32, expected the tuple",
        ),
        (at(0, lambda observation, info: (observation, None)), "<Sound>: episode 0, reset: info: got None (NoneType)"),
        (
            at(2, lambda *five: five[:4]),
            "<Sound>: episode 0, step 2: got a tuple of 4 values, expected the tuple (observation, reward, terminated,",
        ),
        (
            at(2, lambda o, *rest: (np.array([1.0, np.nan], np.float32), *rest)),
            "<Sound>: episode 0, step 2: observation[1]: got nan, expected a finite number",
        ),
        (
            at(0, lambda o, info: (np.array([np.inf, 0.0], np.float32), info)),
            "<Sound>: episode 0, reset: observation[0]: got inf, expected a finite number",
        ),
        (
            at(4, lambda o, *rest: (np.zeros(3, np.float32), *rest)),
            "<Sound>: episode 0, step 4: observation: got shape (3,), expected (2,)",
        ),
        (
            at(1, lambda o, *rest: (o.astype(np.float64), *rest)),
            "<Sound>: episode 0, step 1: observation: got dtype float64, expected float32: return observation.astype",
        ),
        (
            at(1, lambda o, *rest: ([0.0, 0.0], *rest)),
            "<Sound>: episode 0, step 1: observation: got [0.0, 0.0] (list), expected a NumPy array",
        ),
        (
            at(1, lambda o, r, *rest: (o, float("nan"), *rest)),
            "<Sound>: episode 0, step 1: reward: got nan, expected a finite number",
        ),
        (
            at(1, lambda o, r, *rest: (o, np.ones(1), *rest)),
            "<Sound>: episode 0, step 1: reward: got an array of shape (1,) and dtype float64, expected a real number",
        ),
        (
            at(1, lambda o, r, *rest: (o, None, *rest)),
            "<Sound>: episode 0, step 1: reward: got None (NoneType), expected a real number",
        ),
        (
            at(1, lambda o, r, t, *rest: (o, r, 0, *rest)),
            "<Sound>: episode 0, step 1: terminated: got 0 (int), expected True or False",
        ),
        (
            at(1, lambda o, r, t, u, info: (o, r, t, "no", info)),
            "<Sound>: episode 0, step 1: truncated: got 'no' (str), expected True or False",
        ),
        (
            at(1, lambda o, r, t, u, info: (o, r, t, u, [])),
            "<Sound>: episode 0, step 1: info: got [] (list), expected a dict",
        ),
        (
            never_ends,
            "<Sound>: episode 0: no end after 50 steps: expected terminated or truncated to become True; wrap",
        ),
    ],
)
def test_a_broken_promise_is_named_with_episode_step_and_field(answer, message):
    with pytest.raises(BrokenEnvironmentError) as error:
        probe(Sound(answer), max_steps=50)
    assert str(error.value).startswith(message)


def test_a_sound_environment_passes():
    probe(Sound())
    probe(Sound, episodes=3)


@pytest.mark.parametrize("reward", [1, np.float32(1.0), np.int64(2), 0.5])
def test_any_real_scalar_is_a_reward(reward):
    probe(Sound(lambda t, result: (result[0], reward, *result[2:]) if t else result))


class Unseeded(Sound):
    """Draws from the module `random`, which no seed of Gymnasium reaches."""

    def __init__(self, field):
        def answer(t, result):
            if t == 3 and field == "reward":
                return result[0], random.random(), *result[2:]
            if t == 3 and field == "observation":
                return result[0] + np.float32(random.random()), *result[1:]
            if t == 3 and field == "terminated":
                return *result[:2], bool(next(self.coin)), *result[3:]
            return result

        super().__init__(answer)
        self.coin = iter([False, True])


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("observation", "<Sound>: episode 1, step 3 gave another observation than in episode 0, with the same seed"),
        ("reward", "<Sound>: episode 1, step 3 gave another reward (0."),
        ("terminated", "<Sound>: episode 1, step 3 gave another terminated (True) than in episode 0"),
    ],
)
def test_the_same_seed_must_give_the_same_episode(field, message):
    with pytest.raises(BrokenEnvironmentError) as error:
        probe(Unseeded(field))
    assert str(error.value).startswith(message)


class Worn(Sound):
    """Forgets to reset what it counts: new ones agree, used ones do not."""

    played = 0

    def __init__(self):
        super().__init__(lambda t, result: (result[0], float(self.played), *result[2:]) if t else result)

    def reset(self, *, seed=None, options=None):
        self.played += 1
        return super().reset(seed=seed, options=options)


def test_an_environment_that_only_repeats_itself_when_new_is_accepted_with_a_warning():
    with pytest.warns(UserWarning, match=r"episode 1, step 1 gave another reward .*a new environment gives the same"):
        probe(Worn)
    with pytest.raises(BrokenEnvironmentError, match="expected the same"):
        probe(Worn())


def test_one_episode_cannot_see_randomness():
    probe(Unseeded("reward"), episodes=1)


BOXES = spaces.Dict({"a": spaces.Box(-1.0, 1.0, (2, 3)), "b": spaces.Box(0.0, 1.0, (1,))})


class Seeded(Sound):
    """Samples its observation space, seeded at reset."""

    def reset(self, *, seed=None, options=None):
        self.observation_space.seed(seed)
        return super().reset(seed=seed, options=options)


PAIR = spaces.Tuple((spaces.Discrete(3, start=-1), spaces.Dict({"a": spaces.Box(0.0, 1.0, (1,)), "b": BOXES})))


@pytest.mark.parametrize(
    "space", [BOXES, PAIR, spaces.Discrete(7), spaces.MultiDiscrete([3, 4], start=[1, -2]), spaces.MultiBinary(5)]
)
def test_observations_that_fit_a_vector_are_accepted(space):
    probe(Seeded(observations=space))


def test_a_difference_deep_in_a_tree_is_found():
    def drawn(observation, *rest):
        observation[1]["b"]["b"][0] = random.random()
        return observation, *rest

    with pytest.raises(BrokenEnvironmentError, match="episode 1, step 2 gave another observation"):
        probe(Seeded(at(2, drawn), observations=PAIR))


def test_a_tuple_of_another_length_is_refused():
    for wrong in (lambda o: o[:1], list):
        answer = at(1, lambda o, *rest, wrong=wrong: (wrong(o), *rest))
        with pytest.raises(BrokenEnvironmentError, match=r"step 1: observation: got .*, expected a tuple of 2 values"):
            probe(Seeded(answer, observations=PAIR))


def test_a_part_of_a_tuple_is_named():
    answer = at(1, lambda o, *rest: ((5, o[1]), *rest))
    with pytest.raises(
        BrokenEnvironmentError, match=r"observation\[0\]: got 5 \(int\), expected one of Discrete\(3, sta"
    ):
        probe(Seeded(answer, observations=PAIR))


@pytest.mark.parametrize(
    ("space", "wrong"),
    [(spaces.MultiDiscrete([3, 4]), np.array([0, 4])), (spaces.MultiBinary(2), np.array([0, 2], np.int8))],
)
def test_numbers_that_a_discrete_space_does_not_have_are_refused(space, wrong):
    answer = at(1, lambda o, *rest: (wrong, *rest))
    with pytest.raises(BrokenEnvironmentError, match=r"step 1: observation: got \[0 \d\], expected one of Multi"):
        probe(Seeded(answer, observations=space))


def test_a_missing_key_is_named():
    answer = at(1, lambda o, *rest: ({"a": o["a"]}, *rest))
    with pytest.raises(BrokenEnvironmentError, match=r"(?s)step 1: observation: got \{'a'.*expected a dict of a, b"):
        probe(Seeded(answer, observations=BOXES))


def test_a_part_of_a_dict_is_named():
    answer = at(1, lambda o, *rest: ({"a": o["a"][0], "b": o["b"]}, *rest))
    with pytest.raises(BrokenEnvironmentError, match=r"observation\['a'\]: got shape \(3,\), expected \(2, 3\)"):
        probe(Seeded(answer, observations=BOXES))


def test_a_discrete_observation_out_of_range_is_refused():
    answer = at(2, lambda o, *rest: (7, *rest))
    with pytest.raises(
        BrokenEnvironmentError, match=r"step 2: observation: got 7 \(int\), expected one of Discrete\(7\)"
    ):
        probe(Seeded(answer, observations=spaces.Discrete(7)))


def test_unbounded_actions_are_accepted_with_a_warning():
    with pytest.warns(UserWarning, match="is unbounded"):
        probe(Sound(actions=spaces.Box(-np.inf, np.inf, (2,))))


@pytest.mark.parametrize("space", [spaces.MultiDiscrete([2, 2], start=[1, 5]), spaces.MultiBinary([2, 2])])
def test_several_discrete_actions_are_accepted(space):
    probe(Sound(actions=space))


def test_a_missing_space_is_named():
    env = Sound()
    env.action_space = None
    with pytest.raises(BrokenEnvironmentError, match=r"action_space: got None, expected a gymnasium\.Space"):
        probe(env)


def test_a_factory_must_make_an_environment():
    with pytest.raises(BrokenEnvironmentError, match="the factory: raised OSError: gone"):
        probe(lambda: fail(OSError("gone")))


def test_what_a_factory_made_is_closed_again_also_after_an_error():
    closed = []

    class Closing(Sound):
        def close(self):
            closed.append(self)

    probe(Closing)
    with pytest.raises(BrokenEnvironmentError):
        probe(lambda: Closing(at(1, lambda *_: 1 / 0)))
    assert len(closed) == 2


class Obedient(Sound):
    """Pays the number of the action."""

    def step(self, action):
        observation, _, *rest = super().step(action)
        return observation, float(action), *rest


def test_the_actions_are_the_same_in_every_episode():
    probe(Obedient(actions=spaces.Discrete(1000)), episodes=3)


def test_the_environments_own_sampler_is_left_alone():
    env = Sound()
    env.action_space.seed(5)
    expected = spaces.Discrete(3, seed=5)
    probe(env)
    assert [env.action_space.sample() for _ in range(9)] == [expected.sample() for _ in range(9)]


@pytest.mark.parametrize(
    ("wrapper", "option"),
    [
        (gym.wrappers.NormalizeObservation, "normalise_observations"),
        (gym.wrappers.NormalizeReward, "normalise_returns"),
    ],
)
def test_running_statistics_of_a_wrapper_are_warned_of_by_the_name_of_our_option(wrapper, option):
    def make():
        return gym.wrappers.TimeLimit(wrapper(gym.make("CartPole-v1", disable_env_checker=True)), 20)

    with warnings.catch_warnings(record=True) as caught_warnings:
        warnings.simplefilter("always")
        probe(make)
    pattern = f"{wrapper.__name__} keeps statistics .* set {option} = true"
    assert any(re.search(pattern, str(one.message)) for one in caught_warnings)
