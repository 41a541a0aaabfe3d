"""Addresses of what was read, relative to the folder of the pages."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote

from clew.document import Document
from clew.documentation.entries import SourcePlace
from clew.documentation.markdown import one_line
from clew.graph import EMPTY
from clew.show.source_link import FILE_KEYS


@dataclass(frozen=True)
class SourceFiles:
    """The address of each document's file, by the document's id; without one it is only named.

    Attributes:
        addresses: The addresses, relative to the pages.
        folder: The folder of the pages; None where it is not known.
    """

    addresses: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    folder: Path | None = None

    @classmethod
    def of(cls, documents: Iterable[Document], folder: Path | None) -> SourceFiles:
        """Return the addresses of the files that are there.

        Args:
            documents: What was read.
            folder: The folder of the pages; None where it is not known.
        """
        if folder is None:
            return cls()
        found = {one.id: _address(one, folder) for one in documents}
        return cls({id: address for id, address in found.items() if address}, folder)

    def link(self, place: SourcePlace, text: str = "") -> str:
        """Return a link in Markdown to a place; its name where its file is not there.

        Args:
            place: The place.
            text: What the link reads; by default the document and the line.
        """
        text = one_line(text or f"{place.document}:{place.line}")
        address = self.addresses.get(place.document)
        return f"[{text}]({address}#L{place.line})" if address else text

    def from_document(self, document: str, target: str, pages: Mapping[str, str]) -> str:
        """Return where a link in a document leads to, as seen from the pages; "" for nowhere.

        Args:
            document: The id of the document.
            target: A path relative to the document, perhaps with an anchor.
            pages: The page of each document that has one.
        """
        path, _, _ = target.partition("#")
        if not path:
            return pages.get(document, "")
        named = os.path.normpath(Path(document).parent / unquote(path)).replace(os.sep, "/")
        if named in pages:
            return pages[named]
        if document in self.addresses and self.folder is not None:
            around = os.path.dirname(unquote(self.addresses[document]))  # noqa: PTH120
            relative = os.path.normpath(os.path.join(around, unquote(path)))  # noqa: PTH118
            with suppress(OSError, ValueError):
                if (self.folder.resolve() / relative).exists():
                    return quote(relative.replace(os.sep, "/"))
        return ""


def _address(document: Document, folder: Path) -> str:
    for key in FILE_KEYS:
        name = document.metadata.get(key)
        with suppress(OSError, ValueError):  # no name of a file here, or one on another drive
            if isinstance(name, str) and Path(name).is_file():
                relative = Path(os.path.relpath(Path(name).resolve(), folder.resolve()))
                return quote(relative.as_posix())
    return ""
