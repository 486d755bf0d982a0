"""Values of the domain: no input or output, and nothing of ours is imported."""
