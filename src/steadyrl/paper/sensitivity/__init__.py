"""How much the learning rate and lambda matter."""
