"""Training serves whoever asks for less variability: a small run of benchmarks/serves.py, as a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SMALL = ["--env", "portfolio", "--measures", "cvar_deviation", "--shares", "0.6", "--seeds", "1", "--episodes", "4000"]


@pytest.mark.parametrize(("algorithm", "scale"), [("ppo", "0.01"), ("reinforce", "100")])
def test_a_quick_run_is_near_the_best_policy_whatever_the_unit_of_the_rewards(algorithm, scale, tmp_path):
    """E - lam D at least 0.95 of the best and above the risk-neutral policy's, with 4,500 episodes of 12 steps."""
    command = [sys.executable, "benchmarks/serves.py", *SMALL, "--algorithm", algorithm, "--scale", scale]
    command += ["--rows", str(tmp_path / "rows.jsonl")]  # rows that are there already are not trained again
    process = subprocess.run(
        [*command, "--set", "n=30", "updates=150"], check=False, capture_output=True, text=True, cwd=ROOT
    )
    assert process.returncode == 0, process.stderr
    assert "1 of 1 cells serve" in process.stdout, process.stdout
