"""Everything that knows that a portal speaks REST."""
