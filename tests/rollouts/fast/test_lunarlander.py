"""The lean LunarLander: its world is Gymnasium's part by part, and what it cannot play it leaves alone."""

import numpy as np
import pytest

from steadyrl.rollouts.fast.lunarlander import LanderStepper
from steadyrl.rollouts.stepper import SlotError
from tests.rollouts.fast.comparison import make


def anatomy(world):
    """Everything that a Box2D world is made of, in order."""
    shape = ("vertices", "radius")
    fixture = ("density", "friction", "restitution", "sensor")
    body = ("position", "angle", "linearVelocity", "angularVelocity", "mass", "inertia", "localCenter", "awake", "type")
    joint = ("lowerLimit", "upperLimit", "limitEnabled", "motorEnabled", "motorSpeed", "anchorA", "anchorB", "angle")

    def read(part, names):
        return [(name, str(getattr(part, name))) for name in names]

    bits = ("categoryBits", "maskBits", "groupIndex")
    parts = [str(world.gravity)]
    for b in world.bodies:
        parts += read(b, body)
        parts += [read(f, fixture) + read(f.shape, shape) + read(f.filterData, bits) for f in b.fixtures]
    return parts + [[*read(j, joint), j.GetMaxMotorTorque()] for j in world.joints]


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1])
def test_a_lander_s_world_is_built_like_gymnasium_s(seed):
    """Part by part, as some of them matter in rare accidents only."""
    env = make("LunarLander", gravity=-7.5)
    env.reset(seed=seed)
    fast = LanderStepper.of(env, 1)
    fast.reset(0, seed)
    assert anatomy(fast._scenes[0].world) == anatomy(env.unwrapped.world)


def test_landers_with_wind_or_throttle_are_left_to_gymnasium():
    assert LanderStepper.of(make("LunarLander", continuous=True), 2) is None
    assert LanderStepper.of(make("LunarLander", enable_wind=True), 2) is None


def test_a_wrong_action_says_in_which_slot_it_went_wrong():
    fast = LanderStepper.of(make("LunarLander"), 3)
    for slot in range(3):
        fast.reset(slot, slot)
    with pytest.raises(SlotError, match="action = 4: must be 0, 1, 2 or 3") as caught:
        fast.step(np.arange(3), np.array([0, 1, 4]))
    assert caught.value.index == 2
    with pytest.raises(SlotError, match="actions of type float64: must be integers"):
        fast.step(np.arange(3), np.zeros(3))
