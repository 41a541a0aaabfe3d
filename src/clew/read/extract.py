"""Extractors: whatever reads facts out of passages. One that looks at one text is a plain function; one that needs all has `triples`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

Triple = tuple[str, str, str]


@dataclass(frozen=True)
class Passage:
    """What an extractor reads: a passage's id, its text, and the title it stands under, or ""."""

    id: str
    text: str
    title: str = ""


class Extractor(Protocol):
    """Reads facts out of all passages together, so that what one says can tell what another means."""

    def triples(self, passages: Sequence[Passage]) -> Sequence[Iterable[Triple]]:
        """Return (subject, relation, object) for every passage, in their order."""
        ...


def extracted(extractor: Any, passages: Sequence[Passage]) -> list[list[Triple]]:
    """Return the triples of every passage.

    Args:
        extractor: an `Extractor`, or a function text -> triples, called once for every passage.

    Raises:
        TypeError: it is neither. ValueError: it gave triples for another number of passages. RuntimeError: the function failed, with
            the passage's id, and its own exception as the cause.
    """
    if isinstance(extractor, type):
        raise TypeError(f"the extractor is the class {extractor.__name__}; give an object of it, as {extractor.__name__}()")
    if hasattr(extractor, "triples"):
        read = [list(said) for said in extractor.triples(passages)]
        if len(read) != len(passages):
            raise ValueError(f"the extractor gave triples for {len(read):,} of {len(passages):,} passages; wanted a list for each")
        return read
    if not callable(extractor):
        raise TypeError(
            f"cannot extract with a {type(extractor).__name__}: wanted a function text -> [(subject, relation, object), ...], "
            "or an object with triples(passages), such as clew.Names()"
        )
    return [_of_one(extractor, passage) for passage in passages]


def _of_one(extractor: Any, passage: Passage) -> list[Triple]:
    try:
        return list(extractor(passage.text))
    except Exception as error:
        raise RuntimeError(f"the extractor failed on the passage {passage.id!r}: {type(error).__name__}: {error}") from error
