"""What a run does on its way: it learns, evaluates, and says clearly when it cannot continue."""

import json

import gymnasium as gym
import numpy as np
import pytest

from steadyrl.actors.options import TableOptions
from steadyrl.actors.table import TableActor
from steadyrl.algorithms.reinforce import Reinforce, ReinforceOptions
from steadyrl.ground import streams
from steadyrl.rollouts import Collector
from steadyrl.runs import BadInputError, Callback, RunConfig, RunFailedError, config_hash, load, train
from steadyrl.runs.build import env_name
from steadyrl.runs.training import check_arguments
from steadyrl.runs.view import Lines, Quiet
from tests.runs import envs

SHORT = {"n": 4, "updates": 6, "checkpoint_every": 2}


def walk_with(**options):
    return lambda: gym.make("Walk-v0", disable_env_checker=True, **options)


def test_it_is_the_plain_loop_recorded(tmp_path):
    """The same numbers as collect and update by hand."""
    run = train("steadyrl/Maze-v0", n=10, updates=5, seed=3, out=tmp_path / "run", view=Quiet(), evaluate_every=2)
    actor = TableActor(36, 4, TableOptions(), Reinforce.value_factor)
    collector, learner = Collector("steadyrl/Maze-v0"), Reinforce(actor, ReinforceOptions())
    for k, row in enumerate(run.metrics()):
        batch = collector.collect(learner.policy, 10, 3, k)
        expected = learner.update(batch, k) | {"length": batch.lengths.mean(), "risk_averse": batch.risk_averse.mean()}
        expected |= {f"path.{path}": (batch.outcomes["path"] == path).mean() for path in set(batch.outcomes["path"])}
        assert row.items() >= expected.items()
        assert ("evaluation.return" in row) == (k % 2 == 1)
    np.testing.assert_array_equal(run.policy.theta, actor.policy.theta)


def test_evaluation_is_of_the_policy_of_now_and_changes_nothing(tmp_path):
    options = {"n": 4, "updates": 6, "seed": 1, "view": Quiet()}
    plain = train("steadyrl/Maze-v0", out=tmp_path / "plain", **options)
    run = train(
        "steadyrl/Maze-v0", out=tmp_path / "run", evaluate_every=6, evaluate_episodes=20, log_every=4, **options
    )
    np.testing.assert_array_equal(run.policy.theta, plain.policy.theta)
    assert [row["update"] for row in run.metrics()] == [4, 6]
    key = streams.key(1, streams.EVALUATION)
    batch = Collector("steadyrl/Maze-v0").collect(run.policy, 20, key, 6)
    assert run.metrics()[-1]["evaluation.risk_averse"] == batch.risk_averse.mean()


def test_a_policy_that_was_loaded_is_evaluated_as_the_one_that_was_trained(tmp_path):
    run = train("steadyrl/Maze-v0", n=4, updates=3, out=tmp_path / "run", view=Quiet())
    a, b = run.evaluate(300, seed=5), load(tmp_path / "run").evaluate(300, seed=5)
    np.testing.assert_array_equal(a.returns, b.returns)
    assert a.returns.shape == (300,)
    assert a.risk_averse == b.risk_averse
    assert a.summary(resamples=50)["mean"].value == pytest.approx(a.returns.mean())
    plain = run.evaluate(20, seed=5, gamma=1.0)
    assert (plain.returns <= 0.0).any()
    assert not np.array_equal(plain.returns, run.evaluate(20, seed=6, gamma=1.0).returns)


def test_divergence_ends_the_run_and_is_kept(tmp_path):
    run = train(envs.walk, policy_rate=1e308, out=tmp_path / "run", view=Quiet(), **SHORT)
    assert run.status == "diverged"
    assert run.update < 6
    assert run.metrics()[-1]["update"] == run.update
    ending = json.loads((tmp_path / "run" / "done.json").read_text())
    assert (ending["status"], ending["update"]) == ("diverged", run.update)
    assert load(tmp_path / "run", env=envs.walk).status == "diverged"
    (tmp_path / "run" / "done.json").unlink()
    assert train(envs.walk, policy_rate=1e308, out=tmp_path / "run", view=Quiet(), **SHORT).update == run.update


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("raises", "the environment raised RuntimeError: the motor is on fire"),
        ("hole", "reward = nan: must be finite"),
    ],
)
def test_an_environment_that_breaks_down_fails_the_run_naming_episode_and_step(fault, why, tmp_path):
    """It does so in its third episode; every one of them plays one in each update."""
    env = walk_with(fault=fault, after=2)
    with pytest.raises(RunFailedError) as failed:
        train(env, n=3, updates=9, out=tmp_path / "run", view=Quiet())
    assert str(failed.value) == f"{env_name(env)}: update 3, episode 0, step 3: {why} (there is no checkpoint yet)"
    assert failed.value.exit_code == 1


def test_returns_too_large_for_a_float_fail_the_run(tmp_path):
    with pytest.raises(
        RunFailedError, match=r"update 1, returns\[0\] = inf: must be finite .* \(there is no checkpoint yet\)"
    ):
        train(walk_with(fault="huge"), n=3, updates=9, out=tmp_path / "run", view=Quiet())


def test_an_environment_that_breaks_down_fails_an_evaluation(tmp_path):
    env = walk_with(fault="raises", after=2)
    run = train(env, n=2, updates=1, out=tmp_path / "run", view=Quiet())
    with pytest.raises(RunFailedError, match="evaluation, episode 64, step 3: the environment raised RuntimeError"):
        run.evaluate(100)


def test_what_a_failed_run_had_reached_stays(tmp_path):
    """New environments after update 2; in the evaluation after update 3 the first of them plays its fourth episode."""
    env, options = walk_with(fault="raises", after=3), {"evaluate_every": 3, "evaluate_episodes": 65}
    with pytest.raises(RunFailedError, match=r"evaluation after update 3, episode 64, step 3: .* \(ckpt-2 stays\)"):
        train(env, n=2, updates=9, checkpoint_every=2, out=tmp_path / "run", view=Quiet(), **options)
    reached = load(tmp_path / "run", env=env)
    assert (reached.status, reached.update) == ("unfinished", 2)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"env": "Nope-v0"}, r"env = Nope-v0: Environment `Nope` doesn't exist\. Did you mean"),
        ({"env": "tests.runs.envs:Endless-v0"}, "has no time limit: give limit, the longest an episode may last"),
        (
            {"env": "tests.runs.envs:Words-v0"},
            r"observation_space = Text.*: must be Box, .* gymnasium\.wrappers\.Transf",
        ),
        (
            {"env": walk_with(fault="tuple")},
            r"step 1: raised ValueError: not enough values to unpack \(expected 5, got 3\)",
        ),
        ({"env": walk_with(fault="hole", after=0)}, "step 4: reward: got nan, expected a finite number"),
        (
            {"env": envs.walk, "activation": "elu"},
            "activation = 'elu': must be left out: <tests.runs.envs.walk> is learned by a table",
        ),
        (
            {"env": "steadyrl/Maze-v0", "max_grad_norm": 1.0, "hidden": [7]},
            r"^max_grad_norm = 1: must be left out: steadyrl/Maze-v0 is learned by a table; policy = network would "
            r"have it; hidden = \[7\]: must be left out: .*; policy = network would have it$",
        ),
        (
            {"env": "CartPole-v1", "tanh_mean": True},
            "^tanh_mean = True: must be left out: CartPole-v1 is learned by a network$",
        ),
        ({"env": "CartPole-v1", "policy": "tabular"}, "policy = 'tabular': must be network for observations in Box"),
        (
            {"env": "CartPole-v1", "policy": "network", "env_options": {"x": 1}},
            "got an unexpected keyword argument 'x'",
        ),
    ],
)
def test_what_cannot_be_trained_is_refused_before_anything_is_written(options, why, tmp_path):
    with pytest.raises(BadInputError, match=why):
        train(out=tmp_path / "run", view=Quiet(), **options)
    assert list(tmp_path.iterdir()) == []


def test_a_network_on_the_maze_has_the_options_of_a_network(tmp_path):
    run = train("steadyrl/Maze-v0", policy="network", hidden=[7], out=tmp_path / "run", view=Quiet(), n=2, updates=1)
    assert run.config.hidden == (7,)
    assert {7, 36} in [set(layer.shape) for layer in run.policy.state_dict().values()]


def test_one_environment_is_not_enough(tmp_path):
    with pytest.raises(BadInputError, match="give its id or a function that makes it"):
        train(envs.walk(), out=tmp_path / "run")


def test_an_endless_environment_is_trained_with_a_limit(tmp_path):
    run = train("tests.runs.envs:Endless-v0", limit=7, out=tmp_path / "run", view=Quiet(), **SHORT)
    assert run.metrics()[-1]["length"] == 7.0


def test_lines_tell_how_it_goes(tmp_path):
    with (tmp_path / "told").open("w") as file:
        train(envs.walk, out=tmp_path / "run", view=Lines(file), **SHORT)
    (line,) = (tmp_path / "told").read_text().splitlines()
    assert line.startswith("update 6 of 6: return ")
    assert ", variability " in line
    assert line.endswith(" steps/s, 0:00:00 left")


def test_without_a_folder_it_is_named_by_the_hashes_of_config_and_environment(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = train(envs.walk, view=Quiet(), **SHORT)
    assert run.folder.parent.name == "runs"
    assert len(run.folder.name) == 12 + 1 + 8
    by_id = train("tests.runs.envs:Walk-v0", view=Quiet(), **SHORT)
    assert by_id.folder.name == config_hash(by_id.config)[:12]
    assert train(config=RunConfig("x"), env=envs.walk, view=Quiet(), **SHORT).folder == run.folder


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"env": 3}, "^env = 3: must be an environment's id or a function that makes one$"),
        ({"options": {"x": 1}}, r"^env_options = \{'x': 1\}: only with an id: give a function that uses them$"),
        ({"hours": "2"}, "^hours = '2': must be > 0$"),
        ({"callbacks": 3}, "^callbacks = 3: must be a list of callbacks$"),
        ({"callbacks": [print]}, "^callbacks: <built-in function print> is no callback: give an object of a class"),
        ({"callbacks": [Callback]}, "^callbacks: <class .* is no callback: give an object of a class"),
    ],
)
def test_an_argument_that_is_none_of_what_is_accepted_is_refused_by_name(arguments, why):
    arguments_of_train = {"env": envs.walk, "options": {}, "hours": None, "callbacks": []} | arguments
    config = RunConfig("<walk>", env_options=arguments_of_train.pop("options"))
    with pytest.raises(BadInputError, match=why):
        check_arguments(config=config, **arguments_of_train)


def test_an_id_that_nobody_registered_may_be_in_a_module_of_the_user(tmp_path):
    why = r"One of your own: MODULE:Nonesuch-v0 imports the module that registers it first\.$"
    with pytest.raises(BadInputError, match=why):
        train("Nonesuch-v0", out=tmp_path / "run", view=Quiet())


def test_a_file_in_the_place_of_a_module_is_told_the_modules_name(tmp_path):
    with pytest.raises(BadInputError, match=r"A module's name has no \.py: mine:Mine-v0\.$"):
        train("mine.py:Mine-v0", out=tmp_path / "run", view=Quiet())
