"""The minimum-cost maximum-influence subgraph: a cheap tree over the terminals, grown by what is cheap for the influence it brings.

AGRAG (arXiv 2511.05549), Definition 1 and Algorithm 1. Where the paper or its authors' code errs, or leaves open, we do this:

- Definition 1 is a Steiner tree with lengths c / (s_u + s_v), and every edge that lines 11 to 15 add makes it worse: two goals, not one.
  `steiner_weight="cost_over_score"` with `max_steps=0` solves the definition; the growth is a choice beside it.
- Its ratio to the optimum is called unbounded; it is 2 (1 - 1/k), since the bound of a Steiner tree needs no triangle inequality. The
  proof of hardness goes the wrong way round; with equal scores any Steiner tree is an instance, which is the right one.
- Line 1 asks for a tree, and lines 3 to 10 look for paths inside it, which only prunes: the paths are meant on the whole graph.
- Line 12 takes the neighbour of highest c / s while that is below r, so the worst, and only if all would do; the lowest is meant. Line 13
  renews r before the addition, one step late; here it is after it.
- Theorem 3 is false for a sum, which grows at every step; true for a mean, the default. What the code does, s / c against a mean of s c
  over the first edges, mixes units and runs into its cap. `clew.algorithms.steiner.expansion` has both, a counter-example and the proofs.
- Each step adds a node by one edge, so that the result is a tree; circles come with the edges among the chosen nodes alone: `chords`.
- Terminals are taken to hang together; the code ties all passages to a node at cost 10. Here there is a tree for each part and the pairs
  are named, and `bridge_cost` does as the code does and takes the node out again.
- One terminal has no edge, so r = 0 and nothing grows; here r is infinite, and the best neighbour is taken. A score of 0 is never taken.
- Costs, the walk and what is damped in it: `clew.select._costs` and `clew.spread.influence`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.ranking import exceeds, top_k
from clew.algorithms.steiner.expansion import RULES, edge_weight, expand
from clew.algorithms.steiner.forest import SteinerForest, slot_sources, steiner_forest
from clew.graph import Floats, Graph, Links, Ragged, Rows, freeze
from clew.select._costs import SlotCosts, slot_costs
from clew.select._evidence import REST, JoinedRows, select_evidence
from clew.types import Query, Seeds, Subgraph

CHORDS = ("none", "below_mean", "induced")
LENGTHS = ("cost", "cost_over_score")


@dataclass(frozen=True)
class MCMI:
    """Join the seed's terminals, grow, and read the facts and passages of the whole while they fit; then other passages.

    Without terminals the passages by prize are all there is. Prizes are the scores s.

    Attributes:
        variant: the rule of growth: "mean", "mean_edge", "ratio", "sum" or "official". max_steps: grow by at most so many nodes.
        steiner_weight: the tree's lengths, "cost" or "cost_over_score". steiner: the method of `steiner_forest`.
        chords: which further edges among the chosen nodes belong to it: "none", "below_mean" (of c / (s_u + s_v)) or "induced", all.
        kinds: the kinds of edge, or pairs of a kind and a factor (no matter here); None for all.
        bridge_cost: join what nothing joins over a node that is linked to every passage at this cost and is no part of the answer.
        fact_share, repeat, most, rest, tree_first: what is read, see `clew.select._evidence`.
    """

    variant: str = "mean"
    max_steps: int = 20
    steiner_weight: str = "cost"
    steiner: str = "mehlhorn"
    chords: str = "induced"
    kinds: tuple[str | tuple[str, float], ...] | None = None
    bridge_cost: float | None = None
    fact_share: float = 1.0
    repeat: bool = True
    max_passages: int | None = None
    rest: str = "prize"
    tree_first: bool = True

    def __post_init__(self) -> None:
        for name, known in (
            ("variant", RULES),
            ("steiner_weight", LENGTHS),
            ("chords", CHORDS),
            ("rest", REST),
        ):
            if getattr(self, name) not in known:
                raise ValueError(
                    f"unknown {name} {getattr(self, name)!r}; known: {', '.join(known)}"
                )

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats, Subgraph, int], Subgraph]:
        links = graph.links(self.kinds)
        sources = links.sources

        def select(
            query: Query, seeds: Seeds, prizes: Floats, candidates: Subgraph, budget: int
        ) -> Subgraph:
            offered = np.zeros(len(graph), np.bool_)
            offered[candidates.nodes] = True
            terminals = seeds.terminals[offered[seeds.terminals]]
            priced = slot_costs(graph, links, query)
            allowed = np.where(offered[sources] & offered[links.targets], priced.of_slots, np.inf)
            tree = self._tree(graph, links, allowed, prizes, terminals)
            tree = replace(tree, slots=_walked(links, tree, terminals))
            grown = expand(
                links,
                allowed,
                prizes,
                tree.nodes,
                tree.slots,
                self.variant,
                self.max_steps if len(terminals) else 0,
            )
            slots = self._closed(links, allowed, prizes, grown.nodes, grown.slots)
            joins = np.setdiff1d(tree.nodes, terminals)
            missing = _missing(links, tree, terminals)
            stage = np.repeat(
                [0, 1, 2],
                [
                    len(tree.slots),
                    len(grown.slots) - len(tree.slots),
                    len(slots) - len(grown.slots),
                ],
            )
            turn = np.lexsort((slots, priced.of_slots[slots], stage))
            joined = JoinedRows(_in_turn(grown.nodes, terminals), priced.edges[slots], turn, joins)
            chosen = select_evidence(
                graph,
                query,
                seeds,
                prizes,
                candidates,
                budget,
                joined,
                fact_share=self.fact_share,
                repeat=self.repeat,
                most=self.max_passages,
                rest=self.rest,
                tree_first=self.tree_first,
            )
            trace = {
                "terminals": [graph.ids[row] for row in terminals.tolist()],
                "tree_cost": tree.cost,
                "ratios": list(grown.ratios),
                "steps": [
                    _said(graph, links, priced, prizes, slot)
                    for slot in grown.slots[len(tree.slots) :].tolist()
                ],
                "tree": [_said(graph, links, priced, prizes, slot) for slot in tree.slots.tolist()],
                **chosen.notes,
            }
            if not len(terminals):
                trace["fallback"] = (
                    "the seed named nothing that could be joined: the passages by prize"
                )
            spent = dict(zip(joined.edges.tolist(), priced.of_slots[slots].tolist(), strict=True))
            return replace(
                chosen, missing=(*chosen.missing, *missing), edge_costs=spent, notes=trace
            )

        return select

    def _tree(
        self, graph: Graph, links: Links, allowed: Floats, scores: Floats, terminals: Rows
    ) -> SteinerForest:
        lengths = allowed
        if self.steiner_weight == "cost_over_score":
            lengths = edge_weight(allowed, scores[links.sources], scores[links.targets])
        if self.bridge_cost is None:
            return steiner_forest(links, lengths, terminals, self.steiner)
        return _bridged(
            links, lengths, terminals, np.flatnonzero(graph.content), self.bridge_cost, self.steiner
        )

    def _closed(
        self, links: Links, allowed: Floats, scores: Floats, nodes: Rows, slots: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """The chosen edges and those that close circles among the chosen nodes."""
        if self.chords == "none" or not len(nodes):
            return slots
        inside = np.zeros(len(links), np.bool_)
        inside[nodes] = True
        taken = {
            tuple(sorted((int(slot_sources(links, slot)), int(links.targets[slot]))))
            for slot in slots.tolist()
        }
        among = _slots_of(links, nodes)
        at = slot_sources(links, among)
        among = among[
            inside[links.targets[among]] & (at < links.targets[among]) & np.isfinite(allowed[among])
        ]
        among = (
            among[
                [
                    (int(slot_sources(links, s)), int(links.targets[s])) not in taken
                    for s in among.tolist()
                ]
            ]
            if len(among)
            else among
        )
        if self.chords == "below_mean":
            weights = edge_weight(allowed, scores[links.sources], scores[links.targets])
            total, count, further = float(weights[slots].sum()), len(slots), list[int]()
            for slot in among[top_k(-weights[among])].tolist():
                if not exceeds(total, weights[slot] * count, total):
                    break
                further.append(slot)
                total, count = total + float(weights[slot]), count + 1
            among = np.array(further, np.int64)
        return np.concatenate([slots, among])


def _slots_of(links: Links, nodes: Rows) -> NDArray[np.int64]:
    ranges = [
        np.arange(links.starts[row], links.starts[row + 1]) for row in np.sort(nodes).tolist()
    ]
    return np.concatenate(ranges) if ranges else np.zeros(0, np.int64)


def _bridged(
    links: Links, lengths: Floats, terminals: Rows, passages: NDArray[Any], cost: float, method: str
) -> SteinerForest:
    """The forest of the links with one more node, tied to every passage; what leads to it is taken out again."""
    n, ends = len(links), links.starts[1:][passages]
    starts = links.starts.copy()
    starts[1:] += np.cumsum(np.bincount(passages, minlength=n))
    starts = np.append(starts, starts[-1] + len(passages))
    old = np.insert(np.arange(len(links.targets)), ends, -1)
    old = np.concatenate([old, np.full(len(passages), -1)])
    targets = np.concatenate([np.insert(links.targets, ends, n), passages]).astype(np.int32)
    wider = Links(starts, targets, np.ones(len(targets), np.float32), Ragged.empty(len(targets)))
    found = steiner_forest(
        wider,
        np.concatenate([np.insert(lengths, ends, cost), np.full(len(passages), cost)]),
        terminals,
        method,
    )
    slots = old[found.slots]
    slots = slots[slots >= 0]
    return SteinerForest(found.nodes[found.nodes < n], slots, float(lengths[slots].sum()))


def _walked(links: Links, tree: SteinerForest, terminals: Rows) -> NDArray[np.int64]:
    """The tree's edges along the tree, from the first terminal on, so that what belongs together is read together."""
    ends: dict[int, list[tuple[int, int]]] = {row: [] for row in tree.nodes.tolist()}
    for slot in tree.slots.tolist():
        one, other = int(slot_sources(links, slot)), int(links.targets[slot])
        ends[one].append((slot, other))
        ends[other].append((slot, one))
    walked, seen, path = dict[int, None](), set[int](), terminals.tolist()[::-1]
    while path:
        row = path.pop()
        if row in seen:
            continue
        seen.add(row)
        path += [other for _, other in reversed(ends.get(row, [])) if other not in seen]
        walked |= dict.fromkeys(slot for slot, other in ends.get(row, []) if other in seen)
    return np.array(list(walked), np.int64)


def _parts(links: Links, tree: SteinerForest) -> list[set[int]]:
    part = {row: {row} for row in tree.nodes.tolist()}
    for slot in tree.slots.tolist():
        one, other = part[int(slot_sources(links, slot))], part[int(links.targets[slot])]
        if one is not other:
            one |= other
            part |= dict.fromkeys(other, one)
    return [rows for row, rows in part.items() if row == min(rows)]


def _missing(links: Links, tree: SteinerForest, terminals: Rows) -> tuple[tuple[int, int], ...]:
    """The first terminal, the root, and the first of each part that cannot be reached from it."""
    parts, heads = _parts(links, tree), list[int]()
    for row in terminals.tolist():
        if not any(row in rows and head in rows for rows in parts for head in heads):
            heads.append(row)
    return tuple((heads[0], other) for other in heads[1:])


def _in_turn(nodes: Rows, terminals: Rows) -> Rows:
    """Terminals as the seed has them, then the rest of the tree, then what it grew by."""
    return freeze(list(dict.fromkeys([*terminals.tolist(), *nodes.tolist()])), np.int32)


def _said(
    graph: Graph, links: Links, priced: SlotCosts, scores: Floats, slot: int
) -> dict[str, Any]:
    """An edge as the trace tells it: the way over it, its cost, the scores of its ends."""
    edge, one, other = (
        int(priced.edges[slot]),
        int(slot_sources(links, slot)),
        int(links.targets[slot]),
    )
    fact = int(graph.edges.facts[edge])
    return {
        "from": graph.ids[one],
        "kind": graph.edges.kinds[edge],
        "to": graph.ids[other],
        "fact": graph.facts.texts[fact] if fact >= 0 else "",
        "cost": float(priced.of_slots[slot]),
        "scores": (float(scores[one]), float(scores[other])),
    }
