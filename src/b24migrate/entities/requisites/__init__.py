"""Requisites of companies and contacts, with what belongs to them."""
