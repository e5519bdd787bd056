"""MuJoCo's batch: cut, refused and failing as Gymnasium would, and the environment's own model left alone."""

import sys

import numpy as np
import pytest
from gymnasium.wrappers import ClipAction

from steadyrl.envs import RiskyRegion
from steadyrl.rollouts.fast.mujoco import MujocoStepper
from steadyrl.rollouts.stepper import GymnasiumStepper, SlotError
from tests.rollouts.fast.comparison import assert_same_bits, expected, fast_batch, make


def test_a_limit_of_the_caller_cuts_episodes_as_with_gymnasium():
    theirs = expected("InvertedPendulum", "scripted", (), 5, 6, 0)
    assert_same_bits(fast_batch("InvertedPendulum", "scripted", (), 5, 2, 6, 0), theirs)
    assert theirs.lengths.max() == 6


def test_mujoco_domains_that_see_or_say_something_else_are_left_to_gymnasium():
    blind = make("HalfCheetah")
    blind.unwrapped._exclude_current_positions_from_observation = True
    assert MujocoStepper.of(blind, 2) is None
    assert MujocoStepper.of(ClipAction(make("HalfCheetah")), 2) is None
    plain = make("InvertedPendulum").env
    assert MujocoStepper.of(RiskyRegion(plain.env, plain.where, plain.noise), 2) is not None
    assert MujocoStepper.of(RiskyRegion(plain.env, plain.where, plain.noise, name="right"), 2) is None
    assert MujocoStepper.of(RiskyRegion(plain.env, plain.where, plain.noise, when="end"), 2) is None


def test_the_environment_s_own_model_is_left_as_it_is():
    env = make("InvertedPendulum")
    fast = MujocoStepper.of(env, 2)
    assert env.unwrapped.model.opt.disableflags == 0
    assert fast._batch.model.opt.disableflags != 0


def test_a_mujoco_without_batches_is_left_to_gymnasium(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco.batch", None)
    monkeypatch.delattr("mujoco.batch")
    assert MujocoStepper.of(make("InvertedPendulum"), 2) is None


@pytest.mark.parametrize("domain", ["InvertedPendulum", "HalfCheetah"])
def test_an_action_of_the_wrong_shape_is_refused_as_by_gymnasium(domain):
    fast, plain = MujocoStepper.of(make(domain), 1), GymnasiumStepper(lambda: make(domain))
    for stepper in (fast, plain):
        stepper.reset(0, 0)
        with pytest.raises(SlotError, match=r"ValueError: .*\(\)"):
            stepper.step(np.arange(1), np.zeros(1))


def test_a_simulation_that_fails_is_named(monkeypatch):
    from mujoco.batch import SimulationError

    fast = MujocoStepper.of(make("InvertedPendulum"), 4)
    for slot in range(4):
        fast.reset(slot, slot)

    def fail(ids, nstep):
        raise SimulationError(np.array([2]), "stack overflow")

    monkeypatch.setattr(fast, "_batch", type("Broken", (), {"step": staticmethod(fail)}))
    with pytest.raises(SlotError, match="stack overflow") as caught:
        fast.step(np.array([3, 1, 2]), np.zeros((3, 1), dtype=np.float32))
    assert caught.value.index == 2
