"""One run: killed, cut off from power, out of disk at every step of its writing; and damaged files."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from steadyrl.runs import CorruptError, RunError, checkpoint, folder, metrics, train
from steadyrl.runs.checkpoint import from_bytes, last_good
from steadyrl.runs.config import config_hash
from steadyrl.runs.view import Quiet
from tests.faults import LONG, ROOT, figure
from tests.runs import envs

FLIPS = [1 << bit for bit in range(8)] if LONG else [1, 32]


def tried(what, folder, without=""):
    command = [sys.executable, "-m", "tests.faults.one_run", what, str(folder), *without.split()]
    process = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)


# Writing


def test_killed_or_without_power_at_any_step_of_its_writing_it_ends_with_the_same_bytes(tmp_path):
    summary = tried("power", tmp_path)
    assert summary["lost"] == {}
    assert summary["steps"] > 100
    assert summary["states"] > 60
    figure("killed or cut off at every step of writing", **summary | {"lost": 0})


@pytest.mark.parametrize(
    ("without", "what"),
    [
        ("atomic writes", r"killed, half write run\.json|killed, half write ckpt-2"),
        ("syncs", r"hollow, after replace (run\.json|ckpt-\d|done\.json)"),
        ("the cut", r"killed, (half|after) write metrics\.jsonl"),
    ],
)
def test_without_a_protection_a_power_cut_is_a_loss(without, what, tmp_path):
    lost = tried("power", tmp_path, without)["lost"]
    assert [where for where in lost if re.fullmatch(what, where)]


def test_out_of_disk_at_any_step_it_says_so_keeps_its_checkpoint_and_goes_on_later(tmp_path):
    summary = tried("full", tmp_path)
    assert summary["lost"] == {}
    assert summary["steps"] > 60
    figure("out of disk at every step of writing", **summary | {"lost": 0})


def test_without_atomic_writes_a_full_disk_is_a_loss(tmp_path):
    assert "ENOSPC, half write run.json" in tried("full", tmp_path, "atomic writes")["lost"]


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 200 kB, where one may be mounted."""
    place = tmp_path / "small"
    place.mkdir()
    if shutil.which("mount") is None or os.geteuid() != 0:
        pytest.skip("only root may mount a small file system")
    mount = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(place)]
    if subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip("no small file system may be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def steadyrl(*arguments):
    command = [sys.executable, "-m", "steadyrl", *map(str, arguments)]
    process = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    return process.returncode, process.stdout, process.stderr


def test_a_disk_that_is_really_full_and_one_that_is_really_read_only(small_disk, tmp_path):
    options = ["steadyrl/Maze-v0", "--n", "2", "--updates", "2000", "--checkpoint-every", "100", "--quiet"]
    command = ["train", *options, "--out", small_disk / "run"]
    code, out, err = steadyrl(*command)
    assert (code, out) == (3, "")
    assert re.fullmatch(rf"error: {small_disk}/run\S*: No space left on device: free or allow .*\n", err)
    assert len(list((small_disk / "run").glob("ckpt-*"))) == 2
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    code, out, err = steadyrl(*command)
    assert (code, out) == (3, "")
    assert "Read-only file system" in err
    subprocess.run(["mount", "-o", "remount,rw,size=5m", str(small_disk)], check=True)
    assert steadyrl(*command)[0] == 0
    assert steadyrl("train", *options, "--out", tmp_path / "whole")[0] == 0
    for name in ("metrics.jsonl", "ckpt-2000", "ckpt-1900"):
        assert (small_disk / "run" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


# Damaged files

WALK = {"env": envs.walk, "n": 2, "updates": 6, "checkpoint_every": 2}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    path = tmp_path_factory.mktemp("trained") / "run"
    return train(out=path, view=Quiet(), **WALK)


@pytest.fixture
def run(trained, tmp_path):
    return shutil.copytree(trained.folder, tmp_path / "run")


def damages(raw, step=1):
    """Every byte flipped, every truncation; or every so many."""
    for k in range(0, len(raw), step):
        for flip in FLIPS:
            yield raw[:k] + bytes([raw[k] ^ flip]) + raw[k + 1 :]
        yield raw[:k]


def numbers(saved):
    """All that a checkpoint says, to compare."""
    arrays = {name: (str(array.dtype), array.shape, array.tobytes()) for name, array in saved.state.items()}
    return [getattr(saved, name) for name in checkpoint.HEADER], arrays


def wrong_loads(damaged, load, right):
    """How many damaged contents are taken for good, yet say something else."""
    wrong = 0
    for content in damaged:
        try:
            content_read = load(content)
        except RunError:
            continue
        wrong += content_read != right
    return wrong


def signed_again(raw):
    """What would be read if nobody compared the digest: it is made to fit the damage."""
    content = raw.partition(b"\n")[2]
    return checkpoint.hashlib.sha256(content).hexdigest().encode() + b"\n" + content


def test_no_flipped_byte_and_no_truncation_of_a_checkpoint_is_loaded(run):
    raw = (run / "ckpt-6").read_bytes()
    right = numbers(from_bytes(raw, "ckpt"))
    assert wrong_loads(damages(raw), lambda content: numbers(from_bytes(content, "ckpt")), right) == 0
    unchecked = wrong_loads(damages(raw), lambda content: numbers(from_bytes(signed_again(content), "ckpt")), right)
    assert unchecked > 300
    figure("damaged checkpoints", tried=len(raw) * (len(FLIPS) + 1), wrong=0, wrong_without_the_digest=unchecked)


class AnyHash:
    """Equal to every other."""

    __hash__ = None

    def __eq__(self, other):
        return True


def test_no_flipped_byte_and_no_truncation_of_run_json_gives_another_config(run, monkeypatch):
    path = run / "run.json"
    raw = path.read_bytes()
    right = folder.read_config(run)[0]

    def read(content):
        path.write_bytes(content)
        return folder.read_config(run)[0]

    step = 1 if LONG else 7
    assert wrong_loads(damages(raw, step), read, right) == 0
    monkeypatch.setattr(folder, "config_hash", lambda config: AnyHash())
    unchecked = wrong_loads(damages(raw, step), read, right)
    assert unchecked > 0
    figure("damaged run.json", tried=len(raw) * (len(FLIPS) + 1), wrong=0, wrong_without_the_hash=unchecked)


def test_no_flipped_byte_and_no_truncation_of_done_json_gives_another_end(run, monkeypatch):
    path = run / "done.json"
    raw, right = path.read_bytes(), folder.done(run)

    def read(content):
        path.write_bytes(content)
        return folder.done(run)

    assert wrong_loads(damages(raw), read, right) == 0
    monkeypatch.setattr(folder, "ENDS", AnyOf())
    assert wrong_loads(damages(raw), read, right) > 0
    figure("damaged done.json", tried=len(raw) * (len(FLIPS) + 1), wrong=0)


class AnyOf:
    """Has everything in it."""

    def __contains__(self, one):
        return True


def test_no_flipped_byte_of_the_metrics_is_gone_on_from(run, trained, monkeypatch):
    """A checkpoint is taken only if its part of the metrics is whole."""
    path = run / "metrics.jsonl"
    raw, key = path.read_bytes(), config_hash(trained.config)
    parts = {latest.update: latest.metrics_bytes for latest in map(read_checkpoint, checkpoint.listed(run))}

    def taken(content):
        path.write_bytes(content)
        return last_good(run, key, lambda latest: metrics.check_against(run, latest)).update

    def wrong():
        """Loads that resume from a part which is not as it was."""
        count = 0
        for content in damages(raw, 1 if LONG else 5):
            try:
                update = taken(content)
            except CorruptError:
                continue
            count += content[: parts[update]] != raw[: parts[update]]
        return count

    with pytest.warns(UserWarning, match=r"metrics\.jsonl: .*resuming from ckpt-4"):
        assert wrong() == 0
    monkeypatch.setattr(metrics, "check_against", lambda run, saved: None)
    assert wrong() > 100
    figure("damaged metrics.jsonl", tried=len(raw) * (len(FLIPS) + 1), wrong=0)


def read_checkpoint(path):
    return from_bytes(path.read_bytes(), str(path))
