"""The Maze: its tables by hand and by search, its rewards, its ends, and the layouts it refuses."""

from collections import deque

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import steadyrl.envs
from steadyrl.envs import NOISES, Gaussian, MazeEnv, maze_spec
from steadyrl.envs._layout import shortest_path
from steadyrl.ground import streams

UP, DOWN, LEFT, RIGHT = range(4)
SHORT = [RIGHT] * 5 + [UP] * 4
LONG = [UP] * 5 + [RIGHT] * 5 + [DOWN]


def play(env, actions, seed=0):
    env.reset(seed=seed)
    return [env.step(action) for action in actions]


def moves_to_goal(spec, through_red):
    """Breadth-first search over the tables, and over whether red has been entered."""
    queue, visited = deque([(spec.start, False, 0)]), {(spec.start, False)}
    while queue:
        state, red, moves = queue.popleft()
        for action in range(4):
            entered = red or bool(spec.is_red[state, action])
            if spec.is_goal[state, action] and entered == through_red:
                return moves + 1
            following = (int(spec.next_state[state, action]), entered)
            if not spec.is_goal[state, action] and following not in visited:
                visited.add(following)
                queue.append((*following, moves + 1))
    return None


def test_the_shortest_path_through_red_has_9_moves_and_around_it_11():
    spec = maze_spec()
    assert moves_to_goal(spec, through_red=True) == 9
    assert moves_to_goal(spec, through_red=False) == 11


def test_the_search_in_layouts_agrees():
    grid = maze_spec().grid
    assert shortest_path(grid) == 9
    assert shortest_path(grid, avoid="R") == 11


def test_the_tables_of_a_small_maze_are_these():
    spec = maze_spec("SR\n#G", goal_reward=10.0, max_steps=7)
    np.testing.assert_array_equal(spec.next_state, [[0, 0, 0, 1], [1, 3, 0, 1], [2, 2, 2, 2], [1, 3, 3, 3]])
    np.testing.assert_array_equal(spec.is_red, np.array([[0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]]) > 0)
    np.testing.assert_array_equal(spec.is_goal, np.array([[0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]) > 0)
    np.testing.assert_array_equal(spec.reward, [[-1, -1, -1, 0], [-1, 10, -1, -1], [-1, -1, -1, -1], [0, -1, -1, -1]])
    assert (spec.start, spec.max_steps, spec.n_states) == (0, 7, 4)


def test_the_tables_cannot_be_written():
    with pytest.raises(ValueError, match="read-only"):
        maze_spec().reward[0, 0] = 5.0


def test_the_long_path_costs_10_moves_before_the_goal_pays_10_and_is_risk_averse():
    steps = play(MazeEnv(), LONG)
    assert [reward for _, reward, *_ in steps] == [-1.0] * 10 + [10.0]
    assert [(terminated, truncated) for _, _, terminated, truncated, _ in steps] == [(False, False)] * 10 + [
        (True, False)
    ]
    assert steps[-1][0] == 11
    expected = {"risky": False, "path": "long", "risk_averse": 1.0, "risky_share": 0.0, "episode_length": 11}
    assert steps[-1][4] == expected


def test_the_short_path_pays_the_noise_once_where_it_enters_red():
    steps = play(MazeEnv(noise="pareto"), SHORT, seed=21)
    red = NOISES["pareto"].quantile(streams.uniform(streams.key(21, streams.REWARD_NOISE), 0))
    assert [reward for _, reward, *_ in steps] == [-1.0] * 3 + [red] + [-1.0] * 4 + [10.0]
    assert [info["risky"] for *_, info in steps] == [False] * 3 + [True] + [False] * 5
    expected = {"path": "short", "risk_averse": 0.0, "risky_share": 1 / 9, "episode_length": 9}
    assert expected.items() <= steps[-1][4].items()


def test_every_entry_of_red_is_a_new_draw_and_a_bump_inside_is_none():
    noise = NOISES["gaussian"]
    steps = play(MazeEnv(), [RIGHT] * 4 + [UP, DOWN, LEFT, RIGHT], seed=4)
    key = streams.key(4, streams.REWARD_NOISE)
    first, second = (noise.quantile(streams.uniform(key, k)) for k in range(2))
    assert [reward for _, reward, *_ in steps] == [-1.0, -1.0, -1.0, first, -1.0, -1.0, -1.0, second]
    assert [state for state, *_ in steps] == [31, 32, 33, 34, 34, 34, 33, 34]


def test_bumping_stays_and_costs_one():
    assert [(state, reward) for state, reward, *_ in play(MazeEnv(), [DOWN, LEFT])] == [(30, -1.0)] * 2


@pytest.mark.parametrize(("red", "expected"), [(-1.0, 1.50), (-10.0, -7.23), (8.0, 10.23)])
def test_the_returns_of_the_short_way_are_those_of_the_authors_slide(red, expected):
    """seminar2023Mar_mvrl.pdf, slide 25, at gamma 0.99: eight moves of -1, red among them, and then 10."""
    rewards = [reward for _, reward, *_ in play(MazeEnv(noise=Gaussian(red, 0.0)), SHORT)]
    assert round(sum(0.99**t * reward for t, reward in enumerate(rewards)), 2) == expected


def test_the_move_into_the_goal_pays_the_goal_reward():
    for reward in (-1.0, 3.5):
        assert play(MazeEnv(goal_reward=reward), LONG)[-1][1] == reward


def test_an_episode_is_truncated_at_max_steps():
    steps = play(MazeEnv(max_steps=3), [LEFT] * 3)
    assert [truncated for *_, truncated, _ in steps] == [False, False, True]
    expected = {"risky": False, "path": "timeout", "risk_averse": 0.0, "risky_share": 0.0, "episode_length": 3}
    assert steps[-1][4] == expected


def test_reaching_the_goal_with_the_last_move_is_termination_alone():
    assert play(MazeEnv(max_steps=11), LONG)[-1][2:4] == (True, False)


def test_a_step_after_the_end_or_before_the_start_is_refused():
    env = MazeEnv(max_steps=1)
    with pytest.raises(gym.error.ResetNeeded):
        env.step(0)
    play(env, [LEFT])
    with pytest.raises(gym.error.ResetNeeded):
        env.step(0)


def test_made_directly_or_by_gymnasium_it_is_the_same():
    made, direct = gym.make("steadyrl/Maze-v0", noise="handcraft", max_steps=30), MazeEnv("handcraft", max_steps=30)
    rng = np.random.default_rng(0)
    for seed in range(20):
        assert made.reset(seed=seed) == direct.reset(seed=seed)
        over = False
        while not over:
            action = int(rng.integers(4))
            ours, theirs = direct.step(action), made.step(action)
            assert ours == theirs
            over = ours[2] or ours[3]


def test_unseeded_episodes_after_a_seed_repeat():
    def reds(env):
        return [play_on(env, seed)[3][1] for seed in (3, None, None)]

    def play_on(env, seed):
        env.reset(seed=seed)
        return [env.step(action) for action in SHORT]

    assert reds(MazeEnv()) == reds(MazeEnv())
    assert len(set(reds(MazeEnv()))) == 3


def test_any_distribution_or_function_is_a_noise():
    assert play(MazeEnv(noise=Gaussian(5.0, 0.0)), SHORT)[3][1] == 5.0
    assert play(MazeEnv(noise=lambda rng: rng.bit_generator.state["has_uint32"] + 0.25), SHORT)[3][1] == 0.25


def test_several_red_cells_and_goals():
    env = MazeEnv(noise=Gaussian(7.0, 0.0), layout="SRRG\n...G")
    assert [reward for _, reward, *_ in play(env, [RIGHT] * 3)] == [7.0, 7.0, 10.0]
    assert play(env, [DOWN, RIGHT, RIGHT, RIGHT])[-1][4]["path"] == "long"


def test_a_layout_may_have_blanks_be_rows_or_a_file(tmp_path):
    spaced = "\n  S . G\n  . R .\n\n"
    file = tmp_path / "maze.txt"
    file.write_text(spaced)
    for layout in (spaced, "S.G\n.R.", ["S.G", ".R."], file):
        assert maze_spec(layout).grid == ("S.G", ".R.")


@given(st.integers(2, 5), st.integers(2, 5), st.randoms(use_true_random=False))
def test_moves_in_random_mazes_never_leave_the_grid_or_enter_a_wall(rows, columns, random):
    cells = [random.choice(".#R") for _ in range(rows * columns)]
    cells[0], cells[1] = "S", "G"
    spec = maze_spec(["".join(cells[r * columns : (r + 1) * columns]) for r in range(rows)])
    text = "".join(spec.grid)
    for state in range(rows * columns):
        for action, step in enumerate((-columns, columns, -1, 1)):
            following = int(spec.next_state[state, action])
            beyond = (state % columns, action) in ((0, LEFT), (columns - 1, RIGHT)) or not 0 <= state + step < len(text)
            blocked = beyond or "#" in (text[state], text[state + step])
            assert following == (state if blocked else state + step)
            assert spec.is_red[state, action] == (not blocked and text[following] == "R")


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ("", "layout: is empty"),
        (" \n\n", "layout: is empty"),
        ("...\n..G", "layout: no start: mark one cell 'S'"),
        ("S..\nS.G", "layout: 2 starts (line 1, cell 1; line 2, cell 1)"),
        ("S..\n...", "layout: no goal: mark at least one cell 'G'"),
        ("S#G\n.#.", "layout: no path from the start 'S' to a goal 'G'"),
        ("S..\n..\n..G", "layout: line 2 has 2 cells, the first row 3"),
        ("S..\n...#\n..G", "layout: line 2 has 4 cells, the first row 3"),
        ("S..\n\n..G", "layout: line 2 has 0 cells, the first row 3"),
        ("S..\n.x.\n..G", "layout: line 2, column 2: 'x': must be one of '.', '#', 'S', 'R', 'G'"),
        ("\n\n  S . .\n  . g .", "layout: line 4, column 5: 'g': must be one of"),
    ],
)
def test_a_bad_layout_is_refused_with_what_and_where(layout, message):
    with pytest.raises(ValueError) as error:
        MazeEnv(layout=layout)
    assert str(error.value).startswith(message)


def test_a_bad_layout_file_is_named(tmp_path):
    file = tmp_path / "maze.txt"
    file.write_text("S.\n.Q")
    with pytest.raises(ValueError, match=r"layout .*maze\.txt: line 2, column 2: 'Q'"):
        MazeEnv(layout=file)
    file.write_bytes(b"\xff\xfe\x00S")
    with pytest.raises(ValueError, match="is not a text file"):
        MazeEnv(layout=file)
    with pytest.raises(ValueError, match="cannot be read: No such file"):
        MazeEnv(layout=tmp_path / "none.txt")
    with pytest.raises(ValueError, match="cannot be read: Is a directory"):
        MazeEnv(layout=tmp_path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"noise": "gausian"}, "noise = 'gausian': did you mean 'gaussian'? must be one of gaussian, pareto"),
        ({"noise": "none"}, "noise = 'none': must be one of gaussian, pareto, uniform, handcraft"),
        ({"max_steps": 0}, "max_steps = 0: must be >= 1"),
        ({"max_steps": True}, "max_steps = True: must be a whole number"),
        ({"goal_reward": float("nan")}, "goal_reward = nan: must be finite"),
        ({"render_mode": "ascii"}, "render_mode = 'ascii': must be one of None, human, rgb_array"),
    ],
)
def test_bad_arguments_are_refused_by_name(arguments, message):
    with pytest.raises(ValueError) as error:
        MazeEnv(**arguments)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("action", [4, -1])
def test_an_action_that_is_no_move_is_refused(action):
    env = MazeEnv()
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"must be 0, 1, 2 or 3 \(up, down, left, right\)"):
        env.step(action)


def test_the_package_offers_what_it_lists():
    assert all(hasattr(steadyrl.envs, name) for name in steadyrl.envs.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'Labyrinth'"):
        _ = steadyrl.envs.Labyrinth
