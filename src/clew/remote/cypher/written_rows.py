"""The rows of an index as statements write them: lists of values, some of them at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.graph import Graph
from clew.remote.cypher.generation import key_of_node, keys_of
from clew.remote.cypher.rows import rows_of
from clew.remote.cypher.texts import keepable, text_of_vector
from clew.remote.cypher.wanted_values import metadata_values
from clew.remote.rows import RowNumbers
from clew.store.graph_tables import EDGES, FACTS, NODES

BATCH_CHARACTERS, BATCH_ROWS = 2 * 2**20, 1000
"""How much one statement writes: the first that is reached."""

DECIMALS = 8  # of a vector that is searched; the one that is read is exact

NODE_LABELS = {
    name: name.capitalize()
    for name in ("passage", "entity", "section", "document", "sentence", "report", "description")
}
"""The label of each kind of node beside `ClewNode`; those of another kind have that alone."""

EDGE_TYPES = {
    name: name.upper()
    for name in ("contains", "next", "mentions", "fact", "similar", "synonym", "shared")
} | {name: name.upper() for name in ("hyperlink", "related", "alike", "short_form")}
"""The type of each kind of edge; those of another kind are `EDGE`."""

NODE_PROPERTIES = (
    *("number", "id", "kind", "text", "tokens", "document", "parent", "previous"),
    *("span_start", "span_end", "links", "read_from", "generated", "metadata", "above"),
    *("mentions", "contents", "language", "values", "data", "key"),
)
FACT_PROPERTIES = (
    *("number", "text", "subject", "object", "relation", "read_from", "data", "key"),
)
EDGE_PROPERTIES = ("number", "kind", "weight", "bits", "fact", "read_from")


def properties_of_row(names: Sequence[str], *, indexed: bool = True) -> str:
    """Return the properties that are taken from a row, and the number of the generation."""
    own = ["index: $index"] if indexed else []
    return "{" + ", ".join([*own, *(f"{name}: r[{at}]" for at, name in enumerate(names))]) + "}"


def _text(data: object) -> str:
    assert isinstance(data, bytes)
    return keepable(data.decode("utf-8", "surrogatepass"))


def node_rows(
    named: int, graph: Graph, numbers: RowNumbers, rows: NDArray[np.int64]
) -> Iterator[list[object]]:
    """Yield nodes as their `NODE_PROPERTIES`, and then the vector that is searched.

    Args:
        named: The generation in their keys.
        graph: The whole graph.
        numbers: Those of its rows.
        rows: Which nodes.
    """
    made: Iterator[Any] = rows_of(NODES, graph, numbers, rows)
    for row, (number, id, kind, text, *plain, vector) in zip(rows.tolist(), made, strict=True):
        before, links, between, metadata, after = (
            plain[:6],
            [_text(link) for link in plain[6]],
            plain[7:9],
            plain[9],
            plain[10:],
        )
        yield [
            *(number, _text(id), keepable(str(kind)), _text(text), *before, links, *between),
            *(metadata, *after, metadata_values(graph.metadata[row]), text_of_vector(vector)),
            *(key_of_node(named, number), searched_vector(vector)),
        ]


def fact_rows(
    named: int, graph: Graph, numbers: RowNumbers, rows: NDArray[np.int64]
) -> Iterator[list[object]]:
    """Yield facts as their `FACT_PROPERTIES`, then the vector that is searched and both ends."""
    made: Iterator[Any] = rows_of(FACTS, graph, numbers, rows)
    for number, text, subject, object, relation, read_from, vector in made:
        yield [
            *(number, _text(text), subject, object, _text(relation), read_from),
            *(text_of_vector(vector), key_of_node(named, number), searched_vector(vector)),
            *keys_of(named, (subject, object)),
        ]


def edge_rows(
    named: int, graph: Graph, numbers: RowNumbers, rows: NDArray[np.int64]
) -> Iterator[list[object]]:
    """Yield edges as their `EDGE_PROPERTIES`, and then both ends."""
    bits = graph.edges.weights[rows].astype(np.float32).view(np.int32).tolist()
    made: Iterator[Any] = rows_of(EDGES, graph, numbers, rows)
    for bit, (number, tail, head, kind, weight, fact, read_from) in zip(bits, made, strict=True):
        yield [
            *(number, keepable(str(kind)), weight, bit, fact, read_from),
            *keys_of(named, (tail, head)),
        ]


def searched_vector(vector: NDArray[np.float32] | None) -> list[float] | None:
    """Return a vector as it is searched; None for none."""
    return None if vector is None else np.round(vector.astype(np.float64), DECIMALS).tolist()


def node_labels(row: Sequence[object], near: str) -> str:
    """Return the labels of a row of `node_rows`; `near` is that of passages that are searched."""
    kind = str(row[NODE_PROPERTIES.index("kind")])
    label = NODE_LABELS.get(kind)
    labels = ["ClewNode", *([label] if label else [])]
    if near and kind == "passage":
        labels.append(near)
    return ":".join(labels)


def grouped(
    rows: Iterable[list[object]],
    of: Any,  # noqa: ANN401
) -> Iterator[tuple[str, list[list[object]]]]:
    """Yield rows by what a function says of each, some of them at once, in their order."""
    waiting: dict[str, list[list[object]]] = {}
    for row in rows:
        group = waiting.setdefault(of(row), [])
        group.append(row)
        if len(group) >= BATCH_ROWS:
            yield of(row), waiting.pop(of(row))
    yield from waiting.items()


def batches(rows: Iterable[list[object]]) -> Iterator[list[list[object]]]:
    """Yield rows, as many at once as one statement writes."""
    batch, size = list[list[object]](), 0
    for row in rows:
        batch.append(row)
        size += characters_of(row)
        if len(batch) >= BATCH_ROWS or size >= BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def characters_of(row: Sequence[object]) -> int:
    """Return about how many characters a row takes in a statement."""
    return sum(
        len(one) if isinstance(one, str) else 12 * len(one) if isinstance(one, list) else 8
        for one in row
    )
