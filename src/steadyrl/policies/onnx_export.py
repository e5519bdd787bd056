"""A policy as an ONNX graph: for robots, browsers and whatever else has no Python."""

import logging
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from steadyrl.envs.spaces import categories
from steadyrl.ground.files import write_atomically
from steadyrl.policies.network_policy import NetworkPolicy
from steadyrl.policies.tabular import TabularSoftmax


def export(policy: NetworkPolicy | TabularSoftmax, path: str | Path) -> None:
    """Write a policy's deterministic actions, those of `predict(observations)`, as an ONNX file.

    Its input `observation` is a batch (k, *shape) of the environment's observations, real for Box and MultiBinary and
    int64 for Discrete and MultiDiscrete; of a Dict or a Tuple it is the real vector (k, size) that
    `steadyrl.envs.codecs.ObservationCodec(space).encode` makes of it. Its output `action` is (k, *shape of an action),
    clipped to the bounds for Box actions. k is free.
    """
    missing = [name for name in ("onnx", "onnxscript") if find_spec(name) is None]
    if missing:
        raise ImportError(f'ONNX export needs {" and ".join(missing)}: pip install "steadyrl[onnx]"')
    graph: nn.Module
    if isinstance(policy, TabularSoftmax):
        graph = _Table(policy)
        example = torch.full((2,), policy.first_state)
    else:
        graph = _Likeliest(policy)
        example = _example(policy)
    write_atomically(Path(path), _onnx(graph, example))


class _Likeliest(nn.Module):
    """Observations -> likeliest actions."""

    def __init__(self, policy: NetworkPolicy) -> None:
        super().__init__()
        self.policy = policy

    def forward(self, observation: Tensor) -> Tensor:
        features = self.policy.features
        codec = self.policy.head.codec
        if features.start.any():
            observation = observation - torch.from_numpy(features.start).reshape(features.shape)
        action = self.policy.head.likeliest_tensor(self.policy(observation))
        _, start = categories(codec.space)
        if start.any():
            action = action + torch.from_numpy(start).reshape(codec.space.shape or ())
        return action.to(getattr(torch, str(codec.space.dtype)))


class _Table(nn.Module):
    """States -> likeliest actions."""

    likeliest: Tensor

    def __init__(self, policy: TabularSoftmax) -> None:
        super().__init__()
        self.register_buffer("likeliest", torch.tensor(policy.probabilities().argmax(axis=-1) + policy.first_action))
        self.first_state = policy.first_state

    def forward(self, observation: Tensor) -> Tensor:
        return self.likeliest[observation - self.first_state if self.first_state else observation]


def _example(policy: NetworkPolicy) -> Tensor:
    features = policy.features
    if not features.discrete:
        return torch.zeros(2, *features.shape, dtype=policy.dtype)
    return torch.from_numpy(features.start).reshape(features.shape).repeat(2, *(1 for _ in features.shape))


def _onnx(graph: nn.Module, example: Tensor) -> bytes:
    log = logging.getLogger("torch.onnx")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's exporter warns about itself
            program: Any = torch.onnx.export(
                graph.eval(),
                (example,),
                input_names=["observation"],
                output_names=["action"],
                dynamic_shapes={"observation": {0: torch.export.Dim("k")}},
                dynamo=True,
                verbose=False,
            )
    finally:
        log.setLevel(level)
    model = program.model_proto
    if not model.graph.input[0].type.tensor_type.shape.dim[0].dim_param:
        raise ValueError("the module's code fixes how many observations it takes: use x.shape[0], not len(x)")
    for part in (*model.graph.node, *model.graph.input, *model.graph.output, *model.graph.value_info):
        part.ClearField("metadata_props")  # where in which file of this machine each operation was written
    content: bytes = model.SerializeToString()
    return content
