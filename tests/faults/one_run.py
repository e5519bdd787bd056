"""A small run that is killed, cut off from power or out of disk at every step of its writing, then resumed.

python -m tests.faults.one_run power|full FOLDER [PROTECTION TAKEN OUT]: a process of its own, without the run-time type
checks of the tests. Prints how much was tried, and what was lost, as JSON.
"""

import errno
import json
import shutil
import sys
import warnings
from pathlib import Path

from steadyrl.runs import DiskError, RunError, train
from steadyrl.runs.view import Quiet
from tests.faults import LONG
from tests.faults.disk import LEFT, Disk, Fails
from tests.faults.protections import take_out
from tests.helpers.run_folders import content
from tests.runs import envs

ENOUGH = 3
"""Losses."""
WALK = {"env": envs.walk, "n": 2, "updates": 8, "checkpoint_every": 2}
REASONS = (errno.ENOSPC, errno.EROFS, errno.EDQUOT) if LONG else (errno.ENOSPC,)


def go(folder):
    train(out=folder, view=Quiet(), **WALK)


def checkpoints(folder):
    return {name for name in content(folder) if name.startswith("ckpt-")} if folder.exists() else set()


def ends_the_same(folder, whole):
    """What is wrong if the run is resumed in a folder; nothing if it ends with the bytes of the undisturbed one."""
    try:
        go(folder)
    except (RunError, OSError) as error:
        return f"{type(error).__name__}: {error}".replace(str(folder), "")
    differing = sorted(name for name, raw in whole.items() if content(folder).get(name) != raw)
    others = sorted(content(folder).keys() - whole.keys())
    return f"differ: {differing}, others: {others}" if differing or others else ""


def power(at, whole):
    """Cut at every step; of each cut, four states of the disk."""
    steps, images = [0], {}

    def told(step, path):
        steps[0] += 1
        for how in LEFT:
            image = tuple(sorted(disk.left(how).items()))
            images.setdefault(image, f"{how}, {step} {Path(path).name}")

    with Disk(at / "cut", told) as disk:
        go(at / "cut")
    lost = {}
    for k, (image, where) in enumerate(images.items()):
        folder = at / f"image-{k}"
        folder.mkdir()
        for name, raw in image:
            (folder / name).write_bytes(raw)
        problem = ends_the_same(folder, whole)
        if problem:
            lost[where] = problem
        shutil.rmtree(folder)
    return {"steps": steps[0], "states": len(images), "lost": lost}


def full(at, whole):
    """Out of disk from every step on, for each reason; then room again."""
    tried, lost = 0, {}
    for why in REASONS:
        k = 1
        while len(lost) < ENOUGH:
            folder, fails = at / f"full-{why}-{k}", Fails(k, why)
            problem, before = _out_of_disk(folder, fails), checkpoints(folder)
            if not fails.at:
                break
            problem = problem or ends_the_same(folder, whole)
            if before - {f"ckpt-{u}" for u in range(0, 9, 2)}:
                problem = f"a checkpoint is left that was never written: {before}"
            if problem:
                lost[f"{errno.errorcode[why]}, {fails.at}"] = problem
            shutil.rmtree(folder, ignore_errors=True)
            tried, k = tried + 1, k + 1
    return {"steps": tried, "lost": lost}


def _out_of_disk(folder, fails):
    """What is wrong with how the run ends: it has to be a DiskError that leaves the last good checkpoint."""
    reports = set()

    def told(step, path):
        if not fails.at:
            reports.clear()
            reports.update(checkpoints(folder))
        fails(step, path)

    try:
        with Disk(folder, told):
            go(folder)
    except DiskError:
        last = sorted(reports, key=lambda name: int(name.removeprefix("ckpt-")))[-1:]
        return "" if set(last) <= checkpoints(folder) else f"{last} is gone"
    except (RunError, OSError) as error:
        return f"{type(error).__name__}: {error}"
    return "no error" if fails.at else ""


def main():
    what, at = sys.argv[1], Path(sys.argv[2])
    warnings.simplefilter("ignore")
    go(at / "whole")
    whole = content(at / "whole")
    take_out(" ".join(sys.argv[3:]))
    sys.stdout.write(json.dumps({"power": power, "full": full}[what](at, whole)))


if __name__ == "__main__":
    main()
