"""Speed: the product against the limits of a portal, against its peers, and against itself at other sizes."""
