"""`python -m b24migrate`."""

from b24migrate.cli import main

main()
