"""`steadyrl compare`: final numbers of runs side by side, paired where they share seeds; and a picture."""

import json

import numpy as np
import pytest

from steadyrl.cli import main
from steadyrl.report import comparison
from steadyrl.runs import load, train
from steadyrl.runs.view import Quiet
from steadyrl.studies.results import of_runs

MAZE = "steadyrl/Maze-v0"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Three seeds of a risk-neutral run, and seeds 1 and 2 of a risk-averse one."""
    at = tmp_path_factory.mktemp("runs")
    paths = []
    for lam, seeds in ((0.0, (0, 1, 2)), (1.0, (1, 2))):
        for seed in seeds:
            paths.append(at / f"{lam}-{seed}")
            train(MAZE, lam=lam, seed=seed, n=5, updates=20, out=paths[-1], view=Quiet())
    return paths


def final(folder):
    """The mean of the last two of twenty rows, by hand."""
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return np.mean([row["return"] for row in rows[18:]])


def test_final_numbers_are_means_over_seeds_and_differences_are_of_shared_seeds(folders, tmp_path, capsys):
    command = ["compare", *map(str, folders), "--out", str(tmp_path / "c.svg"), "--metrics", "return", "--json"]
    assert main(command) == 0
    neutral, averse = json.loads(capsys.readouterr().out)
    finals = [final(folder) for folder in folders]
    assert (neutral["label"], neutral["seeds"], averse["label"], averse["seeds"]) == ("λ 0", 3, "λ 1", 2)
    assert neutral["value"]["value"] == pytest.approx(np.mean(finals[:3]))
    assert averse["value"]["value"] == pytest.approx(np.mean(finals[3:]))
    differences = np.subtract(finals[3:], finals[1:3])
    assert averse["shared"] == 2
    assert averse["difference"]["value"] == pytest.approx(differences.mean())
    # Of two differences the bootstrap has three means: either, or their middle.
    assert averse["difference"]["low"] == pytest.approx(differences.min())
    assert averse["difference"]["high"] == pytest.approx(differences.max())
    assert neutral["difference"] is None
    assert (tmp_path / "c.svg").read_text().count("<path") > 10


def test_the_first_is_the_one_that_was_given_first(folders):
    lines = comparison.compare(of_runs([*folders[3:], *folders[:3]]), ["return"])
    assert [line.label for line in lines] == ["λ 1", "λ 0"]


def test_the_table_says_what_its_numbers_are(folders, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["compare", *map(str, folders)]) == 0
    out = capsys.readouterr().out
    assert "Difference: to the first, of runs with the same seed (2 seeds), resampled in pairs." in out
    assert out.endswith("written: compare.png\n")
    assert (tmp_path / "compare.png").read_bytes().startswith(b"\x89PNG")
    assert main(["compare", str(folders[0])]) == 0
    assert "Difference" in capsys.readouterr().out


def test_a_picture_is_the_same_bytes_at_every_writing(folders, tmp_path):
    for name in ("a", "b"):
        assert main(["compare", str(folders[0]), "--out", str(tmp_path / f"{name}.svg")]) == 0
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_variability_by_another_measure_is_another_number(folders, tmp_path):
    for seed in (0, 1):
        train(MAZE, lam=0.0, measure="variance", seed=seed, n=5, updates=20, out=tmp_path / str(seed), view=Quiet())
    study = of_runs([*folders[:3], tmp_path / "0", tmp_path / "1"])
    shares = {(line.label, line.metric): line.shared for line in comparison.compare(study)}
    assert list(shares.values()) == [0, 2, 0, 0]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["{at}"], "{at} is no run's folder: it has no run.json"),
        (["{run}", "--metrics", "luck"], "metrics = 'luck': no run has logged it: there are episode_length, "),
        (["{run}", "--out", "{at}/c.txt"], "out = {at}/c.txt: must end in .png, .svg, .pdf"),
        (["{run}", "--out", "{at}/no/c.png"], "out = {at}/no/c.png: must end in .png, .svg, .pdf, in a folder that"),
        ([], "the following arguments are required: RUN"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_one_line(words, why, folders, tmp_path, capsys):
    names = {"at": tmp_path, "run": folders[0]}
    assert main(["compare", *(word.format(**names) for word in words)]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"error: {why.format(**names)}")
    assert err.count("\n") == 1


def test_a_run_that_is_not_finished_is_named(folders, tmp_path, capsys):
    train(MAZE, lam=2.0, n=5, updates=20, checkpoint_every=5, hours=1e-9, out=tmp_path / "half", view=Quiet())
    assert main(["compare", str(folders[0]), str(tmp_path / "half"), "--out", str(tmp_path / "c.png")]) == 0
    out = capsys.readouterr().out
    assert f"{tmp_path}/half is unfinished" in out
    assert "λ 2 " in out


def test_of_lam_and_steadiness_the_label_has_the_one_that_counts(folders, tmp_path):
    for name, fields in {"default": {}, "little": {"steadiness": 0.5}}.items():
        train(MAZE, seed=0, n=5, updates=20, out=tmp_path / name, view=Quiet(), **fields)
    study = of_runs([tmp_path / "default", folders[0], tmp_path / "little"])
    labels = [line.label for line in comparison.compare(study, ["return"])]
    assert labels == ["default steadiness", "λ 0", "steadiness 0.5"]


@pytest.fixture(scope="module")
def files(folders, tmp_path_factory):
    """What the risk-neutral run does in 30 episodes, the risk-averse one in the same and in others."""
    at = tmp_path_factory.mktemp("evaluations")
    for name, run, seed in (("neutral", folders[0], 0), ("averse", folders[3], 0), ("others", folders[3], 1)):
        words = ["--episodes", "30", "--resamples", "40", "--seed", str(seed), "--out", str(at / f"{name}.csv")]
        assert main(["evaluate", str(run), *words]) == 0
    return {path.stem: path for path in at.iterdir()}


def compared(capsys, tmp_path, *words):
    capsys.readouterr()
    code = main(["compare", *map(str, words), "--out", str(tmp_path / "c.svg"), "--metrics", "return", "--json"])
    assert code == 0
    return json.loads(capsys.readouterr().out)


def test_files_of_evaluations_are_compared_episode_by_episode(files, folders, tmp_path, capsys):
    neutral, averse = compared(capsys, tmp_path, files["neutral"], files["averse"])
    returns = [load(folders[k]).evaluate(30).returns for k in (0, 3)]
    assert (neutral["label"], neutral["episodes"], averse["paired"]) == (str(files["neutral"]), 30, 30)
    assert neutral["value"]["value"] == pytest.approx(returns[0].mean())
    assert averse["difference"]["value"] == pytest.approx(np.mean(returns[1] - returns[0]))
    assert (tmp_path / "c.svg").read_text().count("<path") > 10


def test_a_run_beside_a_file_plays_the_episodes_of_the_file(files, folders, tmp_path, capsys):
    by_files = compared(capsys, tmp_path, files["neutral"], files["averse"])
    by_run = compared(capsys, tmp_path, files["neutral"], folders[3])
    assert [{**row, "label": ""} for row in by_run] == [{**row, "label": ""} for row in by_files]
    first_is_a_run = compared(capsys, tmp_path, folders[0], files["averse"])
    assert first_is_a_run[1]["difference"] == by_files[1]["difference"]


def test_episodes_of_another_seed_are_not_in_pairs_and_that_is_said(files, tmp_path, capsys):
    paths = [str(files[name]) for name in ("neutral", "averse", "others")]
    assert main(["compare", *paths, "--out", str(tmp_path / "c.png")]) == 0
    out = capsys.readouterr().out
    assert f"{files['others']} is of another seed than the first: not in pairs." in out
    assert "Difference: to the first, over the 30 episodes that both have, resampled in pairs." in out


def test_a_file_that_is_damaged_or_of_another_environment_is_refused(files, tmp_path, capsys):
    (tmp_path / "nan.csv").write_text(files["neutral"].read_text().replace("\n2,", "\n2,nan"))
    assert main(["compare", str(files["neutral"]), str(tmp_path / "nan.csv"), "--out", str(tmp_path / "c.png")]) == 4
    assert "nan.csv, line 5: damaged: return = 'nan" in capsys.readouterr().err
    assert main(["compare", str(files["neutral"]), "pendulum-gini", "--out", str(tmp_path / "c.png")]) == 2
    assert "only policies of one environment can be compared" in capsys.readouterr().err
    assert not (tmp_path / "c.png").exists()


def test_where_an_evaluation_cannot_be_written_is_said_before_it_is_played(folders, tmp_path, capsys):
    assert main(["evaluate", str(folders[0]), "--out", str(tmp_path / "e.txt")]) == 2
    assert capsys.readouterr().err == f"error: out = {tmp_path}/e.txt: must end in .csv, in a folder that exists\n"
