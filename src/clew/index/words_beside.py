"""The words of the passages are counted beside a build, by the other process that has read files.

The first question asks for them, and for the languages of the passages, by which words are stemmed.
Nothing of them depends on vectors or edges. The process that builds sends its nodes, some
hundredths of a second, and makes vectors and edges meanwhile. Where there is no other process, a
thread identifies the languages, of which a part leaves Python's lock to other threads, and the
first question counts the words.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from types import TracebackType
from typing import NamedTuple, Self

import numpy as np

from clew.graph import EMPTY, Edges, Facts, Graph, Rows, freeze
from clew.processes import WorkElsewhere, begin_elsewhere
from clew.seed._likely_languages import identify_languages_of
from clew.seed.bm25 import InvertedIndex, InvertedIndexPart
from clew.seed.in_own_words import LinkedWordsPart
from clew.seed.languages import Languages, LanguagesPart
from clew.text.estimate import estimate_tokens

MIN_PASSAGES = 256  # of fewer, many are identified before a thread has got on
MAX_CHARACTERS = 50_000_000  # of all texts that another process is sent: some ten times the memory
SOME_TEXT = "Wann fährt die erste Fähre nach Norden?"  # whose language is not plain at once
LANGUAGES, WORDS, BESIDE_LINKS = LanguagesPart(), InvertedIndexPart(), LinkedWordsPart()


class WordsAndLanguages(NamedTuple):
    """What another process has found in the texts of a graph.

    Attributes:
        languages: The languages of the nodes.
        words: The stems of the passages.
        beside_links: The words of each passage outside of links.
    """

    languages: Languages
    words: InvertedIndex
    beside_links: Rows


class WordsBeside:
    """Counts the words of a graph beside the block that it is entered for, and on behind it.

    An error is not raised here: the part is computed again, and fails again, where it is wanted.
    A block that ends by an exception, such as Ctrl-C, does not wait for the thread.

    Args:
        graph: The nodes, as they are found.

    Example:
        >>> graph = Graph.of([f"Ferry {number} sails at ten." for number in range(300)])
        >>> with WordsBeside(graph) as words:
        ...     linked = graph.unchecked()
        >>> words.give_to(linked)
        >>> len(linked.known_part(LanguagesPart()).of_rows)
        300
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._work: WorkElsewhere[WordsAndLanguages] | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        if len(self._graph.rows("passage")) >= MIN_PASSAGES:
            if sum(map(len, self._graph.texts)) <= MAX_CHARACTERS:
                self._work = begin_elsewhere(count_words, _searched(self._graph))
            if self._work is None:
                self._thread = threading.Thread(target=self._identify, daemon=True)
                self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._thread is not None and kind is None:
            self._thread.join()

    def give_to(self, graph: Graph) -> None:
        """Store what was found as parts of a graph of the same nodes."""
        counted = None if self._work is None else self._work.result()
        if counted is not None:
            graph.set_part(LANGUAGES, counted.languages)
            words = replace(counted.words, rows=graph.rows(*WORDS.kinds))
            graph.set_part(WORDS, words)
            graph.set_part(BESIDE_LINKS, counted.beside_links)
        elif (found := self._graph.known_part(LANGUAGES)) is not None:
            graph.set_part(LANGUAGES, found)

    def _identify(self) -> None:
        try:
            self._graph.part(LANGUAGES)
        except Exception:  # noqa: BLE001  # raised again where the part is wanted
            return


def load_identifier() -> None:
    """Load what languages are identified with, before it is needed."""
    identify_languages_of([SOME_TEXT])


def count_words(graph: Graph) -> WordsAndLanguages:
    """Return what is found in the texts of a graph, in the process that it was sent to.

    Example:
        >>> counted = count_words(Graph.of(["The ferries sail at ten."]))
        >>> counted.languages.names, list(counted.words.stems)
        (('en',), ['the', 'ferri', 'sail', 'at', 'ten'])
    """
    languages, words = graph.part(LANGUAGES), graph.part(WORDS)
    return WordsAndLanguages(languages, words, graph.part(BESIDE_LINKS))


def _searched(graph: Graph) -> Graph:
    """Return a graph of what words are counted by: without the caller's objects, and what is large.

    Other processes need not have the classes of the caller's objects.
    """
    n = len(graph)
    return graph.unchecked(
        vectors=freeze(np.zeros((n, 0)), np.float32),
        references=((),) * n,
        metadata=(EMPTY,) * n,
        originals=(None,) * n,
        facts=Facts(),
        edges=Edges(),
        count=estimate_tokens,
    )
