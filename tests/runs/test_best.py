"""Keeping the best policy, ending early, a budget of time, callbacks; all of it resumed to the bit."""

import json
import math

import numpy as np
import pytest

from steadyrl import measures
from steadyrl.ground import streams
from steadyrl.policies.derived import likeliest
from steadyrl.rollouts import Collector
from steadyrl.rollouts.returns import discounted_returns
from steadyrl.runs import BadInputError, Callback, RunFailedError, load, train
from steadyrl.runs.rules import Rule, parse
from steadyrl.runs.view import Lines, Quiet
from tests.runs import envs

MAZE = "steadyrl/Maze-v0"
SHORT = {"n": 4, "updates": 12, "lam": 1.0, "view": Quiet()}
EVALUATED = SHORT | {"evaluate_every": 2, "evaluate_episodes": 10, "checkpoint_every": 3}


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "lock"}


@pytest.mark.parametrize("rule", ["return", "objective", "cvar", "undiscounted_return"])
def test_the_best_policy_is_the_one_with_the_largest_number_in_the_metrics(rule, tmp_path):
    run = train(envs.walk, keep_best=rule, out=tmp_path / "run", policy_rate=0.3, **EVALUATED)
    scores = {row["update"]: row[f"evaluation.{rule}"] for row in run.metrics() if f"evaluation.{rule}" in row}
    assert list(scores) == [2, 4, 6, 8, 10, 12]
    best = load(tmp_path / "run", env=envs.walk, policy="best")
    assert scores[best.update] == max(scores.values())
    then = train(envs.walk, out=tmp_path / "then", policy_rate=0.3, **EVALUATED | {"updates": best.update})
    np.testing.assert_array_equal(best.policy.theta, then.policy.theta)
    np.testing.assert_array_equal(load(tmp_path / "run", env=envs.walk).policy.theta, run.policy.theta)


def test_what_an_evaluation_logs(tmp_path):
    run = train(MAZE, out=tmp_path / "run", **EVALUATED | {"updates": 2})
    batch = Collector(MAZE).collect(run.policy, 10, streams.key(0, streams.EVALUATION), 2)
    returns, row = discounted_returns(batch.rewards, 0.999), run.metrics()[-1]
    assert row["evaluation.return"] == returns.mean()
    assert row["evaluation.cvar"] == pytest.approx(np.sort(returns)[:2].mean())  # the worst 20 % of ten
    assert row["evaluation.objective"] == returns.mean() - measures.get("gini_deviation").value(returns)
    assert (
        "evaluation.objective"
        not in train(MAZE, out=tmp_path / "other", **EVALUATED | {"updates": 2, "lam": None}).metrics()[-1]
    )


def test_the_best_of_a_network_is_kept_too(tmp_path):
    options = EVALUATED | {"updates": 4, "policy": "network", "hidden": [4], "policy_rate": 0.05}
    train(envs.walk, keep_best="return", out=tmp_path / "run", **options)
    best = load(tmp_path / "run", env=envs.walk, policy="best")

    class Then(Callback):  # a run of fewer updates would have other rates, which may fall until the last one
        def updated(self, progress):
            if progress.update == best.update:
                progress.stop("here")

    then = train(envs.walk, callbacks=[Then()], out=tmp_path / "then", **options)
    assert then.update == best.update
    for name, array in then.policy.arrays().items():
        np.testing.assert_array_equal(best.policy.arrays()[name], array)


def test_with_everything_on_a_run_that_is_interrupted_at_every_boundary_leaves_the_same_bytes(tmp_path):
    class Half(Callback):
        def updated(self, progress):
            return {"half": progress.update / 2}

    options = EVALUATED | {"keep_best": "cvar", "patience": 4, "stop_when": "own.half >= 5.5", "updates": 100}
    whole = train(envs.walk, out=tmp_path / "whole", callbacks=[Half()], **options)
    assert (whole.status, whole.update, whole.reason) == ("finished", 11, "own.half >= 5.5: it is 5.5")
    updates = []
    while True:
        run = train(envs.walk, out=tmp_path / "pieces", callbacks=[Half()], hours=1e-9, **options)
        updates.append(run.update)
        if run.status == "finished":
            break
        assert run.status == load(tmp_path / "pieces", env=envs.walk).status == "unfinished"
    assert updates == [3, 6, 9, 11]
    assert files(tmp_path / "pieces") == files(tmp_path / "whole")


def test_a_budget_of_time_is_no_part_of_the_run(tmp_path):
    plain = train(MAZE, out=tmp_path / "plain", **SHORT, checkpoint_every=6)
    assert train(MAZE, out=tmp_path / "run", hours=100, **SHORT, checkpoint_every=6).status == "finished"
    assert train(MAZE, out=tmp_path / "run2", hours=1e-9, **SHORT, checkpoint_every=6).update == 6
    assert train(MAZE, out=tmp_path / "run2", hours=1e-9, **SHORT, checkpoint_every=6).status == "finished"
    assert files(plain.folder) == files(tmp_path / "run") == files(tmp_path / "run2")
    for hours in (0, -1, math.nan):
        with pytest.raises(BadInputError, match=f"hours = {hours}: must be > 0"):
            train(MAZE, out=tmp_path / "no", hours=hours, **SHORT)


def test_a_run_ends_when_its_rule_says_so_and_says_why(tmp_path):
    run = train(envs.walk, stop_when="length <= 10", out=tmp_path / "run", **SHORT)
    assert (run.update, run.status, run.reason) == (1, "finished", "length <= 10: it is 10")
    assert json.loads((tmp_path / "run" / "done.json").read_text())["reason"] == run.reason
    assert load(tmp_path / "run", env=envs.walk).reason == run.reason
    never = train(envs.walk, stop_when="length < 10", out=tmp_path / "never", **SHORT)
    assert (never.update, never.reason) == (12, "")


def test_an_end_that_was_killed_before_it_was_written_is_the_same_end(tmp_path):
    train(envs.walk, stop_when="length <= 10", out=tmp_path / "run", **SHORT)
    before = files(tmp_path / "run")
    (tmp_path / "run" / "done.json").unlink()
    train(envs.walk, stop_when="length <= 10", out=tmp_path / "run", **SHORT)
    assert files(tmp_path / "run") == before


def test_patience_ends_a_run_that_does_not_get_better(tmp_path):
    """With a rate of nearly nothing every evaluation is of the same policy; the first of equal scores is kept."""
    options = EVALUATED | {"keep_best": "return", "updates": 100, "n": 2}
    run = train("tests.runs.envs:Endless-v0", limit=3, patience=3, policy_rate=1e-12, out=tmp_path / "run", **options)
    scores = [row["evaluation.return"] for row in run.metrics() if "evaluation.return" in row]
    best = int(np.argmax(scores))
    assert len(scores) == best + 1 + 3
    assert load(tmp_path / "run", policy="best").update == 2 * (best + 1)
    assert run.reason.startswith("3 evaluations without a better evaluation.return than ")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"keep_best": "return"}, "keep_best = 'return': needs evaluations: give evaluate_every"),
        ({"keep_best": "luck"}, "keep_best = 'luck': must be no, return, undiscounted_return, objective or cvar"),
        (
            {"keep_best": "objective", "evaluate_every": 1, "lam": None},
            "keep_best = 'objective': needs lam, the weight of D in",
        ),
        ({"patience": 2}, "patience = 2: needs keep_best"),
        ({"stop_when": "return => 200"}, r"stop_when = 'return => 200': must be METRIC >= NUMBER"),
        ({"stop_when": "return >= nan"}, r"stop_when = 'return >= nan': must be METRIC >= NUMBER"),
        ({"stop_when": "evaluation.return > 1"}, "stop_when = .*: needs evaluations: give evaluate_every"),
        (
            {"stop_when": "evaluation.retrun > 1", "evaluate_every": 1},
            "there is no metric 'evaluation.retrun': this run has evaluation.return, evaluation.undiscounted_return, ",
        ),
        (
            {"stop_when": "retrun >= 1"},
            "there is no metric 'retrun': this run has return, .*variability, lam, .*length",
        ),
        ({"stop_when": "own.share >= 1"}, "there is no metric 'own.share'"),
    ],
)
def test_a_rule_that_cannot_be_followed_is_refused_before_anything_is_written(options, why, tmp_path):
    with pytest.raises(BadInputError, match=why):
        train(envs.walk, out=tmp_path / "run", **SHORT | options)
    assert list(tmp_path.iterdir()) == []


def test_a_word_that_has_not_occurred_yet_is_a_metric(tmp_path):
    assert train(MAZE, stop_when="path.nonesuch >= 0.5", out=tmp_path / "run", **SHORT).update == 12


def test_rules_are_read_as_they_are_written():
    assert parse(" own.share<=-1e3 ") == Rule("own.share", "<=", -1000.0)
    assert [Rule("x", relation, 1.0).is_met({"x": 1.0}) for relation in (">=", "<=", ">", "<")] == [1, 1, 0, 0]
    assert not Rule("x", ">=", 1.0).is_met({"y": 2.0})
    assert not Rule("x", "<", 1.0).is_met({"x": math.nan})


def test_there_is_no_best_where_none_was_kept(tmp_path):
    train(MAZE, out=tmp_path / "run", **SHORT)
    with pytest.raises(BadInputError, match="has kept no best policy: train it with keep_best and evaluate_every"):
        load(tmp_path / "run", policy="best")
    with pytest.raises(BadInputError, match="policy = 'worst': must be last or best"):
        load(tmp_path / "run", policy="worst")


def test_a_callback_sees_every_update_logs_numbers_and_ends_the_run(tmp_path):
    class Mine(Callback):
        def __init__(self):
            self.calls = []

        def begin(self, progress):
            self.calls.append(("begin", progress.update))

        def updated(self, progress):
            self.calls.append(("updated", progress.update))
            if progress.update == 5:
                progress.policy.save(progress.folder.parent / "policy")
                progress.stop("enough")
            return {"share": progress.policy.probabilities()[2, 1], "twice": 2 * progress.row["return"]}

        def end(self, progress):
            self.calls.append(("end", progress.update))

    mine, lines = Mine(), tmp_path / "lines"
    with lines.open("w") as file:
        options = SHORT | {"log_every": 3, "view": Lines(file)}
        run = train(envs.walk, callbacks=[mine], out=tmp_path / "run", **options)
    assert mine.calls == [("begin", 0), *(("updated", k) for k in range(1, 6)), ("end", 5)]
    assert [row["update"] for row in run.metrics()] == [3, 5]
    last = run.metrics()[-1]
    assert last["own.share"] == run.policy.probabilities()[2, 1]
    assert last["own.twice"] == 2 * last["return"]
    assert "length" in last
    assert (run.status, run.update, run.reason) == ("finished", 5, "enough")
    assert (tmp_path / "policy").exists()


def test_a_callback_that_raises_fails_the_run_in_one_line_and_its_checkpoint_stays(tmp_path):
    class Bad(Callback):
        def updated(self, progress):
            return {"x": 1 / (4 - progress.update)}

    with pytest.raises(RunFailedError) as failed:
        train(envs.walk, callbacks=[Bad()], out=tmp_path / "run", checkpoint_every=2, **SHORT)
    why = "update 4, callback Bad raised ZeroDivisionError in updated: division by zero (ckpt-2 stays)"
    assert str(failed.value) == why
    assert load(tmp_path / "run", env=envs.walk).update == 2


@pytest.mark.parametrize("answer", [3, {"x": "y"}, {1: 2.0}, [("x", 1.0)]])
def test_a_callback_that_gives_no_numbers_by_name_fails_the_run(answer, tmp_path):
    class Odd(Callback):
        def updated(self, progress):
            return answer

    with pytest.raises(RunFailedError, match=r"update 1, callback Odd gave .*: must be numbers by name"):
        train(envs.walk, callbacks=[Odd()], out=tmp_path / "run", **SHORT)


def test_a_view_shows_the_numbers_of_callbacks(tmp_path):
    class Half(Callback):
        def updated(self, progress):
            return {"half": progress.update / 2}

    with (tmp_path / "lines").open("w") as file:
        train(envs.walk, callbacks=[Half()], out=tmp_path / "run", **SHORT | {"view": Lines(file)})
    assert ", half 6, " in (tmp_path / "lines").read_text()


def test_a_deterministic_evaluation_takes_the_likeliest_actions(tmp_path):
    run = train(envs.walk, policy_rate=0.3, out=tmp_path / "run", **SHORT)
    evaluation = run.evaluate(20, seed=3, deterministic=True)
    batch = Collector(envs.walk).collect(likeliest(run.policy), 20, streams.key(3, streams.EVALUATION, 1), 0)
    likely = run.policy.theta.argmax(axis=1)
    np.testing.assert_array_equal(batch.actions[batch.mask], likely[batch.observations[batch.mask]])
    np.testing.assert_array_equal(evaluation.returns, discounted_returns(batch.rewards, 0.999))


@pytest.mark.parametrize("env", ["CartPole-v1", "Pendulum-v1", "tests.runs.envs:Walk-v0"])
def test_the_likeliest_actions_of_a_network_are_those_that_it_predicts(env, tmp_path):
    options = {"policy": "network", "hidden": [4], "n": 2, "updates": 1, "view": Quiet()}
    run = train(env, out=tmp_path / "run", **options)
    batch = Collector(env).collect(likeliest(run.policy), 2, seed=0, iteration=0)
    for observation, action in zip(batch.observations[batch.mask][:20], batch.actions[batch.mask][:20], strict=True):
        np.testing.assert_allclose(action, run.policy.predict(observation), rtol=1e-6)
