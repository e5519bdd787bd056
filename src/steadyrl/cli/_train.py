"""`steadyrl train`: a run, from the options of its config. What it does is loaded when it runs."""

import contextlib
import dataclasses
import inspect
import sys
import tomllib
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

from tyro.conf import Positional, arg

from steadyrl.ground.files import printable
from steadyrl.runs.config import RunConfig, field_docs, field_types

METAVARS = {int: "INT", float: "FLOAT", str: "STR", bool: "{true,false}"}
TRUTHS = {"true": True, "false": False}


def train(
    env: Annotated[str | None, Positional, arg(metavar="ENV", help_behavior_hint="")] = None,
    *,
    config: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")] = None,
    out: Annotated[Path | None, arg(metavar="PATH", help_behavior_hint="(default: runs/ and a hash)")] = None,
    quiet: Annotated[bool, arg(help_behavior_hint="")] = False,
    allow_import: Annotated[bool, arg(help_behavior_hint="")] = False,
    track: Annotated[tuple[str, ...], arg(metavar="{tensorboard,wandb} ...", help_behavior_hint="")] = (),
    **given: Any,
) -> None:
    """Train a policy that maximises E[G0] - lam D[G0]. Stop it at any time: the same command goes on.

    Args:
        env: The environment's id, as in gymnasium.make; module:id imports the module first.
        config: A TOML file with any of the options below; those on the command line count more.
        out: The run's folder.
        quiet: Show nothing but how it ended.
        allow_import: Let the id of an environment that comes from a file import a module.
        track: Write the metrics for these, too, into the run's folder; wandb is always offline.
    """
    from steadyrl.ground.errors import RunFailedError
    from steadyrl.runs import toml, view
    from steadyrl.runs.checks import config_from
    from steadyrl.runs.run import folder_of, train

    fields = toml.read_file(config) if config is not None else {}
    if env is None:
        check_import(fields.get("env"), str(config), allow_import=allow_import)
    else:
        fields["env"] = env
    chosen = config_from(fields | {name: _read(name, text) for name, text in given.items() if text})
    path = folder_of(chosen, out)
    was_done = (path / "done.json").exists()
    with plain_warnings():
        run = train(config=chosen, out=path, view=view.choose(quiet), track=track)
    if run.status == "diverged":
        raise RunFailedError(f"{path} diverged at update {run.update}: try smaller rates or a smaller lam, elsewhere")
    sys.stdout.write(f"finished{' already' if was_done else ''}: {path} ({run.update} updates)\n")


def check_import(env: Any, source: str, *, allow_import: bool) -> None:
    """Refuse to import a module because a file says so."""
    if isinstance(env, str) and ":" in env and not allow_import:
        raise ValueError(f"{source}: env = {env!r} imports a module: give --allow-import if you trust it")


@contextlib.contextmanager
def plain_warnings() -> Iterator[None]:
    """Warnings as one line each, without the place in the code."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: _warn(str(message))
        yield


def _warn(message: str) -> None:
    sys.stderr.write(f"warning: {printable(' '.join(message.split()))}\n")


def _read(name: str, given: Any) -> Any:
    """The value of an option as its field has it; what cannot be read is left for the check to refuse."""
    kind, _ = field_types()[name]
    if given is True:
        return given
    if _is_table(kind):
        return _table(name, given)
    if get_origin(kind) is tuple:
        return [_number(int, text) for text in given]
    if kind is bool:
        return TRUTHS.get(given.lower(), given)
    return _number(kind, given) if kind in (int, float) else given


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


def _is_table(kind: Any) -> bool:
    return get_origin(kind) not in (None, tuple, Literal)


def _option(field: dataclasses.Field[Any]) -> inspect.Parameter:
    """The option of a field. Its text is read by us, so that all that is wrong can be said at once."""
    kind, optional = field_types()[field.name]
    flag = field.default is False
    several = _is_table(kind) or get_origin(kind) is tuple
    taken: Any = bool if flag else tuple[str, ...] | None if several else str | None
    default = "" if flag or optional or _is_table(kind) else f"(default: {_text(field.default)})"
    about = arg(help=field_docs()[field.name], metavar=None if flag else _metavar(kind), help_behavior_hint=default)
    annotation = Annotated[taken, about]
    empty = False if flag else None
    return inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=empty, annotation=annotation)


def _metavar(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return "{" + ",".join(get_args(kind)) + "}"
    return METAVARS.get(kind) or ("NAME=VALUE ..." if _is_table(kind) else "INT ...")


def _text(default: Any) -> str:
    if isinstance(default, bool):
        return str(default).lower()
    return " ".join(map(str, default)) if isinstance(default, tuple) else str(default)


def _sign() -> None:
    """Give `train` an option for each field of a config, as if it had been written so."""
    own = [p for p in inspect.signature(train).parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    options = [_option(field) for field in dataclasses.fields(RunConfig) if field.name != "env"]
    signature = inspect.Signature([*own, *options], return_annotation=None)
    for function in {train, inspect.unwrap(train)}:  # the run-time type checks of the tests wrap it
        function.__signature__ = signature
        function.__annotations__ = {p.name: p.annotation for p in signature.parameters.values()} | {"return": None}


_sign()
