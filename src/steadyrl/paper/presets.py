"""The files of the paper's studies, by name: maze is paper/maze/maze.toml."""

from functools import cache
from importlib import resources
from typing import Any

from steadyrl.ground.errors import BadInputError
from steadyrl.runs.toml import read_fields


def preset_names() -> list[str]:
    """The studies that come with the package."""
    return sorted(_files())


def preset(name: str) -> dict[str, Any]:
    """What the file of a study that comes with the package says."""
    if name not in _files():
        raise BadInputError(f"study = {name!r}: must be one of {', '.join(preset_names())}, or a TOML file")
    return read_fields(_files()[name].read_text(encoding="utf-8"), name)


@cache
def _files() -> dict[str, Any]:
    folders = (folder for folder in resources.files("steadyrl.paper").iterdir() if folder.is_dir())
    paths = (path for folder in folders for path in folder.iterdir() if path.name.endswith(".toml"))
    return {path.name.removesuffix(".toml"): path for path in paths}
