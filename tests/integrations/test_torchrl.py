"""TorchRL's own collectors, GAE and losses with a penalty: the advantages, by hand, and what is learned from them."""

import warnings

import numpy as np
import pytest
import torch

pytest.importorskip("tensordict", reason="TorchRL is not installed")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # TorchRL's own are not ours to mend
    pytest.importorskip("torchrl", reason="TorchRL is not installed")
    from tensordict import TensorDict
    from tensordict.nn import InteractionType, TensorDictModule
    from torchrl.collectors import Collector
    from torchrl.envs import GymWrapper, SerialEnv
    from torchrl.modules import OneHotCategorical, ProbabilisticActor, ValueOperator
    from torchrl.objectives import ClipPPOLoss, ReinforceLoss
    from torchrl.objectives.value import GAE

from steadyrl.integrations import RolloutPenalty
from steadyrl.integrations.torchrl import RiskAverse
from tests.integrations.scripted import ENVS, GAMMA, STEPS, Scripted, by_hand, script

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore:.*:UserWarning:torchrl", "ignore:.*:FutureWarning"
)


def networks(size):
    torch.manual_seed(0)
    logits = TensorDictModule(torch.nn.Linear(size, 2), in_keys=["observation"], out_keys=["logits"])
    actor = ProbabilisticActor(
        logits,
        in_keys=["logits"],
        distribution_class=OneHotCategorical,
        default_interaction_type=InteractionType.RANDOM,
        return_log_prob=True,
    )
    return actor, ValueOperator(torch.nn.Linear(size, 1), in_keys=["observation"])


def collector(actor, makers, steps, rollouts, **options):
    envs = SerialEnv(len(makers), makers) if len(makers) > 1 else makers[0]()
    return Collector(
        envs, actor, frames_per_batch=steps * len(makers), total_frames=rollouts * steps * len(makers), **options
    )


def scripted_rollouts(count, envs=ENVS, **options):
    """Rollouts of the scripted environments, with the advantages of GAE."""
    actor, critic = networks(2)
    gae = GAE(gamma=GAMMA, lmbda=0.9, value_network=critic)
    makers = [lambda number=number: GymWrapper(Scripted(number)) for number in range(envs)]
    source = collector(actor, makers, STEPS, count, **options)
    try:
        return [gae(rollout.clone()) for rollout in source]
    finally:
        source.shutdown()


def penalties(module, rollouts):
    """What the module takes off the advantages, (rollouts, steps, environments)."""
    differences = []
    for rollout in rollouts:
        before = rollout["advantage"].clone()
        targets = rollout["value_target"].clone()
        assert module(rollout) is rollout
        assert torch.equal(rollout["value_target"], targets)
        differences.append((before - rollout["advantage"]).squeeze(-1).reshape(-1, STEPS).T.numpy())
    return np.array(differences)


def test_advantages_are_those_of_gae_less_lam_times_the_coefficient_of_their_episode():
    module = RiskAverse("gini_deviation", lam=0.7, gamma=GAMMA, critic_lambda=None)
    np.testing.assert_allclose(penalties(module, scripted_rollouts(4)), 0.7 * by_hand(4), atol=1e-5)
    assert module.logged["lam"] == 0.7
    assert module.logged["episodes"] == 9 + 8 + 9
    assert module.logged["penalised"] == np.mean(by_hand(4)[-1] != 0)


def test_with_its_critic_they_are_those_of_gae_less_the_shares_that_the_observations_give():
    rollouts = scripted_rollouts(3)
    penalty = RolloutPenalty("gini_deviation", lam=0.7, gamma=GAMMA)
    expected = []
    for rollout in rollouts:
        paid, ends = (rollout["next", name].squeeze(-1).numpy() for name in ("reward", "done"))
        for t in range(STEPS):
            penalty.add(paid[:, t], ends[:, t])
        seen, after = (one["observation"].transpose(0, 1).numpy() for one in (rollout, rollout["next"]))
        expected.append(penalty.take(seen, after[-1]))
    module = RiskAverse("gini_deviation", lam=0.7, gamma=GAMMA)
    np.testing.assert_allclose(penalties(module, rollouts), expected, rtol=1e-4, atol=1e-4)


def test_what_its_critic_cannot_see_is_named():
    rollout = scripted_rollouts(1)[0]
    with pytest.raises(ValueError, match=r"has no 'pixels': name what the critic sees, .* or give critic_lambda=None"):
        RiskAverse(lam=1.0, gamma=GAMMA, observation="pixels")(rollout)


def test_one_environment_has_no_dimension_of_its_own():
    rollouts = scripted_rollouts(4, envs=1)
    assert rollouts[0].shape == (STEPS,)
    subtracted = penalties(RiskAverse(lam=1.0, gamma=GAMMA, episodes=4, critic_lambda=None), rollouts)
    returns = [sum(GAMMA**t * r for t, r in enumerate(script(0, k))) for k in range(9)]
    assert subtracted[0].any() == (len(returns) < 4)  # two episodes of 3 and 5 steps: too few
    assert subtracted[1:].any()


def test_with_lam_0_nothing_is_changed():
    assert not penalties(RiskAverse(lam=0.0, gamma=GAMMA), scripted_rollouts(2)).any()


def test_time_may_be_the_first_dimension_if_it_is_named():
    plain, turned = scripted_rollouts(4), [rollout.transpose(0, 1) for rollout in scripted_rollouts(4)]
    for rollout in turned:
        rollout.names = ["time", None]
    modules = [RiskAverse(lam=0.7, gamma=GAMMA) for _ in range(2)]
    for one, other in zip(plain, turned, strict=True):
        modules[0](one)
        modules[1](other)
        torch.testing.assert_close(one["advantage"], other["advantage"].transpose(0, 1))


def test_an_episode_that_a_collector_drops_is_not_continued_by_the_next_one():
    rollouts = scripted_rollouts(3, reset_at_each_iter=True)
    module = RiskAverse("mean", lam=1.0, gamma=1.0, of="reward_so_far", episodes=4)
    for rollout in rollouts:
        rollout["next", "reward_so_far"] = rollout["next", "reward"].clone()
        module(rollout)
    open_episodes = [len(rewards) for rewards in module.penalty._rewards]
    last = [(~rollouts[-1]["next", "done"].squeeze(-1)[env]).flip(0).long().cumprod(0).sum() for env in range(ENVS)]
    assert open_episodes == [int(steps) for steps in last]


def test_the_risk_of_a_number_that_the_environment_tells():
    rollouts = scripted_rollouts(1)
    rollouts[0]["next", "cost"] = rollouts[0]["next", "reward"] / 2
    subtracted = penalties(RiskAverse("mean", lam=0.5, of="cost", gamma=GAMMA, critic_lambda=None), rollouts)[0][0]
    costs = [sum(script(env, 0)) / 2 for env in range(ENVS)]
    n = 6  # episodes that end in the rollout
    np.testing.assert_allclose(subtracted - subtracted.mean(), 0.5 * n / (n - 1) * (costs - np.mean(costs)), atol=1e-5)


def test_what_is_missing_is_named():
    rollout = TensorDict({("next", "reward"): torch.zeros(3, 4, 1), ("next", "done"): torch.zeros(3, 4, 1)}, [3, 4])
    with pytest.raises(ValueError, match="the rollout has no 'advantage': call GAE first"):
        RiskAverse(lam=1.0, gamma=1.0)(rollout)
    rollout["advantage"] = torch.zeros(3, 4, 1)
    rollout["collector", "mask"] = torch.ones(3, 4, dtype=torch.bool)
    with pytest.raises(ValueError, match="must not split trajectories"):
        RiskAverse(lam=1.0, gamma=1.0, critic_lambda=None)(rollout)


def bets(actor, rng, n=200):
    """A rollout of n environments of one step: action 0 pays 3, -7 or 13, with a mean of 3; action 1 pays 0.5."""
    observations = torch.ones(n, 1, 1)
    rollout = actor(TensorDict({"observation": observations}, [n, 1])).detach()
    sure = rollout["action"][..., 1:].numpy() == 1
    paid = np.where(sure, 0.5, 3.0 + 10.0 * (rng.integers(3, size=sure.shape) - 1))
    over = torch.ones(n, 1, 1, dtype=torch.bool)
    after = {"observation": observations, "reward": torch.as_tensor(paid, dtype=torch.float32), "done": over}
    rollout["next"] = TensorDict(after | {"terminated": over}, [n, 1])
    return rollout


def share_of_the_sure_thing(loss_class, lam):
    """What the policy has come to after 30 rollouts."""
    actor, critic = networks(1)
    gae, loss = GAE(gamma=1.0, lmbda=1.0, value_network=critic), loss_class(actor, critic)
    averse = RiskAverse("gini_deviation", lam=lam, gamma=1.0)
    optimiser, rng = torch.optim.Adam(loss.parameters(), lr=0.1), np.random.default_rng(0)
    for _ in range(30):
        losses = loss(averse(gae(bets(actor, rng))))
        optimiser.zero_grad()
        sum(value for name, value in losses.items() if name.startswith("loss_")).backward()
        optimiser.step()
    with torch.no_grad():
        return float(actor.get_dist(TensorDict({"observation": torch.ones(1)}, [])).probs[1])


@pytest.mark.parametrize("loss", [ClipPPOLoss, ReinforceLoss])
def test_both_losses_learn_the_sure_thing_with_it_and_not_without(loss):
    """E - 1 D of the gamble is 3 - 4.4, of the sure thing 0.5."""
    assert share_of_the_sure_thing(loss, 1.0) > 0.8
    assert share_of_the_sure_thing(loss, 0.0) < 0.2
