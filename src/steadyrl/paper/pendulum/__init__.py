"""InvertedPendulum."""
