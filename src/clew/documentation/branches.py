"""The branches of a document hierarchy: every container that holds passages of its own."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from clew.graph import Floats, Graph, titles_of
from clew.text.metadata_text import text_under

_DEFINITION = re.compile(r"(?:async\s+)?def\s+(\w+)\s*\(.*|(class\s+\w+)\b.*", re.DOTALL)


@dataclass(frozen=True)
class Branch:
    """The end of a path from a document down to where text stands.

    Attributes:
        node: The row of the container; of the passage itself where it has none.
        titles: The titles that lead to it, outermost first.
        rows: Its passages, in order.
    """

    node: int
    titles: tuple[str, ...]
    rows: tuple[int, ...]


def find_branches(graph: Graph) -> tuple[Branch, ...]:
    """Return the branches in the order of the documents.

    A passage without a container is a branch by itself.

    Example:
        >>> from clew import Document, Index
        >>> oars = Document("oars", "Oars are of ash.")
        >>> sails = Document("sails", "Sails are of flax.")
        >>> index = Index.from_documents([oars, sails])
        >>> [branch.titles for branch in find_branches(index.graph)]
        [('oars',), ('sails',)]
    """
    rows_in: dict[int, list[int]] = {}
    passages = np.flatnonzero(graph.content & ~graph.kinds.mask("sentence"))
    for row in passages.tolist():
        container = int(graph.parents[row])
        rows_in.setdefault(container if container >= 0 else row, []).append(row)
    result = []
    for node, rows in rows_in.items():
        own_title = text_under(graph.metadata[node], "title").strip() or graph.ids[node]
        titles = tuple(titles_of(graph, rows[0])) or (own_title,)
        result.append(Branch(node, titles, tuple(rows)))
    return tuple(sorted(result, key=lambda branch: branch.rows[0]))


def text_of(graph: Graph, branch: Branch) -> str:
    """Return what stands in a branch, in order."""
    return "\n\n".join(graph.texts[row] for row in branch.rows)


def branch_vectors(graph: Graph, found: tuple[Branch, ...]) -> Floats:
    """Return the mean direction of each branch's passages.

    Args:
        graph: The graph of the branches.
        found: The branches.

    Returns:
        float64 [branches, d], unit rows; zeros where the passages have no vectors.
    """
    sums = np.stack(
        [graph.vectors[list(branch.rows)].astype(np.float64).sum(axis=0) for branch in found]
    )
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    units: Floats = np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0)
    return units


def short_title(title: str) -> str:
    """Return a title as people say it: a Python definition without its parameters.

    Example:
        >>> short_title("def load(fp, *, cls=None)")
        'load()'
    """
    definition = _DEFINITION.fullmatch(title.strip())
    if definition is None:
        return " ".join(title.split())
    function, class_name = definition.groups()
    return class_name or f"{function}()"
