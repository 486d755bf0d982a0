"""Whole migrations through portals whose answers are changed at random (`make fuzz`)."""
