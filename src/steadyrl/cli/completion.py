"""`steadyrl completion`: a script that makes a shell complete commands, options and the words that options take."""

import argparse
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Final

from steadyrl.cli.parser import Parser

SHELLS: Final = ("bash", "zsh", "fish")


def add_options(parser: Parser, arguments: list[str]) -> None:  # noqa: ARG001
    """What the command takes."""
    parser.add_argument("shell", choices=SHELLS, help="the shell it is for")


def completion(shell: str) -> None:
    """Print a script that makes a shell complete commands, options and their words; to be sourced by the shell."""
    sys.stdout.write({"bash": bash, "zsh": zsh, "fish": fish}[shell]())


def bash() -> str:
    """For bash: words by command and by option; files where nothing is known."""
    from steadyrl.cli import COMMANDS

    cases = "".join(f'        {name}) options="{" ".join(sorted(_options(name)))}" ;;\n' for name in COMMANDS)
    words = "".join(f'        {name}) words="{" ".join(values)}" ;;\n' for name, values in _values().items())
    return f"""# Completion of steadyrl for bash.
_steadyrl() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" options="" words=""
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "{" ".join(COMMANDS)} --help --version" -- "$current"))
        return
    fi
    case "${{COMP_WORDS[1]}}" in
{cases}    esac
    case "${{COMP_WORDS[1]}} $before" in
        "completion completion") words="{" ".join(SHELLS)}" ;;
    esac
    case "$before" in
{words}    esac
    case "$current" in
        -*) COMPREPLY=($(compgen -W "$options --help" -- "$current")) ;;
        *) if [ -n "$words" ]; then COMPREPLY=($(compgen -W "$words" -- "$current"))
           else COMPREPLY=($(compgen -f -- "$current")); fi ;;
    esac
}}
complete -o filenames -F _steadyrl steadyrl
"""


def zsh() -> str:
    """For zsh, which runs what bash does."""
    return f"autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n{bash()}"


def fish() -> str:
    """For fish: with a sentence for each."""
    from steadyrl.cli import COMMANDS

    lines = ["# Completion of steadyrl for fish."]
    values = _values()
    for command, about in COMMANDS.items():
        lines.append(f"complete -c steadyrl -n __fish_use_subcommand -a {command} -d {_quoted(about)}")
        condition = f"-n '__fish_seen_subcommand_from {command}'"
        for name, sentence in sorted(_options(command).items()):
            words = f" -x -a {_quoted(' '.join(values[name]))}" if name in values else ""
            lines.append(f"complete -c steadyrl {condition} -l {name.removeprefix('--')}{words} -d {_quoted(sentence)}")
    shells = _quoted(" ".join(SHELLS))
    lines.append(f"complete -c steadyrl -n '__fish_seen_subcommand_from completion' -x -a {shells}")
    return "\n".join(lines) + "\n"


def _options(command: str) -> dict[str, str]:
    """The options of a command, those of every algorithm among them, with the first sentence of their help."""
    return {name: _sentence(action) for action in _actions(command) for name in action.option_strings}


def _actions(command: str) -> list[argparse.Action]:
    parser = Parser(f"steadyrl {command}", None)
    import_module(f"steadyrl.cli.{command}").add_options(parser, [])
    return parser._actions


def _sentence(action: argparse.Action) -> str:
    """What an option is, as far as one line has room."""
    text = "" if action.help in (None, argparse.SUPPRESS) else str(action.help).replace("%%", "%")
    return text.partition(" (default:")[0].partition(";")[0].partition(":")[0]


def _values() -> dict[str, list[str]]:
    """The words that an option takes, where they are a few: names of measures, algorithms and so on."""
    from steadyrl import algorithms, estimators, measures
    from steadyrl.algorithms import objective
    from steadyrl.runs.config import all_options

    values = {f"--{name.replace('_', '-')}": list(entry.choices) for name, entry in all_options().items()}
    values |= {"--measure": measures.names(), "--algorithm": algorithms.names(), "--estimator": estimators.names()}
    values |= {"--objective": objective.names(), **dict(_choices())}
    return {name: words for name, words in values.items() if words}


def _choices() -> Iterator[tuple[str, list[str]]]:
    """Those of options that only a command has."""
    from steadyrl.cli import COMMANDS

    for command in COMMANDS:
        for action in _actions(command):
            for name in action.option_strings:
                if action.choices is not None:
                    yield name, [str(choice) for choice in action.choices]


def _quoted(text: str) -> str:
    """As a shell takes one word."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
