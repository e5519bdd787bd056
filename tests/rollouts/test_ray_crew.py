"""Episodes of one run played by actors of Ray: the same bytes, with a node lost, interrupted, and with bad input."""

import json
import sys
from pathlib import Path

import pytest

from steadyrl.cli import main
from steadyrl.ground.errors import BadInputError
from steadyrl.rollouts import Collector
from steadyrl.runs import train
from steadyrl.runs.view import Quiet
from tests.helpers.ray_starts import ended_with_ray
from tests.rollouts.faulty import Lengths
from tests.runs import envs

pytest.importorskip("ray")

ROOT = Path(__file__).parents[2]


def test_on_two_nodes_a_run_has_the_same_bytes_though_it_is_interrupted_and_a_node_is_killed(tmp_path):
    done = ended_with_ray([sys.executable, "-m", "tests.rollouts.two_nodes", str(tmp_path)], ROOT)
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["nodes"] == [2, 1]
    assert told["differing"] == []
    assert told["hung"] > 0
    assert told["same"]
    assert told["raised"].endswith("the motor is on fire (in each of 3 attempts)")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--engine", "dask"], "engine = 'dask': must be local or ray"),
        (["--address", "127.0.0.1:1"], "address = '127.0.0.1:1': must be left out unless engine = ray"),
        (["--engine", "ray", "--workers", "0"], "workers = 0: must be >= 1"),
    ],
)
def test_the_command_says_what_is_wrong_in_one_line(options, sentence, tmp_path, capsys):
    assert main(["train", "CartPole-v1", "--out", str(tmp_path / "run"), *options]) == 2
    assert capsys.readouterr().err == f"error: {sentence}\n"


def test_a_cluster_that_is_not_there_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(BadInputError, match=r"address = '127.0.0.1:1': no Ray cluster there: .*: see `ray status`"):
        train(envs.walk, out=tmp_path / "run", view=Quiet(), engine="ray", address="127.0.0.1:1")
    assert not (tmp_path / "run").exists()


def test_what_only_one_process_can_play_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"engine = ray: must be local: .* is one environment"):
        Collector(Lengths(), limit=20, engine="ray")
    with (
        pytest.warns(UserWarning, match="a new environment gives the same"),
        pytest.raises(BadInputError, match=r"engine = ray: must be local with .*remembering"),
    ):
        train(envs.remembering, out=tmp_path / "run", view=Quiet(), engine="ray")
