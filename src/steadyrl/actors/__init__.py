"""Actors: who learns. A policy, a value function beside it, and the steps that move them."""
