"""Ask PyPI for known vulnerabilities of the locked versions, with nothing but Python.

python requirements/audit.py. `make audit` asks by pip-audit, which needs PyPI's page of each version. Some mirrors have
only the page of a project, which speaks of its newest version: of a locked version that is not the newest one nothing
is known then, and it is counted as such. Exit code 1 if anything is vulnerable or not answered.
"""

import json
import re
import sys
import urllib.error
import urllib.request
from pathlib import Path

from pip._internal.models.index import PyPI

HERE = Path(__file__).parent
LOCKED = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[.*\])?==([^\s;\\]+)", re.MULTILINE)
ASKED = PyPI.pypi_url + "/{}/json"
"""Where pip itself asks."""


def locked() -> list[tuple[str, str]]:
    """Every name and version of the lock files, once."""
    return sorted({pair for path in HERE.glob("*.txt") for pair in LOCKED.findall(path.read_text(encoding="utf-8"))})


def page(what: str) -> dict | None:
    """What PyPI says of a project or a version; None if it says nothing."""
    try:
        with urllib.request.urlopen(ASKED.format(what), timeout=600) as answer:  # noqa: S310  https, pip's own address
            return json.load(answer)
    except (urllib.error.URLError, json.JSONDecodeError):
        return None


def vulnerabilities(name: str, version: str) -> list[str] | None:
    """Known ones of this version, by id; None if nobody knows."""
    found = page(f"{name}/{version}") or page(name)
    if found is None or found["info"]["version"] != version or found.get("vulnerabilities") is None:
        return None
    return [row["id"] for row in found["vulnerabilities"] if not row.get("withdrawn")]


def main() -> None:
    """A line for each version that is vulnerable or unknown, and a summary."""
    answers = {pair: vulnerabilities(*pair) for pair in locked()}
    for (name, version), ids in answers.items():
        if ids is None or ids:
            sys.stdout.write(f"{name} {version}: {'no answer' if ids is None else ', '.join(ids)}\n")
    unknown = sum(ids is None for ids in answers.values())
    vulnerable = sum(bool(ids) for ids in answers.values())
    summary = f"{len(answers)} locked versions: {len(answers) - unknown} answered, {vulnerable} of them vulnerable"
    sys.stdout.write(f"{summary}, {unknown} without an answer\n")
    sys.exit(bool(unknown or vulnerable))


if __name__ == "__main__":
    main()
