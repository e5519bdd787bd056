"""`steadyrl watch`: an environment, or a trained policy in its environment, played and filmed."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from steadyrl.cli.parser import Parser
from steadyrl.ground.files import from_here

POLICIES = ("random",)
"""Of an environment."""
OF_A_RUN = ("last", "best")
MAP_EPISODES = 200

Act = Callable[[Any, int, int], Any]
"""An action, from an observation, the episode's number and the step's."""


def add_options(parser: Parser, arguments: list[str]) -> None:  # noqa: ARG001
    """What the command takes."""
    parser.add_argument(
        "env",
        nargs="?",
        default="steadyrl/Maze-v0",
        metavar="ENV-OR-RUN",
        help="the folder of a run, whose policy then plays in its environment; or the id of an environment, as in "
        "gymnasium.make (module:id imports the module first)",
    )
    parser.option(
        "policy",
        "who plays: of a run its last policy or its best, in an environment random (default: the first)",
        metavar="NAME",
    )
    parser.flag("deterministic", "a run's policy takes the likeliest action at every step, instead of one drawn")
    parser.option("out", "where to write: a .gif or .mp4 file (default: the environment's name)", Path)
    parser.option("episodes", "how many episodes", int, 1)
    parser.option("seed", "the seed of the first episode; the others count on from it", int, 0)
    parser.option("fps", "pictures a second (default: as the environment says)", int)
    parser.option("frames", "at most so many pictures of each episode", int, 200)
    parser.flag("allow-import", "let the environment's id in a run's folder import a module")


def watch(
    env: str,
    *,
    policy: str | None,
    deterministic: bool,
    out: Path | None,
    episodes: int,
    seed: int,
    fps: int | None,
    frames: int,
    allow_import: bool,
) -> None:
    """Play episodes and write them as a GIF or MP4; a tabular policy of the Maze also as a map. Needs no screen."""
    from steadyrl.envs import _video
    from steadyrl.envs._checks import check_choice, check_count
    from steadyrl.envs.environment import close
    from steadyrl.rollouts.stepper import flat

    for name, value in (("episodes", episodes), ("frames", frames), ("fps", 1 if fps is None else fps)):
        check_count(name, value)
    check_count("seed", seed, least=0)
    here = Path.cwd()  # an environment may change it
    out = None if out is None else here / out
    is_run = (Path(env) / "run.json").is_file() or _is_shipped(env)
    choices = OF_A_RUN if is_run else POLICIES
    check_choice("policy", policy or choices[0], choices)
    run = _run(Path(env), allow_import, policy or choices[0]) if is_run else None
    name = env if run is None else run.config.env
    path = out or here / Path(
        (name if run is None else run.folder.name).replace(":", "/").rsplit("/", maxsplit=1)[-1] + ".gif"
    )
    _video.check_path(path)
    environment, camera = _video.make_to_watch(name, **({} if run is None else run.config.env_options))
    try:
        act = _at_random(environment, seed) if run is None else _by(run.policy, seed, deterministic)
        environment = environment if run is None else flat(_as_seen(run, environment))
        film: list[Any] = []
        for episode in range(episodes):
            title = f"{env}  episode {episode + 1}"
            film += with_progress(_play(environment, camera, act, title, (seed, episode, frames)), title, frames)
        _video.write_video(path, film, fps or int(environment.metadata.get("render_fps", 20)))
    finally:
        close(environment)
    _say(f"written: {from_here(str(path))} ({len(film)} pictures)")
    if run is not None:
        _draw_map(run, path.with_suffix(".png"))


def _run(folder: Path, allow_import: bool, policy: str) -> Any:
    """The run in a folder, or a policy that comes with the package."""
    from steadyrl.cli.train import check_import
    from steadyrl.runs import folder as folders
    from steadyrl.runs import load

    if _is_shipped(str(folder)):
        return load(folder)
    config, _ = folders.read_config(folder)
    check_import(config.env, str(folder / "run.json"), allow_import=allow_import)
    check_import(config.policy, str(folder / "run.json"), allow_import=allow_import, field="policy")
    return load(folder, policy=policy)


def _is_shipped(name: str) -> bool:
    """Is it the name of a policy that comes with the package? No environment's id looks like one."""
    from steadyrl.runs.shipped import is_shipped

    return "-v" not in name and is_shipped(name)


def _as_seen(run: Any, env: Any) -> Any:
    """The environment as the run's policy sees it."""
    from steadyrl.runs.build import as_learned_in

    return as_learned_in(run.config, lambda: env)()


def _at_random(env: Any, seed: int) -> Act:
    env.action_space.seed(seed)
    return lambda _observation, _episode, _t: env.action_space.sample()


def _by(policy: Any, seed: int, deterministic: bool) -> Act:
    """The policy's own stochastic actions, from a stream for each episode; or its likeliest."""
    import numpy as np

    from steadyrl.ground import streams
    from steadyrl.policies.derived import likeliest

    policy = likeliest(policy) if deterministic else policy
    draws = policy.uniforms_per_action

    def act(observation: Any, episode: int, t: int) -> Any:
        stream = np.array([streams.key(seed, streams.ACTIONS, episode)], dtype=np.uint64)
        return policy.act(np.asarray(observation)[None], streams.uniforms(stream, np.array([t * draws]), draws))[0]

    return act


def _draw_map(run: Any, path: Path) -> None:
    """Where a tabular policy of the Maze goes, if that is what the run has."""
    import numpy as np

    from steadyrl.policies import TabularSoftmax
    from steadyrl.report._maze import policy_map
    from steadyrl.report._style import save_figure
    from steadyrl.rollouts import collect

    env = run.make_env()
    maze = getattr(env.unwrapped, "maze", None)
    if maze is None or not isinstance(run.policy, TabularSoftmax):
        return
    batch = collect(run.policy, run.make_env, MAP_EPISODES, seed=0)
    visits = np.bincount(batch.observations[batch.mask], minlength=maze.n_states).astype(np.float64)
    save_figure(policy_map(maze, run.policy.probabilities(), visits, str(run.folder)), path, dpi=120)
    _say(f"written: {from_here(str(path))} (where it goes, over {MAP_EPISODES} episodes)")


def _play(env: Any, camera: Any, act: Act, title: str, place: tuple[int, int, int]) -> Iterator[Any]:
    """The pictures of one episode, and one line on how it went; place: seed, episode, most pictures."""
    from steadyrl.envs._video import captioned

    seed, episode, frames = place
    observation, _ = env.reset(seed=seed + episode)
    yield captioned(camera(), title, risky=False)
    total = 0.0
    over = False
    t = 0
    info = {}
    while not over and t < frames - 1:
        observation, reward, terminated, truncated, info = env.step(act(observation, episode, t))
        total = total + float(reward)
        over = terminated or truncated
        t = t + 1
        caption = f"{title}  step {t}  reward {float(reward):.1f}  return {total:.1f}"
        yield captioned(camera(), caption, risky=bool(info.get("risky")))
    readings = [f", {key} {info[key]}" for key in ("path", "side", "landed", "risk_averse") if key in info]
    _say(f"{title}: {'ended' if over else 'cut short'} after {t} steps, return {total:.2f}" + "".join(readings))


def with_progress(film: Iterator[Any], title: str, frames: int) -> list[Any]:
    """All pictures, with a bar on standard error if that is a terminal: OpenGL in software is slow."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        return list(bar.track(film, total=frames, description=title))


def _say(line: str) -> None:
    from rich.console import Console

    Console(markup=False, emoji=False, highlight=False).print(line, soft_wrap=True)
