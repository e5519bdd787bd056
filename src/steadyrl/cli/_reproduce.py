"""`steadyrl reproduce`: the paper's studies, each by its name."""

import os
from pathlib import Path
from typing import Annotated, Literal

import tyro


def reproduce(
    study: Annotated[Literal["estimators"], tyro.conf.Positional],
    /,
    *,
    out: Path | None = None,
    replications: int = 20_000,
    seed: int = 0,
    workers: int | None = None,
) -> None:
    """Run a study of the paper and write its tables and figures. Stop it at any time: the same command goes on.

    Args:
        study: `estimators`: bias and variance of each estimator of each measure against exact gradients.
        out: Where to write; out/<study> by default.
        replications: Samples drawn for each cell of the table (the jackknife takes fewer where they are large).
        seed: Every number of the study follows from it.
        workers: Processes at work; as many as there are cores by default.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from steadyrl.report import _estimators as report
    from steadyrl.studies import estimators

    for name, value, least in (
        ("replications", replications, 100),
        ("workers", 1 if workers is None else workers, 1),
        ("seed", seed, 0),
    ):
        if value < least:
            raise ValueError(f"{name} = {value}: must be >= {least}")
    folder = out or Path("out") / study
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console()
    with Progress(*columns, TimeRemainingColumn(), console=console) as bar:
        task = bar.add_task("cells")
        cores = workers or os.cpu_count() or 1
        for done, total in estimators.run(folder, replications=replications, seed=seed, workers=cores):
            bar.update(task, completed=done, total=total)
    cells = [c for c in estimators.read(folder) if c.seed == seed and c.budget == replications]
    paths = report.write(cells, folder)
    console.print((folder / "claims.md").read_text(), highlight=False, markup=False, soft_wrap=True)
    console.print("written: " + ", ".join(map(str, paths)), highlight=False, markup=False, soft_wrap=True)
