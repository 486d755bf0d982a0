"""`python -m b24migrate`."""

from b24migrate.hosts.cli import main

main()
