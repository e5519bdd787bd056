"""Other methods on the same domains."""
