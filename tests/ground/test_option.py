"""An option is declared once: its default, its sentence, what it accepts, and what is said of the rest."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pytest

from steadyrl.ground.option import Option, check, option, options_of, shown, unknown, with_default


@dataclass(frozen=True)
class Bread:
    """One option of every kind."""

    loaves: int = option(2, "how many", least=1, most=12)
    heat: float = option(220.0, "degrees of the oven", above=0)
    share: float | None = option(None, "of rye", least=0, most=1)
    crust: bool = option(True, "baked until it cracks")
    baker: str = option("Ida", "who does it")
    form: Literal["tin", "basket", "none"] = option("tin", "what it rises in")
    rests: tuple[int, ...] = option((30, 60), "minutes of each rest")
    spices: Mapping[str, Any] = option({"salt": 2.0}, "grams of each")


OPTIONS = options_of(Bread)


def problem(name, value):
    return OPTIONS[name].problem(value)


def test_a_declaration_has_all_that_a_user_meets():
    assert list(OPTIONS) == ["loaves", "heat", "share", "crust", "baker", "form", "rests", "spices"]
    assert OPTIONS["loaves"] == Option("loaves", int, False, 2, "how many", least=1, most=12)
    assert OPTIONS["share"] == Option("share", float, True, None, "of rye", least=0, most=1)
    assert OPTIONS["form"].choices == ("tin", "basket", "none")
    assert [name for name, one in OPTIONS.items() if one.is_table] == ["spices"]
    assert [name for name, one in OPTIONS.items() if one.is_list] == ["rests"]
    assert [name for name, one in OPTIONS.items() if one.optional] == ["share"]


def test_defaults_are_those_of_the_dataclass_and_good():
    bread = Bread()
    for name, one in OPTIONS.items():
        assert one.default == getattr(bread, name)
        assert one.problem(one.default) is None
    check(bread)


def test_a_table_that_is_a_default_is_not_shared():
    Bread().spices["salt"] = 0.0
    assert Bread().spices == {"salt": 2.0}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("loaves", 1), ("loaves", 12), ("heat", 1e-300), ("heat", 3), ("share", None), ("share", 0), ("share", 1.0),
        ("crust", False), ("baker", "Zoë"), ("form", "none"), ("rests", []), ("rests", [1, 65536]), ("rests", (5,)),
        ("spices", {}), ("spices", {"caraway": 1, "crushed": True, "of": "Ulm", "when": [1, 2.5, "late"]}),
    ],
)  # fmt: skip
def test_good_values_have_no_problem(name, value):
    assert problem(name, value) is None


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("loaves", 0, "loaves = 0: must be >= 1"),
        ("loaves", 13, "loaves = 13: must be <= 12"),
        ("loaves", 2.0, "loaves = 2: must be a whole number"),
        ("loaves", "2", "loaves = '2': must be a whole number"),
        ("loaves", None, "loaves = None: must be a whole number"),
        ("heat", 0.0, "heat = 0: must be > 0"),
        ("heat", -1.5, "heat = -1.5: must be > 0"),
        ("heat", "hot", "heat = 'hot': must be a number"),
        ("share", -0.1, "share = -0.1: must be >= 0"),
        ("share", 1.01, "share = 1.01: must be <= 1"),
        ("crust", 1, "crust = 1: must be true or false"),
        ("crust", "true", "crust = 'true': must be true or false"),
        ("baker", 7, "baker = 7: must be text"),
        ("baker", "", "baker = '': must not be empty"),
        ("form", "Tin", "form = 'Tin': must be tin, basket or none"),
        ("form", ["tin"], "form = ['tin']: must be tin, basket or none"),
        ("rests", 30, "rests = 30: must be whole numbers from 1 to 65536"),
        ("rests", [30, 0], "rests = [30, 0]: must be whole numbers from 1 to 65536"),
        ("rests", [30.0], "rests = [30.0]: must be whole numbers from 1 to 65536"),
        ("spices", ["salt"], "spices = ['salt']: must be a table of names and values"),
    ],
)
def test_a_wrong_type_or_range_is_named_with_what_is_accepted(name, value, message):
    assert problem(name, value) == message


TABLE = "must be text, true or false, a finite number, or a list of these"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("loaves", True, "loaves = True: must be a whole number"),
        ("heat", True, "heat = True: must be a number"),
        ("heat", float("nan"), "heat = nan: must be finite"),
        ("heat", float("inf"), "heat = inf: must be finite"),
        ("heat", 10**400, "heat = a number of more than 60 digits: must be finite"),
        ("loaves", 10**5000, "loaves = a number of more than 60 digits: must be finite"),
        ("loaves", np.int64(3), f"loaves = {np.int64(3)!r}: must be a whole number"),
        ("baker", "\ud800", r"baker = '\ud800': must be text that UTF-8 can hold"),
        ("baker", None, "baker = None: must be text"),
        ("rests", [True], "rests = [True]: must be whole numbers from 1 to 65536"),
        ("rests", [10**400], f"rests = [1{'0' * 75}...: must be whole numbers from 1 to 65536"),
        ("rests", [10**5000], "rests = a list that is too large to show: must be whole numbers from 1 to 65536"),
        ("spices", {1: 2}, "spices = {1: 2}: must be a table of names and values"),
        ("spices", {"salt": None}, f"spices.salt = None: {TABLE}"),
        ("spices", {"salt": float("nan")}, f"spices.salt = nan: {TABLE}"),
        ("spices", {"salt": 10**400}, f"spices.salt = a number of more than 60 digits: {TABLE}"),
        ("spices", {"salt": {"sea": 1.0}}, "spices.salt = {'sea': 1.0}: " + TABLE),
        ("spices", {"salt": [[float("inf")]]}, f"spices.salt = [[inf]]: {TABLE}"),
        ("spices", {"salt": "\udcff"}, rf"spices.salt = '\udcff': {TABLE}"),
    ],
    ids=lambda _: "value",  # Python refuses to write the longest of them
)  # fmt: skip
def test_hostile_values_are_refused_in_one_line(name, value, message):
    assert problem(name, value) == message


def test_a_table_nested_without_end_is_refused():
    deep: list = []
    for _ in range(10_000):
        deep = [deep]
    assert problem("spices", {"salt": deep}) == f"spices.salt = a list that is too large to show: {TABLE}"


def test_a_value_is_converted_to_what_the_dataclass_has():
    assert (OPTIONS["heat"].convert(200), type(OPTIONS["heat"].convert(200))) == (200.0, float)
    assert OPTIONS["rests"].convert([5, 6]) == (5, 6)
    assert OPTIONS["spices"].convert({"when": (1, 2)}) == {"when": [1, 2]}
    assert OPTIONS["share"].convert(None) is None


@dataclass(frozen=True)
class Rye(Bread):
    """The same option with another default."""

    heat: float = with_default(Bread, "heat", 250.0)


def test_with_default_changes_the_default_alone():
    assert Rye().heat == 250.0
    assert options_of(Rye)["heat"] == dataclasses.replace(OPTIONS["heat"], default=250.0)
    assert options_of(Bread)["heat"].default == 220.0
    with pytest.raises(ValueError, match=r"^heat = 0: must be > 0$"):
        check(Rye(heat=0.0))
    with pytest.raises(KeyError, match="warmth"):
        with_default(Bread, "warmth", 1.0)


def test_options_of_takes_other_defaults_for_names_it_has():
    changed = options_of(Bread, {"loaves": 5, "nobody": 1})
    assert changed["loaves"].default == 5
    assert changed.keys() == OPTIONS.keys()
    assert options_of(Bread)["loaves"].default == 2


def test_a_field_that_is_no_option_is_refused_with_the_cure():
    @dataclass(frozen=True)
    class Plain:
        clip: float = 0.2

    with pytest.raises(ValueError, match=r"^option 'clip': declare it as clip: \.\.\. = option\(default, sentence\)$"):
        options_of(Plain)


def test_check_refuses_what_is_made_by_hand():
    with pytest.raises(ValueError, match=r"^share = 2: must be <= 1$"):
        check(Bread(share=2.0))


def test_an_unknown_name_comes_with_the_one_that_was_meant():
    assert unknown("loavs", OPTIONS) == "unknown field 'loavs': did you mean 'loaves'?"
    assert unknown("zzz", ["a", "b"]) == "unknown field 'zzz': known are a, b"


def test_a_value_is_shown_as_a_user_would_write_it():
    assert [shown(value) for value in (-1.0, 0.5, 3, "a", True)] == ["-1", "0.5", "3", "'a'", "True"]
    assert len(shown("x" * 1000)) == 80
    assert shown("x" * 1000).endswith("...")
