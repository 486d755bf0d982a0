"""What people want to know about a migration, read from the store: status, forecast, fidelity, certificate, report."""
