"""What an object remembers comes back to the bit, whatever its parts are; and what does not fit is refused."""

import numpy as np
import pytest
import torch

from steadyrl.ground.state import Stateful


class Numbers(Stateful):
    parts = ("whole", "real", "flag")

    def __init__(self, whole=0, real=0.0, flag=False):
        self.whole = whole
        self.real = real
        self.flag = flag


class Everything(Stateful):
    """A part of every kind."""

    parts = ("numbers", "array", "tensor", "module", "lists", "estimates", "mixed", "nothing")

    def __init__(self, seed=0):
        rng = np.random.default_rng(seed)
        torch.manual_seed(seed)
        self.numbers = Numbers(seed, float(rng.normal()), bool(seed % 2))
        self.array = rng.normal(size=(3, 2))
        self.tensor = torch.randn(4, dtype=torch.float64)
        self.module = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
        self.lists = {"first": [torch.randn(2), torch.randn(())], "second": [rng.integers(0, 9, 3)]}
        self.estimates = {} if seed == 0 else {"J": float(rng.normal()), "V": 2.0}
        self.mixed = {"inner": Numbers(seed + 1, 0.5), "array": rng.normal(size=2), "number": float(rng.normal())}
        self.nothing = None


def copied(state):
    return {name: array.copy() for name, array in state.items()}


def test_every_kind_of_part_comes_back_to_the_bit():
    old, new = Everything(1), Everything(0)
    state = copied(old.state())
    new.restore(state)
    again = new.state()
    assert again.keys() == state.keys()
    for name, array in state.items():
        assert again[name].dtype == array.dtype
        np.testing.assert_array_equal(again[name], array, err_msg=name)
    assert (new.numbers.whole, new.numbers.flag, new.estimates) == (1, True, old.estimates)
    assert type(new.numbers.whole) is int
    assert type(new.numbers.real) is float
    assert type(new.numbers.flag) is bool
    assert new.mixed["number"] == old.mixed["number"]
    assert new.nothing is None


def test_names_say_where_a_part_is():
    names = set(Everything(1).state())
    assert {"numbers.whole", "array", "tensor", "module.0.weight", "module.1.running_mean", "lists.first.0"} <= names
    assert {"lists.second.0", "estimates.J", "mixed.inner.real", "mixed.number"} <= names
    assert not any(name.startswith("nothing") for name in names)


def test_a_state_is_a_copy():
    thing = Everything(1)
    state = thing.state()
    before = copied(state)
    thing.array += 1.0
    thing.tensor += 1.0
    with torch.no_grad():
        for parameter in thing.module.parameters():
            parameter.add_(1.0)
    for name, array in before.items():
        np.testing.assert_array_equal(state[name], array)


def test_arrays_tensors_and_modules_are_filled_in_place_so_views_stay_views():
    thing, state = Everything(0), Everything(1).state()
    row = thing.array[1]
    first = thing.tensor[:2]
    weight = thing.module[0].weight
    views = thing.array, thing.tensor, thing.module, thing.numbers, thing.lists["second"][0]
    thing.restore(state)
    for one, other in zip((thing.array, thing.tensor, thing.module, thing.numbers), views, strict=False):
        assert one is other
    assert thing.lists["second"][0] is views[4]
    assert thing.module[0].weight is weight
    np.testing.assert_array_equal(row, state["array"][1])
    np.testing.assert_array_equal(first.numpy(), state["tensor"][:2])
    np.testing.assert_array_equal(weight.detach().numpy(), state["module.0.weight"])
    row[:] = 7.0
    assert (thing.array[1] == 7.0).all()


def test_a_part_that_is_a_view_of_a_larger_array_fills_that():
    """As the tables of runs in step are rows of one array."""
    whole = np.zeros((2, 3, 2))
    thing = Everything(0)
    thing.array = whole[1]
    state = Everything(1).state()
    thing.restore(state)
    np.testing.assert_array_equal(whole[1], state["array"])
    assert not whole[0].any()


def test_a_dictionary_of_numbers_has_the_names_of_the_state():
    """They come with time: one that has more than the state loses them, one that has fewer gains them."""
    thing = Everything(0)
    thing.estimates = {"old": 1.0}
    thing.restore(Everything(1).state())
    assert set(thing.estimates) == {"J", "V"}
    thing.restore(Everything(0).state())
    assert thing.estimates == {}


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("array", np.zeros((2, 3)), r"^array is float64 of shape \(2, 3\), must be float64 of \(3, 2\)$"),
        ("array", np.zeros((3, 2), np.float32), r"^array is float32 of shape \(3, 2\), must be float64 of \(3, 2\)$"),
        ("tensor", np.zeros(5), r"^tensor is float64 of shape \(5,\), must be float64 of \(4,\)$"),
        ("module.0.weight", np.zeros((3, 2)), r"^module\.0\.weight is float64 of shape \(3, 2\), must be float32"),
        ("lists.first.1", np.zeros(1, np.float32), r"^lists\.first\.1 is float32 of shape \(1,\), must be float32"),
    ],
)
def test_a_wrong_shape_or_type_is_named(name, array, message):
    with pytest.raises(ValueError, match=message):
        Everything(0).restore(Everything(1).state() | {name: array})


@pytest.mark.parametrize("name", ["array", "tensor", "numbers.real", "module.1.bias", "lists.second.0", "mixed.number"])
def test_what_is_missing_is_named(name):
    state = Everything(1).state()
    del state[name]
    with pytest.raises(KeyError, match=name.rpartition(".")[2]):
        Everything(0).restore(state)
