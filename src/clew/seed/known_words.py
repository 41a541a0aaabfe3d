"""The words of some documents, taken from those of all, so that no text is read again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from clew.graph import Graph, Mask, Rows, freeze, texts_at, titles_of_all
from clew.seed.bm25 import InvertedIndex, InvertedIndexPart
from clew.seed.in_own_words import WITHOUT_LINKS, LinkedWordsPart
from clew.seed.languages import Languages, LanguagesPart, identify_languages


def carry_words(graph: Graph, base: Graph, stays: Mask) -> None:
    """Give the graph of some documents the words that are known of the graph of all.

    Nothing is done where nothing is known. Words of nodes that have other texts or other titles
    here than there, or are in another language, are read again when they are asked for.

    Args:
        graph: The graph of the documents.
        base: The graph of these and of others, with the same canonical form of texts.
        stays: bool [nodes of base], which nodes are these documents or in them.
    """
    known = base.known_part(LanguagesPart())
    if known is None:
        return
    languages = identify_languages(graph, known.sample.known)
    graph.set_part(LanguagesPart(), languages)
    pairs = cache(partial(_Pairs.of, graph, base, stays))
    for part, value in base.kept_parts():
        if isinstance(part, InvertedIndexPart):
            of_some = _taken(pairs(part.kinds), stays, value, languages, known)
            if of_some is not None:
                graph.set_part(part, of_some)
        elif isinstance(part, LinkedWordsPart) and (own := pairs(PASSAGES)).are_alike:
            words = np.full(len(graph), WITHOUT_LINKS, np.int32)
            words[own.rows] = value[own.old_rows]
            graph.set_part(part, freeze(words, np.int32))


PASSAGES = ("passage",)


@dataclass(frozen=True, eq=False)
class _Pairs:
    """The nodes of some kinds in the graph of some documents, and the same in that of all.

    Attributes:
        rows: Those nodes.
        old_rows: The same nodes in the graph of all.
        are_alike: Whether they are the same nodes, with the same texts under the same titles.
    """

    rows: Rows
    old_rows: Rows
    are_alike: bool

    @classmethod
    def of(cls, graph: Graph, base: Graph, stays: Mask, kinds: tuple[str, ...]) -> _Pairs:
        """Return the nodes of some kinds."""
        rows, old_rows = graph.rows(*kinds), base.rows(*kinds)
        old_rows = old_rows[stays[old_rows]]
        are_alike = len(rows) == len(old_rows) and (
            _searched(graph, rows.tolist()) == _searched(base, old_rows.tolist())
        )
        return cls(rows, old_rows, are_alike)


def _taken(
    pairs: _Pairs, stays: Mask, words: InvertedIndex, languages: Languages, before: Languages
) -> InvertedIndex | None:
    """Return the words of nodes that stay; None where they are not those of the graph."""
    if (
        languages.names != words.languages
        or not pairs.are_alike
        or not np.array_equal(languages.of_rows[pairs.rows], before.of_rows[pairs.old_rows])
    ):
        return None
    postings = words.postings.with_only(stays[words.rows])
    return replace(words, rows=pairs.rows, postings=postings)


def _searched(graph: Graph, rows: Sequence[int]) -> tuple[list[str], list[str], list[list[str]]]:
    """Return what nodes are searched by: their ids, their texts, and the titles above them."""
    ids, texts = texts_at(graph.ids, rows), texts_at(graph.texts, rows)
    return list(ids), list(texts), titles_of_all(graph, rows)
