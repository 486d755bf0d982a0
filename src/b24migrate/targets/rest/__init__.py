"""The box through its own REST methods, for a box without the import module."""
