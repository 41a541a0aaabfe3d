"""Passages that mostly link: each counts for less, the fewer words of its own it has.

The words of a heading count for every passage below it, and BM25 prefers short passages. So two
links under a telling heading would win over the passage that says what was asked. What can answer
is a passage's own words, those outside of links, and of directives that put something in their
place when a page is made, such as `.. automodule:: ferries`. A passage without either keeps its
score, however short it is: in source code, notes and tables a short one answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.graph import Graph, Mask, Rows, freeze
from clew.seed.in_sections import InSections
from clew.text.kept import MAX_KEPT_TEXT, Kept
from clew.text.words import BOUNDARY, words
from clew.types import Query, Seed, Seeds

# A link of Markdown or of reStructuredText with its words, a bare address, or an item of a list
# that is a cross-reference of Sphinx. Within a sentence such a one may be what answers.
_LINK = re.compile(
    r"\[[^\[\]\n]*\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)"
    r"|`[^`<>\n]+<[^`<>\n]+>`_{1,2}|https?://[^\s<>\"]+"
    r"|(?m:^)[ \t]*+[-*+] +:(?:any|doc|download|numref|ref):`[^`\n]+(?:\n[^`\n]+)?`[ \t]*+(?m:$)"
)
# A directive that puts something in its place: of Sphinx, of MyST, of mkdocstrings. Its options
# belong to it, and of a table of contents the names of the pages.
_DIRECTIVE = re.compile(
    r"^[ \t]*+(?:"
    r"\.\. (?:auto\w+|doxygen\w+|(?:literal)?include|contents|currentmodule|highlight)::.*+"
    r"(?:\n[ \t]++:[\w-]++:.*+|(?!))*+"
    r"|\.\. toctree::.*+(?:\n(?:[ \t]++\S.*+|[ \t]*+$)|(?!))*+"
    r"|(?P<fence>`{3,}|~{3,}|:{3,})\{(?:"
    r"toctree\}.*+\n(?:(?![ \t]*+(?:`{3}|~{3}|:{3})).*+\n|(?!))*+"
    r"|[\w:.-]++\}.*+\n(?:[ \t]*+:[\w-]++:.*+\n|(?!))*+)"
    r"[ \t]*+(?P=fence)[ \t]*+$"
    r"|::: [\w-]++\.[\w.-]++[ \t]*+(?:\n[ \t]++\S.*+|(?!))*+$)",
    re.MULTILINE,
)
_MARKS = ("](", ">`_", ":`", "://")  # one of which every link has
_DIRECTIVE_MARKS = ("::", "```{", "~~~{")  # and every directive
_ALL_MARKS = (*_MARKS, *_DIRECTIVE_MARKS)
_BRACKETS = {"](": "[", ">`_": "`"}  # marks, and the nearest sign before at which a link begins
_ADDRESS = "://"  # a link with this mark has at most one word
WITHOUT_LINKS = -1
MAX_KEPT_COUNTS = 256  # passages of a graph, such as candidates, that soon come again
TOGETHER = 8192  # texts that are looked through at once, some MB
COUNTS = Kept[tuple[str, int], int](2_048)  # of texts, by how many are enough


@dataclass(frozen=True)
class InOwnWords:
    """Score by another seed, and passages with links and few other words lower.

    The score of a passage with links, or with directives that put something in their place, is
    multiplied by (words + 1) / (full + 1), at most 1.

    Attributes:
        seed: the other seed.
        full: so many words outside of links and directives are enough, >= 1.

    Example:
        >>> from clew import Graph, Query
        >>> from clew.seed import BM25
        >>> graph = Graph.of(["[Sail](a.md) [now](b.md)!", "Now they sail at ten."])
        >>> BM25().on(graph)(Query("sail now")).scores.round(2).tolist()
        [0.14, 0.15]
        >>> InOwnWords(BM25(), full=4).on(graph)(Query("sail now")).scores.round(2).tolist()
        [0.03, 0.15]
    """

    seed: Seed = InSections()
    full: int = 32

    def __post_init__(self) -> None:
        if not self.full >= 1:
            raise ValueError(
                "full is the number of words outside of links that are enough, at least 1; "
                f"got {self.full!r}"
            )

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        find_alone, factors = self.seed.on(graph), np.ones(len(graph))
        own_words = graph.part(LinkedWordsPart(self.full))
        is_short = (own_words >= 0) & (own_words < self.full)
        factors[is_short] = (own_words[is_short] + 1) / (self.full + 1)
        if (factors == 1).all():
            return find_alone

        def find_seeds(query: Query) -> Seeds:
            seeds = find_alone(query)
            return replace(seeds, scores=seeds.scores * factors)

        return find_seeds


@dataclass(frozen=True)
class LinkedWordsPart:
    """The part that counts the words outside of links, int32 [n]; -1 for passages without any.

    A graph that is a part of a corpus may be given what is known.

    Attributes:
        enough: as in `count_beside_links`.
    """

    enough: int = 32

    def compute(self, graph: Graph) -> Rows:
        return freeze(self._counts(graph, graph.rows("passage")), np.int32)

    def grow(self, graph: Graph, base: Graph, before: Rows) -> Rows:
        """Return what `compute` returns."""
        rows = graph.rows("passage")
        words = self._counts(graph, rows[rows >= len(base)])
        words[: len(base)] = before
        return freeze(words, np.int32)

    def shrink(self, graph: Graph, base: Graph, stays: Mask, before: Rows) -> Rows:
        """Return what `compute` returns."""
        return freeze(before[stays], np.int32)

    def _counts(self, graph: Graph, rows: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
        """Return the words of some passages, int32 [n]; those of the others are without links."""
        words = np.full(len(graph), WITHOUT_LINKS, np.int32)
        texts = [graph.texts[row] for row in rows.tolist()]
        if len(texts) <= MAX_KEPT_COUNTS:
            known = list(map(COUNTS.get, zip(texts, repeat(self.enough))))
            missing = [text for text, count in zip(texts, known, strict=True) if count is None]
            counted = self._counts_of(missing)
            for text, count in zip(missing, counted, strict=True):
                if len(text) <= MAX_KEPT_TEXT:
                    COUNTS.put((text, self.enough), count)
            new = iter(counted)
            words[rows] = [next(new) if count is None else count for count in known]
        else:
            words[rows] = self._counts_of(texts)
        return words

    def _counts_of(self, texts: Sequence[str]) -> list[int]:
        """Return the words of some texts outside of links."""
        counts = [WITHOUT_LINKS] * len(texts)
        for start in range(0, len(texts), TOGETHER):
            some = texts[start : start + TOGETHER]
            for place, has_enough in _with_marks(some, self.enough):
                is_known = has_enough and _has_link(some[place])
                counts[start + place] = self.enough if is_known else self._count(some[place])
        return counts

    def _count(self, text: str) -> int:
        found = count_beside_links(text, enough=self.enough)
        return WITHOUT_LINKS if found is None else found


def _with_marks(texts: Sequence[str], enough: int) -> list[tuple[int, bool]]:
    """Return the places of the texts that may have a mark, found in all of them at once.

    A look for each mark in each text takes ten times as long. With each stands whether it has
    enough words outside of links, if it has any: some have, although it is False for them. Those
    words are counted that begin with a letter of ASCII behind white space, without those between a
    mark and where its link may begin. What goes on in the next line is left out.

    Example:
        >>> _with_marks(["Sail at ten.", "See <https://example.org>.", "[now or](a.md) in May"], 2)
        [(1, False), (2, True)]
    """
    together = BOUNDARY.join(texts).encode("ascii", "replace")
    signs = np.frombuffer(together, np.uint8)
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)) + 1)
    found = {mark: _places_of(mark, signs) for mark in _ALL_MARKS}
    texts_of = {mark: np.searchsorted(ends, at, side="right") for mark, at in found.items()}
    marked = np.flatnonzero(
        np.bincount(np.concatenate([*texts_of.values()]))
    )  # `np.unique` imports masked arrays
    begins = _begins_of_words(signs)
    n = np.diff(np.searchsorted(begins, np.append(0, ends)))
    for mark, at in found.items():
        if mark == _ADDRESS:
            np.subtract.at(n, texts_of[mark], 1)
        elif mark in _BRACKETS:
            brackets = np.append(0, np.flatnonzero(signs == ord(_BRACKETS[mark])))
            before = brackets[np.searchsorted(brackets, at, side="right") - 1]
            lost = np.searchsorted(begins, at) - np.searchsorted(begins, before)
            np.subtract.at(n, texts_of[mark], lost)
        else:
            n[texts_of[mark]] = 0
    return [*zip(marked.tolist(), (n[marked] >= enough).tolist(), strict=True)]


def _places_of(mark: str, signs: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the places at which a mark begins."""
    n = max(len(signs) - len(mark) + 1, 0)
    first, second, *others = mark.encode("ascii")
    places = np.flatnonzero((signs[:n] == first) & (signs[1 : n + 1] == second))
    for step, other in enumerate(others, 2):
        places = places[signs[places + step] == other]
    return places


def _begins_of_words(signs: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the places of letters of ASCII behind a space or a line end."""
    are_letters = (signs[1:] | np.uint8(32)) - np.uint8(ord("a")) < 26  # which wraps around
    before = signs[:-1]
    return np.flatnonzero(are_letters & ((before == ord(" ")) | (before == ord("\n")))) + 1


def _has_link(text: str) -> bool:
    """Return whether a text has a link; it is mostly the first that may be one."""
    opening = text.rfind("[", 0, max(text.find("]("), 0))
    return (opening >= 0 and _LINK.match(text, opening) is not None) or (
        _LINK.search(text) is not None
    )


def count_beside_links(text: str, enough: int | None = None) -> int | None:
    r"""Return the number of words of a text outside of its links; None for a text without any.

    Directives that put something in their place, such as a table of contents, count as links.

    Args:
        text: The text, in Markdown, reStructuredText or plain.
        enough: So many are not counted on: this number stands for it and for more.

    Example:
        >>> count_beside_links("See [the manual](manual.md) or https://example.org, please.")
        3
        >>> count_beside_links("See the manual.") is None
        True
        >>> count_beside_links("Ferries\n\n.. automodule:: ferries\n   :members:")
        1
        >>> count_beside_links("https://example.org has all that you need", enough=4)
        4
    """
    if not any(map(text.__contains__, _ALL_MARKS)):  # as most
        return None
    beside, n = text, 0
    for marks, pattern in ((_MARKS, _LINK), (_DIRECTIVE_MARKS, _DIRECTIVE)):
        if any(mark in beside for mark in marks):
            beside, found = pattern.subn(" ", beside)
            n += found
    if not n:
        return None
    # What begins with a letter behind white space has a word of its own: that is counted faster.
    if enough is not None and sum(part[0].isalpha() for part in beside.split()) >= enough:
        return enough
    return len(words(beside))
