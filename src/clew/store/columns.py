"""A saved index as columns: its graph, its documents, the facts it was given, what was left out."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any

import numpy as np

from clew.algorithms.nearest.hnsw import HNSW, HNSWIndex
from clew.document import Document
from clew.embedding.compact import is_compact
from clew.embedding.embedder import FittedEmbedder
from clew.graph import EMPTY, AnyVectors, Edges, Facts, Graph, Vectors, freeze
from clew.read import Knowledge, Triple
from clew.read.json_values import to_json
from clew.store.compression import compressed
from clew.store.document_parts import parts_of_documents
from clew.store.file_readings import StoredReading, read_readings, write_readings
from clew.store.fitted_embedder import read_fitted, write_fitted
from clew.store.inverted_index import NAME as WORDS
from clew.store.inverted_index import restore_inverted_index, write_inverted_index
from clew.store.knowledge import read_knowledge, write_knowledge
from clew.store.manifest import TEXT_BLOCKS
from clew.store.metadata_texts import parse_metadata
from clew.store.narrow import narrowed
from clew.store.saved_index import Pair, SavedIndex
from clew.store.source_maps import read_source_maps, write_source_maps
from clew.store.stage_parts import restore_stage_parts, write_stage_parts
from clew.store.tables import Arrays, ColumnReader, ColumnWriter
from clew.store.vector_bags import MAPPED, read_vectors, write_vectors

ROW_COLUMNS = ("tokens", "documents", "parents", "previous")
ATTACHED_NAMES, ATTACHED_TEXTS = "attached.names", "attached.texts"
NEAREST_GONE = "nearest.gone"  # vectors of deleted rows of the approximate index
PARTS = "documents.parts"  # in place of "documents.text"
BROUGHT = "documents.facts"  # what documents brought along, where some did
DOCUMENT_TEXTS = ("id", "text", "source", "parent", "previous", "embedded_as", "format")
NO_ROW = -1
DEFAULTS = {each.name: each.default for each in fields(Document) if each.default is not MISSING}
OTHER_TEXTS = tuple(name for name in DOCUMENT_TEXTS if name != "text")

Metadata = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class StoredColumns:
    """What the columns of a saved index hold; see `SavedIndex` for the attributes.

    Attributes:
        fitted: What the embedded default is made of; None for any other embedder.
    """

    graph: Graph
    documents: tuple[Document, ...]
    facts: Mapping[str, Sequence[Triple]]
    extracted: Mapping[str, Sequence[Triple]]
    knowledge: Knowledge | None
    skipped: tuple[tuple[str, str], ...]
    files: tuple[StoredReading, ...]
    failed: tuple[tuple[str, str], ...]
    strengths: Mapping[Pair, float]
    built_strengths: Mapping[Pair, float]
    attachments: Mapping[str, str]
    fitted: FittedEmbedder | None


def columns_of(index: SavedIndex) -> Arrays:
    """Return everything that an index holds as arrays.

    Raises:
        ValueError, TypeError: Naming what the arrays cannot hold.
    """
    writer = ColumnWriter()
    _write_graph(writer, index.graph)
    write_vectors(writer, index)
    are_many = is_compact(index.graph)
    parts = parts_of_documents(index) if are_many else None
    write_documents(writer, index.documents, index.graph, parts)
    _write_metadata(writer, index)
    write_triples(writer, "given.documents", "given.facts", index.facts)
    writer.lists("skipped", index.skipped)
    write_readings(writer, [*index.files.values()])
    writer.lists("failed", index.failed)
    write_triples(writer, "read.passages", "read.facts", index.extracted)
    if index.knowledge is not None:
        write_knowledge(writer, index.knowledge)
    _write_learned(writer, index)
    if index.attachments:
        writer.texts(ATTACHED_NAMES, index.attachments)
        writer.texts(ATTACHED_TEXTS, index.attachments.values())
    if index.embedder.fitted is not None:
        write_fitted(writer, index.embedder.fitted)
    _write_nearest(writer, index)
    write_inverted_index(writer, index.graph)
    if are_many:
        write_stage_parts(writer, index.graph)
    if not are_many:
        return writer.done()  # in the format that an earlier clew reads, too
    return compressed(narrowed(writer.done_in_blocks()), (*MAPPED, TEXT_BLOCKS))


def read_columns(
    reader: ColumnReader,
    count: Callable[[str], int],
    fitted_name: str | None,
    has_attachments: bool = False,
) -> StoredColumns:
    """Return what the arrays of a saved index hold.

    Args:
        reader: Reads the arrays.
        count: The tokenizer of the graph.
        fitted_name: The name of the embedded default; None for any other embedder.
        has_attachments: Whether something was saved with the index.

    Raises:
        ValueError, TypeError, IndexError: The arrays do not fit together.
    """
    metadata = [parse_metadata(text) for text in reader.texts("metadata")]
    fitted = read_fitted(reader, fitted_name) if fitted_name else None
    vectors, fact_vectors = read_vectors(reader, fitted)
    graph = _read_graph(reader, metadata, count, vectors, fact_vectors)
    strengths, built_strengths = _read_learned(reader)
    given = read_triples(reader, "given.documents", "given.facts")
    numbers = _read_numbers(reader, "documents.metadata", len(metadata))
    vector_rows = _read_numbers(reader, "documents.vector", len(graph), -1)
    return StoredColumns(
        graph=graph,
        documents=read_documents(
            reader,
            [metadata[number] for number in numbers],
            [graph.vectors[row] if row >= 0 else None for row in vector_rows],
        ),
        facts={id: list(triples) for id, triples in given},
        extracted=dict(read_triples(reader, "read.passages", "read.facts")),
        knowledge=read_knowledge(reader),
        skipped=tuple((file, reason) for file, reason in reader.lists("skipped")),
        files=read_readings(reader),
        failed=tuple((name, reason) for name, reason in reader.lists("failed")),
        strengths=strengths,
        built_strengths=built_strengths,
        attachments=_read_attachments(reader) if has_attachments else EMPTY,
        fitted=fitted,
    )


def write_triples(
    writer: ColumnWriter, keys: str, values: str, triples: Mapping[str, Sequence[Triple]]
) -> None:
    """Write triples by key, each key's as one row of their parts."""
    writer.texts(keys, triples)
    writer.lists(values, [_parts_of(some) for some in triples.values()])


def read_triples(
    reader: ColumnReader, keys: str, values: str
) -> Iterator[tuple[str, tuple[Triple, ...]]]:
    """Yield every key with its triples."""
    for key, parts in zip(reader.texts(keys), reader.lists(values), strict=True):
        yield key, _triples_of(parts)


def _parts_of(triples: Iterable[Triple]) -> list[str]:
    return [part for triple in triples for part in triple]


def _triples_of(parts: Sequence[str]) -> tuple[Triple, ...]:
    return tuple(zip(parts[::3], parts[1::3], parts[2::3], strict=True))


def _write_nearest(writer: ColumnWriter, index: SavedIndex) -> None:
    """Write the approximate index, where the configuration has one: its links and its rows."""
    options = index.config.get("nearest")
    if isinstance(options, HNSW):
        nearest = index.graph.part(options)
        writer.numbers("nearest.links", nearest.to_bytes(), np.uint8)
        writer.numbers("nearest.rows", nearest.rows, np.int64)
        if nearest.deleted.any():  # links lead over them still
            gone = nearest.vectors(np.flatnonzero(nearest.deleted))
            writer.numbers(NEAREST_GONE, gone, np.float32)


def restore_parts(reader: ColumnReader, has: Container[str], graph: Graph, options: object) -> None:
    """Give a loaded graph what was saved of its parts: its words, what stages found, nearest rows.

    Args:
        reader: Reads the arrays.
        has: The names that there are.
        graph: The graph.
        options: Those of the approximate index, or None.
    """
    if WORDS in has and graph.canonical is None:
        restore_inverted_index(reader, graph)
        restore_stage_parts(reader, has, graph)
    _restore_nearest(reader, graph, options)


def _restore_nearest(reader: ColumnReader, graph: Graph, options: object) -> None:
    """Give a loaded graph its approximate index, where the configuration has one.

    Where faiss is missing, or is one that cannot read what another has saved, the index is made
    anew by the first question that needs it: from the same rows comes the same index.
    """
    if not isinstance(options, HNSW):
        return
    rows, links = reader.numbers("nearest.rows"), reader.numbers("nearest.links")
    if len(rows) and not -1 <= int(rows.min()) <= int(rows.max()) < len(graph):
        raise ValueError("nearest.rows names rows that the index does not have")
    vectors, is_gone = np.array(graph.vectors[np.maximum(rows, 0)]), rows < 0
    if is_gone.any():
        vectors[is_gone] = reader.numbers(NEAREST_GONE, 2)
    try:
        nearest = HNSWIndex.from_bytes(options, links, vectors, rows)
    except (ImportError, ValueError) as error:
        logging.getLogger("clew").warning("the approximate index is made anew: %s", error)
        return
    graph.set_part(options, nearest)


def _read_attachments(reader: ColumnReader) -> dict[str, str]:
    return dict(zip(reader.texts(ATTACHED_NAMES), reader.texts(ATTACHED_TEXTS), strict=True))


def _write_learned(writer: ColumnWriter, index: SavedIndex) -> None:
    pairs = list(index.strengths)
    writer.lists("learned.pairs", pairs)
    writer.numbers("learned.strengths", [index.strengths[pair] for pair in pairs], np.float64)
    writer.numbers("learned.built", [index.built_strengths[pair] for pair in pairs], np.float64)


def _read_learned(reader: ColumnReader) -> tuple[dict[Pair, float], dict[Pair, float]]:
    pairs = [(tail, head) for tail, head in reader.lists("learned.pairs")]
    strengths = reader.numbers("learned.strengths").tolist()
    built = reader.numbers("learned.built").tolist()
    return dict(zip(pairs, strengths, strict=True)), dict(zip(pairs, built, strict=True))


def _write_metadata(writer: ColumnWriter, index: SavedIndex) -> None:
    """Write every mapping once: a node of a document has the very mapping of the document.

    So it is one object again when it is read.
    """
    number_of: dict[int, int] = {}
    distinct: list[tuple[str, Metadata]] = []  # keeps them alive, so that no identity comes twice
    documents, graph = index.documents, index.graph
    columns = (
        ("document", [one.id for one in documents], [one.metadata for one in documents]),
        ("node", graph.ids, graph.metadata),
    )
    for owner, ids, all_metadata in columns:
        numbers = list[int]()
        for row, metadata in enumerate(all_metadata):
            number = number_of.setdefault(id(metadata), len(distinct))
            if number == len(distinct):
                distinct.append((f"{owner} {ids[row]!r}", metadata))
            numbers.append(number)
        writer.numbers(f"{owner}s.metadata", numbers, np.int32)
    texts = [
        json.dumps(to_json(metadata, f"{owner}: metadata"), allow_nan=False)
        for owner, metadata in distinct
    ]
    writer.texts("metadata", texts)


def _write_graph(writer: ColumnWriter, graph: Graph) -> None:
    writer.texts("nodes.ids", graph.ids)
    writer.labels("nodes.kinds", graph.kinds)
    writer.texts("nodes.texts", graph.texts)
    for name in (*ROW_COLUMNS, "spans"):
        writer.numbers(f"nodes.{name}", getattr(graph, name))
    writer.numbers("nodes.made", graph.generated)
    writer.lists("nodes.references", graph.references)
    writer.ragged("nodes.read_from", graph.read_from)
    facts, edges = graph.facts, graph.edges
    writer.texts("facts.texts", facts.texts)
    writer.labels("facts.relations", facts.relations)
    writer.ragged("facts.read_from", facts.read_from)
    for name in ("subjects", "objects"):
        writer.numbers(f"facts.{name}", getattr(facts, name))
    writer.labels("edges.kinds", edges.kinds)
    writer.ragged("edges.read_from", edges.read_from)
    for name in ("tails", "heads", "weights", "facts"):
        writer.numbers(f"edges.{name}", getattr(edges, name))


def _read_graph(
    reader: ColumnReader,
    metadata: Sequence[Metadata],
    count: Callable[[str], int],
    vectors: AnyVectors,
    fact_vectors: AnyVectors,
) -> Graph:
    ids = reader.stored_texts("nodes.ids")
    rows: dict[str, Any] = {
        name: freeze(reader.numbers(f"nodes.{name}"), np.int32) for name in ROW_COLUMNS
    }
    numbers = _read_numbers(reader, "nodes.metadata", len(metadata))
    return Graph(
        ids=ids,
        kinds=reader.labels("nodes.kinds"),
        texts=reader.stored_texts("nodes.texts"),
        vectors=vectors,
        **rows,
        spans=freeze(reader.numbers("nodes.spans", 2), np.int32),
        references=reader.lists("nodes.references"),
        read_from=reader.ragged("nodes.read_from"),
        generated=freeze(reader.numbers("nodes.made"), np.bool_),
        metadata=tuple(metadata[number] for number in numbers),
        originals=(None,) * len(ids),
        facts=_read_facts(reader, fact_vectors),
        edges=_read_edges(reader),
        count=count,
    )


def _read_facts(reader: ColumnReader, vectors: AnyVectors) -> Facts:
    return Facts(
        reader.stored_texts("facts.texts"),
        vectors,
        freeze(reader.numbers("facts.subjects"), np.int32),
        freeze(reader.numbers("facts.objects"), np.int32),
        reader.labels("facts.relations"),
        reader.ragged("facts.read_from"),
    )


def _read_edges(reader: ColumnReader) -> Edges:
    return Edges(
        freeze(reader.numbers("edges.tails"), np.int32),
        freeze(reader.numbers("edges.heads"), np.int32),
        reader.labels("edges.kinds"),
        freeze(reader.numbers("edges.weights"), np.float32),
        freeze(reader.numbers("edges.facts"), np.int32),
        reader.ragged("edges.read_from"),
    )


def write_documents(
    writer: ColumnWriter,
    documents: Sequence[Document],
    graph: Graph | None,
    parts: Sequence[Sequence[str]] | None = None,
) -> None:
    """Write documents, but for their metadata; their vectors as the rows of the graph's.

    Args:
        writer: The writer.
        documents: The documents.
        graph: The graph with their nodes; None where no document has a vector of its own.
        parts: What the text of each consists of, so that no passage is written twice; None to write
            the texts whole.
    """
    for name in DOCUMENT_TEXTS if parts is None else OTHER_TEXTS:
        writer.texts(f"documents.{name}", [getattr(document, name) for document in documents])
    if parts is not None:
        writer.lists(PARTS, parts)
    writer.lists("documents.references", [document.references for document in documents])
    if any(document.facts for document in documents):
        writer.lists(BROUGHT, [_parts_of(document.facts) for document in documents])
    writer.numbers("documents.heading", [document.heading for document in documents], np.bool_)
    spans = [document.span or (-1, -1) for document in documents]
    writer.numbers("documents.span", np.array(spans, np.int64).reshape(-1, 2))
    vector_rows = [NO_ROW] * len(documents)
    if graph is not None and any(document.vector is not None for document in documents):
        row_of = {id: row for row, id in enumerate(graph.ids)}
        vector_rows = [
            NO_ROW if one.vector is None else _vector_row(graph, row_of.get(one.id, NO_ROW))
            for one in documents
        ]
    writer.numbers("documents.vector", vector_rows, np.int32)
    write_source_maps(writer, [document.source_map for document in documents])


def _vector_row(graph: Graph, row: int) -> int:
    """Return the row that has a document's own vector, or -1.

    The graph does not have the vector of a document that was cut into pieces.
    """
    return row if row >= 0 and graph.vectors[row].any() else NO_ROW


def read_documents(
    reader: ColumnReader, metadata: Sequence[Metadata], vectors: Sequence[Vectors | None]
) -> tuple[Document, ...]:
    """Return documents, each with its metadata and its own vector or None."""
    columns: dict[str, Sequence[Any]] = {
        "id": reader.texts("documents.id"),
        "metadata": metadata,
        "vector": vectors,
        "source": reader.optional_texts("documents.source"),
        "span": [
            None if start < 0 else (start, end)
            for start, end in reader.numbers("documents.span", 2).tolist()
        ],
        "parent": reader.optional_texts("documents.parent"),
        "previous": reader.optional_texts("documents.previous"),
        "heading": reader.numbers("documents.heading").tolist(),
        "embedded_as": reader.optional_texts("documents.embedded_as"),
        "references": reader.lists("documents.references"),
        "format": reader.texts("documents.format"),
        "source_map": read_source_maps(reader, len(metadata)),
    }
    if reader.has(f"{BROUGHT}.starts"):
        columns["facts"] = [*map(_triples_of, reader.lists(BROUGHT))]
    columns = {name: own for name, own in columns.items() if not _are_defaults(name, own)}
    names, rows = tuple(columns), zip(*columns.values(), strict=True)
    if not reader.has(f"{PARTS}.starts"):
        texts = reader.texts("documents.text")
        return tuple(
            Document(text=text, **dict(zip(names, values, strict=True)))
            for text, values in zip(texts, rows, strict=True)
        )
    return tuple(
        Document.stored(make_text, dict(zip(names, values, strict=True)))
        for make_text, values in zip(reader.joined_lists(PARTS), rows, strict=True)
    )


def _are_defaults(name: str, values: Sequence[Any]) -> bool:
    """Whether all documents have the default, which each has without holding it.

    Of a vector this is not asked of all: to compare one takes a while.
    """
    if name == "vector":
        return not any(value is not None for value in values)
    return name in DEFAULTS and values.count(DEFAULTS[name]) == len(values)


def _read_numbers(reader: ColumnReader, name: str, n: int, minimum: int = 0) -> list[int]:
    """Return a column of places among n things; -1 stands for none where the minimum allows it."""
    numbers: list[int] = reader.numbers(name).tolist()
    if numbers and not (minimum <= min(numbers) and max(numbers) < n):
        raise ValueError(f"{name} points outside the {n} it chooses from")
    return numbers
