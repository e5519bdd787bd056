"""The guard: a Gymnasium that plays something else is played by Gymnasium, and a warning says what differs."""

import importlib
import warnings

import gymnasium as gym
import numpy as np
import pytest

from steadyrl.policies import RandomPolicy
from steadyrl.rollouts import Collector, EpisodeError
from steadyrl.rollouts.fast import guard
from steadyrl.rollouts.stepper import GymnasiumStepper
from tests.rollouts.fast.comparison import STEPPERS, assert_same_bits, make


@pytest.fixture(autouse=True)
def _nothing_compared_before(monkeypatch):
    monkeypatch.setattr(guard, "_verdicts", {})


def module(domain):
    return importlib.import_module(type(make(domain).unwrapped).__module__)


@pytest.mark.parametrize("domain", STEPPERS)
def test_the_installed_gymnasium_is_played_fast_without_a_warning(domain):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isinstance(guard.fast_stepper(make(domain), 3), STEPPERS[domain])


@pytest.mark.parametrize("domain", STEPPERS)
def test_a_verdict_is_kept_for_the_same_environment_and_no_other(domain, monkeypatch):
    compared = []
    monkeypatch.setattr(guard, "difference", lambda fast, env: compared.append(env.spec.kwargs.get("max_steps")))
    for steps in (20, 20, 30, 20):
        guard.fast_stepper(make(domain, max_steps=steps), 2)
    assert compared == [20, 30]


@pytest.mark.parametrize("constant", ["MAIN_ENGINE_POWER", "LEG_SPRING_TORQUE", "INITIAL_RANDOM"])
def test_a_constant_that_both_read_may_change(constant, monkeypatch):
    game = module("LunarLander")
    monkeypatch.setattr(game, constant, 1.5 * getattr(game, constant))
    assert guard.fast_stepper(make("LunarLander"), 2) is not None


def updraught(monkeypatch):
    lander = module("LunarLander").LunarLander
    step = lander.step
    monkeypatch.setattr(
        lander, "step", lambda self, action: (self.lander.ApplyForceToCenter((0.0, 1.0), True), step(self, action))[1]
    )


def dearer_control(monkeypatch):
    cheetah = module("HalfCheetah").HalfCheetahEnv
    monkeypatch.setattr(cheetah, "control_cost", lambda self, action: 0.2 * np.sum(np.square(action)))


def narrower_fall(monkeypatch):
    pendulum = module("InvertedPendulum").InvertedPendulumEnv
    step = pendulum.step

    def changed(self, action):
        observation, reward, terminated, truncated, info = step(self, action)
        return observation, reward, bool(terminated or abs(observation[1]) > 0.1), truncated, info

    monkeypatch.setattr(pendulum, "step", changed)


CHANGES = [
    ("LunarLander", updraught, r"observations\[0, 1\] = \S+ with Gymnasium, \S+ without"),
    ("HalfCheetah", dearer_control, r"rewards\[0\] = \S+ with Gymnasium, \S+ without"),
    ("InvertedPendulum", narrower_fall, r"observations of float64 \(1, \d+, 4\) with Gymnasium, float64 .* without"),
]


@pytest.mark.parametrize(("domain", "change", "message"), CHANGES)
def test_a_changed_game_is_played_by_gymnasium_with_a_warning_of_what_differs(domain, change, message, monkeypatch):
    change(monkeypatch)
    name = f"steadyrl/{domain}-v0"
    collector, plain = Collector(name, max_steps=15), Collector(name, backend="gymnasium", max_steps=15)
    policy = RandomPolicy(collector.action_space)
    with pytest.warns(UserWarning, match=rf"^{name} is played by plain Gymnasium {gym.__version__}, .*\({message}\)$"):
        batch = collector.collect(policy, 3, 0, 0)
    assert isinstance(collector._stepper, GymnasiumStepper)
    assert_same_bits(batch, plain.collect(policy, 3, 0, 0))


@pytest.mark.parametrize("place", ["__init__", "build"])
def test_a_game_in_which_something_has_another_name_is_played_by_gymnasium_too(place, monkeypatch):
    def renamed(*_):
        raise AttributeError("module 'lunar_lander' has no attribute 'LEG_SPRING_TORQUE'")

    monkeypatch.setattr(f"steadyrl.rollouts.fast.lunarlander._Scenery.{place}", renamed)
    with pytest.warns(UserWarning, match=r"differs \(.*AttributeError: .* 'LEG_SPRING_TORQUE'\)"):
        assert guard.fast_stepper(make("LunarLander"), 2) is None


def test_an_environment_that_breaks_down_itself_says_so(monkeypatch):
    monkeypatch.delattr(module("LunarLander"), "LEG_SPRING_TORQUE")
    with pytest.raises(EpisodeError, match=r"the environment raised NameError: name 'LEG_SPRING_TORQUE'"):
        guard.fast_stepper(make("LunarLander"), 2)


def test_a_single_environment_serves_for_the_comparison_and_plays_on():
    env = make("InvertedPendulum", max_steps=30)
    policy = RandomPolicy(env.action_space)
    batch = Collector(env).collect(policy, 4, 7, 0)
    plain = Collector("steadyrl/InvertedPendulum-v0", backend="gymnasium", max_steps=30).collect(policy, 4, 7, 0)
    assert_same_bits(batch, plain)


def test_the_short_episode_uses_every_engine_and_ends_where_an_end_is_near():
    batches = {}
    for domain in STEPPERS:
        env = make(domain)
        batches[domain] = guard.play(
            RandomPolicy(env.action_space), GymnasiumStepper(lambda env=env: env), 1, 1, guard.STEPS, guard.SEED, 0
        )
    lander = batches["LunarLander"]
    assert set(lander.actions.ravel().tolist()) == {0, 1, 2, 3}
    assert (lander.terminated[0], lander.outcomes["side"][0], lander.outcomes["leg_contact"][0]) == (
        True,
        "right",
        True,
    )
    pendulum = batches["InvertedPendulum"]
    assert pendulum.terminated[0]
    assert 0 < pendulum.outcomes["risky_share"][0] < 1
    assert batches["HalfCheetah"].lengths[0] == guard.STEPS
