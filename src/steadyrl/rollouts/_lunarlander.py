"""LunarLander, lean: Gymnasium's worlds, stepped without what Gymnasium does around the physics.

Half of a step of Gymnasium's lander is spent outside Box2D: on random numbers drawn one by one, on wrappers, on checks
and on an array for each observation. Here Gymnasium's own `reset` builds each world and the flight goes on from there in
plain floats. Forces, rewards and random numbers come in the same order of operations, so the episodes are the same bit
for bit.
"""

from collections.abc import Generator, Iterator
from math import cos, sin, sqrt
from typing import Any, Final

import gymnasium as gym
import numpy as np
from gymnasium.wrappers import OrderEnforcing, TimeLimit
from numpy.typing import NDArray

from steadyrl.envs._draws import RewardDraws
from steadyrl.envs.lunarlander import EndedRight, LanderReport, touches_ground
from steadyrl.envs.noise import Noise
from steadyrl.envs.risky import RiskyRegion, layers
from steadyrl.rollouts.stepper import Final as LastInfo
from steadyrl.rollouts.stepper import SlotError, Stepped

LANDER: Final = ("gymnasium.envs.box2d.lunar_lander", "LunarLander")
DRAWN_AT_ONCE: Final = 128
"""Random numbers drawn together: one call costs as much as two numbers drawn singly."""

Flight = Generator[tuple[list[float], float, bool], int, None]
"""An episode under way: takes an action, gives the observation, the reward and whether the lander's flight is over."""


class LanderStepper:
    """Slots that are landers of Gymnasium, flown by `_fly`."""

    @staticmethod
    def of(env: gym.Env[Any, Any], width: int) -> "LanderStepper | None":
        """A stepper that plays what the environment would play, or None if it is not such a LunarLander.

        It is one if `lunar_lander` made it: with discrete actions, no wind, no picture, and a noise with a quantile.
        """
        inside = [layer for layer in layers(env) if type(layer) is not OrderEnforcing]
        if [type(layer) for layer in inside[:-1]] != [RiskyRegion, LanderReport, TimeLimit]:
            return None
        risky, _, limit, base = inside
        if (type(base).__module__, type(base).__name__) != LANDER:
            return None
        if base.continuous or base.enable_wind or base.render_mode is not None:
            return None
        if risky.when != "end" or risky.name is not None:
            return None
        if type(risky.where) is not EndedRight or not isinstance(risky.noise, Noise):
            return None
        return LanderStepper(base, risky.where, risky.noise, limit._max_episode_steps, width)

    def __init__(self, base: Any, where: EndedRight, noise: Noise, max_steps: int, width: int) -> None:
        self.observation_space, self.action_space = base.observation_space, base.action_space
        self._landers = [type(base)(gravity=base.gravity) for _ in range(width)]
        self._flights: list[Flight] = [_fly(lander) for lander in self._landers]
        self._seeds = [0] * width
        self._steps = np.zeros(width, dtype=np.int64)
        self._where, self._draws, self._max_steps = where, RewardDraws(noise), max_steps

    def reset(self, slot: int, seed: int) -> NDArray[Any]:
        """Begin an episode in a slot."""
        observation, _ = self._landers[slot].reset(seed=seed)
        self._flights[slot] = flight = _fly(self._landers[slot])
        next(flight)
        self._seeds[slot], self._steps[slot] = seed, 0
        return np.asarray(observation)

    def step(self, slots: NDArray[np.int64], actions: NDArray[Any]) -> Stepped:
        """Step the landers of the given slots, one after the other."""
        flights, results = self._flights, []
        for k, (slot, action) in enumerate(zip(slots.tolist(), actions.tolist(), strict=True)):
            try:
                results.append(flights[slot].send(action))
            except Exception as error:
                raise SlotError(k, error) from error
        states, rewards, ends = zip(*results, strict=True)
        self._steps[slots] += 1
        observations, paid = np.array(states, dtype=np.float32), np.array(rewards)
        terminated, truncated = np.array(ends), self._steps[slots] >= self._max_steps
        finals: list[LastInfo | None] = [None] * len(slots)
        for k in np.flatnonzero(terminated | truncated).tolist():
            final = self._report(int(slots[k]), observations[k], bool(terminated[k]))
            paid[k] += final["reward_noise"]
            finals[k] = final
        return Stepped(observations, paid, terminated, truncated, finals)

    def close(self) -> None:
        """Close the landers."""
        for lander in self._landers:
            lander.close()

    def _report(self, slot: int, observation: NDArray[Any], terminated: bool) -> dict[str, Any]:
        """What `LanderReport` and `RiskyRegion` say of the last step."""
        lander = self._landers[slot]
        legs = any(touches_ground(leg) for leg in lander.legs)
        side = "left" if observation[0] < 0 else "right"
        report = {
            "side": side,
            "landed": terminated and not lander.lander.awake,
            "leg_contact": legs,
            "grounded": legs or touches_ground(lander.lander),
            "timeout": not terminated,
        }
        risky = self._where(observation, None, report)
        noise = 0.0
        if risky:
            self._draws.reset(self._seeds[slot])
            noise = self._draws.draw()
        share = float(risky)
        return report | {
            "risk_averse": min(1.0 - share, float(side == "left")),
            "risky": risky,
            "reward_noise": noise,
            "risky_share": share,
            "episode_length": int(self._steps[slot]),
        }


def _fly(env: Any) -> Flight:
    """Fly a lander that has just been reset.

    A generator, because its local variables are the quickest place to keep a flight. Box2D's position and velocity are
    views of the body: they are fetched once and read after every step. The order of the operations is Gymnasium's, as
    rounding depends on it.
    """
    from gymnasium.envs.box2d import lunar_lander as game  # noqa: PLC0415  loads Box2D

    lander, (leg_0, leg_1), advance = env.lander, env.legs, env.world.Step
    position, velocity, push = lander.position, lander.linearVelocity, lander.ApplyLinearImpulse
    listener = env.world.contactListener_keepref
    listener.PreSolve = listener.PostSolve = _pass  # they do nothing, but Box2D asks for every contact in every step
    draw = _dispersions(env.np_random, game.SCALE).__next__
    seconds = 1.0 / game.FPS
    half_width, half_height = game.VIEWPORT_W / game.SCALE / 2, game.VIEWPORT_H / game.SCALE / 2
    floor = env.helipad_y + game.LEG_DOWN / game.SCALE
    below, aside = game.MAIN_ENGINE_Y_LOCATION / game.SCALE, game.SIDE_ENGINE_AWAY / game.SCALE
    main, side, height, scale, fps = (
        game.MAIN_ENGINE_POWER,
        game.SIDE_ENGINE_POWER,
        game.SIDE_ENGINE_HEIGHT,
        game.SCALE,
        game.FPS,
    )
    shaping, result = env.prev_shaping, ([0.0], 0.0, False)
    while True:
        action = yield result
        s, c = sin(lander.angle), cos(lander.angle)
        along, across = draw(), draw()
        fuel = 0.0
        if action == 2:
            fuel = 0.3
            arm = below + 2 * along
            x, y = s * arm - c * across, -c * arm - s * across
            push((-x * main, -y * main), (position.x + x, position.y + y), True)
        elif action in (1, 3):
            fuel = 0.03
            arm = 3 * across + (aside if action == 3 else -aside)
            x, y = s * along - c * arm, -c * along - s * arm
            at = (position.x + x - s * 17 / scale, position.y + y + c * height / scale)
            push((-x * side, -y * side), at, True)
        elif action != 0:
            raise ValueError(f"action = {action!r}: must be 0, 1, 2 or 3")
        advance(seconds, 180, 60)
        x, y = (position.x - half_width) / half_width, (position.y - floor) / half_height
        dx, dy = velocity.x * half_width / fps, velocity.y * half_height / fps
        angle = lander.angle
        contact_0, contact_1 = float(leg_0.ground_contact), float(leg_1.ground_contact)
        before = shaping
        shaping = -100 * sqrt(x * x + y * y) - 100 * sqrt(dx * dx + dy * dy) - 100 * abs(angle)
        shaping = shaping + 10 * contact_0 + 10 * contact_1
        reward, over = shaping - before - fuel, False
        if env.game_over or abs(x) >= 1.0:
            reward, over = -100.0, True
        if not lander.awake:
            reward, over = 100.0, True
        result = ([x, y, dx, dy, angle, 20.0 * lander.angularVelocity / fps, contact_0, contact_1], reward, over)


def _dispersions(random: np.random.Generator, scale: float) -> Iterator[float]:
    """The engines' random offsets: the numbers `random.uniform(-1.0, 1.0) / scale` gives one by one."""
    while True:
        yield from (random.uniform(-1.0, 1.0, DRAWN_AT_ONCE) / scale).tolist()


def _pass(_contact: object, _detail: object) -> None:
    """Nothing to do."""
