"""The pages of a PDF file as texts, by pypdf (the extra `pdf`)."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from importlib.util import find_spec
from io import BytesIO
from typing import Any

from clew.document import Document

HINT = "PDF is read by pypdf: pip install 'clew[pdf]'"
_BROKEN = re.compile(r"([^\W\d_]+)[-\u2010][ \t]*\n[ \t]*([^\W\d_]+)")


def available() -> bool:
    """Whether the library is installed."""
    return find_spec("pypdf") is not None


def pages_of(raw: bytes, id: str, metadata: dict[str, Any]) -> Iterator[Document]:
    """Return the heading of a PDF file, then its pages that have text, named `{id}#page=3`, with the page's number in the metadata.

    Raises:
        ValueError: a file that is damaged, locked by a password, or has no text.
    """
    logging.getLogger("pypdf").addHandler(logging.NullHandler())
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    try:
        reader = PdfReader(BytesIO(raw))
        if reader.is_encrypted and not reader.decrypt(""):
            raise ValueError("locked by a password")
        texts = [mended(page.extract_text()) for page in reader.pages]
        title = str((reader.metadata and reader.metadata.title) or "").strip() or metadata["title"]
    except (
        PyPdfError,
        OSError,
        KeyError,
        TypeError,
        AttributeError,
        IndexError,
        RecursionError,
        NotImplementedError,
        ImportError,
    ) as error:
        raise ValueError(f"not readable as PDF: {error}") from error
    if not any(texts):
        raise ValueError("a PDF without text, perhaps of scanned pages")
    shared = {**metadata, "title": title}
    yield Document(id, title, shared, heading=True)
    previous = None
    for number, text in enumerate(texts, 1):
        if text:
            yield Document(
                f"{id}#page={number}",
                text,
                {**shared, "page": number},
                parent=id,
                previous=previous,
            )
            previous = f"{id}#page={number}"


def mended(text: str) -> str:
    """Return a page's text with the words joined that its lines cut; a word written elsewhere on the page with its hyphen keeps it."""
    text = text.replace("\r\n", "\n").replace("\0", "")
    whole = {word.lower() for word in re.findall(r"[^\W\d_]+-[^\W\d_]+", text)}

    def joined(found: re.Match[str]) -> str:
        kept = f"{found[1]}-{found[2]}".lower() in whole or found[2][0].isupper()
        return found[1] + ("-" if kept else "") + found[2]

    text = _BROKEN.sub(joined, text).replace("\u00ad\n", "").replace("\u00ad", "")
    return "\n".join(line.rstrip() for line in text.split("\n")).strip()
