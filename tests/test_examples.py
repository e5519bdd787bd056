"""The examples, run with a tiny budget."""

from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
import torch

EXAMPLES = Path(__file__).parents[1] / "examples"
TINY = ["--steps", "480", "--envs", "4", "--rollout", "20", "--gamma", "1"]


def loaded(name, source):
    module = module_from_spec(spec_from_loader(name, loader=None))
    exec(compile(source, name, "exec"), module.__dict__)
    return module


def weights(agent):
    return torch.cat([p.detach().flatten() for p in agent.parameters()])


def test_ppo_of_one_file_without_its_nine_marked_lines_is_the_plain_ppo_that_lam_0_gives(capsys):
    source = (EXAMPLES / "ppo_one_file.py").read_text(encoding="utf-8")
    lines = source.splitlines()
    plain_lines = [line for line in lines if not line.endswith("  # steady")]
    assert len(lines) - len(plain_lines) == 9
    with_it, plain = loaded("with_it", source), loaded("plain", "\n".join(plain_lines))
    neutral = weights(with_it.main([*TINY, "--lam", "0"]))
    assert torch.equal(neutral, weights(plain.main(TINY)))
    assert not torch.equal(neutral, weights(with_it.main([*TINY, "--lam", "1"])))
    assert "variability" in capsys.readouterr().out


def test_ppo_of_one_file_has_all_of_its_steadiness_at_the_last_of_its_six_rollouts():
    module = loaded("with_it", (EXAMPLES / "ppo_one_file.py").read_text(encoding="utf-8"))
    shares = []

    class Watched(module.RolloutPenalty):
        def take(self, *observations):
            penalties = super().take(*observations)
            shares.append(self.ramp.grown)
            return penalties

    module.RolloutPenalty = Watched
    module.main([*TINY, "--steadiness", "2"])
    assert 0.0 < shares[0] < shares[1] < shares[2] < shares[3] < shares[4] < 1.0
    assert shares[5] == 1.0


def test_ppo_of_one_file_bootstraps_at_a_time_limit():
    module = loaded("with_it", (EXAMPLES / "ppo_one_file.py").read_text(encoding="utf-8"))
    agent, lines = module.train(
        module.arguments(["--env", "CartPole-v1", "--steps", "300", "--envs", "2", "--rollout", "75"])
    )
    assert len(lines) == 2
    assert torch.isfinite(weights(agent)).all()


def test_the_small_car_drives_as_gymnasiums_with_each_action_held_and_every_eighth_picture_small_and_grey():
    pytest.importorskip("Box2D")
    module = loaded("car_racing", (EXAMPLES / "car_racing.py").read_text(encoding="utf-8"))
    small, plain = module.SmallCarRacing(repeat=8), gym.make("CarRacing-v3", continuous=False).unwrapped
    first, _ = small.reset(seed=3)
    picture, _ = plain.reset(seed=3)
    np.testing.assert_array_equal(first, picture[::2, ::2].mean(axis=-1).astype(np.uint8))
    for action in (3, 1):
        seen, reward, *_ = small.step(action)
        steps = [plain.step(action) for _ in range(8)]
        assert small.observation_space.contains(seen)
        np.testing.assert_array_equal(seen, steps[-1][0][::2, ::2].mean(axis=-1).astype(np.uint8))
        assert reward == sum(step[1] for step in steps)
    small.close()
    plain.close()


def test_the_risky_cartpole_pays_1_a_step_on_the_left_and_noise_on_the_right():
    loaded("risky_cartpole", (EXAMPLES / "risky_cartpole.py").read_text(encoding="utf-8"))
    env = gym.make("RiskyCartPole-v0")
    paid = {True: [], False: []}
    for seed in range(20):
        observation, _ = env.reset(seed=seed)
        for _ in range(101):
            observation, reward, terminated, truncated, _ = env.step(int(observation[2] + observation[3] > 0))
            paid[bool(observation[0] > 0.05)].append(reward)
            if terminated or truncated:
                break
        else:
            pytest.fail("an episode has more than 100 steps")
    assert set(paid[False]) == {1.0}
    assert np.std(paid[True]) == pytest.approx(5.0, rel=0.2)
