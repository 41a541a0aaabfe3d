"""A graph as three tables of columns, each of a kind: nodes, facts and edges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from clew.graph import GraphColumns
from clew.store.column_kinds import (
    ColumnKind,
    MetadataColumn,
    Numbers,
    RowLists,
    TextLists,
    Texts,
    VectorRows,
    Words,
)

NODES, FACTS, EDGES = "nodes", "facts", "edges"


def graph_tables() -> dict[str, dict[str, ColumnKind]]:
    """Return the kind of every column, by table and name.

    A column of nodes is a field of `Graph`, one of facts of `Facts`, one of edges of `Edges`. What
    is read with one call shares its metadata.
    """
    return {
        NODES: {
            "ids": Texts(),
            "kinds": Words(),
            "texts": Texts(),
            "vectors": VectorRows(np.float32, 2),
            "tokens": Numbers(np.int32),
            "documents": Numbers(np.int32, table=NODES),
            "parents": Numbers(np.int32, table=NODES),
            "previous": Numbers(np.int32, table=NODES),
            "spans": Numbers(np.int32, 2),
            "references": TextLists(),
            "read_from": RowLists(NODES),
            "generated": Numbers(np.bool_),
            "metadata": MetadataColumn(),
        },
        FACTS: {
            "texts": Texts(),
            "vectors": VectorRows(np.float32, 2),
            "subjects": Numbers(np.int32, table=NODES),
            "objects": Numbers(np.int32, table=NODES),
            "relations": Words(),
            "read_from": RowLists(NODES),
        },
        EDGES: {
            "tails": Numbers(np.int32, table=NODES),
            "heads": Numbers(np.int32, table=NODES),
            "kinds": Words(),
            "weights": Numbers(np.float32),
            "facts": Numbers(np.int32, table=FACTS),
            "read_from": RowLists(NODES),
        },
    }


def table_of(graph: GraphColumns, table: str) -> Any:  # noqa: ANN401  # has the columns as fields
    """Return what has the columns of a table as its fields."""
    return graph if table == NODES else graph.facts if table == FACTS else graph.edges


def columns_of_table(
    graph: GraphColumns, table: str, names: Mapping[str, object]
) -> dict[str, Any]:
    """Return the columns of a table by name."""
    return {name: getattr(table_of(graph, table), name) for name in names}
