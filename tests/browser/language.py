"""English that is left on a page that should speak another language."""

from __future__ import annotations

import re

from playwright.sync_api import Page

# text that is the same in every language is marked: commands, data of the company, intentional English
TEXTS = """() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (element.closest("code, pre, bdi, [lang=en], script, noscript") || !element.checkVisibility()) continue;
    found.push(walker.currentNode.data);
  }
  for (const element of document.querySelectorAll("[aria-label], [title], [placeholder]")) {
    if (element.closest("[lang=en]")) continue;
    for (const name of ["aria-label", "title", "placeholder"]) found.push(element.getAttribute(name) ?? "");
  }
  return found;
}"""
WORDS = re.compile(r"(?<![\w./@-])[a-z]{2,}(?![\w./@-])")
COMMON = frozenset(
    re.findall(
        r"\w+",
        """the of to and is are was were has have it its not no nothing in on at by for from with what which who whose
        how this that these those they be been so still again all more than only out up cannot could does did do had or
        if when where why some any there then here records record read shown found failed""",
    )
)


def english_left(page: Page) -> list[str]:
    """Texts with a word of an English sentence in them."""
    return [text for text in page.evaluate(TEXTS) if set(WORDS.findall(text)) & COMMON]
