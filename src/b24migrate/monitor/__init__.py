"""The output of runs: log lines, metrics, telemetry, bug files."""
