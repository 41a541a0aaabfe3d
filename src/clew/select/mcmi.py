"""The minimum-cost maximum-influence subgraph (MCMI): a cheap tree over the terminals, then grown.

AGRAG (arXiv 2511.05549), Definition 1, equation 6 and Algorithm 1. With costs c of edges and
influence s of nodes (the prizes, see `clew.spread.influence`):

    c(edge) = (1 - cos(question, fact)) / 2         (equation 6: `edge_costs`)
    1. a Steiner tree over the terminals, by c
    2. r = mean of c / (s_u + s_v) over the tree's edges; while the neighbour v of lowest c / s_v
       has c / s_v < r, add it by its edge, and renew r

Where the paper or its authors' code errs or leaves something open, we do this:

- Definition 1 is a Steiner tree with lengths c / (s_u + s_v), and every edge that lines 11 to 15
  add makes it worse: these are two goals. `steiner_weight="cost_over_score"` with `max_steps=0`
  solves the definition; the growth is a choice beside it.
- The paper calls its ratio to the optimum unbounded. It is 2 (1 - 1/k), since the bound of a
  Steiner tree needs no triangle inequality. The proof of hardness goes in the wrong direction;
  with equal scores any Steiner tree is an instance, which is the right one.
- Line 1 asks for a tree, and lines 3 to 10 look for paths inside it, which only prunes it. The
  paths are meant on the whole graph.
- Line 12 takes the neighbour of highest c / s while that is below r: the worst one, and only if
  all would do. The lowest is meant. Line 13 renews r before the addition, one step late; here it
  is renewed after it.
- Theorem 3 is false for a sum, which grows at every step. It is true for a mean, the default. The
  authors' code compares s / c with a mean of s c over the first edges, which mixes units and runs
  into its cap. `clew.algorithms.steiner.expansion` has both, a counter-example and the proofs.
- Each step adds a node by one edge, so the result is a tree. Cycles come only with the other edges
  among the chosen nodes: `chords`.
- The paper takes the terminals to be connected; the code links all passages to a node at cost 10.
  Here each connected part has its own tree and the pairs are named in `missing`; `bridge_cost` does
  as the code does, and takes the node out again.
- One terminal has no edge, so r would be 0 and nothing would grow. Here r is infinite, and the best
  neighbour is added. A neighbour with a score of 0 is never added.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.last_result import remember_last
from clew.algorithms.ranking import exceeds, make_summable, top_k
from clew.algorithms.steiner.expansion import RULES, ExpandedTree, edge_weight, expand_tree
from clew.algorithms.steiner.forest import SteinerForest, slot_sources, steiner_forest
from clew.graph import Floats, Graph, Kinds, Links, Ragged, Rows, freeze, row_mask
from clew.select._shared import (
    PASSAGES_BY,
    EvidenceRule,
    JoinedRows,
    Offer,
    passages_in_order,
    select_evidence,
    similarities,
    slots_of,
)
from clew.types import Query, Seeds, Subgraph

CHORDS = ("none", "below_mean", "induced")
STEINER_WEIGHTS = ("cost", "cost_over_score")
MIN_COST, MAX_COST = 1e-6, 1.0

Slots = NDArray[np.int64]


@dataclass(frozen=True)
class MCMI:
    """Join the seed's terminals, grow, and read the facts and passages of the whole while they fit.

    Other passages follow. Without terminals they are all there is.

    Attributes:
        variant: the rule of growth: "mean", "mean_edge", "ratio", "sum" or "official".
        max_steps: grow by at most so many nodes.
        steiner_weight: the lengths of the tree, "cost" (c) or "cost_over_score" (c / (s_u + s_v)).
        steiner: the method of `clew.algorithms.steiner.forest.steiner_forest`.
        chords: the further edges among the chosen nodes that belong to it: "none", "below_mean"
            (those that lower the mean of c / (s_u + s_v)) or "induced", all.
        kinds: the kinds of edge; None for all. A factor on a kind plays no part here.
        bridge_cost: join what nothing joins over a node that is linked to every passage at this
            cost and is no part of the answer; None does not.
        fact_share: the share of the budget that is reserved for facts, in [0, 1]; 0 prints none.
            Further facts are printed where the passages leave room.
        repeat: print a fact also where a passage that states it is read.
        max_passages: read at most so many passages; None for as many as fit.
        passages_by: the order of the other passages, by "prize" or "similarity" (the seed's score).
        tree_first: read the subgraph's passages before all others; False puts only its terminals
            first.

    Example:
        >>> import numpy as np
        >>> from clew import Graph, Query, Seeds, Subgraph
        >>> from clew.graph import Edges
        >>> kinds = ["passage", "passage", "entity"]
        >>> edges = Edges.of("mentions", [0, 1], [2, 2])
        >>> graph = Graph.of(["Anna in Rome", "Rome", "Rome"], kinds=kinds, edges=edges)
        >>> seeds = Seeds(np.ones(3), terminals=np.array([0, 1], np.int32))
        >>> select = MCMI(max_steps=0).on(graph)
        >>> subgraph = select(Query("?"), seeds, seeds.scores, Subgraph(np.arange(3)), 99)
        >>> subgraph.edges.tolist(), subgraph.required.tolist()
        ([0, 1], [2])
    """

    variant: str = "mean"
    max_steps: int = 20
    steiner_weight: str = "cost"
    steiner: str = "mehlhorn"
    chords: str = "induced"
    kinds: Kinds = None
    bridge_cost: float | None = None
    fact_share: float = 1.0
    repeat: bool = True
    max_passages: int | None = None
    passages_by: str = "prize"
    tree_first: bool = True

    def __post_init__(self) -> None:
        for name, known in (
            ("variant", RULES),
            ("steiner_weight", STEINER_WEIGHTS),
            ("chords", CHORDS),
            ("passages_by", PASSAGES_BY),
        ):
            if getattr(self, name) not in known:
                raise ValueError(
                    f"unknown {name} {getattr(self, name)!r}; known: {', '.join(known)}"
                )
        if not 0 <= self.fact_share <= 1:
            raise ValueError(
                f"fact_share is a share of the budget in [0, 1]; got {self.fact_share}"
            )

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats, Subgraph, int], Subgraph]:
        links = graph.links(self.kinds)
        rule = self._evidence_rule()

        def grow(query: Query, seeds: Seeds, prizes: Floats, candidates: Subgraph) -> _Grown:
            offered = row_mask(candidates.nodes, len(graph))
            terminals = seeds.terminals[offered[seeds.terminals]]
            priced = slot_costs(graph, links, query)
            costs = priced.costs
            if not offered.all():
                inside = offered[links.sources] & offered[links.targets]
                costs = np.where(inside, costs, np.inf)
            tree = self._tree(graph, links, costs, prizes, terminals)
            tree = replace(tree, slots=_in_tree_order(links, tree, terminals))
            steps = self.max_steps if len(terminals) else 0
            grown = expand_tree(links, costs, prizes, tree.nodes, tree.slots, self.variant, steps)
            slots = self._with_chords(links, costs, prizes, grown)
            joined = JoinedRows(
                _terminals_first(grown.nodes, terminals),
                priced.edges[slots],
                _cheapest_first(priced.costs[slots], slots, len(tree.slots), len(grown.slots)),
                np.setdiff1d(tree.nodes, terminals),
            )
            edge_costs = zip(joined.edges.tolist(), priced.costs[slots].tolist(), strict=True)
            step_of = _Steps(graph, links, priced, prizes)
            notes = {
                "terminals": [graph.ids[row] for row in terminals.tolist()],
                "tree_cost": tree.cost,
                "ratios": list(grown.ratios),
                "steps": step_of.notes(grown.slots[len(tree.slots) :]),
                "tree": step_of.notes(tree.slots),
            }
            if not len(terminals):
                note = "the seed named nothing that could be joined: the passages by prize"
                notes["fallback"] = note
            offer = Offer(graph, query, seeds, prizes, candidates, budget=0)
            queue = passages_in_order(offer, joined, rule)
            missing = tuple(_missing(links, tree, terminals))
            return _Grown(joined, queue, missing, dict(edge_costs), notes)

        grown_for = remember_last(grow)

        def select(
            query: Query, seeds: Seeds, prizes: Floats, candidates: Subgraph, budget: int
        ) -> Subgraph:
            grown = grown_for(query, seeds, prizes, candidates)
            offer = Offer(graph, query, seeds, prizes, candidates, budget)
            chosen = select_evidence(offer, grown.joined, rule, grown.queue)
            return replace(
                chosen,
                missing=(*chosen.missing, *grown.missing),
                edge_costs=dict(grown.edge_costs),
                notes={**grown.notes, **chosen.notes},
            )

        return select

    def _evidence_rule(self) -> EvidenceRule:
        return EvidenceRule(
            self.fact_share, self.repeat, self.max_passages, self.passages_by, self.tree_first
        )

    def _tree(
        self, graph: Graph, links: Links, costs: Floats, scores: Floats, terminals: Rows
    ) -> SteinerForest:
        """Return the Steiner tree over the terminals, one for each connected part."""
        lengths = costs
        if self.steiner_weight == "cost_over_score":
            lengths = edge_weight(costs, scores[links.sources], scores[links.targets])
        if self.bridge_cost is None:
            return steiner_forest(links, lengths, terminals, self.steiner)
        passages = np.flatnonzero(graph.content)
        return _joined_over_passages(
            links, lengths, terminals, passages, self.bridge_cost, self.steiner
        )

    def _with_chords(
        self, links: Links, costs: Floats, scores: Floats, grown: ExpandedTree
    ) -> Slots:
        """Return the slots of the grown tree, then those of its chords."""
        if self.chords == "none" or not len(grown.nodes):
            return grown.slots
        chords = _chords(links, costs, grown)
        if self.chords == "below_mean":
            weights = edge_weight(costs, scores[links.sources], scores[links.targets])
            chords = _below_mean(weights, grown.slots, chords)
        return np.concatenate([grown.slots, chords])


class _Grown(NamedTuple):
    """What a question selects, whatever its budget.

    Attributes:
        joined: the rows of the grown tree.
        queue: the passages that may be read, in order.
        missing: pairs of nodes that could not be joined.
        edge_costs: what the edges cost.
        notes: what the trace gets.
    """

    joined: JoinedRows
    queue: list[int]
    missing: tuple[tuple[int, int], ...]
    edge_costs: dict[int, float]
    notes: dict[str, Any]


@dataclass(frozen=True, eq=False)
class SlotCosts:
    """What every slot of the links costs for a question.

    Attributes:
        costs: the cost of each slot: of parallel edges that of the cheapest.
        edges: the edge with that cost, the first of equals.
    """

    costs: Floats
    edges: Rows


def slot_costs(graph: Graph, links: Links, query: Query) -> SlotCosts:
    """Return this question's costs on `links` of `graph`."""
    from clew.algorithms.steiner.kernels.prices import cheapest_edges

    if not len(links.targets):
        return SlotCosts(np.zeros(0), np.zeros(0, np.int32))
    of_slots = links.edges
    return SlotCosts(*cheapest_edges(of_slots.starts, of_slots.values, edge_costs(graph, query)))


def edge_costs(graph: Graph, query: Query) -> Floats:
    """Return the cost of every edge for a question, float64 in [1e-6, 1].

    AGRAG, equation 6: (1 - cos(question, fact)) / 2. The paper prices facts alone. The rest follows
    its authors' code, on the same scale, with another cosine in the place of the fact's: of a
    mention the passage's, of two synonyms the higher of both names'. A link between passages has
    weight x mean cosine of its ends, so that a weak one is near 0.5, the cost of what has no text.

    Example:
        >>> import numpy as np
        >>> from clew import Graph, Query
        >>> from clew.graph import Edges
        >>> vectors = [[1, 0], [0, 1]]
        >>> graph = Graph.of(["a", "b"], vectors=vectors, edges=Edges.of("next", [0], [1]))
        >>> edge_costs(graph, Query("?", np.float32([1, 0]))).tolist()
        [0.25]
    """
    from clew.algorithms.steiner.kernels.prices import price_edges

    edges, names = graph.edges, graph.edges.kinds.names
    of_nodes = make_summable(similarities(graph.vectors, query.vector), 1.0)
    of_facts = make_summable(similarities(graph.facts.vectors, query.vector_for_facts), 1.0)
    rules = tuple(names.index(kind) if kind in names else -1 for kind in ("mentions", "synonym"))
    # Coarse numbers add up exactly, so that paths of equal edges are equally long.
    costs: Floats = price_edges(
        edges.tails,
        edges.heads,
        edges.weights,
        edges.kinds.codes,
        rules,
        graph.content,
        edges.facts,
        (of_nodes, of_facts),
        (MIN_COST, MAX_COST),
    )
    return costs


def _chords(links: Links, costs: Floats, grown: ExpandedTree) -> Slots:
    """Return the other slots among the nodes of the grown tree, one for both directions."""
    inside = row_mask(grown.nodes, len(links))
    among = slots_of(links, np.sort(grown.nodes))
    sources, targets = slot_sources(links, among), links.targets[among]
    among = among[inside[targets] & (sources < targets) & np.isfinite(costs[among])]
    tree = {tuple(sorted(ends)) for ends in _ends(links, grown.slots)}
    outside_tree = [ends not in tree for ends in _ends(links, among)]
    return among[outside_tree] if len(among) else among


def _below_mean(weights: Floats, tree: Slots, chords: Slots) -> Slots:
    """Return the chords that lower the mean weight of what is chosen before, the lightest first."""
    total, count, chosen = float(weights[tree].sum()), len(tree), list[int]()
    for slot in chords[top_k(-weights[chords])].tolist():
        if not exceeds(total, weights[slot] * count, total):
            break
        chosen.append(slot)
        total, count = total + float(weights[slot]), count + 1
    return np.array(chosen, np.int64)


def _joined_over_passages(
    links: Links, lengths: Floats, terminals: Rows, passages: Slots, cost: float, method: str
) -> SteinerForest:
    """Return the forest over the links and one more node, which is linked to every passage.

    What leads to that node is taken out again.
    """
    n, ends = len(links), links.starts[1:][passages]
    starts = links.starts.copy()
    starts[1:] += np.cumsum(np.bincount(passages, minlength=n))
    starts = np.append(starts, starts[-1] + len(passages))
    # The slots of the links in the wider ones; -1 for those that lead to the new node or from it.
    old_slots = np.insert(np.arange(len(links.targets)), ends, -1)
    old_slots = np.concatenate([old_slots, np.full(len(passages), -1)])
    targets = np.concatenate([np.insert(links.targets, ends, n), passages]).astype(np.int32)
    weights = np.ones(len(targets), np.float32)
    wider = Links(starts, targets, weights, Ragged.empty(len(targets)))
    wider_lengths = np.concatenate([np.insert(lengths, ends, cost), np.full(len(passages), cost)])
    forest = steiner_forest(wider, wider_lengths, terminals, method)
    slots = old_slots[forest.slots]
    slots = slots[slots >= 0]
    return SteinerForest(forest.nodes[forest.nodes < n], slots, float(lengths[slots].sum()))


def _ends(links: Links, slots: Slots) -> list[tuple[int, int]]:
    """Return the rows at both ends of each slot."""
    sources, targets = slot_sources(links, slots), links.targets[slots]
    return list(zip(sources.tolist(), targets.tolist(), strict=True))


def _in_tree_order(links: Links, tree: SteinerForest, terminals: Rows) -> Slots:
    """Return the tree's slots depth first from the first terminal on, to be read along the tree."""
    neighbours: dict[int, list[tuple[int, int]]] = {row: [] for row in tree.nodes.tolist()}
    for slot, (tail, head) in zip(tree.slots.tolist(), _ends(links, tree.slots), strict=True):
        neighbours[tail].append((slot, head))
        neighbours[head].append((slot, tail))
    ordered, visited, stack = dict[int, None](), set[int](), terminals.tolist()[::-1]
    while stack:
        row = stack.pop()
        if row in visited:
            continue
        visited.add(row)
        near = neighbours.get(row, [])
        stack += [head for _, head in reversed(near) if head not in visited]
        ordered |= dict.fromkeys(slot for slot, head in near if head in visited)
    return np.array(list(ordered), np.int64)


def _cheapest_first(costs: Floats, slots: Slots, tree_count: int, grown_count: int) -> Slots:
    """Return positions in `slots`: the tree's, what it grew by, the chords; each cheapest first.

    Facts are taken in this order while they fit.
    """
    counts = [tree_count, grown_count - tree_count, len(slots) - grown_count]
    return np.lexsort((slots, costs, np.repeat([0, 1, 2], counts)))


def _terminals_first(nodes: Rows, terminals: Rows) -> Rows:
    """Return the terminals in the seed's order, then the rest of the tree, then what it grew by."""
    return freeze(list(dict.fromkeys([*terminals.tolist(), *nodes.tolist()])), np.int32)


def _missing(links: Links, tree: SteinerForest, terminals: Rows) -> tuple[tuple[int, int], ...]:
    """Return the first terminal paired with the first one of each part that it cannot reach."""
    part = {row: {row} for row in tree.nodes.tolist()}
    for tail, head in _ends(links, tree.slots):
        if part[tail] is not part[head]:
            part[tail] |= part[head]
            part |= dict.fromkeys(part[head], part[tail])
    first_of_parts: list[int] = []
    for row in terminals.tolist():
        if not any(row in part[first] for first in first_of_parts):
            first_of_parts.append(row)
    return tuple((first_of_parts[0], row) for row in first_of_parts[1:])


@dataclass(frozen=True, eq=False)
class _Steps:
    """What the trace says of edges: where they lead, what they cost, the scores of their ends."""

    graph: Graph
    links: Links
    priced: SlotCosts
    scores: Floats

    def notes(self, slots: Slots) -> list[dict[str, Any]]:
        graph, found = self.graph, list[dict[str, Any]]()
        for slot, (tail, head) in zip(slots.tolist(), _ends(self.links, slots), strict=True):
            edge = int(self.priced.edges[slot])
            fact = int(graph.edges.facts[edge])
            found.append(
                {
                    "from": graph.ids[tail],
                    "kind": graph.edges.kinds[edge],
                    "to": graph.ids[head],
                    "fact": graph.facts.texts[fact] if fact >= 0 else "",
                    "cost": float(self.priced.costs[slot]),
                    "scores": (float(self.scores[tail]), float(self.scores[head])),
                }
            )
        return found
