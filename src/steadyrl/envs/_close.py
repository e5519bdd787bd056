"""Closing an environment that may not let itself be closed."""

import warnings
from typing import Any

import gymnasium as gym

from steadyrl.ground.errors import described


def close(env: gym.Env[Any, Any] | gym.vector.VectorEnv[Any, Any, Any]) -> None:
    """Close an environment. If that fails, what it has played stays played; it is said, and no more."""
    try:
        env.close()
    except KeyboardInterrupt:  # the user's
        raise
    except BaseException as error:
        warnings.warn(f"{env}: close raised {described(error)}", stacklevel=2)
