"""Who runs a migration: a person at a terminal, a worker, a web page. Each only calls wiring and pipeline."""
