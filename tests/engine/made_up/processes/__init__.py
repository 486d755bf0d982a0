"""A family that only a test knows."""
