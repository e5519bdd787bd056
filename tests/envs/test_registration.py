"""The ids are known to Gymnasium once `steadyrl.envs` is imported, or `steadyrl` after Gymnasium."""

import inspect
import subprocess
import sys
from importlib import import_module

import gymnasium as gym
import pytest

from steadyrl.envs import DOMAINS, SMALL_DOMAINS, register_all

ALL = (*DOMAINS, *SMALL_DOMAINS)
IDS = [domain.id for domain in ALL]
KNOWN = "import gymnasium; print(*[i for i in gymnasium.registry if i.startswith('steadyrl/')])"


def output_of(code):
    command = [sys.executable, "-W", "error", "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def until_the_end(steps):
    for step in steps:
        yield step
        if step[2] or step[3]:
            return


def test_the_ids():
    of_the_paper = ("Maze", "LunarLander", "InvertedPendulum", "HalfCheetah")
    small = ("TwoRoads", "Portfolio", "Inventory", "Betting", "Cliff")
    assert IDS == [f"steadyrl/{name}-v0" for name in (*of_the_paper, *small)]


@pytest.mark.parametrize("module", ["steadyrl.envs", "steadyrl.envs.noise", "steadyrl.envs.maze"])
@pytest.mark.parametrize("first", ["", "import gymnasium; ", "import steadyrl; "])
def test_the_ids_are_known_whichever_is_imported_first(module, first):
    assert output_of(f"{first}import {module}; {KNOWN}").split() == IDS


def test_the_package_alone_makes_them_known_where_gymnasium_was_imported():
    assert output_of(f"import gymnasium, steadyrl; {KNOWN}").split() == IDS


@pytest.mark.parametrize(
    ("first", "module"),
    [
        ("", "steadyrl"),
        ("", "steadyrl.envs"),
        ("import steadyrl; ", "steadyrl.envs"),
        ("import steadyrl.envs; ", "steadyrl"),
    ],
)
def test_gymnasium_makes_an_id_with_its_module_in_front(first, module):
    output = output_of(f"{first}import gymnasium as g; print(g.make('{module}:steadyrl/Maze-v0').unwrapped)")
    assert output == "<MazeEnv<steadyrl/Maze-v0>>"


@pytest.mark.parametrize("module", ["steadyrl", "steadyrl.measures"])
def test_importing_the_package_does_not_import_gymnasium(module):
    assert output_of(f"import {module}, sys; print('gymnasium' in sys.modules)") == "False"


def test_making_the_maze_imports_neither_torch_nor_mujoco_nor_box2d_nor_pygame():
    heavy = "{'torch', 'mujoco', 'Box2D', 'pygame', 'matplotlib', 'numba'}"
    code = "import steadyrl.envs, gymnasium as g, sys; g.make('steadyrl/Maze-v0').reset(seed=0); "
    assert output_of(f"{code}print({heavy} & set(sys.modules))") == "set()"


def test_registering_again_changes_nothing_and_warns_of_nothing():
    before = dict(gym.registry)
    register_all()
    assert dict(gym.registry) == before


def test_gymnasiums_module_looks_as_if_imported_the_usual_way():
    code = "import steadyrl.envs, gymnasium, importlib; print(type(gymnasium.__spec__.loader).__name__); "
    assert output_of(f"{code}importlib.reload(gymnasium)") == "SourceFileLoader"


@pytest.mark.parametrize("domain", ALL, ids=IDS)
def test_the_listed_parameters_are_the_arguments_with_their_defaults(domain):
    module, name = domain.entry_point.split(":")
    arguments = inspect.signature(getattr(import_module(module), name)).parameters.values()
    named = {a.name: a.default for a in arguments if a.kind is not inspect.Parameter.VAR_KEYWORD}
    assert {parameter.name: parameter.default for parameter in domain.parameters} == named


@pytest.mark.parametrize("domain", ALL, ids=IDS)
def test_gymnasium_adds_no_time_limit_of_its_own(domain):
    assert gym.spec(domain.id).max_episode_steps is None


@pytest.mark.parametrize("domain", ALL, ids=IDS)
def test_every_episode_ends_with_its_readings(domain):
    env = gym.make(domain.id)
    env.reset(seed=1)
    env.action_space.seed(1)
    terminated = truncated = False
    while not (terminated or truncated):
        *_, terminated, truncated, info = env.step(env.action_space.sample())
    assert 0.0 <= info["risk_averse"] <= 1.0
    assert 0.0 <= info["risky_share"] <= 1.0
    assert info["episode_length"] >= 1


@pytest.mark.parametrize("domain", ALL, ids=IDS)
def test_an_environment_can_be_made_again_from_its_spec(domain):
    env = gym.make(domain.id)
    again = gym.make(env.spec)
    rewards = []
    for one in (env, again):
        one.reset(seed=3)
        one.action_space.seed(3)
        steps = (one.step(one.action_space.sample()) for _ in range(5))
        rewards.append([reward for _, reward, *_ in until_the_end(steps)])
    assert rewards[0] == rewards[1]
