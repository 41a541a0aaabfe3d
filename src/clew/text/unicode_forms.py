"""A text as systems write the same letters: with a mark in the letter, or in a sign of its own.

macOS and some programs write the names of files with marks of their own (Unicode's form NFD), most
others do not (NFC).
"""

from __future__ import annotations

import unicodedata
from typing import Literal, overload

FORMS: tuple[Literal["NFC", "NFD"], ...] = ("NFC", "NFD")


@overload
def unicode_forms(value: str) -> list[str]: ...


@overload
def unicode_forms(value: object) -> list[object]: ...


def unicode_forms(value: object) -> object:
    """Return a text as it is, and as other systems write the same letters; all else as it is.

    Example:
        >>> [len(one) for one in unicode_forms("M\u00fc")], unicode_forms("Mu"), unicode_forms(5)
        ([2, 3], ['Mu'], [5])
    """
    if not isinstance(value, str) or value.isascii():
        return [value]
    return list(dict.fromkeys([value, *(unicodedata.normalize(form, value) for form in FORMS)]))
