"""Checks our Bicep files: names, modules, secrets, roles, and what a deployment with given parameters requests from Azure.

The files are parsed by tree-sitter-bicep; `tree.py` only names its nodes. The compiled template cannot be checked instead:
the Bicep compiler is published on GitHub and NuGet only, not in the registries that this project installs from (PyPI, npm,
Debian). `scripts/check-bicep` also runs the compiler where one is installed.
"""
