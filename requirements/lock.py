"""Write the lock files: `make lock`. Versions and hashes only: no registry, no path of the machine that made them.

torch.txt has no hashes: torch's builds for a CPU and for CUDA have the same version, and who installs it chooses one.
"""

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
EXTRAS = {"base": [], "dev": ["--extra=dev"], "docs": ["--extra=docs"]}
HEADER = "# Locked by `make lock`; do not edit.\n"
COMPILE = [sys.executable, "-m", "piptools", "compile", "--quiet", "--no-header", "--no-annotate", "--strip-extras"]
COMPILE += ["--no-emit-index-url", "--no-emit-find-links", "--no-emit-trusted-host", "--no-emit-options"]
COMPILE += ["--constraint", str(HERE / "constraints.in")]
SOURCES = [str(HERE.parent / "pyproject.toml"), str(HERE / "build.in")]
REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)==([^\s+]+)\S*((?:\s*\\\n\s+--hash=sha256:[0-9a-f]{64})*)", re.MULTILINE)


def resolved(target: Path, options: list[str]) -> dict[str, str]:
    """What a set of extras needs: `name==version` and its hashes by name, without a build tag such as "+cpu"."""
    command = [*COMPILE, *options, "--output-file", str(target), *SOURCES]
    subprocess.run(command, check=True, cwd=HERE.parent)  # noqa: S603  our own fixed command
    return {name: f"{name}=={version}{hashes}" for name, version, hashes in REQUIREMENT.findall(target.read_text())}


def write(target: Path, requirements: list[str]) -> None:
    """Write a lock file."""
    target.write_text(HEADER + "\n".join(requirements) + "\n")


def main() -> None:
    """Resolve each set of extras: what is without torch with hashes, torch and what comes only with it apart."""
    for name, extra in EXTRAS.items():
        target = HERE / f"{name}.txt"
        plain = resolved(target, [*extra, "--allow-unsafe"])
        write(target, list(plain.values()))  # the versions that the next one keeps
        hashed = resolved(target, [*extra, "--generate-hashes", "--unsafe-package=torch"])
        without = [one for one in hashed.values() if "--hash" not in one]
        if without:
            raise SystemExit(f"{target}: no hash for {', '.join(without)}: is the registry complete?")
        write(target, list(hashed.values()))
        if name == "dev":
            write(HERE / "torch.txt", [one for other, one in plain.items() if other not in hashed])


if __name__ == "__main__":
    main()
