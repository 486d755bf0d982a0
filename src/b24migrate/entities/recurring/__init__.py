"""Recurring deals: when the portal makes the next deal from a template."""
