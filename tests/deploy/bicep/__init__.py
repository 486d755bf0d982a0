"""Reads Bicep files as far as ours use the language, and says what is wrong with them.

No compiler is in the registries this project installs from. What a compiler would say about structure, names and modules is
said here; what only Azure can say is not.
"""
