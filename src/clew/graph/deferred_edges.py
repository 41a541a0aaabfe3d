"""Edges of which some are made when they are first asked for: many questions never follow them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import fields, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from clew.forking import renew_after_fork
from clew.graph.columns import Labels, Ragged, Rows, Vectors, offsets_of, row_mask, seal
from clew.graph.edges import Edges


class LateEdges(NamedTuple):
    """Edges of one kind that are not made yet.

    Attributes:
        kind: their kind.
        make: returns them.
        among: returns those that leave some rows, in their order, without making all; None where
            that takes as long.
    """

    kind: str
    make: Callable[[], Edges]
    among: Callable[[Rows], Edges] | None = None


class DeferredEdges(Edges):
    """Edges that are all there once any of a late kind may be among those that are wanted.

    Who reads a column, or counts the edges, wants all. One thread makes them. What fails or is
    interrupted leaves nothing behind: the next reader makes them.

    Args:
        parts: the edges, and in their places those that are made late.

    Example:
        >>> late = LateEdges("similar", lambda: Edges.of("similar", [0], [2], 0.5))
        >>> edges = DeferredEdges([late, Edges.of("next", [0, 1], [1, 2])])
        >>> edges.of_kinds(["next"]).heads.tolist(), edges.is_made
        ([1, 2], False)
        >>> edges.heads.tolist(), edges.is_made
        ([2, 1, 2], True)
    """

    def __init__(self, parts: Sequence[Edges | LateEdges]) -> None:
        early, late, places = list[Edges](), list[LateEdges](), list[int]()
        for part in parts:
            if isinstance(part, Edges):
                early.append(part)
            else:
                late.append(part)
                places.append(sum(map(len, early)))
        joined, late_kinds = Edges.join(early), tuple(one.kind for one in late)
        names = tuple(sorted({*late_kinds, *joined.kinds.names}))
        self.__dict__.update(_early=joined, _late=late, _places=places)
        self.__dict__.update(_late_kinds=late_kinds, _names=names)
        self.renew_locks()
        renew_after_fork(self)

    def renew_locks(self) -> None:
        """Renew the lock: after a fork, what another thread was making is made again."""
        self.__dict__["_lock"] = threading.RLock()

    def __reduce__(self) -> tuple[Any, ...]:
        return Edges, tuple(getattr(self._whole, column.name) for column in fields(Edges))

    @property
    def is_made(self) -> bool:
        """Whether all edges are there."""
        return "_made" in self.__dict__

    @property
    def kind_names(self) -> tuple[str, ...]:
        names: tuple[str, ...] = self.__dict__["_names"]
        return names

    def of_kinds(self, names: Collection[str] | None) -> Edges:
        early: Edges | None = self.__dict__["_early"]  # None once all are there
        if early is None or names is None or not set(self.late_kinds).isdisjoint(names):
            return self._whole
        return early

    @property
    def waiting(self) -> dict[str, Callable[[], Edges]]:
        """What makes the edges of each late kind, as long as they are not made."""
        made = self.made_apart
        return {one.kind: one.make for one in self.__dict__["_late"] if one.kind not in made}

    @property
    def made_apart(self) -> dict[str, Edges]:
        """The edges of late kinds that were made while those of others were not."""
        with self.__dict__["_lock"]:
            parts, late = self.__dict__.get("_parts", {}), self.__dict__["_late"]
            return {late[i].kind: edges for i, edges in parts.items()}

    def made_of(self, kind: str) -> Edges | None:
        """Return the edges of a late kind, or None where they are not made yet."""
        own = self.__dict__
        with own["_lock"]:
            whole: Edges | None = own.get("_made")
            if whole is None:
                return self.made_apart.get(kind)
        return whole.take(np.flatnonzero(whole.kinds.mask(kind)))

    def among(self, rows: Rows, n_nodes: int) -> Edges:
        """Return the edges that join some rows, in their order.

        Of late kinds that are not made, those of these rows alone are made, where that takes less.

        Example:
            >>> late = LateEdges("similar", list, lambda _: Edges.of("similar", [0], [2], 0.5))
            >>> edges = DeferredEdges([late, Edges.of("next", [0, 1], [1, 2])])
            >>> some = edges.among(np.array([0, 2], np.int32), 3)
            >>> some.heads.tolist(), edges.is_made
            ([2], False)
        """
        own, inside = self.__dict__, row_mask(rows, n_nodes)
        with own["_lock"]:
            if "_made" in own:
                made: Edges = own["_made"]
                return made.inside(inside)
            early: Edges = own["_early"]
            bounds = [0, *own["_places"], len(early)]
            parts = [early.between(*bounds[:2]).inside(inside)]
            for i, late in enumerate(own["_late"]):
                is_made = i in own.get("_parts", {})
                some = self._part(i) if is_made or late.among is None else late.among(rows)
                between = early.between(bounds[i + 1], bounds[i + 2])
                parts += [some.inside(inside), between.inside(inside)]
            return Edges.join(parts)

    def copy(self) -> Edges:
        """Return the same edges, of which those that are late are made apart from these.

        Example:
            >>> late = LateEdges("similar", lambda: Edges.of("similar", [0], [2], 0.5))
            >>> edges = DeferredEdges([late, Edges.of("next", [0, 1], [1, 2])])
            >>> len(edges.copy()), edges.is_made
            (3, False)
        """
        own = self.__dict__
        with own["_lock"]:
            if "_made" in own:
                made: Edges = own["_made"]
                return made
            early, made_parts = own["_early"], own.get("_parts", {})
            bounds = [0, *own["_places"], len(early)]
            parts: list[Edges | LateEdges] = [early.between(*bounds[:2])]
            for i, late in enumerate(own["_late"]):
                parts += [made_parts.get(i, late), early.between(bounds[i + 1], bounds[i + 2])]
        return DeferredEdges(parts)

    @property
    def late_kinds(self) -> tuple[str, ...]:
        """The kinds of the edges that were made late, or will be, one for each part."""
        kinds: tuple[str, ...] = self.__dict__["_late_kinds"]
        return kinds

    def apart_from(self, kinds: Collection[str]) -> tuple[Edges, dict[str, int]]:
        """Return all edges but those of some late kinds, which are not made for it.

        Args:
            kinds: some of `late_kinds`, of which each has one part.

        Returns:
            The others, and before which row of them the edges of each of the kinds belong.

        Example:
            >>> late = LateEdges("similar", lambda: Edges.of("similar", [0], [2], 0.5))
            >>> edges = DeferredEdges([late, Edges.of("next", [0, 1], [1, 2])])
            >>> others, places = edges.apart_from(["similar"])
            >>> others.heads.tolist(), places, edges.is_made
            ([1, 2], {'similar': 0}, False)
        """
        own, places = self.__dict__, {}
        early: Edges | None = own["_early"]
        if early is not None and set(self.late_kinds) <= {*kinds}:
            return early, dict(zip(self.late_kinds, own["_places"], strict=True))
        with own["_lock"]:
            if "_made" not in own:
                return self._made_apart_from(kinds)
        whole, left_out = self._whole, 0
        stays = np.ones(len(whole), np.bool_)
        shifts = pairwise(own["_shifts"].tolist())
        for kind, place, (start, end) in zip(self.late_kinds, own["_places"], shifts, strict=True):
            if kind in kinds:
                stays[place + start : place + end] = False
                places[kind] = place + start - left_out
                left_out += end - start
        return whole.take(np.flatnonzero(stays)), places

    def _made_apart_from(self, kinds: Collection[str]) -> tuple[Edges, dict[str, int]]:
        """Return what `apart_from` does, of edges that are not all made."""
        early, places, at = self.__dict__["_early"], dict[str, int](), 0
        if not early.kinds.are_used:
            early = replace(early, kinds=early.kinds.take(slice(None)))
        parts = list[Edges]()
        for i, (kind, place) in enumerate(
            zip(self.late_kinds, self.__dict__["_places"], strict=True)
        ):
            parts.append(early.between(at, place))
            at = place
            if kind in kinds:
                places[kind] = sum(map(len, parts))
            else:
                parts.append(self._part(i))
        parts.append(early.between(at, len(early)))
        return Edges.join(parts), places

    def _part(self, i: int) -> Edges:
        """Return the edges of a late part, which are made once; the lock is held."""
        parts: dict[int, Edges] = self.__dict__.setdefault("_parts", {})
        if i not in parts:
            parts[i] = self.__dict__["_late"][i].make()
        return parts[i]

    def in_whole(self, some: Edges, lists: Ragged) -> Ragged:
        if some is self.__dict__.get("_made"):
            return lists
        return LateLists(lists.starts, partial(self._rows_in_whole, lists.values), some, lists)

    def _rows_in_whole(self, rows: Rows) -> Rows:
        """Return the rows of all edges at which some of the early ones are."""
        self._make()
        n_before = np.searchsorted(self.__dict__["_places"], rows, side="right")  # late parts
        moved: Rows = rows + self.__dict__["_shifts"][n_before]
        return seal(moved)

    @property
    def _whole(self) -> Edges:
        made: Edges | None = self.__dict__.get("_made")
        return self._make() if made is None else made

    def _make(self) -> Edges:
        own = self.__dict__
        with own["_lock"]:
            if "_made" in own:
                made: Edges = own["_made"]
                return made
            late = [self._part(i) for i in range(len(own["_late"]))]
            early: Edges = own["_early"]
            bounds = [0, *own["_places"], len(early)]
            parts = [early.take(np.arange(bounds[0], bounds[1]))]
            for i, edges in enumerate(late):
                parts += [edges, early.take(np.arange(bounds[i + 1], bounds[i + 2]))]
            own["_shifts"] = offsets_of(list(map(len, late))).astype(np.int32)
            own["_made"] = made = Edges.join(parts)
            own.pop("_parts", None)
            own["_late"], own["_early"] = (), None  # in this order: others read them meanwhile
            return made

    @property
    def tails(self) -> Rows:
        return self._whole.tails

    @property
    def heads(self) -> Rows:
        return self._whole.heads

    @property
    def kinds(self) -> Labels:
        return self._whole.kinds

    @property
    def weights(self) -> Vectors:
        return self._whole.weights

    @property
    def facts(self) -> Rows:
        return self._whole.facts

    @property
    def read_from(self) -> Ragged:
        return self._whole.read_from


class LateLists(Ragged):
    """Lists of rows whose values are computed when one is first asked for.

    Args:
        starts: int64 [n + 1], as in `Ragged`.
        make: returns the values, int32.
        some: edges of which some others are rows, until all edges are made; None for none.
        of_some: the rows of those.

    Example:
        >>> lists = LateLists(np.array([0, 2]), lambda: np.array([3, 1], np.int32))
        >>> lists.lengths, lists.is_made
        (array([2]), False)
    """

    def __init__(
        self,
        starts: NDArray[np.int64],
        make: Callable[[], Rows],
        some: Edges | None = None,
        of_some: Ragged | None = None,
    ) -> None:
        known = None if some is None else ref(some)  # which goes once all edges are made
        self.__dict__.update(starts=starts, _make=make, _some=known, _of_some=of_some)

    def __reduce__(self) -> tuple[Any, ...]:
        return Ragged, (self.starts, self.values)

    @property
    def is_made(self) -> bool:
        """Whether the values were asked for."""
        return "values" in self.__dict__

    def where_made(self, edges: Edges) -> tuple[Edges, Ragged]:
        """Return edges that are made, if there are any, and the lists as rows of these.

        Args:
            edges: the edges that the values are rows of.
        """
        some, of_some = self.__dict__["_some"], self.__dict__["_of_some"]
        known: Edges | None = None if self.is_made or some is None else some()
        return (edges, self) if known is None else (known, of_some)

    def first_edge(self, edges: Edges, i: int) -> tuple[Edges, int]:
        """Return the first edge of list `i`, as edges and its row there; none is made for it.

        Args:
            edges: the edges that the values are rows of.
            i: the number of the list.
        """
        made, lists = self.where_made(edges)
        return made, int(lists[i][0])

    @cached_property
    def values(self) -> Rows:
        made: Rows = self.__dict__["_make"]()
        return made
