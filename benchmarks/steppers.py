"""Stepping the three continuous domains: our steppers against Gymnasium's SyncVectorEnv and our plain one.

    make bench        (or: python benchmarks/steppers.py [--quick])

Every number is a ratio of two timings of the same process on one thread, the best of interleaved repetitions each.
SyncVectorEnv steps Gymnasium's own environments, without its checker and without our reward noise and reports; ours do
all of it.
"""

import argparse
import os
import sys
import time
from itertools import pairwise

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import gymnasium as gym
import mujoco
import numpy as np
from gymnasium import spaces
from scipy.special import ndtri

import steadyrl  # noqa: F401  registers the environments
from steadyrl.policies import RandomPolicy
from steadyrl.policies.protocol import categorical
from steadyrl.rollouts.episodes import play
from steadyrl.rollouts.fast.lunarlander import LanderStepper
from steadyrl.rollouts.fast.mujoco import MujocoStepper
from steadyrl.rollouts.stepper import GymnasiumStepper

BALANCE = np.array([[0.3], [8.0], [0.5], [1.2]], dtype=np.float32)
"""A linear controller that keeps the pendulum up for a whole episode."""


class Domain:
    """A domain of ours, Gymnasium's environment below it, and n episodes' worth of slots for both."""

    def __init__(self, name, base, kind, n, target, feedback=None):
        self.name = name
        self.n = n
        self.target = target
        self.feedback = feedback
        self.env = self.make()
        self.limit = self.env.get_wrapper_attr("_max_episode_steps")
        self.lean = kind.of(self.env, n)
        self.plain = GymnasiumStepper(self.make)
        below = {"max_episode_steps": self.limit, "disable_env_checker": True}
        self.sync = gym.make_vec(base, n, vectorization_mode="sync", **below)
        space, rng = self.env.action_space, np.random.default_rng(0)
        if isinstance(space, spaces.Discrete):
            self.random_actions = rng.integers(space.n, size=(self.limit, n))
        else:
            shape = (self.limit, n, *space.shape)
            self.random_actions = rng.uniform(space.low, space.high, shape).astype(np.float32)

    def make(self):
        return gym.make(f"steadyrl/{self.name}-v0", disable_env_checker=True)

    def actions(self, t, observations, slots):
        if self.feedback is None:
            return self.random_actions[t % self.limit, slots]
        return observations.astype(np.float32) @ self.feedback

    def step_ours(self, stepper):
        """CPU seconds a step of n whole episodes, only live ones stepped."""
        start = time.process_time()
        steps = 0
        slots = np.arange(self.n)
        observations = np.stack([stepper.reset(k, k) for k in range(self.n)])
        t = 0
        while slots.size:
            stepped = stepper.step(slots, self.actions(t, observations, slots))
            steps += slots.size
            t += 1
            live = ~(stepped.terminated | stepped.truncated)
            slots, observations = slots[live], stepped.observations[live]
        return (time.process_time() - start) / steps, steps

    def step_sync(self, steps):
        """CPU seconds a step of as many steps with SyncVectorEnv, which begins a new episode where one has ended."""
        every = np.arange(self.n)
        start = time.process_time()
        done = 0
        t = 0
        over = np.zeros(self.n, dtype=bool)
        observations, _ = self.sync.reset(seed=0)
        while done < steps:
            observations, _, terminated, truncated, _ = self.sync.step(self.actions(t, observations, every))
            done += self.n - over.sum()  # a slot whose episode was over has been reset, not stepped
            over = terminated | truncated
            t += 1
        return (time.process_time() - start) / done


class Network:
    """Two hidden layers of 128 in NumPy; a categorical or a Gaussian action."""

    def __init__(self, env):
        self.space, rng = env.action_space, np.random.default_rng(0)
        self.discrete = isinstance(self.space, spaces.Discrete)
        self.outputs = int(self.space.n) if self.discrete else self.space.shape[0]
        self.uniforms_per_action = 1 if self.discrete else self.outputs
        sizes = [env.observation_space.shape[0], 128, 128, self.outputs]
        self.layers = [rng.normal(0, i**-0.5, (i, o)).astype(np.float32) for i, o in pairwise(sizes)]

    def act(self, observations, uniforms):
        first, second, last = self.layers
        x = np.tanh(np.tanh(observations.astype(np.float32) @ first) @ second) @ last
        if not self.discrete:
            return np.clip(0.1 * x + 0.1 * ndtri(uniforms), self.space.low, self.space.high).astype(np.float32)
        e = np.exp(x - x.max(axis=1, keepdims=True))
        return categorical(e / e.sum(axis=1, keepdims=True), uniforms[:, 0])


class Timed:
    """A policy that adds up the time it takes to act."""

    def __init__(self, policy):
        self.policy, self.seconds = policy, 0.0
        self.uniforms_per_action = policy.uniforms_per_action

    def act(self, observations, uniforms):
        start = time.perf_counter()
        actions = self.policy.act(observations, uniforms)
        self.seconds += time.perf_counter() - start
        return actions


def stepping(domains, repetitions):
    print("\n## Stepping: times as fast as\n\n| domain | episodes | SyncVectorEnv | our plain stepper | target |")
    print("|---|---|---|---|---|")
    for domain in domains:
        lean = []
        plain = []
        sync = []
        for _ in range(repetitions):
            seconds, steps = domain.step_ours(domain.lean)
            lean.append(seconds)
            plain.append(domain.step_ours(domain.plain)[0])
            sync.append(domain.step_sync(steps))
        acting = "random" if domain.feedback is None else "balancing"
        ratios = f"{min(sync) / min(lean):.2f} | {min(plain) / min(lean):.2f}"
        print(f"| {domain.name} | {domain.n}, {acting}, {steps:,} steps | {ratios} | {domain.target} |", flush=True)


def acting(domains, repetitions):
    print("\n## Acting: its share of the time of collection (target: at most 20 %)\n")
    print("| domain | random | network, 2 x 128 |\n|---|---|---|")
    for domain in domains:
        shares = []
        for policy in (RandomPolicy(domain.env.action_space), Network(domain.env)):
            rows = []
            for iteration in range(repetitions):
                timed, start = Timed(policy), time.perf_counter()
                play(timed, domain.lean, domain.n, domain.n, domain.limit, 0, iteration)
                rows.append(timed.seconds / (time.perf_counter() - start))
            shares.append(f"{np.median(rows):.0%}")
        print(f"| {domain.name} | {' | '.join(shares)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    repetitions = 3 if parser.parse_args().quick else 15
    mujoco.set_mju_user_warning(lambda _: None)  # Gymnasium's cheetah has an attribute that MuJoCo 4 warns of
    domains = [
        Domain("LunarLander", "LunarLander-v3", LanderStepper, 30, 1.6),
        Domain("InvertedPendulum", "InvertedPendulum-v5", MujocoStepper, 30, 1.3),
        Domain("InvertedPendulum", "InvertedPendulum-v5", MujocoStepper, 30, 1.3, BALANCE),
        Domain("HalfCheetah", "HalfCheetah-v5", MujocoStepper, 12, 1.6),
    ]
    print(f"# Steppers (gymnasium {gym.__version__}, mujoco {mujoco.__version__}, Python {sys.version.split()[0]})")
    stepping(domains, repetitions)
    acting([d for d in domains if d.feedback is None], max(3, repetitions // 3))


if __name__ == "__main__":
    main()
