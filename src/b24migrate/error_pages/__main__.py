"""`python -m b24migrate.error_pages FOLDER` writes the document in every language: errors.md, errors.ru.md."""

from __future__ import annotations

import sys
from pathlib import Path

from b24migrate.error_pages.telling import TRANSLATED
from b24migrate.error_pages.writing import document

folder = Path(sys.argv[1])
(folder / "errors.md").write_text(document(), "utf-8")
for language in TRANSLATED:
    (folder / f"errors.{language}.md").write_text(document(language), "utf-8")
