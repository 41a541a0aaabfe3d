"""Texts and bytes as texts that every database keeps as they are."""

from __future__ import annotations

import re
from base64 import b64encode
from binascii import a2b_base64
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from clew.graph import Vectors, freeze

BETWEEN_ROWS, BEHIND_ITEM = "\x1e", "\x1f"
"""What stands between the rows of a column, and behind each item of a list in it."""

ENCODED = "\x1a"  # in front of a text that is not kept as it is
UNKEPT = re.compile(f"[\x00{BETWEEN_ROWS}{BEHIND_ITEM}\ud800-\udfff]|^{ENCODED}")


def keepable(text: str) -> str:
    r"""Return a text that every database keeps: the same one, but for rare characters.

    Those are NUL, where some end a text, surrogates, which are in no UTF-8, and separators.

    Example:
        >>> keepable("Corfu"), stored_text(keepable("a\x00b")) == "a\x00b"
        ('Corfu', True)
    """
    if UNKEPT.search(text) is None:
        return text
    return ENCODED + text_of_bytes(text.encode("utf-8", "surrogatepass"))


def stored_text(text: str) -> str:
    """Return the text that `keepable` was given."""
    if not text.startswith(ENCODED):
        return text
    return bytes_of_text(text[1:]).decode("utf-8", "surrogatepass")


def text_of_bytes(data: bytes) -> str:
    """Return bytes as a text (base64), since not every database keeps bytes."""
    return b64encode(data).decode("ascii")


def bytes_of_text(text: str) -> bytes:
    """Return the bytes that `text_of_bytes` was given."""
    return a2b_base64(text)


def text_of_vector(vector: NDArray[np.float32] | None) -> str:
    """Return a vector as a text; "" for none."""
    return "" if vector is None else text_of_bytes(vector.astype("<f4").tobytes())


def vectors_of_texts(texts: Iterable[str], dimension: int) -> Vectors:
    """Return vectors that `text_of_vector` wrote, float32 [n, d]; zeros for none.

    Example:
        >>> vectors_of_texts([text_of_vector(np.float32([1, 2])), ""], 2).tolist()
        [[1.0, 2.0], [0.0, 0.0]]
    """
    some, none = list(texts), bytes(4 * dimension)
    data = b"".join([bytes_of_text(text) if text else none for text in some])
    vectors = np.frombuffer(data, "<f4").reshape(len(some), dimension)
    return freeze(vectors, np.float32)
