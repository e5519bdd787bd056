"""The tables of options in docs/runs.md, from where the options are declared.

python docs/hooks/options.py writes them anew; a test compares them.
"""

from collections import defaultdict
from pathlib import Path
from typing import Any, Final

from steadyrl.algorithms.registry import BUILT_IN
from steadyrl.ground.option import Option, listed
from steadyrl.runs.config import actor_options, algorithm_options, run_options

PAGE: Final = Path(__file__).parents[1] / "runs.md"
BEGIN: Final = "<!-- options: written by docs/hooks/options.py -->\n"
OWNERS: Final = {"table": "a table", "network": "a network", "gaussian": "a network with real actions"}


def tables() -> str:
    """All of them, as Markdown."""
    of_algorithms = _collected({name: algorithm_options(name) for name in BUILT_IN})
    of_actors = _collected(
        {f"{name}/{kind}": actor_options(name, kind) for kind in OWNERS for name in BUILT_IN}  # type: ignore[arg-type]
    )
    parts = [
        "### Of every run\n",
        _table(["option", "default", "what"], [[_name(o), _said(o), o.about] for o in run_options().values()]),
        "### Of an algorithm\n",
        "`steadyrl train --algorithm NAME --help` shows those of one.\n",
        _table(
            ["option", "default", "what", "algorithms"],
            [[_name(o), _defaults(of), o.about, _owners(users)] for o, users, of in of_algorithms],
        ),
        "### Of a table or a network\n",
        "Which of them learns follows from the environment; the options of the other one are refused.\n",
        _table(
            ["option", "default", "what", "whose"],
            [[_name(o), _actor_defaults(of), o.about, _kinds(users)] for o, users, of in of_actors],
        ),
    ]
    return "\n".join(parts)


def page(text: str) -> str:
    """The page with the tables of now."""
    return text.partition(BEGIN)[0] + BEGIN + "\n" + tables()


Row = tuple[Option, list[str], dict[str, Any]]


def _collected(options: dict[str, dict[str, Option]]) -> list[Row]:
    """Each option with who has it, and the default of each."""
    users: dict[tuple[str, str], list[str]] = defaultdict(list)
    for owner, own in options.items():
        for declared in own.values():
            users[declared.name, declared.about].append(owner)
    return [
        (options[owners[0]][name], owners, {owner: options[owner][name].default for owner in owners})
        for (name, _), owners in users.items()
    ]


def _defaults(of: dict[str, Any]) -> str:
    """The default of most, then the others with who has them."""
    groups: dict[str, list[str]] = defaultdict(list)
    for owner, default in of.items():
        groups[_text(default)].append(owner)
    usual = max(groups, key=lambda text: len(groups[text]))
    others = [f"{', '.join(owners)}: {text}" for text, owners in groups.items() if text != usual]
    return "; ".join([usual, *others])


def _actor_defaults(of: dict[str, Any]) -> str:
    """By kind of actor, if they differ."""
    kinds: dict[str, dict[str, Any]] = defaultdict(dict)
    for owner, default in of.items():
        name, _, kind = owner.partition("/")
        kinds[kind][name] = default
    texts = {kind: _defaults(defaults) for kind, defaults in kinds.items() if kind != "gaussian" or len(kinds) == 1}
    if len(set(texts.values())) == 1:
        return next(iter(texts.values()))
    return "; ".join(f"{OWNERS[kind]}: {text}" for kind, text in texts.items())


def _owners(users: list[str]) -> str:
    """all, all but a few, or each by name."""
    others = [name for name in BUILT_IN if name not in users]
    if not others:
        return "all"
    return f"all but {listed(others)}" if len(others) < 4 else ", ".join(users)


def _kinds(users: list[str]) -> str:
    kinds = {user.partition("/")[2] for user in users}
    return "both" if "table" in kinds else OWNERS["network" if "network" in kinds else "gaussian"]


def _name(declared: Option) -> str:
    return "`ENV`" if declared.name == "env" else f"`--{declared.name.replace('_', '-')}`"


def _said(option: Option) -> str:
    """The default, unless its sentence says it."""
    return "" if "(default:" in option.about else _text(option.default)


def _text(default: Any) -> str:
    if default is None or default in ({}, ""):
        return ""
    text = str(default).lower() if isinstance(default, bool) else str(default)
    return f"`{' '.join(map(str, default)) if isinstance(default, tuple) else text}`"


def _table(headings: list[str], rows: list[list[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
