"""Bags of texts: those of a corpus that weights its words, and those of texts that come later."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.compressed_rows import CompressedRows
from clew.embedding.bag_segment import BagSegment, MadeBags
from clew.embedding.bag_table import NUMBERING, BagTable, number_terms
from clew.embedding.bags import BATCH, MAX_COUNT, Bags
from clew.embedding.static import (
    SIGNATURE_WIDTH,
    CountsOf,
    StaticEmbedding,
    TextCounts,
    widened,
)
from clew.embedding.word_vectors import DIMENSIONS
from clew.graph import (
    AnyVectors,
    Mask,
    VectorColumn,
    Vectors,
    VectorSegment,
    offsets_of,
    release_free_memory,
    seal,
    vectors_of,
)
from clew.text.numbering import Numbering

MAX_BESIDE = 100_000  # texts that are no passages, of which another process does a part
MAX_MADE = 20_000  # vectors that are kept until near passages are found, which wants all: 60 MB


class Source(NamedTuple):
    """A column of vectors, and the texts that they come from.

    Attributes:
        vectors: float32 [n, d].
        rows: int64 [m], ascending, those that come from texts.
        texts: the text of each of these.
    """

    vectors: AnyVectors
    rows: NDArray[np.int64]
    texts: Sequence[str]


def as_bags(embedder: StaticEmbedding, sources: Sequence[Source]) -> list[BagSegment]:
    """Return columns of vectors as bags that share a table.

    A vector that its text does not give, to the bit, stays as it is.

    Args:
        embedder: what weights the texts.
        sources: the columns.

    Example:
        >>> texts = ["The ferry to Corfu leaves at nine.", "Anna met Ben."]
        >>> static = StaticEmbedding.fit(texts)
        >>> vectors = static(texts)
        >>> (segment,) = as_bags(static, [Source(vectors, np.arange(2), texts)])
        >>> bool((segment[:] == vectors).all()), len(segment.others)
        (True, 0)
    """
    number_of = Numbering[str]()
    made = [_bags_of(embedder, source, number_of) for source in sources]
    table = BagTable(embedder, list(number_of))
    return [replace(segment, table=table) for segment in made]


def fit_bags(
    corpus: Sequence[str],
    others: Sequence[str] = (),
    progress: Callable[[int], object] = int,
    n_made: int = 0,
    counted: Iterator[TextCounts] | None = None,
    counts_of: CountsOf | None = None,
) -> tuple[StaticEmbedding, BagSegment]:
    """Return the embedder that a corpus weights, and the vectors of its texts and of other texts.

    A text is counted once.

    Args:
        corpus: the texts by which words are weighted.
        others: more texts.
        progress: called with the number of texts of every batch.
        n_made: the rows, from the first one on, whose vectors are kept beside them, unless they are
            too many.
        counted: what `TextCounts.of` returns of each `BATCH` of the corpus; None to count here.
        counts_of: counts texts in this process alone; None for `TextCounts.of`.

    Returns:
        The embedder, and a row for each text of the corpus, then one for each of the others.

    Example:
        >>> texts = ["The ferry to Corfu leaves at nine.", "Anna met Ben."]
        >>> static, rows = fit_bags(texts, ["Corfu"])
        >>> bool((rows[:] == static([*texts, "Corfu"])).all())
        True
    """
    n_kept = n_made if n_made <= MAX_MADE else 0
    number_of, start = Numbering[str](), 0
    rows = _Rows(len(corpus) + len(others))
    if counted is None:
        counted = map(counts_of or TextCounts.of, _batches(corpus, BATCH))
    embedder, made_of = _fitted(corpus, counted, sums_once=len(corpus) <= MAX_MADE)
    kept = np.zeros((n_kept, embedder.dimensions), np.float32)
    beside = _begin_others(embedder, others, n_kept - len(corpus), counts_of)
    of_corpus = (_MadeTexts.of(counts, *made) for counts, made in made_of)
    for made in chain(of_corpus, beside()):
        rows.add_made(start, made, number_of)
        n_here = min(max(n_kept - start, 0), len(made.is_made))
        kept[start : start + n_here] = made.vectors_of(np.arange(n_here))
        progress(len(made.is_made))
        start += len(made.is_made)
    segment = rows.segment(BagTable(embedder, list(number_of)))
    if n_kept:
        segment = MadeBags.of(segment, seal(kept), np.arange(segment.shape[0]))
    return embedder, segment


def bags_of_texts(table: BagTable, texts: Sequence[str]) -> BagSegment:
    """Return the vectors of texts as bags of a table, which learns their terms.

    Args:
        table: the table.
        texts: the texts.

    Example:
        >>> static, rows = fit_bags(["The ferry to Corfu leaves at nine.", "Anna met Ben."])
        >>> more = bags_of_texts(rows.table, ["Ben left."])
        >>> bool((more[:] == static(["Ben left."])).all()), more.table.terms[-1]
        (True, 'left')
    """
    counts = TextCounts.of(texts)
    number_terms(table, counts, kept=True)
    return bags_of_counts(table, counts)


def bags_of_recent_texts(table: BagTable, texts: Sequence[str]) -> BagSegment:
    """Return what `bags_of_texts` does; texts that were counted lately are not counted again.

    Args:
        table: the table, which keeps them.
        texts: the texts.
    """
    if not texts:
        return bags_of_texts(table, texts)
    recent = table.recent
    found = {text: bags for text in texts if (bags := recent.get(text)) is not None}
    new = [text for text in dict.fromkeys(texts) if text not in found]
    if new:
        made = bags_of_texts(table, new).each_text()
        found.update(zip(new, map(recent.put, new, made), strict=True))
    return BagSegment.of_texts(table, [found[text] for text in texts])


def bags_of_counts(table: BagTable, counts: TextCounts, *, rounded: bool = False) -> BagSegment:
    """Return the vectors of texts as bags of a table, which knows their terms.

    Args:
        table: the table.
        counts: of the texts, perhaps as `narrowed` returns them.
        rounded: whether the scales may be rounded otherwise than those of the vectors.
    """
    rows = _Rows(len(counts))
    with NUMBERING.lock:
        number_of = table.numbers()
    rows.add_made(0, _MadeTexts.without_vectors(counts, table.embedder, rounded=rounded), number_of)
    return rows.segment(table)


class _MadeTexts(NamedTuple):
    """What texts become.

    Attributes:
        counts: of the texts.
        scales: float32 [n, 3], as `StaticEmbedding.embed_counts` returns them.
        is_made: bool [n], whether a text has a vector that is not 0.
        places: int64 [m], ascending, the texts whose vectors are here.
        vectors: float32 [m, d], these.
    """

    counts: TextCounts
    scales: Vectors
    is_made: Mask
    places: NDArray[np.int64]
    vectors: Vectors

    @classmethod
    def of(cls, counts: TextCounts, vectors: Vectors, scales: Vectors) -> _MadeTexts:
        """Return texts with all their vectors."""
        is_made = np.array(vectors.any(axis=1), np.bool_)
        return cls(counts, scales, is_made, np.arange(len(vectors)), vectors)

    @classmethod
    def without_vectors(
        cls, counts: TextCounts, embedder: StaticEmbedding, *, rounded: bool = False
    ) -> _MadeTexts:
        """Return texts with those vectors alone that are kept in the place of bags.

        Args:
            counts: of the texts.
            embedder: what embeds them.
            rounded: whether the scales may be rounded otherwise than those of the vectors.
        """
        scales = embedder.scale_sums(counts) if rounded else embedder.scale_counts(counts)
        is_made: Mask = (scales[:, 2] > 0) & np.isfinite(scales[:, 2])
        places = np.flatnonzero(is_made & are_too_often(counts))
        vectors = np.zeros((0, embedder.dimensions), np.float32)
        if len(places):
            vectors, _ = embedder.embed_counts(counts.take(places))
        return cls(counts, scales, is_made, places, vectors)

    def vectors_of(self, texts: NDArray[np.int64]) -> Vectors:
        """Return the vectors of texts that are here."""
        if len(self.places) == len(self.is_made):
            return vectors_of(self.vectors, texts)
        return vectors_of(self.vectors, np.searchsorted(self.places, texts))


def _begin_others(
    embedder: StaticEmbedding, texts: Sequence[str], n_kept: int, counts_of: CountsOf | None
) -> Callable[[], Iterator[_MadeTexts]]:
    """Have other processes, if there are any, begin with texts that are no passages.

    Args:
        embedder: what embeds them.
        texts: the texts.
        n_kept: the first so many whose vectors are wanted; may be below 0.
        counts_of: counts them, and no other process begins; None for `TextCounts.of`.

    Returns:
        What returns what each batch becomes, in turn.
    """
    batches = list(_batches(texts, BATCH))
    items = [(batch, max(n_kept - i * BATCH, 0)) for i, batch in enumerate(batches)]
    begun = None
    if counts_of is None and len(batches) > 1 and len(texts) <= MAX_BESIDE:
        from clew.processes import begin_items  # which a question does not load

        items.reverse()  # others begin with those of which no vector is sent back
        sizes = [sum(map(len, batch)) for batch, _ in items]
        alone = replace(embedder)  # without what it has computed for itself
        begun = begin_items(partial(embed_batch, alone), items, sizes=sizes)
    if begun is None:
        return lambda: (
            _MadeTexts.of(counts, *embedder.embed_counts(counts))
            for counts in map(counts_of or TextCounts.of, batches)
        )
    results = begun.results

    def in_turn() -> Iterator[_MadeTexts]:
        made = results()
        while made:
            one = made.pop()
            yield one._replace(counts=widened(one.counts))

    return in_turn


def embed_batch(embedder: StaticEmbedding, batch: tuple[Sequence[str], int]) -> _MadeTexts:
    """Return what texts become, with those vectors that are wanted, as another process sends it.

    Args:
        embedder: what embeds them.
        batch: the texts, and the first so many whose vectors are wanted.

    Example:
        >>> static = StaticEmbedding.fit(["Anna met Ben."])
        >>> embed_batch(static, (["Anna", "Ben", "..."], 1)).vectors.shape
        (1, 768)
    """
    release_free_memory()  # what the process has done before took as much
    texts, n_kept = batch
    counts = TextCounts.of(texts)
    made = _MadeTexts.of(counts, *embedder.embed_counts(counts))
    is_wanted = (made.is_made & are_too_often(counts)) | (made.places < n_kept)
    places = np.flatnonzero(is_wanted)
    return made._replace(
        counts=narrowed(counts), places=places, vectors=made.vectors_of(places).copy()
    )


def are_too_often(counts: TextCounts) -> Mask:
    """Return whether each text has a word more often than a bag says."""
    found = np.zeros(len(counts), np.bool_)
    for counted in (counts.of_pieces, counts.of_terms):
        found[counted.rows[counted.values > MAX_COUNT]] = True
    return found


def _fitted(
    corpus: Sequence[str], batches: Iterator[TextCounts], sums_once: bool
) -> tuple[StaticEmbedding, Iterator[tuple[TextCounts, tuple[Vectors, Vectors]]]]:
    """Return the embedder that a corpus weights, and of its texts the counts and what these make.

    Args:
        corpus: the texts.
        batches: their counts, in turn.
        sums_once: whether the sums that the mean is made of wait until it is subtracted: they take
            as much memory as the vectors.
    """
    if sums_once:
        every = list(batches)
        embedder, sums = StaticEmbedding.fit_and_sum(every)
        sums.reverse()
        return embedder, ((counts, embedder.centre_sums(sums.pop())) for counts in every)
    counted = deque(map(narrowed, batches))
    embedder = StaticEmbedding.fit_counted(corpus, counted)
    in_turn = (widened(counted.popleft()) for _ in range(len(counted)))
    return embedder, ((counts, embedder.embed_counts(counts)) for counts in in_turn)


def narrowed(counts: TextCounts) -> TextCounts:
    """Return counts that wait for their turn, of which no value is looked at, in less memory."""

    def in_less(rows: CompressedRows) -> CompressedRows:
        is_small = not len(rows.values) or rows.values.max() <= np.iinfo(np.uint8).max
        columns: NDArray[Any] = rows.columns
        if rows.width <= 2**16:
            columns = columns.astype(np.uint16)
        values = rows.values.astype(np.uint8) if is_small else rows.values
        return replace(rows, columns=columns, values=values)

    return replace(counts, of_terms=in_less(counts.of_terms), of_pieces=in_less(counts.of_pieces))


def _batches(texts: Sequence[str], size: int) -> Iterator[list[str]]:
    return (list(texts[start : start + size]) for start in range(0, len(texts), size))


def _bags_of(embedder: StaticEmbedding, source: Source, number_of: Numbering[str]) -> BagSegment:
    """Return a column as bags of terms with these numbers, to which its own are added."""
    parts, start = list[BagSegment](), 0
    tables: dict[BagTable, NDArray[np.int32]] = {}  # many segments have one
    for one in VectorColumn.of(source.vectors).segments:
        end = start + one.shape[0]
        if isinstance(one, BagSegment) and one.table.embedder is embedder:
            if one.table not in tables:
                tables[one.table] = number_of.of_all(one.table.terms)
            parts.append(_renumbered(one, tables[one.table]))
        else:
            first, last = np.searchsorted(source.rows, [start, end])
            rows, texts = source.rows[first:last] - start, source.texts[first:last]
            parts.append(_counted_bags(embedder, one, rows, texts, number_of))
        start = end
    if len(parts) == 1:
        return parts[0]
    starts = offsets_of([part.shape[0] for part in parts]).tolist()
    other_rows = [part.other_rows + at for part, at in zip(parts, starts, strict=False)]
    return BagSegment(
        parts[0].table,
        Bags.joined([part.pieces for part in parts]),
        Bags.joined([part.terms for part in parts]),
        seal(np.concatenate([part.scales for part in parts])),
        np.concatenate(other_rows),
        seal(np.concatenate([part.others for part in parts])),
    )


def _renumbered(segment: BagSegment, numbers: NDArray[np.int32]) -> BagSegment:
    """Return bags with entries of their own, and other numbers for the terms."""
    terms = segment.terms.compact()
    if (numbers != np.arange(len(numbers))).any():  # else they have these numbers
        terms = replace(terms, columns=numbers[terms.columns])
    return replace(segment, pieces=segment.pieces.compact(), terms=terms)


def _counted_bags(
    embedder: StaticEmbedding,
    vectors: VectorSegment,
    rows: NDArray[np.int64],
    texts: Sequence[str],
    number_of: Numbering[str],
) -> BagSegment:
    """Return the bags of rows that come from texts."""
    found = _Rows(vectors.shape[0])
    for start in range(0, len(rows), BATCH):
        some = rows[start : start + BATCH]
        counts = TextCounts.of(list(texts[start : start + BATCH]))
        made, scales = embedder.embed_counts(counts)
        fits = (made == vectors[some]).all(axis=1) & made.any(axis=1)
        found.add(some, counts, scales, fits, number_of)
    other_rows = np.flatnonzero(vectors.has_vector & ~found.is_bag)
    found.keep(other_rows, vectors[other_rows])
    return found.segment(BagTable(embedder, ()))


class _Rows:
    """The rows of a segment, batch by batch."""

    def __init__(self, n: int) -> None:
        self.scales, self.is_bag = np.zeros((n, 3), np.float32), np.zeros(n, np.bool_)
        self.pieces, self.terms = _Entries(n, np.uint16), _Entries(n, np.int32)
        self.other_rows = [np.zeros(0, np.int64)]
        self.others = [np.zeros((0, DIMENSIONS + SIGNATURE_WIDTH), np.float32)]

    def add(
        self,
        rows: NDArray[np.int64],
        counts: TextCounts,
        scales: Vectors,
        fits: Mask,
        number_of: Numbering[str],
    ) -> None:
        """Add the rows that fit and hold no word too often."""
        fits = fits & ~are_too_often(counts)
        numbers, _ = number_of.of_lists([counts.terms])
        self.pieces.add(rows, counts.of_pieces, counts.pieces, fits)
        self.terms.add(rows, counts.of_terms, numbers, fits)
        self.scales[rows[fits]], self.is_bag[rows[fits]] = scales[fits], True

    def add_made(self, start: int, made: _MadeTexts, number_of: Numbering[str]) -> None:
        """Add texts as the rows from one on."""
        behind = start + len(made.is_made)
        self.add(np.arange(start, behind), made.counts, made.scales, made.is_made, number_of)
        others = np.flatnonzero(made.is_made & ~self.is_bag[start:behind])
        self.keep(others + start, made.vectors_of(others))

    def keep(self, rows: NDArray[np.int64], vectors: Vectors) -> None:
        """Add rows with their vectors as they are; they come in ascending order."""
        self.other_rows.append(rows)
        self.others.append(vectors)

    def segment(self, table: BagTable) -> BagSegment:
        """Return the rows as a segment."""
        bags = self.pieces.bags(), self.terms.bags()
        other_rows, others = np.concatenate(self.other_rows), np.concatenate(self.others)
        return BagSegment(table, *bags, seal(self.scales), other_rows, seal(others))


class _Entries:
    """The entries of bags, batch by batch."""

    def __init__(self, n: int, dtype: type[np.generic]) -> None:
        self.lengths, self.dtype = np.zeros(n, np.int64), dtype
        self.columns: list[NDArray[Any]] = [np.zeros(0, dtype)]
        self.counts: list[NDArray[np.uint8]] = [np.zeros(0, np.uint8)]

    def add(
        self, rows: NDArray[np.int64], counted: CompressedRows, numbers: NDArray[Any], fits: Mask
    ) -> None:
        stays = np.repeat(fits, np.diff(counted.starts))
        self.lengths[rows[fits]] = np.diff(counted.starts)[fits]
        self.columns.append(numbers[counted.columns[stays]].astype(self.dtype))
        self.counts.append(counted.values[stays].astype(np.uint8))

    def bags(self) -> Bags:
        columns, counts = np.concatenate(self.columns), np.concatenate(self.counts)
        return Bags.of(self.lengths, seal(columns), seal(counts))
