"""`python -m b24migrate.error_pages FILE` writes the document."""

from __future__ import annotations

import sys
from pathlib import Path

from b24migrate.error_pages.writing import document

Path(sys.argv[1]).write_text(document(), "utf-8")
