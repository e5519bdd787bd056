"""Completion in real shells: what they offer for a line that is being typed."""

import shutil
import subprocess

import pytest

from steadyrl.cli import COMMANDS, completion, main


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("completion") / "steadyrl.bash"
    path.write_text(completion.bash(), encoding="utf-8")
    return path


def offered(script, line, folder):
    """What bash would offer for the last word of a line."""
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    words = line.split(" ")
    ask = f'. "{script}"; COMP_WORDS=({" ".join(repr(w) for w in words)}); COMP_CWORD={len(words) - 1}; _steadyrl'
    process = subprocess.run(
        ["bash", "--norc", "-uc", ask + '; printf "%s\\n" "${COMPREPLY[@]}"'],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
    )
    assert process.stderr == ""
    return process.stdout.split()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("steadyrl tr", ["train"]),
        ("steadyrl --v", ["--version"]),
        ("steadyrl train Maze --measure-p", ["--measure-params"]),
        ("steadyrl train Maze --objective cv", ["cvar", "cvar_mixture"]),
        ("steadyrl train Maze --algorithm pp", ["ppo"]),
        ("steadyrl train Maze --measure gini", ["gini_deviation"]),
        ("steadyrl train Maze --clip-s", ["--clip-schedule"]),
        ("steadyrl train Maze --clip-schedule c", ["constant", "cosine"]),
        ("steadyrl evaluate --trust", ["--trust-pickle"]),
        ("steadyrl evaluate --trust-pickle ru", ["runs"]),
        ("steadyrl completion z", ["zsh"]),
        ("steadyrl train Maze --nothing-of-the-kind", []),
    ],
)
def test_what_bash_offers(script, line, words, tmp_path):
    (tmp_path / "runs").mkdir()
    assert sorted(offered(script, line, tmp_path)) == words


def test_every_command_is_offered(script, tmp_path):
    assert set(COMMANDS) <= set(offered(script, "steadyrl ", tmp_path))


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_can_read_their_script(shell, capsys, tmp_path):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    assert main(["completion", shell]) == 0
    path = tmp_path / shell
    path.write_text(capsys.readouterr().out, encoding="utf-8")
    subprocess.run([shell, "-n", str(path)], check=True)


def test_fish_has_a_line_for_each_command_and_option():
    lines = completion.fish().splitlines()
    for command in COMMANDS:
        assert sum(f"-a {command} " in line for line in lines) == 1
    measure = [line for line in lines if "from train'" in line and "-l measure " in line]
    assert len(measure) == 1
    assert "gini_deviation" in measure[0]
    assert all(line.count("'") % 2 == 0 for line in lines if "\\'" not in line)


def test_a_shell_that_is_not_known_is_refused(capsys):
    assert main(["completion", "cmd"]) == 2
    assert "choose from" in capsys.readouterr().err
