"""Two experiments with gradients alone: their variance while learning, their bias against exact ones."""
