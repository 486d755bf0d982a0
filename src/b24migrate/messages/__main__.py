"""`python -m b24migrate.messages FOLDER` writes the error codes in every language: errors.md, errors.ru.md."""

from __future__ import annotations

import sys
from pathlib import Path

from b24migrate.messages import LANGUAGES
from b24migrate.messages.pages import document, file_name

for language in LANGUAGES:
    (Path(sys.argv[1]) / file_name(language)).write_text(document(language), "utf-8")
