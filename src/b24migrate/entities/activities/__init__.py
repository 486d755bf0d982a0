"""Activities of the CRM, with calls, notes and log entries."""
