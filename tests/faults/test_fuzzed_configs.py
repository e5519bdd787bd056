"""Configs by the thousand: each is accepted or refused (exit code 0 or 2), with the wrong fields named."""

import json
import math
import random
import re
import subprocess
import sys
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from steadyrl import algorithms, measures
from steadyrl.runs import BadInputError, from_toml, to_toml
from steadyrl.runs.checks import config_from, known_options
from steadyrl.runs.config import RunConfig, all_options, config_hash
from tests.faults import LONG, ROOT, figure
from tests.faults.small import MAZE

CONFIGS, COMMANDS = (10_000, 150) if LONG else (200, 8)
SLOWEST = {"named": 0.0, "anything": 0.0}

DEEP: list = []
for _ in range(30):
    DEEP = [DEEP]
NEVER = {
    int: [True, False, "3", "", 2.5, math.nan, math.inf, -math.inf, 10**400, -(10**400), [], [1], {}, {"a": 1}],
    float: [True, False, "1", "nan", math.nan, math.inf, -math.inf, 10**400, [], [0.5], {}, b"1"],
    bool: [0, 1, "true", "", 1.0, [], {}, math.nan],
    str: ["", 3, True, 0.5, [], ["x"], {}, "\ud800"],
    tuple: [3, "64", [0], [True], ["8"], [2**17], [1.5], [-1], {}, [[8]], [math.nan]],
    "algorithm": ["", "nope", "REINFORCE", 3, True, [], ["ppo"], {}, math.nan],
    "choice": ["", "nope", "REINFORCE", 3, True, [], ["adam"], {}, math.nan],
    "table": [[], 3, "x", True, {"x": math.nan}, {"x": {}}, {"x": None}, {"x": 10**400}, {"x": DEEP}, {"\ud800": 1}],
}
"""What is wrong in a field of each kind, whatever the field."""


OPTIONS = known_options("reinforce")


def kind_of(name):
    declared = OPTIONS[name]
    if name == "algorithm" or declared.choices:
        return "algorithm" if name == "algorithm" else "choice"
    return tuple if declared.is_list else "table" if declared.is_table else declared.kind


WRONG = {name: NEVER[kind_of(name)] for name in OPTIONS}  # asked for here: run-time type checks draw random numbers


@st.composite
def one_to_four_wrong_fields(draw):
    names = draw(st.lists(st.sampled_from(list(OPTIONS)), min_size=1, max_size=4, unique=True))
    return {name: draw(st.sampled_from(WRONG[name])) for name in names}


def answer(fields, which):
    """The config, or what is said against it; how long the slowest took."""
    began = time.perf_counter()
    try:
        outcome = config_from(fields)
    except BadInputError as error:
        outcome = str(error)
    SLOWEST[which] = max(SLOWEST[which], time.perf_counter() - began)
    return outcome


@settings(max_examples=CONFIGS)
@given(one_to_four_wrong_fields())
def test_every_wrong_field_is_named_and_no_other(wrong):
    message = answer({"env": MAZE, **wrong}, "named")
    assert isinstance(message, str)
    names = [name for name in all_options() if re.search(rf"(^|; ){name}(\.\S*)? = ", message)]
    assert sorted(names) == sorted(wrong)


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-3, 60),
    st.floats(),
    st.floats(0.0, 2.0),
    st.text(max_size=5),
    st.sampled_from([10**400, "\ud800", "\x1b[2J", 1e308, 5e-324]),
)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)
words = [*algorithms.names(), *(choice for declared in all_options().values() for choice in declared.choices)]
likely = st.one_of(anything, st.sampled_from([*words, *measures.names(), MAZE, "influence", "paper", "jackknife"]))
keys = st.one_of(st.sampled_from(list(all_options())), st.text(max_size=6))


@settings(max_examples=CONFIGS)
@given(st.dictionaries(keys, likely, max_size=6), st.booleans())
def test_any_config_is_accepted_or_refused_with_a_field_that_was_given(fields, with_env):
    fields = {"env": MAZE, **fields} if with_env else fields
    message = answer(fields, "anything")
    if isinstance(message, RunConfig):
        assert len(config_hash(message)) == 64
        assert from_toml(to_toml(message)) == message
        return
    assert message
    names = [name for name in (*fields, "env", "n", "measure", "estimator") if name in message or repr(name) in message]
    assert names


CHOICES = {
    "env": [MAZE, MAZE, "CartPole-v1", "Pendulum-v1", "NoSuchEnv-v0", 3],
    "algorithm": [*algorithms.names(), "a2c"],
    "policy": ["auto", "tabular", "network"],
    "backend": ["auto", "gymnasium", "fastest"],
    "n": [1, 2, 5, 10, 20, 0, -1, 2.5, True],
    "updates": [1, 2, 4, 0],
    "seed": [0, 7, 2**63 - 1, 2**63, -1],
    "measure": [*measures.names(), "cvar", "gini"],
    "measure_params": [{}, {"alpha": 0.1}, {"alpha": 2.0}],
    "lam": [0, 0.5, 1, -1, math.inf, "1"],
    "steadiness": [0, 0.5, 2.0, -1, "2"],
    "at_most": [0.5, 3.0, 0],
    "estimator": ["influence", "jackknife", "paper", "magic"],
    "unit_free": [True, False, 1],
    "constraint": [0.0, 3.0, -1.0],
    "of": ["return", "cost", "drawdown", "risky_share", 3],
    "dual_gain": [0.0, 0.5, -1.0],
    "penalty_baseline": [True, False],
    "gamma": [0.9, 1.0, 0.0, 1.01],
    "optimiser": ["adam", "sgd", "rmsprop"],
    "hidden": [[4], [], [4, 4], [0]],
    "clip": [0.1, 0.2, -1.0],
    "penalty": ["critic", "product", "none"],
    "minibatch_size": [0, 16, 256, -1],
    "limit": [5, 20, 0],
    "risk_level": [0.1, 0.5, 2.0],
    "evaluate_every": [0, 1, 2],
    "evaluate_episodes": [1, 3],
}


def some_config(rng):
    """A short run, most of whose fields make sense."""
    names = ["env", *rng.sample(list(CHOICES)[1:], rng.randint(0, 6))]
    return {"n": 5, "updates": 2, "limit": 5, "evaluate_episodes": 2} | {
        name: rng.choice(CHOICES[name]) for name in names
    }


def as_toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {as_toml(entry)}" for key, entry in value.items()) + "}"
    return str(value).lower() if isinstance(value, bool) else json.dumps(value).replace("Infinity", "inf")


def test_the_command_itself_ends_with_0_or_2_and_one_line(tmp_path):
    rng = random.Random(5)
    commands = []
    given_fields = []
    for k in range(COMMANDS):
        fields = some_config(rng)
        given_fields.append(fields)
        (tmp_path / f"{k}.toml").write_text("".join(f"{name} = {as_toml(x)}\n" for name, x in fields.items()))
        commands.append(["train", "--config", f"{tmp_path}/{k}.toml", "--out", f"{tmp_path}/run-{k}", "--quiet"])
    process = subprocess.run(
        [sys.executable, "-m", "tests.helpers.commands"],
        input=json.dumps(commands), check=False, capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    codes = []
    for fields, (code, out, err) in zip(given_fields, json.loads(process.stdout), strict=True):
        assert code in (0, 2), (fields, err)
        if code == 2:
            errors = [line for line in err.splitlines() if not line.startswith("warning: ")]
            assert (out, len(errors)) == ("", 1), (fields, err)
            assert any(name in err for name in (*fields, "network", "observation")), (fields, err)
        codes.append(code)
    assert {0, 2} == set(codes)
    slowest = round(max(SLOWEST.values()), 3)
    figure("fuzzed configs", tried=2 * CONFIGS, neither_accepted_nor_refused=0, slowest_seconds=slowest)
    figure("fuzzed configs by the command", tried=COMMANDS, finished=codes.count(0), refused=codes.count(2), other=0)
