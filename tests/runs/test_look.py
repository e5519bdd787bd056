"""What there is to look at: frames, pictures, tables in notebooks."""

import sys

import numpy as np
import pytest

from steadyrl.evaluate import summary
from steadyrl.runs import BadInputError, train
from steadyrl.runs.view import Lines, Live, Quiet, choose
from steadyrl.studies.results import of_runs
from tests.runs import envs


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "<b>run"
    options = {"evaluate_every": 50, "evaluate_episodes": 5, "view": Quiet()}
    return train(envs.walk, n=4, updates=100, lam=1.0, out=folder, **options)


def test_a_frame_has_a_row_for_each_logged_update(run):
    frame = run.frame()
    assert frame["return"].tolist() == [row["return"] for row in run.metrics()]
    assert frame["evaluation.return"].notna().sum() == 2


def test_a_study_has_a_frame_with_a_row_for_each_run(run, tmp_path):
    other = train(envs.walk, n=4, updates=100, lam=2.0, seed=1, out=tmp_path / "other", view=Quiet())
    study = of_runs([run.folder, other.folder])
    frame = study.frame()
    assert frame["lam"].tolist() == [1.0, 2.0]
    assert frame["seed"].tolist() == [0, 1]
    last = [np.mean([row["return"] for row in r.metrics()[90:]]) for r in (run, other)]
    np.testing.assert_allclose(frame["return"], last)


def test_without_pandas_the_error_says_what_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        run.frame()


def test_a_plot_draws_what_was_logged(run):
    upper, lower = run.plot().axes
    raw, smooth, evaluations = upper.lines
    np.testing.assert_array_equal(raw.get_ydata(), [row["return"] for row in run.metrics()])
    np.testing.assert_allclose(smooth.get_ydata()[0], np.mean(raw.get_ydata()[:2]))
    assert evaluations.get_xdata().tolist() == [200, 400]
    assert (upper.get_ylabel(), lower.get_ylabel()) == ("return", "variability")
    assert [axes.get_ylabel() for axes in run.plot("length").axes] == ["length"]
    with pytest.raises(BadInputError, match="there is no metric 'luck': this run has return, "):
        run.plot("luck")


def test_notebooks_show_tables_in_which_nothing_is_markup(run):
    assert "\n" not in repr(run)
    assert repr(run).startswith(f"Run(env={run.config.env!r}, algorithm={run.config.algorithm!r}, measure=")
    assert repr(run).endswith(f"status='finished', update={run.update}, folder={str(run.folder)!r})")
    html = run._repr_html_()
    assert "&lt;b&gt;run: finished</caption>" in html
    assert "<b>" not in html
    assert f"<td>return</td><td>{run.metrics()[-1]['return']:.6g}</td>" in html
    rows = summary([1.0, 2.0, 4.0], resamples=50)
    assert rows._repr_html_().count("<tr>") == 1 + len(rows.rows)
    study = of_runs([run.folder])._repr_html_()
    assert "<caption>runs: 1 runs (1 finished)</caption>" in study


def test_a_bar_on_a_terminal_or_in_a_notebook_that_can_show_one_lines_elsewhere(monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    assert isinstance(choose(), Lines)
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    monkeypatch.setattr("steadyrl.runs.view.find_spec", lambda name: object())
    assert isinstance(choose(), Live)
    monkeypatch.setattr("steadyrl.runs.view.find_spec", lambda name: None)
    assert isinstance(choose(), Lines)
    assert isinstance(choose(quiet=True), Quiet)
