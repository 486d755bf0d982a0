"""Misfortune on both sides and SIGKILL at any moment: one migration must come out of it whole. `make chaos`."""
