"""Which shard each document goes to: by a hash, by what is connected, or as another program says.

A question that is answered from one shard is as good as from one index. So documents that are
connected belong together, as far as they fit. Community detection at a scale that is beyond one
machine is the matter of other programs (igraph, cuGraph, GraphFrames), whose result is read here.
"""

from __future__ import annotations

import csv
import heapq
import os
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b

import numpy as np

from clew.document import Document
from clew.graph import Graph, distinct


def partition_by_hash(ids: Iterable[str], n: int) -> dict[str, int]:
    """Return the shard of each document by the digest of its id.

    The same id goes to the same of so many shards, on every machine and in whatever order.

    Args:
        ids: The ids of documents.
        n: How many shards, at least 1.

    Example:
        >>> sorted(set(partition_by_hash(map(str, range(100)), 3).values()))
        [0, 1, 2]
    """
    _check_count(n)
    return {
        id: int.from_bytes(
            blake2b(id.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big"
        )
        % n
        for id in ids
    }


def partition_by_components(
    graph: Graph, n: int, *, without: Sequence[str] = ("similar",)
) -> dict[str, int]:
    """Return the shard of each document of a graph, so that no edge leads to another shard.

    The largest connected component goes first, each to the shard with the fewest tokens. A
    component is never divided, so shards may be of different sizes; one of everything is one shard
    full and the others empty.

    Args:
        graph: The graph of all documents.
        n: How many shards, at least 1.
        without: Kinds of edge that do not hold documents together.

    Example:
        >>> import clew
        >>> documents = [clew.Document(id, f"Text {id}.") for id in "abcd"]
        >>> facts = {"a": [("Anna", "met", "Ben")], "c": [("Ben", "left", "Corfu")]}
        >>> index = clew.Index.from_documents(documents, facts=facts)
        >>> found = partition_by_components(index.graph, 2)
        >>> found["a"] == found["c"], sorted(found)
        (True, ['a', 'b', 'c', 'd'])
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    _check_count(n)
    edges = graph.edges
    held = ~edges.kinds.mask(*without)
    owned = np.flatnonzero(graph.documents >= 0)
    tails = np.concatenate([edges.tails[held], owned])
    heads = np.concatenate([edges.heads[held], graph.documents[owned]])
    links = coo_array((np.ones(len(tails), np.int8), (tails, heads)), shape=(len(graph),) * 2)
    _, component = connected_components(links, directed=False)
    documents = distinct(graph.documents[owned])
    sizes = np.bincount(component[owned], graph.tokens[owned])
    loads = [(0.0, shard) for shard in range(n)]
    shard_of: dict[int, int] = {}
    wanted = distinct(component[documents])
    for one in wanted[np.lexsort((wanted, -sizes[wanted]))].tolist():
        load, shard = heapq.heappop(loads)
        shard_of[one] = shard
        heapq.heappush(loads, (load + float(sizes[one]), shard))
    return {graph.ids[row]: shard_of[int(component[row])] for row in documents.tolist()}


def read_partition(path: str | os.PathLike[str]) -> dict[str, int]:
    """Return the shard of each document as another program wrote it.

    Args:
        path: A file of comma-separated values with a line for each document: its id, and a whole
            number >= 0. A first line that has no number is taken for names of columns.

    Raises:
        ValueError: A line is not of this form, or an id comes twice with different numbers.
    """
    found: dict[str, int] = {}
    with open(path, encoding="utf-8", newline="") as file:  # noqa: PTH123 - any path
        for number, row in enumerate(csv.reader(file), 1):
            if not row or (number == 1 and len(row) == 2 and not row[1].strip().isdecimal()):
                continue
            if len(row) != 2 or not row[1].strip().isdecimal():
                raise ValueError(
                    f"{os.fspath(path)}, line {number}: wanted an id and a whole number, as in "
                    f"'guide.md,3'; got {','.join(row)!r}"
                )
            if found.setdefault(row[0], int(row[1])) != int(row[1]):
                raise ValueError(
                    f"{os.fspath(path)}, line {number}: {row[0]!r} is in two partitions, "
                    f"{found[row[0]]} and {row[1]}"
                )
    return found


def divide(documents: Iterable[Document], shard_of: Mapping[str, int]) -> list[list[Document]]:
    """Return the documents of each shard, in their order.

    What is in a document goes where that goes, whatever is said of it.

    Args:
        documents: All documents, such as `Index.documents`.
        shard_of: The shard of each by its id; that of a document in another need not be there.

    Raises:
        KeyError: Of a document nothing is said.

    Example:
        >>> import clew
        >>> documents = [clew.Document("a", "One."), clew.Document("b", "Two.")]
        >>> [[one.id for one in shard] for shard in divide(documents, {"a": 1, "b": 0})]
        [['b'], ['a']]
    """
    documents = list(documents)
    parents = {document.id: document.parent for document in documents}
    shards: list[list[Document]] = [[] for _ in range(max(shard_of.values(), default=-1) + 1)]
    for document in documents:
        outermost, seen = document.id, {document.id}
        while (above := parents.get(outermost)) is not None and above not in seen:
            outermost = above
            seen.add(above)
        if outermost not in shard_of:
            raise KeyError(f"nothing says which shard the document {outermost!r} goes to")
        shards[shard_of[outermost]].append(document)
    return shards


def _check_count(n: int) -> None:
    if n < 1:
        raise ValueError(f"n is the number of shards, at least 1; got {n}")
