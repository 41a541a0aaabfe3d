"""The languages of the passages are identified by a thread, while vectors are made.

The first question asks for them, and nothing of them depends on vectors or edges. Most of the time
goes into decompressing the table of the identifier, which leaves Python's lock to other threads.
The words themselves are not counted beside a build: that is Python, which two threads do no sooner
than one, and what a thread takes of the memory comes on top of that of the edges.
"""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

from clew.graph import Graph, release_free_memory
from clew.seed.languages import LanguagesPart

MIN_PASSAGES = 256  # of fewer, many are identified before a thread has got on
LANGUAGES = LanguagesPart()


class LanguagesBeside:
    """Identifies the languages of a graph beside the block that it is entered for.

    An error is not raised here: the part is computed again, and fails again, where it is wanted.
    A block that ends by an exception, such as Ctrl-C, does not wait for the thread.

    Args:
        graph: The nodes, as they are found.

    Example:
        >>> graph = Graph.of([f"Ferry {number} sails at ten." for number in range(300)])
        >>> with LanguagesBeside(graph) as languages:
        ...     linked = graph.unchecked()
        >>> languages.give_to(linked)
        >>> len(linked.known_part(LanguagesPart()).of_rows)
        300
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._thread: threading.Thread | None = None
        if len(graph.rows("passage")) >= MIN_PASSAGES:
            self._thread = threading.Thread(target=self._identify, daemon=True)

    def __enter__(self) -> Self:
        if self._thread is not None:
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
            release_free_memory()  # that the table was decompressed in

    def give_to(self, graph: Graph) -> None:
        """Store what was found as a part of a graph of the same nodes."""
        if (found := self._graph.known_part(LANGUAGES)) is not None:
            graph.set_part(LANGUAGES, found)

    def _identify(self) -> None:
        try:
            self._graph.part(LANGUAGES)
        except Exception:  # noqa: BLE001  # raised again where the part is wanted
            return
