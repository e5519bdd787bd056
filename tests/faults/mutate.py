"""Take the protections out of the sources one at a time: which of them would no test miss?

python -m tests.faults.mutate [NAME ...] copies src/ for each, changes one line in it, and runs the tests that should
notice; without a change they have to pass. Prints the survivors; the exit code is 1 if there are any. `make mutations`.
"""

import contextlib
import os
import shutil
import signal
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.faults import ROOT

SLOW = ("torch", "numba", "scipy.stats", "scipy.optimize", "gymnasium", "matplotlib.figure")
"""What the tests import that is not ours, and takes long."""


class Mutation(NamedTuple):
    """A protection, and the source without it."""

    name: str
    file: str
    old: str
    new: str
    tests: str
    """What should notice, as pytest takes it."""


MUTATIONS_TEST = "tests/faults/test_mutations.py"
COSTS = "tests/faults/test_hostile_costs.py"
TEXT = "tests/faults/test_hostile_text.py"
HOSTILE = "tests/faults/test_hostile.py"
PATHS = "tests/faults/test_hostile_paths.py"
FOLDER = "tests/runs/test_folder.py"
CHECKPOINT = "tests/runs/test_checkpoint.py"
LEAKS = "tests/faults/test_leaks.py"

MUTATIONS = [
    Mutation("sync of a file", "ground/files.py", "os.fsync(file.fileno())", "pass", MUTATIONS_TEST),
    Mutation(
        "sync of the folder", "ground/files.py", "            os.fsync(folder)\n", "            pass\n", MUTATIONS_TEST
    ),
    Mutation(
        "half a file is removed",
        "ground/files.py",
        "        temporary.unlink(missing_ok=True)\n",
        "        pass\n",
        MUTATIONS_TEST,
    ),
    Mutation("links and pipes are refused", "ground/files.py", "if not plain and (", "if not plain and not (", PATHS),
    Mutation(
        "size of JSON and TOML", "ground/files.py", "len(raw) <= MOST_BYTES", "len(raw) >= 0", f"{TEXT} -k without_end"
    ),
    Mutation(
        "depth of JSON and TOML",
        "ground/files.py",
        "for _ in range(DEEPEST)",
        "for _ in range(10**6)",
        f"{TEXT} -k without_end",
    ),
    Mutation(
        "half a character", "ground/files.py", "if SURROGATE.search(raw) is None:", "if True:", f"{COSTS} -k half"
    ),
    Mutation(
        "files that others close",
        "ground/files.py",
        "error.errno == errno.EBADF",
        "error.errno == -1",
        f"{LEAKS} -k files",
    ),
    Mutation(
        "control characters", "ground/files.py", "c if c.isprintable() else", "c if True else", f"{TEXT} -k terminal"
    ),
    Mutation(
        "layers of a network", "ground/option.py", "len(value) <= MOST_LAYERS", "len(value) >= 0", f"{COSTS} -k layers"
    ),
    Mutation(
        "finite entries",
        "ground/option.py",
        "isinstance(value, bool | int | float) and _finite(value)",
        "isinstance(value, bool | int | float)",
        f"{COSTS} -k unknown_field",
    ),
    Mutation(
        "digest of a checkpoint",
        "runs/checkpoint.py",
        "if digest != hashlib",
        "if False and digest != hashlib",
        CHECKPOINT,
    ),
    Mutation("format of a checkpoint", "runs/checkpoint.py", "if version != FORMAT:", "if False:", CHECKPOINT),
    Mutation(
        "kinds in a checkpoint's header",
        "runs/checkpoint.py",
        "if header.keys() != KINDS.keys() or not all(",
        "if not any(",
        f"{HOSTILE} -k headers",
    ),
    Mutation("a checkpoint's name", "runs/checkpoint.py", "if checkpoint.name != path.name:", "if False:", CHECKPOINT),
    Mutation(
        "a checkpoint's run", "runs/checkpoint.py", "if checkpoint.config_hash != config_hash:", "if False:", CHECKPOINT
    ),
    Mutation(
        "the last two are kept", "runs/checkpoint.py", "KEPT: Final = 2", "KEPT: Final = 1", f"{FOLDER} {CHECKPOINT}"
    ),
    Mutation(
        "a checkpoint that vanishes",
        "runs/checkpoint.py",
        "            return last_good(folder, config_hash, check)",
        "            raise",
        MUTATIONS_TEST,
    ),
    Mutation(
        "bad checkpoints are set aside",
        "runs/checkpoint.py",
        "if good is not None and int(",
        "if False and int(",
        "tests/runs/test_resume.py -k damaged",
    ),
    Mutation("metrics follow no link", "runs/metrics.py", " | system.OPEN_SAFELY", "", MUTATIONS_TEST),
    Mutation(
        "metrics are cut back",
        "runs/metrics.py",
        "            os.ftruncate(self._file, keep)\n",
        "",
        "tests/runs/test_resume.py -k remember",
    ),
    Mutation(
        "a short write is continued",
        "runs/metrics.py",
        "while written < len(line):",
        "if written < len(line):",
        MUTATIONS_TEST,
    ),
    Mutation(
        "digest of the metrics",
        "runs/metrics.py",
        "if digest != checkpoint.metrics_sha256:",
        "if False:",
        "tests/faults/test_one_run.py -k of_the_metrics",
    ),
    Mutation(
        "length of the metrics",
        "runs/metrics.py",
        "if size < checkpoint.metrics_bytes:",
        "if False:",
        f"{HOSTILE} -k fill_the_disk",
    ),
    Mutation(
        "one process at a time",
        "ground/system.py",
        "unix.LOCK_EX | unix.LOCK_NB",
        "unix.LOCK_SH | unix.LOCK_NB",
        "tests/runs/test_together.py -k another_process",
    ),
    Mutation(
        "a lock is not inherited",
        "runs/lock.py",
        "    try:\n        with on_disk(path):\n            _take",
        "    os.set_inheritable(file, True)\n    try:\n        with on_disk(path):\n            _take",
        MUTATIONS_TEST,
    ),
    Mutation(
        "what a kill left is removed",
        "runs/lock.py",
        "                leftover.unlink()\n",
        "                pass\n",
        FOLDER,
    ),
    Mutation(
        "a folder of something else", "runs/lock.py", 'if others and "run.json" not in others:', "if False:", FOLDER
    ),
    Mutation(
        "a link for a folder", "runs/lock.py", "if folder.is_symlink():", "if False:", f"{PATHS} -k in_place_of_a_runs"
    ),
    Mutation(
        "the hash of a config",
        "runs/folder.py",
        'if config_hash(config) != content.get("config_hash"):',
        "if False:",
        FOLDER,
    ),
    Mutation("another config", "runs/folder.py", "    if differing:\n", "    if False:\n", FOLDER),
    Mutation(
        "room on the disk",
        "ground/system.py",
        "        os.posix_fallocate(file, 0, size)\n",
        "        pass\n",
        FOLDER,
    ),
    Mutation(
        "digests of a finished run",
        "runs/folder.py",
        "if digests[name] != expected.get(name):",
        "if False:",
        FOLDER,
    ),
    Mutation(
        "status of a finished run",
        "runs/folder.py",
        "if end.status not in ENDS:",
        "if False:",
        "tests/faults/test_one_run.py -k done_json",
    ),
    Mutation(
        "a second signal",
        "runs/loop.py",
        "if self.number is not None:",
        "if False:",
        "tests/runs/test_resume.py -k first_signal",
    ),
    Mutation(
        "callbacks that leave",
        "runs/loop.py",
        "except BaseException as error:",
        "except ArithmeticError as error:",
        f"{LEAKS} -k callback",
    ),
    Mutation(
        "three attempts",
        "studies/attempts.py",
        "MOST_TRIES: Final = 3",
        "MOST_TRIES: Final = 4",
        "tests/studies/test_work.py -k three_times",
    ),
    Mutation("deaths that lie", "studies/attempts.py", "1 + max(0, int(", "1 + (int(", f"{TEXT} -k deaths"),
    Mutation(
        "half a character that is raised",
        "studies/attempts.py",
        '.encode(errors="backslashreplace").decode()',
        "",
        f"{COSTS} -k raises",
    ),
    Mutation(
        "packages that leave",
        "studies/work.py",
        "except BaseException as error:",
        "except Exception as error:",
        f"{LEAKS} -k package",
    ),
    Mutation(
        "digest of an evaluation",
        "studies/evaluations.py",
        "cells.pop() != _digest(header, [name, *cells])",
        'cells.pop() == ""',
        f"{COSTS} -k flipped",
    ),
    Mutation(
        "size of the metrics in a report",
        "studies/_run_result.py",
        "st_size > MOST_BYTES",
        "st_size < 0",
        f"{COSTS} -k gigabytes",
    ),
    Mutation(
        "zero bytes in metrics",
        "ground/files.py",
        'if text and b"\\0" in part:',
        "if False:",
        f"{COSTS} -k digested_to_the_end",
    ),
    Mutation(
        "names of metrics in a report",
        "studies/_run_result.py",
        "if len(names) > MOST_NAMES:",
        "if False:",
        f"{COSTS} -k names",
    ),
    Mutation(
        "numbers in a report",
        "studies/_run_result.py",
        "initial=0.0) > LARGEST",
        "initial=0.0) < 0",
        f"{COSTS} -k axis",
    ),
    Mutation(
        "digest of the metrics in a report",
        "studies/_run_result.py",
        "if expected is not None and",
        "if False and",
        "tests/studies/test_results.py",
    ),
    Mutation(
        "cells of a maze",
        "envs/_layout.py",
        "if count > MOST_CELLS:",
        "if False:",
        f"{COSTS} -k 'cells and not report'",
    ),
    Mutation(
        "digest of a policy",
        "policies/storage.py",
        "if hashlib.sha256(blank).hexdigest() != digest:",
        "if False:",
        "tests/policies/test_storage.py",
    ),
    Mutation(
        "class of a policy",
        "policies/storage.py",
        'if kind != "TabularSoftmax" and kind not in NETWORKS:',
        "if False:",
        "tests/policies/test_storage.py",
    ),
]


def passes(tests, sources):
    """Do these tests pass with these sources? In a fork of this process, which has imported what takes long."""
    words = [word.strip("'") for word in tests.split(" -k ")]
    selection = [*words[0].split(), *(["-k", words[1]] if len(words) > 1 else [])]
    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            os.setpgid(0, 0)
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
            os.environ["PYTHONPATH"] = os.pathsep.join([str(sources), str(ROOT)])
            sys.path[:0] = [str(sources), str(ROOT)]
            broken = pytest.ExitCode.INTERNAL_ERROR
            try:
                broken = pytest.main(["-x", "-q", "-p", "no:cacheprovider", "--rootdir", str(ROOT), *selection])
            finally:
                os._exit(broken)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        with contextlib.suppress(ProcessLookupError):  # what a test without its protection may have left
            os.killpg(child, signal.SIGKILL)
        if code not in (0, 1):
            output.seek(0)
            sys.exit(f"{tests}: {output.read()[-2000:].decode(errors='replace')}")
    return code == 0


def survives(mutation, place):
    """Do the tests pass without the protection?"""
    sources = Path(place) / "src"
    shutil.copytree(ROOT / "src", sources)
    path = sources / "steadyrl" / mutation.file
    text = path.read_text(encoding="utf-8")
    if text.count(mutation.old) != 1:
        sys.exit(f"{mutation.name}: {mutation.old!r} is {text.count(mutation.old)} times in {mutation.file}")
    changed = text.replace(mutation.old, mutation.new)
    compile(changed, mutation.file, "exec")  # what is no Python would be noticed by every test
    path.write_text(changed, encoding="utf-8")
    return passes(mutation.tests, sources)


def main(names):
    os.chdir(ROOT)
    for name in SLOW:
        import_module(name)
    unknown = sorted(set(names) - {mutation.name for mutation in MUTATIONS})
    if unknown:
        sys.exit(f"unknown: {', '.join(unknown)}; known are {', '.join(mutation.name for mutation in MUTATIONS)}")
    selection = [mutation for mutation in MUTATIONS if not names or mutation.name in names]
    broken = [tests for tests in dict.fromkeys(m.tests for m in selection) if not passes(tests, ROOT / "src")]
    if broken:
        sys.exit(f"these fail without any change: {broken}")
    survivors = []
    for mutation in selection:
        with tempfile.TemporaryDirectory() as place:
            survived = survives(mutation, place)
        sys.stdout.write(f"{'SURVIVED' if survived else 'noticed '}  {mutation.name} ({mutation.file})\n")
        sys.stdout.flush()
        survivors += [mutation.name] if survived else []
    sys.stdout.write(f"{len(selection)} protections taken out, {len(survivors)} unnoticed: {', '.join(survivors)}\n")
    sys.exit(bool(survivors))


if __name__ == "__main__":
    main(sys.argv[1:])
