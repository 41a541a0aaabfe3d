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
  best choice fills the budget with anything: `w_min`, and prizes by rank (`RankDiscount`).
- Edges cost nothing in the model, and tokens when they are printed: here a heading is paid once for
  all passages under it, and facts are printed only in the room that is kept for them (`fact_share`)
  and in what the passages leave then. They are those between chosen nodes: triples along the tree.

The bound is one on printed pages: no connected page of the whole graph within the budget, in the
page's style and by the caller's tokenizer, has more prize. Where all that can be reached is in the
working graph, the solver proves it. Where the working graph leaves something out, it is the
fractional knapsack over all content, which ignores what joins it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.budgeted.problem import Problem, Solution, articulation_mask, spanning_parents
from clew.algorithms.budgeted.shared_costs import SharedCosts, solve_with_shared_costs
from clew.algorithms.budgeted.solve import solve_budgeted
from clew.algorithms.ranking import exceeds, make_summable, top_k
from clew.algorithms.traversal.breadth_first import shortest_paths
from clew.algorithms.traversal.reached import induced_links
from clew.deadline import current
from clew.graph import Floats, Graph, Kinds, Links, Mask, Rows, distinct, freeze, row_mask
from clew.select._connection import LinkedToQuestion
from clew.select._page_costs import PageCosts, PageCostsPart
from clew.select._shared import required_content, required_rows, slots_of
from clew.types import Query, Seeds, Subgraph

SLACK = 1e-12  # by how much sums of the same prizes in another order may differ, relatively
ROUNDING = 2.0**-31  # by how much a rounded prize may be too low, as a share of the largest prize
MAX_HOPS = 4  # a longer path joins nothing that a reader would see
CORE_SHARE = (2, 3)  # of the working graph, for the best candidates
FILLS = 2  # times that the best candidates of a working graph fill the budget
MARGIN = 4  # by how many tokens an entry may differ between styles


@dataclass(frozen=True)
class Budgeted:
    """Take the connected choice of most prize within the budget; connectors cost nothing.

    The question is linked to the seed's terminals, or where it names none to the best candidates.
    The choice is made in a working graph (see `working_graph`); the bound is one for all graphs.

    Attributes:
        method: "auto" (heuristics, then a proof as far as `work` goes), "best", "density",
            "local", "tree", "priced", "lagrange" or "greedy".
        q_links: to how many nodes the question is linked; to all, connectivity says nothing.
        extend_links: link the question to the next best nodes, too, where all that the linked ones
            reach fits in the budget.
        w_min: a node's prize counts as far as it is above this, >= 0.
        working: about how many nodes the working graph may have. It grows with the budget, so that
            its best candidates fill the budget twice.
        connected_without_query: link the question to the best seed alone, so that the choice is
            connected without it.
        kinds: kinds of edge to follow; None for all kinds that state no facts. A path over a fact
            that is not read is no path for the reader, and to read it costs tokens: facts of a
            kind that is named here are printed only with a `fact_share`.
        fact_share: the share of the budget that is kept for facts between chosen nodes, in [0, 1);
            0 prints none. Entities are chosen where they join passages.
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
    extend_links: bool = False
    w_min: float = 0.0
    working: int = 200
    connected_without_query: bool = False
    kinds: Kinds = None
    fact_share: float = 0.0
    work: int = 24

    def __post_init__(self) -> None:
        if self.q_links < 1:
            raise ValueError(
                f"q_links is a whole number of at least 1: nothing else joins the question; "
                f"got {self.q_links}"
            )
        if not 0 <= self.w_min < np.inf:
            raise ValueError(
                f"w_min is the prize from which on prizes count, at least 0; got {self.w_min}"
            )
        if not 0 <= self.fact_share < 1:
            raise ValueError(
                f"fact_share is a share of the budget in [0, 1); got {self.fact_share}"
            )

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats, Subgraph, int], Subgraph]:
        all_links = graph.links(_kinds_without_facts(graph) if self.kinds is None else self.kinds)

        def select(
            query: Query, seeds: Seeds, prizes: Floats, candidates: Subgraph, budget: int
        ) -> Subgraph:
            offered = row_mask(candidates.nodes, len(graph))
            links = all_links if offered.all() else _links_among(all_links, offered)
            required = required_rows(candidates)
            taken = int(graph.tokens[required_content(graph, candidates)].sum())
            room = max(0, budget - taken)
            readable = offered & graph.content
            readable[required] = False
            free = readable & exceeds(prizes, self.w_min, self.w_min)
            costs = graph.part(PageCostsPart(query.style))
            search = _Search(
                self, graph, links, query, prizes, required, readable, free, room, costs
            )
            ranked = freeze(np.flatnonzero(free), np.int32)
            ranked = ranked[top_k(prizes[ranked], search.max_rows)]
            fits = search.costs_alone(ranked) <= room + costs.line_end
            core, too_large = ranked[fits], ranked[~fits]

            terminals = seeds.terminals[offered[seeds.terminals]][: self.q_links]
            roots = terminals if len(terminals) else core
            chosen = search.choose(search.linked_rows(roots, core), core, too_large)
            if len(terminals) and len(core) and not graph.content[chosen.nodes].any():
                chosen = search.choose(search.linked_rows(core, core), core, too_large)
                note = "from the seed's terminals nothing is reached: the best are linked"
                chosen = replace(chosen, notes={**chosen.notes, "fallback": note})
            all_required = distinct(np.concatenate([chosen.required, candidates.required]))
            return replace(
                chosen,
                required=freeze(all_required, np.int32),
                groups=candidates.groups,
                missing=candidates.missing,
                dropped=(*candidates.dropped, *chosen.dropped),
            )

        return select


@dataclass(frozen=True, eq=False)
class WorkingGraph:
    """An induced part of the links.

    Attributes:
        rows: the rows of the graph, ascending; a row's place here is its number in `links`.
        links: the links among them, by places.
        slots: the slot of the whole links for each slot of these.
        is_whole: nothing outside can be reached from the roots.
    """

    rows: Rows
    links: Links
    slots: NDArray[np.int64]
    is_whole: bool

    def places(self, rows: Rows) -> Rows:
        """Return the places of some of its rows."""
        return freeze(np.searchsorted(self.rows, rows), np.int32)


def working_graph(
    graph: Graph, links: Links, roots: Rows, core: Rows, max_rows: int
) -> WorkingGraph:
    """Return the part of a graph that an exact method can afford to look at.

    That is all that can be reached from the roots, where this is no more than `max_rows` rows. Else
    it takes in this order, until it has about `max_rows` rows: the roots; the best candidates, two
    thirds of the room; the shortest path to each of them, best first; connectors that are linked
    to two or more of these, those with the most links first.

    Args:
        graph: the whole graph.
        links: the links that may be followed.
        roots: the rows that the question is linked to.
        core: the candidates, best first.
        max_rows: about how many rows it may have.
    """
    reached = _reached_rows(links, roots, max_rows)
    if reached is not None:
        return WorkingGraph(freeze(reached, np.int32), *induced_links(links, reached), True)
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
    return WorkingGraph(freeze(rows, np.int32), *induced_links(links, rows), False)


def _reached_rows(links: Links, roots: Rows, max_rows: int) -> NDArray[np.int64] | None:
    """Return all rows that can be reached from the roots, ascending; None if they are too many."""
    inside = row_mask(roots, len(links))
    new: NDArray[Any] = np.flatnonzero(inside)
    while len(new) and inside.sum() <= max_rows:
        near = links.targets[slots_of(links, new)]
        new = distinct(near[~inside[near]])
        inside[new] = True
    return None if inside.sum() > max_rows else np.flatnonzero(inside)


@dataclass(frozen=True, eq=False)
class _Search:
    """The search for one question: the stage, what it is bound to, and what it may spend.

    `required` rows cost nothing more, and their prizes are won already. `readable` marks the other
    content that a page could have, `free` that of it whose prize is above `w_min`.
    """

    stage: Budgeted
    graph: Graph
    links: Links
    query: Query
    prizes: Floats
    required: Rows
    readable: Mask
    free: Mask
    room: int
    costs: PageCosts

    @cached_property
    def max_rows(self) -> int:
        """About how many rows the working graph may have: its core fills the budget twice."""
        share, whole = CORE_SHARE
        tokens = self.graph.tokens[np.flatnonzero(self.free)]
        mean = max(1.0, float(tokens.mean())) if len(tokens) else 1.0
        core = min(len(tokens), int(FILLS * self.room / mean))
        return max(self.stage.working, core * whole // share)

    def linked_rows(self, roots: Rows, core: Rows) -> Rows:
        """Return the rows that the question is linked to: the first roots, in their order."""
        stage = self.stage
        if stage.connected_without_query:
            return roots[:1]
        linked, others = roots[: stage.q_links], np.concatenate([roots[stage.q_links :], core])
        while stage.extend_links and len(others) and len(linked):
            reached = _reached_rows(self.links, linked, self.max_rows)
            if reached is None or self.costs.entries(reached[self.free[reached]]).sum() > self.room:
                break
            others = others[~np.isin(others, reached)]
            linked = np.concatenate([linked, others[: len(linked)]])
        return freeze(linked, np.int32)

    def costs_alone(self, rows: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the tokens of each row as it is printed alone, under its heading."""
        groups, lines = self.costs.headings(rows)
        tokens: NDArray[np.int64] = self.costs.entries(rows) + np.append(lines, 0)[groups]
        return tokens

    def choose(self, roots: Rows, core: Rows, too_large: Rows) -> Subgraph:
        """Return the best choice in the working graph around the core, seen from the roots."""
        graph, stage, required = self.graph, self.stage, self.required
        linked = distinct(np.concatenate([roots, required]))
        part = working_graph(graph, self.links, linked, core, self.max_rows)
        is_content, is_required = graph.content[part.rows], np.isin(part.rows, required)
        free = is_content & ~is_required
        prizes = make_summable(np.where(free, self.prizes[part.rows], 0.0))
        tokens = np.where(is_required, 0, self.costs.entries(part.rows))
        groups, lines = self.costs.headings(part.rows)
        lines = lines.copy()
        lines[distinct(groups[is_required & (groups >= 0)])] = 0  # printed in any case
        problem = Problem(
            part.links.starts,
            part.links.targets,
            np.maximum(prizes - stage.w_min, 0),
            tokens,
            part.places(linked),
            self.room + self.costs.line_end,
        )
        reserve = int(stage.fact_share * problem.budget)
        shared = SharedCosts(groups, lines)
        affordable = replace(problem, budget=problem.budget - reserve)
        solution = self._solve(affordable, shared, free, int(is_content[is_required].sum()))
        if reserve:  # then the solution's bound says nothing of pages without facts
            solution = replace(solution, bound=problem.upper_bound, proved=False)
        places = np.union1d(solution.rows, part.places(required)).astype(np.int32)
        nodes = part.rows[places]
        content = nodes[graph.content[nodes]]
        bound = self._bound(part, solution, replace(problem, prizes=prizes), free)
        spent = int(tokens[places].sum()) + shared.paid(places)
        won = float(self.prizes[required[graph.content[required]]].sum())
        return Subgraph(
            freeze(np.concatenate([required, np.setdiff1d(nodes, required)]), np.int32),
            self._edges(self._forest(part, problem, places), nodes, problem.budget - spent),
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
                "tokens": spent,
                "proved": solution.proved and part.is_whole,
                "work": dict(solution.work),
            },
            connection=LinkedToQuestion(self.links, linked, nodes[~graph.content[nodes]]),
        )

    def _bound(self, part: WorkingGraph, solution: Solution, problem: Problem, free: Mask) -> float:
        """Return a value that the free rows of no page exceed.

        Args:
            part: the working graph.
            solution: the choice in the working graph; its prizes are less `w_min`.
            problem: what it was chosen from, with whole prizes.
            free: bool, the rows of the working graph that may be chosen.
        """
        if part.is_whole:  # the solution's bound is of rounded prizes less w_min
            lost = self.stage.w_min + ROUNDING * float(self.prizes.max(initial=0))
            rows = _count_fitting(problem.tokens[free], problem.budget)
            return min(problem.upper_bound, solution.bound) + rows * lost
        return self._knapsack(problem.budget)

    def _knapsack(self, budget: int) -> float:
        """Return the fractional knapsack over all content, whatever joins it.

        Only entries that may matter are counted as they are printed. Of the others the cost is
        known within `MARGIN` tokens.
        """
        rows = np.flatnonzero(self.readable & (self.prizes > 0))
        prizes, tokens = self.prizes[rows], self.graph.tokens[rows].astype(np.float64)
        if self.query.style is not None:
            tokens = np.maximum(tokens - MARGIN, 0)
        by_density = np.argsort(-prizes / np.maximum(tokens, 0.5), kind="stable")
        first = by_density[: np.searchsorted(np.cumsum(tokens[by_density]), 2 * budget) + 1]
        tokens[first] = self.costs.entries(rows[first])
        fits = np.flatnonzero(tokens <= budget)
        rows, prizes, tokens = rows[fits], prizes[fits], tokens[fits]
        by_density = np.argsort(-prizes / np.maximum(tokens, 1e-9), kind="stable")
        prizes, tokens = prizes[by_density], tokens[by_density]
        before = np.cumsum(tokens) - tokens
        share = np.clip((budget - before) / np.maximum(tokens, 1e-9), 0, 1)
        bound = float((prizes * share).sum())
        if self.query.limit is not None:
            highest = top_k(self.prizes[rows], self.query.limit)
            bound = min(bound, float(self.prizes[rows][highest].sum()))
        return bound

    def _solve(
        self, problem: Problem, shared: SharedCosts, free: Mask, required_count: int
    ) -> Solution:
        """Return the solution.

        A limit on the number of items is first tried as a budget in which each item costs one.
        """
        stage, deadline, limit = self.stage, self.query.deadline, self.query.limit
        if deadline is not None:
            deadline = min(deadline, current().remaining())
        places = None if limit is None else max(0, limit - required_count)
        if places is not None and places < int(free.sum()):
            by_count = replace(problem, tokens=free.astype(np.int64), budget=places)
            solution = solve_budgeted(by_count, stage.method, stage.work, deadline)
            tokens = int(problem.tokens[solution.rows].sum()) + shared.paid(solution.rows)
            if tokens <= problem.budget:
                return replace(solution, work={**solution.work, "limited": places})
        solution = solve_with_shared_costs(problem, shared, stage.method, stage.work, deadline)
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

    def _edges(self, forest: Rows, nodes: Rows, room: int) -> Rows:
        """Return the edges of a forest, and those of facts between chosen nodes, while these fit.

        The facts of the highest prizes come first.
        """
        facts, edges = self.graph.facts, self.graph.edges
        if not self.stage.fact_share or self.query.limit is not None:
            return forest
        inside = row_mask(nodes, len(self.graph))
        between = np.flatnonzero(inside[facts.subjects] & inside[facts.objects])
        prizes = (self.prizes[facts.subjects] + self.prizes[facts.objects])[between]
        printed = list[int]()
        for fact in between[top_k(prizes)].tolist():
            tokens = self.costs.fact(fact)
            if tokens <= room:
                printed.append(fact)
                room -= tokens
        stating = np.flatnonzero(np.isin(edges.facts, printed))
        _, first = np.unique(edges.facts[stating], return_index=True)
        return freeze(np.concatenate([forest, np.sort(stating[first])]), np.int32)

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
        return list(zip(rows.tolist(), self.costs_alone(rows).tolist(), strict=True))


def _kinds_without_facts(graph: Graph) -> tuple[str, ...]:
    """Return the kinds of edge that state no facts."""
    kinds = graph.edges.kinds
    with_facts = set(distinct(kinds.codes[graph.edges.facts >= 0]).tolist())
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
