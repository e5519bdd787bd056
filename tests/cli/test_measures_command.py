"""`steadyrl measures`: every kind of file, every kind of mistake, in process and as a real command."""

import io
import json
import pickle
import signal
import subprocess
import sys

import numpy as np
import pytest

import steadyrl
from steadyrl import evaluate, measures
from steadyrl.cli import main
from tests.helpers.children import started

RETURNS = [1.5, -2.0, 4.25, 0.5, 3.0]
FEW = ["--resamples", "40"]
COMMAND = [sys.executable, "-m", "steadyrl"]


def npy(array, **options):
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


def lines(*rows, end="\n"):
    return (end.join(rows) + end).encode()


def numbers(separator=",", *, before=None):
    """The returns as lines, each after another field if there is one."""
    return [f"{before}{separator}{x}" if before is not None else str(x) for x in RETURNS]


STRUCTURED = np.array([(k, x) for k, x in enumerate(RETURNS)], dtype=[("episode", int), ("return", float)])
RECORDS = [{"episode": k, "return": x} for k, x in enumerate(RETURNS)]

GOOD_FILES = {
    "header.csv": (lines("return", *numbers()), None),
    "no_header.csv": (lines(*numbers()), None),
    "two_words.txt": (lines("episode return", *numbers()), None),
    "comma.csv": (lines("episode,return", *numbers(before="7")), "return"),
    "spaces_after_comma.csv": (lines("episode, return", *numbers(", ", before="7")), "return"),
    "tab.tsv": (lines("action\treturn", *numbers("\t", before="go left")), "return"),
    "semicolon.csv": (lines("a;return", *numbers(";", before="1,5")), "return"),
    "blanks.txt": (lines(*numbers("   ", before="7")), "1"),
    "by_number.csv": (lines("episode,return", *numbers(before="7")), "1"),
    "number_for_a_name.csv": (lines(",0", *numbers(before="7")), "0"),
    "quoted.csv": (lines('"a, b","return"', *numbers(before='"x, y"')), "return"),
    "windows.csv": (b"\xef\xbb\xbf" + lines("episode,return", *numbers(before="7"), end="\r\n"), "return"),
    "monitor.csv": (lines('#{"t_start": 1}', "r,l", *[f"{x},9" for x in RETURNS]), "r"),
    "blank_lines.csv": (lines("return", "", *numbers(), "", ""), None),
    "no_suffix": (lines("return", *numbers()), None),
    "numbers.json": (json.dumps(RETURNS).encode(), None),
    "objects.json": (json.dumps(RECORDS).encode(), "return"),
    "lists.json": (json.dumps({"return": RETURNS, "length": [1], "seed": 3}).encode(), "return"),
    "only_list.json": (json.dumps({"return": RETURNS, "seed": 3}).encode(), None),
    "json_without_suffix": (json.dumps(RETURNS).encode(), None),
    "numbers.jsonl": (lines(*numbers()), None),
    "objects.jsonl": (lines(*map(json.dumps, RECORDS)), "return"),
    "lines.json": (lines(*map(json.dumps, RECORDS)), "return"),
    "flat.npy": (npy(np.array(RETURNS)), None),
    "float32.npy": (npy(np.array(RETURNS, dtype=np.float32)), None),
    "column.npy": (npy(np.array(RETURNS)[:, None]), None),
    "matrix.npy": (npy(np.column_stack([np.zeros(5), RETURNS])), "1"),
    "fields.npy": (npy(STRUCTURED), "return"),
}


@pytest.mark.parametrize("name", GOOD_FILES)
def test_returns_are_read_from(name, tmp_path, capsys):
    content, column = GOOD_FILES[name]
    (tmp_path / name).write_bytes(content)
    column_option = [] if column is None else ["--column", column]
    assert main(["measures", str(tmp_path / name), *column_option, *FEW, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == evaluate.summary(RETURNS, resamples=40).to_dict()


BAD_FILES = {
    "empty.csv": (b"", [], "is empty"),
    "blank.csv": (b" \n\n", [], "is empty"),
    "header_only.csv": (b"return\n", [], "holds no returns"),
    "comments.csv": (b"# nothing\n", [], "holds comments only"),
    "one_row.csv": (b"return\n1.0\n", [], "holds 1 return, at least 2 are needed"),
    "text.csv": (b"name\nleft\nright\n", [], "text.csv, line 2: 'left' is not a number"),
    "text_column.csv": (b"r,a\n1,left\n2,right\n", ["--column", "a"], "line 2: 'left' is not a number (column 'a')"),
    "nan.csv": (b"return\n1.0\n2.0\nNaN\n", [], "line 4: 'NaN' is not finite"),
    "infinite.csv": (b"1.0\n-inf\n", [], "line 2: '-inf' is not finite"),
    "hole.csv": (b"a,b\n1,2\n,3\n", ["--column", "a"], "line 3: an empty cell is not a number (column 'a')"),
    "ragged.csv": (b"a,b\n1,2\n3\n", ["--column", "a"], "line 3: has 1 field(s) where 2 are expected (a, b)"),
    "decimal_comma.csv": (b"return\n1,5\n2,5\n", [], "line 2: has 2 field(s) where 1 are expected"),
    "which.csv": (b"a,b\n1,2\n3,4\n", [], "has 2 columns, choose one with --column (a, b)"),
    "unknown.csv": (b"a,b\n1,2\n3,4\n", ["--column", "c"], "has no column 'c', choose one of: a, b"),
    "twice.csv": (b"a,a\n1,2\n3,4\n", ["--column", "a"], "two columns have the same name"),
    "binary.csv": (b"\x89PNG\r\n\x1a\n\x00\x00", [], "is not UTF-8 text (byte 0x89 at 0)"),
    "zeros.bin": (b"1.0\n\x00\x00", [], "is not UTF-8 text (byte 0x00 at 4)"),
    "broken.json": (b"[1,\n2", [], "broken.json, line 2: is not JSON"),
    "nan.json": (b"[1, NaN]", [], "index 1: nan is not finite"),
    "null.json": (b"[1, null]", [], "index 1: an empty cell is not a number"),
    "true.json": (b"[1, true]", [], "index 1: True is not a number"),
    "number.json": (b"3", [], "holds no list"),
    "nothing.json": (b"[]", [], "holds no returns"),
    "mixed.json": (b'[{"r": 1}, 2]', [], "index 1: 2 is not an object"),
    "missing_key.json": (b'[{"r": 1}, {"q": 2}]', ["--column", "r"], "index 1: an empty cell is not a number"),
    "deep.json": (b"[" * 100_000, [], "is not JSON that can be read"),
    "huge.json": (b"[1, 1" + b"0" * 400 + b"]", [], "is not finite"),
    "broken.jsonl": (b'{"r": 1}\n{"r": \n', [], "line 2: is not JSON"),
    "pickle.npy": (pickle.dumps([1.0, 2.0]), [], "is no npy file of numbers"),
    "objects.npy": (npy(np.array([1.0, {}]), allow_pickle=True), [], "is no npy file of numbers"),
    "truncated.npy": (npy(np.zeros(100))[:-9], [], "is no npy file of numbers"),
    "header.npy": (npy(np.zeros(100))[:40], [], "is no npy file of numbers"),
    "claims_too_much.npy": (npy(np.zeros(10**4)).replace(b"(10000,)", b"(9**20,)"), [], "is no npy file of numbers"),
    "text.npy": (npy(np.array(["a", "b"])), [], "index 0: 'a' is not a number"),
    "complex.npy": (npy(np.array([1j, 2.0])), [], "index 0: 1j is not a number"),
    "time.npy": (npy(np.array([1, 2], dtype="m8[s]")), [], "is not a number"),
    "nan.npy": (npy(np.array([1.0, np.nan])), [], "index 1: nan is not finite"),
    "cube.npy": (npy(np.zeros((2, 2, 2))), [], "holds an array of shape (2, 2, 2)"),
    "scalar.npy": (npy(np.array(1.0)), [], "holds an array of shape ()"),
    "no_rows.npy": (npy(np.zeros((0, 2))), ["--column", "1"], "holds no returns"),
    "grid.npy": (npy(np.zeros((2, 2), dtype=[("a", float)])), [], "holds an array of shape (2, 2)"),
    "wide.npy": (npy(np.zeros((3, 99))), [], "19, ... (99 in all)"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_is_one_line_and_exit_code_2(name, tmp_path, capsys):
    content, options, problem = BAD_FILES[name]
    file = tmp_path / name
    file.write_bytes(content)
    assert main(["measures", str(file), *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {file}")
    assert problem in err
    assert err.count("\n") == 1


GOOD = "returns.csv"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["measures", "missing.csv"], "missing.csv: no such file, give a file of returns (csv, tsv"),
        (["measures", "."], ".: is a directory, give a file"),
        (["measures"], "give either a FILE of returns"),
        (["measures", GOOD, "--list"], "give either a FILE of returns"),
        (["measures", GOOD, "--confidence", "2"], "confidence = 2.0: must be in (0, 1)"),
        (
            ["measures", GOOD, "--confidence", "high"],
            "argument --confidence: invalid float value: 'high'; see steadyrl measures --help",
        ),
        (["measures", GOOD, "--resamples", "3"], "resamples = 3: must be >= 40"),
        (["measures", GOOD, "--seed", "-1"], "seed = -1: must be >= 0"),
        (["measures", GOOD, "--plot", "a.bmp"], "--plot a.bmp: must end in .png, .svg or .pdf"),
        (["measures", GOOD, "--plot", "no/a.png"], "--plot no/a.png: there is no directory no"),
        (["measures", GOOD, "--confidance", "0.9"], "unknown option '--confidance': did you mean --confidence?"),
        (["measure"], "unknown command 'measure': known are train, evaluate,"),
    ],
)
def test_a_mistake_on_the_command_line_is_one_line_and_exit_code_2(arguments, problem, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / GOOD).write_bytes(lines(*numbers()))
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert problem in err
    assert err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == [GOOD]


def test_returns_too_large_for_a_measure_are_a_mistake_too(tmp_path, capsys):
    (tmp_path / "huge.csv").write_text("1e200\n-1e200\n")
    assert main(["measures", str(tmp_path / "huge.csv")]) == 2
    assert "too large for float64" in capsys.readouterr().err


def run(*arguments, **options):
    return subprocess.run([*COMMAND, *arguments], check=False, capture_output=True, text=True, **options)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "[odd] name.csv"
    path.write_bytes(lines("return", *numbers()))
    return str(path)


def test_the_table_has_every_row_and_no_colour_codes_when_piped(file):
    process = run("measures", file, *FEW)
    assert (process.returncode, process.stderr) == (0, "")
    assert f"5 returns of {file}" in process.stdout
    assert "\x1b" not in process.stdout
    printed = process.stdout.splitlines()
    for row in evaluate.summary(RETURNS, resamples=40).rows:
        line = next(line for line in printed if line.startswith(row.label + "  "))
        assert tuple(line.removeprefix(row.label).split()) == row.rounded()
        assert len(line) <= 80


@pytest.mark.parametrize("content", [b"return\n1.5\n-2.0\n4.25\n0.5\n3.0\n", b"[1.5, -2.0, 4.25, 0.5, 3.0]"])
def test_standard_input_is_csv_or_json(content):
    process = run("measures", "-", "--json", *FEW, input=content.decode())
    assert json.loads(process.stdout) == evaluate.summary(RETURNS, resamples=40).to_dict()


def test_a_bad_standard_input_is_named():
    process = run("measures", "-", input="1.0\nx\n")
    assert (process.returncode, process.stdout) == (2, "")
    assert process.stderr == "error: standard input, line 2: 'x' is not a number\n"


def test_options_reach_the_summary(file, capsys):
    options = {"confidence": 0.5, "resamples": 77, "seed": 9}
    assert main(["measures", file, "--json", *(f"--{name}={value}" for name, value in options.items())]) == 0
    assert json.loads(capsys.readouterr().out) == evaluate.summary(RETURNS, **options).to_dict()


@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_a_picture_is_drawn_in_the_format_of_its_suffix(suffix, start, file, tmp_path):
    assert main(["measures", file, *FEW, "--plot", str(tmp_path / f"out.{suffix}")]) == 0
    assert (tmp_path / f"out.{suffix}").read_bytes().startswith(start)


def test_the_list_says_what_is_known_of_each_measure():
    process = run("measures", "--list", env={"COLUMNS": "80"})
    assert (process.returncode, process.stderr) == (0, "")
    assert max(map(len, process.stdout.splitlines())) <= 80
    cells = [line.split() for line in process.stdout.splitlines()]
    assert ["inter_quantile_range", "1", "no", "no", "yes", "eq:iqr_def"] in cells
    assert ["variance", "2", "no", "yes", "no", "eq:variance"] in cells
    text = " ".join(process.stdout.split())
    for measure in map(measures.get, measures.names()):
        assert measure.facts.bias in text
        assert measure.facts.violates in text
    assert "parameters: alpha=0.9" in text


def test_the_list_as_json_is_the_facts(capsys):
    assert main(["measures", "--list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [entry["name"] for entry in listed] == measures.names()
    for entry in listed:
        measure = measures.get(entry.pop("name"))
        assert entry.pop("label") == measure.label
        assert entry.pop("parameters") == dict(measure.params)
        assert entry == vars(measure.facts)


def test_every_option_is_explained_and_help_loads_no_numerical_library():
    code = "import sys; from steadyrl.cli import main; main(['measures', '--help']); print(*sys.modules)"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    text, loaded = process.stdout.rsplit("\n", 2)[0], process.stdout.rsplit("\n", 2)[1].split()
    for option in ("FILE", "--column", "--confidence", "--resamples", "--seed", "--plot", "--json", "--list"):
        explained = next(line for line in text.splitlines() if line.startswith(f"  {option} "))
        assert len(explained.strip().removeprefix(option).split()) > 2
    assert not {"numpy", "scipy", "matplotlib", "torch", "numba"} & set(loaded)


def test_no_arguments_is_help_and_version_is_the_version(capsys):
    assert main([]) == 0
    assert "measures" in capsys.readouterr().out
    assert run("--version").stdout == f"steadyrl {steadyrl.__version__}\n"


def test_a_reader_that_has_seen_enough_is_no_error(file):
    """`steadyrl measures --list | head -1`: the pipe is closed before anything is written."""
    for arguments in (["measures", "--list"], ["measures", "--list", "--json"], ["measures", file, *FEW]):
        with started([*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait() == 1


def test_an_interrupt_is_exit_code_130_and_no_traceback():
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started([*COMMAND, "measures", "-"], **pipes) as process:
        process.stdin.write(b"1.0\n" * 100_000)  # more than a pipe holds: returns when the command has begun to read
        process.send_signal(signal.SIGINT)
        assert process.communicate() == (b"", b"")
    assert process.returncode == 130
