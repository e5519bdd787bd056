"""What is drawn is where it should be: the Maze, its policy map, the side view of MuJoCo models."""

import numpy as np
import pytest
from PIL import ImageColor

from steadyrl.envs import MazeEnv, _maze_picture, _side_view, maze_spec
from steadyrl.envs._side_view import side_view
from steadyrl.envs.half_cheetah import half_cheetah
from steadyrl.envs.inverted_pendulum import inverted_pendulum
from steadyrl.report import _maze as report
from steadyrl.report._maze import policy_map

CELL = _maze_picture.CELL


def pixel(picture, row, column):
    """The pixel in the lower right of a cell, which no mark covers."""
    return tuple(int(v) for v in picture[row * CELL + CELL - 6, column * CELL + CELL - 6])


def rgb(colour):
    return ImageColor.getrgb(colour)


def agent_cells(picture):
    blue = np.all(picture == rgb(_maze_picture.AGENT), axis=2)
    rows, columns = np.nonzero(blue)
    return set(zip(rows // CELL, columns // CELL, strict=True))


def test_every_cell_of_the_maze_has_its_colour():
    env = MazeEnv(render_mode="rgb_array")
    env.reset(seed=0)
    picture = env.render()
    assert (picture.shape, picture.dtype) == ((6 * CELL, 6 * CELL, 3), np.uint8)
    colours = {"#": "WALLS", "R": "REDS", "G": "GREENS", ".": "PAPER", "S": "PAPER"}
    for row, cells in enumerate(env.maze.grid):
        for column, kind in enumerate(cells):
            assert pixel(picture, row, column) == rgb(getattr(_maze_picture, colours[kind]))


def test_the_agent_is_drawn_where_it_is_and_leaves_a_trail():
    env = MazeEnv(render_mode="rgb_array")
    env.reset(seed=0)
    assert agent_cells(env.render()) == {(5, 0)}
    for action in (0, 0, 3):
        env.step(action)
    picture = env.render()
    assert agent_cells(picture) == {(3, 1)}
    assert tuple(picture[int(4.5 * CELL), CELL // 2]) == rgb(_maze_picture.TRAIL)


def test_without_a_render_mode_there_is_a_warning_and_no_picture():
    env = MazeEnv()
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None


def test_the_window_shows_the_same_picture(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    pygame = pytest.importorskip("pygame")
    env, other = MazeEnv(render_mode="human"), MazeEnv(render_mode="rgb_array")
    env.metadata = {**env.metadata, "render_fps": 1000}
    for one in (env, other):
        one.reset(seed=0)
        one.step(0)
    assert env.render() is None
    screen = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
    np.testing.assert_array_equal(screen, other.render())
    env.close()
    env.close()
    assert pygame.display.get_surface() is None


def arrow_patches(figure):
    return [patch for patch in figure.axes[0].patches if patch.get_gid() == "arrow"]


def arrows(figure):
    """Arrows as (column, row, length to the right, length down) from the middle of a cell."""
    corners = [patch.get_xy()[:3] for patch in arrow_patches(figure)]
    return [(*base, *(tip - base)) for base, tip in (((a + b) / 2, c) for a, b, c in corners)]


def test_arrows_point_where_the_policy_moves_and_grow_with_probability():
    probabilities = np.zeros((4, 4))
    probabilities[:] = (0.25, 0.25, 0.25, 0.25)
    probabilities[0] = (0.0, 0.0, 0.1, 0.9)
    drawn = arrows(policy_map(maze_spec("SG\n#."), probabilities))
    start = [(dx, dy) for x, y, dx, dy in drawn if x < 1 and y < 1]
    (left, flat), (right, level) = sorted(start)
    assert (flat, level) == pytest.approx((0.0, 0.0))
    assert left < 0 < right
    assert right > 2 * -left
    assert len(drawn) == 2 + 4  # none in the wall, none in the goal


def test_cells_are_coloured_by_visits_and_unvisited_arrows_are_grey():
    spec = maze_spec("S.G\n...")
    visits = np.array([4.0, 1.0, 4.0, 0.0, 0.0, 0.0])
    figure = policy_map(spec, np.full((6, 4), 0.25), visits, title="a title")
    cells = [p for p in figure.axes[0].patches if p.get_gid() is None]
    assert np.allclose(cells[0].get_facecolor(), report.HEAT(1.0))
    assert np.allclose(cells[1].get_facecolor(), report.HEAT(0.5))
    greys = [patch for patch in arrow_patches(figure) if patch.get_xy()[2, 1] > 1]
    assert len(greys) == 12
    assert {p.get_facecolor()[:3] for p in greys} == {tuple(np.array(rgb(report.FADED)) / 255)}
    assert figure.axes[0].get_title() == "a title"
    assert len(figure.axes) == 2


@pytest.mark.parametrize(
    ("probabilities", "visits", "message"),
    [
        (np.full((5, 4), 0.25), None, r"probabilities has shape \(5, 4\): must be \(6, 4\)"),
        (np.full((6, 4), 0.3), None, "each row must be >= 0 and sum to 1"),
        (np.full((6, 4), 0.25), np.ones(5), r"visits has shape \(5,\): must be \(6,\)"),
        (np.full((6, 4), 0.25), -np.ones(6), "visits must be finite and >= 0"),
    ],
)
def test_a_map_of_something_else_is_refused(probabilities, visits, message):
    with pytest.raises(ValueError, match=message):
        policy_map(maze_spec("S.G\n..."), probabilities, visits)


def test_the_side_view_shades_the_risky_side_and_draws_the_pole_upright():
    env = inverted_pendulum(threshold=0.3)
    env.reset(seed=0)
    picture = side_view(env)
    assert picture.shape == (_side_view.HEIGHT, _side_view.WIDTH, 3)
    edge = _side_view.WIDTH / 2 + 0.3 * _side_view.WIDTH / _side_view.ON_RAIL
    assert tuple(picture[20, int(edge) - 3]) == rgb(_side_view.SKY)
    assert tuple(picture[20, int(edge) + 3]) == rgb(_side_view.RISKY)
    pole = np.all(picture == rgb(_side_view.PARTS[2]), axis=2)
    assert abs(np.nonzero(pole)[1].mean() - _side_view.WIDTH / 2) < 6


def test_the_side_view_follows_the_cheetah():
    env = half_cheetah()
    env.reset(seed=0)
    for x in (0.0, -25.0):
        env.unwrapped.set_state(np.r_[x, env.unwrapped.data.qpos[1:]], env.unwrapped.data.qvel)
        picture = side_view(env)
        torso = np.nonzero(np.all(picture == rgb(_side_view.PARTS[0]), axis=2))[1]
        assert abs(torso.mean() - _side_view.WIDTH / 2) < 12
    assert tuple(picture[20, 470]) == rgb(_side_view.RISKY)
