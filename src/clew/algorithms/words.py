"""The words of a text in any script."""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import lru_cache

IDEOGRAPHS = "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"


def folded(text: str) -> str:
    """Return the text in the form that is compared: NFKC and casefolded, runs of white space as one space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def words(text: str) -> list[str]:
    """Return the words of a text, NFKC and casefolded: runs of letters, digits and marks; each ideograph and kana is a word."""
    return _pattern().findall(unicodedata.normalize("NFKC", text).casefold())


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    # Marks (vowel signs of Indic scripts, accents) belong to the word, but Python's \w leaves them out.
    signs = (chr(code) for code in range(sys.maxunicode + 1))
    marks = "".join(re.escape(sign) for sign in signs if unicodedata.category(sign)[0] == "M")
    return re.compile(rf"[{IDEOGRAPHS}]|(?:[^\W_{IDEOGRAPHS}]|[{marks}])+")
