"""Write the lock files: `make lock`. Versions only: no registry, no path of the machine that made them."""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
EXTRAS = {"base": [], "dev": ["--extra=dev"], "docs": ["--extra=docs"]}
HEADER = "# Locked by `make lock`; do not edit.\n"
COMPILE = [sys.executable, "-m", "piptools", "compile", "--quiet", "--no-header", "--no-annotate", "--strip-extras"]
COMPILE += ["--no-emit-index-url", "--no-emit-find-links", "--no-emit-trusted-host", "--no-emit-options"]
COMPILE += ["--allow-unsafe", "--constraint", str(HERE / "constraints.in")]
SOURCES = [str(HERE.parent / "pyproject.toml"), str(HERE / "build.in")]


def main() -> None:
    """Resolve each set of extras, keep the `name==version` lines, and drop a build tag such as torch's "+cpu"."""
    for name, extra in EXTRAS.items():
        target = HERE / f"{name}.txt"
        command = [*COMPILE, "--output-file", str(target), *extra, *SOURCES]
        subprocess.run(command, check=True, cwd=HERE.parent)  # noqa: S603  our own fixed command
        locked = [line.split("+")[0] for line in target.read_text().splitlines() if "==" in line and line[0] != "#"]
        target.write_text(HEADER + "\n".join(locked) + "\n")


if __name__ == "__main__":
    main()
