"""The words of an index as columns, so that the first question need not read every text again."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain, pairwise
from typing import Any

import numpy as np

from clew.algorithms.postings import Postings
from clew.graph import (
    Edges,
    Facts,
    Graph,
    Labels,
    Mask,
    Ragged,
    freeze,
    take_vectors,
)
from clew.seed.bm25 import InvertedIndex, InvertedIndexPart, LateForms
from clew.seed.languages import Languages, LanguageSample, LanguagesPart, identify_more
from clew.seed.lowest_digests import LowestDigests
from clew.store.stage_parts import carry_stage_parts
from clew.store.tables import ColumnReader, ColumnWriter
from clew.store.text_column import TextColumn, places_of
from clew.text.stems import STEMMERS

WORDS, LANGUAGES = InvertedIndexPart(), LanguagesPart()
SLICED = (
    "ids",
    "texts",
    "tokens",
    "spans",
    "references",
    "generated",
    "metadata",
    "originals",
)
REFERRING = ("documents", "parents", "previous")
NAME = "words.stems"  # a column that an index saved by an earlier version does not have
SAMPLE = "words.language_sample"  # likewise; the last number is the digest of the whole
LOWEST = "words.lowest_digests"  # likewise; the last number says whether these are all


def write_inverted_index(writer: ColumnWriter, graph: Graph) -> None:
    """Write the postings of the passages' words."""
    index, languages = graph.part(WORDS).without_unused(), graph.part(LANGUAGES)
    languages = identify_more(graph, languages)
    graph.set_part(LANGUAGES, languages)  # so that what is known stays when it grows
    writer.texts(NAME, index.stems)
    _write_languages(writer, languages, languages.sample.known)
    if (lowest := languages.sample.lowest) is not None:
        writer.numbers(f"{LOWEST}.keys", lowest.keys, np.int64)
        writer.numbers(f"{LOWEST}.rows", (*lowest.rows.tolist(), lowest.are_all), np.int32)
    writer.numbers("words.forms.starts", np.cumsum([0, *map(len, index.forms)]), np.int64)
    writer.texts("words.forms", chain.from_iterable(index.forms))
    stem_of_form = [number for forms in index.forms for number in forms.values()]
    writer.numbers("words.stem_of_form", stem_of_form, np.int32)
    starts, texts, counts = index.postings.arrays(len(index.stems))
    writer.numbers("words.postings.starts", starts, np.int64)
    writer.numbers("words.postings.texts", texts, np.int32)
    small = counts.max(initial=0) <= np.iinfo(np.uint8).max
    writer.numbers("words.postings.counts", counts, np.uint8 if small else np.int64)


def restore_inverted_index(reader: ColumnReader, graph: Graph) -> None:
    """Give a loaded graph the postings that were saved with it.

    Raises:
        ValueError: The columns do not fit together.
    """
    stems = reader.stored_texts(NAME)
    languages = read_languages(reader, graph)
    terms, numbers = reader.stored_texts("words.forms"), reader.numbers("words.stem_of_form")
    bounds = reader.numbers("words.forms.starts").tolist()
    starts, texts, counts = (
        reader.numbers(f"words.postings.{name}") for name in ("starts", "texts", "counts")
    )
    rows = graph.rows(*WORDS.kinds)
    if (
        _count_distinct(stems) != len(stems)
        or numbers.shape != (len(terms),)
        or (len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(stems))
        or len(bounds) != len(languages.names) + 1
        or sorted([0, *bounds, len(terms)]) != [0, *bounds, len(terms)]
    ):
        raise ValueError("the columns of words do not fit together")
    postings = Postings.of_arrays(starts, texts, counts, len(rows), len(stems))

    def forms_between(start: int, end: int) -> dict[str, int]:
        return dict(zip(terms[start:end], numbers[start:end].tolist(), strict=True))

    forms = tuple(  # made once for this index and all that changes make of it
        LateForms(cache(partial(forms_between, start, end))) for start, end in pairwise(bounds)
    )
    graph.set_part(LANGUAGES, languages)
    graph.set_part(WORDS, InvertedIndex(rows, places_of(stems), forms, languages.names, postings))


def _count_distinct(texts: Sequence[str]) -> int:
    return texts.count_distinct() if isinstance(texts, TextColumn) else len(set(texts))


def write_languages(writer: ColumnWriter, graph: Graph) -> None:
    """Write the languages of a graph whose words are known."""
    languages = graph.known_part(LANGUAGES)
    if languages is not None and graph.known_part(WORDS) is not None:
        _write_languages(writer, languages, languages.sample.own)


def copy_languages(writer: ColumnWriter, reader: ColumnReader) -> None:
    """Write the columns of `write_languages` as they were read."""
    writer.texts("words.languages", reader.texts("words.languages"))
    writer.numbers("words.language_of_node", reader.numbers("words.language_of_node"))
    if reader.has(SAMPLE):
        for name in (SAMPLE, "words.known_languages.keys"):
            writer.numbers(name, reader.numbers(name))
        writer.texts("words.known_languages", reader.texts("words.known_languages"))


def _write_languages(writer: ColumnWriter, languages: Languages, known: Mapping[int, str]) -> None:
    writer.texts("words.languages", languages.names)
    writer.numbers("words.language_of_node", languages.of_rows, np.uint8)
    sample = languages.sample
    writer.numbers(SAMPLE, (*sample.keys, sample.whole), np.int64)
    writer.numbers("words.known_languages.keys", [*known], np.int64)
    writer.texts("words.known_languages", known.values())


def has_languages(names: Container[str]) -> bool:
    """Return whether there are the columns of `write_languages`."""
    return "words.languages" in names


def read_languages(reader: ColumnReader, graph: Graph) -> Languages:
    """Return the languages of a graph.

    Raises:
        ValueError: The columns do not fit together.
    """
    names, of_rows = reader.texts("words.languages"), reader.numbers("words.language_of_node")
    if (
        not names
        or of_rows.shape != (len(graph),)
        or (len(of_rows) and not 0 <= of_rows.min() <= of_rows.max() < len(names))
    ):
        raise ValueError("the columns of words do not fit together")
    sample = replace(_read_sample(reader), lowest=_read_lowest(reader, len(graph)))
    return Languages(names, freeze(of_rows, np.int8), sample)


def _read_sample(reader: ColumnReader) -> LanguageSample:
    """Return what languages were identified by; an earlier version did not save it."""
    if not reader.has(SAMPLE):
        return LanguageSample()
    *keys, whole = reader.numbers(SAMPLE).tolist()
    of_known = reader.numbers("words.known_languages.keys").tolist()
    known = dict(zip(of_known, reader.texts("words.known_languages"), strict=True))
    if keys != sorted(keys) or not all(language in ("", *STEMMERS) for language in known.values()):
        raise ValueError("the columns of languages do not fit together")
    return LanguageSample(tuple(keys), whole, known)


def _read_lowest(reader: ColumnReader, n: int) -> LowestDigests | None:
    """Return the documents by which filters have a sample, of `n` nodes; None where none say."""
    if not reader.has(f"{LOWEST}.keys"):
        return None
    keys, rows = (reader.numbers(f"{LOWEST}.{name}").astype(np.int64) for name in ("keys", "rows"))
    if len(rows) != len(keys) + 1 or (keys[1:] < keys[:-1]).any() or not set(rows[-1:]) <= {0, 1}:
        raise ValueError("the columns of languages do not fit together")
    if len(keys) and not 0 <= rows[:-1].min() <= rows[:-1].max() < n:
        raise ValueError("the columns of languages do not fit together")
    return LowestDigests(freeze(keys, np.int64), freeze(rows[:-1], np.int64), bool(rows[-1]))


def carry_inverted_index(graph: Graph, base: Graph, stays: Mask, languages: Languages) -> None:
    """Give a graph the words of another one, of which some nodes are gone and others came behind.

    It gets what stages have looked for in that one, too.

    Args:
        graph: The nodes of the base that stay, in their order, and new ones.
        base: The graph before; nothing is done where its words are not known.
        stays: bool [nodes of base], which nodes do.
        languages: Those of the graph.
    """
    words = base.known_part(WORDS)
    if words is None or graph.canonical is not None:
        return
    before = base.known_part(LANGUAGES)
    known = {} if before is None else before.sample.known  # of more than a change has
    sample = replace(languages.sample, known={**known, **languages.sample.known})
    graph.set_part(LANGUAGES, replace(languages, sample=sample))
    n = int(stays.sum())
    left = _first_nodes(graph, n)
    left.set_part(LANGUAGES, Languages(languages.names, languages.of_rows[:n]))
    graph.set_part(WORDS, WORDS.grow(graph, left, WORDS.shrink(left, base, stays, words)))
    carry_stage_parts(graph, left, base, stays)


def _first_nodes(graph: Graph, n: int) -> Graph:
    """Return the first nodes of a graph, without facts and edges."""
    columns: dict[str, Any] = {name: getattr(graph, name)[:n] for name in SLICED}
    for name in REFERRING:
        rows = getattr(graph, name)[:n]
        columns[name] = freeze(np.where(rows < n, rows, -1), np.int32)
    kinds = Labels(graph.kinds.names, graph.kinds.codes[:n])
    return replace(
        graph,
        **columns,
        vectors=take_vectors(graph.vectors, np.arange(n)),
        kinds=kinds,
        read_from=Ragged.empty(n),
        facts=Facts(vectors=take_vectors(graph.facts.vectors, np.arange(0))),
        edges=Edges(),
    )
