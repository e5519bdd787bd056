"""The MuJoCo and LunarLander steppers play the very episodes of Gymnasium: every field of a Batch, bit for bit."""

import sys
from dataclasses import fields, replace
from functools import cache

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import ClipAction, TimeLimit

import steadyrl
from steadyrl.envs import RiskyRegion
from steadyrl.envs.noise import Gaussian, Mixture, Pareto, Uniform
from steadyrl.policies import RandomPolicy
from steadyrl.rollouts._lunarlander import LanderStepper
from steadyrl.rollouts._mujoco import MujocoStepper
from steadyrl.rollouts.batch import Batch
from steadyrl.rollouts.episodes import play
from steadyrl.rollouts.stepper import GymnasiumStepper, SlotError

assert steadyrl.envs  # registers the domains

STEPPERS = {"LunarLander": LanderStepper, "InvertedPendulum": MujocoStepper, "HalfCheetah": MujocoStepper}
LIMITS = {"LunarLander": 500, "InvertedPendulum": 300, "HalfCheetah": 500}


def make(domain, **options):
    return gym.make(f"steadyrl/{domain}-v0", disable_env_checker=True, **options)


class Scripted:
    """A controller that lives longer than chance would let it, with a little chance in it."""

    def __init__(self, domain, action_space):
        self.act = getattr(self, domain)
        self.space = action_space
        self.uniforms_per_action = 1

    def LunarLander(self, seen, uniforms):  # noqa: N802
        """Lean towards the pad, brake in proportion to the fall, and one time in ten do anything."""
        x, y, vx, vy, angle, spin, left, right = seen.astype(np.float64).T
        touching = (left + right) > 0
        turn = np.where(touching, 0.0, 0.5 * (np.clip(0.5 * x + vx, -0.4, 0.4) - angle) - spin)
        lift = np.where(touching, -0.5 * vy, 0.5 * (0.55 * np.abs(x) - y) - 0.5 * vy)
        chosen = np.select([(lift > np.abs(turn)) & (lift > 0.05), turn < -0.05, turn > 0.05], [2, 3, 1], 0)
        return np.where(uniforms[:, 0] < 0.1, (uniforms[:, 0] * 40).astype(np.int64), chosen)

    def InvertedPendulum(self, seen, uniforms):  # noqa: N802
        """Push the cart under the pole, some harder than it takes."""
        push = seen @ np.array([[0.3], [8.0], [0.5], [1.2]]) + 2.4 * (uniforms - 0.5)
        return np.clip(push, -3, 3).astype(np.float32)

    def HalfCheetah(self, seen, uniforms):  # noqa: N802
        """A gait of sorts: torques that follow the joints, to either side."""
        mixing = np.sin(np.arange(18 * 6).reshape(18, 6))
        return np.tanh(seen[:, :18] @ mixing + uniforms - 0.5).astype(np.float32)


def policy_of(kind, domain, env):
    return RandomPolicy(env.action_space) if kind == "random" else Scripted(domain, env.action_space)


@cache
def expected(domain, kind, options, n, limit, seed):
    """What plain Gymnasium plays, three episodes at a time."""
    plain = GymnasiumStepper(lambda: make(domain, **dict(options)), 3)
    try:
        return play(policy_of(kind, domain, plain.envs[0]), plain, n, 3, limit, seed, 1)
    finally:
        plain.close()


def found(domain, kind, options, n, width, limit, seed):
    env = make(domain, **dict(options))
    fast = STEPPERS[domain].of(env, width)
    assert fast is not None
    try:
        return play(policy_of(kind, domain, env), fast, n, width, limit, seed, 1)
    finally:
        fast.close()


def assert_same_bits(a: Batch, b: Batch):
    """Every field: type, shape and bits, so that 0.0 is not -0.0."""
    arrays = {f.name: (getattr(a, f.name), getattr(b, f.name)) for f in fields(Batch) if f.name != "outcomes"}
    assert list(a.outcomes) == list(b.outcomes)
    for name, (x, y) in (arrays | {name: (a.outcomes[name], b.outcomes[name]) for name in a.outcomes}).items():
        assert (x.dtype, x.shape) == (y.dtype, y.shape), name
        differing = np.argwhere(x != y)
        assert x.tobytes() == y.tobytes(), f"{name} differs, first at {differing[:1].tolist()}"


def short(domain, kind):
    """Episodes enough to see every kind of end; the cheetah has one kind only, and it is the slowest."""
    if domain == "HalfCheetah":
        return (("max_steps", 60),), 4, 60
    return (), 10 if kind == "scripted" else 40, LIMITS[domain]


@pytest.mark.parametrize("kind", ["random", "scripted"])
@pytest.mark.parametrize("width", [1, 3, 8])
@pytest.mark.parametrize("domain", STEPPERS)
def test_the_episodes_are_those_of_gymnasium_at_every_width(domain, width, kind):
    options, n, limit = short(domain, kind)
    theirs = expected(domain, kind, options, n, limit, 0)
    assert_same_bits(found(domain, kind, options, n, width, limit, 0), theirs)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("domain", STEPPERS)
def test_the_episodes_are_those_of_gymnasium_for_other_seeds(domain, seed):
    n, limit = (2, 500) if domain == "HalfCheetah" else (7, LIMITS[domain])
    assert_same_bits(found(domain, "scripted", (), n, 3, limit, seed), expected(domain, "scripted", (), n, limit, seed))


OTHERWISE = [
    ("LunarLander", {"noise_std": 7.0, "noise_at": "landed"}),
    ("LunarLander", {"noise_std": 7.0, "noise_at": "terminated"}),
    ("LunarLander", {"noise_at": "any", "max_steps": 90}),
    ("LunarLander", {"noise_at": "grounded", "max_steps": 230, "gravity": -6.0}),
    ("LunarLander", {"noise": Pareto(-1.0, 20.0, 3.0), "noise_at": "any"}),
    ("InvertedPendulum", {"noise_std": 3.0, "threshold": -0.2, "fall_reward": 0.0}),
    ("InvertedPendulum", {"fall_reward": -12.5}),
    ("InvertedPendulum", {"max_steps": 17, "reset_noise_scale": 0.1}),
    ("InvertedPendulum", {"noise": Pareto(-1.0, 20.0, 3.0), "frame_skip": 3}),
    ("InvertedPendulum", {"noise": Mixture((Uniform(-2.0, 0.0), Uniform(5.0, 6.0)), (0.8, 0.2))}),
    ("HalfCheetah", {"noise_std": 3.0, "threshold": 0.1, "max_steps": 40}),
    ("HalfCheetah", {"forward": "speed", "max_steps": 40, "threshold": 0.1}),
    ("HalfCheetah", {"forward": "speed", "forward_reward_weight": 0.7, "max_steps": 40, "threshold": 0.0}),
    ("HalfCheetah", {"forward_reward_weight": 2.5, "ctrl_cost_weight": 0.3, "max_steps": 30, "threshold": 0.0}),
    ("HalfCheetah", {"noise": Uniform(-4.0, 9.0), "reset_noise_scale": 0.3, "max_steps": 50, "threshold": 0.0}),
]


@pytest.mark.parametrize(("domain", "options"), OTHERWISE, ids=str)
def test_the_episodes_are_those_of_gymnasium_with_other_parameters(domain, options):
    options, limit = tuple(options.items()), options.get("max_steps", LIMITS[domain])
    theirs = expected(domain, "scripted", options, 7, limit, 4)
    assert_same_bits(found(domain, "scripted", options, 7, 3, limit, 4), theirs)
    assert np.any(theirs.outcomes["reward_noise"] != 0.0)


def test_a_limit_of_the_caller_cuts_episodes_as_with_gymnasium():
    theirs = expected("InvertedPendulum", "scripted", (), 5, 6, 0)
    assert_same_bits(found("InvertedPendulum", "scripted", (), 5, 2, 6, 0), theirs)
    assert theirs.lengths.max() == 6


def test_the_comparison_has_seen_every_kind_of_end():
    def ends(domain, name):
        played = [expected(domain, kind, *short(domain, kind), 0) for kind in ("random", "scripted")]
        return [end for batch in played for end in {**batch.outcomes, "terminated": batch.terminated}[name].tolist()]

    for name in ("landed", "leg_contact", "grounded", "timeout", "risky"):
        assert set(ends("LunarLander", name)) == {True, False}, name
    assert set(ends("LunarLander", "side")) == {"left", "right"}
    touched = set(zip(ends("LunarLander", "leg_contact"), ends("LunarLander", "grounded"), strict=True))
    assert touched == {(True, True), (False, True), (False, False)}
    assert set(ends("InvertedPendulum", "terminated")) == {True, False}
    assert {0.0 < share < 1.0 for share in ends("InvertedPendulum", "risky_share")} == {True, False}


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


@pytest.mark.parametrize("field", ["observations", "rewards", "last_observations"])
def test_the_comparison_notices_the_last_bit_of_one_number(field):
    batch = expected("InvertedPendulum", "random", *short("InvertedPendulum", "random"), 0)
    changed = getattr(batch, field).copy()
    changed.flat[3] = np.nextafter(changed.flat[3], np.inf)
    with pytest.raises(AssertionError, match=f"{field} differs"):
        assert_same_bits(replace(batch, **{field: changed}), batch)


def typed(final):
    return final and [(name, value, type(value)) for name, value in final.items()]


@pytest.mark.parametrize("domain", STEPPERS)
def test_the_given_slots_alone_are_stepped_in_whatever_order_they_are_given(domain):
    options = {"max_steps": 12}
    fast = STEPPERS[domain].of(make(domain, **options), 4)
    plain = GymnasiumStepper(lambda: make(domain, **options), 4)
    policy = RandomPolicy(fast.action_space)
    rng = np.random.default_rng(0)
    ended = 0
    for slot in range(4):
        np.testing.assert_array_equal(fast.reset(slot, 7 + slot), plain.reset(slot, 7 + slot))
    for slots in [[0, 2], [3], [2, 0], [3, 1, 0, 2], *[[1, 3]] * 20]:
        uniforms = rng.random((len(slots), policy.uniforms_per_action))
        actions = policy.act(np.zeros(len(slots)), uniforms)
        ours, theirs = fast.step(np.array(slots), actions), plain.step(np.array(slots), actions)
        for a, b in zip(ours[:4], theirs[:4], strict=True):
            np.testing.assert_array_equal(a, b)
        for k, (mine, other) in enumerate(zip(ours.finals, theirs.finals, strict=True)):
            ended += mine is not None
            assert typed(mine) == typed(other)
            if mine is not None:
                np.testing.assert_array_equal(fast.reset(slots[k], 50 + k), plain.reset(slots[k], 50 + k))
    assert ended


def draws(rng):
    return float(rng.normal())


@pytest.mark.parametrize("domain", STEPPERS)
def test_what_cannot_be_replayed_exactly_is_left_to_gymnasium(domain):
    of = STEPPERS[domain].of
    assert of(make(domain), 2) is not None
    assert of(make(domain).env, 2) is not None
    assert of(make(domain, noise=draws), 2) is None
    assert of(make(domain, render_mode="rgb_array"), 2) is None
    assert of(TimeLimit(make(domain), 5), 2) is None
    inner = make(domain).env.env
    assert of(RiskyRegion(inner, lambda *_: True, Gaussian(0.0, 1.0), when="end"), 2) is None
    assert of(RiskyRegion(make(domain), lambda *_: True, Gaussian(0.0, 1.0)), 2) is None
    assert of(gym.make("CartPole-v1"), 2) is None
    assert of(gym.make("steadyrl/Maze-v0"), 2) is None
    another = MujocoStepper if of is LanderStepper.of else LanderStepper
    assert another.of(make(domain), 2) is None


def test_landers_with_wind_or_throttle_are_left_to_gymnasium():
    assert LanderStepper.of(make("LunarLander", continuous=True), 2) is None
    assert LanderStepper.of(make("LunarLander", enable_wind=True), 2) is None


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


def test_a_wrong_action_says_in_which_slot_it_went_wrong():
    fast = LanderStepper.of(make("LunarLander"), 3)
    for slot in range(3):
        fast.reset(slot, slot)
    with pytest.raises(SlotError, match="action = 4: must be 0, 1, 2 or 3") as caught:
        fast.step(np.arange(3), np.array([0, 1, 4]))
    assert caught.value.index == 2
    with pytest.raises(SlotError, match="actions of type float64: must be integers"):
        fast.step(np.arange(3), np.zeros(3))


@pytest.mark.parametrize("domain", ["InvertedPendulum", "HalfCheetah"])
def test_an_action_of_the_wrong_shape_is_refused_as_by_gymnasium(domain):
    fast, plain = MujocoStepper.of(make(domain), 1), GymnasiumStepper(lambda: make(domain), 1)
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
