"""Says what is wrong with our Bicep files: names, modules, secrets, roles, and what a deployment would ask Azure for.

No compiler is in the registries this project installs from; the grammar is tree-sitter's. What only Azure can say is not
said here.
"""
