"""A run that takes a moment, in Python and as a command."""

MAZE = "steadyrl/Maze-v0"
FIELDS = {"n": 4, "updates": 4, "checkpoint_every": 2}
OPTIONS = [MAZE, "--n", "4", "--updates", "4", "--checkpoint-every", "2", "--quiet"]
