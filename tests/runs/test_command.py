"""`steadyrl train` and `steadyrl evaluate`: every mistake is one line and the right exit code."""

import json
import re
from pathlib import Path

import pytest

from steadyrl import algorithms
from steadyrl.cli import main
from steadyrl.runs import BadInputError, RunConfig, load, to_toml, train
from steadyrl.runs.config import actor_options, algorithm_options, run_options
from tests.helpers.commands import outcomes_of

ROOT = Path(__file__).parents[2]
MAZE = "steadyrl/Maze-v0"
SHORT = ["--n", "4", "--updates", "4", "--checkpoint-every", "2", "--quiet"]

# Arguments after `train`, exit code, what standard error says. {at} is the test's own folder.
TABLE = {
    "unknown environment": (["Nope-v0"], 2, "env = Nope-v0: Environment `Nope` doesn't exist. Did you mean: `Hopper`?"),
    "unknown version": (
        ["CartPole-v7"],
        2,
        "env = CartPole-v7: Environment version `v7` for environment `CartPole` doesn't exist. "
        "It provides versioned environments: [ `v0`, `v1` ].",
    ),
    "no environment": ([], 2, "env is missing: give the id of an environment"),
    "breaks the API": (
        ["tests.runs.envs:Walk-v0", "--env-options", "fault=tuple"],
        2,
        "<TimeLimit<OrderEnforcing<Walk<Walk-v0>>>>: episode 0, step 1: raised ValueError: "
        "not enough values to unpack (expected 5, got 3)",
    ),
    "words for observations": (
        ["tests.runs.envs:Words-v0"],
        2,
        "env = tests.runs.envs:Words-v0: observation_space = Text(1, 5, charset=ab): must be Box, Discrete, "
        "MultiDiscrete, MultiBinary, or a Dict or Tuple of these; make it one of them with "
        "gymnasium.wrappers.TransformObservation",
    ),
    "never ends": (
        ["tests.runs.envs:Endless-v0"],
        2,
        "env = tests.runs.envs:Endless-v0: <OrderEnforcing<Walk<Endless-v0>>> has no time limit: "
        "give limit, the longest an episode may last",
    ),
    "nan in the middle": (
        ["tests.runs.envs:Walk-v0", "--env-options", "fault=hole", "after=2", "--checkpoint-every", "3"],
        1,
        "tests.runs.envs:Walk-v0: update 3, episode 0, step 3: reward = nan: must be finite "
        "(there is no checkpoint yet)",
    ),
    "raises in the middle": (
        ["tests.runs.envs:Walk-v0", "--env-options", "fault=raises", "after=2", "--checkpoint-every", "3"],
        1,
        "tests.runs.envs:Walk-v0: update 3, episode 0, step 3: the environment raised RuntimeError: "
        "the motor is on fire (there is no checkpoint yet)",
    ),
    "too few for the tail": (
        [MAZE, "--measure", "cvar_deviation", "--measure-params", "alpha=0.1"],
        2,
        "n = 4: must be >= 10 for a tail of cvar_deviation to hold one episode",
    ),
    "too few for a split": (
        [MAZE, "--measure", "semi_variance", "--estimator", "paper", "--n", "2"],
        2,
        "the paper's estimator of semi_variance splits the trajectories in two: n = 2 is too few, it needs at least 3",
    ),
    "all wrong fields at once": (
        [
            MAZE,
            "--lam",
            "-1",
            "--n",
            "0",
            "--policy-rate",
            "0",
            "--gamma",
            "nan",
            "--updates",
            "True",
            "--dual-rate",
            "inf",
        ],
        2,
        "n = 0: must be >= 1; updates = 'True': must be a whole number; gamma = nan: must be finite; "
        "lam = -1: must be >= 0; dual_rate = inf: must be finite; policy_rate = 0: must be > 0",
    ),
    "a negative number with an exponent": ([MAZE, "--lam", "-1e-3"], 2, "lam = -0.001: must be >= 0"),
    "minus infinity": ([MAZE, "--lam", "-inf"], 2, "lam = -inf: must be finite"),
    "an option of another algorithm": (
        [MAZE, "--clip", "0.1"],
        2,
        "clip = 0.1: must be left out with algorithm = reinforce: "
        "it is an option of ppo, risk-neutral-ppo, mvpi, mean-semivariance or return-capping",
    ),
    "an unknown algorithm": (
        [MAZE, "--algorithm", "renforce"],
        2,
        f"algorithm = 'renforce': did you mean 'reinforce'? known are {', '.join(algorithms.names())}",
    ),
    "an unknown algorithm in a file": (
        ["--config", "{at}/algorithm.toml"],
        2,
        f"algorithm = 'pp0': did you mean 'ppo'? known are {', '.join(algorithms.names())}",
    ),
    "an unknown option": ([MAZE, "--lamda", "1"], 2, "unknown option '--lamda': did you mean --lam?"),
    "an option of a network on a table": (
        [MAZE, "--hidden", "8"],
        2,
        f"hidden = [8]: must be left out: {MAZE} is learned by a table; policy = network would have it",
    ),
    "an option of real actions on choices": (
        ["CartPole-v1", "--tanh-mean", "false"],
        2,
        "tanh_mean = False: must be left out: CartPole-v1 is learned by a network",
    ),
    "alpha out of range": (
        [MAZE, "--measure", "cvar_deviation", "--measure-params", "alpha=2"],
        2,
        "measure_params = {{'alpha': 2}}: alpha = 2: must be in (0, 1)",
    ),
    "no NAME=VALUE": ([MAZE, "--env-options", "pareto"], 2, "env_options = 'pareto': must be NAME=VALUE"),
    "diverges": (
        [MAZE, "--policy-rate", "1e308", "--out", "{at}/wild"],
        1,
        "{at}/wild diverged at update 3: try smaller rates or a smaller lam, elsewhere",
    ),
    "a file for a folder": (
        [MAZE, "--out", "{at}/file"],
        3,
        "{at}/file: File exists: free or allow space there, or choose another folder, and give the same command again",
    ),
    "nothing can be made there": (
        [MAZE, "--out", "/proc/run"],
        3,
        "/proc/run: No such file or directory: free or allow space there, or choose another folder, "
        "and give the same command again",
    ),
    "another run": (
        [MAZE, "--seed", "5", "--out", "{at}/done"],
        2,
        "{at}/done holds another run: seed = 0 there, 5 here: choose another folder",
    ),
    "a damaged run": (
        [MAZE, "--out", "{at}/bad"],
        4,
        "{at}/bad/ckpt-2: truncated or damaged: its SHA-256 is not the one written in it; "
        "there is no other checkpoint: delete the folder to begin again",
    ),
    "a module from a file": (
        ["--config", "{at}/import.toml"],
        2,
        "{at}/import.toml: env = 'tests.runs.envs:Walk-v0' imports a module: give --allow-import if you trust it",
    ),
    "an unknown key in a file": (
        ["--config", "{at}/typo.toml"],
        2,
        "unknown field 'lamda': did you mean 'lam'?; n = True: must be a whole number",
    ),
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """What the command says to each row of the table, all in one process."""
    at = tmp_path_factory.mktemp("table")
    (at / "file").write_text("")
    (at / "import.toml").write_text('env = "tests.runs.envs:Walk-v0"\n')
    (at / "algorithm.toml").write_text(f'env = "{MAZE}"\nalgorithm = "pp0"\n')
    (at / "typo.toml").write_text(f'env = "{MAZE}"\nlamda = 1.0\nn = true\n')
    commands = [["train", MAZE, *SHORT, "--out", f"{at}/{name}"] for name in ("done", "bad")]
    assert [code for code, _, _ in outcomes_of(commands)] == [0, 0]
    for name in ("done.json", "ckpt-4"):
        (at / "bad" / name).unlink()
    (at / "bad" / "ckpt-2").write_bytes((at / "bad" / "ckpt-2").read_bytes()[:-1])
    commands = [["train", *(word.format(at=at) for word in words), "--quiet"] for words, _, _ in TABLE.values()]
    for k, command in enumerate(commands):
        usual = [] if "--config" in command else [*zip(SHORT[0:6:2], SHORT[1:6:2], strict=True)]
        for option, value in [*usual, ("--out", f"{at}/run-{k}")]:
            command.extend([] if option in command else [option, value])
    return at, dict(zip(TABLE, outcomes_of(commands), strict=True))


@pytest.mark.parametrize("name", TABLE)
def test_bad_input_gets_one_line_and_the_right_exit_code(name, answers):
    at, outcomes = answers
    _, code, message = TABLE[name]
    assert outcomes[name] == [code, "", f"error: {message.format(at=at)}\n"]


def test_train_again_evaluate_and_change_by_file(tmp_path, capsys):
    (tmp_path / "run.toml").write_text(to_toml(RunConfig(MAZE, n=4, updates=3, seed=7)))
    command = ["train", "--config", str(tmp_path / "run.toml"), "--updates", "4", "--quiet"]
    out = ["--out", str(tmp_path / "run")]
    assert main([*command, *out]) == 0
    assert capsys.readouterr().out == f"finished: {tmp_path}/run (4 updates)\n"
    assert main([*command, *out]) == 0
    assert capsys.readouterr().out == f"finished already: {tmp_path}/run (4 updates; --fresh trains anew)\n"
    assert json.loads((tmp_path / "run" / "run.json").read_text())["config"]["seed"] == 7
    evaluate = ["evaluate", str(tmp_path / "run"), "--episodes", "50", "--resamples", "40"]
    assert main([*evaluate, "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert (output["status"], output["update"], output["gamma"], output["summary"]["n"]) == ("finished", 4, 0.999, 50)
    assert 0.0 <= output["risk_averse"] <= 1.0
    assert main(evaluate) == 0
    table = capsys.readouterr().out
    assert f"50 returns of {tmp_path}/run ({MAZE}, finished, update 4)" in table
    assert "CVaR deviation" in table
    assert f"Risk-averse rate: {output['risk_averse']:.3f}. Mean length: {output['length']:.1f} steps." in table


@pytest.mark.parametrize("algorithm", algorithms.names())
def test_help_has_every_option_of_the_algorithm_with_what_it_means_and_no_other(algorithm, capsys):
    assert main(["train", "--algorithm", algorithm, "--help"]) == 0
    text = capsys.readouterr().out
    expected = {**run_options(), **algorithm_options(algorithm), **actor_options(algorithm)}
    del expected["env"]
    options = set(re.findall(r"^  --([\w-]+)", text, flags=re.MULTILINE))
    beside = {
        "config",
        "out",
        "fresh",
        "hours",
        "quiet",
        "allow-import",
        "track",
        "workers",
        "worker-timeout",
        "engine",
        "address",
        "give-up",
    }
    assert options - beside == {name.replace("_", "-") for name in expected}
    assert beside <= options
    words = re.sub(r"\s+", "", text)  # a long line may be broken anywhere
    for declared in expected.values():
        assert re.sub(r"\s+", "", declared.about) in words


def test_help_takes_the_algorithm_from_a_file(tmp_path, capsys):
    (tmp_path / "run.toml").write_text('algorithm = "ppo"\n')
    assert main(["train", "--config", str(tmp_path / "run.toml"), "--help"]) == 0
    assert "--clip" in capsys.readouterr().out


def test_an_option_of_another_algorithm_is_refused_by_the_same_sentence_everywhere(tmp_path, capsys):
    out = tmp_path / "run"
    sentence = (
        "clip = 0.1: must be left out with algorithm = reinforce: "
        "it is an option of ppo, risk-neutral-ppo, mvpi, mean-semivariance or return-capping"
    )
    (tmp_path / "run.toml").write_text(f'env = "{MAZE}"\nclip = 0.1\n')
    for arguments in ([MAZE, "--clip", "0.1"], ["--config", str(tmp_path / "run.toml")]):
        assert main(["train", *arguments, "--out", str(out)]) == 2
        assert capsys.readouterr().err == f"error: {sentence}\n"
    with pytest.raises(BadInputError) as error:
        train(MAZE, clip=0.1, out=out)
    assert str(error.value) == sentence
    assert not out.exists()


def test_evaluate_refuses_what_is_no_run_and_what_imports(tmp_path, capsys):
    assert main(["evaluate", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"error: {tmp_path} is no run's folder: it has no run.json\n"
    run = tmp_path / "run"
    assert main(["train", "tests.runs.envs:Walk-v0", *SHORT, "--out", str(run)]) == 0
    capsys.readouterr()
    assert main(["evaluate", str(run)]) == 2
    assert "run.json: env = 'tests.runs.envs:Walk-v0' imports a module" in capsys.readouterr().err
    assert main(["evaluate", str(run), "--allow-import", "--episodes", "20", "--resamples", "40"]) == 0
    assert "Risk-averse rate: the environment does not say." in capsys.readouterr().out
    assert main(["evaluate", str(run), "--episodes", "1"]) == 2
    assert capsys.readouterr().err == "error: episodes = 1: must be >= 2\n"


def test_an_unbounded_action_space_is_a_warning_in_one_line(tmp_path):
    command = ["train", "tests.runs.envs:Pull-v0", "--hidden", "4", *SHORT, "--out", str(tmp_path / "run")]
    ((code, out, err),) = outcomes_of([command])
    assert (code, out) == (0, f"finished: {tmp_path}/run (4 updates)\n")
    assert err == (
        "warning: <TimeLimit<OrderEnforcing<Pull<Pull-v0>>>>: action_space Box(-inf, inf, (1,), float32) "
        "is unbounded: actions may grow without limit\n"
    )


def test_keep_the_best_out_of_time_resume_end_early_and_evaluate_it(tmp_path, capsys):
    run_folder = str(tmp_path / "run")
    rules = ["--evaluate-every", "1", "--evaluate-episodes", "5", "--keep-best", "return", "--stop-when", "length >= 0"]
    command = ["train", MAZE, *SHORT, "--log-every", "4", *rules[:-2], "--out", run_folder]
    assert main([*command, "--hours", "1e-9"]) == 0
    assert capsys.readouterr().out == f"out of time: {run_folder} (update 2 of 4: the same command resumes)\n"
    assert main(command) == 0
    assert capsys.readouterr().out == f"finished: {run_folder} (4 updates)\n"
    evaluate = ["evaluate", run_folder, "--episodes", "20", "--resamples", "40", "--policy", "best"]
    assert main([*evaluate, "--deterministic", "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert (output["policy"], output["deterministic"]) == ("best", True)
    assert output["update"] == load(run_folder, policy="best").update
    assert main([*evaluate, "--deterministic"]) == 0
    assert f"finished, best, update {output['update']}, deterministic)" in capsys.readouterr().out
    early = ["train", MAZE, *SHORT, *rules, "--out", str(tmp_path / "early")]
    assert main(early) == 0
    assert f"finished: {tmp_path}/early (1 updates, length >= 0: it is " in capsys.readouterr().out
    assert main(["evaluate", run_folder, "--policy", "worst"]) == 2
    assert capsys.readouterr().err == "error: policy = 'worst': must be last or best\n"
    assert main(["train", MAZE, "--stop-when", "luck > 1", "--out", str(tmp_path / "no")]) == 2
    assert "there is no metric 'luck': this run has return, " in capsys.readouterr().err


def test_a_warning_of_gymnasium_is_one_plain_line(tmp_path):
    command = ["train", "tests.runs.envs:Walk", *SHORT, "--out", str(tmp_path / "run")]
    ((code, _, err),) = outcomes_of([command])
    assert code == 0
    assert "warning: Using the latest versioned environment `Walk-v0` instead of the unversioned" in err
    assert "x1b" not in err
