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
    for option in options_of(WorkerOptions).values():
        default = "" if "(default:" in option.about else _default(option.default)
        _add(parser, option, f"{option.about}{default}")
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
        for option in options.values():
            default = "" if "(default:" in option.about else _default(option.default)
            _add(group, option, f"{option.about}{default}")
    listed = {name for options in groups.values() for name in options} | {"env"}
    for name, option in all_options().items():  # of other algorithms: read, and refused by name later
        if name not in listed:
            _add(parser, option, argparse.SUPPRESS)
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
    give_up: str | None,
    **texts: Any,
) -> None:
    """Train a policy that maximises E[G0] - lam D[G0]. Stop it at any time: the same command resumes it."""
    from steadyrl.ground.errors import RunFailedError
    from steadyrl.rollouts.workers import WorkerOptions
    from steadyrl.runs import toml, view
    from steadyrl.runs.build import with_env_defaults
    from steadyrl.runs.checks import config_from
    from steadyrl.runs.run import folder_of
    from steadyrl.runs.training import train

    here = Path.cwd()  # an environment may change it
    worker_options = options_of(WorkerOptions)
    worker_texts = {name: texts.pop(name) for name in worker_options}
    fields = toml.read_file(config) if config is not None else {}
    if env is None:
        check_import(fields.get("env"), str(config), allow_import=allow_import)
    else:
        fields["env"] = env
    if texts.get("policy") is None:
        check_import(fields.get("policy"), str(config), allow_import=allow_import, field="policy")
    run_config = config_from(with_env_defaults(fields | run_fields(texts)))
    path = None if give_up is not None and out is None else here / folder_of(run_config, out)
    was_done = path is not None and not fresh and (path / "done.json").exists()
    arguments = {name: _read(worker_options[name], text) for name, text in worker_texts.items() if text is not None}
    problems = [
        problem for name, value in arguments.items() if (problem := worker_options[name].problem(value)) is not None
    ]
    if problems:
        raise ValueError("; ".join(problems))
    arguments |= {"track": track, "fresh": fresh, "hours": hours, "give_up": give_up}
    run = train(config=run_config, out=path, view=view.choose(quiet or was_done), **arguments)
    folder = from_here(str(run.folder))
    if run.status == "diverged":
        cure = "try smaller rates or a smaller lam, elsewhere"
        raise RunFailedError(f"{folder} diverged at update {run.update}: {cure}")
    if run.status == "unfinished":
        reached = f"update {run.update} of {run_config.updates}: the same command resumes"
        sys.stdout.write(f"out of time: {folder} ({reached})\n")
        return
    before, cure = (" already", "; --fresh trains anew") if was_done else ("", "")
    reason = f", {printable(run.reason)}" if run.reason else ""
    sys.stdout.write(f"finished{before}: {folder} ({run.update} updates{reason}{cure})\n")


def run_fields(texts: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a run that were asked for, from the texts of their options."""
    from steadyrl.runs.config import all_options

    options = all_options()
    return {name: _read(options[name], text) for name, text in texts.items() if text is not None}


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
        known_arguments, _ = first.parse_known_args(list(arguments))
        if known_arguments.algorithm is not None:
            return str(known_arguments.algorithm)
        if known_arguments.config is not None and known_arguments.config.is_file():
            from steadyrl.runs import toml

            return str(toml.read_file(known_arguments.config).get("algorithm", "ppo"))
    return "ppo"  # what an environment of one's own most likely gets; a table would get reinforce


def _add(parser: Any, option: Option, description: str) -> None:
    """An option of a run. Its text is read by us, so that all that is wrong can be said at once."""
    more: dict[str, Any] = {}
    if option.is_table:
        more = {"nargs": "+"}
    elif option.is_list:
        more = {"nargs": "*"}
    elif option.kind is bool:
        more = {"nargs": "?", "const": "true"}
    name = option.name.replace("_", "-")
    parser.add_argument(
        f"--{name}",
        metavar=_metavar(option),
        help=description if description == argparse.SUPPRESS else description.replace("%", "%%"),
        **more,
    )


def _both(table: Option, network: Option) -> Option:
    """An option that both have, with both defaults said where they differ."""
    if table.default == network.default:
        return network
    sides = {"": network.default, "a table: ": table.default}
    return replace(network, default="; ".join(f"{prefix}{x}" for prefix, x in sides.items() if x is not None))


def _metavar(option: Option) -> str:
    if option.choices:
        return "{" + ",".join(option.choices) + "}"
    return METAVARS.get(option.kind) or ("NAME=VALUE" if option.is_table else "INT")


def _default(default: Any) -> str:
    """A default in words, if there is one."""
    if default is None or default == {}:
        return ""
    text = str(default).lower() if isinstance(default, bool) else str(default)
    return f" (default: {' '.join(map(str, default)) if isinstance(default, tuple) else text})"


def _read(option: Option, text: Any) -> Any:
    """The value of an option as its field has it; what cannot be read is left for the check to refuse."""
    if option.is_table:
        return _table(option.name, text)
    if option.is_list:
        return [_number(int, word) for word in text]
    if option.kind is bool:
        return TRUTHS.get(text.lower(), text)
    return _number(option.kind, text) if option.kind in (int, float) else text


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
