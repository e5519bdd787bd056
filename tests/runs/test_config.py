"""A config: refused with all that is wrong, written as TOML and read back the same, one hash for one config."""

import hashlib
import json
import math
import pickle
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steadyrl import algorithms, measures
from steadyrl.algorithms import registry
from steadyrl.ground.option import option
from steadyrl.runs import BadInputError, RunConfig, check, config_hash, from_toml, to_toml
from steadyrl.runs.checks import config_from, known_options, problems
from steadyrl.runs.config import all_options
from steadyrl.runs.toml import read_file

MAZE = {"env": "steadyrl/Maze-v0"}
ALGORITHMS = ", ".join(algorithms.names())

WRONG = [
    ({"lam": -1}, "lam = -1: must be >= 0"),
    ({"lam": -0.5}, "lam = -0.5: must be >= 0"),
    ({"lam": math.nan}, "lam = nan: must be finite"),
    ({"lam": math.inf}, "lam = inf: must be finite"),
    ({"lam": True}, "lam = True: must be a number"),
    ({"lam": "1"}, "lam = '1': must be a number"),
    ({"lam": 10**400}, "lam = a number of more than 60 digits: must be finite"),
    ({"n": 0}, "n = 0: must be >= 1"),
    ({"n": True}, "n = True: must be a whole number"),
    ({"n": 5.0}, "n = 5: must be a whole number"),
    ({"n": None}, "n = None: must be a whole number"),
    ({"n": 10**7}, "n = 10000000: must be <= 1000000"),
    ({"seed": -1}, "seed = -1: must be >= 0"),
    ({"seed": 2**63}, "seed = 9223372036854775808: must be <= 9223372036854775807"),
    ({"policy_rate": 0}, "policy_rate = 0: must be > 0"),
    ({"value_rate": math.inf}, "value_rate = inf: must be finite"),
    ({"gamma": 1.01}, "gamma = 1.01: must be <= 1"),
    ({"gamma": 0}, "gamma = 0: must be > 0"),
    ({"unit_free": 1}, "unit_free = 1: must be true or false"),
    ({"env": ""}, "env = '': must not be empty"),
    ({"env": "\ud800"}, "env = '\\ud800': must be text that UTF-8 can hold"),
    ({"algorithm": "a2c"}, f"algorithm = 'a2c': known are {ALGORITHMS}"),
    ({"algorithm": "renforce"}, f"algorithm = 'renforce': did you mean 'reinforce'? known are {ALGORITHMS}"),
    ({"algorithm": ["ppo"]}, "algorithm = ['ppo']: must be text"),
    ({"hidden": [64, True]}, "hidden = [64, True]: must be whole numbers from 1 to 65536"),
    ({"hidden": 64}, "hidden = 64: must be whole numbers from 1 to 65536"),
    ({"env_options": []}, "env_options = []: must be a table of names and values"),
    (
        {"env_options": {"x": math.nan}},
        "env_options.x = nan: must be text, true or false, a finite number, or a list of these",
    ),
    ({"lamda": 1.0}, "unknown field 'lamda': did you mean 'lam'?"),
    ({"zeta": 0.3}, "zeta = 0.3: must be left out with algorithm = reinforce: it is an option of ppo"),
    ({"policy": "tabular", "hidden": [8]}, "hidden = [8]: must be left out: it is an option of a network"),
    ({"estimator": "magic"}, "unknown estimator 'magic': known are influence, jackknife, paper"),
    (
        {"estimator": "paper", "estimator_options": {"mmd_sign": "x"}},
        "estimator_options = {'mmd_sign': 'x'}: mmd_sign = 'x': must be \"-\" or \"+\"",
    ),
    (
        {"measure": "cvar_deviation", "measure_params": {"alpha": 2.0}},
        "measure_params = {'alpha': 2.0}: alpha = 2.0: must be in (0, 1)",
    ),
    ({"measure": "cvar_deviation", "n": 4}, "n = 4: must be >= 5 for a tail of cvar_deviation to hold one episode"),
    (
        {"measure": "cvar_deviation", "measure_params": {"alpha": 0.97, "tail": "upper"}, "n": 33},
        "n = 33: must be >= 34 for a tail of cvar_deviation to hold one episode",
    ),
    ({"measure_params": {"a": 1}}, "measure_params = {'a': 1}: gini_deviation has no parameter 'a' (accepted: none)"),
    (
        {"measure": "semi_variance", "estimator": "paper", "n": 2},
        "the paper's estimator of semi_variance splits the trajectories in two: "
        "n = 2 is too few, it needs at least 3",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "message"), WRONG, ids=lambda value: value if isinstance(value, str) else "")
def test_a_wrong_field_is_refused_with_its_value_and_what_is_accepted(fields, message):
    with pytest.raises(BadInputError) as error:
        config_from(MAZE | fields)
    assert str(error.value) == message


def test_all_wrong_fields_are_named_at_once():
    wrong = {"n": 0, "lam": -1, "gamma": math.nan, "hidden": [0], "lamda": 3}
    assert list(problems(wrong)) == [
        "env is missing: give the id of an environment",
        "n = 0: must be >= 1",
        "lam = -1: must be >= 0",
        "gamma = nan: must be finite",
        "hidden = [0]: must be whole numbers from 1 to 65536",
        "unknown field 'lamda': did you mean 'lam'?",
    ]


def test_an_unknown_measure_is_refused_with_the_one_probably_meant():
    with pytest.raises(BadInputError, match=r"unknown measure 'gini': did you mean 'gini_deviation'\?"):
        check(RunConfig("x", measure="gini"))
    with pytest.raises(BadInputError, match="measure = 'cvar': must be a measure of variability"):
        check(RunConfig("x", measure="cvar"))


def test_too_few_episodes_are_enough_where_nothing_is_penalised():
    check(RunConfig("x", measure="cvar_deviation", n=1, lam=0.0))
    with pytest.raises(BadInputError, match="must be >= 5"):
        check(RunConfig("x", measure="cvar_deviation", n=1, lam=0.0, constraint=2.0))


names = st.text(min_size=1, max_size=8)
scalars = st.one_of(names, st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False))
values = st.one_of(scalars, st.lists(st.one_of(scalars, st.lists(scalars, max_size=2)), max_size=3))
small = st.floats(1e-300, 1.0)
fields = st.fixed_dictionaries(
    {
        "env": st.text(min_size=1),
        "env_options": st.dictionaries(st.text(min_size=1), values, max_size=4),
        "limit": st.none() | st.integers(1, 10**6),
        "algorithm": st.sampled_from(["reinforce", "ppo"]),
        "n": st.integers(5, 10**6),
        "updates": st.integers(1, 10**9),
        "seed": st.integers(0, 2**63 - 1),
        "measure": st.sampled_from(measures.names()),
        "lam": st.floats(0.0, allow_infinity=False),
        "unit_free": st.booleans(),
        "constraint": st.none() | st.floats(0.0, allow_infinity=False),
        "gamma": small,
        "policy_rate": small,
        "value_rate": st.none() | small,
        "hidden": st.lists(st.integers(1, 2**16), max_size=3).map(tuple),
        "tanh_mean": st.booleans(),
        "initial_log_std": st.floats(allow_nan=False, allow_infinity=False),
    }
)


@given(fields)
def test_toml_gives_back_the_very_config(fields):
    config = RunConfig(**fields)
    again = from_toml(to_toml(config))
    assert again == config
    assert config_hash(again) == config_hash(config)


def test_a_whole_number_is_the_float_it_stands_for():
    a, b = RunConfig("x", lam=1), RunConfig("x", lam=1.0)
    assert a == b
    assert config_hash(a) == config_hash(b)


def test_the_hash_is_that_of_the_sorted_fields_and_depends_on_each():
    config = RunConfig("x", env_options={"b": 1, "a": 2.5})
    text = json.dumps(config.to_dict(), sort_keys=True, separators=(",", ":"))
    assert config_hash(config) == hashlib.sha256(text.encode()).hexdigest()
    assert config_hash(config) == config_hash(RunConfig("x", env_options={"a": 2.5, "b": 1}))
    changed = {config_hash(config.replace(**{name: "other"})) for name in ("env", "measure", "estimator")}
    assert len(changed | {config_hash(config)}) == 4


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"env = ", "is not TOML: Invalid value"),
        (b"\xff", "is not TOML: not UTF-8 at byte 0"),
        (b"n = " + b"9" * 5000, "is not TOML: Exceeds the limit"),
        (b"a = " + b"[" * 100_000, "is not TOML: "),
    ],
)
def test_what_is_no_toml_is_refused(content, message, tmp_path):
    (tmp_path / "run.toml").write_bytes(content)
    with pytest.raises(BadInputError, match=message):
        read_file(tmp_path / "run.toml")


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(BadInputError, match=r"run\.toml: No such file or directory: give a TOML file"):
        read_file(tmp_path / "run.toml")


# What a config holds


@pytest.mark.parametrize("algorithm", algorithms.names())
def test_it_has_the_options_of_its_algorithm_and_of_no_other(algorithm):
    kind = algorithms.get(algorithm)
    config = RunConfig("x", algorithm=algorithm)
    own = {name: getattr(kind.Options(), name) for name in kind.Options.__dataclass_fields__}
    assert {name: getattr(config, name) for name in own} == own
    assert config.algorithm_options() == kind.Options()
    others = all_options().keys() - known_options(algorithm).keys()
    assert others
    assert not others & config.to_dict().keys()
    assert {getattr(config, name) for name in others} == {None}


def test_every_option_of_any_algorithm_has_a_sentence():
    for algorithm in algorithms.names():
        assert [name for name, declared in known_options(algorithm).items() if not declared.about] == []


@pytest.mark.parametrize("algorithm", algorithms.names())
def test_a_default_that_is_given_makes_no_other_run(algorithm):
    config = RunConfig("x", algorithm=algorithm)
    for name, value in config.to_dict().items():
        assert config_hash(RunConfig(**{"env": "x", "algorithm": algorithm, name: value})) == config_hash(config), name


def test_what_an_actor_was_given_makes_another_run():
    assert "hidden" not in RunConfig("x").to_dict()
    assert config_hash(RunConfig("x", hidden=[8])) == config_hash(RunConfig("x", hidden=(8,)))
    assert config_hash(RunConfig("x", hidden=[8])) != config_hash(RunConfig("x"))


def test_with_another_algorithm_only_what_both_have_is_kept():
    changed = RunConfig("x", n=7, lam=0.5, unit_free=True, hidden=[8]).replace(algorithm="spsa")
    assert changed == RunConfig("x", algorithm="spsa", n=7, lam=0.5, hidden=[8])


def test_a_field_of_nobody_is_an_error_and_a_config_does_not_change():
    config = RunConfig("x")
    with pytest.raises(AttributeError, match="a run has no field 'lamda'"):
        _ = config.lamda
    with pytest.raises(TypeError, match="reinforce has no field 'clip'"):
        RunConfig("x", clip=0.1)
    with pytest.raises(AttributeError, match=r"cannot be changed: use replace\("):
        config.lam = 2.0
    assert pickle.loads(pickle.dumps(config)) == config
    assert {config: 1}[RunConfig("x")] == 1


class WithLaterOption(algorithms.get("risk-neutral-reinforce")):
    """As if an option had come when there were runs already."""

    name = "with-later-option"

    @dataclass(frozen=True)
    class Options(algorithms.get("risk-neutral-reinforce").Options):
        """One more."""

        extra: int = option(3, "something new", later=True)


def test_an_option_that_came_later_makes_no_other_run_of_those_without_it(monkeypatch):
    monkeypatch.setitem(registry._algorithms, WithLaterOption.name, WithLaterOption)
    plain, same, other = (
        RunConfig("steadyrl/Maze-v0", algorithm="with-later-option", **fields)
        for fields in ({}, {"extra": 3}, {"extra": 4})
    )
    assert "extra" not in plain.to_dict()
    assert config_hash(plain) == config_hash(same) != config_hash(other)
    assert (plain.extra, other.extra, RunConfig(**other.to_dict()).extra) == (3, 4, 4)
