"""Steiner trees: the cheapest way to join some nodes of a graph, with this question's edge lengths and no graph rebuilt.

- `mehlhorn`: one search from all terminals at once, ended as soon as they are joined; within 2 (1 - 1/k) of the optimum.
  Mehlhorn, Inf. Proc. Letters 27 (1988).
- `kou`: shortest paths between all terminals, a minimum spanning tree of these, their union, pruned; the same bound.
  Kou, Markowsky and Berman, Acta Informatica 15 (1981).
- `takahashi`: grow a tree by the nearest terminal, from the best of all terminals as the root; the same bound, 1 to 3 % off in practice.
  Takahashi and Matsuyama, Math. Japonica 24 (1980).
- `exact`: dynamic programming over sets of terminals; optimal, for up to a dozen. Dreyfus and Wagner, Networks 1 (1971).

Each answers with a forest, one tree for each part of the graph that holds terminals: where they hang together they are joined, and the
pairs that no way joins are named. Its leaves are terminals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.graph import Floats, Links, Rows, frozen

MOST_EXACT = 12  # terminals; the work triples with each


@dataclass(frozen=True, eq=False)
class Forest:
    """A Steiner forest: its `nodes` (rows, ascending), one `slots` entry of the links per edge, its `cost`, and the unjoinable pairs."""

    nodes: Rows
    slots: NDArray[np.int64]
    cost: float
    missing: tuple[tuple[int, int], ...] = ()


def steiner_forest(
    links: Links,
    lengths: Floats,
    terminals: Sequence[int] | Rows,
    method: str = "mehlhorn",
    *,
    most_edge: float = np.inf,
    most_path: float = np.inf,
    whole: bool = False,
) -> Forest:
    """Return a forest that joins the terminals as far as the links go.

    Args:
        links: undirected adjacency. lengths: float64, one per slot, > 0, the same both ways; inf forbids an edge.
        terminals: rows. method: "mehlhorn", "kou", "takahashi" or "exact".
        most_edge: longer edges are not used. most_path: longer ways between two terminals are not used ("mehlhorn" and "kou").
        whole: let "mehlhorn" search the whole graph in the place of stopping when it may; the cost is the same.
    """
    from clew.algorithms.kernels import steiner as kernels

    wanted = np.unique(np.asarray(terminals, np.int64))
    lengths = np.asarray(lengths, np.float64)
    if len(lengths) != len(links.targets):
        raise ValueError(f"there must be one length for each of the {len(links.targets)} slots; got {len(lengths)}")
    if len(lengths) and not lengths.min() > 0:
        raise ValueError(f"lengths must be positive; the least is {lengths.min()}")
    if np.isfinite(most_edge):
        lengths = np.where(lengths <= most_edge, lengths, np.inf)
    arrays = (links.starts, links.targets, lengths)
    if len(wanted) < 2:
        return Forest(frozen(wanted, np.int32), np.zeros(0, np.int64), 0.0)
    if method == "mehlhorn":
        bridges, came, _ = kernels.mehlhorn(*arrays, wanted, most_path, whole)
        slots = _walked(links, bridges, came)
    elif method == "kou":
        slots = _kou(kernels, links, lengths, wanted, most_path)
    elif method == "takahashi":
        slots = _takahashi(kernels, links, lengths, wanted)
    elif method == "exact":
        slots = _exact(kernels, links, lengths, wanted)
    else:
        raise ValueError(f"unknown method {method!r}; known: mehlhorn, kou, takahashi, exact")
    return _forest(links, lengths, wanted, slots)


def source_of(links: Links, slots: Any) -> NDArray[np.int64]:
    """Return the row that each slot starts from."""
    rows: NDArray[np.int64] = np.searchsorted(links.starts, slots, side="right") - 1
    return rows


def _walked(links: Links, bridges: NDArray[np.int64], came: NDArray[np.int64]) -> set[int]:
    """The bridges and the ways from both their ends back to the terminals."""
    slots: set[int] = set()
    for bridge in bridges.tolist():
        slots.add(bridge)
        for end in (int(source_of(links, bridge)), int(links.targets[bridge])):
            _back(links, came, end, slots)
    return slots


def _back(links: Links, came: NDArray[np.int64], row: int, slots: set[int]) -> None:
    while came[row] >= 0:
        slot = int(came[row])
        slots.add(slot)
        row = int(source_of(links, slot))


def _kou(kernels: Any, links: Links, lengths: Floats, wanted: NDArray[np.int64], most_path: float) -> set[int]:
    """Kou, Markowsky and Berman's first three steps; the last two are everyone's (see `_forest`)."""
    k = len(wanted)
    goal = np.zeros(len(links), np.bool_)
    goal[wanted] = True
    searches = [kernels.from_one(links.starts, links.targets, lengths, int(row), goal, k) for row in wanted]
    pairs = [(float(searches[a][0][wanted[b]]), a, b) for a in range(k) for b in range(a + 1, k)]
    slots: set[int] = set()
    for _, a, b in _spanning([(c, a, b) for c, a, b in sorted(pairs) if c < np.inf and c <= most_path], k):
        _back(links, searches[a][1], int(wanted[b]), slots)
    return slots


def _takahashi(kernels: Any, links: Links, lengths: Floats, wanted: NDArray[np.int64]) -> set[int]:
    """The cheapest of the trees grown from each terminal, part by part of the graph."""
    left, forest = list(wanted.tolist()), set[int]()
    while left:
        best: tuple[float, list[int], set[int]] | None = None
        for start in left if best is None else []:
            tree, slots, goal = np.zeros(len(links), np.bool_), set[int](), np.zeros(len(links), np.bool_)
            goal[left] = tree[start] = True
            while True:
                found, came = kernels.nearest_goal(links.starts, links.targets, lengths, tree, goal)
                if found < 0:
                    break
                row = int(found)
                while not tree[row]:
                    tree[row] = True
                    slot = int(came[row])
                    slots.add(slot)
                    row = int(source_of(links, slot))
            inside = [row for row in left if tree[row]]
            cost = float(sum(lengths[slot] for slot in slots))
            if best is None or (start in best[1] and cost < best[0] - 1e-12):
                best = (cost, inside, slots)
        assert best is not None
        forest |= best[2]
        left = [row for row in left if row not in best[1]]
    return forest


def _exact(kernels: Any, links: Links, lengths: Floats, wanted: NDArray[np.int64]) -> set[int]:
    """An optimal tree for each part of the graph that holds terminals."""
    slots: set[int] = set()
    left = wanted
    while len(left):
        goal = np.zeros(len(links), np.bool_)
        goal[left] = True
        distance, _ = kernels.from_one(links.starts, links.targets, lengths, int(left[0]), goal, len(left) + 1)
        together = left[np.isfinite(distance[left])]
        left = left[~np.isfinite(distance[left])]
        if len(together) > MOST_EXACT:
            raise ValueError(f"an exact tree joins at most {MOST_EXACT} terminals; {len(together)} came: use method='takahashi'")
        if len(together) > 1:
            cost, made = kernels.dreyfus_wagner(links.starts, links.targets, lengths, together)
            stack = [((1 << (len(together) - 1)) - 1, int(together[-1]))]
            while stack:
                chosen, row = stack.pop()
                how = int(made[chosen, row])
                if how >= 0:
                    slots.add(how)
                    stack.append((chosen, int(source_of(links, how))))
                elif how <= -2:
                    stack += [(-2 - how, row), (chosen ^ (-2 - how), row)]
    return slots


def _forest(links: Links, lengths: Floats, wanted: NDArray[np.int64], chosen: set[int]) -> Forest:
    """A minimum spanning forest of the graph induced by the chosen rows, without leaves that are no terminals."""
    slots = np.fromiter(chosen, np.int64, len(chosen))
    rows = np.unique(np.concatenate([source_of(links, slots), links.targets[slots].astype(np.int64), wanted]))
    place = {row: i for i, row in enumerate(rows.tolist())}
    inside: list[tuple[float, int, int, int]] = []
    for row in rows.tolist():
        for slot in range(links.starts[row], links.starts[row + 1]):
            other = int(links.targets[slot])
            if row < other and other in place and lengths[slot] < np.inf:
                inside.append((float(lengths[slot]), place[row], place[other], slot))
    inside.sort()
    edges = {slot: (a, b) for _, a, b, slot in _kruskal(inside, len(rows))}
    terminal = {place[row] for row in wanted.tolist()}
    degree = np.bincount([end for ends in edges.values() for end in ends], minlength=len(rows))
    while True:
        loose = [slot for slot, ends in edges.items() if any(degree[end] == 1 and end not in terminal for end in ends)]
        if not loose:
            break
        for slot in loose:
            for end in edges.pop(slot):
                degree[end] -= 1
    kept = np.array(sorted(edges), np.int64)
    nodes = np.unique(np.concatenate([source_of(links, kept), links.targets[kept].astype(np.int64), wanted]))
    return Forest(frozen(nodes, np.int32), kept, float(lengths[kept].sum()), _missing(edges.values(), place, wanted))


def _kruskal(edges: list[tuple[float, int, int, int]], n: int) -> list[tuple[float, int, int, int]]:
    of = list(range(n))
    taken = []
    for edge in edges:
        a, b = _root(of, edge[1]), _root(of, edge[2])
        if a != b:
            of[max(a, b)] = min(a, b)
            taken.append(edge)
    return taken


def _spanning(pairs: list[tuple[float, int, int]], k: int) -> list[tuple[float, int, int]]:
    return [edge[:3] for edge in _kruskal([(*pair, 0) for pair in pairs], k)]


def _root(of: list[int], x: int) -> int:
    while of[x] != x:
        of[x] = of[of[x]]
        x = of[x]
    return x


def _missing(edges: Any, place: dict[int, int], wanted: NDArray[np.int64]) -> tuple[tuple[int, int], ...]:
    """For every part of the forest after the first, the pair of its least terminal and the first part's."""
    of = list(range(len(place)))
    for a, b in edges:
        of[max(_root(of, a), _root(of, b))] = min(_root(of, a), _root(of, b))
    first: dict[int, int] = {}
    for row in wanted.tolist():
        first.setdefault(_root(of, place[row]), row)
    heads = list(first.values())
    return tuple((heads[0], other) for other in heads[1:])
