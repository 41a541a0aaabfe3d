"""The connected choice of most prize that the budget can pay for, with a bound on any other.

    max sum of prizes   such that   sum of tokens <= budget,  and the choice and the question are
                                    connected

A node is in or out by its worth to the whole: a passage of middling prize is taken where it leads
to better ones, and an expensive one is left where its tokens buy more elsewhere. See
`clew.algorithms.budgeted.solve`. Where the usual outline of this problem errs or leaves something
open:

- "A chosen node has a chosen neighbour" is not connected: two nodes far from the question support
  each other, and the optimum of that rule is mostly islands. Here connection is a flow from the
  question, or all cuts between it and a node (`clew.algorithms.budgeted.cuts`).
- It is not the prize-collecting Steiner tree. That is its Lagrangian relaxation, which misses
  budgets between two corners of the hull.
- Growing by prize per token stops before the first connector without a prize, and divides by zero
  where one is free. "greedy" is that, as a baseline; "density" counts the whole path to a prize.
- The question counts as a node of the choice, so that without it the rest may be islands;
  `connected_without_query` forbids them.
- To how many nodes the question is linked is left open: `q_links`. If all prizes are above 0, the
  best choice fills the budget with anything: `w_min`, and prizes raised to a power before.
- Edges cost nothing in the model, and tokens when they are printed: here no fact is printed for
  joining, and headings are counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.budgeted.problem import Problem, Solution, articulation_mask, spanning_parents
from clew.algorithms.budgeted.solve import solve_budgeted
from clew.algorithms.ranking import exceeds, make_summable, top_k
from clew.algorithms.traversal.breadth_first import shortest_paths
from clew.algorithms.traversal.reached import induced_links
from clew.graph import Floats, Graph, Kinds, Links, Mask, Rows, freeze, heading_of, row_mask
from clew.select._shared import required_content, required_rows, slots_of
from clew.types import Query, Seeds, Subgraph

SLACK = 1e-12  # by how much sums of the same prizes in another order may differ, relatively
MAX_HOPS = 4  # a longer path joins nothing that a reader would see
CORE_SHARE = (2, 3)  # of the working graph, for the best candidates


@dataclass(frozen=True)
class Budgeted:
    """Take the connected choice of most prize within the budget; connectors cost nothing.

    The question is linked to the seed's terminals, or where it names none to the best candidates.
    The choice is made in a working graph (see `working_graph`), and `bound` holds for that: it
    says nothing of what the working graph leaves out.

    Attributes:
        method: "auto" (heuristics, then a proof as far as `work` goes), "best", "density",
            "local", "tree", "lagrange" or "greedy".
        q_links: to how many nodes the question is linked; to all, connectivity says nothing.
        w_min: a node's prize counts as far as it is above this.
        working: about how many nodes the working graph may have.
        connected_without_query: link the question to the best seed alone, so that the choice is
            connected without it.
        kinds: kinds of edge to follow; None for all kinds that state no facts. A path over a fact
            that is not read is no path for the reader, and to read it costs tokens: facts of a
            kind that is named here are not printed.
        headings: count the line of a passage's heading with the passage.
        work: what the proof may cost, as a count; see `clew.algorithms.budgeted.solve`.

    Example:
        >>> import numpy as np
        >>> from clew import Graph, Query, Seeds, Subgraph
        >>> from clew.graph import Edges
        >>> edges = Edges.of("next", [0, 1], [1, 2])
        >>> graph = Graph.of(["a", "b", "c", "d"], tokens=[1] * 4, edges=edges)
        >>> prizes = np.array([1.0, 0.1, 0.9, 0.8])
        >>> select = Budgeted("density", q_links=1).on(graph)
        >>> select(Query("?"), Seeds(prizes), prizes, Subgraph(np.arange(4)), 3).nodes.tolist()
        [0, 1, 2]
    """

    method: str = "auto"
    q_links: int = 5
    w_min: float = 0.0
    working: int = 200
    connected_without_query: bool = False
    kinds: Kinds = None
    headings: bool = True
    work: int = 40

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats, Subgraph, int], Subgraph]:
        all_links = graph.links(_kinds_without_facts(graph) if self.kinds is None else self.kinds)

        def select(
            query: Query, seeds: Seeds, prizes: Floats, candidates: Subgraph, budget: int
        ) -> Subgraph:
            offered = row_mask(candidates.nodes, len(graph))
            links = all_links if offered.all() else _links_among(all_links, offered)
            required = required_rows(candidates)
            room = budget - int(graph.tokens[required_content(graph, candidates)].sum())
            search = _Search(self, graph, links, query, prizes, required, room)

            free = offered & graph.content & exceeds(prizes, self.w_min, self.w_min)
            free[required] = False
            ranked = freeze(np.flatnonzero(free), np.int32)
            ranked = ranked[top_k(prizes[ranked], self.working)]
            fits = search.costs(ranked) <= room
            core, too_large = ranked[fits], ranked[~fits]

            terminals = seeds.terminals[offered[seeds.terminals]][: self.q_links]
            roots = terminals if len(terminals) else core
            chosen = search.choose(self._roots(roots), core, too_large)
            if len(terminals) and len(core) and not graph.content[chosen.nodes].any():
                chosen = search.choose(self._roots(core), core, too_large)
                note = "from the seed's terminals nothing is reached: the best are linked"
                chosen = replace(chosen, notes={**chosen.notes, "fallback": note})
            all_required = np.unique(np.concatenate([chosen.required, candidates.required]))
            return replace(
                chosen,
                required=freeze(all_required, np.int32),
                groups=candidates.groups,
                missing=candidates.missing,
                dropped=(*candidates.dropped, *chosen.dropped),
            )

        return select

    def _roots(self, rows: Rows) -> Rows:
        """Return the rows that the question is linked to, of some in order."""
        return rows[: 1 if self.connected_without_query else self.q_links]


@dataclass(frozen=True, eq=False)
class WorkingGraph:
    """An induced part of the links.

    Attributes:
        rows: the rows of the graph, ascending; a row's place here is its number in `links`.
        links: the links among them, by places.
        slots: the slot of the whole links for each slot of these.
    """

    rows: Rows
    links: Links
    slots: NDArray[np.int64]

    def places(self, rows: Rows) -> Rows:
        """Return the places of some of its rows."""
        return freeze(np.searchsorted(self.rows, rows), np.int32)


def working_graph(
    graph: Graph, links: Links, roots: Rows, core: Rows, max_rows: int
) -> WorkingGraph:
    """Return the part of a graph that an exact method can afford to look at.

    It takes in this order, until it has about `max_rows` rows: the roots; the best candidates, two
    thirds of the room; the shortest path to each of them, best first; connectors that are linked
    to two or more of these, those with the most links first.

    Args:
        graph: the whole graph.
        links: the links that may be followed.
        roots: the rows that the question is linked to.
        core: the candidates, best first.
        max_rows: about how many rows it may have.
    """
    inside = row_mask(roots, len(graph))
    share, whole = CORE_SHARE
    core = core[: max(1, max_rows * share // whole)]
    inside[core] = True
    room = max_rows - int(inside.sum())
    paths = shortest_paths(links, roots.tolist(), core.tolist(), MAX_HOPS)
    for row in core.tolist():
        path = links.targets[paths.get(row, [])].tolist()
        new = [step for step in path if not inside[step]]
        if len(new) <= room:
            inside[new] = True
            room -= len(new)
    near = links.targets[slots_of(links, np.flatnonzero(inside))]
    connectors, counts = np.unique(near[~inside[near] & ~graph.content[near]], return_counts=True)
    connectors, counts = connectors[counts > 1], counts[counts > 1]
    inside[connectors[np.argsort(-counts, kind="stable")][: max(0, room)]] = True
    rows = np.flatnonzero(inside)
    return WorkingGraph(freeze(rows, np.int32), *induced_links(links, rows))


@dataclass(frozen=True, eq=False)
class _Search:
    """The search for one question: the stage, what it is bound to, and what it may spend.

    `required` rows cost nothing more, and their prizes are won already.
    """

    stage: Budgeted
    graph: Graph
    links: Links
    query: Query
    prizes: Floats
    required: Rows
    room: int

    def costs(self, rows: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the tokens of each row as it is printed; connectors cost nothing."""
        graph = self.graph
        tokens = np.where(graph.content[rows], graph.tokens[rows], 0).astype(np.int64)
        if self.stage.headings:
            for place, row in enumerate(rows.tolist()):
                heading = heading_of(graph, row) if graph.content[row] else ""
                tokens[place] += graph.count(f"# {heading}\n") if heading else 0
        return tokens

    def choose(self, roots: Rows, core: Rows, too_large: Rows) -> Subgraph:
        """Return the best choice in the working graph around the core, seen from the roots."""
        graph, stage, required = self.graph, self.stage, self.required
        linked = np.unique(np.concatenate([roots, required]))
        part = working_graph(graph, self.links, linked, core, stage.working)
        is_content, is_required = graph.content[part.rows], np.isin(part.rows, required)
        free = is_content & ~is_required
        prizes = make_summable(np.where(free, self.prizes[part.rows], 0.0))
        tokens = np.where(is_required, 0, self.costs(part.rows))
        problem = Problem(
            part.links.starts,
            part.links.targets,
            np.maximum(prizes - stage.w_min, 0),
            tokens,
            part.places(linked),
            max(0, self.room),
        )
        solution = self._solve(problem, free, int(is_content[is_required].sum()))
        places = np.union1d(solution.rows, part.places(required)).astype(np.int32)
        nodes = part.rows[places]
        content = nodes[graph.content[nodes]]
        # The solution's bound is of prizes less w_min: at most as many as fit can have lost it.
        bound = min(
            replace(problem, prizes=prizes).upper_bound,
            solution.bound + stage.w_min * _count_fitting(tokens[free], self.room),
        )
        won = float(self.prizes[required[graph.content[required]]].sum())
        return Subgraph(
            freeze(np.concatenate([required, np.setdiff1d(nodes, required)]), np.int32),
            self._forest(part, problem, places),
            freeze(nodes[articulation_mask(problem, places)], np.int32),
            value=float(self.prizes[content].sum()),
            bound=(bound + won) * (1 + SLACK),
            dropped=self._dropped(content, core, too_large),
            notes={
                "content": len(content),
                "working nodes": len(part.rows),
                "working edges": len(part.links.targets) // 2,
                "candidates": len(core),
                "linked": len(linked),
                "tokens": int(tokens[places].sum()),
                "proved": solution.proved,
                "work": dict(solution.work),
            },
        )

    def _solve(self, problem: Problem, free: Mask, required_count: int) -> Solution:
        """Return the solution.

        A limit on the number of items is first tried as a budget in which each item costs one.
        """
        stage, deadline, limit = self.stage, self.query.deadline, self.query.limit
        places = None if limit is None else max(0, limit - required_count)
        if places is not None and places < int(free.sum()):
            by_count = replace(problem, tokens=free.astype(np.int64), budget=places)
            solution = solve_budgeted(by_count, stage.method, stage.work, deadline)
            if int(problem.tokens[solution.rows].sum()) <= problem.budget:
                return replace(solution, work={**solution.work, "limited": places})
        solution = solve_budgeted(problem, stage.method, stage.work, deadline)
        rows = solution.rows
        while places is not None and int(free[rows].sum()) > places:
            loose = rows[~articulation_mask(problem, rows)][::-1]  # of equals the later one goes
            rows = rows[rows != loose[int(np.argmin(problem.prizes[loose]))]]
        if len(rows) == len(solution.rows):
            return solution
        value = float(problem.prizes[rows].sum())
        return replace(solution, rows=rows, value=value, proved=False)

    def _forest(self, part: WorkingGraph, problem: Problem, places: Rows) -> Rows:
        """Return the edges of a forest that joins the choice, those that state no fact."""
        facts, edges, links = self.graph.edges.facts, list[int](), part.links
        parents = spanning_parents(problem, places).tolist()
        for place, parent in zip(places.tolist(), parents, strict=True):
            if parent < 0:
                continue
            offset = int(np.searchsorted(links.neighbours(parent), place))
            slot = int(part.slots[links.starts[parent] + offset])
            edges += [edge for edge in self.links.edges[slot].tolist() if facts[edge] < 0][:1]
        return freeze(sorted(edges), np.int32)

    def _dropped(self, content: Rows, core: Rows, too_large: Rows) -> tuple[tuple[int, str], ...]:
        """Return why rows with a higher prize than the lowest that was taken were not taken."""
        lowest = float(self.prizes[content].min()) if len(content) else -np.inf
        highest = float(self.prizes[content].max(initial=0))
        large = too_large[exceeds(self.prizes[too_large], lowest, highest)]
        others = core
        if len(content):
            free = np.setdiff1d(core, content)
            others = free[exceeds(self.prizes[free], lowest, highest)]
        return tuple(
            chain(
                (
                    (row, f"its {tokens} tokens do not fit in {self.room}")
                    for row, tokens in self._priced(large)
                ),
                (
                    (row, f"its {tokens} tokens, and what joins it, buy less than others do")
                    for row, tokens in self._priced(others)
                ),
            )
        )

    def _priced(self, rows: Rows) -> list[tuple[int, int]]:
        """Return rows with their costs."""
        return list(zip(rows.tolist(), self.costs(rows).tolist(), strict=True))


def _kinds_without_facts(graph: Graph) -> tuple[str, ...]:
    """Return the kinds of edge that state no facts."""
    kinds = graph.edges.kinds
    with_facts = set(np.unique(kinds.codes[graph.edges.facts >= 0]).tolist())
    return tuple(name for code, name in enumerate(kinds.names) if code not in with_facts)


def _links_among(links: Links, offered: Mask) -> Links:
    """Return the links between offered rows alone; all rows keep their numbers."""
    kept = np.flatnonzero(offered[links.sources] & offered[links.targets])
    starts = np.zeros(len(links) + 1, np.int64)
    np.cumsum(np.bincount(links.sources[kept], minlength=len(links)), out=starts[1:])
    return Links(
        freeze(starts, np.int64),
        freeze(links.targets[kept], np.int32),
        freeze(links.weights[kept], np.float32),
        links.edges.take(kept),
    )


def _count_fitting(tokens: NDArray[np.int64], room: int) -> int:
    """Return how many of these fit at once."""
    return int((np.cumsum(np.sort(tokens)) <= room).sum())
