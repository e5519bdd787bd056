"""Which modules of the package declare the shapes of arrays."""

from importlib.util import find_spec
from pathlib import Path


def modules_with_shapes():
    """Those that import the names for it; in the others there is nothing that mypy has not checked."""
    root = Path(find_spec("steadyrl").submodule_search_locations[0])
    files = [path for path in root.rglob("*.py") if "steadyrl.ground.shapes import" in path.read_text("utf-8")]
    names = [".".join(("steadyrl", *path.relative_to(root).with_suffix("").parts)) for path in sorted(files)]
    return [name.removesuffix(".__init__") for name in names]
