"""LlamaIndex's stores over FAISS, which know vectors by their places, no texts and no filters.

The nodes are in the docstore. What a filter allows is looked for among the nearest, and among more
of them until enough are found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeGuard

from llama_index.core.indices.base import BaseIndex
from llama_index.core.indices.vector_store.base import VectorStoreIndex
from llama_index.core.schema import BaseNode, NodeWithScore
from llama_index.core.vector_stores.types import VectorStoreQuery
from llama_index.retrievers.clew.filters import where_of
from llama_index.retrievers.clew.store_searches import Search, SearchResults, known_class
from numpy.typing import ArrayLike

from clew.adapters import LastPlaces

STORES = ("FaissVectorStore", "FaissMapVectorStore")
PLACES = LastPlaces[str]()
WIDER = 4  # times as many of the nearest, where too few of them may be read


def is_over_faiss(index: BaseIndex[Any]) -> TypeGuard[VectorStoreIndex]:
    """Return whether the vectors of an index of LlamaIndex's are in FAISS."""
    return known_class(getattr(index, "vector_store", None), STORES) is not None


def gives_vectors(index: VectorStoreIndex) -> bool:
    """Return whether the vectors of the nodes of an index over FAISS can be had.

    An index of FAISS's without a table of places, such as one of inverted lists, gives none. One
    without nodes cannot be known, and counts as one that does.
    """
    places, listed = _places(index), index.index_struct.nodes_dict
    if not listed:
        return True
    last = islice((id for id in reversed(listed.values()) if id in places), 1)
    return bool(vectors_in_faiss(index, last))


def vectors_in_faiss(
    index: BaseIndex[Any], ids: Iterable[str] | None = None
) -> dict[str, ArrayLike]:
    """Return the vectors of an index over FAISS by the ids of its nodes; none of another index.

    Args:
        index: The index of LlamaIndex's.
        ids: Which nodes; None for all.
    """
    if not is_over_faiss(index):
        return {}
    places = _places(index)
    return _vectors_at(index, places, places if ids is None else ids)


def find_in_faiss(index: VectorStoreIndex, search: Search) -> SearchResults:
    """Return the nearest nodes that the filters of a search allow, with their vectors.

    They have no score: FAISS gives a distance or a product, and does not say which.
    """
    places, allows = _places(index), where_of(search.filters)
    nodes, n_nearest = dict[str, BaseNode | None](), search.limit
    n_vectors: int = index.vector_store.client.ntotal
    while True:
        query = VectorStoreQuery(search.bundle.embedding, n_nearest)
        nearest = index.vector_store.query(query).ids or []
        found = dict.fromkeys(_listed(index, nearest, places))
        new = [id for id in found if id not in nodes]
        nodes |= dict.fromkeys(new)
        nodes |= {one.node_id: one for one in index.docstore.get_nodes(new, raise_error=False)}
        read = [node for id in found if (node := nodes[id]) is not None]
        some = [node for node in read if allows is None or allows(node.metadata)]
        if (
            len(some) >= search.limit or n_nearest >= n_vectors
        ):  # a derived store may leave some out
            break
        n_nearest *= WIDER
    some = some[: search.limit]
    vectors = _vectors_at(index, places, [node.node_id for node in some])
    return SearchResults([NodeWithScore(node=node) for node in some], vectors)


def _places(index: VectorStoreIndex) -> Mapping[str, int | str]:
    """Return the places of the vectors of the nodes that an index lists, by their ids.

    A node that was inserted again has two places, the last of which is that of what it says now.
    """
    listed: dict[str, str] = index.index_struct.nodes_dict
    own = getattr(index.vector_store, "_node_id_to_faiss_id_map", None)
    return PLACES.of(index, listed) if own is None else _ListedPlaces(own, listed)


@dataclass(frozen=True, eq=False)
class _ListedPlaces(Mapping[str, int]):
    """The places that a store knows by the ids of nodes, of those that an index lists by these."""

    known: Mapping[str, int]
    listed: Mapping[str, str]

    def __getitem__(self, id: str) -> int:
        if self.listed.get(id) != id:
            raise KeyError(id)
        return self.known[id]

    def __iter__(self) -> Iterator[str]:
        return (id for id in self.listed if id in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _vectors_at(
    index: VectorStoreIndex, places: Mapping[str, int | str], ids: Iterable[str]
) -> dict[str, ArrayLike]:
    reconstruct = index.vector_store.client.reconstruct
    try:
        return {id: reconstruct(int(places[id])).tolist() for id in ids if id in places}
    except RuntimeError:  # FAISS's, of an index without a table of places
        return {}


def _listed(
    index: VectorStoreIndex, nearest: Iterable[str], places: Mapping[str, int | str]
) -> Iterable[str]:
    """Yield the ids of the nodes that are listed of what a search gave, nearest first."""
    has_places = known_class(index.vector_store, STORES) == "FaissVectorStore"
    for given in nearest:
        id = index.index_struct.nodes_dict.get(given)
        if id is not None and id in places and (not has_places or int(places[id]) == int(given)):
            yield id
