"""The words of an index as columns, so that the first question need not read every text again."""

from __future__ import annotations

from itertools import chain, pairwise

import numpy as np

from clew.algorithms.postings import Postings
from clew.graph import Graph, freeze
from clew.seed.bm25 import InvertedIndex, InvertedIndexPart
from clew.seed.languages import Languages, LanguagesPart
from clew.store.tables import ColumnReader, ColumnWriter

WORDS, LANGUAGES = InvertedIndexPart(), LanguagesPart()
NAME = "words.stems"  # the column that an index saved by an earlier version does not have


def write_inverted_index(writer: ColumnWriter, graph: Graph) -> None:
    """Write the postings of the passages' words."""
    index, languages = graph.part(WORDS), graph.part(LANGUAGES)
    writer.texts(NAME, index.stems)
    writer.texts("words.languages", index.languages)
    writer.numbers("words.language_of_node", languages.of_rows, np.uint8)
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
    stems = reader.texts(NAME)
    languages = reader.texts("words.languages")
    of_rows = reader.numbers("words.language_of_node")
    terms, numbers = reader.texts("words.forms"), reader.numbers("words.stem_of_form")
    bounds = reader.numbers("words.forms.starts").tolist()
    starts, texts, counts = (
        reader.numbers(f"words.postings.{name}") for name in ("starts", "texts", "counts")
    )
    rows = graph.rows(*WORDS.kinds)
    if (
        len(set(stems)) != len(stems)
        or not languages
        or of_rows.shape != (len(graph),)
        or (len(of_rows) and not 0 <= of_rows.min() <= of_rows.max() < len(languages))
        or numbers.shape != (len(terms),)
        or (len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(stems))
        or len(bounds) != len(languages) + 1
        or sorted([0, *bounds, len(terms)]) != [0, *bounds, len(terms)]
    ):
        raise ValueError("the columns of words do not fit together")
    postings = Postings.of_arrays(starts, texts, counts, len(rows), len(stems))
    of_stem = numbers.tolist()
    forms = tuple(
        dict(zip(terms[start:end], of_stem[start:end], strict=True))
        for start, end in pairwise(bounds)
    )
    number_of = {stem: number for number, stem in enumerate(stems)}
    graph.set_part(LANGUAGES, Languages(languages, freeze(of_rows, np.int8)))
    graph.set_part(WORDS, InvertedIndex(rows, number_of, forms, languages, postings))
