"""RiskyRegion: noise where the region is, nothing changed elsewhere, an honest account at the end."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import TimeLimit

import steadyrl.envs  # noqa: F401
from steadyrl.envs import Above, Below, Gaussian, MazeEnv, RiskyRegion
from steadyrl.ground import streams


class Line(gym.Env):
    """Walks right by one a step from 0, pays 1 a step, ends at `end`; every reset draws from its own stream."""

    def __init__(self, end=4):
        self.end = end
        self.observation_space = gym.spaces.Box(-100.0, 100.0, (1,), np.float64)
        self.action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed, options=options)
        self.x, self.luck = 0, float(self.np_random.random())
        return np.array([0.0]), {"luck": self.luck}

    def step(self, _action):
        self.x += 1
        return np.array([float(self.x)]), 1, self.x >= self.end, False, {"luck": self.luck}


def play(env, seed=0):
    env.reset(seed=seed)
    steps = []
    while not steps or not (steps[-1][2] or steps[-1][3]):
        steps.append(env.step(0))
    return steps


def draws(noise, seed, n):
    key = streams.key(seed, streams.REWARD_NOISE)
    return [noise.quantile(streams.uniform(key, k)) for k in range(n)]


NOISE = Gaussian(0.0, 3.0)


def test_each_step_in_the_region_gets_the_next_draw():
    steps = play(RiskyRegion(Line(), Above(0, 1.5), NOISE), seed=9)
    first, second, third = draws(NOISE, 9, 3)
    assert [reward for _, reward, *_ in steps] == [1.0, 1.0 + first, 1.0 + second, 1.0 + third]
    assert [info["risky"] for *_, info in steps] == [False, True, True, True]
    assert [info["reward_noise"] for *_, info in steps] == [0.0, first, second, third]
    expected = {"risky_share": 0.75, "risk_averse": 0.25, "episode_length": 4}
    assert expected.items() <= steps[-1][4].items()
    assert all("risk_averse" not in info for *_, info in steps[:-1])


def test_at_the_end_only_the_last_step_is_asked_about():
    asked = []

    def where(observation, action, info):
        asked.append((float(observation[0]), action, info["luck"]))
        return True

    steps = play(RiskyRegion(Line(), where, NOISE, when="end", max_steps=10), seed=9)
    assert [position for position, *_ in asked] == [4.0]
    assert [reward for _, reward, *_ in steps] == [1.0, 1.0, 1.0, 1.0 + draws(NOISE, 9, 1)[0]]
    assert {"risky_share": 1.0, "risk_averse": 0.0, "episode_length": 4}.items() <= steps[-1][4].items()


def test_an_end_outside_the_region_is_risk_averse():
    last = play(RiskyRegion(Line(), Below(0, 0.0), NOISE, when="end", max_steps=10))[-1]
    assert last[1] == 1.0
    assert {"risky": False, "risky_share": 0.0, "risk_averse": 1.0}.items() <= last[4].items()


@pytest.mark.parametrize("limited", [lambda env: (env, 3), lambda env: (TimeLimit(env, 3), None)])
def test_a_truncated_end_is_an_end(limited):
    env, max_steps = limited(Line(end=50))
    steps = play(RiskyRegion(env, Above(0, 2.5), NOISE, when="end", max_steps=max_steps), seed=2)
    assert [truncated for *_, truncated, _ in steps] == [False, False, True]
    assert steps[-1][1] == 1.0 + draws(NOISE, 2, 1)[0]


def test_the_end_must_be_visible():
    with pytest.raises(ValueError, match=r'when = "end": .*Line.* has no TimeLimit inside.*give max_steps'):
        RiskyRegion(Line(), Above(0, 1.0), NOISE, when="end")


def test_an_environment_of_gym_make_has_its_limit_inside():
    env = RiskyRegion(gym.make("CartPole-v1"), Above(0, -9.0), NOISE, when="end")
    assert play(env)[-1][4]["risky"] is True


def test_the_noise_does_not_disturb_the_environments_own_stream():
    plain, risky = Line(), RiskyRegion(Line(), Above(0, 0.0), lambda rng: rng.normal())
    for seed in (3, None, None):
        assert plain.reset(seed=seed)[1] == risky.reset(seed=seed)[1]
        for _ in range(4):
            risky.step(0)


def test_unseeded_episodes_after_a_seed_repeat():
    def noises():
        env = RiskyRegion(Line(), Above(0, 0.0), NOISE)
        return [[info["reward_noise"] for *_, info in play(env, seed)] for seed in (3, None, None)]

    assert noises() == noises()
    assert len({tuple(episode) for episode in noises()}) == 3


def test_stacked_regions_have_noises_of_their_own_and_say_so_by_name():
    inner = RiskyRegion(Line(), Above(0, 0.0), NOISE, name="low")
    last = play(RiskyRegion(inner, Above(0, 3.0), NOISE, name="high"), seed=1)[-1]
    low, high = last[4]["low"], last[4]["high"]
    assert low["reward_noise"] != high["reward_noise"]
    assert last[1] == 1.0 + low["reward_noise"] + high["reward_noise"]
    assert (low["risk_averse"], high["risky_share"], last[4]["risk_averse"]) == (0.0, 0.25, 0.0)


def test_around_the_maze_it_keeps_the_mazes_noise_apart():
    short = [3] * 5 + [0] * 4
    env = RiskyRegion(MazeEnv(Gaussian(0.0, 1.0)), lambda observation, *_: observation == 34, Gaussian(0.0, 1.0))
    env.reset(seed=5)
    steps = [env.step(action) for action in short]
    assert steps[3][1] - steps[3][4]["reward_noise"] == pytest.approx(draws(Gaussian(0.0, 1.0), 5, 1)[0])
    assert steps[3][4]["reward_noise"] != draws(Gaussian(0.0, 1.0), 5, 1)[0]
    assert steps[-1][4]["risk_averse"] == 0.0


def test_what_gymnasium_made_it_can_make_again():
    env = RiskyRegion(gym.make("CartPole-v1"), Above(0, -9.0), NOISE)
    again = gym.make(env.spec)
    assert str(again) == str(env)
    assert [step[1] for step in play(again)] == [step[1] for step in play(env)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"when": "start"}, "when = 'start': must be one of step, end"),
        ({"max_steps": 0}, "max_steps = 0: must be >= 1"),
    ],
)
def test_bad_arguments_are_refused_by_name(arguments, message):
    with pytest.raises(ValueError) as error:
        RiskyRegion(Line(), **{"where": Above(0, 1.0), "noise": NOISE, **arguments})
    assert str(error.value).startswith(message)
