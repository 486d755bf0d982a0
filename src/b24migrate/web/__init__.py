"""The dashboard: pages and a JSON API over the same read models as the command line.

`application(context)` in `application.py` is all of it; `server.py` lets it listen, `security.py` says who may ask.
"""
