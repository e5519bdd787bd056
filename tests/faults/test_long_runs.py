"""Long runs and large studies: memory and files stay flat, a thousand runs are small, and their report is quick."""

import json
import subprocess
import sys
import time

from steadyrl import measures
from tests.faults import ROOT, figure, long_only
from tests.faults.driver import environment

UPDATES = 100_000
MEGABYTE = 1_000_000
WATCHED = """
import json, os, sys
from pathlib import Path
from steadyrl.runs import train
from steadyrl.runs.view import Quiet

class Watch(Quiet):
    def updated(self, update, row, steps):
        if update % (UPDATES // 10) == 0:
            memory = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            files = list(Path(sys.argv[1]).iterdir())
            metrics = (Path(sys.argv[1]) / "metrics.jsonl").stat().st_size
            print(json.dumps([update, memory, len(files), sum(f.stat().st_size for f in files) - metrics, metrics]))

UPDATES = int(sys.argv[2])
train("steadyrl/Maze-v0", lam=1.0, n=20, updates=UPDATES, log_every=1000, out=sys.argv[1], view=Watch())
"""
MANY = f"""
seeds = 14
[run]
env = "steadyrl/Maze-v0"
n = 5
updates = 100
lam = 0.5
[grid]
measure = {json.dumps(measures.names())}
estimator = ["paper", "influence"]
env_options.noise = ["gaussian", "pareto", "uniform", "handcraft"]
"""


@long_only
def test_memory_and_files_stay_flat_over_a_hundred_thousand_updates(tmp_path):
    process = subprocess.run(
        [sys.executable, "-c", WATCHED, str(tmp_path / "run"), str(UPDATES)],
        check=False, capture_output=True, text=True, env=environment(""),
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    samples = [json.loads(line) for line in process.stdout.splitlines()]
    assert [update for update, *_ in samples] == list(range(UPDATES // 10, UPDATES + 1, UPDATES // 10))
    memory, files, others, metrics = ([row[k] for row in samples] for k in (1, 2, 3, 4))
    assert max(memory) - memory[0] < 4 * MEGABYTE
    assert max(files) <= 6
    assert max(others) - min(others) < 0.05 * MEGABYTE
    assert metrics[-1] < 0.1 * MEGABYTE
    figure(
        "100,000 updates of the Maze",
        memory_mb=[round(memory[0] / MEGABYTE, 1), round(memory[-1] / MEGABYTE, 1)],
        folder_kb=round((others[-1] + metrics[-1]) / 1000, 1),
    )


@long_only
def test_a_thousand_runs_are_under_a_gigabyte_and_their_page_under_six_megabytes(tmp_path):
    """A hundred rows a run, as the studies of the Maze have."""
    (tmp_path / "many.toml").write_text(MANY)
    steadyrl = [sys.executable, "-m", "steadyrl"]
    study = [*steadyrl, "study", str(tmp_path / "many.toml"), "--out", str(tmp_path / "out"), "--quiet"]
    subprocess.run(study, check=True, cwd=ROOT, capture_output=True)
    runs = list((tmp_path / "out" / "runs").iterdir())
    assert len(runs) == 9 * 2 * 4 * 14
    assert {len((run / "metrics.jsonl").read_text().splitlines()) for run in runs} == {100}
    size = sum(path.stat().st_blocks * 512 for path in (tmp_path / "out").rglob("*"))
    assert size < 1000 * MEGABYTE
    began = time.perf_counter()
    subprocess.run([*steadyrl, "report", str(tmp_path / "out")], check=True, cwd=ROOT, capture_output=True)
    took = time.perf_counter() - began
    page = (tmp_path / "out" / "report.html").stat().st_size
    assert page < 6 * MEGABYTE
    figure("a study of 1,008 runs", mb_on_disk=round(size / MEGABYTE, 1), report_seconds=round(took, 1))
