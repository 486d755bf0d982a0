"""The REST client: no other package contains details of the protocol."""
