"""The box through its own REST methods, for a box on which nobody may install the import module."""
