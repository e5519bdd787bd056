"""The Maze compiled: episodes of many tabular policies at once, number for number those of `MazeEnv`.

numba compiles this once and keeps the result beside the file; nothing else imports numba to play the Maze.
"""

from typing import Any, no_type_check

import numpy as np
from numba import njit
from numba.extending import register_jitable

from steadyrl import streams
from steadyrl.envs import noise

GOLDEN, FIRST, SECOND = np.uint64(streams.GOLDEN), np.uint64(streams.FIRST), np.uint64(streams.SECOND)
NOISE, ENVIRONMENT, ACTIONS = (np.uint64(what) for what in (streams.REWARD_NOISE, streams.ENVIRONMENT, streams.ACTIONS))

register_jitable(noise.normal_quantile)
quantile_of: Any = njit(cache=True)(noise.quantile_of)


@njit(cache=True)
@no_type_check
def mix(word):
    """`streams.mix` on machine words."""
    word = (word ^ (word >> np.uint64(30))) * FIRST
    word = (word ^ (word >> np.uint64(27))) * SECOND
    return word ^ (word >> np.uint64(31))


@njit(cache=True)
@no_type_check
def uniform(stream, index):
    """`streams.uniform` on machine words."""
    word = mix(stream + (np.uint64(index) + np.uint64(1)) * GOLDEN)
    return (np.float64(word >> np.uint64(12)) + 0.5) * 2.0**-52


@njit(cache=True)
@no_type_check
def child(parent, step):
    """One step of `streams.key` on machine words: from the key of a path to the key of the path and one more part."""
    return mix((parent ^ mix(step + SECOND)) + GOLDEN)


@njit(cache=True)
@no_type_check
def play(tables, start, kinds, codes, cumulative, seeds, iteration, out):
    """Play n episodes of each run r from seeds[r] and the iteration; write them into `out`, zeros after their ends.

    tables: next_state, reward, is_red, is_goal. kinds, codes: (runs,) and (runs, k), the noise of each run as `encode`
    has it. cumulative: (runs, states, 4). out: states, actions, rewards (runs, n, max_steps), lengths, reds,
    last_state, terminated, last_red (runs, n).
    """
    next_state, reward, is_red, is_goal = tables
    states, actions, rewards, lengths, reds, last_state, terminated, last_red = out
    runs, n, max_steps = states.shape
    for r in range(runs):
        root = mix(seeds[r] + GOLDEN)
        environment = child(child(root, ENVIRONMENT), iteration)
        acting = child(child(root, ACTIONS), iteration)
        table, kind, numbers = cumulative[r], kinds[r], codes[r]
        for i in range(n):
            seed = child(environment, np.uint64(i)) >> np.uint64(32)
            noise_key = child(mix(seed + GOLDEN), NOISE)
            key = child(acting, np.uint64(i))
            row_states, row_actions, row_rewards = states[r, i], actions[r, i], rewards[r, i]
            # Unsigned numbers spare every index a test for being negative.
            state, t, drawn, over = np.uint64(start), np.uint64(0), 0, False
            while not over:
                u = uniform(key, t)
                action = np.uint64(table[state, 0] <= u) + np.uint64(table[state, 1] <= u)
                action += np.uint64(table[state, 2] <= u)
                pay = reward[state, action]
                red = is_red[state, action]
                if red:
                    pay += quantile_of(kind, numbers, uniform(noise_key, drawn))
                    drawn += 1
                row_states[t], row_actions[t], row_rewards[t] = state, action, pay
                goal = is_goal[state, action]
                state = np.uint64(next_state[state, action])
                t += np.uint64(1)
                over = goal or t == max_steps
            row_states[t:], row_actions[t:], row_rewards[t:] = 0, 0, 0.0
            lengths[r, i], reds[r, i], last_state[r, i] = t, drawn, state
            terminated[r, i], last_red[r, i] = goal, red
