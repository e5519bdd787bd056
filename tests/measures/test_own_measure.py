"""docs/own-measure.md, run: a measure registered by a decorator, and one found by the entry point of a package."""

import doctest
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steadyrl
from steadyrl import measures
from steadyrl.measures import Measure, _registry
from tests.reference import NINE

PAGE = (Path(__file__).parents[2] / "docs" / "own-measure.md").read_text(encoding="utf-8")
RETURNS = np.array([0.0, -math.log(2.0), -math.log(3.0)])
BY_HAND = math.log(4.0 / 3.0) / 3.0
WITHOUT_EACH = np.log([25.0 / 24.0, 4.0 / 3.0, 9.0 / 8.0]) / 2.0


def block(title: str) -> str:
    """The code block of that title on the page."""
    blocks = re.findall(rf'^```\w+ title="{re.escape(title)}"\n(.*?)^```$', PAGE, flags=re.MULTILINE | re.DOTALL)
    assert len(blocks) == 1, f"{title} is on the page {len(blocks)} times"
    return blocks[0]


def run_block(title: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {}
    exec(compile(block(title), title, "exec"), namespace)
    return namespace


@pytest.fixture(autouse=True)
def _registrations_end_with_the_test(monkeypatch):
    monkeypatch.setattr(_registry, "_measures", dict(_registry._measures))


@pytest.fixture
def value_only() -> Measure:
    return run_block("entropic.py")["entropic_deviation"]


@pytest.fixture
def with_influence() -> Measure:
    return run_block("steadyrl_entropic/__init__.py")["entropic_deviation"]


# By decorator


def test_the_sessions_on_the_page_give_what_they_show(value_only):
    run_block("second_moment.py")
    sessions = "\n".join(re.findall(r"^```pycon\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL))
    test = doctest.DocTestParser().get_doctest(sessions, {}, "own-measure.md", None, 0)
    results = doctest.DocTestRunner().run(test)
    assert results.attempted >= 8
    assert results.failed == 0


def test_its_value_is_the_one_computed_by_hand(value_only):
    assert value_only.value(RETURNS) == pytest.approx(BY_HAND, rel=1e-14)
    assert value_only(RETURNS) == measures.get("entropic_deviation").value(RETURNS)


def test_it_is_listed_after_the_built_in_ones_with_what_was_said_of_it(value_only):
    assert measures.names()[-1] == "entropic_deviation"
    assert value_only.label == "entropic deviation"
    assert value_only.facts.coherent is False
    assert value_only.facts.unbiased is None
    assert value_only.__doc__ == "E[X] + (1/beta) log E[exp(-beta X)]."


def test_without_an_influence_function_coefficients_leave_one_out(value_only):
    by_hand = 3.0 * (BY_HAND - WITHOUT_EACH)
    assert steadyrl.coefficients("entropic_deviation", RETURNS) == pytest.approx(by_hand, rel=1e-12)


def test_its_parameter_is_given_by_name(value_only):
    # beta = 2: exp(-2x) is 1, 4, 9 with mean 14/3.
    expected = math.log(14.0 / 3.0) / 2.0 - math.log(6.0) / 3.0
    assert measures.get("entropic_deviation", beta=2.0).value(RETURNS) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    ("params", "message"),
    [({"beta": -1.0}, r"beta = -1\.0: must be > 0"), ({"bta": 1.0}, r"no parameter 'bta' \(accepted: beta\)")],
)
def test_a_wrong_parameter_is_refused_when_it_is_given(value_only, params, message):
    with pytest.raises(ValueError, match=message):
        measures.get("entropic_deviation", **params)


def test_weights_are_repetitions_and_zero_leaves_out(value_only):
    repeated = value_only.value([0.0, 0.0, 0.0, -1.0, -2.0, -2.0])
    assert value_only.value([0.0, -1.0, -2.0], [3.0, 1.0, 2.0]) == pytest.approx(repeated, rel=1e-12)
    assert value_only.value([0.0, -1.0, 1e6, -2.0], [3.0, 1.0, 0.0, 2.0]) == pytest.approx(repeated, rel=1e-12)


def test_a_return_of_weight_zero_is_never_seen():
    own = measures.register("own")(lambda returns, weights: returns.max() - weights @ returns)
    assert own.value([0.0, 1e6, 2.0], [1.0, 0.0, 1.0]) == 1.0


def test_weighted_coefficients_are_n_p_times_the_influence(value_only):
    p = np.array([0.5, 0.2, 0.3])
    moments = np.exp(-RETURNS)
    influence = RETURNS - p @ RETURNS + moments / (p @ moments) - 1.0
    c = steadyrl.coefficients("entropic_deviation", RETURNS, weights=10.0 * p)
    assert c == pytest.approx(3.0 * p * influence, abs=1e-8)


def test_leading_axes_are_a_batch_of_samples(value_only):
    batch = np.random.default_rng(0).standard_normal((2, 3, 5))
    values, c = value_only.value(batch), steadyrl.coefficients("entropic_deviation", batch)
    assert values.shape == (2, 3)
    assert c.shape == (2, 3, 5)
    assert values[1, 2] == value_only.value(batch[1, 2])
    assert c[1, 2] == pytest.approx(steadyrl.coefficients("entropic_deviation", batch[1, 2]), rel=1e-12)


def test_a_constant_sample_has_neither_value_nor_coefficients(value_only):
    assert value_only.value([7.0, 7.0, 7.0]) == 0.0
    assert steadyrl.coefficients("entropic_deviation", [7.0, 7.0, 7.0]) == pytest.approx(0.0, abs=0.0)


def test_the_degree_is_what_keeps_the_textbook_formula_accurate():
    far = 1e9 + np.arange(3.0)
    formula = run_block("second_moment.py")["second_moment"].value_function
    plain = measures.register("second_moment_as_given")(formula)
    assert measures.get("second_moment").value(far) == pytest.approx(2.0 / 3.0, rel=1e-12)
    assert measures.get("second_moment").value(1e150 * np.arange(3.0)) == pytest.approx(2e300 / 3.0, rel=1e-12)
    assert plain.value(far) != pytest.approx(2.0 / 3.0, rel=0.1)


def test_the_shift_undoes_the_centring():
    @measures.register("lowest", degree=1, shift=1.0)
    def lowest(returns, weights):
        return returns[weights > 0].min()

    assert lowest.value([1e9 + 3.0, 1e9 + 1.0, 1e9 + 7.0]) == 1e9 + 1.0
    assert lowest.value([5.0, 5.0]) == 5.0


# With an influence function


def test_with_and_without_an_influence_function_the_value_is_the_same(with_influence):
    batch = np.random.default_rng(1).standard_normal((4, 6))
    with_influence_values = with_influence.value(batch)
    _registry._measures.pop("entropic_deviation")
    one_row_at_a_time = run_block("entropic.py")["entropic_deviation"]
    assert with_influence_values == pytest.approx(one_row_at_a_time.value(batch), rel=1e-12)


def test_its_influence_is_the_derivative_of_its_value_in_the_weights(with_influence):
    x, p = np.array([0.3, -1.2, 2.0, 0.7]), np.array([0.1, 0.4, 0.2, 0.3])
    measure, step = measures.get("entropic_deviation", beta=0.5), 1e-6

    def towards(i: int, epsilon: float) -> float:
        return measure.value(x, (1.0 - epsilon) * p + epsilon * np.eye(4)[i])

    numerical = [(towards(i, step) - towards(i, -step)) / (2.0 * step) for i in range(4)]
    assert measure.influence(x, p) == pytest.approx(numerical, abs=1e-8)


def test_its_coefficients_are_its_centred_influence(with_influence):
    moments = np.exp(-RETURNS)
    influence = RETURNS - RETURNS.mean() + moments / moments.mean() - 1.0
    assert steadyrl.coefficients("entropic_deviation", RETURNS) == pytest.approx(9.0 / 2.0 * influence, rel=1e-12)
    jackknife = steadyrl.coefficients("entropic_deviation", RETURNS, estimator="jackknife")
    assert jackknife == pytest.approx(3.0 * (BY_HAND - WITHOUT_EACH), rel=1e-12)


# What is refused


def no_weights(returns):
    return returns.max()


def no_default(returns, weights, beta):
    return beta


def nothing(returns, weights):
    return 0.0


def everything(returns, weights):
    return returns


def not_a_number(returns, weights):
    return math.nan


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (no_weights, r"no_weights must take \(returns, weights\)"),
        (no_default, "give the parameter 'beta' a default value"),
    ],
)
def test_a_function_of_the_wrong_arguments_is_refused(function, message):
    with pytest.raises(TypeError, match=message):
        measures.register("own")(function)
    assert "own" not in measures.names()


@pytest.mark.parametrize("name", ["", "two words", "1st", "a.b", "a/b", "x" * 65])
def test_a_bad_name_is_refused(name):
    with pytest.raises(ValueError, match="measure name"):
        measures.register(name)


@pytest.mark.parametrize("name", ["variance", "mean", "entropic_deviation"])
def test_a_name_that_exists_is_refused(value_only, name):
    with pytest.raises(ValueError, match=f"a measure named '{name}' exists already"):
        measures.register(name)(nothing)


def test_a_value_that_is_no_number_is_refused():
    own = measures.register("own")(everything)
    with pytest.raises(ValueError, match=r"measure 'own' gave an array of shape \(3,\).*one number"):
        own.value(RETURNS)
    with pytest.raises(ValueError, match="measure 'own' gave an array"):
        own.value(np.stack([RETURNS, RETURNS]))


def test_an_influence_of_the_wrong_length_is_refused():
    own = measures.register("own", influence=nothing)(nothing)
    with pytest.raises(ValueError, match=r"measure 'own' gave an array of shape \(\).*one number for each return"):
        own.influence(RETURNS)


def test_nan_is_refused():
    own = measures.register("own")(not_a_number)
    with pytest.raises(ValueError, match="own of these returns: the formula gave nan"):
        own.value(RETURNS)


# By entry point


def write_package(folder: Path, pyproject: str, module: str, code: str) -> Path:
    (folder / module).mkdir(parents=True)
    (folder / "pyproject.toml").write_text(pyproject, encoding="utf-8")
    (folder / module / "__init__.py").write_text(code, encoding="utf-8")
    return folder


def install(package: Path, target: Path) -> Path:
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check", "--quiet"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(target), str(package)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    return target


@pytest.fixture(scope="module")
def package(tmp_path_factory) -> Path:
    """The package of the page, installed."""
    folder = tmp_path_factory.mktemp("entropic")
    title = "steadyrl_entropic/__init__.py"
    source = write_package(folder / "source", block("pyproject.toml"), "steadyrl_entropic", block(title))
    return install(source, folder / "installed")


@pytest.fixture(scope="module")
def broken_package(tmp_path_factory) -> Path:
    """Another package whose module does not import."""
    folder = tmp_path_factory.mktemp("broken")
    pyproject = block("pyproject.toml").replace("entropic", "broken")
    source = write_package(folder / "source", pyproject, "steadyrl_broken", "import a_library_that_is_not_installed\n")
    return install(source, folder / "installed")


def python(*arguments: str, path: list[Path]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    command = [sys.executable, "-W", "error", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def answer(code: str, path: list[Path]) -> Any:
    """What the code prints, as JSON, in a process of its own."""
    process = python("-c", code, path=path)
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)


ASK = f"""
import json, sys, numpy as np, steadyrl
from steadyrl import measures
imported_early = "steadyrl_entropic" in sys.modules
x = np.array({RETURNS.tolist()})
c = steadyrl.coefficients("entropic_deviation", x).tolist()
measure = measures.get("entropic_deviation", beta=2.0)
print(json.dumps([imported_early, c, float(measure.value(x)), measure.label, measures.names()]))
"""


def test_an_installed_package_is_found_by_its_entry_point(package, with_influence):
    imported_early, c, value, label, names = answer(ASK, [package])
    assert not imported_early
    assert c == pytest.approx(steadyrl.coefficients(with_influence, RETURNS).tolist(), rel=1e-12)
    assert value == pytest.approx(math.log(14.0 / 3.0) / 2.0 - math.log(6.0) / 3.0, rel=1e-12)
    assert label == "Entropic deviation"
    assert sorted(names[:-1]) == sorted(NINE.values())
    assert names[-1] == "entropic_deviation"


def test_without_the_package_the_name_is_unknown():
    process = python("-c", ASK, path=[])
    assert process.returncode == 1
    assert "unknown measure 'entropic_deviation'" in process.stderr


def test_the_script_of_the_page_runs_with_the_package_alone(package):
    process = python("-c", block("anywhere.py") + "\nprint(c.sum().round(9) == 0.0)", path=[package])
    assert process.stdout == "True\n", process.stderr


def test_the_command_lists_it(package):
    process = python("-m", "steadyrl", "measures", "--list", "--json", path=[package])
    assert process.returncode == 0, process.stderr
    assert "entropic_deviation" in [measure["name"] for measure in json.loads(process.stdout)]


def test_a_broken_package_is_named_when_its_measure_is_asked_for(broken_package):
    code = "from steadyrl import measures; measures.get('broken_deviation')"
    process = python("-c", code, path=[broken_package])
    last_line = process.stderr.strip().splitlines()[-1]
    assert last_line == (
        "ImportError: measure 'broken_deviation' of package steadyrl-broken cannot be loaded: "
        "No module named 'a_library_that_is_not_installed'"
    )


def test_a_broken_package_does_not_touch_the_others(package, broken_package):
    code = """
import json, steadyrl
print(json.dumps([float(steadyrl.measures.get(name).value([0.0, 1.0])) for name in ("variance", "entropic_deviation")]))
"""
    expected = [0.25, 0.5 + math.log((1.0 + math.exp(-1.0)) / 2.0)]
    assert answer(code, [broken_package, package]) == pytest.approx(expected, rel=1e-12)


def test_a_broken_package_does_not_stop_the_list(package, broken_package):
    code = """
import json, warnings
from steadyrl import measures
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    print(json.dumps([measures.names(), str(said[0].message)]))
"""
    names, warning = answer(code, [broken_package, package])
    assert {"variance", "entropic_deviation"} <= set(names)
    assert "measure 'broken_deviation' of package steadyrl-broken cannot be loaded" in warning
