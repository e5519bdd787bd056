"""Gymnasium's checker, Stable-Baselines3's checker and our own probe accept all environments."""

import os

import gymnasium as gym
import pytest
from gymnasium.utils.env_checker import check_env as gymnasium_check
from stable_baselines3.common.env_checker import check_env as sb3_check

from steadyrl.envs import DOMAINS, SMALL_DOMAINS
from steadyrl.envs.probe import probe

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")

IDS = [domain.id for domain in (*DOMAINS, *SMALL_DOMAINS)]
MUJOCO = {"steadyrl/InvertedPendulum-v0", "steadyrl/HalfCheetah-v0"}


# What the checkers say of Gymnasium's own environments inside ours: wrapped, unbounded, actions not in [-1, 1].
@pytest.mark.filterwarnings("ignore:.*The environment .* is different from the unwrapped version")
@pytest.mark.filterwarnings("ignore:.*A Box observation space (minimum|maximum) value is -?infinity")
@pytest.mark.filterwarnings("ignore:.*For Box action spaces, we recommend using a symmetric and normalized space")
@pytest.mark.parametrize("name", IDS)
def test_gymnasiums_checker_passes(name):
    env = gym.make(name, disable_env_checker=True)
    gymnasium_check(env.unwrapped if name == "steadyrl/Maze-v0" else env, skip_render_check=name in MUJOCO)


@pytest.mark.filterwarnings("ignore:.*We recommend you to use a symmetric and normalized Box action space")
@pytest.mark.parametrize("name", IDS)
def test_stable_baselines3s_checker_passes(name):
    sb3_check(gym.make(name))


@pytest.mark.parametrize("name", IDS)
def test_our_own_probe_passes(name):
    probe(lambda: gym.make(name))
