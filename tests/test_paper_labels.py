"""Every equation, section, table or theorem of the paper that is cited by its label exists in the paper's source.

`data/paper_labels.txt` lists the labels of that source, names only.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
KNOWN = (ROOT / "tests" / "data" / "paper_labels.txt").read_text(encoding="utf-8").split()
KINDS = "algo|app|assump|def|eq|fig|le|sec|tab|thm"
LABEL = re.compile(rf"(?<![\w:-])(?:{KINDS}):\w[\w-]*")

SOURCES = sorted((ROOT / "src" / "steadyrl").rglob("*.py"))
PAGES = sorted((ROOT / "docs").rglob("*.md"))


def labels(text: str) -> set[str]:
    return set(LABEL.findall(text))


def strings(source: str) -> Iterator[str]:
    """Docstrings and all other string constants; slices such as x[le:n] are code and no citation."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def unknown(text: str) -> set[str]:
    return labels(text) - set(KNOWN)


def test_the_list_is_sorted_and_has_only_names():
    assert sorted(set(KNOWN)) == KNOWN
    assert all(LABEL.fullmatch(name) for name in KNOWN)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_source_cites_only_labels_of_the_paper(path):
    assert unknown("\n".join(strings(path.read_text(encoding="utf-8")))) == set()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_docs_cite_only_labels_of_the_paper(path):
    assert unknown(path.read_text(encoding="utf-8")) == set()


def test_the_search_finds_what_is_cited():
    cited = set().union(*(labels("\n".join(strings(path.read_text(encoding="utf-8")))) for path in SOURCES))
    assert {"eq:gini", "eq:mmd_grad_est", "eq:sv-terms", "def:choquet", "sec:cvar-dev"} <= cited
    assert len(set().union(*(labels(path.read_text(encoding="utf-8")) for path in PAGES))) > 20


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("GD as in (eq:gini), and eq:gini_quantile.", set()),
        ("by `eq:no_such_equation`", {"eq:no_such_equation"}),
        ("thm:mmd-bound and thm:mmd-rate", {"thm:mmd-rate"}),
        ("eq:gini_", {"eq:gini_"}),
        ('"""tab:var_summary, algo:3"""', {"algo:3"}),
        ("https://seq:8080/ and x[le: n]", set()),
    ],
)
def test_an_unknown_label_is_reported(text, expected):
    assert unknown(text) == expected


def test_a_label_in_code_is_no_citation_but_one_in_a_string_is():
    assert unknown("\n".join(strings("y = x[le:nowhere]\n"))) == set()
    assert unknown("\n".join(strings('def f():\n    """eq:nowhere"""\n'))) == {"eq:nowhere"}
