"""Maze, collection plus update: compiled code of ours against the same loop in C and in plain Python.

    make bench        (or: python benchmarks/maze.py [--quick])

Same maze, same random streams, same algorithm (Algorithm 1, Gini deviation, n = 50, uniform red reward), one thread
each, timed in turns; the number given is steps a second, as a ratio.
"""

import argparse
import json
import math
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import gymnasium as gym
import numpy as np

from steadyrl.actors.options import TableOptions
from steadyrl.actors.table import TableActor
from steadyrl.algorithms.in_step import InStep
from steadyrl.algorithms.reinforce import Reinforce, ReinforceOptions
from steadyrl.envs import NOISES, maze_spec
from steadyrl.ground import streams
from steadyrl.policies.tabular import softmax
from steadyrl.rollouts.fast.maze import CompiledMaze
from steadyrl.runs import RunConfig, train
from steadyrl.runs.together import train_together
from steadyrl.runs.view import Quiet

N = 50
GAMMA = 0.999
LAM = 1.0
POLICY_RATE = 1e-3
VALUE_RATE = 1e-2


def ours(updates, runs, home):
    """The runs of a study, in step as its engine trains them, each with its folder, metrics and checkpoints."""
    folder = Path(tempfile.mkdtemp(dir=home))
    configs = [_config(updates, seed) for seed in range(runs)]
    paths = [folder / str(config.seed) for config in configs]
    if runs == 1:
        train(config=configs[0], out=paths[0], view=Quiet())
    else:
        train_together(list(zip(configs, paths, strict=True)))
    last = [json.loads((path / "metrics.jsonl").read_text().splitlines()[-1]) for path in paths]
    return sum(row["steps"] for row in last), sum(row["return"] for row in last) / runs


def in_memory(updates, runs):
    """The same without folders: what a loop of one's own gets."""
    options, rates = ReinforceOptions(lam=LAM, gamma=GAMMA), TableOptions(POLICY_RATE, VALUE_RATE, optimiser="sgd")
    in_step = InStep([Reinforce(TableActor(36, 4, rates), options) for _ in range(runs)])
    compiled = CompiledMaze(maze_spec(), NOISES["uniform"])
    steps = 0
    seeds = list(range(runs))
    e = None
    for k in range(updates):
        policies = in_step.policies()
        e = compiled.play(policies, N, seeds, k, out=e)
        returns = in_step.update((e.states, e.actions, e.rewards, e.lengths), policies)
        steps += int(e.lengths.sum())
    return steps, float(returns.mean())


def _config(updates, seed):
    fields = {"measure": "gini_deviation", "lam": LAM, "n": N, "policy_rate": POLICY_RATE, "value_rate": VALUE_RATE}
    fields["optimiser"] = "sgd"  # as the C loop has it
    return RunConfig(
        "steadyrl/Maze-v0", env_options={"noise": "uniform"}, updates=updates, seed=seed, log_every=20, **fields
    )


def gymnasium_loop(updates):
    """The same through Gymnasium's interface and NumPy, as most people write it."""
    env = gym.make("steadyrl/Maze-v0", noise="uniform")
    rng = np.random.default_rng(0)
    theta = np.zeros((36, 4))
    value = np.zeros(36)
    steps = 0
    for _ in range(updates):
        policy, episodes = softmax(theta), []
        for _ in range(N):
            (s, _), episode, over = env.reset(seed=int(rng.integers(2**31))), [], False
            while not over:
                a = rng.choice(4, p=policy[s])
                following, r, terminated, truncated, _ = env.step(a)
                episode.append((s, a, r))
                s, over = following, terminated or truncated
            episodes.append(episode)
            steps += len(episode)
        _plain_update(theta, value, policy, episodes)
    return steps


def plain_python(updates):
    """The same with nothing but lists and floats: the fastest plain Python we could write."""
    spec = maze_spec()
    to, pay = spec.next_state.tolist(), spec.reward.tolist()
    red, goal = spec.is_red.tolist(), spec.is_goal.tolist()
    theta, value = [[0.0] * 4 for _ in range(36)], [0.0] * 36
    steps = 0
    for k in range(updates):
        policy = []
        for row in theta:
            e = [math.exp(x - max(row)) for x in row]
            policy.append([x / sum(e) for x in e])
        episodes = []
        for i in range(N):
            key = streams.key(0, streams.ACTIONS, k, i)
            noise = streams.key(streams.key(0, streams.ENVIRONMENT, k, i) >> 32, streams.REWARD_NOISE)
            s = spec.start
            episode = []
            drawn = 0
            while len(episode) < spec.max_steps:
                u = streams.uniform(key, len(episode))
                a = 0
                running = policy[s][0]
                while a < 3 and running <= u:
                    a += 1
                    running += policy[s][a]
                r = pay[s][a]
                if red[s][a]:
                    r += -25.0 + 48.0 * streams.uniform(noise, drawn)
                    drawn += 1
                episode.append((s, a, r))
                if goal[s][a]:
                    break
                s = to[s][a]
            episodes.append(episode)
            steps += len(episode)
        _plain_update(theta, value, policy, episodes)
    return steps


def _plain_update(theta, value, policy, episodes):
    to_go = []
    for episode in episodes:
        ahead, row = 0.0, []
        for _, _, r in reversed(episode):
            ahead = r + GAMMA * ahead
            row.append(ahead)
        to_go.append(row[::-1])
    distances = [sum(abs(x[0] - y[0]) for y in to_go) for x in to_go]
    c = [(N * d - sum(distances)) / ((N - 1) * (N - 2)) for d in distances]
    gradient = [[0.0] * 4 for _ in range(36)]
    for episode, ahead, ci in zip(episodes, to_go, c, strict=True):
        for t, (s, a, _) in enumerate(episode):
            weight = GAMMA**t * (ahead[t] - value[s]) - LAM * ci
            for b in range(4):
                gradient[s][b] += weight * ((b == a) - policy[s][b])
    for s in range(36):
        for a in range(4):
            theta[s][a] += POLICY_RATE / N * gradient[s][a]
    for episode, ahead in zip(episodes, to_go, strict=True):
        slope = [0.0] * 36
        for t, (s, _, _) in enumerate(episode):
            slope[s] += value[s] - ahead[t]
        for s in range(36):
            value[s] -= VALUE_RATE * 2.0 / len(episode) * slope[s]


def build_c(folder):
    """The C loop, compiled; None where there is no compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return None
    program = folder / "maze"
    source = Path(__file__).with_name("maze.c")
    subprocess.run([compiler, "-O3", "-march=native", "-o", program, source, "-lm"], check=True)
    return program


def rate(function, *args):
    start = time.perf_counter()
    steps = function(*args)
    return (steps[0] if isinstance(steps, tuple) else steps) / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer updates")
    updates = 100 if parser.parse_args().quick else 1000
    print("# Maze: collection plus update, steps a second\n")
    with tempfile.TemporaryDirectory() as folder:
        ours(3, 1, folder), ours(3, 2, folder), in_memory(3, 1)
        program = build_c(Path(folder))

        def c_loop(updates, runs):
            out = subprocess.run([program, str(updates), str(runs)], capture_output=True, text=True, check=True)
            steps, mean = out.stdout.split()
            return int(steps), float(mean)

        head = ("runs in step", "study / C", "in memory / C", "study / Gymnasium and NumPy", "study / lists and floats")
        print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
        lists = max(rate(plain_python, 5) for _ in range(3))
        loop = max(rate(gymnasium_loop, 2) for _ in range(2))
        for runs in (1, 10, 20, 40):
            study = []
            memory = []
            theirs = []
            for _ in range(3):
                study.append(rate(ours, updates, runs, folder))
                memory.append(rate(in_memory, updates, runs))
                theirs.append(rate(c_loop, updates, runs) if program else math.nan)
            a = max(study)
            b = max(memory)
            c = max(theirs)
            print(f"| {runs} | {a / c:.2f} | {b / c:.2f} | {a / loop:.0f} | {a / lists:.0f} |", flush=True)
        if program:
            (a, x), (b, y) = ours(50, 10, folder), c_loop(50, 10)
            print(f"\nSame work: {a} and {b} steps in 50 updates of 10 runs, mean return {x:.4f} and {y:.4f}.")


if __name__ == "__main__":
    main()
