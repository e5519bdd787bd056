"""Algorithms: from a batch of episodes to a better policy."""
