"""Filters: which nodes of a graph may be read, and the index that is left of them, equal to one built of those alone."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clew.graph import Edges, Graph, Mask
from clew.vectors import embedded_instead, with_vectors

if TYPE_CHECKING:
    from clew.index import Index

MOST = 8  # filtered indexes that are remembered: a service with many tenants must not keep a graph for each
Where = Mapping[str, Any] | Callable[[Mapping[str, Any]], bool]


def allowed_by(graph: Graph, where: Where) -> Mask:
    """Return which nodes a filter allows: bool [n]; it is asked about the metadata of content alone.

    Args:
        where: a function of a passage's metadata, or a mapping of wanted values (a list means any of its values).
    """
    if not callable(where) and not isinstance(where, Mapping):
        raise TypeError(f"a filter is a mapping of wanted metadata values or a function of the metadata; got a {type(where).__name__}")
    test = where if callable(where) else _matches(where)
    allowed = np.ones(len(graph), np.bool_)
    content = np.flatnonzero(graph.content)
    allowed[content] = [bool(test(graph.metadata[row])) for row in content.tolist()]
    return allowed


def _matches(wanted: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], bool]:
    several = {key: value if isinstance(value, (list, tuple, set, frozenset)) else [value] for key, value in wanted.items()}
    return lambda metadata: all(key in metadata and metadata[key] in values for key, values in several.items())


def restricted(index: Index, allowed: Mask) -> Index:
    """Return the index of the allowed nodes; the last few are remembered with the graph."""
    return index if allowed.all() else index.graph.part(_Filters()).get(index, allowed)


@dataclass(frozen=True)
class _Filters:
    """The part that remembers filtered indexes."""

    def of(self, graph: Graph) -> _Recent:
        return _Recent(threading.Lock(), OrderedDict())


@dataclass(frozen=True, eq=False)
class _Recent:
    """The last few filtered indexes, by what was allowed."""

    lock: threading.Lock
    indexes: OrderedDict[bytes, Index]

    def get(self, index: Index, allowed: Mask) -> Index:
        key = np.packbits(allowed).tobytes()
        with self.lock:
            if key not in self.indexes:
                self.indexes[key] = _left(index, allowed)
                while len(self.indexes) > MOST:
                    self.indexes.popitem(last=False)
            self.indexes.move_to_end(key)
            return self.indexes[key]


def _left(index: Index, allowed: Mask) -> Index:
    """Edges that depend on the whole corpus, and the fitted embedder, are made again."""
    left, embedder = index.graph.where(allowed), index.embedder
    if index.fitted and left.content.any():
        embedder, left = with_vectors(left, None, instead=embedded_instead(index.documents))
    wide = [link for link in index.links if link.corpus_wide]
    stay = left.edges.take(np.flatnonzero(~left.edges.kinds.mask(*(type(link).__name__.lower() for link in wide))))
    return replace(index, graph=left.linked(Edges.join([stay, *(link.on(left) for link in wide)])), embedder=embedder)
