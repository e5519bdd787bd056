"""HalfCheetah."""
