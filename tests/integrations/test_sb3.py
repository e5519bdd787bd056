"""Stable-Baselines3's own algorithms with a penalty: the advantages in their buffers, by hand."""

import numpy as np
import pytest
import torch
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from steadyrl.integrations import RolloutPenalty
from steadyrl.integrations.sb3 import RiskAverse
from tests.integrations.scripted import ENVS, GAMMA, STEPS, Scripted, by_hand, script


class Keep(BaseCallback):
    """Keeps the advantages and rewards of each rollout, and what VecNormalize divides by."""

    def __init__(self):
        super().__init__()
        self.advantages = []
        self.rewards = []
        self.observations = []
        self.scales = []
        self.logged = []

    def _on_step(self):
        return True

    def _on_rollout_end(self):
        self.advantages.append(self.model.rollout_buffer.advantages.copy())
        seen = self.model.rollout_buffer.observations.copy()
        self.observations.append(np.concatenate([seen, self.model._last_obs[None]]))
        self.rewards.append(self.model.rollout_buffer.rewards.copy())
        normalize = self.model.get_vec_normalize_env()
        self.scales.append(1.0 if normalize is None else np.sqrt(normalize.ret_rms.var + 1e-8))
        self.logged.append(dict(self.logger.name_to_value))


def envs(normalized=False):
    many = DummyVecEnv([lambda number=number: Scripted(number) for number in range(ENVS)])
    return VecNormalize(many, gamma=GAMMA) if normalized else many


def make(algorithm, env, policy="MlpPolicy", **options):
    return algorithm(policy, env, n_steps=STEPS, gamma=GAMMA, seed=0, device="cpu", **options)


def plain(*arguments, **options):
    """The whole episode's coefficient at each of its steps."""
    return RiskAverse(*arguments, critic_lambda=None, **options)


def parameters(model):
    return torch.cat([p.detach().flatten() for p in model.policy.parameters()])


def contrib():
    package = pytest.importorskip("sb3_contrib", reason="sb3-contrib is not installed")
    return {
        "RecurrentPPO": (package.RecurrentPPO, {"policy": "MlpLstmPolicy", "batch_size": 8}),
        "MaskablePPO": (package.MaskablePPO, {"batch_size": 8}),
        "TRPO": (package.TRPO, {"batch_size": 8}),
    }


def algorithm(name):
    own = {"PPO": (PPO, {"batch_size": 8}), "A2C": (A2C, {})}
    return own[name] if name in own else contrib()[name]


ALL = ("PPO", "A2C", "RecurrentPPO", "MaskablePPO", "TRPO")


@pytest.mark.parametrize("normalized", [False, True], ids=["plain", "VecNormalize"])
@pytest.mark.parametrize("name", ALL)
def test_advantages_are_those_of_sb3_less_lam_times_the_coefficient_of_their_episode(name, normalized):
    cls, options = algorithm(name)
    before, after = Keep(), Keep()
    model = make(cls, envs(normalized), **options)
    model.learn(4 * STEPS * ENVS, callback=[before, plain("gini_deviation", lam=0.7, gamma=GAMMA), after])
    scales = np.array(before.scales)[:, None, None]
    expected = np.array(before.advantages) - 0.7 * by_hand(4) / scales
    np.testing.assert_allclose(np.array(after.advantages), expected, rtol=1e-5, atol=1e-5)
    assert (np.array(before.advantages) != np.array(after.advantages)).mean() > 0.7
    logged = after.logged[-1]
    assert logged["steady/lam"] == 0.7
    assert logged["steady/penalised"] == np.mean(by_hand(4)[-1] != 0)
    assert logged["steady/episodes"] == 9 + 8 + 9  # of lengths 3 5 2 4 ..., 5 2 4 3 ..., 2 4 3 5 ... in 32 steps
    assert logged["steady/variability"] > 0


@pytest.mark.parametrize("normalized", [False, True], ids=["plain", "VecNormalize"])
@pytest.mark.parametrize("name", ALL)
def test_with_its_critic_they_are_those_of_sb3_less_the_shares_that_the_observations_give(name, normalized):
    cls, options = algorithm(name)
    before, after = Keep(), Keep()
    model = make(cls, envs(normalized), **options)
    model.learn(3 * STEPS * ENVS, callback=[before, RiskAverse("gini_deviation", lam=0.7), after])
    penalty = RolloutPenalty("gini_deviation", lam=0.7)  # of plain sums, whatever the model's gamma
    paid = np.array([[r for k in range(20) for r in script(env, k)][: 3 * STEPS] for env in range(ENVS)]).T
    lasts = [np.cumsum([len(script(env, k)) for k in range(20)]) - 1 for env in range(ENVS)]
    for rollout in range(3):
        for t in range(rollout * STEPS, (rollout + 1) * STEPS):
            penalty.add(paid[t], np.array([t in last for last in lasts]))
        *seen, last_seen = before.observations[rollout]
        expected = before.advantages[rollout] - penalty.take(seen, last_seen) / before.scales[rollout]
        np.testing.assert_allclose(after.advantages[rollout], expected, rtol=1e-4, atol=1e-4)
    assert after.logged[-1]["steady/penalised"] == 1.0


def test_a_decay_that_is_none_is_refused():
    with pytest.raises(ValueError, match=r"critic_lambda = 2: must be from 0 to 1, or None for no critic"):
        RiskAverse(critic_lambda=2)


def test_the_risk_of_a_cost_that_the_environment_tells():
    before, after = Keep(), Keep()
    callback = plain("mean", lam=0.5, of="cost")
    make(A2C, envs()).learn(STEPS * ENVS, callback=[before, callback, after])
    costs = [sum(script(env, 0)) / 2 for env in range(ENVS)]  # of the first episodes: half of what they pay
    difference = before.advantages[0][0] - after.advantages[0][0]
    n = 6  # episodes that end in the rollout; a cost less the mean of the others is n / (n - 1) times that of all
    expected = 0.5 * n / (n - 1) * (costs - np.mean(costs))
    np.testing.assert_allclose(difference - difference.mean(), expected, atol=1e-5)


def test_the_rewards_in_the_buffer_are_not_those_of_the_environment():
    """The trap: where an episode is cut off they carry the value of what would have followed."""
    recorder = Keep()
    make(PPO, envs(), batch_size=8).learn(STEPS * ENVS, callback=recorder)
    rewards = np.array([[r for k in range(9) for r in script(env, k)][:STEPS] for env in range(ENVS)]).T
    assert (
        recorder.rewards[0] != rewards
    ).sum() == 3  # one episode of each environment is cut off in the first rollout


@pytest.mark.parametrize("name", ALL)
def test_with_lam_0_it_is_sb3_to_the_last_bit(name):
    cls, options = algorithm(name)
    plain = make(cls, envs(True), **options).learn(4 * STEPS * ENVS)
    with_it = make(cls, envs(True), **options).learn(4 * STEPS * ENVS, callback=RiskAverse(lam=0.0))
    assert torch.equal(parameters(plain), parameters(with_it))
    averse = make(cls, envs(True), **options).learn(4 * STEPS * ENVS, callback=RiskAverse(lam=1.0))
    assert not torch.equal(parameters(plain), parameters(averse))


def test_training_that_is_continued_with_the_same_callback_knows_the_episodes_under_way():
    recorders, callback = (Keep(), Keep()), plain(gamma=GAMMA, lam=1.0)
    model = make(A2C, envs())
    model.learn(2 * STEPS * ENVS, callback=[recorders[0], callback, recorders[1]])
    model.learn(2 * STEPS * ENVS, callback=[recorders[0], callback, recorders[1]], reset_num_timesteps=False)
    difference = np.array(recorders[0].advantages) - np.array(recorders[1].advantages)
    np.testing.assert_allclose(difference, by_hand(4), atol=1e-5)


def test_a_callback_that_comes_in_later_leaves_out_the_episodes_under_way():
    model = make(A2C, envs())
    model.learn(STEPS * ENVS)
    recorders = Keep(), Keep()
    model.learn(
        STEPS * ENVS,
        callback=[recorders[0], RiskAverse(lam=1.0), recorders[1]],
        reset_num_timesteps=False,
    )
    untouched = recorders[0].advantages[0][0] == recorders[1].advantages[0][0]
    assert untouched.tolist() == [False, True, True]  # after 8 steps: 3 + 5, 5 + 2 + 1 of 4, 2 + 4 + 2 of 3


def test_an_algorithm_with_a_replay_buffer_is_refused():
    with pytest.raises(ValueError, match="DQN learns from a replay buffer"):
        DQN("MlpPolicy", Scripted(0), device="cpu").learn(10, callback=RiskAverse())


def test_the_model_that_is_saved_has_nothing_of_ours(tmp_path):
    model = make(PPO, envs(), batch_size=8).learn(STEPS * ENVS, callback=RiskAverse())
    model.save(tmp_path / "model")
    assert b"steadyrl" not in (tmp_path / "model.zip").read_bytes()
    loaded = PPO.load(tmp_path / "model", device="cpu")
    assert torch.equal(parameters(model), parameters(loaded))
