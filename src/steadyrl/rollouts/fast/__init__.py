"""Quicker ways to play what Gymnasium plays, bit for bit: the Maze compiled, LunarLander lean, MuJoCo in batches.

Each recognises the environments that it can play and leaves all others to Gymnasium. The two that play a game of
Gymnasium's know it by its class, which a new version may change: `guard` compares before it lets them play.
"""
