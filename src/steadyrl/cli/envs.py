"""`steadyrl envs`: the environments that come with it, what is risky in them, and their parameters."""

import dataclasses
import json
import sys

from steadyrl.cli.parser import Parser
from steadyrl.envs.domains import DOMAINS, Domain
from steadyrl.envs.small_domains import SMALL_DOMAINS

USE = """In Python: import gymnasium, steadyrl; gymnasium.make("steadyrl/Maze-v0", noise="pareto")
Any other environment: steadyrl.envs.RiskyRegion(env, where=..., noise=...)"""


def add_options(parser: Parser, arguments: list[str]) -> None:  # noqa: ARG001
    """What the command takes."""
    parser.flag("json", "print JSON, for machines", "as_json")


def envs(*, as_json: bool) -> None:
    """The environments, what is risky in them, and their parameters."""
    if as_json:
        sys.stdout.write(
            json.dumps([dataclasses.asdict(domain) for domain in (*DOMAINS, *SMALL_DOMAINS)], indent=2) + "\n"
        )
        return
    for domain in (*DOMAINS, *SMALL_DOMAINS):
        _print(domain)
    sys.stdout.write(f"{USE}\n")


def _print(domain: Domain) -> None:
    from rich import box
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table

    console = Console(markup=False, emoji=False, highlight=False)
    console.print(domain.id, style="bold")
    facts = Table.grid(padding=(0, 2))
    for name, text in (("what", domain.summary), ("risky", domain.risky), ("risk_averse", domain.risk_averse)):
        facts.add_row(name, text)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for heading in ("Parameter", "Default", "Meaning"):
        table.add_column(heading, overflow="fold")
    for parameter in domain.parameters:
        table.add_row(parameter.name, repr(parameter.default), parameter.meaning)
    console.print(Padding(facts, (0, 0, 1, 2)))
    console.print(Padding(table, (0, 0, 1, 2)))
