"""Workers: the same episodes for any number of them, whatever happens to them, and nothing left behind."""

import os
import signal
import subprocess
import sys
from functools import partial
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.envs.registration import registry
from hypothesis import given
from hypothesis import strategies as st

from steadyrl.cli import main
from steadyrl.ground.errors import BadInputError
from steadyrl.policies import RandomPolicy, TabularSoftmax
from steadyrl.policies.derived import MixedPolicy
from steadyrl.policies.networks import CategoricalNetwork, GaussianNetwork
from steadyrl.rollouts import Collector, EpisodeError, collector, workers
from steadyrl.rollouts.shared_policy import SharedPolicy, pieces_of
from steadyrl.rollouts.workers import _Ahead
from steadyrl.runs import train
from steadyrl.runs.view import Quiet
from tests.helpers.children import alive, children, named_memory, started, until
from tests.helpers.run_folders import content
from tests.rollouts.faulty import Faulty, Lengths, clock_of
from tests.rollouts.test_collect import assert_same
from tests.runs import envs

ROOT = Path(__file__).parents[2]
POLICY = RandomPolicy(Lengths.action_space)


@pytest.fixture
def at_once(monkeypatch):
    """Workers are started as soon as they can be, whatever an episode costs."""
    monkeypatch.setattr(collector, "START", 0.0)
    monkeypatch.setattr(collector, "WORTH", 0.0)


@pytest.mark.parametrize("many", [2, 3])
def test_a_batch_is_the_same_for_any_number_of_workers(many, at_once):
    alone, together = Collector(Lengths, limit=50), Collector(Lengths, limit=50, workers=many)
    network = CategoricalNetwork(Lengths.observation_space, Lengths.action_space, hidden=(8,))
    for iteration, (policy, n) in enumerate([(POLICY, 29), (network if many == 2 else POLICY, 17), (POLICY, 1)]):
        assert_same(together.collect(policy, n, 3, iteration), alone.collect(policy, n, 3, iteration))
        together.renew()
    assert len(workers_of(os.getpid())) == many
    together.close()
    assert not workers_of(os.getpid())


def workers_of(pid: int) -> list[int]:
    return [child for child in children(pid) if "spawn_main" in Path(f"/proc/{child}/cmdline").read_text()]


def test_a_run_has_the_same_bytes_for_any_number_of_workers(tmp_path, at_once):
    fields = {"n": 7, "updates": 5, "checkpoint_every": 2, "evaluate_every": 2, "evaluate_episodes": 5}
    for many in (1, 2, 3):
        train(envs.walk, out=tmp_path / str(many), view=Quiet(), workers=many, **fields)
    assert len(content(tmp_path / "1")) == 5
    assert content(tmp_path / "1") == content(tmp_path / "2") == content(tmp_path / "3")


@pytest.mark.parametrize("fault", ["killed", "exits", "raises"])
def test_the_episodes_of_a_worker_that_breaks_down_are_played_again(fault, tmp_path, at_once):
    options = {"fault": fault, "marks": tmp_path}
    alone, together = Collector("Faulty-v0", **options), Collector("Faulty-v0", workers=2, **options)
    expected = alone.collect(POLICY, 12, 5, 0)
    assert_same(together.collect(POLICY, 12, 5, 0), expected)
    assert len(list(tmp_path.iterdir())) >= 2  # it did break down
    together.close()


def test_a_thread_that_raises_in_a_worker_is_one_line_with_the_name_of_the_environment(tmp_path, at_once, capfd):
    options = {"fault": "thread", "marks": tmp_path}
    alone, together = Collector("Faulty-v0", **options), Collector("Faulty-v0", workers=2, **options)
    assert_same(together.collect(POLICY, 12, 5, 0), alone.collect(POLICY, 12, 5, 0))
    together.close()
    lines = capfd.readouterr().err.splitlines()
    name = "<TimeLimit<OrderEnforcing<Faulty<Faulty-v0>>>>"
    problem = "ValueError: invalid literal for int() with base 10: 'x'"
    assert set(lines) == {f"warning: {name}: a thread raised {problem}; the run continues without that thread"}
    assert len(lines) <= 2  # once in a worker


def test_a_worker_that_hangs_is_replaced(tmp_path, at_once, monkeypatch):
    monkeypatch.setattr(workers, "time", clock_of(tmp_path))
    monkeypatch.setattr(workers, "LOOKS", 400)
    monkeypatch.setattr(workers, "ATTEMPTS", 10**6)  # one that is only slow may be taken for hanging too
    options = {"fault": "hangs", "marks": tmp_path}
    together = Collector("Faulty-v0", workers=2, worker_timeout=40.0, **options)
    batch = together.collect(POLICY, 12, 5, 0)
    monkeypatch.undo()
    together.close()
    assert any(tmp_path.iterdir())
    assert_same(batch, Collector("Faulty-v0", **options).collect(POLICY, 12, 5, 0))


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("killed", r"episode \d+: its worker process died \(in each of 3 attempts\)"),
        ("exits", r"episode \d+: its worker process died \(in each of 3 attempts\)"),
        ("raises", r"episode \d+, step 0: the environment raised RuntimeError: the motor is on fire \(in each of 3"),
    ],
)
def test_an_episode_that_breaks_every_worker_is_named(fault, reason, tmp_path, at_once):
    together = Collector(partial(Faulty, fault, tmp_path, once=False), limit=20, workers=2)
    with pytest.raises(EpisodeError, match=reason):
        together.collect(POLICY, 12, 5, 0)
    together.close()


@pytest.mark.parametrize(("seconds", "first"), [(0.001, []), (0.03, [0]), (0.3, [2, 0, 0, 0, 0])])
def test_workers_are_started_when_they_are_worth_it(seconds, first, monkeypatch):
    """A batch of 10: never at 1 ms an episode, after three batches at 30 ms, in the first batch at 300 ms."""
    alone, together = Collector(Lengths, limit=50), Collector(Lengths, limit=50, workers=2)
    here = []
    there = []
    original = Collector.part

    def part(self, policy, start, n, *others):
        here.append(n)
        return original(self, policy, start, n, *others)

    def play(self, policy, start, n, *others):
        there.append(start)
        return [original(alone, policy, start, n - start, *others)]

    monkeypatch.setattr(Collector, "part", part)
    monkeypatch.setattr(workers.Workers, "play", play)
    monkeypatch.setattr(collector.time, "perf_counter", lambda: sum(here) * seconds)
    for iteration in range(5):
        together.collect(POLICY, 10, 0, iteration)
    assert there == first


def test_the_compiled_maze_is_played_by_one_process(at_once):
    together = Collector("steadyrl/Maze-v0", workers=2)
    together.collect(TabularSoftmax.uniform(36, 4), 5, 0, 0)
    assert together._workers._crew._pool is None
    together.close()


@given(st.integers(0, 5), st.integers(0, 200), st.integers(1, 9))
def test_every_episode_is_handed_out_once(first, more, many):
    ahead, numbers = _Ahead(first, first + more, many), []
    sizes = []
    while ahead:
        start, count, attempt = ahead.take()
        numbers += range(start, start + count)
        sizes.append(count)
        assert attempt == 1
    assert numbers == list(range(first, first + more))
    assert sizes == sorted(sizes, reverse=True)
    assert max(sizes, default=0) <= max(1, more)


def policies():
    table = TabularSoftmax(np.random.default_rng(0).normal(size=(4, 3)))
    yield table, np.arange(4)
    box = spaces.Box(-1, 1, (2,), np.float32)
    rows = np.random.default_rng(1).normal(size=(4, 3)).astype(np.float32)
    yield GaussianNetwork(Lengths.observation_space, box, hidden=(5,), normalise_observations=True), rows
    shape = (Lengths.observation_space, Lengths.action_space)
    gate, one, two = (CategoricalNetwork(*shape, hidden=(5,), seed=k) for k in range(3))
    yield MixedPolicy(gate, one, two), rows


@pytest.mark.parametrize("place", range(3))
def test_a_policy_goes_through_shared_memory_and_acts_the_same(place):
    policy, observations = list(policies())[place]
    pieces = pieces_of(policy)
    assert len(pieces) > 1  # its weights are not inside the description
    shared = SharedPolicy(sum(piece.nbytes for piece in pieces))
    again = shared.read(shared.write(pieces))
    uniforms = np.random.default_rng(2).random((4, policy.uniforms_per_action))
    np.testing.assert_array_equal(again.act(observations, uniforms), policy.act(observations, uniforms))


def test_what_cannot_be_sent_is_refused_with_a_cure(at_once):
    with pytest.raises(ValueError, match=r"<lambda> cannot be sent to a worker process .*: give the environment's id"):
        Collector(lambda: Lengths(), limit=50, workers=2)  # noqa: PLW0108
    with pytest.raises(ValueError, match="is one environment: give its id or what makes it"):
        Collector(Lengths(), limit=50, workers=2)
    with pytest.raises(ValueError, match=r"workers = 0: must be >= 1"):
        Collector(Lengths, limit=50, workers=0)
    with pytest.raises(ValueError, match=r"worker_timeout = 0: must be > 0"):
        Collector(Lengths, limit=50, workers=2, worker_timeout=0.0)

    class Local(RandomPolicy):
        pass

    together = Collector(Lengths, limit=50, workers=2)
    with pytest.raises(ValueError, match=r"a .*Local cannot be sent to a worker process .*: define its class at"):
        together.collect(Local(Lengths.action_space), 5, 0, 0)
    together.close()


@pytest.mark.filterwarnings("ignore:.*the latest versioned environment")
@pytest.mark.parametrize("env", ["OnlyHere-v0", "OnlyHere", "tests.rollouts.faulty:OnlyHere-v0"])
def test_an_environment_that_is_registered_here_alone_can_be_played_there(env, at_once):
    gym.register("OnlyHere-v0", entry_point="tests.rollouts.faulty:Lengths", max_episode_steps=20)
    try:
        together = Collector(env, workers=2)
        together.collect(POLICY, 5, 0, 0)
        assert len(workers_of(os.getpid())) == 2
        together.close()
    finally:
        del registry["OnlyHere-v0"]


def test_a_run_refuses_workers_that_would_change_it(tmp_path):
    with pytest.raises(BadInputError, match=r"workers = 0: must be >= 1"):
        train(envs.walk, out=tmp_path / "run", view=Quiet(), workers=0)
    with (
        pytest.warns(UserWarning, match="a new environment gives the same"),
        pytest.raises(BadInputError, match=r"workers = 2: must be 1 with .*remembering.*depend on those played before"),
    ):
        train(envs.remembering, out=tmp_path / "run", view=Quiet(), workers=2)


@pytest.mark.parametrize(
    ("option", "value", "sentence"),
    [
        ("--workers", "0", "workers = 0: must be >= 1"),
        ("--workers", "two", "workers = 'two': must be a whole number"),
        ("--worker-timeout", "0", "worker_timeout = 0: must be > 0"),
    ],
)
def test_the_command_says_what_is_wrong_in_one_line(option, value, sentence, tmp_path, capsys):
    assert main(["train", "CartPole-v1", "--out", str(tmp_path / "run"), option, value]) == 2
    assert capsys.readouterr().err == f"error: {sentence}\n"


DRIVER = """
import sys
from steadyrl.runs import train
from steadyrl.runs.view import Quiet
from steadyrl.rollouts import collector
from tests.rollouts import faulty
if __name__ == "__main__":
    collector.START = collector.WORTH = 0.0
    class Told(Quiet):
        def updated(self, update, row, steps):
            print("update", update, flush=True)
    train("Slow-v0", out=sys.argv[1], view=Told(), workers=2, n=8, updates=100000)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_stopped_leaves_no_process_and_no_memory_behind(stop, tmp_path):
    script = tmp_path / "driver.py"
    script.write_text(DRIVER)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": ROOT}
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}"}
    with started([sys.executable, script, tmp_path / "run"], env=environment, **pipes) as driver:
        assert driver.stdout.readline() == b"update 1\n", driver.stderr.read()
        own = children(driver.pid)
        assert len(workers_of(driver.pid)) == 2
        assert set().union(*map(named_memory, [driver.pid, *own])) == set()
        driver.send_signal(stop)
        if stop == signal.SIGINT:
            driver.send_signal(stop)
        driver.communicate()
        until(lambda: not any(map(alive, own)), "the end of all processes")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_that_would_be_left_behind_is_seen():
    memory = SharedMemory(create=True, size=100)
    try:
        assert named_memory(os.getpid()) >= {f"/dev/shm/{memory.name}"}
    finally:
        memory.close()
        memory.unlink()
