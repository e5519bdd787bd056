"""Draw which package imports which, before and now, and renew the table of docs/architecture.md.

`python docs/hooks/import_graph.py`; tests/test_architecture.py compares the table with the sources in a way of its own.
"""

import ast
import re
from pathlib import Path
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from steadyrl.report._style import save_figure

ROOT: Final = Path(__file__).parents[2]
SOURCES: Final = ROOT / "src" / "steadyrl"
PAGE: Final = ROOT / "docs" / "architecture.md"
PICTURE: Final = ROOT / "docs" / "images" / "imports.svg"
Graph = dict[str, set[str]]

# As it was before actors, ground and paper were packages of their own (commit e1bbb7a), counted by this script there.
BEFORE: Final[Graph] = {
    "cli": {
        "shapes", "envs", "evaluate", "measures", "policies", "report", "rollouts", "runs", "streams", "studies",
    },
    "report": {
        "shapes", "algorithms", "envs", "estimators", "evaluate", "measures", "policies", "rollouts", "runs", "studies",
    },
    "studies": {
        "shapes", "algorithms", "envs", "estimators", "measures", "policies", "rollouts", "runs", "streams",
    },
    "runs": {
        "shapes", "algorithms", "envs", "estimators", "evaluate", "measures", "policies", "rollouts", "streams",
    },
    "algorithms": {"shapes", "estimators", "measures", "policies", "rollouts", "streams"},
    "rollouts": {"shapes", "envs", "policies", "streams"},
    "policies": {"shapes", "streams"},
    "envs": {"shapes", "streams"},
    "evaluate": {"shapes", "measures"},
    "estimators": {"shapes", "measures"},
    "measures": {"shapes"},
    "streams": {"shapes"},
    "shapes": set(),
}  # fmt: skip


def imports() -> Graph:
    """Of every package the packages of ours that it imports, inside functions too."""
    graph: Graph = {}
    for path in sorted(SOURCES.rglob("*.py")):
        package = path.relative_to(SOURCES).with_suffix("").parts[0]
        if not package.startswith("__"):
            names = {name for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) for name in _ours(node)}
            graph.setdefault(package, set()).update(names - {package})
    return {package: {name for name in names if name in graph} for package, names in graph.items()}


def _ours(node: ast.AST) -> list[str]:
    """The packages of ours that a statement imports."""
    if isinstance(node, ast.ImportFrom) and node.module == "steadyrl":
        return [alias.name for alias in node.names]
    names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
    names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    return [name.split(".")[1] for name in names if name.startswith("steadyrl.")]


def reachable(graph: Graph, package: str) -> set[str]:
    """What a package imports, and what these import, and so on."""
    below = set(graph[package])
    for name in graph[package]:
        below |= reachable(graph, name)
    return below


def direct(graph: Graph) -> Graph:
    """Without the imports that follow from others, so that a drawing has few lines."""
    return {
        package: {name for name in names if not any(name in reachable(graph, other) for other in names - {name})}
        for package, names in graph.items()
    }


def floor(graph: Graph, package: str) -> int:
    """0 if it imports nothing of ours, else one above the highest that it imports."""
    return 1 + max((floor(graph, name) for name in graph[package]), default=-1)


def draw(axes: Axes, graph: Graph, title: str) -> None:
    """A box for each package, a line down to each that it imports."""
    floors: dict[int, list[str]] = {}
    for package in sorted(graph):
        floors.setdefault(floor(graph, package), []).append(package)
    places = {
        package: (k - (len(row) - 1) / 2, height) for height, row in floors.items() for k, package in enumerate(row)
    }
    for package, names in direct(graph).items():
        for name in names:
            (x0, y0), (x1, y1) = places[package], places[name]
            line = {"arrowstyle": "-|>", "color": "#777777", "shrinkA": 11, "shrinkB": 11}
            axes.annotate("", (x1, y1), (x0, y0), arrowprops=line, zorder=1)
    for package, (x, y) in places.items():
        box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": "#446688"}
        axes.text(x, y, package, ha="center", va="center", bbox=box, zorder=2)
    widest = max(map(len, floors.values()))
    axes.set(title=title, xlim=(-widest / 2 - 0.3, widest / 2 + 0.3), ylim=(-0.6, max(floors) + 0.6))
    axes.set_axis_off()


def table(text: str, graph: Graph) -> str:
    """The page with today's imports in the last column of its table."""

    def renewed(match: re.Match[str]) -> str:
        names = ", ".join(sorted(graph[match[1]])) or "nothing"
        return f"| `{match[1]}` | {match[2]} | {names} |"

    return re.sub(r"^\| `(\w+)` \| (.*) \| [\w, ]+ \|$", renewed, text, flags=re.MULTILINE)


def main() -> None:
    """Draw the picture and renew the table."""
    graph = imports()
    figure = Figure(figsize=(10, 8.5), layout="constrained")
    before, now = figure.subplots(1, 2)
    draw(before, BEFORE, "before")
    draw(now, graph, "now")
    save_figure(figure, PICTURE)
    PAGE.write_text(table(PAGE.read_text(encoding="utf-8"), graph), encoding="utf-8")


if __name__ == "__main__":
    main()
