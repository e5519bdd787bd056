"""The model card of a policy by itself: what it sees, what it does, how it is loaded; and the parts of every card.

How it was trained and how good it is, the weights do not say: `run.export()` writes a card that does.
"""

import json
from collections.abc import Sequence
from typing import Any

from steadyrl import __version__
from steadyrl.policies.tabular import TabularSoftmax


def card(policy: Any, file_name: str) -> str:
    """The card of a policy that is saved in a file of this name."""
    sections = {
        "What it is": _what(policy),
        "How to use it": how_to_use(policy, file_name),
        "Limits": (
            "- How it was trained, for which environment, and what it does there, these weights do not say. "
            "`run.export()` and `steadyrl export` write a card that does, with numbers.\n"
            "- Observations must be those of the environment it was trained in, in the same units and order.\n"
            "- Less variability is not safety: no action and no state is excluded."
        ),
    }
    return f"# Policy {code(file_name)}\n{in_sections(sections)}"


def in_sections(sections: dict[str, str]) -> str:
    """A text for each heading."""
    return "".join(f"\n## {name}\n\n{text}\n" for name, text in sections.items())


def how_to_use(policy: Any, file_name: str) -> str:
    """How it is loaded, and what there is to say to whoever does."""
    extra = "" if isinstance(policy, TabularSoftmax) else "[torch]"
    module = _module(policy)
    if module is None:
        argument, note = "", "The file holds numbers and a description, no code."
    elif module:
        argument = ", allow_import=True"
        note = f"The file holds numbers and the name {code(module)}, no code: that class is imported."
    else:
        argument = ", module=module"
        note = (
            "The file holds the weights of a torch module, no code: `module` is one of the same layers to put them in."
        )
    lines = (
        f'from steadyrl.policies import load_policy  # pip install "steadyrl{extra}"\n',
        f"policy = load_policy({json.dumps(file_name)}{argument})",
        "action = policy.predict(observation)  # the likeliest action",
        "action = policy.predict(observation, deterministic=False)  # one drawn at random",
    )
    return "```python\n" + "\n".join(lines) + f"\n```\n\n{note}"


def code(text: str) -> str:
    """As Markdown shows it, whatever is in it."""
    return "`" + " ".join(text.replace("`", "'").replace("|", "/").split()) + "`"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _what(policy: Any) -> str:
    if isinstance(policy, TabularSoftmax):
        states, actions = policy.theta.shape
        observation, action = (
            f"Discrete({size}, start={start})" if start else f"Discrete({size})"
            for size, start in ((states, policy.first_state), (actions, policy.first_action))
        )
        rows = [("preferences", f"{states} x {actions}")]
    else:
        observation, action = str(policy.observation_space), str(policy.action_space)
        rows = [("weights", f"{sum(array.size for array in policy.arrays().values()):,}")]
        rows += [("hidden layers", code(str(tuple(policy.hidden))))] if hasattr(policy, "hidden") else []
        rows += [("module", code(module))] if (module := _module(policy)) else []
    if getattr(policy, "so_far", None) is not None:
        rows.append(("sees beside the observation", code(str(policy.so_far))))
    rows = [
        ("kind", code(type(policy).__name__)),
        ("observations", code(observation)),
        ("actions", code(action)),
        *rows,
    ]
    return f"A policy of SteadyRL {__version__}.\n\n{table(('', ''), rows)}"


def _module(policy: Any) -> str | None:
    """The class of the user's that it is made of, "" if it has no name to be found by; None if there is none."""
    if isinstance(policy, TabularSoftmax):
        return None
    description = policy.description()
    encoder = description.get("encoder")
    if encoder is not None:
        return None if encoder["name"] == "cnn" else str(encoder["name"])
    return "" if description["class"] == "ModulePolicy" else None
