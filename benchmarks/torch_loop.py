"""REINFORCE as a single-file torch script has it: SyncVectorEnv, torch.distributions, nn.Sequential, Adam.

What `benchmarks/training.py` compares with. It does the work of one of our updates: one step on the weighted score of
whole episodes, and one step of the value function for each of them.
"""

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical


def network(inputs, hidden, outputs):
    layers = []
    for size in hidden:
        layers += [nn.Linear(inputs, size), nn.ReLU()]
        inputs = size
    return nn.Sequential(*layers, nn.Linear(inputs, outputs))


def copy_weights(layers, linears):
    """Put the weights of our `Layers`, which are (inputs, outputs), into torch's own, which are (outputs, inputs)."""
    arrays = [value.detach() for value in layers.parameters()]
    with torch.no_grad():
        for k, linear in enumerate(linears):
            linear.weight.copy_(arrays[2 * k].t())
            linear.bias.copy_(arrays[2 * k + 1])


class TorchLoop:
    """One iteration at a time: n whole episodes, then an update; `live_only` steps no episode that is over."""

    def __init__(self, make, n, hidden, gamma, rate, live_only):
        self.n = n
        self.gamma = gamma
        self.live_only = live_only
        self.envs = gym.vector.SyncVectorEnv([make] * n)
        self.single = self.envs.envs
        n_inputs, n_actions = self.envs.single_observation_space.shape[0], int(self.envs.single_action_space.n)
        self.actor, self.critic = network(n_inputs, hidden, n_actions), network(n_inputs, hidden, 1)
        self.actor_step = torch.optim.Adam(self.actor.parameters(), lr=rate)
        self.critic_step = torch.optim.Adam(self.critic.parameters(), lr=rate)

    def iteration(self, seed):
        """Collect and update; how many steps of the n episodes there were."""
        episodes = self.play_live(seed) if self.live_only else self.play_all(seed)
        self.update(episodes)
        return sum(len(rewards) for _, _, rewards in episodes)

    def act(self, observations):
        with torch.no_grad():
            return Categorical(logits=self.actor(observations)).sample()

    def play_all(self, seed):
        """The first episode of each environment; all are stepped until the last of these is over."""
        all_observations = []
        all_actions = []
        all_rewards = []
        lengths = np.zeros(self.n, dtype=int)
        observations, _ = self.envs.reset(seed=seed)
        live = np.ones(self.n, dtype=bool)
        while live.any():
            tensor = torch.tensor(observations)
            actions = self.act(tensor)
            observations, rewards, terminated, truncated, _ = self.envs.step(actions.numpy())
            all_observations.append(tensor)
            all_actions.append(actions)
            all_rewards.append(torch.tensor(rewards, dtype=torch.float32))
            lengths += live
            live &= ~(terminated | truncated)
        all_observations = torch.stack(all_observations, 1)
        all_actions = torch.stack(all_actions, 1)
        all_rewards = torch.stack(all_rewards, 1)
        return [
            (all_observations[i, :t], all_actions[i, :t], all_rewards[i, :t]) for i, t in enumerate(lengths.tolist())
        ]

    def play_live(self, seed):
        """The same episodes without SyncVectorEnv, whose environments are stepped one by one while they are live."""
        observations, all_actions, rewards = ([[] for _ in range(self.n)] for _ in range(3))
        current = {i: env.reset(seed=seed + i)[0] for i, env in enumerate(self.single)}
        while current:
            tensor = torch.tensor(np.stack(list(current.values())))
            actions = self.act(tensor)
            for i, observation, action in zip(list(current), tensor, actions, strict=True):
                observations[i].append(observation)
                all_actions[i].append(action)
                current[i], reward, terminated, truncated, _ = self.single[i].step(int(action))
                rewards[i].append(reward)
                if terminated or truncated:
                    del current[i]
        return [
            (torch.stack(observations[i]), torch.stack(all_actions[i]), torch.tensor(rewards[i], dtype=torch.float32))
            for i in range(self.n)
        ]

    def update(self, episodes):
        targets = [self.reward_to_go(rewards) for _, _, rewards in episodes]
        inputs, actions = torch.cat([e[0] for e in episodes]), torch.cat([e[1] for e in episodes])
        with torch.no_grad():
            values = self.critic(inputs).squeeze(-1)
        discounts = torch.cat([self.gamma ** torch.arange(len(t)) for t in targets])
        weights = discounts * (torch.cat(targets) - values)
        log_prob = Categorical(logits=self.actor(inputs)).log_prob(actions)
        self.descend(self.actor_step, -(weights * log_prob).sum() / self.n)
        for (observations, _, _), target in zip(episodes, targets, strict=True):
            self.descend(self.critic_step, nn.functional.mse_loss(self.critic(observations).squeeze(-1), target))

    def reward_to_go(self, rewards):
        ahead, out = 0.0, []
        for reward in reversed(rewards.tolist()):
            ahead = reward + self.gamma * ahead
            out.append(ahead)
        return torch.tensor(out[::-1])

    @staticmethod
    def descend(optimiser, loss):
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
