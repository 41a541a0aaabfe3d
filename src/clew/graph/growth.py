"""A graph with more nodes, or fewer, made of the one before in time that the change takes.

Old nodes keep their rows when nodes are added, and their order when some are taken away. A part
that says how (`GrowingPart`, `ShrinkingPart`) is made of its result for the graph before. Any other
is computed anew at its first use. Such a part goes by nodes and facts: a graph between what goes
and what comes in its place has no edges.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from clew.graph.columns import Labels, Mask, Ragged, Rows, freeze, offsets_of, row_mask, seal
from clew.graph.edges import Facts
from clew.graph.graph import Graph
from clew.graph.vector_column import with_rows

Value = TypeVar("Value")
Entry = TypeVar("Entry")


@runtime_checkable
class GrowingPart(Protocol[Value]):
    """A part whose result for a graph with more nodes can be made of the one before."""

    def grow(self, graph: Graph, base: Graph, before: Value) -> Value:
        """Return the part's result for `graph`.

        Args:
            graph: the nodes of `base`, in the same rows, and more.
            base: the graph before.
            before: the part's result for `base`.
        """
        ...


@runtime_checkable
class ShrinkingPart(Protocol[Value]):
    """A part whose result for a graph with fewer nodes can be made of the one before."""

    def shrink(self, graph: Graph, base: Graph, stays: Mask, before: Value) -> Value:
        """Return the part's result for `graph`.

        Args:
            graph: the nodes that stay, in their order.
            base: the graph before.
            stays: which nodes of the graph before do.
            before: the part's result for the graph before.
        """
        ...


@dataclass(frozen=True)
class NodeChange:
    """The nodes of a graph before, during and after a change.

    Attributes:
        base: The graph before, with its edges.
        left: The graph without what goes; that before where nothing goes.
        graph: That with what comes behind it; the very one without where nothing comes.
        stays: bool [nodes of base], those that stay.
    """

    base: Graph
    left: Graph
    graph: Graph
    stays: Mask

    @property
    def takes(self) -> bool:
        """Whether nodes may go."""
        return self.left is not self.base

    @property
    def brings(self) -> bool:
        """Whether nodes may come."""
        return self.graph is not self.left


def with_nodes(base: Graph, more: Graph, around: Collection[str] = ()) -> Graph:
    """Return the base with the nodes and facts of another graph behind its own.

    An entity that both have is one, and so is a fact. The edges are those of the base: the caller
    makes the new ones. The base has no generated texts.

    Args:
        base: the graph that grows.
        more: what is added.
        around: the ids of containers of the base that `more` has, too, since nodes are in them.

    Raises:
        ValueError: Both have a node of one id that is no entity, or vectors of different widths.

    Example:
        >>> base, more = Graph.of(["Anna left."], ids=["a"]), Graph.of(["Ben came."], ids=["b"])
        >>> with_nodes(base, more).ids
        ('a', 'b')
    """
    known = _known_nodes(base, more, around)
    new = np.flatnonzero(known < 0)
    rows = known.copy()  # of every node of `more` in the result
    rows[new] = len(base) + np.arange(len(new))
    _check_new(base, more, new)
    return base.unchecked(
        ids=base.ids + _pick(more.ids, new),
        kinds=Labels.join([base.kinds, more.kinds.take(new)]),
        texts=base.texts + _pick(more.texts, new),
        vectors=with_rows(base.vectors, more.vectors[new]),
        tokens=_joined(base.tokens, more.tokens[new], np.int32),
        documents=_joined(base.documents, _renumbered(more.documents[new], rows), np.int32),
        parents=_joined(base.parents, _renumbered(more.parents[new], rows), np.int32),
        previous=_joined(base.previous, _renumbered(more.previous[new], rows), np.int32),
        spans=_joined(base.spans, more.spans[new], np.int32),
        references=base.references + _pick(more.references, new),
        read_from=_with_lists(base.read_from, more.read_from, rows, rows, len(new)),
        generated=_joined(base.generated, more.generated[new], np.bool_),
        metadata=base.metadata + _pick(more.metadata, new),
        originals=base.originals + _pick(more.originals, new),
        facts=_joined_facts(base, more, rows),
    )


def carry_grown_parts(graph: Graph, base: Graph) -> None:
    """Give a graph with more nodes the parts that can be made of those of the graph before."""
    own, old = graph.for_parts, base.for_parts
    _carry(graph, base, "grow", lambda part, before: part.grow(own, old, before))


def carry_shrunk_parts(
    graph: Graph, base: Graph, stays: Mask, left_out: tuple[type, ...] = ()
) -> None:
    """Give a graph with fewer nodes the parts that can be made of those of the graph before.

    Args:
        graph: the nodes that stay, in their order.
        base: the graph before.
        stays: bool [nodes of base], which nodes do.
        left_out: the classes of parts that are not carried.
    """
    own, old = graph.for_parts, base.for_parts
    _carry(
        graph,
        base,
        "shrink",
        lambda part, before: part.shrink(own, old, stays, before),
        left_out,
    )


def _carry(
    graph: Graph,
    base: Graph,
    method: str,
    change: Callable[[Any, Any], object],
    left_out: tuple[type, ...] = (),
) -> None:
    before: dict[Any, Any] = {  # to ask a protocol takes longer than some parts take to change
        part: result
        for part, result in base.kept_parts()
        if hasattr(part, method) and not isinstance(part, left_out)
    }

    def compute(part: Any) -> Any:  # noqa: ANN401  # of any type
        return change(part, before[part]) if part in before else part.compute(graph.for_parts)

    with graph.computing_by(compute):  # a part may ask for others
        for part in before:
            graph.part(part)


def _check_new(base: Graph, more: Graph, new: NDArray[np.int64]) -> None:
    """Raise ValueError unless what comes fits the base: each of the two graphs was checked."""
    if taken := [more.ids[row] for row in new.tolist() if base.has(more.ids[row])]:
        raise ValueError(
            f"every node needs an id of its own: {len(taken)} of the new ones are in the graph, "
            f"for instance {taken[0]!r}"
        )
    widths = [
        (one.shape[1], other.shape[1])
        for one, other in (
            (base.vectors, more.vectors),
            (base.facts.vectors, more.facts.vectors),
        )
        if len(one) and len(other)
    ]
    if wrong := [pair for pair in widths if pair[0] != pair[1]]:
        raise ValueError(
            f"the graph has vectors of {wrong[0][0]} dimensions and what comes of {wrong[0][1]}: "
            "embed both with one model"
        )


def _known_nodes(base: Graph, more: Graph, around: Collection[str]) -> NDArray[np.int64]:
    """The row in the base of every entity and container that it has; -1 for all other nodes."""
    known = np.full(len(more), -1, np.int64)
    for row in [*more.rows("entity").tolist(), *map(more.row, around)]:
        if base.has(more.ids[row]):
            known[row] = base.row(more.ids[row])
    return known


def _pick(column: tuple[Entry, ...], rows: NDArray[np.int64]) -> tuple[Entry, ...]:
    return tuple(column[row] for row in rows.tolist())


def _joined(before: NDArray[Any], new: NDArray[Any], dtype: type[np.generic]) -> NDArray[Any]:
    return seal(np.concatenate([before, new], dtype=dtype, casting="unsafe"))


def _renumbered(column: Rows, rows: NDArray[np.int64]) -> Rows:
    """The column with every row `r` replaced by `rows[r]`; -1 stays."""
    return freeze(np.where(column >= 0, rows[column], -1), np.int32)


def _with_lists(
    before: Ragged,
    more: Ragged,
    owners: NDArray[np.int64],
    rows: NDArray[np.int64],
    n_new: int,
) -> Ragged:
    """The lists of both; where an owner has one already, the values come behind it.

    Args:
        before: the lists of the first rows.
        more: further lists.
        owners: for each of `more`, whose list it is.
        rows: for each value of `more`, what it is replaced by.
        n_new: the number of owners that have no list yet.
    """
    owner = np.concatenate([before.owners, owners[more.owners]])
    value = np.concatenate([before.values, rows[more.values]])
    if (owners < len(before)).any():
        value = value[np.argsort(owner, kind="stable")]
    lengths = np.bincount(owner, minlength=len(before) + n_new)
    return Ragged(freeze(offsets_of(lengths), np.int64), freeze(value, np.int32))


def _joined_facts(base: Graph, more: Graph, rows: NDArray[np.int64]) -> Facts:
    """The facts of both graphs, each once."""
    before, added = base.facts, more.facts
    if not len(added):
        return before
    subjects, objects = rows[added.subjects], rows[added.objects]
    place_of = _places_of_facts(before, subjects, objects, len(base))
    owners, count = np.zeros(len(added), np.int64), len(before)
    for i, relation in enumerate(added.relations):
        owners[i] = place_of.get((int(subjects[i]), relation, int(objects[i])), count)
        count += owners[i] == count
    new = np.flatnonzero(owners >= len(before))
    return Facts(
        texts=before.texts + _pick(added.texts, new),
        vectors=with_rows(before.vectors, added.vectors[new]),
        subjects=_joined(before.subjects, subjects[new], np.int32),
        objects=_joined(before.objects, objects[new], np.int32),
        relations=Labels.join([before.relations, added.relations.take(new)]),
        read_from=_with_lists(before.read_from, added.read_from, owners, rows, len(new)),
    )


def _places_of_facts(
    facts: Facts, subjects: NDArray[np.int64], objects: NDArray[np.int64], n: int
) -> dict[tuple[int, str, int], int]:
    """The places of the facts with one of some subjects and one of some objects, by all three."""
    is_subject, is_object = row_mask(subjects[subjects < n], n), row_mask(objects[objects < n], n)
    near = np.flatnonzero(is_subject[facts.subjects])
    near = near[is_object[facts.objects[near]]]
    return {
        (int(facts.subjects[i]), facts.relations[i], int(facts.objects[i])): i
        for i in near.tolist()
    }
