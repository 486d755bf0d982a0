"""What runs report about themselves: log lines, metrics, telemetry, bug files."""
