"""Vector environments of the user's: the very episodes of their environments, or a reason why not."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv, VectorWrapper
from gymnasium.wrappers import TimeLimit

from steadyrl.ground.errors import BadInputError
from steadyrl.policies import RandomPolicy
from steadyrl.rollouts import Collector, EpisodeError, collect
from steadyrl.rollouts.vector import VectorStepper
from steadyrl.runs import Callback, train
from steadyrl.runs.view import Quiet
from tests.rollouts.faulty import Lengths
from tests.rollouts.test_collect import assert_same
from tests.runs import envs

POLICY = RandomPolicy(Lengths.action_space)


class Bare(Lengths):
    """Without an array in its info: a vector environment would make another thing of it."""

    def step(self, action):
        *rest, info = super().step(action)
        del info["array"]
        return *rest, info


class Tree(Bare):
    """Observations that are a Dict, actions from 5 on."""

    observation_space = spaces.Dict({"x": spaces.Box(-9, 9, (3,), np.float32), "k": spaces.Discrete(2)})
    action_space = spaces.Discrete(3, start=5)

    def observation(self):
        return {"x": super().observation(), "k": int(self.np_random.integers(2))}


@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED])
@pytest.mark.parametrize("kind", [SyncVectorEnv, AsyncVectorEnv])
def test_a_vector_environment_plays_the_episodes_of_its_environments(kind, mode, width):
    vector = kind([Bare] * width, autoreset_mode=mode)
    collector = Collector(vector, limit=9)
    for iteration, n in enumerate((7, 2)):
        assert_same(collector.collect(POLICY, n, 3, iteration), collect(POLICY, Bare, n, 3, iteration, limit=9))
    collector.close()


def test_trees_and_actions_from_anywhere_are_those_of_a_batch():
    policy = RandomPolicy(Tree.action_space)
    vector = SyncVectorEnv([Tree] * 2)
    assert_same(collect(policy, vector, 5, 0, limit=20), collect(policy, Tree, 5, 0, limit=20))


def test_the_time_limit_is_that_of_its_registration():
    assert Collector(gym.make_vec("CartPole-v1", 2, vectorization_mode="sync")).limit == 500
    with pytest.raises(ValueError, match="has no time limit: give limit"):
        Collector(SyncVectorEnv([Bare] * 2))
    with pytest.raises(ValueError, match="has no time limit that can be seen: give limit"):
        Collector(All())


class All(VectorEnv):
    """Begins all episodes again at every reset."""

    num_envs = 2
    single_observation_space, single_action_space = spaces.Box(-1, 1, (1,), np.float64), spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        self.t = np.array(seed, dtype=float)
        return self.t[:, None] / 10, {}

    def step(self, actions):
        self.t += 1
        return self.t[:, None] / 10, np.ones(2), self.t > 9, np.zeros(2, bool), {}


class Chance(All):
    def reset(self, *, seed=None, options=None):
        return np.random.default_rng().random((2, 1)), {}

    def step(self, actions):
        return np.zeros((2, 1)), np.ones(2), np.zeros(2, bool), np.zeros(2, bool), {}


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (All, r"whatever its reset_mask says: give what makes one of its environments, and workers"),
        (Chance, r"gave another first observation than before"),
        (lambda: gym.make_vec("CartPole-v1", 2, vectorization_mode="vector_entry_point"), "cannot begin one by one"),
        (lambda: SyncVectorEnv([Bare] * 2, autoreset_mode=AutoresetMode.SAME_STEP), "must be NEXT_STEP or DISABLED"),
    ],
)
def test_one_whose_episodes_cannot_begin_one_by_one_is_refused_with_the_reason(make, reason):
    with pytest.raises(ValueError, match=reason):
        VectorStepper(make())


class Burning(Bare):
    def step(self, action):
        if self.left == 2:
            raise RuntimeError("the motor is on fire")
        return super().step(action)


def test_an_environment_that_raises_is_among_the_episodes_named():
    with pytest.raises(EpisodeError, match=r"one of episodes \d+(, \d+)*: RuntimeError: the motor is on fire"):
        collect(POLICY, SyncVectorEnv([Burning] * 2), 8, 0, limit=20)


def test_workers_do_not_take_a_vector_environment_and_a_run_takes_what_makes_it(tmp_path):
    with pytest.raises(ValueError, match=r"workers = 2: must be 1: a vector environment has its own way"):
        Collector(SyncVectorEnv([Bare] * 2), limit=9, workers=2)
    with pytest.raises(BadInputError, match="anew at every checkpoint: give a function that makes it, such as lambda"):
        train(SyncVectorEnv([Bare] * 2), out=tmp_path / "run")


class Walks(SyncVectorEnv):
    """A vector environment as a class of the user's."""

    def __init__(self):
        super().__init__([envs.walk] * 3)


class Once(VectorWrapper):
    """A vector environment in a wrapper, with a draw of its own."""

    def __init__(self):
        super().__init__(Walks())

    def step(self, actions):
        observations, rewards, *rest = super().step(actions)
        return observations, rewards + np.random.default_rng().random(3), *rest


def asynchronous():
    return AsyncVectorEnv([envs.walk] * 2)


FIELDS = {"n": 7, "updates": 5, "checkpoint_every": 2, "evaluate_every": 2, "evaluate_episodes": 5, "limit": 20}


@pytest.mark.parametrize("make", [Walks, asynchronous])
def test_a_run_in_a_vector_environment_has_the_numbers_of_one_in_its_environments(make, tmp_path):
    alone = train(envs.walk, out=tmp_path / "alone", view=Quiet(), **FIELDS)
    many = train(make, out=tmp_path / "many", view=Quiet(), **FIELDS)
    assert many.metrics() == alone.metrics()
    np.testing.assert_array_equal(many.policy.theta, alone.policy.theta)
    np.testing.assert_array_equal(many.evaluate(5).returns, alone.evaluate(5).returns)


def test_a_run_in_a_vector_environment_is_resumed_to_the_byte(tmp_path):
    class Stops(Callback):
        def updated(self, progress):
            if progress.update == 3:
                raise KeyboardInterrupt

    whole = train(Walks, out=tmp_path / "whole", view=Quiet(), **FIELDS)
    with pytest.raises(KeyboardInterrupt):
        train(Walks, out=tmp_path / "parts", view=Quiet(), callbacks=[Stops()], **FIELDS)
    again = train(Walks, out=tmp_path / "parts", view=Quiet(), **FIELDS)
    for name in ("metrics.jsonl", "ckpt-5"):
        assert (again.folder / name).read_bytes() == (whole.folder / name).read_bytes()


def test_a_vector_environment_that_does_not_repeat_itself_is_refused(tmp_path):
    with pytest.raises(BadInputError, match="gave other rewards with the same seeds and actions: draw every random"):
        train(Once, out=tmp_path / "run", view=Quiet(), **FIELDS)
    with pytest.raises(BadInputError, match=r'of = "cost": .*: must be one environment'):
        train(Walks, out=tmp_path / "run", view=Quiet(), of="cost", lam=1.0, **FIELDS)


def test_the_time_limit_of_the_environments_inside_is_taken():
    inside = SyncVectorEnv([lambda: TimeLimit(Bare(), 13)] * 2)
    assert Collector(inside).limit == 13
