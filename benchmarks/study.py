"""The whole Maze study of the paper, on all cores: against the same number of steps in C, and how busy the cores are.

    make bench        (or: python benchmarks/study.py [--quick])

The C loop of benchmarks/maze.c trains with the Gini deviation and uniform noise only. Its pace, in steps a second, is
taken with as many processes at once as there are cores, for the time it would need for the steps of the study.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from maze import build_c

CORES = len(os.sched_getaffinity(0))


def c_pace(program, updates, runs):
    """Steps a second of one C process for each core."""
    start = time.perf_counter()
    pipe = subprocess.PIPE
    loops = [subprocess.Popen([program, str(updates), str(runs)], stdout=pipe, text=True) for _ in range(CORES)]
    steps = sum(int(loop.communicate()[0].split()[0]) for loop in loops)
    return steps / (time.perf_counter() - start)


def study(out, options):
    """Seconds of the wall and of the processors, and steps of all runs."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "steadyrl", "study", "maze", "--out", out, "--quiet", *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    last = [path.read_text().splitlines()[-1] for path in Path(out).glob("runs/*/metrics.jsonl")]
    return wall, busy, sum(json.loads(line)["steps"] for line in last), len(last)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer seeds and updates")
    options = ["--budget", "quick"] if parser.parse_args().quick else []
    with tempfile.TemporaryDirectory() as folder:
        program = build_c(Path(folder))
        paces = [c_pace(program, 1000, 10)] if program else []
        wall, busy, steps, runs = study(str(Path(folder) / "study"), options)
        paces += [c_pace(program, 1000, 10)] if program else []
    print("# The Maze study\n")
    print(
        f"{runs} runs, {steps:,} steps, {CORES} cores: {wall:.0f} s, the cores busy {100 * busy / wall / CORES:.0f} %"
    )
    if paces:
        print(f"Time over that of the C loop for as many steps: {wall * max(paces) / steps:.2f}")


if __name__ == "__main__":
    main()
