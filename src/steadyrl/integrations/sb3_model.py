"""A model that Stable-Baselines3 has saved, as a policy to be evaluated."""

import pickle
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

from steadyrl.ground.errors import BadInputError, CorruptError


class Sb3Player:
    """What a model does, episode by episode; with a memory, if it has one.

    Random actions come from torch's own generator, seeded with the episode: the same episode, the same actions.
    """

    def __init__(self, model: Any, *, deterministic: bool = False, normalize: Any = None) -> None:
        """A model with SB3's `predict`; `normalize` a VecNormalize whose statistics its observations were scaled by."""
        self.model = model
        self.deterministic = deterministic
        self.normalize = normalize
        self._state: Any = None
        self._starts = np.ones(1, np.bool_)

    def reset(self, seed: int) -> None:
        """Begin an episode."""
        import torch  # noqa: PLC0415  it is here if a model is

        torch.manual_seed(seed)
        self._state = None
        self._starts = np.ones(1, np.bool_)

    def __call__(self, observation: Any) -> Any:
        """The model's action, as its environment takes it."""
        scaled = observation if self.normalize is None else self.normalize.normalize_obs(observation)
        action, self._state = self.model.predict(
            scaled, state=self._state, episode_start=self._starts, deterministic=self.deterministic
        )
        self._starts = np.zeros(1, np.bool_)
        return np.int64(action) if isinstance(self.model.action_space, gym.spaces.Discrete) else action


def load_sb3(
    path: Path,
    *,
    trust_pickle: bool,
    algorithm: str = "PPO",
    normalize: Path | None = None,
    deterministic: bool = False,
) -> Sb3Player:
    """Load `model.save(path)`: only with a word of trust, for it holds pickled Python, which may do anything.

    Args:
        path: The .zip file.
        trust_pickle: You know who made it.
        algorithm: The class, of stable_baselines3 or sb3_contrib.
        normalize: A file of `VecNormalize.save`, if the model was trained with one; it is a pickle, too.
        deterministic: Take the likeliest action, instead of one drawn from the policy.
    """
    for file in (path, *([normalize] if normalize is not None else [])):
        if not file.is_file():
            raise BadInputError(f"{file}: there is no such file")
        if not trust_pickle:
            raise BadInputError(
                f"{file} holds pickled Python, which runs the code of whoever made it: give --trust-pickle "
                "(trust_pickle=True) if you trust it"
            )
    if not zipfile.is_zipfile(path):
        raise CorruptError(f"{path}: is no .zip file as model.save() writes it")
    kind = _algorithm(algorithm)
    try:
        model = kind.load(path, device="cpu")
    except Exception as error:
        raise CorruptError(f"{path}: cannot be loaded as {algorithm}: {error}") from error
    if normalize is None:
        return Sb3Player(model, deterministic=deterministic)
    scaling = pickle.loads(normalize.read_bytes())  # noqa: S301  with a word of trust
    return Sb3Player(model, deterministic=deterministic, normalize=scaling)


def _algorithm(name: str) -> Any:
    """The class of that name."""
    missing = []
    for package in ("stable_baselines3", "sb3_contrib"):
        try:
            algorithm_class = getattr(import_module(package), name, None)
        except ImportError:
            missing.append(package)
            continue
        if isinstance(algorithm_class, type) and hasattr(algorithm_class, "load"):
            return algorithm_class
    absent = f" ({' and '.join(missing)} not installed: pip install sb3-contrib)" if missing else ""
    raise BadInputError(f"sb3_algorithm = {name!r}: must be a class such as PPO, A2C, SAC or RecurrentPPO{absent}")
