"""Algorithms by name: found, listed, registered, and refused with what would be right."""

from dataclasses import dataclass

import pytest

from steadyrl import algorithms
from steadyrl.algorithms import Algorithm, AlgorithmOptions, registry
from steadyrl.ground.option import option
from tests.algorithms import even

OURS = [
    "reinforce", "ppo", "risk-neutral-reinforce", "risk-neutral-ppo", "tamar", "spsa", "smoothed-functional",
    "fenchel", "trvo", "mvpi", "cvar-pg", "mean-semivariance", "mixture", "return-capping", "quantile-cvar",
]  # fmt: skip


@pytest.fixture(autouse=True)
def clean():
    """Forget what a test registers, but not what it is the first to import: that registers itself only once."""
    known = dict(registry._algorithms)
    yield
    for name in registry._algorithms.keys() - known.keys() - registry.BUILT_IN.keys():
        del registry._algorithms[name]
    registry._algorithms.update(known)


def own(called, options=AlgorithmOptions):
    """A class as a user writes it; the same definition at each call."""

    class Own(Algorithm):
        name = called
        Options = options

        def learn(self, batch, to_go):
            self.actor.ascend(batch, to_go)
            return {}

    return Own


def test_every_name_is_that_of_its_class():
    assert algorithms.names()[: len(OURS)] == OURS
    for name in algorithms.names():
        kind = algorithms.get(name)
        assert issubclass(kind, Algorithm)
        assert kind.name == name
        assert algorithms.get(name) is kind


def test_a_registered_class_is_known_by_its_name_and_learns():
    kind = algorithms.register(own("steepest"))
    assert algorithms.get("steepest") is kind
    assert algorithms.names() == [*OURS, "steepest"]
    actor = even.table()
    logged = kind(actor, AlgorithmOptions(gamma=even.GAMMA)).update(even.ALL.batch, 0)
    assert logged["return"] == pytest.approx(even.RETURNS.mean())
    assert even.moved(actor).any()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("reinforc", f"algorithm = 'reinforc': did you mean 'reinforce'? known are {', '.join(OURS)}"),
        ("PPO2", f"algorithm = 'PPO2': known are {', '.join(OURS)}"),
        ("", f"algorithm = '': known are {', '.join(OURS)}"),
    ],
)
def test_an_unknown_name_comes_with_the_nearest(name, message):
    with pytest.raises(ValueError) as error:
        algorithms.get(name)
    assert str(error.value) == message


def test_a_name_is_registered_once():
    algorithms.register(own("mine"))

    class Other(Algorithm):
        name = "mine"

    with pytest.raises(ValueError, match=f"^an algorithm named 'mine' is registered already by {__name__}: choose"):
        algorithms.register(Other)
    assert algorithms.get("mine").__name__ == "Own"


@pytest.mark.parametrize("name", OURS)
def test_a_name_of_ours_is_taken_whether_or_not_it_has_been_asked_for(name):
    registry._algorithms.pop(name, None)
    with pytest.raises(ValueError, match=f"^an algorithm named '{name}' is registered already"):
        algorithms.register(own(name))


def test_the_same_definition_may_be_run_again_as_in_a_notebook():
    first, second = own("again"), own("again")
    algorithms.register(first)
    algorithms.register(second)
    assert algorithms.get("again") is second is not first


@pytest.mark.parametrize("name", ["", "Mine", "my_own", "1st", "-x", "a b", "é", "x" * 65, "a\n"])
def test_a_name_that_no_command_line_would_like_is_refused(name):
    with pytest.raises(ValueError, match=r"use a small letter, then small letters, digits or '-'$"):
        algorithms.register(own(name))


@dataclass(frozen=True)
class Undeclared(AlgorithmOptions):
    """A field without a sentence."""

    speed: float = 1.0


@dataclass(frozen=True)
class Apart:
    """Without what every algorithm is asked."""

    speed: float = option(1.0, "how fast")


@dataclass
class Changing:
    """Not frozen."""

    gamma: float = option(0.9, "discount factor")


class NoDataclass:
    """Nothing at all."""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (NoDataclass, "algorithm 'bad': its Options must be a frozen dataclass"),
        (Changing, "algorithm 'bad': its Options must be a frozen dataclass"),
        (Apart, "algorithm 'bad': its Options must inherit from AlgorithmOptions"),
        (Undeclared, "algorithm 'bad': option 'speed': declare it as speed: ... = option(default, sentence)"),
    ],
)
def test_bad_options_are_refused_when_the_class_is_registered(options, message):
    with pytest.raises(ValueError) as error:
        algorithms.register(own("bad", options))
    assert str(error.value) == message
    assert "bad" not in algorithms.names()
