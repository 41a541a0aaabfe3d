"""An extractor as an index uses it: with what is known already, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from clew.graph import EMPTY, Graph
from clew.read.extract.extractor import (
    NOT_READ,
    IncompleteTriples,
    Passage,
    Triple,
    check_triples,
    is_corpus_wide,
    run_extractor,
)
from clew.read.extract.knowledge import Knowledge, PassagesOf, as_learning
from clew.read.extract.names import Names
from clew.read.extract.symbols import takes_modules

if TYPE_CHECKING:
    from clew.read.extract.code.python_scopes import Module


class CannotLearnError(ValueError):
    """An extractor has to read all passages again."""


@dataclass
class CachedExtractor:
    """An extractor that reads no passage twice, and records what failed.

    It keeps triples only of an extractor that reads each passage by itself.

    Attributes:
        extractor: What reads.
        known_triples: The triples of passages that were read before, by `Passage.key`.
        earlier_failures: None lets the extractor read the other passages. A mapping forbids that
            to an extractor with a language model: these passages fail, for the reason that is
            given here by id.
        progress: Whether to show a bar.
        known: What passages that are there already have taught a `LearningExtractor`. None where
            all passages come.
        passages_of: Returns those of some documents, by their ids.
        modules: The scopes of modules in Python, by the ids of their documents, where these were
            read with the documents.
        before: Called with the graph of the pieces, without entities and facts, before passages are
            read, or before their facts are put together where other processes read along; None
            for nothing.
        knowledge: What all passages have taught after the last call; None where nobody can say.
        read_triples: The triples of the passages of the last call, by `Passage.key`.
        failed: (passage id, reason) for the passages of the last call that failed.

    Example:
        >>> cached = CachedExtractor(lambda text: [("Anna", "met", "Ben")])
        >>> cached.triples([Passage("a", "Anna met Ben.")]), len(cached.read_triples), cached.failed
        ([[('Anna', 'met', 'Ben')]], 1, [])
    """

    extractor: object
    known_triples: Mapping[str, Sequence[Triple]] = field(default_factory=lambda: EMPTY)
    earlier_failures: Mapping[str, str] | None = None
    progress: bool = False
    known: Knowledge | None = None
    passages_of: PassagesOf | None = None
    modules: Mapping[str, Module] = field(default_factory=lambda: EMPTY)
    before: Callable[[Graph], object] | None = None
    knowledge: Knowledge | None = None
    read_triples: dict[str, tuple[Triple, ...]] = field(default_factory=dict)
    failed: list[tuple[str, str]] = field(default_factory=list)

    @property
    def is_divided(self) -> bool:
        """Whether other processes read along, where there are any: they have no time before."""
        return isinstance(self.extractor, Names)

    def triples(self, passages: Sequence[Passage]) -> list[list[Triple]]:
        """Return the triples of every passage."""
        if is_corpus_wide(self.extractor):
            results = self._of_all(passages)
        else:
            results = self._with_known(passages)
        pairs = list(zip(passages, results, strict=True))
        self.failed = [
            (passage.id, result.error)
            for passage, result in pairs
            if isinstance(result, IncompleteTriples)
        ]
        return [list(result) for result in results]

    def _of_all(self, passages: Sequence[Passage]) -> list[Iterable[Triple]]:
        """Return what an extractor reads that reads all passages together, and what it learns."""
        learning = as_learning(self.extractor)
        if learning is None:
            return run_extractor(self.extractor, passages, self.progress)
        if self.known is None or self.passages_of is None:
            own = self.extractor
            learn = (
                partial(own.learn, modules=self.modules) if takes_modules(own) else learning.learn
            )
            results, self.knowledge = learn(passages)
            return check_triples(results, passages)
        more = learning.learn_more(passages, self.known, self.passages_of)
        if more is None:
            raise CannotLearnError(
                f"{self.extractor!r} cannot read {len(passages):,} passages without all others"
            )
        results, self.knowledge = more
        return check_triples(results, passages)

    def _with_known(self, passages: Sequence[Passage]) -> list[Iterable[Triple]]:
        """Return the known triples of every passage, and read those of the others."""
        keys = [passage.key for passage in passages]
        new = {
            key: passage
            for key, passage in zip(keys, passages, strict=True)
            if key not in self.known_triples
        }
        fresh = self._read_new(list(new.values()))
        by_key: dict[str, Iterable[Triple]] = {
            **self.known_triples,
            **dict(zip(new, fresh, strict=True)),
        }
        results = [by_key[key] for key in keys]
        self.read_triples = {
            key: tuple(result)
            for key, result in zip(keys, results, strict=True)
            if not isinstance(result, IncompleteTriples)
        }
        return results

    def _read_new(self, passages: list[Passage]) -> Sequence[Iterable[Triple]]:
        if self.earlier_failures is not None and getattr(self.extractor, "model", None) is not None:
            reasons = (self.earlier_failures.get(passage.id, NOT_READ) for passage in passages)
            return [IncompleteTriples((), reason) for reason in reasons]
        return run_extractor(self.extractor, passages, self.progress) if passages else []
