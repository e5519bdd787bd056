"""A study in one file: the same files come back, and nothing that a stranger wrote does harm."""

import hashlib
import json
import zlib

import numpy as np
import pytest

from steadyrl.cli import main
from steadyrl.ground.errors import BadInputError, CorruptError
from steadyrl.runs import folder as run_folder
from steadyrl.runs import load
from steadyrl.studies import pack, results, run
from steadyrl.studies.board import Board
from steadyrl.studies.study import study_from

PLAN = {
    "title": "Small", "seeds": 2,
    "run": {"env": "steadyrl/Maze-v0", "n": 4, "updates": 3, "checkpoint_every": 1, "lam": 0.5},
    "grid": {"measure": ["gini_deviation", "variance"]},
}  # fmt: skip


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    out = tmp_path_factory.mktemp("studies") / "small"
    run(study_from(PLAN, "small"), out, workers=1, board=Board(quiet=True))
    return out


@pytest.fixture(scope="module")
def raw(study):
    return pack.to_bytes(pack.collect(study))


def part(packed, runs):
    """A pack with some of its runs alone."""
    return pack.Pack(packed.study, {name: c for name, c in packed.files.items() if name[:12] in runs})


def sealed(header, content=b""):
    """A file whose SHA-256 is right, whatever is in it."""
    body = json.dumps(header).encode() + b"\n" + zlib.compress(content)
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def good_header(files):
    study = {"format": 1, "name": "small", "title": "", "about": "", "command": "", "runs": ["0" * 12]}
    return {"format": 1, "study": study, "files": files}


def test_the_same_files_come_back(study, raw, tmp_path):
    pack.unpack(pack.from_bytes(raw, "it"), tmp_path / "out")
    for folder in (study / "runs").iterdir():
        again = tmp_path / "out" / "runs" / folder.name
        assert (run_folder.done(again).status, run_folder.done(again).update) == ("finished", 3)
        for name in ("run.json", "metrics.jsonl", "ckpt-3"):
            assert (again / name).read_bytes() == (folder / name).read_bytes()
        assert sorted(path.name for path in again.iterdir()) == ["ckpt-3", "done.json", "metrics.jsonl", "run.json"]
        np.testing.assert_array_equal(load(again).policy.probabilities(), load(folder).policy.probabilities())
    assert pack.to_bytes(pack.collect(tmp_path / "out")) == raw
    before, after = results.read(study), results.read(tmp_path / "out")
    assert before.counts() == after.counts() == {"finished": 4}
    for one, other in zip(before.cells, after.cells, strict=True):
        np.testing.assert_array_equal(one.finals("return"), other.finals("return"))


def test_a_run_that_is_not_finished_is_left_out_and_still_planned(study, tmp_path):
    one, *others = sorted(path.name for path in (study / "runs").iterdir())
    pack.unpack(part(pack.collect(study), others), tmp_path / "out")
    packed = pack.collect(tmp_path / "out")
    assert sorted(packed.runs) == others
    assert one in packed.study["runs"]
    assert results.read(tmp_path / "out").counts() == {"finished": 3, "missing": 1}


def test_without_policies_it_is_enough_for_a_report(study, raw, tmp_path):
    small = pack.collect(study, policies=False)
    assert not any("ckpt" in name for name in small.files)
    assert len(pack.to_bytes(small)) < len(raw)
    pack.unpack(small, tmp_path / "out")
    assert results.read(tmp_path / "out").counts() == {"finished": 4}


def test_parts_of_a_study_become_one(study, raw):
    whole = pack.collect(study)
    first, second = part(whole, whole.runs[:3]), part(whole, whole.runs[2:])
    assert pack.to_bytes(pack.merge([("a", first), ("b", second)])) == raw


def test_a_run_that_is_not_the_same_in_both_is_refused(study):
    whole = pack.collect(study)
    name = f"{whole.runs[1]}/metrics.jsonl"
    other = pack.Pack(whole.study, {**whole.files, name: whole.files[name] + b"{}\n"})
    with pytest.raises(BadInputError, match=rf"^{name}: is not the same in a and in b: leave one of them out$"):
        pack.merge([("a", whole), ("b", other)])
    with pytest.raises(BadInputError, match=r"^b: holds the study 'other', a 'small': give packs of one study$"):
        pack.merge([("a", whole), ("b", pack.Pack({**whole.study, "name": "other"}, {}))])


def test_every_flipped_byte_and_every_truncation_is_noticed(raw):
    rng = np.random.default_rng(0)
    places = {*range(200), *rng.integers(0, len(raw), 300).tolist(), len(raw) - 1}
    for place in places:
        bad = bytearray(raw)
        bad[place] ^= 1 << int(rng.integers(8))
        with pytest.raises(CorruptError):
            pack.from_bytes(bytes(bad), "it")
    for size in {0, 1, 64, 65, *rng.integers(0, len(raw), 50).tolist(), len(raw) - 1}:
        with pytest.raises(CorruptError):
            pack.from_bytes(raw[:size], "it")


@pytest.mark.parametrize(
    "name",
    ["../evil", "000000000000/../../evil", "/etc/passwd", "000000000000/evil.py", "000000000000/ckpt-1\n", "study.json",
     "000000000000/runs/run.json", "000000000000\\run.json", "00000000000g/run.json", ""],
)  # fmt: skip
def test_a_name_that_is_no_file_of_a_run_is_refused(name):
    with pytest.raises(CorruptError, match="its files must be those of runs"):
        pack.from_bytes(sealed(good_header([[name, 0]])), "it")


def test_a_bomb_is_not_unpacked():
    """The size is looked at first, and no more than it says is ever unpacked."""
    name = "0" * 12 + "/metrics.jsonl"
    with pytest.raises(CorruptError, match="more than"):
        pack.from_bytes(sealed(good_header([[name, 2**31], ["0" * 12 + "/run.json", 1]])), "it")
    with pytest.raises(CorruptError, match="does not hold the 10 bytes"):
        pack.from_bytes(sealed(good_header([[name, 10]]), bytes(50_000_000)), "it")
    with pytest.raises(CorruptError, match="does not hold the 20 bytes"):
        pack.from_bytes(sealed(good_header([[name, 20]]), bytes(10)), "it")


@pytest.mark.parametrize(
    "header",
    [[], {}, {"format": 1}, {"format": 1, "study": {}, "files": []}, good_header({}), good_header([["x"]]),
     good_header([["0" * 12 + "/run.json", -1]]), good_header([["0" * 12 + "/run.json", True]]),
     good_header([["0" * 12 + "/run.json", 0]] * 2)],
)  # fmt: skip
def test_a_header_that_is_none_is_refused(header):
    with pytest.raises(CorruptError):
        pack.from_bytes(sealed(header), "it")


def test_another_format_is_said():
    with pytest.raises(CorruptError, match=r"^it: format 7, but this version of steadyrl reads format 1$"):
        pack.from_bytes(sealed(good_header([]) | {"format": 7}), "it")


def test_nothing_is_overwritten_and_no_link_followed(study, raw, tmp_path):
    packed = pack.from_bytes(raw, "it")
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").touch()
    with pytest.raises(BadInputError, match="is not empty"):
        pack.unpack(packed, tmp_path / "there")
    (tmp_path / "a.pack").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadInputError, match="is there already"):
        pack.write(packed, tmp_path / "a.pack")
    assert not (tmp_path / "elsewhere").exists()
    pack.unpack(packed, tmp_path / "copy")
    victim = next((tmp_path / "copy" / "runs").iterdir())
    (victim / "metrics.jsonl").unlink()
    (victim / "metrics.jsonl").symlink_to("/etc/hostname")
    with pytest.raises(CorruptError, match="symbolic link"):
        pack.collect(tmp_path / "copy")


def test_a_damaged_run_is_not_packed(raw, tmp_path):
    pack.unpack(pack.from_bytes(raw, "it"), tmp_path / "out")
    victim = next((tmp_path / "out" / "runs").iterdir())
    (victim / "metrics.jsonl").write_bytes(b"{}\n")
    with pytest.raises(CorruptError, match="cannot be packed"):
        pack.collect(tmp_path / "out")


def test_the_commands(study, tmp_path, capsys):
    file, again = tmp_path / "small.pack", tmp_path / "small"
    assert main(["study", "pack", str(study), "--out", str(file)]) == 0
    assert main(["study", "unpack", str(file)]) == 0
    assert main(["study", "merge", str(file), str(file), "--out", str(tmp_path / "both.pack")]) == 0
    assert (tmp_path / "both.pack").read_bytes() == file.read_bytes()
    assert capsys.readouterr().out.count("(4 of 4 runs)") == 3
    assert results.read(again).counts() == {"finished": 4}
    assert main(["study", "pack", str(tmp_path)]) == 2
    assert main(["study", "unpack", str(tmp_path / "none.pack")]) == 2
    file.write_bytes(file.read_bytes()[:-1])
    assert main(["study", "unpack", str(file), "--out", str(tmp_path / "bad")]) == 4
    assert not (tmp_path / "bad").exists()
    assert main(["study", "merge", "--help"]) == 0
