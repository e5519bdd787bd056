"""`steadyrl compare`: final numbers of runs side by side, paired where they share seeds; and a picture."""

import json

import numpy as np
import pytest

from steadyrl.cli import main
from steadyrl.report import comparison
from steadyrl.runs import train
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
