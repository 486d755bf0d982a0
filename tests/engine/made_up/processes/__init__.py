"""A family that exists only in a test."""
