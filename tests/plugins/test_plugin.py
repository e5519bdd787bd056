"""A package of somebody else adds an algorithm with an option of its own, and it is used like those that come along."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = Path(__file__).parent / "exponential"
PAGE = ROOT / "docs" / "own-algorithm.md"
MAZE = "steadyrl/Maze-v0"
SHORT = ["--algorithm", "exponential-utility", "--n", "4", "--updates", "3", "--quiet"]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder that the package is installed into, as pip does it, without an index."""
    at = tmp_path_factory.mktemp("plugin")
    shutil.copytree(PACKAGE, at / "source")
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check", "--quiet"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(at / "site"), str(at / "source")]
    subprocess.run(command, check=True, capture_output=True)
    return at / "site"


def python(*arguments, path, **options):
    """A new interpreter that sees what is installed in these folders."""
    places = [str(ROOT / "src"), *map(str, path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places)}
    return subprocess.run(
        [sys.executable, *arguments], check=False, capture_output=True, text=True, cwd=ROOT, env=environment, **options
    )


def commands(lists, *path):
    """[exit code, output, errors] of each command line."""
    process = python("-m", "tests.helpers.commands", path=path, input=json.dumps(lists))
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)


@pytest.fixture(scope="module")
def answers(installed, tmp_path_factory):
    """What the command says, all in one process."""
    at = tmp_path_factory.mktemp("commands")
    (at / "run.toml").write_text(
        f'env = "{MAZE}"\nalgorithm = "exponential-utility"\naversion = 0.3\nn = 4\nupdates = 3\n'
    )
    (at / "study.toml").write_text(
        f'seeds = 2\n[run]\nenv = "{MAZE}"\nalgorithm = "exponential-utility"\nn = 4\nupdates = 3\n'
        "[grid]\naversion = [0.1, 0.3]\n"
    )
    lines = {
        "table": ["train", MAZE, *SHORT, "--aversion", "0.3", "--out", f"{at}/table"],
        "file": ["train", "--config", f"{at}/run.toml", "--out", f"{at}/file", "--quiet"],
        "network": ["train", "CartPole-v1", *SHORT, "--hidden", "4", "--out", f"{at}/network"],
        "study": ["study", f"{at}/study.toml", "--out", f"{at}/study", "--quiet", "--workers", "1"],
        "evaluate": ["evaluate", f"{at}/table", "--episodes", "20", "--resamples", "40", "--json"],
        "range": ["train", MAZE, *SHORT, "--aversion", "-1e-3", "--out", f"{at}/wrong"],
        "type": ["train", MAZE, *SHORT, "--aversion", "much", "--out", f"{at}/wrong"],
        "other": ["train", MAZE, "--aversion", "0.3", "--out", f"{at}/wrong"],
        "nearest": ["train", MAZE, "--algorithm", "exponential", "--out", f"{at}/wrong"],
        "help": ["train", "--algorithm", "exponential-utility", "--help"],
        "help of ours": ["train", "--help"],
    }
    return at, dict(zip(lines, commands(list(lines.values()), installed), strict=True))


@pytest.mark.parametrize("name", ["table", "file", "network"])
def test_it_trains_by_name_from_the_command(name, answers):
    at, outcomes = answers
    assert outcomes[name] == [0, f"finished: {at}/{name} (3 updates)\n", ""]
    last = json.loads((at / name / "metrics.jsonl").read_text().splitlines()[-1])
    assert {"return", "variability", "gradient_norm", "certainty_equivalent"} <= last.keys()


def test_a_file_and_the_command_line_make_the_same_run(answers):
    at, _ = answers
    assert json.loads((at / "table" / "run.json").read_text())["config"]["aversion"] == 0.3
    for name in ("metrics.jsonl", "ckpt-3"):
        assert (at / "table" / name).read_bytes() == (at / "file" / name).read_bytes()


def test_it_is_evaluated(answers):
    _, outcomes = answers
    code, out, err = outcomes["evaluate"]
    assert (code, err, json.loads(out)["update"]) == (0, "", 3)


def test_it_trains_in_a_study_with_its_option_in_the_grid(answers):
    at, outcomes = answers
    assert outcomes["study"][0] == 0, outcomes["study"]
    assert outcomes["study"][1].startswith(f"finished: {at}/study (4 runs)\n")
    configs = [json.loads(path.read_text())["config"] for path in (at / "study" / "runs").glob("*/run.json")]
    assert sorted((config["aversion"], config["seed"]) for config in configs) == [
        (0.1, 0),
        (0.1, 1),
        (0.3, 0),
        (0.3, 1),
    ]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("range", "aversion = -0.001: must be > 0"),
        ("type", "aversion = 'much': must be a number"),
        (
            "other",
            "aversion = 0.3: must be left out with algorithm = reinforce: it is an option of exponential-utility",
        ),
        ("nearest", "algorithm = 'exponential': did you mean 'exponential-utility'? known are reinforce, ppo,"),
    ],
)
def test_a_mistake_is_one_line_before_anything_is_written(name, message, answers):
    at, outcomes = answers
    code, out, err = outcomes[name]
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {message}")
    assert err.count("\n") == 1
    assert not (at / "wrong").exists()


def test_help_shows_its_option_and_no_other_algorithms_help_does(answers):
    _, outcomes = answers
    code, text, _ = outcomes["help"]
    assert code == 0
    assert "options of algorithm exponential-utility:" in text
    words = "".join(text.split())  # a line may be broken at a hyphen
    assert "--aversionFLOATa:howmuchabadreturnweighs;near0isrisk-neutral(default:0.1)" in words
    assert "--lam" not in text
    assert "--aversion" not in outcomes["help of ours"][1]
    assert "exponential-utility" in outcomes["help of ours"][1].rpartition("--algorithm NAME --help shows")[2]


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name in ("metrics.jsonl", "ckpt-12")}


def test_in_python_it_resumes_to_the_bit_after_an_interruption(installed, tmp_path):
    process = python("-m", "tests.plugins.trained", str(tmp_path), path=[installed])
    assert process.returncode == 0, process.stderr
    for name in ("table", "network"):
        whole = content(tmp_path / f"{name}-whole")
        assert whole.keys() == {"metrics.jsonl", "ckpt-12"}
        assert content(tmp_path / f"{name}-stopped") == whole


GRADIENT = """
import numpy as np
from steadyrl import algorithms
from steadyrl.actors.options import TableOptions
from steadyrl.actors.table import TableActor
from steadyrl.rollouts import Collector

kind = algorithms.get("exponential-utility")
actor = TableActor(36, 4, TableOptions(1e-3, optimiser="sgd"), kind.value_factor)
collector = Collector("steadyrl/Maze-v0")
learner = kind(actor, kind.Options(aversion=0.05, gamma=1.0))
batch = collector.collect(actor.policy, 30, 0, 0)
returns = np.where(batch.mask, batch.rewards, 0.0).sum(axis=1)

def value(theta):
    # -(1/a) log E[exp(-a G0)] on the batch, each episode weighed by its ratio: its slope is the step that is taken
    actor.put(theta)
    ratios = np.exp((actor.log_probs(batch) - before).sum(axis=1))
    tilted = np.exp(-0.05 * (returns - returns.min()))
    return -np.log((ratios * tilted).mean() / ratios.mean()) / 0.05

theta, before = actor.parameters(), actor.log_probs(batch)
slopes = np.array([(value(theta + e) - value(theta - e)) / 2e-5 for e in 1e-5 * np.eye(theta.size)])
actor.put(theta)
learner.update(batch, 0)
print(np.abs((actor.parameters() - theta) / 1e-3 - slopes).max() / np.abs(slopes).max())
"""


def test_its_step_is_the_slope_of_exponential_utility(installed):
    process = python("-c", GRADIENT, path=[installed])
    assert process.returncode == 0, process.stderr
    assert float(process.stdout) < 1e-6


@pytest.fixture
def another(tmp_path):
    """A second package that offers the same name."""
    site = tmp_path / "site"
    (site / "other-0.1.0.dist-info").mkdir(parents=True)
    (site / "other.py").write_text((PACKAGE / "steadyrl_exponential.py").read_text())
    (site / "other-0.1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: steadyrl-other\nVersion: 0.1.0\n"
    )
    (site / "other-0.1.0.dist-info" / "entry_points.txt").write_text(
        "[steadyrl.algorithms]\nexponential-utility = other:ExponentialUtility\n"
    )
    return site


def test_two_packages_with_one_name_are_refused_with_both_named(installed, another, tmp_path):
    packages = "steadyrl-exponential and steadyrl-other"
    both = f"algorithm 'exponential-utility' is offered by {packages}: uninstall all but one of them"
    lines = [
        ["train", MAZE, *SHORT, "--out", f"{tmp_path}/run"],
        ["train", MAZE, "--n", "4", "--updates", "3", "--quiet", "--out", f"{tmp_path}/ours"],
    ]
    theirs, ours = commands(lines, installed, another)
    assert theirs == [2, "", f"error: {both}\n"]
    assert not (tmp_path / "run").exists()
    assert ours[:2] == [0, f"finished: {tmp_path}/ours (3 updates)\n"]  # whoever does not ask for it is not stopped
    assert ours[2] == f"warning: {both}\n"


def test_the_page_shows_the_package_as_it_is():
    blocks = dict(
        re.findall(r'^```\w+ title="([\w./]+)"\n(.*?)^```$', PAGE.read_text(), flags=re.MULTILINE | re.DOTALL)
    )
    for name in ("pyproject.toml", "steadyrl_exponential.py"):
        assert blocks[name] == (PACKAGE / name).read_text()
