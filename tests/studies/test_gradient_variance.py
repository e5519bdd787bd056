"""The study of gradient variance: its gradients by hand, its variances by enumeration, and that it can be stopped."""

import itertools
from dataclasses import asdict

import numpy as np
import pytest

from steadyrl import estimators, streams
from steadyrl.envs import MazeEnv
from steadyrl.policies.tabular import softmax
from steadyrl.report import _gradient_variance as report
from steadyrl.rollouts import Collector
from steadyrl.runs import RunConfig, load, train
from steadyrl.runs.view import Quiet
from steadyrl.studies import gradient_variance as study
from steadyrl.studies._variability_gradients import variability_gradients
from tests.studies.synthetic import gradient_cells as cells

MEASURES = estimators.paper.MEASURES


def test_gradients_are_those_of_finite_differences():
    rng = np.random.default_rng(0)
    runs, batches, n, steps, states, actions = 2, 3, 4, 5, 3, 2
    theta = rng.normal(size=(runs, states, actions))
    shape = (runs, batches * n, steps)
    s, a = rng.integers(states, size=shape), rng.integers(actions, size=shape)
    lengths = rng.integers(1, steps + 1, size=shape[:2])
    c = rng.normal(size=(runs, batches, n))

    def weighted(r, k, table):
        log = np.log(softmax(table))
        episodes = range(k * n, (k + 1) * n)
        played = [sum(log[s[r, i, t], a[r, i, t]] for t in range(lengths[r, i])) for i in episodes]
        return np.dot(c[r, k], played) / n

    found = variability_gradients(softmax(theta), (s, a, np.zeros(shape), lengths), c)
    for r, k, i, j in itertools.product(range(runs), range(batches), range(states), range(actions)):
        step = np.zeros((states, actions))
        step[i, j] = 1e-6
        slope = (weighted(r, k, theta[r] + step) - weighted(r, k, theta[r] - step)) / 2e-6
        assert found[r, k, i, j] == pytest.approx(slope, abs=1e-8)


def test_variance_over_batches_is_that_of_every_batch_there_is():
    """One state, two actions with a reward each, three episodes a batch: eight batches, each with its probability."""
    pi, rewards, n, batches = np.array([0.3, 0.7]), np.array([1.0, 4.0]), 3, 40_000

    def gradients(actions):
        shape = (1, actions.size, 1)
        played = (np.zeros(shape, dtype=int), actions.reshape(shape), np.zeros(shape), np.ones(shape[:2], dtype=int))
        c = estimators.influence.coefficients("variance", rewards[actions])
        return variability_gradients(pi[None, None], played, c[None])[0, :, 0]

    every = np.array(list(itertools.product((0, 1), repeat=n)))
    weights = pi[every].prod(axis=1)
    exact = gradients(every)
    mean = weights @ exact
    total = weights @ ((exact - mean) ** 2).sum(axis=1)
    drawn = gradients((np.random.default_rng(1).random((batches, n)) < pi[1]).astype(int))
    assert drawn.var(axis=0, ddof=1).sum() == pytest.approx(total, rel=0.03)
    slope = 9.0 * (pi[1] - pi[0]) * -pi[0] * pi[1]  # of the variance 9 p (1 - p) by theta, exactly unbiased
    assert mean == pytest.approx([-slope, slope], rel=1e-12)


@pytest.mark.parametrize(("measure", "estimator"), [("semi_variance", "paper"), ("cvar_deviation", "influence")])
def test_a_cell_is_what_plain_loops_find_in_the_run_of_the_study(measure, estimator, tmp_path):
    task = (measure, estimator, 3, 20, 4)
    cell = study.measure_cells([(*task[:2], 0, 20, 4), task])[1]
    config = study.config_of(task)
    train(config=config, out=tmp_path / "run", view=Quiet())
    policy = load(tmp_path / "run").policy
    pi = policy.probabilities()
    collector = Collector(MazeEnv)
    batch = collector.collect(policy, 4 * 50, streams.key(3, streams.EVALUATION, 2), 20)
    scores, returns = np.zeros((200, *pi.shape)), np.zeros(200)
    for i, t in itertools.product(range(200), range(batch.rewards.shape[1])):
        if t < batch.lengths[i]:
            s, a = batch.observations[i, t], batch.actions[i, t]
            scores[i, s] -= pi[s]
            scores[i, s, a] += 1.0
            returns[i] += 0.999**t * batch.rewards[i, t]
    c = estimators.get(estimator).coefficients(measure, returns.reshape(4, 50))
    gradients = np.einsum("bi,bisa->bsa", c, scores.reshape(4, 50, *pi.shape)) / 50
    assert (cell.at, cell.lam) == ([0, 5, 10, 20], config.lam)
    assert cell.variance[-1] == pytest.approx(gradients.var(axis=0, ddof=1).sum(), rel=1e-9)
    assert cell.gradient_norm[-1] == pytest.approx(np.linalg.norm(gradients.mean(axis=0)), rel=1e-9)
    assert cell.risk_averse[-1] == batch.risk_averse.mean()
    assert cell.timeout[-1] == (batch.outcomes["path"] == "timeout").mean()


def test_a_run_that_diverged_has_no_numbers():
    config = RunConfig("steadyrl/Maze-v0", measure="variance", estimator="paper", policy_rate=1e300, n=10)
    found = study.watched([config], 5, 2)[0]
    assert (found[:, 0] >= 0).all()
    assert np.isnan(found[:, -1]).all()


def test_a_study_stopped_anywhere_ends_the_same(tmp_path):
    options = {"seeds": 2, "updates": 5, "batches": 2}
    assert list(study.run(tmp_path / "whole", **options))[-1] == (36, 36)
    for _ in itertools.islice(study.run(tmp_path / "parts", **options), 4):
        pass
    path = tmp_path / "parts" / "cells.jsonl"
    path.write_text(path.read_text()[:-30])
    resumed = list(study.run(tmp_path / "parts", **options))
    assert resumed[0] == (5, 36)  # of six, the last was cut off
    assert list(study.run(tmp_path / "parts", **options)) == [(36, 36)]
    assert study.read(tmp_path / "whole") == study.read(tmp_path / "parts")
    for name in ("whole", "parts"):
        report.write(study.read(tmp_path / name), tmp_path / name)
    for name in ("table.csv", "claims.json", "claims.md", "gradient_variance_log.svg", "gradient_variance_linear.png"):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "parts" / name).read_bytes()
    old = path.read_text().replace(study.fingerprint(), "0" * 12)
    path.write_text(old)
    assert study.read(tmp_path / "parts") == []  # of other sources


@pytest.mark.parametrize(("name", "value", "least"), [("seeds", 0, 1), ("updates", 0, 1), ("batches", 1, 2)])
def test_numbers_that_make_no_sense_are_refused(name, value, least, tmp_path):
    with pytest.raises(ValueError, match=f"{name} = {value}: must be >= {least}"):
        next(study.run(tmp_path, **{name: value}))


def test_halts_are_close_at_the_start():
    assert study.halts(100) == [0, 5, 10, 20, 50, 100]
    assert study.halts(7) == [0, 5]


def test_figures_have_a_line_for_each_measure():
    log, linear = report.log_figure(cells()), report.linear_figure(cells())
    assert [len(panel.get_lines()) for panel in log.axes] == [9] * 4
    assert [len(panel.get_lines()) for panel in linear.axes] == [9] * 3 + [5] * 3 + [7] * 3
    assert log.axes[0].get_lines()[0].get_ydata().tolist() == [150.0] * 8
    assert log.axes[2].get_lines()[0].get_ydata().tolist() == [37.5] * 8  # lam^2 times it
    assert log.axes[0].get_ylim() == log.axes[1].get_ylim()
    assert max(linear.axes[6].get_lines()[0].get_xdata()) == report.BEGINNING
    assert {text.get_text() for text in log.legends[0].get_texts()} >= {"Variance", "CVaR deviation"}


def test_the_table_has_means_over_seeds_and_the_longest_study_alone(tmp_path):
    short = [study.Cell(**{**asdict(cell), "updates": 50}) for cell in cells(variance=7.0)]
    report.write([*short, *cells()], tmp_path)
    head, first, *_ = (tmp_path / "table.csv").read_text().splitlines()
    assert head.startswith("measure,estimator,lam,seeds,update,variance,variance_error,scaled_variance")
    assert first == f"{MEASURES[0]},paper,0.5,2,0,150,50,37.5,1,0.5,0.5"
    assert len((tmp_path / "table.csv").read_text().splitlines()) == 1 + 18 * 8


def test_a_line_goes_on_without_the_seed_that_diverged():
    first, second = cells()[:2]
    second = study.Cell(**{**asdict(second), "variance": [200.0] * 3 + [None] * 5})
    line = report.line_of([first, second], MEASURES[0], "paper")
    assert line.mean.tolist() == [150.0] * 3 + [100.0] * 5
