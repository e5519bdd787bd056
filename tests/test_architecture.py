"""What docs/architecture.md says of the packages is so, and the files that pages name are there."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "steadyrl"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
CURE = "renew the table and the drawing with `python docs/hooks/import_graph.py`"
STATEMENT = re.compile(
    r"^ *(?:from steadyrl\.(\w+)[\w.]* import|import steadyrl\.(\w+)|from steadyrl import (.*))", re.M
)


def rows():
    return re.findall(r"^\| `(\w+)` \| .* \| ([\w, ]+) \|$", PAGE, flags=re.MULTILINE)


def names_in(text):
    for first, second, several in STATEMENT.findall(re.sub(r'""".*?"""', "", text, flags=re.DOTALL)):
        yield from [first or second] if first or second else [name.split()[0] for name in several.split(", ")]


def test_the_table_has_every_package_in_the_order_that_is_checked():
    modules = [path for path in SOURCES.glob("*.py") if not path.name.startswith("_")]
    packages = {path.stem for path in [*modules, *(path.parent for path in SOURCES.glob("*/__init__.py"))]}
    assert {name for name, _ in rows()} == packages
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    layers = re.findall(r'"(\w+)"', settings.partition("layers = [")[2].partition("]")[0])
    assert [name for name, _ in rows()] == layers


def test_a_package_imports_what_the_table_says():
    packages = [name for name, _ in rows()]
    for package, shown in rows():
        files = (SOURCES / package).rglob("*.py") if (SOURCES / package).is_dir() else [SOURCES / f"{package}.py"]
        imported = {name for file in files for name in names_in(file.read_text(encoding="utf-8"))}
        below = sorted(imported & set(packages) - {package})
        assert shown == (", ".join(below) or "nothing"), f"{package}: {CURE}"
        assert all(packages.index(name) > packages.index(package) for name in below)


def test_every_source_file_that_a_page_names_is_there():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    named = {
        (page.name, path)
        for page in pages
        for path in re.findall(
            r"\b((?:tests|benchmarks|examples|docs/hooks)/[\w/]+\.py)\b", page.read_text(encoding="utf-8")
        )
    }
    assert len(named) > 10
    assert [path for _, path in sorted(named) if not (ROOT / path).is_file()] == []


def words_used(tree):
    """Every name, attribute, import and word of a string that a file uses; what its docstrings say does not count."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield node.name.rpartition(".")[2]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield from re.findall(r"\w+", node.value)


def test_every_function_and_class_is_used_registered_or_on_a_page():
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES.rglob("*.py")}
    used = {word for tree in trees.values() for word in words_used(tree)}
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    shown = {word for page in pages for word in re.findall(r"\w+", page.read_text(encoding="utf-8"))}
    defined = {
        (path.name, node.name)
        for path, tree in trees.items()
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        if not node.decorator_list and not node.name.startswith("__")
    }
    assert len(defined) > 1000
    assert [f"{file}: {name}" for file, name in sorted(defined) if name not in used | shown] == []
