"""What an index holds, as columns: its graph, its documents, the facts it was given and the files it skipped."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from clew.document import Document
from clew.embedding.latent_semantic import LatentSemantic
from clew.graph import EMPTY, Edges, Facts, Graph, freeze
from clew.index.index import Index
from clew.index.learning import Learned
from clew.read import Triple
from clew.store.json_values import from_json, to_json
from clew.store.tables import Arrays, ColumnReader, ColumnWriter

ROWS = ("tokens", "documents", "parents", "previous")


def arrays_of(index: Index) -> Arrays:
    """Return everything that an index holds as arrays; raise ValueError, naming it, for what they cannot hold."""
    to = ColumnWriter()
    _write_graph(to, index.graph)
    _write_documents(to, index.documents, index.graph)
    _write_metadata(to, index)
    to.texts("given.documents", index.facts)
    to.lists(
        "given.facts",
        [[part for triple in said for part in triple] for said in index.facts.values()],
    )
    to.lists("skipped", index.skipped)
    to.lists("failed", index.failed)
    to.texts("read.passages", index.extracted)
    to.lists(
        "read.facts",
        [[part for triple in said for part in triple] for said in index.extracted.values()],
    )
    to.lists("learned.pairs", list(index.learned.strengths))
    to.numbers("learned.strengths", list(index.learned.strengths.values()), np.float64)
    to.numbers(
        "learned.built", [index.learned.built[pair] for pair in index.learned.strengths], np.float64
    )
    if index.embedder.latent is not None:
        _write_latent(to, index.embedder.latent)
    return to.done()


def index_parts(
    array: Callable[[str], Any], count: Callable[[str], int], fitted: bool
) -> tuple[dict[str, Any], LatentSemantic | None]:
    """Return the graph, documents, facts and skipped files of an index, by its fields' names, and what its embedder is made of.

    Args:
        array: gives the array of that name. count: the tokenizer. fitted: whether the embedder is the embedded default.
    """
    of = ColumnReader(array)
    metadata = [_mapping(text) for text in of.texts("metadata")]
    graph = _read_graph(of, metadata, count)
    facts = {id: list(said) for id, said in _triples(of, "given.documents given.facts")}
    read = dict(_triples(of, "read.passages read.facts"))
    skipped = tuple((file, reason) for file, reason in of.lists("skipped"))
    failed = tuple((text, reason) for text, reason in of.lists("failed"))
    documents = _read_documents(of, metadata, graph)
    parts = {
        "graph": graph,
        "documents": documents,
        "facts": facts,
        "skipped": skipped,
        "failed": failed,
        "extracted": read,
    }
    parts["learned"] = _read_learned(of)
    return parts, _read_latent(of) if fitted else None


def _read_learned(of: ColumnReader) -> Learned:
    pairs = [(tail, head) for tail, head in of.lists("learned.pairs")]
    columns = (of.numbers(f"learned.{name}").tolist() for name in ("strengths", "built"))
    return Learned(*(dict(zip(pairs, column, strict=True)) for column in columns))


def _triples(of: ColumnReader, names: str) -> Iterator[tuple[str, tuple[Triple, ...]]]:
    """Triples by what they are of, which were written as rows of their parts."""
    keys, held = names.split()
    for key, said in zip(of.texts(keys), of.lists(held), strict=True):
        yield key, tuple(zip(said[::3], said[1::3], said[2::3], strict=True))


def _write_metadata(to: ColumnWriter, index: Index) -> None:
    """A node of a document has the very metadata of the document: kept once, and one object again when it is read."""
    number: dict[int, int] = {}
    held: list[
        tuple[str, Mapping[str, Any]]
    ] = []  # also keeps the objects alive, so that no identity is used twice
    documents = [(f"document {document.id!r}", document.metadata) for document in index.documents]
    nodes = [
        (f"node {id!r}", metadata)
        for id, metadata in zip(index.graph.ids, index.graph.metadata, strict=True)
    ]
    for name, owners in (("documents", documents), ("nodes", nodes)):
        for owner, metadata in owners:
            if id(metadata) not in number:
                number[id(metadata)] = len(held)
                held.append((owner, metadata))
        to.numbers(f"{name}.metadata", [number[id(metadata)] for _, metadata in owners], np.int32)
    to.texts(
        "metadata",
        [
            json.dumps(to_json(metadata, f"{owner}: metadata"), allow_nan=False)
            for owner, metadata in held
        ],
    )


def _write_graph(to: ColumnWriter, graph: Graph) -> None:
    to.texts("nodes.ids", graph.ids)
    to.labels("nodes.kinds", graph.kinds)
    to.texts("nodes.texts", graph.texts)
    to.numbers("nodes.vectors", graph.vectors)
    for name in (*ROWS, "spans"):
        to.numbers(f"nodes.{name}", getattr(graph, name))
    to.numbers("nodes.made", graph.generated)
    to.lists("nodes.references", graph.references)
    to.ragged("nodes.read_from", graph.read_from)
    facts, edges = graph.facts, graph.edges
    to.texts("facts.texts", facts.texts)
    to.labels("facts.relations", facts.relations)
    to.ragged("facts.read_from", facts.read_from)
    for name in ("vectors", "subjects", "objects"):
        to.numbers(f"facts.{name}", getattr(facts, name))
    to.labels("edges.kinds", edges.kinds)
    to.ragged("edges.read_from", edges.read_from)
    for name in ("tails", "heads", "weights", "facts"):
        to.numbers(f"edges.{name}", getattr(edges, name))


def _read_graph(
    of: ColumnReader, metadata: Sequence[Mapping[str, Any]], count: Callable[[str], int]
) -> Graph:
    ids = of.texts("nodes.ids")
    rows: dict[str, Any] = {
        name: freeze(of.numbers(f"nodes.{name}"), np.int32) for name in (*ROWS, "spans")
    }
    return Graph(
        ids=ids,
        kinds=of.labels("nodes.kinds"),
        texts=of.texts("nodes.texts"),
        vectors=freeze(of.numbers("nodes.vectors"), np.float32),
        **rows,
        references=of.lists("nodes.references"),
        read_from=of.ragged("nodes.read_from"),
        generated=freeze(of.numbers("nodes.made"), np.bool_),
        metadata=tuple(
            metadata[number] for number in _numbers(of, "nodes.metadata", len(metadata))
        ),
        originals=(None,) * len(ids),
        facts=Facts(
            of.texts("facts.texts"),
            freeze(of.numbers("facts.vectors"), np.float32),
            freeze(of.numbers("facts.subjects"), np.int32),
            freeze(of.numbers("facts.objects"), np.int32),
            of.labels("facts.relations"),
            of.ragged("facts.read_from"),
        ),
        edges=Edges(
            freeze(of.numbers("edges.tails"), np.int32),
            freeze(of.numbers("edges.heads"), np.int32),
            of.labels("edges.kinds"),
            freeze(of.numbers("edges.weights"), np.float32),
            freeze(of.numbers("edges.facts"), np.int32),
            of.ragged("edges.read_from"),
        ),
        count=count,
    )


def _write_documents(to: ColumnWriter, documents: Sequence[Document], graph: Graph) -> None:
    for name in ("id", "text", "source", "parent", "previous", "embedded_as", "format"):
        to.texts(f"documents.{name}", [getattr(document, name) for document in documents])
    to.lists("documents.references", [document.references for document in documents])
    to.numbers("documents.heading", [document.heading for document in documents], np.bool_)
    to.numbers(
        "documents.span",
        np.array([document.span or (-1, -1) for document in documents], np.int64).reshape(-1, 2),
    )
    row = (
        {id: row for row, id in enumerate(graph.ids)}
        if any(document.vector is not None for document in documents)
        else {}
    )
    to.numbers(
        "documents.vector",
        [-1 if d.vector is None else _row_of_vector(graph, row.get(d.id, -1)) for d in documents],
        np.int32,
    )


def _row_of_vector(graph: Graph, row: int) -> int:
    """Where the graph has a document's own vector; one that it made no use of (of a document cut into pieces) is nowhere: -1."""
    return row if row >= 0 and graph.vectors[row].any() else -1


def _read_documents(
    of: ColumnReader, metadata: Sequence[Mapping[str, Any]], graph: Graph
) -> tuple[Document, ...]:
    vectors = _numbers(of, "documents.vector", len(graph), -1)
    return tuple(
        Document(
            id=id,
            text=text,
            metadata=metadata[number],
            vector=graph.vectors[vector] if vector >= 0 else None,
            source=source,
            span=None if start < 0 else (start, end),
            parent=parent,
            previous=previous,
            heading=heading,
            embedded_as=embedded_as,
            references=references,
            format=format,
        )
        for id, text, number, vector, source, (
            start,
            end,
        ), parent, previous, heading, embedded_as, references, format in zip(
            of.texts("documents.id"),
            of.texts("documents.text"),
            _numbers(of, "documents.metadata", len(metadata)),
            vectors,
            of.perhaps("documents.source"),
            of.numbers("documents.span").tolist(),
            of.perhaps("documents.parent"),
            of.perhaps("documents.previous"),
            of.numbers("documents.heading").tolist(),
            of.perhaps("documents.embedded_as"),
            of.lists("documents.references"),
            of.texts("documents.format"),
            strict=True,
        )
    )


def _write_latent(to: ColumnWriter, latent: LatentSemantic) -> None:
    to.texts("latent.vocabulary", latent.vocabulary)
    to.numbers("latent.unknown", [latent.unknown], np.float64)
    for name in ("idf", "components", "overlap"):
        to.numbers(f"latent.{name}", getattr(latent, name))


def _read_latent(of: ColumnReader) -> LatentSemantic:
    vocabulary, unknown = of.texts("latent.vocabulary"), of.numbers("latent.unknown")
    idf, components, overlap = (
        of.numbers(f"latent.{name}") for name in ("idf", "components", "overlap")
    )
    if (
        unknown.shape != (1,)
        or idf.shape != (len(vocabulary),)
        or components.shape != (len(vocabulary), len(overlap))
        or overlap.ndim != 2
    ):
        raise ValueError(
            f"the embedder of {len(vocabulary)} words has arrays of shapes {idf.shape}, {components.shape} and {overlap.shape}"
        )
    return LatentSemantic(
        vocabulary,
        freeze(idf, np.float64),
        float(unknown[0]),
        freeze(components, np.float32),
        freeze(overlap, np.float32),
    )


def _numbers(of: ColumnReader, name: str, n: int, least: int = 0) -> list[int]:
    numbers: list[int] = of.numbers(name).tolist()
    if numbers and not (least <= min(numbers) and max(numbers) < n):
        raise ValueError(f"{name} points outside the {n} it chooses from")
    return numbers


def _mapping(text: str) -> Mapping[str, Any]:
    held = from_json(json.loads(text))
    if not isinstance(held, dict):
        raise ValueError("metadata are no dictionary")  # noqa: TRY004  # a damaged file, not a wrong argument
    return held or EMPTY
