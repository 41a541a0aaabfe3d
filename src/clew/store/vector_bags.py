"""Vectors in few bytes on the disk: as bags of words, or as whole numbers of one byte.

See `clew.embedding.compact` and `clew.embedding.rounded`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clew.algorithms.compressed_rows import CompressedRows
from clew.algorithms.nearest.hnsw import HNSW
from clew.embedding.bag_segment import BagSegment
from clew.embedding.bag_table import BagTable
from clew.embedding.bags import Bags
from clew.embedding.compact import bag_segments, can_compact, is_large
from clew.embedding.embedded_texts import texts_embedded_as
from clew.embedding.embedder import FittedEmbedder
from clew.embedding.rounded import RoundedSegment, as_rounded
from clew.embedding.static import SIGNATURE_WIDTH, StaticEmbedding
from clew.embedding.word_vectors import DIMENSIONS, PIECES
from clew.graph import (
    AnyVectors,
    VectorColumn,
    Vectors,
    bare_rows,
    freeze,
    offsets_of,
    runs_of,
    take_vectors,
    with_bare_runs,
)
from clew.store.manifest import BAGS as TERMS
from clew.store.manifest import BARE
from clew.store.saved_index import SavedIndex
from clew.store.tables import ColumnReader, ColumnWriter

SIGNATURES = "bags.signatures"
WEIGHTS = "bags.weights"
OWNERS = ("nodes", "facts")
KINDS = {"pieces": np.uint16, "terms": np.int32}
IN_BAGS = (*(f"{kind}.{part}" for kind in KINDS for part in ("columns", "counts")), "others")
MAPPED = (
    *(f"{owner}.vectors" for owner in OWNERS),
    *(f"{owner}.rounded.codes" for owner in OWNERS),
    *(f"{owner}.bags.{name}" for owner in OWNERS for name in IN_BAGS),
)
"""The arrays that stay on the disk and are mapped when they are used."""


def write_vectors(writer: ColumnWriter, index: SavedIndex) -> None:
    """Write the vectors of nodes and facts."""
    graph, embedder = index.graph, index.embedder.fitted
    reads_all = isinstance(index.config.get("nearest"), HNSW)  # the vectors, when it opens
    if not isinstance(embedder, StaticEmbedding) or not can_compact(graph, embedder) or reads_all:
        for owner, vectors in zip(OWNERS, (graph.vectors, graph.facts.vectors), strict=True):
            can_round = is_large(graph) and embedder is None and not reads_all
            _write_as_numbers(writer, owner, vectors, as_rounded(vectors) if can_round else None)
        return
    segments = bag_segments(graph, embedder, texts_embedded_as(index.documents))
    table = segments[0].table
    writer.texts(TERMS, table.terms)
    writer.numbers(WEIGHTS, table.weights, np.float64)
    writer.numbers(f"{SIGNATURES}.starts", table.signatures.starts, np.int32)
    writer.numbers(f"{SIGNATURES}.columns", table.signatures.columns, np.uint16)
    writer.numbers(f"{SIGNATURES}.values", table.signatures.values, np.float32)
    for owner, segment in zip(OWNERS, segments, strict=True):
        for kind in KINDS:
            own = getattr(segment, kind)
            writer.numbers(f"{owner}.bags.{kind}.starts", offsets_of(own.lengths), np.int32)
            writer.numbers(f"{owner}.bags.{kind}.columns", own.columns)
            writer.numbers(f"{owner}.bags.{kind}.counts", own.counts, np.uint8)
        writer.numbers(f"{owner}.bags.scales", segment.scales)
        writer.numbers(f"{owner}.bags.other_rows", segment.other_rows, np.int64)
        writer.numbers(f"{owner}.bags.others", segment.others)


def read_vectors(
    reader: ColumnReader, fitted: FittedEmbedder | None
) -> tuple[AnyVectors, AnyVectors]:
    """Return the vectors of nodes and facts.

    Raises:
        ValueError: The arrays do not fit together.
    """
    if not reader.has(TERMS):
        nodes, facts = (_read_numbers(reader, owner) for owner in OWNERS)
        return nodes, facts
    if not isinstance(fitted, StaticEmbedding):
        raise ValueError(f"{TERMS} is there, and not the embedder that its vectors are made by")  # noqa: TRY004  # a damaged file, no argument
    table = _read_table(reader, fitted)
    read = (VectorColumn([_read_segment(reader, owner, table)]) for owner in OWNERS)
    return next(read), next(read)


def _write_as_numbers(
    writer: ColumnWriter, owner: str, vectors: AnyVectors, whole: RoundedSegment | None
) -> None:
    if whole is None:
        is_bare = bare_rows(vectors)
        if is_bare.any():
            writer.numbers(f"{owner}{BARE}", runs_of(is_bare), np.int64)
            vectors = take_vectors(vectors, np.flatnonzero(~is_bare))
        writer.vectors(f"{owner}.vectors", vectors)
        return
    writer.numbers(f"{owner}.rounded.codes", whole.codes)
    writer.numbers(f"{owner}.rounded.lengths", whole.lengths)
    writer.numbers(f"{owner}.rounded.places", whole.places)


def _read_numbers(reader: ColumnReader, owner: str) -> AnyVectors:
    if not reader.has(f"{owner}.rounded.codes"):
        vectors = freeze(reader.numbers(f"{owner}.vectors", 2), np.float32)
        return _with_bare_rows(reader, owner, vectors)
    codes = reader.numbers(f"{owner}.rounded.codes", 2)
    lengths = freeze(reader.numbers(f"{owner}.rounded.lengths"), np.float64)
    places = freeze(reader.numbers(f"{owner}.rounded.places"), np.int32)
    n = len(codes)
    if (
        codes.dtype != np.int8
        or lengths.shape != (n,)
        or not (lengths > 0).all()
        or (len(places) and not -1 <= places.min() <= places.max() < n)
    ):
        raise ValueError(
            f"{owner}.rounded has {codes.dtype} codes of shape {codes.shape}, {len(lengths)} "
            f"lengths and {len(places)} places that do not fit them"
        )
    return VectorColumn([RoundedSegment(codes, lengths, places)])


def _with_bare_rows(reader: ColumnReader, owner: str, vectors: Vectors) -> AnyVectors:
    """Return vectors that are saved, with the rows that have none: runs, by their lengths.

    Args:
        reader: Reads the arrays.
        owner: Whose vectors they are, one of `OWNERS`.
        vectors: Those of the other rows.

    Raises:
        ValueError: The arrays do not fit together.
    """
    name = f"{owner}{BARE}"
    return with_bare_runs(vectors, reader.numbers(name)) if reader.has(name) else vectors


def _read_table(reader: ColumnReader, embedder: StaticEmbedding) -> BagTable:
    terms = reader.stored_texts(TERMS)
    starts, columns, values = (
        reader.numbers(f"{SIGNATURES}.{name}") for name in ("starts", "columns", "values")
    )
    _check_starts(f"{SIGNATURES}.starts", starts, len(terms), len(columns))
    if len(columns) != len(values) or (len(columns) and columns.max() >= SIGNATURE_WIDTH):
        raise ValueError(f"{SIGNATURES} has {len(values)} values for {len(columns)} columns")
    signatures = CompressedRows(starts, columns, values, SIGNATURE_WIDTH)
    weights = reader.numbers(WEIGHTS)
    if weights.shape != (len(terms),):
        raise ValueError(f"{WEIGHTS} has {len(weights)} weights for {len(terms)} terms")
    return BagTable(embedder, terms, signatures, freeze(weights, np.float64))


def _read_segment(reader: ColumnReader, owner: str, table: BagTable) -> BagSegment:
    scales = freeze(reader.numbers(f"{owner}.bags.scales", 2), np.float32)
    other_rows = reader.numbers(f"{owner}.bags.other_rows").astype(np.int64, copy=False)
    others = freeze(reader.numbers(f"{owner}.bags.others", 2), np.float32)
    n, bags = len(scales), {}
    for kind, dtype in KINDS.items():
        width = PIECES if kind == "pieces" else len(table.terms)
        bags[kind] = _read_bags(reader, f"{owner}.bags.{kind}", dtype, n, width)
    if (
        scales.shape != (n, 3)
        or others.shape != (len(other_rows), DIMENSIONS + SIGNATURE_WIDTH)
        or (len(other_rows) and not 0 <= other_rows[0] <= other_rows[-1] < n)
        or (np.diff(other_rows) <= 0).any()
    ):
        raise ValueError(
            f"{owner}.bags has scales of shape {scales.shape} and {len(other_rows)} other rows "
            f"of shape {others.shape}"
        )
    return BagSegment(table, bags["pieces"], bags["terms"], scales, other_rows, others)


def _read_bags(reader: ColumnReader, name: str, dtype: type[Any], n: int, width: int) -> Bags:
    starts, columns, counts = (
        reader.numbers(f"{name}.{part}") for part in ("starts", "columns", "counts")
    )
    _check_starts(f"{name}.starts", starts, n, len(columns))
    is_in_range = not len(columns) or 0 <= int(columns.min()) <= int(columns.max()) < width
    if len(counts) != len(columns) or not is_in_range:
        raise ValueError(f"{name} has {len(counts)} counts for {len(columns)} columns of {width}")
    starts = freeze(starts, np.int32)
    return Bags(starts[:-1], starts[1:], _as_read(columns, dtype), freeze(counts, np.uint8))


def _as_read(columns: Any, dtype: type[Any]) -> Any:  # noqa: ANN401  # arrays
    """Return columns in the type of their kind; narrow ones stay mapped."""
    return freeze(columns, np.uint16 if columns.dtype == np.uint16 else dtype)


def _check_starts(name: str, starts: Any, n: int, total: int) -> None:  # noqa: ANN401  # an array
    if len(starts) != n + 1 or starts[0] != 0 or starts[-1] != total or (np.diff(starts) < 0).any():
        raise ValueError(f"{name} does not divide {total} entries into {n} rows")
