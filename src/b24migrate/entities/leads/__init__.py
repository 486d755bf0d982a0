"""Leads."""
