"""A config as TOML: read strictly, written exactly."""

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from steadyrl.ground.errors import BadInputError
from steadyrl.ground.files import DEEPEST, MOST_BYTES, is_too_deep, read_some
from steadyrl.runs.checks import config_from
from steadyrl.runs.config import RunConfig

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def to_toml(config: RunConfig) -> str:
    """The config as a TOML file; fields that are None are left out, which means the same."""
    fields = {name: value for name, value in config.to_dict().items() if value is not None}
    plain = [f"{name} = {_value(value)}" for name, value in fields.items() if not isinstance(value, dict)]
    tables = [_table(name, value) for name, value in fields.items() if isinstance(value, dict) and value]
    return "\n\n".join(["\n".join(plain), *tables]) + "\n"


def from_toml(text: str, source: str = "TOML") -> RunConfig:
    """The config in a TOML file's text, or a BadInputError with all that is wrong with it."""
    return config_from(read_fields(text, source))


def read_fields(text: str, source: str) -> dict[str, Any]:
    """What a TOML file says, whatever it is."""
    try:
        fields = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInputError(f"{source} is not TOML: {error}") from error
    if is_too_deep(fields):
        raise BadInputError(f"{source} is nested more than {DEEPEST} deep: write it flatter")
    return fields


def read_file(path: Path) -> dict[str, Any]:
    """The fields in a file."""
    try:
        raw = read_some(path)
        if raw is None:
            raise BadInputError(f"{path} has more than {MOST_BYTES} bytes: give a TOML file with the fields of a run")
        return read_fields(raw.decode(), str(path))
    except OSError as error:
        raise BadInputError(f"{path}: {error.strerror}: give a TOML file with the fields of a run") from error
    except UnicodeDecodeError as error:
        raise BadInputError(f"{path} is not TOML: not UTF-8 at byte {error.start}") from error


def _table(name: str, entries: Mapping[str, Any]) -> str:
    return "\n".join([f"[{name}]", *(f"{_key(key)} = {_value(value)}" for key, value in entries.items())])


def _key(key: str) -> str:
    return key if BARE_KEY.fullmatch(key) else _text(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return repr(value)


def _text(text: str) -> str:
    """A JSON string is a TOML string, but for one character that JSON lets pass."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
