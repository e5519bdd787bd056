"""Write the lock files: `make lock`. Versions and hashes only: no registry, no path of the machine that made them.

The hashes are those that the registry states for every file of a version, for all systems. torch.txt has none: torch's
builds for a CPU and for CUDA have the same version, and who installs it chooses one.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from piptools.repositories import PyPIRepository

HERE = Path(__file__).parent
EXTRAS = {"base": [], "dev": ["--extra=dev"], "docs": ["--extra=docs"]}
HEADER = "# Locked by `make lock`; do not edit.\n"
COMPILE = [sys.executable, "-m", "piptools", "compile", "--quiet", "--no-header", "--no-annotate", "--strip-extras"]
COMPILE += ["--no-emit-index-url", "--no-emit-find-links", "--no-emit-trusted-host", "--no-emit-options"]
COMPILE += ["--constraint", str(HERE / "constraints.in")]
SOURCES = [str(HERE.parent / "pyproject.toml"), str(HERE / "build.in")]
REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)==([^\s+;]+)", re.MULTILINE)


def resolved(target: Path, options: list[str]) -> dict[str, str]:
    """Versions by name of all that a set of extras needs, without a build tag such as "+cpu"; what is there is kept."""
    command = [*COMPILE, *options, "--output-file", str(target), *SOURCES]
    subprocess.run(command, check=True, cwd=HERE.parent)  # noqa: S603  our own fixed command
    versions = dict(REQUIREMENT.findall(target.read_text()))
    write(target, [f"{name}=={version}" for name, version in versions.items()])
    return versions


def hashed(repository: PyPIRepository, name: str, version: str) -> str:
    """A requirement with the hash of every file that the registry has of it."""
    with repository.allow_all_wheels():
        files = [found.link for found in repository.find_all_candidates(name) if str(found.version) == version]
    hashes = sorted({link.hash for link in files if link.hash_name == "sha256" and link.hash})
    if not hashes:
        raise SystemExit(f"{name}=={version}: the registry states no SHA-256 of its files")
    return " \\\n    ".join([f"{name}=={version}", *(f"--hash=sha256:{one}" for one in hashes)])


def write(target: Path, requirements: list[str]) -> None:
    """Write a lock file."""
    target.write_text(HEADER + "\n".join(requirements) + "\n")


def main() -> None:
    """Resolve each set of extras; torch, and what comes only with it, goes into a file of its own."""
    with tempfile.TemporaryDirectory() as cache:
        repository = PyPIRepository([], cache_dir=cache)
        for name, extra in EXTRAS.items():
            target = HERE / f"{name}.txt"
            everything = resolved(target, [*extra, "--allow-unsafe"])
            without_torch = resolved(target, [*extra, "--unsafe-package=torch"])
            write(target, [hashed(repository, *one) for one in without_torch.items()])
            if name == "dev":
                apart = [f"{other}=={everything[other]}" for other in everything if other not in without_torch]
                write(HERE / "torch.txt", apart)


if __name__ == "__main__":
    main()
