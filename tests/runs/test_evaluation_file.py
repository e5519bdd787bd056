"""An evaluation written and read again: to the last bit, or a line that says why not."""

import dataclasses
import json
import os

import numpy as np
import pandas as pd
import pytest

import steadyrl
from steadyrl.envs.two_roads import TwoRoads
from steadyrl.ground.errors import BadInputError, CorruptError, RunError
from steadyrl.runs import read_evaluation
from steadyrl.runs.view import Quiet

ROADS = "steadyrl/TwoRoads-v0"


@pytest.fixture
def evaluation():
    return steadyrl.evaluate_policy(lambda day: day % 2, ROADS, episodes=6, seed=3, gamma=0.9, days=3)


def test_every_number_comes_back(evaluation, tmp_path):
    evaluation.save(tmp_path / "e.csv")
    again = read_evaluation(tmp_path / "e.csv")
    for field in dataclasses.fields(evaluation):
        np.testing.assert_array_equal(getattr(again, field.name), getattr(evaluation, field.name))
    assert (again.env, again.env_options, again.seed, again.limit) == (ROADS, {"days": 3}, 3, None)
    assert again.lengths.dtype.kind == "i"
    assert again.risk_averse == evaluation.risk_averse


def test_others_who_read_csv_leave_out_the_first_line(evaluation, tmp_path):
    evaluation.save(tmp_path / "e.csv")
    table = pd.read_csv(tmp_path / "e.csv", comment="#")
    assert list(table) == ["episode", "return", "undiscounted_return", "length", "risk_averse"]
    np.testing.assert_array_equal(table["undiscounted_return"], evaluation.undiscounted_returns)
    assert table["length"].tolist() == [3] * 6


def test_an_environment_without_a_reading_has_empty_cells(tmp_path):
    steadyrl.evaluate_policy(lambda observation: 0, "CartPole-v1", episodes=2).save(tmp_path / "e.csv")
    assert (tmp_path / "e.csv").read_text().splitlines()[2].endswith(",")
    assert read_evaluation(tmp_path / "e.csv").risk_averse is None


def test_a_run_is_saved_with_what_it_played_in(tmp_path):
    run = steadyrl.train(ROADS, updates=2, n=5, env_options={"days": 4}, limit=3, out=tmp_path / "run", view=Quiet())
    run.evaluate(4).save(tmp_path / "e.csv")
    again = read_evaluation(tmp_path / "e.csv")
    assert (again.env, again.env_options, again.limit, again.lengths.tolist()) == (ROADS, {"days": 4}, 3, [3] * 4)


def test_an_environment_that_a_function_makes_needs_a_name(tmp_path):
    evaluation = steadyrl.evaluate_policy(lambda day: 0, TwoRoads, episodes=2)
    with pytest.raises(BadInputError, match=r"env = <steadyrl.envs.two_roads.TwoRoads>: a function's name may stand"):
        evaluation.save(tmp_path / "e.csv")
    evaluation.save(tmp_path / "e.csv", env="five days")
    assert read_evaluation(tmp_path / "e.csv").env == "five days"


@pytest.mark.parametrize("name", ["e.txt", "no/e.csv"])
def test_where_it_cannot_be_written_is_refused(name, evaluation, tmp_path):
    with pytest.raises(BadInputError, match=r"must end in \.csv, in a folder that exists"):
        evaluation.save(tmp_path / name)


def test_what_no_file_can_hold_is_refused(evaluation, tmp_path):
    odd = dataclasses.replace(evaluation, env_options={"reward": abs})
    with pytest.raises(BadInputError, match=r"env_options = .*abs.*: cannot be written"):
        odd.save(tmp_path / "e.csv")
    assert list(tmp_path.iterdir()) == []


def first_line(changes):
    """Change what the first line says."""

    def change(text):
        first, _, rest = text.partition("\n")
        opening, brace, content = first.partition("{")
        played = json.loads(brace + content) | changes
        return f"{opening}{json.dumps({k: v for k, v in played.items() if v != 'gone'})}\n{rest}"

    return change


def without_column(text):
    first, *rows = text.splitlines()
    return "\n".join([first, *(row.rpartition(",")[0] for row in rows)])


DAMAGES = {
    "empty": (lambda text: "", BadInputError, "is no evaluation: its first line does not begin with"),
    "another table": (lambda text: "return\n1.0\n2.0\n", BadInputError, "is no evaluation"),
    "no JSON": (lambda text: text.replace("{", "", 1), CorruptError, "line 1: damaged: it is not JSON"),
    "a list": (lambda text: "# steadyrl evaluation []\n", CorruptError, "line 1: damaged: it is no JSON object"),
    "another format": (
        first_line({"format": 2}),
        CorruptError,
        "format 2, but this version of steadyrl reads format 1",
    ),
    "no seed": (first_line({"seed": "gone"}), CorruptError, "line 1: damaged: seed = None"),
    "a seed that is a truth": (first_line({"seed": True}), CorruptError, "line 1: damaged: seed = True"),
    "gamma": (first_line({"gamma": float("nan")}), CorruptError, "line 1: damaged: gamma = nan"),
    "no column": (without_column, CorruptError, "there is no column 'risk_averse': must have episode, return, "),
    "the first line alone": (lambda text: text.partition("\n")[0], CorruptError, "there is no column 'episode'"),
    "cut off": (lambda text: "".join(text.splitlines(True)[:-2]), CorruptError, "4 episodes, where 6 were played"),
    "no rows": (lambda text: "".join(text.splitlines(True)[:2]), CorruptError, "0 episodes, where 6 were played"),
    "an episode twice": (lambda text: text.replace("\n1,", "\n0,"), CorruptError, "line 4: damaged: episode = '0'"),
    "a cell too few": (lambda text: text.replace("\n0,", "\n"), CorruptError, "line 3: damaged: 4 cells, where"),
    "half a step": (lambda text: text.replace(",3,", ",2.5,", 1), CorruptError, "line 3: damaged: length = '2.5'"),
    "an open quotation": (lambda text: text.replace("\n0,", '\n"0,'), CorruptError, "line 3: damaged: "),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_file_that_is_not_as_it_was_written_is_refused(name, evaluation, tmp_path):
    damage, kind, message = DAMAGES[name]
    path = tmp_path / "e.csv"
    evaluation.save(path)
    path.write_text(damage(path.read_text()))
    with pytest.raises(kind) as caught:
        read_evaluation(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize("column", [1, 2, 3])
@pytest.mark.parametrize("cell", ["nan", "inf", "", "many"])
def test_what_is_no_finite_number_is_refused_by_line_and_column(column, cell, evaluation, tmp_path):
    path = tmp_path / "e.csv"
    evaluation.save(path)
    lines = path.read_text().splitlines()
    cells = lines[4].split(",")
    cells[column] = cell
    path.write_text("\n".join([*lines[:4], ",".join(cells), *lines[5:]]))
    with pytest.raises(CorruptError, match=rf"line 5: damaged: {lines[1].split(',')[column]} = '{cell}': must be a"):
        read_evaluation(path)


def test_what_is_no_text_or_not_there_is_refused(tmp_path):
    (tmp_path / "e.csv").write_bytes(b"\xff\xfe")
    for name, why in {"e.csv": "it is not text", "none.csv": "there is no such file"}.items():
        with pytest.raises(RunError, match=why):
            read_evaluation(tmp_path / name)


def test_a_file_of_many_gigabytes_is_refused_before_it_is_read(evaluation, tmp_path):
    path = tmp_path / "large.csv"
    evaluation.save(path)
    os.truncate(path, 40 * 10**9)  # sparse: it takes no room
    with pytest.raises(BadInputError, match=r"large\.csv: has more than 268435456 bytes"):
        read_evaluation(path)
