"""Activities of the CRM with the calls, notes and log entries beside them."""
