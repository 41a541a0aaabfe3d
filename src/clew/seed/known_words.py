"""The words of some documents, taken from those of all, so that no text is read again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from clew.graph import Graph, Mask, texts_at, titles_of_all
from clew.seed.bm25 import InvertedIndex, InvertedIndexPart
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
    for part, words in base.kept_parts():
        if isinstance(part, InvertedIndexPart):
            of_some = _taken(part, graph, base, stays, words, languages)
            if of_some is not None:
                graph.set_part(part, of_some)


def _taken(
    part: InvertedIndexPart,
    graph: Graph,
    base: Graph,
    stays: Mask,
    words: InvertedIndex,
    languages: Languages,
) -> InvertedIndex | None:
    """Return the words of nodes that stay; None where they are not those of the graph."""
    rows = graph.rows(*part.kinds)
    places = np.flatnonzero(stays[words.rows])
    old_rows = words.rows[places]
    of_old = base.part(LanguagesPart()).of_rows[old_rows]
    if (
        len(rows) != len(old_rows)
        or languages.names != words.languages
        or not np.array_equal(languages.of_rows[rows], of_old)
        or _searched(graph, rows.tolist()) != _searched(base, old_rows.tolist())
    ):
        return None
    postings = words.postings.with_only(stays[words.rows])
    return replace(words, rows=rows, postings=postings).without_unused()


def _searched(graph: Graph, rows: Sequence[int]) -> list[tuple[str, str, list[str]]]:
    """Return what nodes are searched by: their texts under their titles; and their ids."""
    ids, texts = texts_at(graph.ids, rows), texts_at(graph.texts, rows)
    return list(zip(ids, texts, titles_of_all(graph, rows), strict=True))
