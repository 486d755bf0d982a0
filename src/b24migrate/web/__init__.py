"""The dashboard: pages and a JSON API over the same read models as the command line. `application.py` builds it,
`server.py` serves it, `auth.py` and `guard.py` protect it."""
