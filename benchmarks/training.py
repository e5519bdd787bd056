"""Training with networks: an iteration of ours against Stable-Baselines3 and a loop in plain torch.

    make bench        (or: python benchmarks/training.py [--quick])

Ratios are of CPU times in one process on one thread, the best of interleaved repetitions each. All play the same domain
with the same policy, which does not change: learning rates are so small that no weight does, but all the work is done.
The others' environments are made without Gymnasium's checker and without a monitor. SyncVectorEnv continues with
environments whose episode is over until the last one is; only the steps of the episodes count. Physics is all that our
stepper does: Box2D or MuJoCo, rewards, noise, reports, resets.
"""

import argparse
import os
import sys
import time
from dataclasses import dataclass

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import gymnasium as gym
import mujoco
import numpy as np
import stable_baselines3
import torch
from stable_baselines3.common.vec_env import DummyVecEnv
from torch_loop import TorchLoop, copy_weights

from steadyrl.actors.network import NetworkActor
from steadyrl.actors.options import NetworkOptions
from steadyrl.algorithms.ppo import PPO
from steadyrl.algorithms.ppo_options import PPOOptions
from steadyrl.algorithms.reinforce import Reinforce, ReinforceOptions
from steadyrl.policies.networks import CategoricalNetwork, GaussianNetwork
from steadyrl.policies.values import ValueNetwork
from steadyrl.rollouts import Collector

STILL = 1e-12
"""A learning rate at which no float32 weight moves."""
LANDERS, CHEETAHS = 30, 12
SHARES = ("physics", "acting", "policy update", "value update", "rest")


class Clock:
    """Adds up the CPU time that functions take."""

    def __init__(self):
        self.seconds = {}

    def on(self, owner, name, part):
        """Time a method of one object from now on."""
        method = getattr(owner, name)

        def timed(*arguments, **options):
            start = time.process_time()
            try:
                return method(*arguments, **options)
            finally:
                self.seconds[part] = self.seconds.get(part, 0.0) + time.process_time() - start

        setattr(owner, name, timed)


@dataclass
class Ours:
    """A learner of ours and its collector."""

    learner: Reinforce | PPO
    collector: Collector
    n: int
    count: int = 0

    def iteration(self):
        """Collect n episodes and update; their steps."""
        self.count += 1
        batch = self.collector.collect(self.learner.policy, self.n, 0, self.count)
        self.learner.update(batch, self.count)
        return batch.steps

    def shares(self, repetitions):
        """Where the time of an iteration goes."""
        clock, learner = Clock(), self.learner
        stepper = self.collector._stepper
        for name in ("reset", "step"):
            clock.on(stepper, name, "physics")
        clock.on(learner.policy, "act", "acting")
        clock.on(learner.actor, "fit_values", "value update")
        self._time_parts(clock)
        clock.on(learner, "update", "update")
        start = time.process_time()
        for _ in range(repetitions):
            self.iteration()
        total, seconds = time.process_time() - start, clock.seconds
        seconds["policy update"] = seconds.pop("update") - seconds["value update"]
        seconds["rest"] = total - sum(seconds.values())
        return {name: seconds[name] / total for name in SHARES}

    def _time_parts(self, clock):
        """PPO fits values by parts of the steps, which are another object at every update."""
        steps_of = self.learner.actor.steps

        def timed_steps(batch):
            steps = steps_of(batch)
            clock.on(steps, "fit_values", "value update")
            return steps

        self.learner.actor.steps = timed_steps


class Theirs:
    """A model of Stable-Baselines3; an iteration is a rollout of n_steps of every environment and an update."""

    def __init__(self, kind, name, n, hidden, activation, **options):
        envs = DummyVecEnv([lambda: make(name)] * n)
        layers = {"pi": list(hidden), "vf": list(hidden)}
        shape = {"net_arch": layers, "activation_fn": activation}
        self.model = kind("MlpPolicy", envs, learning_rate=STILL, policy_kwargs=shape, device="cpu", seed=0, **options)
        self.per_iteration = self.model.n_steps * n
        self.model.learn(1)
        self.clock = Clock()
        self.clock.on(self.model, "train", "update")
        self.clock.on(envs, "step_wait", "physics")

    def take_over(self, policy):
        """Act as a policy of ours does."""
        own = self.model.policy
        copy_weights(policy.layers, [*own.mlp_extractor.policy_net[::2], own.action_net])

    def iterations(self, count):
        """So many iterations, the episodes continuing from one to the next; their steps."""
        self.model.learn(count * self.per_iteration, log_interval=None, reset_num_timesteps=False)
        return count * self.per_iteration

    def shares(self, repetitions):
        """Where the time of an iteration goes; policy and value are updated together."""
        self.clock.seconds.clear()
        start = time.process_time()
        self.iterations(repetitions)
        total = time.process_time() - start
        physics, update = (self.clock.seconds[part] / total for part in ("physics", "update"))
        return f"{physics:.0%} | | {update:.0%} together | | {1 - physics - update:.0%}"


def make(name):
    return gym.make(f"steadyrl/{name}-v0", disable_env_checker=True)


def timed(work):
    """CPU seconds a step, and how many steps there were."""
    start = time.process_time()
    steps = work()
    return (time.process_time() - start) / steps, steps


def best(works, repetitions):
    """The least CPU seconds a step of each kind of work, and the mean number of steps, repeated in turns."""
    times = {name: [] for name in works}
    for _ in range(repetitions):
        for name, work in works.items():
            times[name].append(timed(work))
    return {name: (min(values)[0], np.mean([steps for _, steps in values])) for name, values in times.items()}


def lander():
    collector = Collector("steadyrl/LunarLander-v0")
    spaces = collector.observation_space, collector.action_space
    actor = NetworkActor(CategoricalNetwork(*spaces), ValueNetwork(spaces[0]), NetworkOptions(STILL, STILL))
    return Ours(Reinforce(actor, ReinforceOptions(lam=1.0)), collector, LANDERS)


def flown(updates):
    """A lander whose policy has had some updates of PPO: it stays in the air for longer."""
    one = lander()
    rates = NetworkOptions(1e-3, 1e-3, max_grad_norm=0.5)
    actor = NetworkActor(one.learner.policy, ValueNetwork(one.collector.observation_space), rates)
    pilot = PPO(actor, PPOOptions(lam=0.0, inner_updates=8, minibatch_size=200))
    for k in range(updates):
        pilot.update(one.collector.collect(pilot.policy, LANDERS, 0, k), k)
    return one


def lander_row(what, ours, repetitions):
    """REINFORCE on LunarLander: steps/s as a ratio to the others'."""
    policy, shape = ours.learner.policy, (lambda: make("LunarLander"), LANDERS, (128, 128), 0.999, STILL)
    sync, live = TorchLoop(*shape, live_only=False), TorchLoop(*shape, live_only=True)
    for loop in (sync, live):
        copy_weights(policy.layers, loop.actor[::2])
    a2c = Theirs(stable_baselines3.A2C, "LunarLander", LANDERS, (128, 128), torch.nn.ReLU)
    a2c.take_over(policy)
    seeds = iter(range(0, 10**9, LANDERS))
    works = {
        "ours": ours.iteration,
        "sync": lambda: sync.iteration(next(seeds)),
        "live": lambda: live.iteration(next(seeds)),
        "a2c": lambda: a2c.iterations(20),
    }
    times = best(works, repetitions)
    ratios = " | ".join(f"{times[name][0] / times['ours'][0]:.2f}" for name in ("sync", "a2c", "live"))
    lengths = ", ".join(f"{times[name][1] / LANDERS:.0f}" for name in ("ours", "sync", "live"))
    print(f"| {what} | {lengths} | {1 / times['ours'][0]:,.0f} | {ratios} |", flush=True)


@dataclass(frozen=True)
class Domain:
    """What PPO is timed on: both have these networks, as many steps and mini-batches, and ten passes."""

    name: str
    network: type
    hidden: tuple[int, ...]
    activation: str
    episodes: int
    steps: int
    """Of an episode; of the lander's, about so many."""

    def ours(self, parts, lam):
        collector = Collector(f"steadyrl/{self.name}-v0")
        spaces = (collector.observation_space, collector.action_space)
        shape = {"hidden": self.hidden, "activation": self.activation}
        policy, value = self.network(*spaces, **shape), ValueNetwork(spaces[0], **shape)
        actor = NetworkActor(policy, value, NetworkOptions(STILL, STILL, max_grad_norm=0.5))
        options = PPOOptions(lam=lam, inner_updates=10, minibatch_size=self.episodes * self.steps // parts)
        return Ours(PPO(actor, options), collector, self.episodes)

    def theirs(self, parts):
        options = {"n_steps": self.steps, "batch_size": self.episodes * self.steps // parts, "n_epochs": 10}
        activation = {"relu": torch.nn.ReLU, "tanh": torch.nn.Tanh}[self.activation]
        return Theirs(stable_baselines3.PPO, self.name, self.episodes, self.hidden, activation, **options)


PPO_DOMAINS = (
    Domain("LunarLander", CategoricalNetwork, (64, 64), "tanh", LANDERS, 90),
    Domain("HalfCheetah", GaussianNetwork, (256, 256), "relu", CHEETAHS, 500),
)


def ppo_rows(domain, parts, repetitions):
    """PPO: the time of a step as a ratio to Stable-Baselines3's; where an iteration of ours goes, and of theirs."""
    theirs = domain.theirs(parts)
    ours = {f"ours, lam = {lam:g}": domain.ours(parts, lam) for lam in (0.0, 1.0)}
    works = {name: one.iteration for name, one in ours.items()} | {"theirs": lambda: theirs.iterations(1)}
    found = best(works, repetitions)
    shown = theirs.shares(max(2, repetitions // 3))
    steps = domain.episodes * domain.steps
    for name, one in ours.items():
        ratio, update = found["theirs"][0] / found[name][0], found[name][0] * steps
        shares = one.shares(max(2, repetitions // 3))
        print(f"| {parts} | {name} | {ratio:.2f} | {update:.2f} s | {percent(shares)} |", flush=True)
    print(f"| {parts} | Stable-Baselines3 | 1 | {found['theirs'][0] * steps:.2f} s | {shown} |", flush=True)


def percent(shares):
    return " | ".join(f"{shares[name]:.0%}" for name in SHARES)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    repetitions = 3 if parser.parse_args().quick else 10
    torch.set_num_threads(1)
    mujoco.set_mju_user_warning(lambda _: None)  # Gymnasium's cheetah has an attribute that MuJoCo 4 warns of
    versions = f"stable-baselines3 {stable_baselines3.__version__}, torch {torch.__version__}"
    print(f"# Training ({versions}, gymnasium {gym.__version__}, Python {sys.version.split()[0]})")
    landers = {"as it begins": lander(), "after 15 updates of PPO": flown(15)}
    print(f"\n## LunarLander, REINFORCE: {LANDERS} episodes and an update; steps/s, times as fast as\n")
    print("| policy | steps an episode: ours, SyncVectorEnv, live only | ours, steps/s | torch loop, SyncVectorEnv "
          "| Stable-Baselines3 A2C | torch loop, live only |\n|---|---|---|---|---|---|")  # fmt: skip
    for what, ours in landers.items():
        lander_row(what, ours, repetitions)
    print("| target | | | 2 | 2 | |")
    print(f"\n| policy | {' | '.join(SHARES)} |\n|---|---|---|---|---|---|")
    for what, ours in landers.items():
        print(f"| {what} | {percent(ours.shares(repetitions))} |", flush=True)
    print("| target | at least 60% | | | | |")
    for domain in PPO_DOMAINS:
        shape = f"{domain.episodes} episodes of {domain.steps} steps, hidden layers {domain.hidden}, 10 passes"
        print(f"\n## {domain.name}, PPO: {shape}; times as fast as Stable-Baselines3\n")
        print(
            f"| mini-batches | | ratio | an iteration | {' | '.join(SHARES)} |\n|---|---|---|---|---|---|---|---|---|"
        )
        for parts in (1, 30 if domain.name == "HalfCheetah" else 10):
            ppo_rows(domain, parts, max(3, repetitions // 2))
        print("| target | | 1 | | | | | | |")


if __name__ == "__main__":
    main()
