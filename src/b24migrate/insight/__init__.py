"""Read models of a migration, from the store: status, forecast, fidelity, certificate, report."""
