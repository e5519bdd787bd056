"""LunarLander, lean: Gymnasium's game on the same Box2D, without what surrounds the physics.

In the air, more than half of a step of Gymnasium's lander is spent outside Box2D: on random numbers drawn one by one,
on wrappers, on checks and on an array for each observation. Here a flight is plain floats. Bodies, forces, rewards and
random numbers come in Gymnasium's order, down to the order of additions, so every episode is the same bit for bit.
"""

from collections.abc import Generator, Iterator
from itertools import pairwise
from math import cos, sin, sqrt
from types import SimpleNamespace
from typing import Any, Final

import gymnasium as gym
import numpy as np
from gymnasium.utils.seeding import np_random
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, TimeLimit
from numpy.typing import NDArray

from steadyrl.envs._draws import RewardDraws
from steadyrl.envs.environment import layers
from steadyrl.envs.lunarlander import EndedRight, LanderReport, touches_ground
from steadyrl.envs.noise import Noise
from steadyrl.envs.risky import RiskyRegion
from steadyrl.rollouts.stepper import LastInfo, SlotError, Stepped

UNSEEN: Final = (OrderEnforcing, PassiveEnvChecker)
"""Wrappers that change no number."""
LANDER: Final = ("gymnasium.envs.box2d.lunar_lander", "LunarLander")
"""Known by name, as importing it would import Box2D."""
DRAWN_AT_ONCE: Final = 128
"""Random numbers drawn by one call, which costs as much as three drawn singly."""

Flight = Generator[tuple[list[float], float, bool], int, None]
"""An episode under way: takes an action; gives the observation, the reward and whether the flight is over."""


class LanderStepper:
    """Slots that each hold a scene and the flight in it."""

    @staticmethod
    def of(env: gym.Env[Any, Any], width: int) -> "LanderStepper | None":
        """A stepper that plays what the environment would play, or None if there is none.

        There is one for what `lunar_lander` makes with discrete actions, no wind, no picture, and a noise that has a
        quantile function.
        """
        inside: list[Any] = [layer for layer in layers(env) if type(layer) not in UNSEEN]
        if [type(layer) for layer in inside[:-1]] != [RiskyRegion, LanderReport, TimeLimit]:
            return None
        risky, _, limit, base = inside
        if (type(base).__module__, type(base).__name__) != LANDER:
            return None
        if base.continuous or base.enable_wind or base.render_mode is not None:
            return None
        if type(risky.where) is not EndedRight or (risky.when, risky.name) != ("end", None):
            return None
        return LanderStepper(base, risky, limit._max_episode_steps, width) if isinstance(risky.noise, Noise) else None

    def __init__(self, base: Any, risky: RiskyRegion, max_steps: int, width: int) -> None:
        self.observation_space, self.action_space = base.observation_space, base.action_space
        self._scenery = _Scenery(base.gravity)
        self._scenes: dict[int, SimpleNamespace] = {}
        self._flights: dict[int, Flight] = {}
        self._seeds = [0] * width
        self._steps = np.zeros(width, dtype=np.int64)
        self._where = risky.where
        self._draws = RewardDraws(risky.noise)
        self._max_steps = max_steps

    def reset(self, slot: int, seed: int) -> NDArray[Any]:
        """Begin an episode in a slot; its first observation follows a step with the engines off."""
        self._scenes[slot] = self._scenery.build(seed)
        self._flights[slot] = flight = _fly(self._scenes[slot])
        self._seeds[slot] = seed
        self._steps[slot] = 0
        next(flight)
        return np.array(flight.send(0)[0], dtype=np.float32)

    def step(self, slots: NDArray[np.int64], actions: NDArray[Any]) -> Stepped:
        """Step the flights of the given slots, one after the other."""
        if actions.dtype.kind not in "iu":
            cause = TypeError(f"actions of type {actions.dtype}: must be integers")
            raise SlotError(0, cause) from cause
        flights = self._flights
        results = []
        for k, (slot, action) in enumerate(zip(slots.tolist(), actions.tolist(), strict=True)):
            try:
                results.append(flights[slot].send(action))
            except Exception as error:
                raise SlotError(k, error) from error
        states, paid, ends = zip(*results, strict=True)
        observations = np.array(states, dtype=np.float32)
        rewards = np.array(paid)
        terminated = np.array(ends)
        self._steps[slots] += 1
        truncated = self._steps[slots] >= self._max_steps
        finals: list[LastInfo | None] = [None] * len(slots)
        for k in np.flatnonzero(terminated | truncated).tolist():
            final = self._report(int(slots[k]), observations[k], bool(terminated[k]))
            rewards[k] += final["reward_noise"]
            finals[k] = final
        return Stepped(observations, rewards, terminated, truncated, finals)

    def close(self) -> None:
        """Let the scenes go."""
        self._flights.clear()
        self._scenes.clear()

    def _report(self, slot: int, observation: NDArray[Any], terminated: bool) -> dict[str, Any]:
        """What `LanderReport` and `RiskyRegion` say of the last step."""
        craft = self._scenes[slot].craft
        legs = any(touches_ground(leg) for leg in craft.legs)
        side = "left" if observation[0] < 0 else "right"
        landed = terminated and not craft.lander.awake
        report = {
            "side": side,
            "landed": landed,
            "leg_contact": legs,
            "grounded": legs or touches_ground(craft.lander),
            "timeout": not terminated,
        }
        risky = self._where(observation, None, report)
        noise = 0.0
        if risky:
            self._draws.reset(self._seeds[slot])
            noise = self._draws.draw()
        share = float(risky)
        return report | {
            "risk_averse": min(1.0 - share, float(landed and side == "left")),
            "risky": risky,
            "reward_noise": noise,
            "risky_share": share,
            "episode_length": int(self._steps[slot]),
        }


class _Scenery:
    """Builds the scenes as Gymnasium does; what they have in common is defined once, which saves most of the time."""

    def __init__(self, gravity: float) -> None:
        import Box2D  # noqa: PLC0415  optional; loaded already by whoever made the environment
        from gymnasium.envs.box2d import lunar_lander as game  # noqa: PLC0415

        self.box: Any = Box2D
        self.game: Any = game
        self.gravity = gravity
        self.width = game.VIEWPORT_W / game.SCALE
        self.height = game.VIEWPORT_H / game.SCALE
        level = [(0, 0), (self.width, 0)]
        outline = [(x / game.SCALE, y / game.SCALE) for x, y in game.LANDER_POLY]
        plank = (game.LEG_W / game.SCALE, game.LEG_H / game.SCALE)
        self.edge = Box2D.b2EdgeShape(vertices=level)
        self.slope = Box2D.b2FixtureDef(shape=self.edge, density=0, friction=0.1)
        self.bottom = Box2D.b2FixtureDef(shape=Box2D.b2EdgeShape(vertices=level))
        touches_moon = {"restitution": 0.0, "maskBits": 0x001}
        hull = Box2D.b2PolygonShape(vertices=outline)
        leg = Box2D.b2PolygonShape(box=plank)
        self.hull = Box2D.b2FixtureDef(shape=hull, density=5.0, friction=0.1, categoryBits=0x010, **touches_moon)
        self.leg = Box2D.b2FixtureDef(shape=leg, density=1.0, categoryBits=0x020, **touches_moon)

    def build(self, seed: int) -> SimpleNamespace:
        """A moon of random heights, level under the pad, and a lander above it that is given a random push."""
        random, _ = np_random(seed)
        heights = random.uniform(0, self.height / 2, size=12).tolist()
        heights[3:8] = [self.height / 4] * 5
        ys = [0.33 * (heights[i - 1] + heights[i] + heights[i + 1]) for i in range(11)]
        points = [(self.width / 10 * i, y) for i, y in enumerate(ys)]
        world = self.box.b2World(gravity=(0, self.gravity))
        moon = world.CreateStaticBody(fixtures=self.bottom)
        for ends in pairwise(points):
            self.edge.vertices = ends
            moon.CreateFixture(self.slope)
        lander = world.CreateDynamicBody(position=(self.width / 2, self.height), fixtures=self.hull)
        most = self.game.INITIAL_RANDOM
        lander.ApplyForceToCenter((random.uniform(-most, most), random.uniform(-most, most)), True)
        legs = [self._leg(world, lander, sign) for sign in (-1, 1)]
        craft = SimpleNamespace(lander=lander, legs=legs, game_over=False)
        listener = self.game.ContactDetector(craft)
        listener.PreSolve = listener.PostSolve = _pass  # asked about every contact in every step; this is the quickest
        world.contactListener = listener
        return SimpleNamespace(game=self.game, world=world, craft=craft, listener=listener, random=random)

    def _leg(self, world: Any, lander: Any, sign: int) -> Any:
        """The left (-1) or right (1) leg, on a joint that springs back within its limits."""
        away = sign * self.game.LEG_AWAY / self.game.SCALE
        down = self.game.LEG_DOWN / self.game.SCALE
        position = (self.width / 2 - away, self.height)
        leg = world.CreateDynamicBody(position=position, angle=sign * 0.05, fixtures=self.leg)
        leg.ground_contact = False
        joint = self.box.b2RevoluteJointDef(bodyA=lander, bodyB=leg, localAnchorA=(0, 0), localAnchorB=(away, down))
        joint.enableMotor = joint.enableLimit = True
        joint.maxMotorTorque = self.game.LEG_SPRING_TORQUE
        joint.motorSpeed = 0.3 * sign
        joint.lowerAngle, joint.upperAngle = (0.4, 0.9) if sign < 0 else (-0.9, -0.4)
        world.CreateJoint(joint)
        return leg


def _fly(scene: SimpleNamespace) -> Flight:  # noqa: PLR0915  # one step of the game, whose state is in its variables
    """A flight from the scene's beginning: a generator, as its local variables are the quickest place to keep it.

    Box2D's position and velocity are views of the body: fetched once, read after every step.
    """
    game = scene.game
    craft = scene.craft
    lander = scene.craft.lander
    leg_0, leg_1 = scene.craft.legs
    position = lander.position
    velocity = lander.linearVelocity
    push = lander.ApplyLinearImpulse
    scale = game.SCALE
    fps = game.FPS
    main = game.MAIN_ENGINE_POWER
    side = game.SIDE_ENGINE_POWER
    half_width = game.VIEWPORT_W / scale / 2
    half_height = game.VIEWPORT_H / scale / 2
    below = game.MAIN_ENGINE_Y_LOCATION / scale
    aside = game.SIDE_ENGINE_AWAY / scale
    height = game.SIDE_ENGINE_HEIGHT
    seconds = 1.0 / fps
    floor = game.VIEWPORT_H / scale / 4 + game.LEG_DOWN / scale
    advance = scene.world.Step
    draw = _dispersions(scene.random, scale).__next__
    at_x = position.x
    at_y = position.y
    angle = lander.angle
    shaping = 0.0
    result: tuple[list[float], float, bool] = ([], 0.0, False)
    while True:
        action = yield result
        s = sin(angle)
        c = cos(angle)
        along = draw()
        across = draw()
        fuel = 0.0
        if action == 2:
            fuel = 0.3
            arm = below + 2 * along
            x, y = s * arm - c * across, -c * arm - s * across
            push((-x * main, -y * main), (at_x + x, at_y + y), True)
        elif action in (1, 3):
            fuel = 0.03
            arm = 3 * across + (aside if action == 3 else -aside)
            x, y = s * along - c * arm, -c * along - s * arm
            push((-x * side, -y * side), (at_x + x - s * 17 / scale, at_y + y + c * height / scale), True)
        elif action != 0:
            raise ValueError(f"action = {action!r}: must be 0, 1, 2 or 3")
        advance(seconds, 180, 60)
        at_x = position.x
        at_y = position.y
        angle = lander.angle
        x, y = (at_x - half_width) / half_width, (at_y - floor) / half_height
        dx, dy = velocity.x * half_width / fps, velocity.y * half_height / fps
        on_0 = 1.0 if leg_0.ground_contact else 0.0
        on_1 = 1.0 if leg_1.ground_contact else 0.0
        before = shaping
        shaping = -100 * sqrt(x * x + y * y) - 100 * sqrt(dx * dx + dy * dy) - 100 * abs(angle) + 10 * on_0 + 10 * on_1
        reward = shaping - before - fuel
        over = False
        if craft.game_over or abs(x) >= 1.0:
            reward = -100.0
            over = True
        if not lander.awake:
            reward = 100.0
            over = True
        result = [x, y, dx, dy, angle, 20.0 * lander.angularVelocity / fps, on_0, on_1], reward, over


def _dispersions(random: np.random.Generator, scale: float) -> Iterator[float]:
    """The engines' random offsets: the numbers that `random.uniform(-1.0, 1.0) / scale` gives one by one."""
    while True:
        yield from (random.uniform(-1.0, 1.0, DRAWN_AT_ONCE) / scale).tolist()


def _pass(_contact: object, _detail: object) -> None:
    """Nothing to do."""
