"""What the tests of the fast steppers have in common: the two players, and a comparison of every bit."""

from dataclasses import fields
from functools import cache

import gymnasium as gym
import numpy as np

import steadyrl
from steadyrl.policies import RandomPolicy
from steadyrl.rollouts.batch import Batch
from steadyrl.rollouts.episodes import play
from steadyrl.rollouts.fast.lunarlander import LanderStepper
from steadyrl.rollouts.fast.mujoco import MujocoStepper
from steadyrl.rollouts.stepper import GymnasiumStepper

assert steadyrl.envs  # registers the domains

STEPPERS = {"LunarLander": LanderStepper, "InvertedPendulum": MujocoStepper, "HalfCheetah": MujocoStepper}
LIMITS = {"LunarLander": 500, "InvertedPendulum": 300, "HalfCheetah": 500}


def make(domain, **options):
    return gym.make(f"steadyrl/{domain}-v0", disable_env_checker=True, **options)


class Scripted:
    """A controller that lives longer than chance would let it, with a little chance in it."""

    def __init__(self, domain, action_space):
        self.act = getattr(self, domain)
        self.space = action_space
        self.uniforms_per_action = 1

    def LunarLander(self, observations, uniforms):  # noqa: N802
        """Lean towards the pad, brake in proportion to the fall, and one time in ten do anything."""
        x, y, vx, vy, angle, spin, left, right = observations.astype(np.float64).T
        touching = (left + right) > 0
        turn = np.where(touching, 0.0, 0.5 * (np.clip(0.5 * x + vx, -0.4, 0.4) - angle) - spin)
        lift = np.where(touching, -0.5 * vy, 0.5 * (0.55 * np.abs(x) - y) - 0.5 * vy)
        action = np.select([(lift > np.abs(turn)) & (lift > 0.05), turn < -0.05, turn > 0.05], [2, 3, 1], 0)
        return np.where(uniforms[:, 0] < 0.1, (uniforms[:, 0] * 40).astype(np.int64), action)

    def InvertedPendulum(self, observations, uniforms):  # noqa: N802
        """Push the cart under the pole, some harder than it takes."""
        push = observations @ np.array([[0.3], [8.0], [0.5], [1.2]]) + 2.4 * (uniforms - 0.5)
        return np.clip(push, -3, 3).astype(np.float32)

    def HalfCheetah(self, observations, uniforms):  # noqa: N802
        """A gait of sorts: torques that follow the joints, to either side."""
        mixing = np.sin(np.arange(18 * 6).reshape(18, 6))
        return np.tanh(observations[:, :18] @ mixing + uniforms - 0.5).astype(np.float32)


def policy_of(kind, domain, env):
    return RandomPolicy(env.action_space) if kind == "random" else Scripted(domain, env.action_space)


@cache
def expected(domain, kind, options, n, limit, seed):
    """What plain Gymnasium plays, three episodes at a time."""
    plain = GymnasiumStepper(lambda: make(domain, **dict(options)))
    try:
        return play(policy_of(kind, domain, plain.envs[0]), plain, n, 3, limit, seed, 1)
    finally:
        plain.close()


def fast_batch(domain, kind, options, n, width, limit, seed):
    env = make(domain, **dict(options))
    fast = STEPPERS[domain].of(env, width)
    assert fast is not None
    try:
        return play(policy_of(kind, domain, env), fast, n, width, limit, seed, 1)
    finally:
        fast.close()


def assert_same_bits(a: Batch, b: Batch):
    """Every field: type, shape and bits, so that 0.0 is not -0.0."""
    arrays = {f.name: (getattr(a, f.name), getattr(b, f.name)) for f in fields(Batch) if f.name != "outcomes"}
    assert list(a.outcomes) == list(b.outcomes)
    for name, (x, y) in (arrays | {name: (a.outcomes[name], b.outcomes[name]) for name in a.outcomes}).items():
        assert (x.dtype, x.shape) == (y.dtype, y.shape), name
        differing = np.argwhere(x != y)
        assert x.tobytes() == y.tobytes(), f"{name} differs, first at {differing[:1].tolist()}"


def short(domain, kind):
    """Episodes enough to see every kind of end; the cheetah has one kind only, and it is the slowest."""
    if domain == "HalfCheetah":
        return (("max_steps", 60),), 4, 60
    return (), 10 if kind == "scripted" else 40, LIMITS[domain]
