"""How a migration stands, in one look: cheap, whatever the size of the tables."""
