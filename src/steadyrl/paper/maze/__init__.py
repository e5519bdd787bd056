"""The Maze: the paper's study, and what we tried beyond it."""
