"""Whatever is in the list of spaces trains, is evaluated, saved and loaded, and predicts as its environment speaks."""

import numpy as np
import pytest
import torch
from gymnasium import spaces
from gymnasium.spaces.utils import flatten
from gymnasium.wrappers import TimeLimit

import steadyrl
from steadyrl.envs.codecs import ActionCodec, ObservationCodec
from steadyrl.envs.spaces import choices
from steadyrl.policies import RandomPolicy, TabularSoftmax, load_policy, save_policy
from steadyrl.rollouts import Collector, EpisodeError, collect
from steadyrl.runs.view import Quiet
from tests.every_space import ACTIONS, OBSERVATIONS, TREES, Walk

torch.set_num_threads(1)


def limited(observation_space, action_space):
    return lambda: TimeLimit(Walk(observation_space, action_space), 20)


@pytest.mark.parametrize("action_space", ACTIONS.values(), ids=ACTIONS)
@pytest.mark.parametrize("observation_space", OBSERVATIONS.values(), ids=OBSERVATIONS)
def test_every_pair_of_spaces_trains_and_predicts_after_it_was_saved(observation_space, action_space, tmp_path):
    make = limited(observation_space, action_space)
    run = steadyrl.train(
        make, n=4, updates=2, limit=20, out=tmp_path / "run", view=Quiet(), policy="network", hidden=(8,)
    )
    assert (run.status, run.update) == ("finished", 2)
    assert np.isfinite(run.evaluate(6).returns).all()
    assert run.policy.uniforms_per_action == max(int(np.prod(action_space.shape)), 1)

    collector = Collector(make, limit=20)
    batch = collector.collect(run.policy, 5, seed=1, iteration=0)
    observations, actions = batch.observations[batch.mask], batch.actions[batch.mask]
    assert batch.observations.shape[2:] == ObservationCodec(observation_space).batch_space.shape
    assert batch.actions.dtype == action_space.dtype
    log_prob, entropy = run.policy.log_prob(observations, actions), run.policy.entropy(observations)
    assert log_prob.shape == entropy.shape == (batch.steps,)
    assert torch.isfinite(log_prob).all()
    if choices(action_space).size:
        bound = float(np.log(choices(action_space)).sum())
        assert (log_prob <= 0).all()
        assert (entropy <= bound + 1e-5).all()

    path = tmp_path / "policy.safetensors"
    save_policy(run.policy, path)
    policy = load_policy(path)
    assert policy.observation_space == observation_space
    assert policy.action_space == action_space
    observation_space.seed(3)
    for observation in (observation_space.sample() for _ in range(5)):
        for options in ({}, {"deterministic": False, "rng": 4}):
            action = policy.predict(observation, **options)
            np.testing.assert_array_equal(action, run.policy.predict(observation, **options), strict=True)
            assert action_space.contains(action)
    np.testing.assert_array_equal(collector.collect(policy, 5, seed=1, iteration=0).actions, batch.actions)


@pytest.mark.parametrize("observation_space", TREES.values(), ids=TREES)
def test_the_batch_has_the_flat_observations_of_the_environment(observation_space):
    make, policy = limited(observation_space, spaces.Discrete(2)), RandomPolicy(spaces.Discrete(2))
    observations = []

    class Watched(Walk):
        def reset(self, **options):
            observation, info = super().reset(**options)
            observations.append([flatten(observation_space, observation)])
            return observation, info

        def step(self, action):
            observation, *rest = super().step(action)
            observations[-1].append(flatten(observation_space, observation))
            return observation, *rest

    batch = collect(policy, lambda: Watched(observation_space, spaces.Discrete(2)), 3, 0, limit=20, width=1)
    assert batch.lengths.tolist() == [8, 8, 8]
    np.testing.assert_array_equal(batch.observations, [episode[:-1] for episode in observations])
    np.testing.assert_array_equal(batch.last_observations, [episode[-1] for episode in observations])
    wide = collect(policy, make, 3, 0, limit=20, width=3)
    np.testing.assert_array_equal(wide.observations, batch.observations)


@pytest.mark.parametrize("action_space", ACTIONS.values(), ids=ACTIONS)
def test_the_environment_gets_its_own_actions_for_those_of_the_batch(action_space):
    actions = []

    class Watched(Walk):
        def step(self, action):
            actions.append(np.copy(action))
            return super().step(action)

    make = lambda: Watched(spaces.Box(-1, 1, (1,)), action_space)  # noqa: E731
    batch = collect(RandomPolicy(action_space), make, 3, 0, limit=20, width=1)
    own = ActionCodec(action_space).decode(batch.actions)
    np.testing.assert_array_equal(own.reshape(24, *action_space.shape), actions)


def test_a_table_plays_whatever_its_spaces_start_from():
    """Moved along, the same environment gives the same episodes."""

    def play(first_state, first_action):
        class Line(Walk):
            def step(self, action):
                _, reward, *rest = super().step(action)
                return int(action - first_action + first_state), reward - action, *rest

        make = lambda: Line(spaces.Discrete(3, start=first_state), spaces.Discrete(3, start=first_action))  # noqa: E731
        theta = np.random.default_rng(0).normal(size=(3, 3))
        return collect(TabularSoftmax(theta, first_state, first_action), make, 9, 0, limit=20)

    plain, moved = play(0, 0), play(-7, 5)
    for name in ("observations", "actions", "lengths"):
        np.testing.assert_array_equal(getattr(moved, name), getattr(plain, name), strict=True)
    assert set(moved.observations.ravel().tolist()) == {0, 1, 2}


def test_an_observation_outside_its_tree_names_the_episode_and_the_step():
    space = spaces.Tuple((spaces.Discrete(2, start=1), spaces.Box(0, 1, (1,))))

    class Broken(Walk):
        def step(self, action):
            observation, *rest = super().step(action)
            return ((0, observation[1]) if self.t == 3 else observation), *rest

    with pytest.raises(
        EpisodeError, match=r"episode 0, step 2: .*observation\[0\] = 0: must be in Discrete\(2, start=1\)"
    ):
        collect(RandomPolicy(spaces.Discrete(2)), lambda: Broken(space, spaces.Discrete(2)), 2, 0, limit=20)


def test_a_policy_that_does_not_count_from_zero_is_told():
    class Own:
        uniforms_per_action = 0

        def act(self, observations, uniforms):
            return np.full(len(observations), 7)

    make = lambda: Walk(spaces.Box(0, 1), spaces.Discrete(3, start=5))  # noqa: E731
    with pytest.raises(EpisodeError, match=r"action 7: must be in Discrete\(3\), counted from 0"):
        collect(Own(), make, 2, 0, limit=20)
