"""The Maze compiled: episodes of many tabular policies at once, number for number those of `MazeEnv`.

numba compiles this once and keeps the result beside the file; nothing else imports numba to play the Maze.
"""

from typing import Any, no_type_check

import numpy as np
from numba import njit
from numba.extending import register_jitable

from steadyrl.envs import noise
from steadyrl.ground import streams

GOLDEN = np.uint64(streams.GOLDEN)
FIRST = np.uint64(streams.FIRST)
SECOND = np.uint64(streams.SECOND)
NOISE, ENVIRONMENT, ACTIONS = (np.uint64(what) for what in (streams.REWARD_NOISE, streams.ENVIRONMENT, streams.ACTIONS))

BITS = 6
"""Of a random word, by which the action is looked up."""
CELLS = 1 << BITS
UNSURE = 255

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
def word_of(stream, index):
    """The word that `streams.uniform` makes its number of."""
    return mix(stream + (np.uint64(index) + np.uint64(1)) * GOLDEN)


@njit(cache=True)
@no_type_check
def unit(word):
    """A word as a number in (0, 1)."""
    return (np.float64(word >> np.uint64(12)) + 0.5) * 2.0**-52


@njit(cache=True)
@no_type_check
def uniform(stream, index):
    """`streams.uniform` on machine words."""
    return unit(word_of(stream, index))


@njit(cache=True)
@no_type_check
def child(parent, step):
    """One step of `streams.key` on machine words: from the key of a path to the key of the path and one more part."""
    return mix((parent ^ mix(step + SECOND)) + GOLDEN)


@njit(cache=True)
@no_type_check
def look_up(policy, cumulative, guess):
    """Fill cumulative with the running sums of pi, and guess[state, cell] with the action of any u in cell.

    Cell k has the numbers between k / CELLS and (k + 1) / CELLS. A threshold below a cell is below all of its numbers,
    one above it is above them, so an action that is looked up is the one that comparing would give; UNSURE where one
    of the three thresholds lies in the cell.
    """
    for s in range(policy.shape[0]):
        row = guess[s]
        below = 0
        running = 0.0
        for a in range(3):
            running += policy[s, a]
            cumulative[s, a] = running
            place = cumulative[s, a] * CELLS
            cell = int(place) if place < CELLS else CELLS
            row[below:cell] = a
            below = cell
        row[below:] = 3
        for a in range(3):
            place = cumulative[s, a] * CELLS
            if place < CELLS:
                row[int(place)] = UNSURE


@njit(cache=True)
@no_type_check
def play(tables, start, kinds, codes, policies, seeds, iteration, out):
    """Play n episodes of each run r from seeds[r] and the iteration; write them into `out`, up to their ends.

    tables: next_state, reward, is_red, is_goal. kinds, codes: (runs,) and (runs, k), the noise of each run as `encode`
    has it. policies: pi (runs, states, 4). out: states, actions, rewards (runs, n, max_steps), lengths, reds,
    last_state, terminated, last_red (runs, n).
    """
    next_state, reward, is_red, is_goal = tables
    states, actions, rewards, lengths, reds, last_state, terminated, last_red = out
    runs, n, max_steps = states.shape
    eventful = is_red | is_goal
    guess = np.empty((next_state.shape[0], CELLS), dtype=np.uint8)
    table = np.empty((next_state.shape[0], 3))
    for r in range(runs):
        root = mix(seeds[r] + GOLDEN)
        environment = child(child(root, ENVIRONMENT), iteration)
        acting = child(child(root, ACTIONS), iteration)
        kind, numbers = kinds[r], codes[r]
        look_up(policies[r], table, guess)
        for i in range(n):
            key = child(acting, np.uint64(i))
            noise_key = np.uint64(0)
            row_states = states[r, i]
            row_actions = actions[r, i]
            row_rewards = rewards[r, i]
            # Unsigned numbers spare every index a test for being negative.
            state = np.uint64(start)
            t = np.uint64(0)
            draws = 0
            red = False
            goal = False
            while t < max_steps and not goal:
                word = word_of(key, t)
                action = np.uint64(guess[state, word >> np.uint64(64 - BITS)])
                if action == UNSURE:
                    u = unit(word)
                    action = np.uint64(table[state, 0] <= u) + np.uint64(table[state, 1] <= u)
                    action += np.uint64(table[state, 2] <= u)
                pay = reward[state, action]
                red = False
                if eventful[state, action]:
                    red, goal = is_red[state, action], is_goal[state, action]
                    if red:
                        if draws == 0:
                            seed = child(environment, np.uint64(i)) >> np.uint64(32)
                            noise_key = child(mix(seed + GOLDEN), NOISE)
                        pay += quantile_of(kind, numbers, uniform(noise_key, draws))
                        draws += 1
                row_states[t] = state
                row_actions[t] = action
                row_rewards[t] = pay
                state = np.uint64(next_state[state, action])
                t += np.uint64(1)
            lengths[r, i] = t
            reds[r, i] = draws
            last_state[r, i] = state
            terminated[r, i] = goal
            last_red[r, i] = red
