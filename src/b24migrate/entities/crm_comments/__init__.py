"""Comments in the timeline of CRM records."""
