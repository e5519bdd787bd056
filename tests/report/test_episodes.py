"""Evaluations side by side: differences of the same episodes, in pairs."""

from dataclasses import replace

import numpy as np
import pytest

from steadyrl import evaluate_policy, measures
from steadyrl.ground.errors import BadInputError
from steadyrl.report import episodes

ROADS = "steadyrl/TwoRoads-v0"


def road(number, **options):
    return evaluate_policy(lambda day: number, ROADS, **{"episodes": 80, **options})


@pytest.fixture(scope="module")
def motorway():
    return road(0)


def test_a_constant_on_every_episode_is_a_difference_without_doubt(motorway):
    """In pairs, what both policies met cancels: the interval has no width, where each mean's is several wide."""
    better = replace(motorway, returns=motorway.returns + 3.0)
    first, second = episodes.compare({"a": motorway, "b": better}, ["return"])
    assert second.difference.value == pytest.approx(3.0)
    assert second.difference.high - second.difference.low < 1e-9
    assert second.value.high - second.value.low > 5.0
    assert (first.difference, first.paired, second.paired) == (None, 0, 80)


def test_another_seed_is_resampled_by_itself(motorway):
    better = replace(motorway, returns=motorway.returns + 3.0, seed=1)
    *_, row = episodes.compare({"a": motorway, "b": better}, ["return"])
    assert row.paired == 0
    assert row.difference.value == pytest.approx(3.0)
    assert row.difference.low < -5.0 < 10.0 < row.difference.high


def test_the_interval_of_a_mean_is_the_one_of_the_textbook(motorway):
    row, *_ = episodes.compare({"a": motorway}, ["return"])
    error = 1.96 * motorway.returns.std() / np.sqrt(80)
    assert row.value.value == pytest.approx(motorway.returns.mean())
    assert (row.value.low, row.value.high) == pytest.approx(
        (row.value.value - error, row.value.value + error), abs=0.15 * error
    )


def test_fewer_episodes_are_paired_with_the_first_of_the_longer(motorway):
    side = road(1, episodes=30)
    *_, row = episodes.compare({"a": motorway, "b": side}, ["gini_deviation"])
    gini = measures.gini_deviation.value
    assert (row.episodes, row.paired) == (30, 30)
    assert row.difference.value == pytest.approx(gini(side.returns) - gini(motorway.returns[:30]))


def test_all_metrics_of_an_episode_are_there(motorway):
    rows = episodes.compare({"a": motorway, "b": road(1)}, episodes.MEANS)
    values = {(row.label, row.metric): row.value.value for row in rows}
    assert (values["a", "length"], values["a", "risk_averse"], values["b", "risk_averse"]) == (5.0, 0.0, 1.0)
    assert values["a", "undiscounted_return"] == pytest.approx(motorway.undiscounted_returns.mean())


def test_many_episodes_are_resampled_in_parts_and_alike(motorway, monkeypatch):
    """Also where the last part is a smaller one: 2,000 resamples, 300 at once."""
    whole = episodes.compare({"a": motorway, "b": road(1)})
    for rows in (300, 2):
        monkeypatch.setattr(episodes, "CHUNK", 80 * rows)
        metrics = episodes.METRICS if rows == 300 else ["return"]
        assert episodes.compare({"a": motorway, "b": road(1)}, metrics) == whole[: 2 * len(metrics)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gamma": 0.9}, "gamma = 0.9 in b, 1 in a: evaluate both alike"),
        ({"days": 4}, r"env_options = {'days': 4} in b, {} in a: evaluate both alike"),
        ({"episodes": 1}, "b: 1 episode: an interval needs at least 2"),
    ],
)
def test_what_does_not_mean_the_same_is_refused(options, message, motorway):
    with pytest.raises(BadInputError, match=message):
        episodes.compare({"a": motorway, "b": road(1, **options)})


def test_another_environment_or_metric_is_refused(motorway):
    poles = evaluate_policy(lambda observation: 0, "CartPole-v1", episodes=2)
    with pytest.raises(BadInputError, match="env = 'CartPole-v1' in b, 'steadyrl/TwoRoads-v0' in a: only policies of"):
        episodes.compare({"a": motorway, "b": poles})
    with pytest.raises(BadInputError, match="metrics = 'risk_averse': the environment of b does not say"):
        episodes.compare({"b": poles}, ["risk_averse"])
    with pytest.raises(BadInputError, match="metrics = 'gini': no metric of an evaluation: "):
        episodes.compare({"a": motorway}, ["gini"])
