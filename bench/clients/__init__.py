"""The measured clients: the product and others, each in a process of its own."""
