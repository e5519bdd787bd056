"""The study of gradient variance: its gradients by hand, its variances by enumeration, and that it can be stopped."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from steadyrl import estimators
from steadyrl.envs import MazeEnv
from steadyrl.ground import streams
from steadyrl.paper.gradients import rows, variance
from steadyrl.paper.gradients import variance_report as report
from steadyrl.paper.gradients.variance import EXPERIMENT, Halts, VarianceCase, variability_gradients, watched
from steadyrl.paper.presets import preset
from steadyrl.policies.tabular import softmax
from steadyrl.rollouts import Collector
from steadyrl.runs import RunConfig, checkpoint, load, train
from steadyrl.runs.config import config_hash
from steadyrl.runs.view import Quiet
from steadyrl.studies.study import study_from
from tests.paper.synthetic import in_process, variance_rows

MEASURES = estimators.paper.MEASURES


def test_gradients_are_those_of_finite_differences():
    rng = np.random.default_rng(0)
    runs = 2
    batches = 3
    n = 4
    steps = 5
    states = 3
    actions = 2
    theta = rng.normal(size=(runs, states, actions))
    shape = (runs, batches * n, steps)
    s, a = rng.integers(states, size=shape), rng.integers(actions, size=shape)
    lengths = rng.integers(1, steps + 1, size=shape[:2])
    c = rng.normal(size=(runs, batches, n))

    def weighted(r, k, table):
        log = np.log(softmax(table))
        episodes = range(k * n, (k + 1) * n)
        log_probabilities = [sum(log[s[r, i, t], a[r, i, t]] for t in range(lengths[r, i])) for i in episodes]
        return np.dot(c[r, k], log_probabilities) / n

    weights = np.repeat(c[..., None], steps, axis=-1)
    gradient = variability_gradients(softmax(theta), (s, a, np.zeros(shape), lengths), weights)
    for r, k, i, j in itertools.product(range(runs), range(batches), range(states), range(actions)):
        step = np.zeros((states, actions))
        step[i, j] = 1e-6
        slope = (weighted(r, k, theta[r] + step) - weighted(r, k, theta[r] - step)) / 2e-6
        assert gradient[r, k, i, j] == pytest.approx(slope, abs=1e-8)


def test_variance_over_batches_is_that_of_every_batch_there_is():
    """One state, two actions with a reward each, three episodes a batch: eight batches, each with its probability."""
    pi = np.array([0.3, 0.7])
    rewards = np.array([1.0, 4.0])
    n = 3
    batches = 40_000

    def gradients(actions):
        shape = (1, actions.size, 1)
        episodes = (np.zeros(shape, dtype=int), actions.reshape(shape), np.zeros(shape), np.ones(shape[:2], dtype=int))
        c = estimators.influence.coefficients("variance", rewards[actions])
        return variability_gradients(pi[None, None], episodes, c[None, ..., None])[0, :, 0]

    every = np.array(list(itertools.product((0, 1), repeat=n)))
    weights = pi[every].prod(axis=1)
    exact = gradients(every)
    mean = weights @ exact
    total = weights @ ((exact - mean) ** 2).sum(axis=1)
    sample = gradients((np.random.default_rng(1).random((batches, n)) < pi[1]).astype(int))
    assert sample.var(axis=0, ddof=1).sum() == pytest.approx(total, rel=0.03)
    slope = 9.0 * (pi[1] - pi[0]) * -pi[0] * pi[1]  # of the variance 9 p (1 - p) by theta, exactly unbiased
    assert mean == pytest.approx([-slope, slope], rel=1e-12)


@pytest.mark.parametrize(
    ("measure", "estimator", "mean_part"),
    [
        ("semi_variance", "paper", "return"),
        ("semi_standard_deviation", "paper", "reinforce"),
        ("cvar_deviation", "influence", "reinforce"),
    ],
)
def test_a_cell_is_what_plain_loops_find_in_the_run_of_the_study(measure, estimator, mean_part, tmp_path):
    halts = Halts(batches=4)
    cases = variance.cases(seeds=1, updates=20, estimators=[estimator], halts=halts)
    (first,) = (case.config for case in cases if case.config.measure == measure)
    first = first.replace(mean_part=mean_part)
    config = first.replace(seed=3)
    cell = variance.measure([VarianceCase(first, halts), VarianceCase(config, halts)])[1]
    assert (cell.seed, cell.batches) == (3, 4)
    train(config=config, out=tmp_path / "run", view=Quiet())
    policy = load(tmp_path / "run").policy
    end = checkpoint.last_good(tmp_path / "run", config_hash(config), lambda _: None)
    value = end.state["actors.policy.value"]
    pi = policy.probabilities()
    collector = Collector(MazeEnv)
    batch = collector.collect(policy, 4 * 50, streams.key(3, streams.EVALUATION, 2), 20)
    scores = np.zeros((200, *pi.shape))
    means = np.zeros((200, *pi.shape))
    returns = np.zeros(200)
    for i, t in itertools.product(range(200), range(batch.rewards.shape[1])):
        if t < batch.lengths[i]:
            s, a = batch.observations[i, t], batch.actions[i, t]
            score = np.zeros_like(pi)
            score[s] = np.eye(4)[a] - pi[s]
            to_go = sum(0.999 ** (u - t) * batch.rewards[i, u] for u in range(t, batch.lengths[i]))
            scores[i] += score
            means[i] += 0.999**t * (to_go - value[s]) * score
            returns[i] += 0.999**t * batch.rewards[i, t]
    if mean_part == "return":
        means = returns[:, None, None] * scores
    own, of_mean = estimators.get(estimator).parts(measure, returns.reshape(4, 50))
    weighted = own.reshape(200, 1, 1) * scores + of_mean.reshape(200, 1, 1) * means
    gradients = weighted.reshape(4, 50, *pi.shape).mean(axis=1)
    assert (cell.at, cell.lam) == ([0, 5, 10, 20], config.lam)
    assert cell.variance[-1] == pytest.approx(gradients.var(axis=0, ddof=1).sum(), rel=1e-9)
    assert cell.gradient_norm[-1] == pytest.approx(np.linalg.norm(gradients.mean(axis=0)), rel=1e-9)
    assert cell.risk_averse[-1] == batch.risk_averse.mean()
    assert cell.timeout[-1] == (batch.outcomes["path"] == "timeout").mean()


def test_a_run_that_diverged_has_no_numbers():
    far = {"lam": 1.0, "optimiser": "sgd", "policy_rate": 1e300}
    config = RunConfig("steadyrl/Maze-v0", measure="variance", estimator="paper", n=10, updates=5, **far)
    result = watched([config], Halts(every=50, early=(0, 5), batches=2))[0]
    assert (result[:, 0] >= 0).all()
    assert np.isnan(result[:, -1]).all()


def test_measure_parameters_count_at_a_halt_too():
    config = RunConfig("steadyrl/Maze-v0", measure="cvar_deviation", lam=1.0, n=20, updates=1)
    halts = Halts(every=1, early=(), batches=4)
    wide, narrow = (watched([config.replace(measure_params={"alpha": a})], halts)[0, 0, 0] for a in (0.5, 0.1))
    assert narrow > 1.5 * wide


FEW = Halts(early=(0, 5), batches=2)


def small(seeds=2, updates=5, halts=FEW, **options):
    return variance.cases(seeds=seeds, updates=updates, halts=halts, **options)


def test_an_experiment_stopped_anywhere_ends_the_same(tmp_path):
    cases = small()
    rows.finish(EXPERIMENT, cases, tmp_path / "whole", in_process)
    rows.finish(EXPERIMENT, cases, tmp_path / "parts", lambda m, tasks: itertools.islice(map(m, tasks), 3))
    path = tmp_path / "parts" / "rows.jsonl"
    path.write_text(path.read_text()[:-30])
    assert len(rows.read(EXPERIMENT, cases, tmp_path / "parts")) == 5  # of six, the last was cut off
    for _ in range(2):
        rows.finish(EXPERIMENT, cases, tmp_path / "parts", rows.in_processes(1))
    assert sum(line.startswith("{") for line in path.read_text().splitlines()) == 5 + 41 + 1  # one was cut off
    assert len(rows.read(EXPERIMENT, cases, tmp_path / "whole")) == 46  # five measures have two readings
    assert rows.read(EXPERIMENT, cases, tmp_path / "whole") == rows.read(EXPERIMENT, cases, tmp_path / "parts")
    for name in ("whole", "parts"):
        own = rows.read(EXPERIMENT, cases, tmp_path / name)
        text, paths = report.write(own, tmp_path / name)
    assert text == (tmp_path / "parts" / "claims.md").read_text()
    assert {path.name for path in paths} >= {"table.csv", "claims.json", "gradient_variance_log.svg"}
    for written in paths:
        assert written.read_bytes() == (tmp_path / "whole" / written.name).read_bytes()
    old = path.read_text().replace(rows.fingerprint(EXPERIMENT.sources), "0" * 12)
    path.write_text(old)
    assert rows.read(EXPERIMENT, cases, tmp_path / "parts") == []  # of other sources


def test_other_halts_or_settings_are_other_rows(tmp_path):
    cases, longer = small(seeds=1, estimators=["paper"]), small(seeds=1, updates=6, estimators=["paper"])
    more = small(seeds=1, halts=replace(FEW, batches=3), estimators=["paper"])
    rows.finish(EXPERIMENT, cases, tmp_path, in_process)
    assert [len(rows.read(EXPERIMENT, one, tmp_path)) for one in (cases, longer, more)] == [9, 0, 0]


def test_the_runs_are_those_of_the_papers_table_under_gaussian_noise():
    configs = [case.config for case in variance.cases()]
    maze = study_from(preset("maze"), "maze", seeds=1).configs
    theirs = {(c.measure, c.policy_rate, c.lam) for c in maze if c.lam and c.env_options["noise"] == "gaussian"}
    assert len(theirs) == 9
    assert {(c.measure, c.policy_rate, c.lam) for c in configs} == theirs
    assert {(c.n, c.gamma, c.updates, c.env_options["noise"]) for c in configs} == {(50, 0.999, 2000, "gaussian")}
    assert {(c.estimator, c.seed) for c in configs} == set(itertools.product(("paper", "influence"), range(10)))
    assert {(case.config.updates, case.config.seed) for case in variance.cases(quick=True)} == {
        (400, seed) for seed in range(3)
    }


def test_halts_are_close_at_the_start():
    assert Halts().at(100) == [0, 5, 10, 20, 50, 100]
    assert Halts().at(7) == [0, 5]


@pytest.mark.parametrize(
    ("estimators", "columns"), [(["jackknife"], (1, 1)), (["paper", "influence", "jackknife"], (3, 4))]
)
def test_figures_have_a_column_for_each_estimator_there_is(estimators, columns):
    cells_of_both = [
        replace(cell, estimator=e) for cell in variance_rows() if cell.estimator == "paper" for e in estimators
    ]
    log, linear = report.log_figure(cells_of_both), report.linear_figure(cells_of_both)
    assert (len(log.axes), len(linear.axes)) == (2 * columns[0], 3 * columns[1])
    assert [len(panel.get_lines()) for panel in log.axes] == [9] * len(log.axes)


def test_figures_have_a_line_for_each_measure():
    log, linear = report.log_figure(variance_rows()), report.linear_figure(variance_rows())
    assert [len(panel.get_lines()) for panel in log.axes] == [9] * 4
    assert [len(panel.get_lines()) for panel in linear.axes] == [9] * 3 + [5] * 3 + [7] * 3
    assert log.axes[0].get_lines()[0].get_ydata().tolist() == [150.0] * 8
    assert log.axes[2].get_lines()[0].get_ydata().tolist() == [37.5] * 8  # lam^2 times it
    assert log.axes[0].get_ylim() == log.axes[1].get_ylim()
    assert max(linear.axes[6].get_lines()[0].get_xdata()) == report.BEGINNING
    assert {text.get_text() for text in log.legends[0].get_texts()} >= {"Variance", "CVaR deviation"}


def test_the_table_has_means_over_seeds(tmp_path):
    report.write(variance_rows(), tmp_path)
    head, first, *_ = (tmp_path / "table.csv").read_text().splitlines()
    assert head.startswith("measure,estimator,lam,seeds,update,variance,variance_error,scaled_variance")
    assert first == f"{MEASURES[0]},paper,0.5,2,0,150,50,37.5,1,0.5,0.5"
    assert len((tmp_path / "table.csv").read_text().splitlines()) == 1 + 18 * 8


def test_a_line_goes_on_without_the_seed_that_diverged():
    first, second = variance_rows()[:2]
    second = replace(second, variance=[200.0] * 3 + [None] * 5)
    line = report.line_of([first, second], MEASURES[0], "paper")
    assert line.mean.tolist() == [150.0] * 3 + [100.0] * 5
