"""The box: where records arrive."""
