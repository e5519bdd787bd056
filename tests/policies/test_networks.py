"""Networks act in NumPy as they learn in torch, a row at a time to the last bit, from given numbers alone."""

import copy

import numpy as np
import pytest
import torch
from gymnasium import spaces
from scipy.special import ndtri
from torch import nn
from torch.distributions import Categorical, Independent, Normal

from steadyrl.envs.spaces import choices
from steadyrl.ground import streams
from steadyrl.policies import Policy
from steadyrl.policies._forward import ACTIVATIONS, dense
from steadyrl.policies.modules import ModulePolicy
from steadyrl.policies.networks import CategoricalNetwork, GaussianNetwork
from steadyrl.policies.values import ValueNetwork
from steadyrl.rollouts import collect

torch.set_num_threads(1)

OBSERVATIONS = {
    "box": spaces.Box(-5, 5, (8,)),
    "picture": spaces.Box(0, 255, (3, 4, 2), np.uint8),
    "doubles": spaces.Box(-np.inf, np.inf, (18,), np.float64),
    "discrete": spaces.Discrete(7, start=-2),
    "multidiscrete": spaces.MultiDiscrete([3, 4, 2], start=[1, 0, -1]),
    "multibinary": spaces.MultiBinary([2, 3]),
}
ACTIONS = {
    "discrete": spaces.Discrete(4),
    "from three": spaces.Discrete(5, start=3),
    "multidiscrete": spaces.MultiDiscrete([[2, 3], [4, 2]], start=[[0, 1], [0, -2]]),
    "multibinary": spaces.MultiBinary([2, 2]),
    "box": spaces.Box(-1, 1, (6,)),
    "torques": spaces.Box(np.array([[-2.0], [0.0]]), np.array([[2.0], [100.0]]), dtype=np.float64),
    "unbounded": spaces.Box(-np.inf, np.inf, (2,)),
}
DISCRETE = ("discrete", "from three", "multidiscrete", "multibinary")
BOXES = ("box", "torques", "unbounded")
SMALL = {"hidden": (16, 16)}
rng = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _the_same_numbers_in_every_test():
    rng.bit_generator.state = np.random.default_rng(0).bit_generator.state


def make(observation_space, action_space, **options):
    network = GaussianNetwork if isinstance(action_space, spaces.Box) else CategoricalNetwork
    return network(observation_space, action_space, **(SMALL | options))


def some(space, k):
    """k observations, or actions, of a space, as a Batch has them."""
    return own(space, k) - getattr(space, "start", np.int8(0))


def own(space, k):
    """k observations, or actions, of a space, as the environment has them."""
    if isinstance(space, spaces.Box) and np.dtype(space.dtype).kind == "f":
        return rng.normal(size=(k, *space.shape)).astype(space.dtype)
    space.seed(int(rng.integers(2**31)))
    return np.stack([space.sample() for _ in range(k)])


def forward(policy, observations):
    with torch.no_grad():
        return policy(policy.features.tensor(observations, policy.dtype)).numpy()


# ---- the forward pass


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 1, 1), (5, 3, 4), (33, 18, 7), (40, 130, 33)])
def test_a_dense_layer_adds_first_input_to_last_and_in_no_other_order(dtype, shape):
    k, inputs, outputs = shape
    x, weight = rng.normal(size=(k, inputs)).astype(dtype), rng.normal(size=(inputs, outputs)).astype(dtype)
    bias = rng.normal(size=outputs).astype(dtype)
    expected = np.repeat(bias[None], k, axis=0)
    for i in range(inputs):
        expected = expected + x[:, i, None] * weight[i]
    np.testing.assert_array_equal(dense(x, weight, bias, False), expected)
    np.testing.assert_array_equal(dense(x, weight, bias, True), np.maximum(expected, 0))


def test_a_nan_stays_a_nan():
    x = np.full((1, 2), np.nan, dtype=np.float32)
    assert np.isnan(dense(x, np.ones((2, 3), np.float32), np.zeros(3, np.float32), True)).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("observation_space", OBSERVATIONS.values(), ids=OBSERVATIONS)
def test_acting_and_learning_see_the_same_outputs(observation_space, activation, dtype):
    policy = make(observation_space, ACTIONS["discrete"], activation=activation, dtype=dtype)
    observations = some(observation_space, 30)
    outputs, reference = policy.outputs(observations), forward(policy, observations)
    assert outputs.dtype == reference.dtype == {torch.float32: np.float32, torch.float64: np.float64}[dtype]
    scale = max(1.0, np.abs(reference).max())
    np.testing.assert_allclose(outputs / scale, reference / scale, atol=1e-6 if dtype == torch.float32 else 1e-14)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("action_space", ACTIONS.values(), ids=ACTIONS)
def test_an_action_has_the_same_bits_whatever_is_beside_it(action_space, activation, dtype):
    observation_space = OBSERVATIONS["doubles"]
    policy = make(observation_space, action_space, activation=activation, dtype=dtype, hidden=(128, 33))
    observations, uniforms = some(observation_space, 80), rng.random((80, policy.uniforms_per_action))
    outputs, actions = policy.outputs(observations[:64]), policy.act(observations[:64], uniforms[:64])
    for k in range(1, 65):
        for first in (0, 64 - k):
            rows = slice(first, first + k)
            np.testing.assert_array_equal(policy.outputs(observations[rows]), outputs[rows])
            np.testing.assert_array_equal(policy.act(observations[rows], uniforms[rows]), actions[rows])


@pytest.mark.parametrize("env", ["CartPole-v1", "Pendulum-v1"])
def test_an_episode_does_not_depend_on_how_many_are_played_beside_it(env):
    discrete = env == "CartPole-v1"
    observation_space = spaces.Box(-np.inf, np.inf, (4 if discrete else 3,))
    policy = make(observation_space, spaces.Discrete(2) if discrete else spaces.Box(-2, 2, (1,)), hidden=(64, 64))
    batches = [collect(policy, env, n=9, seed=3, width=width, limit=60) for width in (1, 4, 9)]
    for batch in batches[1:]:
        np.testing.assert_array_equal(batch.observations, batches[0].observations)
        np.testing.assert_array_equal(batch.actions, batches[0].actions)


def test_acting_follows_the_parameters_wherever_they_go():
    observation_space = OBSERVATIONS["box"]
    policy, observations = make(observation_space, ACTIONS["box"]), some(observation_space, 5)

    def check(policy):
        np.testing.assert_allclose(policy.outputs(observations), forward(policy, observations), atol=1e-6)
        return policy.outputs(observations)

    first = check(policy)
    optimiser = torch.optim.Adam(policy.parameters(), lr=0.1)
    policy.log_prob(observations, some(ACTIONS["box"], 5)).sum().backward()
    optimiser.step()
    assert not np.allclose(check(policy), first, atol=1e-3)
    twin = copy.deepcopy(policy)
    assert twin.layers.get_submodule("0")._views is None  # it would be a copy, and nothing would keep its address
    np.testing.assert_array_equal(check(twin), check(policy))
    with torch.no_grad():
        twin.layers.get_parameter("0.weight").mul_(2)
    assert not np.allclose(check(twin), check(policy), atol=1e-3)
    policy.load_state_dict(twin.state_dict(), assign=True)
    np.testing.assert_array_equal(check(twin), check(policy))
    flat = nn.utils.parameters_to_vector(policy.parameters())
    nn.utils.vector_to_parameters(0.5 * flat, policy.parameters())
    assert not np.allclose(check(twin), check(policy), atol=1e-3)
    assert check(policy.double()).dtype == np.float64


# ---- drawing


@pytest.mark.parametrize("action_space", [ACTIONS[name] for name in DISCRETE], ids=DISCRETE)
def test_discrete_actions_come_as_often_as_their_probabilities_say(action_space):
    observation_space, n = OBSERVATIONS["box"], 40_000
    policy = make(observation_space, action_space, output_gain=5.0)
    observation = some(observation_space, 1)
    actions = policy.act(np.repeat(observation, n, axis=0), rng.random((n, policy.uniforms_per_action)))
    assert actions.dtype == action_space.dtype
    assert all(action_space.contains(action) for action in actions[:100] + getattr(action_space, "start", np.int8(0)))
    logits = forward(policy, observation)[0]
    for d, count in enumerate(policy.head.counts):
        part, logits = logits[:count], logits[count:]
        p = np.exp(part - part.max()) / np.exp(part - part.max()).sum()
        share = np.bincount(actions.reshape(n, -1)[:, d], minlength=count) / n
        assert (np.abs(share - p) <= 5 * np.sqrt(p * (1 - p) / n)).all()


def test_even_numbers_give_every_action_its_exact_share():
    policy = make(OBSERVATIONS["box"], ACTIONS["discrete"])
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.zero_()
        policy.layers.get_parameter("2.bias").copy_(torch.tensor([0.1, 0.2, 0.3, 0.4]).log())
    u = (np.arange(1000) + 0.5)[:, None] / 1000
    actions = policy.act(np.zeros((1000, 8), np.float32), u)
    np.testing.assert_array_equal(np.bincount(actions), [100, 200, 300, 400])


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("tanh", [True, False])
@pytest.mark.parametrize("action_space", [ACTIONS[name] for name in BOXES], ids=BOXES)
def test_real_actions_are_normal_about_their_mean(action_space, tanh, scale):
    observation_space, n = OBSERVATIONS["box"], 40_000
    policy = make(
        observation_space,
        action_space,
        tanh_mean=tanh,
        scale_to_bounds=scale,
        initial_log_std=-0.5,
        dtype=torch.float64,
    )
    observation = some(observation_space, 1)
    m = forward(policy, observation).reshape(action_space.shape)
    m = np.tanh(m) if tanh else m
    bounded = scale & np.isfinite(action_space.low) & np.isfinite(action_space.high)
    half = np.where(bounded, (action_space.high.astype(float) - action_space.low) / 2, 1.0)
    mean = np.where(bounded, action_space.low + half, 0.0) + half * m
    std = half * np.exp(-0.5)
    u = rng.random((n, policy.uniforms_per_action))
    actions = policy.act(np.repeat(observation, n, axis=0), u)
    np.testing.assert_allclose(actions, mean + std * ndtri(u).reshape(n, *action_space.shape), rtol=1e-6, atol=1e-6)
    assert (np.abs(actions.mean(axis=0) - mean) <= 5 * std / np.sqrt(n)).all()
    assert (np.abs(actions.var(axis=0) / std**2 - 1) <= 5 * np.sqrt(2 / n)).all()
    assert actions.dtype == action_space.dtype


# ---- what is differentiated


@pytest.mark.parametrize("observation_space", OBSERVATIONS.values(), ids=OBSERVATIONS)
@pytest.mark.parametrize("action_space", [ACTIONS[name] for name in DISCRETE], ids=DISCRETE)
def test_log_prob_and_entropy_of_discrete_actions_are_torchs(observation_space, action_space):
    policy = make(observation_space, action_space, dtype=torch.float64, output_gain=4.0)
    observations, actions = some(observation_space, 15), some(action_space, 15)
    logits, index = torch.tensor(forward(policy, observations)), actions.reshape(15, -1)
    parts = [Categorical(logits=part) for part in logits.split(policy.head.counts, dim=-1)]
    expected = sum(part.log_prob(torch.tensor(index[:, d])) for d, part in enumerate(parts))
    torch.testing.assert_close(policy.log_prob(observations, actions), expected, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(policy.entropy(observations), sum(part.entropy() for part in parts))
    padded = observations.reshape(3, 5, *observation_space.shape), actions.reshape(3, 5, *action_space.shape)
    for array in padded:
        array.setflags(write=False)  # as a Batch has them
    torch.testing.assert_close(policy.log_prob(*padded), expected.reshape(3, 5))
    assert policy.entropy(padded[0]).shape == (3, 5)


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("tanh", [True, False])
@pytest.mark.parametrize("action_space", [ACTIONS[name] for name in BOXES], ids=BOXES)
def test_log_prob_and_entropy_of_real_actions_are_torchs(action_space, tanh, scale):
    observation_space = OBSERVATIONS["doubles"]
    policy = make(observation_space, action_space, dtype=torch.float64, tanh_mean=tanh, scale_to_bounds=scale)
    observations, u = some(observation_space, 15), rng.random((15, policy.uniforms_per_action))
    middle = policy.act(observations, np.full_like(u, 0.5))
    upper = policy.act(observations, np.full_like(u, 0.975))
    std = (upper - middle).reshape(15, -1)[0] / ndtri(0.975)
    law = Independent(Normal(torch.tensor(middle.reshape(15, -1), dtype=torch.float64), torch.tensor(std)), 1)
    actions = policy.act(observations, u)
    expected = law.log_prob(torch.tensor(actions.reshape(15, -1), dtype=torch.float64))
    torch.testing.assert_close(policy.log_prob(observations, actions), expected, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(policy.entropy(observations), law.entropy(), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(
        policy.log_prob(observations.reshape(3, 5, 18), actions.reshape(3, 5, *action_space.shape)),
        policy.log_prob(observations, actions).reshape(3, 5),
    )


@pytest.mark.parametrize("action_space", ACTIONS.values(), ids=ACTIONS)
def test_every_parameter_gets_the_gradient_of_finite_differences(action_space):
    observation_space = OBSERVATIONS["box"]
    policy = make(observation_space, action_space, dtype=torch.float64, hidden=(5,), activation="tanh")
    observations, actions = some(observation_space, 6), some(action_space, 6)
    names, values = zip(*policy.named_parameters(), strict=True)

    def score(*parameters):
        outputs = torch.func.functional_call(policy, dict(zip(names, parameters, strict=True)), torch.tensor(seen_as))
        return policy.head.log_prob(outputs, actions), policy.head.entropy(outputs)

    seen_as = observations.astype(np.float64)
    assert torch.autograd.gradcheck(score, values)
    policy.log_prob(observations, actions).sum().backward()
    assert all(value.grad is not None and value.grad.abs().sum() > 0 for value in values)


# ---- prediction


@pytest.mark.parametrize("observation_space", OBSERVATIONS.values(), ids=OBSERVATIONS)
@pytest.mark.parametrize("action_space", ACTIONS.values(), ids=ACTIONS)
def test_predict_takes_one_observation_or_many(observation_space, action_space):
    policy = (
        make(observation_space, action_space, initial_log_std=1.0)
        if isinstance(action_space, spaces.Box)
        else make(observation_space, action_space)
    )
    assert isinstance(policy, Policy)
    observations = own(observation_space, 6)
    for options in ({}, {"deterministic": False, "rng": 5}):
        many = policy.predict(observations, **options)
        assert all(action_space.contains(np.asarray(action, dtype=action_space.dtype)) for action in many)
        one = policy.predict(observations[0], **options)
        np.testing.assert_array_equal(one, many[0])
        assert isinstance(one, int) == isinstance(action_space, spaces.Discrete)
    if not isinstance(action_space, spaces.Box):
        batch = (
            observations - getattr(observation_space, "start", 0),
            policy.predict(observations) - getattr(action_space, "start", 0),
        )
        assert (policy.log_prob(*batch) >= -policy.entropy(batch[0])).all()
    again = np.random.default_rng(5)
    np.testing.assert_array_equal(policy.predict(observations, False, again), many)
    drawn = [policy.predict(observations, False, again).tolist() for _ in range(20)]
    assert any(d != drawn[0] for d in drawn)


def test_the_mean_reaches_the_bounds_or_stays_within_one_as_asked():
    observation_space, action_space = OBSERVATIONS["box"], spaces.Box(-3, 3, (1,))
    for scale, reach in ((True, 3.0), (False, 1.0)):
        policy = make(observation_space, action_space, scale_to_bounds=scale)
        with torch.no_grad():
            policy.layers.get_parameter("2.bias").fill_(50.0)
        assert policy.predict(np.zeros(8)) == pytest.approx([reach])


def test_act_does_not_clip_and_predict_does():
    observation_space, action_space = OBSERVATIONS["box"], spaces.Box(-0.1, 0.1, (1,))
    policy = make(observation_space, action_space, scale_to_bounds=False, initial_log_std=3.0)
    drawn = policy.act(some(observation_space, 50), rng.random((50, 1)))
    assert np.abs(drawn).max() > 1
    assert np.abs(policy.predict(some(observation_space, 50), False, 0)).max() == np.float32(0.1)


# ---- beginnings


def test_initial_weights_are_a_function_of_the_seed_alone():
    observation_space, action_space = OBSERVATIONS["box"], ACTIONS["discrete"]
    before = torch.get_rng_state()
    policies = [make(observation_space, action_space, seed=seed) for seed in (0, 0, 1)]
    torch.testing.assert_close(torch.get_rng_state(), before, rtol=0, atol=0)
    zero, again, one = (nn.utils.parameters_to_vector(p.parameters()) for p in policies)
    assert torch.equal(zero, again)
    assert not torch.isclose(zero, one).any()
    draw = streams.generator(0, streams.INITIAL)
    bound = 1 / np.sqrt(8)
    expected = draw.uniform(-bound, bound, (8, 16)).astype(np.float32)
    np.testing.assert_array_equal(policies[0].layers.get_parameter("0.weight").detach(), expected)
    for layer, inputs in ((0, 8), (1, 16), (2, 16)):
        for name in ("weight", "bias"):
            values = policies[0].layers.get_parameter(f"{layer}.{name}").abs()
            assert 0.5 / np.sqrt(inputs) < values.max() <= 1 / np.sqrt(inputs)
    double = nn.utils.parameters_to_vector(make(observation_space, action_space, dtype=torch.float64).parameters())
    assert torch.equal(double.float(), zero)
    assert not torch.isclose(
        ValueNetwork(observation_space, **SMALL).layers.get_parameter("0.weight").view(-1), zero[:128]
    ).any()


def test_the_output_gain_shrinks_the_last_layer_alone():
    observation_space, action_space = OBSERVATIONS["box"], ACTIONS["box"]
    full, tenth = (
        make(observation_space, action_space).state_dict(),
        make(observation_space, action_space, output_gain=0.1).state_dict(),
    )
    for name, value in full.items():
        torch.testing.assert_close(tenth[name], 0.1 * value if name.startswith("layers.2") else value)
    assert torch.equal(full["head.log_std"], torch.full((6,), -1.0))


def test_the_defaults_are_the_networks_of_the_paper():
    policy = CategoricalNetwork(OBSERVATIONS["box"], ACTIONS["discrete"])
    shapes = [tuple(p.shape) for p in policy.parameters()]
    assert shapes == [(8, 128), (128,), (128, 128), (128,), (128, 4), (4,)]
    assert policy.layers.activation == "relu"
    linear = make(OBSERVATIONS["discrete"], ACTIONS["discrete"], hidden=())
    assert [tuple(p.shape) for p in linear.parameters()] == [(7, 4), (4,)]


# ---- values


@pytest.mark.parametrize("observation_space", OBSERVATIONS.values(), ids=OBSERVATIONS)
def test_values_in_numpy_are_those_in_torch(observation_space):
    value, observations = ValueNetwork(observation_space, dtype=torch.float64), some(observation_space, 70)
    with torch.no_grad():
        expected = value(observations).numpy()
    np.testing.assert_allclose(value.predict(observations), expected, rtol=1e-12, atol=1e-13)
    shaped = observations.reshape(7, 10, *observation_space.shape)
    np.testing.assert_array_equal(value.predict(shaped), value.predict(observations).reshape(7, 10))
    for k in (1, 2, 31, 33):
        np.testing.assert_array_equal(value.predict(observations[:k]), value.predict(observations)[:k])
    assert value(shaped).shape == (7, 10)
    value(shaped).sum().backward()
    assert all(p.grad is not None for p in value.parameters())


class Doubled(ValueNetwork):
    def forward(self, observations):
        return 2 * super().forward(observations)


VALUES = {
    "linear": lambda: ValueNetwork(OBSERVATIONS["box"], hidden=()),
    "one layer": lambda: ValueNetwork(OBSERVATIONS["discrete"], hidden=(7,)),
    "the paper's": lambda: ValueNetwork(OBSERVATIONS["box"]),
    "float64": lambda: ValueNetwork(OBSERVATIONS["box"], hidden=(9, 5, 3), dtype=torch.float64),
    "tanh": lambda: ValueNetwork(OBSERVATIONS["box"], activation="tanh"),
    "frozen in part": lambda: frozen(ValueNetwork(OBSERVATIONS["box"], hidden=(7,))),
    "of one's own": lambda: Doubled(OBSERVATIONS["box"]),
    "normed": lambda: normed(ValueNetwork(OBSERVATIONS["box"], hidden=(7,))),
}


def normed(value):
    nn.utils.parametrizations.spectral_norm(value.layers.get_submodule("0"))  # puts the bias before the weight
    return value.eval()


def frozen(value):
    value.layers.get_parameter("0.bias").requires_grad_(False)
    return value


@pytest.mark.parametrize("make_value", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("k", [1, 30, 89, 500])
def test_the_gradient_of_the_squared_error_is_autograds_to_the_bit(make_value, k):
    value = make_value()
    observations, targets = some(value.observation_space, k), torch.randn(k, dtype=value.dtype)
    loss, gradient = value.squared_error(observations, targets)
    expected = (value(observations) - targets).square().mean()
    trained = [one for one in value.parameters() if one.requires_grad]
    assert loss == float(expected.detach())
    for one, other in zip(gradient, torch.autograd.grad(expected, trained), strict=True):
        assert torch.equal(one, other)
    assert any(one.abs().max() > 0 for one in gradient)


# ---- a module of the user's own


class Picture(nn.Module):
    def __init__(self, outputs):
        super().__init__()
        self.convolution, self.last = nn.Conv2d(3, 4, 2), nn.Linear(12, outputs)

    def forward(self, x):
        return self.last(torch.relu(self.convolution(x)).flatten(1))


@pytest.mark.parametrize("action_space", ACTIONS.values(), ids=ACTIONS)
def test_a_module_of_ones_own_is_a_policy(action_space):
    observation_space = OBSERVATIONS["picture"]
    policy = ModulePolicy(
        Picture(int(choices(action_space).sum() or np.prod(action_space.shape))), observation_space, action_space
    )
    assert isinstance(policy, Policy)
    observations, u = some(observation_space, 12), rng.random((12, policy.uniforms_per_action))
    actions = policy.act(observations, u)
    for k in range(1, 12):
        np.testing.assert_array_equal(policy.act(observations[:k], u[:k]), actions[:k])
    one = policy.log_prob(observations, actions)
    shaped = policy.log_prob(
        observations.reshape(3, 4, *observation_space.shape), actions.reshape(3, 4, *action_space.shape)
    )
    torch.testing.assert_close(shaped, one.reshape(3, 4))
    one.sum().backward()
    assert all(p.grad is not None for p in policy.parameters())
    assert np.shape(policy.predict(observations[0])) == action_space.shape
    many = ModulePolicy(policy.module, observation_space, action_space, block=32)
    np.testing.assert_allclose(many.outputs(observations), policy.outputs(observations), rtol=1e-4, atol=1e-4)


def test_a_module_is_a_policy_with_the_log_prob_of_the_network_it_copies():
    observation_space, action_space = OBSERVATIONS["multidiscrete"], spaces.Box(-1, 1, (2,))
    network = make(observation_space, action_space, hidden=(), tanh_mean=False, dtype=torch.float64)
    module = nn.Linear(9, 2, dtype=torch.float64)
    with torch.no_grad():
        module.weight.copy_(network.layers.get_parameter("0.weight").T)
        module.bias.copy_(network.layers.get_parameter("0.bias"))
    policy = ModulePolicy(module, observation_space, action_space, block=5)
    observations, actions = some(observation_space, 7), some(action_space, 7)
    torch.testing.assert_close(policy.log_prob(observations, actions), network.log_prob(observations, actions))
    u = rng.random((7, 2))
    np.testing.assert_allclose(policy.act(observations, u), network.act(observations, u), rtol=1e-6)


# ---- refusals

WRONG = {
    "an empty Dict": (lambda: make(spaces.Dict(), ACTIONS["discrete"]), "at least one number"),
    "no observation": (lambda: make(spaces.Box(0, 1, (0,)), ACTIONS["discrete"]), "at least one number"),
    "Box for logits": (
        lambda: CategoricalNetwork(OBSERVATIONS["box"], ACTIONS["box"]),
        "must be Discrete, MultiDiscrete or MultiBinary for a softmax",
    ),
    "Discrete for means": (
        lambda: GaussianNetwork(OBSERVATIONS["box"], ACTIONS["discrete"]),
        "must be a Box of real numbers for a normal distribution",
    ),
    "whole numbers": (lambda: make(OBSERVATIONS["box"], OBSERVATIONS["picture"]), "or a Box of real numbers"),
    "hidden": (lambda: make(OBSERVATIONS["box"], ACTIONS["box"], hidden=(8, 0)), r"hidden = \(8, 0\): must be whole"),
    "activation": (lambda: make(OBSERVATIONS["box"], ACTIONS["box"], activation="step"), "must be one of relu, tanh"),
    "gain": (lambda: make(OBSERVATIONS["box"], ACTIONS["box"], output_gain=np.nan), "output_gain = nan"),
    "log std": (lambda: make(OBSERVATIONS["box"], ACTIONS["box"], initial_log_std=np.inf), "initial_log_std = inf"),
    "dtype": (lambda: make(OBSERVATIONS["box"], ACTIONS["box"], dtype=torch.float16), "dtype = torch.float16"),
    "dropout": (
        lambda: ModulePolicy(nn.Sequential(nn.Dropout()), OBSERVATIONS["box"], ACTIONS["box"]),
        "module.0: Dropout",
    ),
    "block": (lambda: ModulePolicy(nn.Linear(8, 6), OBSERVATIONS["box"], ACTIONS["box"], block=0), "block = 0"),
    "too few outputs": (
        lambda: ModulePolicy(nn.Linear(8, 5), OBSERVATIONS["box"], ACTIONS["box"]).predict(np.zeros(8)),
        r"the module gave \(1, 5\) for \(1, 8\): must give \(1, 6\)",
    ),
    "a tuple of outputs": (
        lambda: ModulePolicy(nn.LSTM(8, 6), OBSERVATIONS["box"], ACTIONS["box"]).predict(np.zeros(8)),
        "the module gave a tuple",
    ),
}


@pytest.mark.parametrize(("wrong", "message"), WRONG.values(), ids=WRONG)
def test_what_no_policy_can_do_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()


def test_observations_and_actions_that_do_not_fit_are_refused():
    policy, u = make(OBSERVATIONS["box"], ACTIONS["from three"]), rng.random((2, 1))
    with pytest.raises(ValueError, match=r"observations of shape \(2, 7\): must be \(k, 8\)"):
        policy.act(np.zeros((2, 7)), u)
    with pytest.raises(ValueError, match=r"observations of shape \(7,\): must be \(\.\.\., 8\)"):
        policy.entropy(np.zeros(7))
    with pytest.raises(ValueError, match=r"actions of shape \(3,\): must be \(2,\)"):
        policy.log_prob(np.zeros((2, 8)), np.array([3, 3, 3]))
    with pytest.raises(ValueError, match=r"actions outside Discrete\(5\): must be counted from 0, as a Batch has them"):
        policy.log_prob(np.zeros((2, 8)), np.array([3, 5]))
    policy = make(OBSERVATIONS["multidiscrete"], ACTIONS["box"])
    with pytest.raises(ValueError, match=r"observation \[1 4 0\]: must be in MultiDiscrete\(\[3 4 2\]\), as a Batch"):
        policy.entropy(np.array([[1, 0, 0], [1, 4, 0]]))
    with pytest.raises(ValueError, match=r"observation \[-1  0  0\]: must be in MultiDiscrete"):
        policy.act(np.array([[-1, 0, 0]]), rng.random((1, 6)))
    with pytest.raises(ValueError, match=r"observation = \[0 0 0\]: must be in MultiDiscrete\(.*start=\[ 1  0 -1\]\)"):
        policy.predict(np.zeros(3, dtype=int))
    with pytest.raises(ValueError, match="observations of dtype float64: must be whole numbers"):
        make(spaces.Discrete(4), ACTIONS["box"]).predict(2.0)
    with pytest.raises(ValueError, match=r"actions of shape \(2, 5\): must be \(2, 6\)"):
        policy.log_prob(np.array([[1, 0, 0]] * 2), np.zeros((2, 5)))
