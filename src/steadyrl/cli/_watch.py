"""`steadyrl watch`: an environment played and filmed."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

POLICIES = ("random",)


def watch(
    env: Annotated[str, Positional, arg(metavar="ENV")] = "steadyrl/Maze-v0",
    *,
    policy: str = "random",
    out: Annotated[Path | None, arg(metavar="PATH", help_behavior_hint="(default: the environment's name)")] = None,
    episodes: int = 1,
    seed: int = 0,
    fps: Annotated[int | None, arg(metavar="INT", help_behavior_hint="(default: as the environment says)")] = None,
    frames: int = 200,
) -> None:
    """Play episodes and write them as a GIF or MP4. Needs no screen.

    Args:
        env: The environment's id, as in gymnasium.make; module:id imports the module first.
        policy: Who plays: random.
        out: Where to write: a .gif or .mp4 file.
        episodes: How many episodes.
        seed: The seed of the first episode; the others count on from it.
        fps: Pictures a second.
        frames: At most so many pictures of each episode.
    """
    from steadyrl.envs import _frames, _video
    from steadyrl.envs._checks import check_choice, check_count

    check_choice("policy", policy, POLICIES)
    for name, value in (("episodes", episodes), ("frames", frames), ("fps", 1 if fps is None else fps)):
        check_count(name, value)
    check_count("seed", seed, least=0)
    path = out or Path(env.replace(":", "/").rsplit("/", maxsplit=1)[-1] + ".gif")
    _video.check_path(path)
    made, camera = _frames.make_to_watch(env)
    try:
        made.action_space.seed(seed)
        film: list[Any] = []
        for episode in range(episodes):
            title = f"{env}  episode {episode + 1}"
            film += _with_progress(_play(made, camera, title, seed + episode, frames), title, frames)
        _video.write_video(path, film, fps or int(made.metadata.get("render_fps", 20)))
    finally:
        made.close()
    _say(f"written: {path} ({len(film)} pictures)")


def _play(env: Any, camera: Any, title: str, seed: int, frames: int) -> Iterator[Any]:
    """The pictures of one episode of random actions, and one line on how it went."""
    from steadyrl.envs._video import captioned

    env.reset(seed=seed)
    yield captioned(camera(), title, risky=False)
    total, over, t, info = 0.0, False, 0, {}
    while not over and t < frames - 1:
        _, reward, terminated, truncated, info = env.step(env.action_space.sample())
        total, over, t = total + float(reward), terminated or truncated, t + 1
        caption = f"{title}  step {t}  reward {float(reward):.1f}  return {total:.1f}"
        yield captioned(camera(), caption, risky=bool(info.get("risky")))
    readings = [f", {key} {info[key]}" for key in ("path", "side", "landed", "risk_averse") if key in info]
    _say(f"{title}: {'ended' if over else 'cut short'} after {t} steps, return {total:.2f}" + "".join(readings))


def _with_progress(film: Iterator[Any], title: str, frames: int) -> list[Any]:
    """All pictures, with a bar on standard error if that is a terminal: OpenGL in software is slow."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        return list(bar.track(film, total=frames, description=title))


def _say(line: str) -> None:
    from rich.console import Console

    Console(markup=False, emoji=False, highlight=False).print(line, soft_wrap=True)
