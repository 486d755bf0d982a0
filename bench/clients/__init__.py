"""Who is measured: the product and its peers, each in a process of its own."""
