"""A step of an optimiser is the textbook's, and says how long the gradient was."""

import numpy as np
import pytest
import torch

from steadyrl.actors.optimiser import Optimiser

START, AIM = np.array([1.0, -2.0, 0.5]), np.array([0.0, 1.0, 3.0])


def gradient(x, limit):
    """Of |x - AIM|^2, cut to a length."""
    g = 2 * (x - AIM)
    norm = np.linalg.norm(g)
    return g * min(1.0, limit / norm), norm


@pytest.mark.parametrize("limit", [0.0, 0.5])
@pytest.mark.parametrize("name", ["adam", "sgd"])
def test_steps_are_the_textbooks(name, limit):
    parts = [torch.nn.Parameter(torch.tensor(part)) for part in (START[:2], START[2:])]
    optimiser = Optimiser(name, parts, 0.1, limit)
    x = START.copy()
    first = np.zeros(3)
    second = np.zeros(3)
    for t in range(1, 6):
        loss = (torch.cat(parts) - torch.tensor(AIM)).square().sum()
        norm = optimiser.step_along(torch.autograd.grad(loss, parts))
        g, length = gradient(x, limit or np.inf)
        first, second = 0.9 * first + 0.1 * g, 0.999 * second + 0.001 * g**2
        adam = first / (1 - 0.9**t) / (np.sqrt(second / (1 - 0.999**t)) + 1e-8)
        x = x - 0.1 * (adam if name == "adam" else g)
        assert norm == pytest.approx(length, rel=1e-6)  # torch adds 1e-6 to the norm it cuts by
        np.testing.assert_allclose(torch.cat(parts).detach().numpy(), x, rtol=1e-5)
