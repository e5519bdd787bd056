"""The stream of reward noise: numbered draws, reproducible resets, nothing shared with the environment's own stream."""

import numpy as np

from steadyrl.envs._draws import RewardDraws
from steadyrl.envs.noise import Gaussian
from steadyrl.ground import streams


def episode(draws, seed, n=3):
    draws.reset(seed)
    return [draws.draw() for _ in range(n)]


def test_draw_k_of_a_seeded_episode_is_the_quantile_of_number_k_of_its_stream():
    noise = Gaussian(-1.0, 20.0)
    key = streams.key(11, streams.REWARD_NOISE)
    assert episode(RewardDraws(noise), 11) == [noise.quantile(streams.uniform(key, k)) for k in range(3)]


def test_a_function_gets_a_generator_made_from_the_key():
    rng = np.random.default_rng(streams.key(11, streams.REWARD_NOISE))
    expected = [float(rng.normal()) for _ in range(3)]
    assert episode(RewardDraws(lambda rng: rng.normal()), 11) == expected


def test_unseeded_resets_after_a_seed_are_reproducible_and_differ_from_each_other():
    one, other = RewardDraws(Gaussian()), RewardDraws(Gaussian())
    runs = [[episode(draws, seed) for seed in (5, None, None)] for draws in (one, other)]
    assert runs[0] == runs[1]
    assert len({tuple(numbers) for numbers in runs[0]}) == 3


def test_a_seed_starts_the_count_of_unseeded_resets_again():
    draws = RewardDraws(Gaussian())
    first = [episode(draws, seed) for seed in (5, None)]
    assert [episode(draws, seed) for seed in (5, None)] == first


def test_without_any_seed_two_environments_differ():
    assert episode(RewardDraws(Gaussian()), None) != episode(RewardDraws(Gaussian()), None)


def test_levels_keep_stacked_wrappers_apart():
    numbers = [tuple(episode(RewardDraws(Gaussian(), level), 5)) for level in range(3)]
    assert len(set(numbers)) == 3
