"""What is published: extras that do not drag each other in, a source archive without pictures, the paper cited."""

import re
import subprocess
import sys
import tarfile
import tomllib
from importlib.metadata import metadata
from pathlib import Path

import steadyrl

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def needed(extra):
    """The names of all that an extra needs, those of other extras too."""
    names = set()
    for requirement in PROJECT["optional-dependencies"][extra]:
        own = re.fullmatch(r"steadyrl\[(.*)\]", requirement)
        for other in own[1].split(",") if own else ():
            names |= needed(other)
        if not own:
            names.add(re.match(r"[\w-]+", requirement)[0])
    return names


def test_networks_need_torch_alone_and_deep_is_all_that_the_papers_domains_need():
    assert needed("torch") == {"torch"}
    assert needed("deep") == {"torch", "box2d", "mujoco", "pygame", "imageio"}
    assert needed("sb3") == {"stable-baselines3"}
    assert needed("deep") <= needed("all") <= needed("dev")


def test_the_source_archive_has_no_pictures_and_all_of_the_package(tmp_path):
    code = "import sys; from hatchling.build import build_sdist; print(build_sdist(sys.argv[1]))"
    built = subprocess.run([sys.executable, "-c", code, tmp_path], cwd=ROOT, capture_output=True, text=True, check=True)
    archive = tmp_path / built.stdout.strip()
    assert archive.stat().st_size < 2_000_000
    with tarfile.open(archive) as inside:
        names = {name.partition("/")[2] for name in inside.getnames()}
    assert not [name for name in names if name.endswith((".png", ".svg", ".gif", ".ipynb"))]
    package = ROOT / "src" / "steadyrl"
    files = {f.relative_to(ROOT).as_posix() for f in package.rglob("*") if f.is_file() and "__pycache__" not in f.parts}
    assert sorted(files - names) == []


def test_every_python_that_is_promised_is_one_that_may_install_it():
    versions = [line.rpartition(" ")[2] for line in PROJECT["classifiers"] if "Python :: 3." in line]
    assert min(versions) == PROJECT["requires-python"].removeprefix(">=")


def test_the_citation_names_the_version_and_the_paper():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {steadyrl.__version__}" in text
    assert "arXiv:2504.11412" in text
    assert metadata("steadyrl")["License-Expression"] == "MIT"
