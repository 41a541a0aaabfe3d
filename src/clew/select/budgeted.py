"""The connected part of most prize that the budget can pay for, with a bound on what any other could have been worth.

    max  sum of prizes     such that  sum of tokens <= budget  and  the choice, with the question, is connected

Every node is in or out by its worth to the whole: a passage of middling prize is taken where it leads to better ones, and a dear one left
where its tokens buy more elsewhere. See `clew.algorithms.budgeted.solve`. Where the usual way to write this down errs, or leaves open:

- "A chosen node has a chosen neighbour" is not connected: two nodes far from the question hold each other up, and its optimum is mostly
  islands. Here connection is a flow from the question, or all the cuts between it and a node (`clew.algorithms.budgeted.cuts`).
- It is not the prize-collecting Steiner tree: that is its Lagrangian relaxation, which misses budgets between two corners of the hull.
- Growing by prize per token stops before the first connector without a prize, and divides by nothing where one is free. "greedy" is that,
  kept as a baseline; "density" counts the whole way to a prize.
- The question counts as a node of the choice, so that without it the rest may be islands; `connected_without_query` forbids them.
- To how many nodes the question is linked is not said: `q_links`. With all prizes above 0 the best choice fills the budget with
  anything: `w_min`, and prizes sharpened before.
- Edges cost nothing in the model, and tokens when they are printed: here no fact is printed for joining, and headings are counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clew.algorithms.budgeted.solve import Problem, Solution, attached_rows, solve, spanning_edges
from clew.algorithms.ranking import exceeds, summable, top_k
from clew.graph import Floats, Graph, Links, Mask, Rows, freeze, heading_of
from clew.select._shared import required_rows
from clew.select._working_graph import WorkingGraph, among, working_graph
from clew.types import Query, Seeds, Subgraph

SLACK = 1e-12  # by how much sums of the same prizes in another order may differ, relatively


@dataclass(frozen=True)
class Budgeted:
    """Take the connected choice of most prize within the budget; connectors are passed for nothing, content is paid for.

    The question is linked to the seed's terminals, or where it names none to the best candidates. The choice is made in a working graph
    (see `clew.select._working_graph`), and `bound` holds for it: what was left out of the working graph is not spoken of.

    Attributes:
        method: "auto" (heuristics, then a proof as far as the work goes), "best", "density", "local", "tree", "lagrange" or "greedy".
        q_links: to how many nodes the question is linked; to all, connectivity says nothing.
        w_min: what a node must be worth before it counts; its prize is what it has above that.
        working: how many nodes, about, the working graph may have.
        connected_without_query: link the question to the best seed alone, so that the choice hangs together by itself.
        kinds: kinds of edge to follow; None for all kinds that state no facts (a way over a fact that is not read is no way for the
            reader, and to read it costs tokens). Where a named kind states facts, they are not printed.
        headings: count the line of a passage's heading as its own.
        work: what the proof may cost, as a count; see `clew.algorithms.budgeted.solve`.
    """

    method: str = "auto"
    q_links: int = 5
    w_min: float = 0.0
    working: int = 200
    connected_without_query: bool = False
    kinds: tuple[str | tuple[str, float], ...] | None = None
    headings: bool = True
    work: int = 40

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats, Subgraph, int], Subgraph]:
        everywhere = graph.links(_silent(graph) if self.kinds is None else self.kinds)

        def select(
            query: Query, seeds: Seeds, prizes: Floats, candidates: Subgraph, budget: int
        ) -> Subgraph:
            offered = np.zeros(len(graph), np.bool_)
            offered[candidates.nodes] = True
            asked = _Asked(
                self,
                graph,
                everywhere if offered.all() else among(everywhere, offered),
                query,
                prizes,
            )
            kept = required_rows(candidates)
            room = budget - int(graph.tokens[kept[graph.content[kept]]].sum())
            free = offered & graph.content & exceeds(prizes, self.w_min, self.w_min)
            free[kept] = False
            ranked = freeze(np.flatnonzero(free), np.int32)
            ranked = ranked[top_k(prizes[ranked], self.working)]
            fits = asked.costs(ranked) <= room
            core, dear = ranked[fits], ranked[~fits]
            named = seeds.terminals[offered[seeds.terminals]][: self.q_links]
            chosen = asked.chosen(_roots(self, named, core), kept, core, dear, room)
            if len(named) and not chosen.notes["content"] and len(core):
                chosen = asked.chosen(_roots(self, core[:0], core), kept, core, dear, room)
                chosen = replace(
                    chosen,
                    notes={
                        **chosen.notes,
                        "fallback": "from the seed's terminals nothing is reached: the best are linked",
                    },
                )
            return replace(
                chosen,
                required=freeze(
                    np.unique(np.concatenate([chosen.required, candidates.required])), np.int32
                ),
                groups=candidates.groups,
                missing=candidates.missing,
                dropped=(*candidates.dropped, *chosen.dropped),
            )

        return select


@dataclass(frozen=True, eq=False)
class _Asked:
    """One question under way: the stage, what it is bound to, and the prizes as they are printed."""

    stage: Budgeted
    graph: Graph
    links: Links
    query: Query
    prizes: Floats

    def costs(self, rows: Any) -> np.ndarray:
        """What each row costs where it is printed: itself and, where asked for, the line it stands under; connectors nothing."""
        graph, tokens = (
            self.graph,
            np.where(self.graph.content[rows], self.graph.tokens[rows], 0).astype(np.int64),
        )
        if self.stage.headings:
            for place, row in enumerate(rows.tolist()):
                heading = heading_of(graph, row) if graph.content[row] else ""
                tokens[place] += graph.count(f"# {heading}\n") if heading else 0
        return tokens

    def chosen(self, roots: Rows, kept: Rows, core: Rows, dear: Rows, room: int) -> Subgraph:
        """The best choice from the working graph around the core; what is kept costs nothing more and has no prize to win."""
        graph, stage = self.graph, self.stage
        linked = np.unique(np.concatenate([roots, kept]))
        part = working_graph(graph, self.links, linked, core, stage.working)
        content, given = graph.content[part.rows], np.isin(part.rows, kept)
        printed = summable(np.where(content & ~given, self.prizes[part.rows], 0.0))
        tokens = np.where(given, 0, self.costs(part.rows))
        worth = np.maximum(printed - stage.w_min, 0)
        problem = Problem(
            part.starts, part.targets, worth, tokens, part.places(linked), max(0, room)
        )
        found = self._solved(problem, content & ~given, int(content[given].sum()))
        places = np.union1d(found.rows, part.places(kept)).astype(np.int32)
        nodes = part.rows[places]
        bound = min(
            replace(problem, prizes=printed).upper_bound,
            found.bound + stage.w_min * _most(tokens[content & ~given], room),
        )
        return Subgraph(
            freeze(np.concatenate([kept, np.setdiff1d(nodes, kept)]), np.int32),
            self._forest(part, problem, places),
            freeze(nodes[attached_rows(problem, places)], np.int32),
            value=float(self.prizes[nodes[graph.content[nodes]]].sum()),
            bound=(bound + float(self.prizes[kept[graph.content[kept]]].sum())) * (1 + SLACK),
            dropped=self._dropped(nodes, core, dear, part, room),
            notes={
                "content": int(graph.content[nodes].sum()),
                "working nodes": len(part.rows),
                "working edges": len(part.targets) // 2,
                "candidates": len(core),
                "linked": len(linked),
                "tokens": int(tokens[places].sum()),
                "proved": found.proved,
                "work": dict(found.work),
            },
        )

    def _solved(self, problem: Problem, content: Mask, already: int) -> Solution:
        """The solution; a limit on the number of items is a budget in which each costs one, tried first."""
        stage, deadline = self.stage, self.query.deadline
        most = None if self.query.limit is None else max(0, self.query.limit - already)
        if most is not None and most < int(content.sum()):
            each = replace(problem, tokens=content.astype(np.int64), budget=most)
            found = solve(each, stage.method, stage.work, deadline)
            if int(problem.tokens[found.rows].sum()) <= problem.budget:
                return replace(found, work={**found.work, "limited": most})
        found = solve(problem, stage.method, stage.work, deadline)
        rows = found.rows
        while most is not None and int(content[rows].sum()) > most:
            loose = rows[~attached_rows(problem, rows)][::-1]  # of equals the later one goes
            rows = rows[rows != loose[int(np.argmin(problem.prizes[loose]))]]
        return (
            found
            if len(rows) == len(found.rows)
            else replace(found, rows=rows, value=float(problem.prizes[rows].sum()), proved=False)
        )

    def _forest(self, part: WorkingGraph, problem: Problem, places: Rows) -> Rows:
        """The edges by which each chosen node hangs on the one before it, where such an edge prints nothing."""
        facts, edges = self.graph.edges.facts, list[int]()
        for place, before in zip(
            places.tolist(), spanning_edges(problem, places).tolist(), strict=True
        ):
            if before < 0:
                continue
            start, end = part.starts[before : before + 2].tolist()
            slot = int(part.slots[start + np.searchsorted(part.targets[start:end], place)])
            edges += [edge for edge in self.links.edges[slot].tolist() if facts[edge] < 0][:1]
        return freeze(sorted(edges), np.int32)

    def _dropped(
        self, nodes: Rows, core: Rows, dear: Rows, part: WorkingGraph, room: int
    ) -> tuple[tuple[int, str], ...]:
        """Why what is worth more than the least that was taken was not: too dear alone, or its tokens better spent."""
        taken = nodes[self.graph.content[nodes]]
        least = float(self.prizes[taken].min()) if len(taken) else -np.inf
        largest = float(self.prizes[taken].max(initial=0))
        over = [row for row in dear.tolist() if exceeds(self.prizes[row], least, largest)]
        free = np.setdiff1d(core, taken)
        left = (
            free[exceeds(self.prizes[free], least, largest)].tolist()
            if len(taken)
            else core.tolist()
        )
        dear_cost, cost = self.costs(np.array(over, np.int64)), self.costs(np.array(left, np.int64))
        return (
            *(
                (row, f"its {tokens} tokens do not fit in {room}")
                for row, tokens in zip(over, dear_cost.tolist(), strict=True)
            ),
            *(
                (row, f"its {tokens} tokens, and what joins it, buy less than others do")
                for row, tokens in zip(left, cost.tolist(), strict=True)
            ),
        )


def _silent(graph: Graph) -> tuple[str, ...]:
    """The kinds of edge that state no facts."""
    kinds = graph.edges.kinds
    speaking = set(np.unique(kinds.codes[graph.edges.facts >= 0]).tolist())
    return tuple(name for code, name in enumerate(kinds.names) if code not in speaking)


def _roots(stage: Budgeted, named: Rows, core: Rows) -> Rows:
    """What the question is linked to."""
    roots = named if len(named) else core[: stage.q_links]
    return roots[:1] if stage.connected_without_query else roots


def _most(tokens: np.ndarray, room: int) -> int:
    """How many of these fit at once."""
    return int((np.cumsum(np.sort(tokens)) <= room).sum())
