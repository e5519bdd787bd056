"""`steadyrl train`: a run, from the options of its config. What it does is loaded when it runs."""

import argparse
import contextlib
import re
import sys
import tomllib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from steadyrl.cli.parser import Parser
from steadyrl.ground.files import from_here, printable
from steadyrl.ground.option import Option, options_of

METAVARS = {int: "INT", float: "FLOAT", str: "STR", bool: "{true,false}"}
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
TRUTHS = {"true": True, "false": False}


def add_options(parser: Parser, arguments: list[str]) -> None:
    """What the command takes."""
    from steadyrl.rollouts.workers import WorkerOptions

    parser.add_argument(
        "env",
        nargs="?",
        metavar="ENV",
        help="the environment's id, as in gymnasium.make; module:id imports the module first",
    )
    parser.option("config", "a TOML file with any of the options below; those on the command line count more", Path)
    parser.option("out", "the run's folder (default: runs/ and a hash)", Path)
    parser.flag("fresh", "train anew: delete the run that is in the folder first; to resume, leave it out")
    parser.option("hours", "stop after about so many hours, with a checkpoint; the same command resumes", float)
    parser.option(
        "give-up",
        "such as 5%%: as steady as can be with a mean no more than this below the risk-neutral one, which is trained "
        "first, beside it",
        metavar="SHARE",
    )
    parser.flag("quiet", "show nothing but how it ended")
    parser.flag("allow-import", "let the id of an environment that comes from a file import a module")
    parser.add_argument(
        "--track",
        nargs="+",
        default=(),
        metavar="NAME",
        help="tensorboard, wandb: write the metrics for these, too, into the run's folder; wandb is always offline",
    )
    for declared in options_of(WorkerOptions).values():
        _add(parser, declared, f"{declared.about}{_default(declared.default)}")
    parser.usage = "steadyrl train [ENV] [--option VALUE ...]"
    add_run_options(parser, arguments)


def add_run_options(parser: Parser, arguments: list[str]) -> None:
    """What every run takes, what its algorithm takes, and what a table or a network takes."""
    from steadyrl.algorithms import names
    from steadyrl.runs.config import actor_options, algorithm_options, all_options, run_options

    algorithm = _algorithm(arguments)
    table, network, gaussian = (actor_options(algorithm, kind) for kind in ("table", "network", "gaussian"))
    groups = {
        "options of every run": {name: o for name, o in run_options(algorithm).items() if name != "env"},
        f"options of algorithm {algorithm}": algorithm_options(algorithm),
        "options of whoever learns, a table or a network": {name: _both(table[name], network[name]) for name in table},
        "options of a network": {name: o for name, o in network.items() if name not in table},
        "options of a network whose actions are real": {n: o for n, o in gaussian.items() if n not in network},
    }
    for title, options in groups.items():
        group = parser.add_argument_group(title)
        for declared in options.values():
            _add(group, declared, f"{declared.about}{_default(declared.default)}")
    shown = {name for options in groups.values() for name in options} | {"env"}
    for name, declared in all_options().items():  # of other algorithms: read, and refused by name later
        if name not in shown:
            _add(parser, declared, argparse.SUPPRESS)
    parser.epilog = f"--algorithm NAME --help shows what another algorithm takes: {', '.join(names())}"


def train(
    env: str | None,
    *,
    config: Path | None,
    out: Path | None,
    fresh: bool,
    hours: float | None,
    quiet: bool,
    allow_import: bool,
    track: Sequence[str],
    workers: str | None,
    worker_timeout: str | None,
    give_up: str | None,
    **texts: Any,
) -> None:
    """Train a policy that maximises E[G0] - lam D[G0]. Stop it at any time: the same command resumes it."""
    from steadyrl.ground.errors import RunFailedError
    from steadyrl.rollouts.workers import WorkerOptions
    from steadyrl.runs import toml, view
    from steadyrl.runs.checks import config_from
    from steadyrl.runs.run import folder_of, train

    fields = toml.read_file(config) if config is not None else {}
    if env is None:
        check_import(fields.get("env"), str(config), allow_import=allow_import)
    else:
        fields["env"] = env
    if texts.get("policy") is None:
        check_import(fields.get("policy"), str(config), allow_import=allow_import, field="policy")
    chosen = config_from(fields | run_fields(texts))
    path = None if give_up is not None and out is None else folder_of(chosen, out)
    was_done = path is not None and not fresh and (path / "done.json").exists()
    own, asked = options_of(WorkerOptions), {"workers": workers, "worker_timeout": worker_timeout}
    how = {name: _read(own[name], text) for name, text in asked.items() if text is not None}
    wrong = [problem for name, value in how.items() if (problem := own[name].problem(value)) is not None]
    if wrong:
        raise ValueError("; ".join(wrong))
    how |= {"track": track, "fresh": fresh, "hours": hours, "give_up": give_up}
    run = train(config=chosen, out=path, view=view.choose(quiet or was_done), **how)
    shown = from_here(str(run.folder))
    if run.status == "diverged":
        cure = "try smaller rates or a smaller lam, elsewhere"
        raise RunFailedError(f"{shown} diverged at update {run.update}: {cure}")
    if run.status == "unfinished":
        reached = f"update {run.update} of {chosen.updates}: the same command resumes"
        sys.stdout.write(f"out of time: {shown} ({reached})\n")
        return
    before, cure = (" already", "; --fresh trains anew") if was_done else ("", "")
    why = f", {printable(run.reason)}" if run.reason else ""
    sys.stdout.write(f"finished{before}: {shown} ({run.update} updates{why}{cure})\n")


def run_fields(texts: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a run that were asked for, from the texts of their options."""
    from steadyrl.runs.config import all_options

    known = all_options()
    return {name: _read(known[name], text) for name, text in texts.items() if text is not None}


def check_import(value: Any, source: str, *, allow_import: bool, field: str = "env") -> None:
    """Refuse to import a module because a file says so."""
    if isinstance(value, str) and ":" in value and not allow_import:
        raise ValueError(f"{source}: {field} = {value!r} imports a module: give --allow-import if you trust it")


@contextlib.contextmanager
def plain_warnings() -> Iterator[None]:
    """Warnings as one line each, without the place in the code; the same one only once."""
    lines: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        text = COLOUR.sub("", str(message)).removeprefix("WARN: ")  # Gymnasium's are yellow
        line = f"warning: {printable(' '.join(text.split()))}\n"
        if line not in lines:
            lines.add(line)
            sys.stderr.write(line)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def _algorithm(arguments: Sequence[str]) -> str:
    """Which algorithm is meant, before the options are read: on the command line, or in its file."""
    first = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    first.add_argument("--algorithm")
    first.add_argument("--config", type=Path)
    with contextlib.suppress(argparse.ArgumentError, SystemExit):
        asked, _ = first.parse_known_args(list(arguments))
        if asked.algorithm is not None:
            return str(asked.algorithm)
        if asked.config is not None and asked.config.is_file():
            from steadyrl.runs import toml

            return str(toml.read_file(asked.config).get("algorithm", "reinforce"))
    return "reinforce"


def _add(parser: Any, declared: Option, about: str) -> None:
    """An option of a run. Its text is read by us, so that all that is wrong can be said at once."""
    more: dict[str, Any] = {}
    if declared.is_table:
        more = {"nargs": "+"}
    elif declared.is_list:
        more = {"nargs": "*"}
    elif declared.kind is bool:
        more = {"nargs": "?", "const": "true"}
    name = declared.name.replace("_", "-")
    parser.add_argument(
        f"--{name}",
        metavar=_metavar(declared),
        help=about if about == argparse.SUPPRESS else about.replace("%", "%%"),
        **more,
    )


def _both(table: Option, network: Option) -> Option:
    """An option that both have, with both defaults said where they differ."""
    if table.default == network.default:
        return network
    sides = {"": network.default, "a table: ": table.default}
    return replace(network, default="; ".join(f"{whose}{x}" for whose, x in sides.items() if x is not None))


def _metavar(declared: Option) -> str:
    if declared.choices:
        return "{" + ",".join(declared.choices) + "}"
    return METAVARS.get(declared.kind) or ("NAME=VALUE" if declared.is_table else "INT")


def _default(default: Any) -> str:
    """How a default is said, if there is one."""
    if default is None or default == {}:
        return ""
    text = str(default).lower() if isinstance(default, bool) else str(default)
    return f" (default: {' '.join(map(str, default)) if isinstance(default, tuple) else text})"


def _read(declared: Option, text: Any) -> Any:
    """The value of an option as its field has it; what cannot be read is left for the check to refuse."""
    if declared.is_table:
        return _table(declared.name, text)
    if declared.is_list:
        return [_number(int, word) for word in text]
    if declared.kind is bool:
        return TRUTHS.get(text.lower(), text)
    return _number(declared.kind, text) if declared.kind in (int, float) else text


def _number(kind: type, text: str) -> Any:
    try:
        return kind(text)
    except ValueError:
        return text


def _table(name: str, settings: Sequence[str]) -> dict[str, Any]:
    """NAME=VALUE, ... with values as TOML has them; whatever is not TOML is text."""
    table = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not (key and equals):
            raise ValueError(f"{name} = {setting!r}: must be NAME=VALUE")
        try:
            table[key] = tomllib.loads(f"value = {text}")["value"]
        except ValueError:
            table[key] = text
    return table
