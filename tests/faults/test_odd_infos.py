"""What an environment puts into its info: whatever it is, the metrics stay the run's, and have an end."""

import itertools

import pytest

from steadyrl.runs import load, metrics, train
from steadyrl.runs.view import Quiet
from steadyrl.studies._run_result import _columns
from tests.runs.envs import Walk
from tests.runs.test_resume import Impatient

FIELDS = {"n": 2, "updates": 6, "checkpoint_every": 2, "limit": 20}


class Says(Walk):
    """Its info is always the same."""

    def __init__(self, info):
        super().__init__()
        self.info = info

    def step(self, action):
        *rest, _ = super().step(action)
        return *rest, dict(self.info)


def rows_with(info, folder):
    return train(lambda: Says(info), out=folder, view=Quiet(), **FIELDS).metrics()


def test_an_info_with_the_name_of_a_metric_does_not_take_its_place(tmp_path):
    expected = rows_with({}, tmp_path / "without")
    taken = dict.fromkeys((*expected[0], "evaluation.return", "own.x"), 0.5)
    rows = rows_with(taken, tmp_path / "with")
    assert [{name: row[name] for name in expected[0]} for row in rows] == expected
    assert {name: rows[0][name] for name in rows[0].keys() - expected[0].keys()} == {f"info.{k}": 0.5 for k in taken}


@pytest.mark.parametrize(
    ("info", "logged"),
    [
        ({3: 1.0}, {"3": 1.0}),
        ({(1, 2): True}, {"(1, 2)": 1.0}),
        ({"word": "half \ud800"}, {"word.half \\ud800": 1.0}),
        ({"\ud800": 2}, {"\\ud800": 2.0}),
        ({"wörter": "für alle"}, {"wörter.für alle": 1.0}),
        ({"a": 1j, "b": None, "c": [1], "d": b"x"}, {}),
        ({"a": 10**400, "b": float("inf")}, {"b": None}),
        ({"a": 1e308}, {"a": None}),
        ({"word": "x" * 10**6}, {}),
    ],
)
@pytest.mark.filterwarnings("ignore:.*are left out")
def test_odd_names_and_values_are_text_and_numbers_or_left_out(info, logged, tmp_path):
    known = rows_with({}, tmp_path / "without")[0].keys()
    rows = rows_with(info, tmp_path / "run")
    assert [{name: row[name] for name in row.keys() - known} for row in rows] == [logged] * len(rows)
    assert _columns(tmp_path / "run" / metrics.NAME, None).keys() == rows[0].keys()  # a report reads them


class Chatty(Walk):
    """A word that is another one in every episode, and a number that is not."""

    def reset(self, *, seed=None, options=None):
        self.word = f"seed {seed}"
        return super().reset(seed=seed, options=options)

    def step(self, action):
        *rest, _ = super().step(action)
        return *rest, {"word": self.word, "number": 1.0}


@pytest.fixture
def few(monkeypatch):
    """Names, so that a short run has too many."""
    monkeypatch.setattr(metrics, "MOST_OF_INFO", 40)
    monkeypatch.setattr(metrics, "MOST_NAMES", 50)


def test_a_word_that_differs_by_episode_makes_no_names_without_end(few, tmp_path):
    fields = {**FIELDS, "n": 5, "updates": 10, "evaluate_every": 8, "evaluate_episodes": 2}
    with pytest.warns(UserWarning, match=r"'word\.seed \d+' and others are left out: more than 40 different names"):
        run = train(Chatty, out=tmp_path / "run", view=Quiet(), **fields)
    rows = run.metrics()
    words = [{name for name in row if name.startswith("word.")} for row in rows]
    assert len(words[0]) == 5
    assert words[-1] == set()  # there is no room for new ones
    assert all("number" in row and "return" in row for row in rows)
    assert "evaluation.return" in rows[7]  # for these there is
    names = set(itertools.chain.from_iterable(rows))
    assert 40 < len(names) <= 50
    assert len(_columns(tmp_path / "run" / metrics.NAME, None)) == len(names)


@pytest.mark.filterwarnings("ignore:.*are left out")
def test_the_names_are_the_same_ones_in_a_run_that_is_resumed(few, tmp_path):
    fields = {**FIELDS, "n": 5, "updates": 12}
    train(Chatty, out=tmp_path / "whole", view=Quiet(), **fields)
    for stop in (5, 9):
        with pytest.raises(KeyboardInterrupt):
            train(Chatty, out=tmp_path / "run", view=Impatient(stop), **fields)
    train(Chatty, out=tmp_path / "run", view=Quiet(), **fields)
    assert load(tmp_path / "run", env=Chatty).status == "finished"
    whole, resumed = ((tmp_path / name / metrics.NAME).read_bytes() for name in ("whole", "run"))
    assert whole == resumed
