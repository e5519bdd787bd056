"""What a study's folder says: final numbers by hand, what varies, and runs that are not there as they should be."""

import hashlib
import json
import math
import shutil

import numpy as np
import pytest

from steadyrl.runs import BadInputError, CorruptError, RunConfig
from steadyrl.studies import results
from tests.studies import small_study
from tests.studies.small_study import MAZE, rows, written


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    return small_study.trained(tmp_path_factory.mktemp("trained") / "study")


@pytest.fixture
def copied(trained, tmp_path):
    return shutil.copytree(trained, tmp_path / "study")


def one_run(tmp_path, logged, **fields):
    count = len(logged)
    config = RunConfig(MAZE, n=5, updates=10 * count, log_every=10, **fields)
    return results.read(written(tmp_path / "study", [(config, logged)])).runs[0]


def test_what_varies_makes_the_cells(trained):
    study = results.read(trained)
    assert study.counts() == {"finished": 16}
    assert study.varied == ("env_options.noise", "measure", "estimator")
    assert study.axes == ("measure", "estimator", "env_options.noise")
    assert study.levels("measure") == ["variance", "gini_deviation"]  # as the registry lists them
    assert study.levels("estimator") == ["influence", "paper"]  # ours first
    assert study.levels("env_options.noise") == ["gaussian", "pareto"]
    assert [tuple(cell.values[name] for name in study.axes) for cell in study.cells[:3]] == [
        ("variance", "influence", "gaussian"),
        ("variance", "influence", "pareto"),
        ("variance", "paper", "gaussian"),
    ]
    assert [[run.config.seed for run in cell.runs] for cell in study.cells] == [[0, 1]] * 8
    assert (study.name, study.title, study.command) == ("small", "A small study", "steadyrl study small.toml")


def test_final_numbers_are_those_of_the_file(trained):
    for run in results.read(trained).runs:
        lines = [json.loads(line) for line in (run.folder / "metrics.jsonl").read_text().splitlines()]
        late = [line["return"] for line in lines if line["update"] > 18]
        assert run.final("return") == pytest.approx(np.mean(late), rel=1e-15)


def test_the_final_number_is_the_mean_over_the_last_tenth_of_the_updates(tmp_path):
    run = one_run(tmp_path, rows(**{"return": [*range(28), 100.0, 200.0]}))  # of 300 updates, logged at 280, 290, 300
    assert run.final("return") == (27.0 + 100.0 + 200.0) / 3.0
    assert run.final("nothing of the kind") is None


def test_metrics_leave_out_what_never_changes_and_second_names(tmp_path):
    logged = rows(
        lam=[1.0, 1.0], length=[9.0, 8.0], episode_length=[9.0, 8.0], **{"return": [1.0, 2.0]}, other=[3.0, 4.0]
    )
    study = results.read(written(tmp_path / "study", [(RunConfig(MAZE, updates=20), logged)]))
    assert study.metrics == ("return", "length", "other")


def test_a_word_that_did_not_occur_has_a_share_of_zero_and_null_is_no_number(tmp_path):
    logged = rows(**{"path.long": [0.25, 1.0], "return": [None, 2.0]})
    logged[0]["path.short"] = 0.75
    run = one_run(tmp_path, logged)
    assert run.column("path.short").tolist() == [0.75, 0.0]
    assert run.column("path.timeout").tolist() == [0.0, 0.0]  # as in a run beside it
    assert math.isnan(run.column("return")[0])
    assert run.column("side.left") is None


def test_rows_about_a_perturbed_policy_are_left_out(tmp_path):
    run = one_run(tmp_path, rows(perturbed=[0.0, 1.0, 0.0, 1.0], **{"return": [1.0, 2.0, 3.0, 4.0]}))
    assert run.column("return").tolist() == [1.0, 3.0]
    assert run.column("update").tolist() == [10.0, 30.0]


def test_where_the_last_rows_are_about_a_perturbed_policy_the_one_before_is_final(tmp_path):
    late = [0.0] * 8 + [1.0, 1.0]
    run = one_run(tmp_path, rows(perturbed=late, **{"return": [float(k) for k in range(10)]}))
    assert run.final("return") == 7.0


@pytest.mark.parametrize(
    ("rates", "episodes"),
    [
        ([0.0] * 4 + [1.0] * 6, 50 * 9),  # the five rows up to the ninth are the first that average 0.9 or more
        ([1.0] * 10, 50 * 5),
        ([1.0] * 9 + [0.0], None),
        ([1.0] * 6 + [0.0, 1.0, 1.0, 1.0, 1.0, 1.0], 50 * 12),  # a dip counts
        ([0.9, 0.9, 0.9], 50 * 3),
        ([0.89] * 10, None),
    ],
)
def test_episodes_to_a_rate_that_stays(rates, episodes, tmp_path):
    assert one_run(tmp_path, rows(risk_averse=rates)).episodes_to(0.9) == episodes


def test_the_last_episodes_are_the_last_rows_that_hold_them(tmp_path):
    """Of 200 episodes in batches of 30 these are 7 rows, ceil(200 / 30), of batches of 50 there are 4."""
    batches = [
        {**row, "episodes": 30 * (k + 1)} for k, row in enumerate(rows(risk_averse=[0.0] * 3 + [0.5] + [1.0] * 6))
    ]
    run = one_run(tmp_path / "thirty", batches)
    assert run.last("risk_averse", 200) == pytest.approx(6.5 / 7)
    assert run.last("risk_averse", 180) == 1.0
    assert run.last("risk_averse", 10_000) == pytest.approx(0.65)
    assert run.last("no such metric", 200) is None


def test_both_levels_at_once_are_neither_the_one_nor_the_other(tmp_path):
    metrics = {"risk_averse": [0.0] * 2 + [1.0] * 10 + [0.0] * 3, "return": [0.0] * 6 + [300.0] * 9}
    run = one_run(tmp_path, rows(**metrics))
    episodes = run.columns["episodes"]
    assert run.episodes_to_all({"risk_averse": 1.0}) == episodes[6]  # five rows of it, then five more of which it loses
    assert run.episodes_to_all({"return": 300.0, "risk_averse": 1.0}) == episodes[10]
    assert run.episodes_to_all({"return": 300.0, "risk_averse": 1.1}) is None
    assert run.episodes_to_all({"length": 300.0, "risk_averse": 0.1}) is None
    assert run.episodes_to(0.8) is None  # it does not stay there


def test_a_diverged_run_is_counted_but_has_no_final_numbers(tmp_path):
    config = RunConfig(MAZE, updates=20)
    study = results.read(written(tmp_path / "study", [(config, rows(**{"return": [1.0, 2.0]}))], end="diverged"))
    assert study.counts() == {"finished": 0, "diverged": 1}
    assert study.cells[0].finals("return").size == 0
    assert study.runs[0].episodes_to() is None
    assert study.runs[0].last("return", 200) is None
    assert study.runs[0].episodes_to_all({"return": -100.0}) is None


def test_runs_that_are_missing_unfinished_failed_or_damaged(copied):
    paths = sorted((copied / "runs").iterdir())
    shutil.rmtree(paths[0])
    (paths[1] / "done.json").unlink()
    with (paths[1] / "metrics.jsonl").open("a") as file:
        file.write('{"update": 22, "ret')  # the line being written
    (paths[2] / "done.json").unlink()
    (paths[2] / "failed.json").write_text('{"message": "the environment broke"}')
    with (paths[3] / "metrics.jsonl").open("a") as file:
        file.write('{"update": 1000, "return": 0.0}\n')
    (paths[4] / "run.json").write_text("{")
    raw = (paths[5] / "run.json").read_text()
    (paths[5] / "run.json").write_text(raw.replace('"lam": null', '"lam": 2.0'))
    shutil.rmtree(paths[6])
    paths[6].mkdir()
    (paths[6] / "failed.json").write_text('{"message": "never began"}')
    study = results.read(copied)
    by_hash = {run.hash: run for run in study.runs}
    outcomes = [(by_hash[path.name].status, by_hash[path.name].message) for path in paths[:7]]
    assert [status for status, _ in outcomes] == [
        "missing", "unfinished", "failed", "damaged", "damaged", "damaged", "failed",
    ]  # fmt: skip
    assert outcomes[2][1] == "the environment broke"
    assert "SHA-256" in outcomes[3][1]
    assert "run.json: its config is not the one of the study" in outcomes[5][1]
    assert outcomes[6][1] == "never began"
    assert by_hash[paths[1].name].columns["update"].tolist() == [2.0 * k for k in range(1, 11)]
    assert study.counts() == {"finished": 9, "failed": 2, "damaged": 3, "unfinished": 1, "missing": 1}
    assert sum(len(cell.finished) for cell in study.cells) == 9


def test_a_run_of_a_version_with_other_fields_is_read(copied):
    path = next((copied / "runs").iterdir())
    content = json.loads((path / "run.json").read_text())
    content["config"] |= {"from_another_version": 7}
    text = json.dumps(content["config"], sort_keys=True, separators=(",", ":"))
    name = hashlib.sha256(text.encode()).hexdigest()[:12]
    (path / "run.json").write_text(json.dumps(content))
    path.rename(path.with_name(name))
    about = json.loads((copied / "study.json").read_text())
    about["runs"] = [name if run == path.name else run for run in about["runs"]]
    (copied / "study.json").write_text(json.dumps(about))
    run = next(run for run in results.read(copied).runs if run.hash == name)
    assert run.status == "finished"
    assert run.settings["from_another_version"] == 7


def study_of(tmp_path, *fields):
    logged = rows(**{"return": [1.0, 2.0]})
    return results.read(written(tmp_path / "study", [(RunConfig(MAZE, updates=20, **f), logged) for f in fields]))


def test_a_lam_of_its_own_for_each_measure_is_no_axis(tmp_path):
    study = study_of(tmp_path, {"measure": "variance", "lam": 0.1}, {"measure": "gini_deviation", "lam": 1.0})
    assert (study.varied, study.axes) == (("measure", "lam"), ("measure",))


def test_lam_zero_beside_other_measures_is_risk_neutral(tmp_path):
    neutral, penalised = {"measure": "variance", "lam": 0.0}, {"measure": "variance", "lam": 0.1}
    study = study_of(tmp_path, penalised, {"measure": "gini_deviation", "lam": 1.0}, neutral)
    assert study.levels("measure") == ["risk_neutral", "variance", "gini_deviation"]
    assert study.axes == ("measure",)


def test_steadiness_zero_beside_other_measures_is_risk_neutral(tmp_path):
    neutral, penalised = {"measure": "variance", "steadiness": 0.0}, {"measure": "variance", "steadiness": 1.0}
    study = study_of(tmp_path, penalised, {"measure": "gini_deviation", "steadiness": 1.0}, neutral)
    assert study.levels("measure") == ["risk_neutral", "variance", "gini_deviation"]
    assert study.axes == ("measure",)


def test_lam_zero_on_a_scale_of_lam_stays_with_its_measure(tmp_path):
    fields = [{"measure": m, "lam": lam} for m in ("variance", "gini_deviation") for lam in (0.0, 1.0)]
    assert study_of(tmp_path, *fields).axes == ("measure", "lam")


def test_algorithms_with_measures_of_their_own_are_methods(tmp_path):
    fields = [
        {"algorithm": "reinforce", "measure": "gini_deviation"},
        {"algorithm": "reinforce", "measure": "standard_deviation"},
        {"algorithm": "ppo", "measure": "variance"},
    ]
    study = study_of(tmp_path, *fields)
    assert study.axes == ("method",)
    assert study.levels("method") == ["reinforce, gini deviation", "reinforce, standard deviation", "ppo"]


def test_a_folder_that_is_no_study_is_refused(tmp_path):
    with pytest.raises(BadInputError, match=r"is no study's folder: it has no study\.json$"):
        results.read(tmp_path)
    (tmp_path / "run.json").touch()
    with pytest.raises(BadInputError, match=r"no study\.json: `steadyrl compare` and `steadyrl evaluate` take a run$"):
        results.read(tmp_path)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("{", "damaged"),
        ("[]", "damaged"),
        ('{"format": 1, "name": "x"}', "damaged"),
        ('{"format": 2, "name": "x", "runs": []}', "format 2"),
        ('{"format": 1, "name": "x", "runs": ["../../secrets"]}', "first 12 hexadecimal digits"),
    ],
)
def test_a_study_json_that_makes_no_sense_is_refused(content, complaint, tmp_path):
    (tmp_path / "study.json").write_text(content)
    with pytest.raises(CorruptError, match=complaint):
        results.read(tmp_path)
