"""The card that is written beside a saved policy."""

import re

import numpy as np
import pytest
from gymnasium import spaces
from torch import nn

from steadyrl.policies import TabularSoftmax, load_policy, save_policy
from steadyrl.policies.encoders import Encoder
from steadyrl.policies.modules import ModulePolicy
from steadyrl.policies.networks import CategoricalNetwork, GaussianNetwork
from steadyrl.policies.values import ValueNetwork

BOX = spaces.Box(-1, 1, (3,), np.float32)
PICTURE = spaces.Box(0, 255, (16, 16), np.uint8)
ACTIONS = spaces.Discrete(4)


class Last(nn.Module):
    """Features of the user's own."""

    def __init__(self, observation_space):
        super().__init__()
        self.linear = nn.Linear(observation_space.shape[0], 5)

    def forward(self, observations):
        return self.linear(observations)


POLICIES = {
    "table": lambda: TabularSoftmax(np.zeros((5, 4)), first_state=2),
    "network": lambda: CategoricalNetwork(BOX, ACTIONS, hidden=(8, 6)),
    "gaussian": lambda: GaussianNetwork(BOX, BOX),
    "picture": lambda: CategoricalNetwork(PICTURE, ACTIONS),
    "features": lambda: CategoricalNetwork(BOX, ACTIONS, encoder=Encoder(f"{__name__}:Last")),
    "module": lambda: ModulePolicy(nn.Linear(3, 4), BOX, ACTIONS),
}


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_is_saved_with_a_card_whose_own_lines_load_it(name, tmp_path, monkeypatch):
    policy = POLICIES[name]()
    save_policy(policy, tmp_path / "mine.safetensors")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.safetensors", "mine.safetensors.md"]
    text = (tmp_path / "mine.safetensors.md").read_text()
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == ["What it is", "How to use it", "Limits"]
    monkeypatch.chdir(tmp_path)
    observation = 3 if name == "table" else policy.observation_space.sample()
    names = {"observation": observation, "module": nn.Linear(3, 4)}
    exec(re.search(r"```python\n(.*?)```", text, re.DOTALL)[1], names)
    np.testing.assert_array_equal(names["policy"].predict(observation), policy.predict(observation))


def test_it_says_what_the_policy_sees_and_does_and_how_large_it_is(tmp_path):
    save_policy(POLICIES["table"](), tmp_path / "table")
    table = (tmp_path / "table.md").read_text()
    assert "| observations | `Discrete(5, start=2)` |\n| actions | `Discrete(4)` |\n| preferences | 5 x 4 |" in table
    save_policy(POLICIES["network"](), tmp_path / "network")
    network = (tmp_path / "network.md").read_text()
    assert f"| observations | `{BOX}` |\n| actions | `Discrete(4)` |" in network
    assert "| hidden layers | `(8, 6)` |" in network
    assert "[torch]" in network
    assert "[torch]" not in table


def test_it_names_the_class_that_a_loader_imports(tmp_path):
    save_policy(POLICIES["features"](), tmp_path / "policy")
    text = (tmp_path / "policy.md").read_text()
    assert f"| module | `{__name__}:Last` |" in text
    assert "allow_import=True" in text


def test_the_same_policy_has_the_same_card_and_saving_again_renews_it(tmp_path):
    save_policy(POLICIES["network"](), tmp_path / "policy")
    first = (tmp_path / "policy.md").read_bytes()
    save_policy(POLICIES["table"](), tmp_path / "policy")
    assert (tmp_path / "policy.md").read_bytes() != first
    save_policy(POLICIES["network"](), tmp_path / "policy")
    assert (tmp_path / "policy.md").read_bytes() == first
    assert str(tmp_path).encode() not in first


def test_a_value_function_is_no_policy_and_has_no_card(tmp_path):
    save_policy(ValueNetwork(BOX), tmp_path / "value")
    assert [path.name for path in tmp_path.iterdir()] == ["value"]
    load_policy(tmp_path / "value")
