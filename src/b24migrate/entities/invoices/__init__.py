"""Invoices: records of the type 31."""
