"""`steadyrl watch` and `steadyrl envs`: files that open, lines that tell, one clear line for a mistake."""

import json
from importlib.util import find_spec

import numpy as np
import pytest
from PIL import Image

from steadyrl.cli.envs import envs
from steadyrl.cli.parser import Parser
from steadyrl.cli.watch import add_options
from steadyrl.cli.watch import watch as command
from steadyrl.envs import DOMAINS, SMALL_DOMAINS, _video

IDS = [domain.id for domain in DOMAINS]


def watch(*env, **options):
    """The command with the defaults that it has on the command line."""
    parser = Parser("steadyrl watch", None)
    add_options(parser, [])
    command(**(parser.read(env) | options))


@pytest.fixture(autouse=True)
def _without_opengl(monkeypatch, tmp_path):
    monkeypatch.setenv("MUJOCO_GL", "disable")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", IDS)
def test_every_domain_is_filmed_without_a_screen_or_opengl(name, tmp_path, capsys):
    watch(name, frames=4, episodes=2)
    with Image.open(tmp_path / f"{name.removeprefix('steadyrl/')}.gif") as film:
        assert film.format == "GIF"
        assert 6 <= film.n_frames <= 8
        pictures = []
        for k in range(film.n_frames):
            film.seek(k)
            pictures.append(np.asarray(film.convert("RGB")))
    assert all(picture.std() > 10 for picture in pictures)
    assert not np.array_equal(pictures[0], pictures[1])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{name}  episode 1: ")
    assert lines[-1].startswith(f"written: {name.removeprefix('steadyrl/')}.gif (")


def test_a_whole_episode_of_the_maze_is_told(tmp_path, capsys):
    watch("steadyrl/Maze-v0", out=tmp_path / "a.gif", seed=1, frames=200, fps=10)
    with Image.open(tmp_path / "a.gif") as film:
        assert film.info["duration"] == 100
        assert film.size == (432, 432 + _video.STRIP)
    assert ": ended after 100 steps, return -" in capsys.readouterr().out


def test_the_same_seed_is_the_same_film(tmp_path):
    for name in ("a.gif", "b.gif"):
        watch("steadyrl/Maze-v0", out=tmp_path / name, frames=8, seed=5)
    assert (tmp_path / "a.gif").read_bytes() == (tmp_path / "b.gif").read_bytes()


def test_opengl_is_used_where_it_works(monkeypatch):
    monkeypatch.delenv("MUJOCO_GL")
    if not _video._can_draw_mujoco():
        pytest.skip("no OpenGL that draws in memory")
    env, camera = _video.make_to_watch("steadyrl/InvertedPendulum-v0")
    env.reset(seed=0)
    assert camera().shape == (480, 480, 3)
    env.close()


def test_any_gymnasium_environment_can_be_watched(tmp_path):
    watch("CartPole-v1", frames=3)
    assert (tmp_path / "CartPole-v1.gif").stat().st_size > 0


def test_an_mp4_is_written_or_the_gif_is_named(tmp_path):
    if find_spec("imageio_ffmpeg") is None:
        with pytest.raises(ValueError, match=r"out = .*a\.mp4: MP4 needs .* a \.gif always works"):
            watch(out=tmp_path / "a.mp4", frames=3)
    else:
        watch(out=tmp_path / "a.mp4", frames=3)
        assert (tmp_path / "a.mp4").read_bytes()[4:8] == b"ftyp"


@pytest.mark.filterwarnings("ignore:.*Using the latest versioned environment")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"env": "steadyrl/Mase-v0"}, r"environment 'steadyrl/Mase-v0' cannot be made: .*Did you mean: `Maze`"),
        ({"env": "nowhere:Maze-v0"}, "environment 'nowhere:Maze-v0' cannot be made: No module named 'nowhere'"),
        ({"env": "a:b:c"}, "environment 'a:b:c' cannot be made"),
        ({"policy": "greedy"}, "policy = 'greedy': must be one of random"),
        ({"episodes": 0}, "episodes = 0: must be >= 1"),
        ({"frames": 0}, "frames = 0: must be >= 1"),
        ({"fps": 0}, "fps = 0: must be >= 1"),
        ({"seed": -1}, "seed = -1: must be >= 0"),
    ],
)
def test_a_mistake_is_one_clear_line(arguments, message):
    with pytest.raises(ValueError, match=message):
        watch(**arguments)


def test_a_path_that_cannot_be_written_is_refused_before_anything_is_played(tmp_path):
    with pytest.raises(ValueError, match=r"must end in \.gif or \.mp4"):
        watch(out=tmp_path / "film.avi")
    with pytest.raises(ValueError, match="there is no directory"):
        watch(out=tmp_path / "none" / "film.gif")


def test_the_caption_is_red_on_risky_steps_and_keeps_the_picture():
    picture = np.full((61, 81, 3), 200, dtype=np.uint8)
    for risky, colour in ((True, (228, 87, 76)), (False, (233, 235, 238))):
        framed = _video.captioned(picture, "step 3", risky)
        assert framed.shape == (60 + _video.STRIP, 80, 3)
        np.testing.assert_array_equal(framed[:60], picture[:60, :80])
        assert tuple(framed[-2, -2]) == colour


def test_envs_lists_every_domain_with_its_parameters(capsys):
    envs(as_json=False)
    text = capsys.readouterr().out
    for domain in (*DOMAINS, *SMALL_DOMAINS):
        assert domain.id in text
        assert all(parameter.name in text for parameter in domain.parameters)


def test_envs_as_json_is_the_same_data(capsys):
    envs(as_json=True)
    listed = json.loads(capsys.readouterr().out)
    assert [domain["id"] for domain in listed[: len(IDS)]] == IDS
    assert len(listed) == len(DOMAINS) + len(SMALL_DOMAINS)
    assert listed[1]["parameters"][1]["default"] == "landed"
