"""Users: how they are read, what is sent, and how a box without the import module is written."""
