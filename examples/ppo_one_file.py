"""PPO in one file, risk-averse by the nine lines that end with `# steady`.

    python examples/ppo_one_file.py --env steadyrl/TwoRoads-v0 --measure gini_deviation --steadiness 2

Without these lines it is a plain PPO for discrete actions; with `--lam 0` it gives the same numbers as without them.
"""

import argparse

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

import steadyrl.envs  # noqa: F401  the ids of its environments
from steadyrl.integrations import RolloutPenalty  # steady


def arguments(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--env", default="steadyrl/TwoRoads-v0")
    parser.add_argument("--steps", type=int, default=20_000, help="of all environments together")
    parser.add_argument("--envs", type=int, default=16)
    parser.add_argument("--rollout", type=int, default=25, help="steps of each environment before an update")
    parser.add_argument("--gamma", type=float, default=0.99)
    parser.add_argument("--gae", type=float, default=0.95)
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--minibatches", type=int, default=2)
    parser.add_argument("--clip", type=float, default=0.2)
    parser.add_argument("--entropy", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--measure", default="gini_deviation")  # steady
    parser.add_argument("--steadiness", type=float)  # steady
    parser.add_argument("--lam", type=float)  # steady
    return parser.parse_args(words)


class Agent(nn.Module):
    """A policy and a value function."""

    def __init__(self, inputs, actions):
        super().__init__()
        self.policy = nn.Sequential(layer(inputs, 64), nn.Tanh(), layer(64, 64), nn.Tanh(), layer(64, actions, 0.01))
        self.value = nn.Sequential(layer(inputs, 64), nn.Tanh(), layer(64, 64), nn.Tanh(), layer(64, 1, 1.0))

    def forward(self, observations):
        return Categorical(logits=self.policy(observations)), self.value(observations).squeeze(-1)


def layer(inputs, outputs, gain=2.0**0.5):
    linear = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(linear.weight, gain)
    nn.init.zeros_(linear.bias)
    return linear


def make(options):
    def one():
        return gym.wrappers.FlattenObservation(gym.make(options.env))

    return gym.vector.SyncVectorEnv([one] * options.envs, autoreset_mode=gym.vector.AutoresetMode.SAME_STEP)


def tensor(array):
    return torch.as_tensor(np.asarray(array), dtype=torch.float32)


def train(options):
    """The agent, and one line of numbers for each update."""
    torch.manual_seed(options.seed)
    envs = make(options)
    agent = Agent(envs.single_observation_space.shape[0], envs.single_action_space.n)
    optimiser = torch.optim.Adam(agent.parameters(), lr=options.rate, eps=1e-5)
    updates = options.steps // (options.rollout * options.envs)
    how = {"lam": options.lam, "steadiness": options.steadiness, "updates": updates}  # steady
    penalty = RolloutPenalty(options.measure, **how)  # steady
    observation, lines = tensor(envs.reset(seed=options.seed)[0]), []
    for _ in range(updates):
        steps = []
        for _ in range(options.rollout):
            with torch.no_grad():
                policy, value = agent(observation)
                action = policy.sample()
            following, reward, terminated, truncated, info = envs.step(action.numpy())
            ended = terminated | truncated
            penalty.add(reward, ended)  # steady
            paid = reward + options.gamma * (truncated & ~terminated) * last_values(agent, info, ended)
            steps.append((observation, action, policy.log_prob(action), value, tensor(paid), tensor(ended)))
            observation = tensor(following)
        observations, actions, log_probs, values, rewards, ends = (
            torch.stack(part) for part in zip(*steps, strict=True)
        )
        with torch.no_grad():
            advantages = gae(rewards, values, ends, agent(observation)[1], options.gamma, options.gae)
        targets = advantages + values
        advantages = advantages - tensor(penalty.take(observations, observation))  # steady
        improve(agent, optimiser, options, observations, actions, log_probs, advantages, targets)
        lines.append({"reward": rewards.mean().item(), **penalty.logged})  # steady
    return agent, lines


def last_values(agent, info, ended):
    """The value of the observation with which an episode ended, 0 for the others."""
    values = np.zeros(ended.size)
    if ended.any():
        with torch.no_grad():
            values[ended] = agent(tensor(np.stack(info["final_obs"][ended])))[1].numpy()
    return values


def gae(rewards, values, ends, last_value, gamma, decay):
    advantages, ahead = torch.zeros_like(rewards), torch.zeros_like(last_value)
    for t in reversed(range(len(rewards))):
        next_value = last_value if t == len(rewards) - 1 else values[t + 1]
        error = rewards[t] + gamma * next_value * (1 - ends[t]) - values[t]
        ahead = error + gamma * decay * (1 - ends[t]) * ahead
        advantages[t] = ahead
    return advantages


def improve(agent, optimiser, options, *batch):
    """So many passes over the rollout, in mini-batches."""
    observations, actions, log_probs, advantages, targets = (part.flatten(0, 1) for part in batch)
    for _ in range(options.passes):
        for index in torch.randperm(len(actions)).chunk(options.minibatches):
            policy, value = agent(observations[index])
            ratio = (policy.log_prob(actions[index]) - log_probs[index]).exp()
            weight = advantages[index]
            weight = (weight - weight.mean()) / (weight.std() + 1e-8)
            clipped = ratio.clamp(1 - options.clip, 1 + options.clip)
            gain = torch.minimum(ratio * weight, clipped * weight).mean() + options.entropy * policy.entropy().mean()
            loss = 0.5 * (value - targets[index]).square().mean() - gain
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimiser.step()


def main(words=None):
    options = arguments(words)
    agent, lines = train(options)
    for update, line in enumerate(lines):
        print(update, *(f"{name} {value:.4g}" for name, value in line.items()))
    return agent


if __name__ == "__main__":
    main()
