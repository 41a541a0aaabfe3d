"""Extractors: whatever reads facts out of passages. One that looks at one text is a plain function; one that needs all has `triples`."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Protocol

from clew.graph import EMPTY

Triple = tuple[str, str, str]
UNREAD = "it was not read before, and a filter or a deletion asks no language model"


@dataclass(frozen=True)
class Passage:
    """What an extractor reads: a passage's id, its text, and the title it stands under, or ""."""

    id: str
    text: str
    title: str = ""

    @property
    def key(self) -> str:
        """What it is remembered by: its title and text, whatever its id."""
        return blake2b(
            f"{self.title}\0{self.text}".encode("utf-8", "surrogatepass"), digest_size=16
        ).hexdigest()


@dataclass(frozen=True)
class Incomplete:
    """In the place of a passage's triples: those that were read until something failed, and what that was."""

    triples: tuple[Triple, ...]
    error: str

    def __iter__(self) -> Iterator[Triple]:
        return iter(self.triples)


class Extractor(Protocol):
    """Reads facts out of all passages together, so that what one says can tell what another means.

    One that reads every passage by itself says `corpus_wide = False`: then a passage is read once, and what it says is kept in the index.
    One that asks a language model has it as its `model`. `triples` may take `progress`, whether to show a bar.
    """

    def triples(self, passages: Sequence[Passage]) -> Sequence[Iterable[Triple]]:
        """Return (subject, relation, object) for every passage, in their order; `Incomplete` for one that could not be read."""
        ...


def is_corpus_wide(extractor: Any) -> bool:
    """Whether what an extractor reads in one passage depends on the others."""
    return bool(getattr(extractor, "corpus_wide", hasattr(extractor, "triples")))


@dataclass
class CachedExtractor:
    """An extractor that reads no passage twice where each is read by itself, and keeps a record of what failed.

    Attributes:
        extractor: what reads. known: the triples of passages that were read before, by `Passage.key`.
        before: None to read the others; else they are not read if that takes a language model, but fail for the reason given here by id.
        read: the triples of the passages of this time, by key, if each was read by itself. failed: passages' ids, with the reasons.
    """

    extractor: Any
    known: Mapping[str, Sequence[Triple]] = field(default_factory=lambda: EMPTY)
    before: Mapping[str, str] | None = None
    progress: bool = False
    read: dict[str, tuple[Triple, ...]] = field(default_factory=dict)
    failed: list[tuple[str, str]] = field(default_factory=list)

    def triples(self, passages: Sequence[Passage]) -> list[list[Triple]]:
        """Return the triples of every passage."""
        if is_corpus_wide(self.extractor):
            found = _all(self.extractor, passages, self.progress)
        else:
            keys = [passage.key for passage in passages]
            new = {
                key: passage
                for key, passage in zip(keys, passages, strict=True)
                if key not in self.known
            }
            fresh: list[Iterable[Triple]]
            if self.before is not None and getattr(self.extractor, "model", None) is not None:
                fresh = [
                    Incomplete((), self.before.get(passage.id, UNREAD)) for passage in new.values()
                ]
            else:
                fresh = _all(self.extractor, list(new.values()), self.progress) if new else []
            by_key: dict[str, Iterable[Triple]] = {
                **self.known,
                **dict(zip(new, fresh, strict=True)),
            }
            found = [by_key[key] for key in keys]
            whole = {
                key: said
                for key, said in zip(keys, found, strict=True)
                if not isinstance(said, Incomplete)
            }
            self.read = {key: tuple(said) for key, said in whole.items()}
        reasons = zip(passages, found, strict=True)
        self.failed = [
            (passage.id, said.error) for passage, said in reasons if isinstance(said, Incomplete)
        ]
        return [list(said) for said in found]


def extract_triples(extractor: Any, passages: Sequence[Passage]) -> list[list[Triple]]:
    """Return the triples of every passage.

    Args:
        extractor: an `Extractor`, or a function text -> triples, called once for every passage.

    Raises:
        TypeError: it is neither. ValueError: it gave triples for another number of passages. RuntimeError: the function failed, with
            the passage's id, and its own exception as the cause.
    """
    return [list(said) for said in _all(extractor, passages, False)]


def _all(extractor: Any, passages: Sequence[Passage], progress: bool) -> list[Iterable[Triple]]:
    if isinstance(extractor, type):
        raise TypeError(
            f"the extractor is the class {extractor.__name__}; give an object of it, as {extractor.__name__}()"
        )
    if hasattr(extractor, "triples"):
        shows = progress and "progress" in inspect.signature(extractor.triples).parameters
        read = [
            _kept(said)
            for said in (
                extractor.triples(passages, progress=True) if shows else extractor.triples(passages)
            )
        ]
        if len(read) != len(passages):
            raise ValueError(
                f"the extractor gave triples for {len(read):,} of {len(passages):,} passages; wanted a list for each"
            )
        return read
    if not callable(extractor):
        raise TypeError(
            f"cannot extract with a {type(extractor).__name__}: wanted a function text -> [(subject, relation, object), ...], "
            "or an object with triples(passages), such as clew.Names() or clew.Triples(model)"
        )
    return [_of_one(extractor, passage) for passage in passages]


def _kept(said: Iterable[Triple]) -> Iterable[Triple]:
    return said if isinstance(said, Incomplete) else list(said)


def _of_one(extractor: Any, passage: Passage) -> list[Triple]:
    try:
        return list(extractor(passage.text))
    except Exception as error:
        raise RuntimeError(
            f"the extractor failed on the passage {passage.id!r}: {type(error).__name__}: {error}"
        ) from error
