"""The way from the question to each item: the fewest hops from where the question touches the graph."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from clew.algorithms.ranking import top_k
from clew.algorithms.traversal.breadth_first import shortest_paths
from clew.algorithms.traversal.reached import induced_links
from clew.context import ContextEdge, Hop
from clew.graph import Floats, Graph, Rows
from clew.types import Query, Seeds, Subgraph

QUESTION, READ_FROM = "question", "read from"
MAX_HOPS = 4
MAX_STARTS = 64  # where a seed names no terminals, ways are sought from its strongest touches


def paths_from_question(graph: Graph, seeds: Seeds, rows: list[int]) -> dict[int, tuple[Hop, ...]]:
    """Return for each row the hops that lead to it; a row that the question touches directly has one hop.

    To a text that was made of passages the way is over the one of them that the question touches most.
    """
    sources = {
        row: _source(graph, seeds, row)
        for row in rows
        if graph.generated[row] and len(graph.read_from[row])
    }
    if sources:
        to = paths_from_question(
            graph, seeds, list(dict.fromkeys(sources.get(row, row) for row in rows))
        )
        behind = {
            row: Hop(graph.ids[source], READ_FROM, graph.ids[row])
            for row, source in sources.items()
        }
        return {
            row: (*to[sources[row]], behind[row]) if row in sources else to[row] for row in rows
        }
    mapped = _mapped(graph, seeds)
    named = dict.fromkeys([*mapped, *seeds.terminals.tolist()])
    wanted = [row for row in rows if row not in named and (named or seeds.scores[row] <= 0)]
    if not wanted:
        return {row: (mapped.get(row) or _touch(graph, seeds, row),) for row in rows}
    strongest = top_k(seeds.scores, MAX_STARTS)
    starts = list(named) or strongest[seeds.scores[strongest] > 0].tolist()
    links = graph.links()
    found = shortest_paths(links, starts, wanted, MAX_HOPS)
    explained = {}
    for row in rows:
        slots = found.get(row, [])
        at = int(np.searchsorted(links.starts, slots[0], side="right")) - 1 if slots else row
        hops = [mapped.get(at) or _touch(graph, seeds, at)]
        for slot in slots:
            following = int(links.targets[slot])
            hops.append(hop_over(graph, int(links.edges[slot][0]), at, following))
            at = following
        explained[row] = tuple(hops)
    return explained


def selector_paths(graph: Graph, subgraph: Subgraph, rows: list[int]) -> dict[int, tuple[Hop, ...]]:
    """Return the hops to the rows that a selector came to by a way of its own, where edges join all of it."""
    links = graph.links() if subgraph.paths else None
    explained = {}
    for row in rows:
        if links is None or row not in subgraph.paths:
            continue
        score, way = subgraph.paths[row]
        hops = [Hop(QUESTION, "touches", graph.ids[way[0]], weight=score)]
        for source, target in pairwise(way):
            start, near = int(links.starts[source]), links.neighbours(source)
            at = int(np.searchsorted(near, target))
            if at < len(near) and near[at] == target:
                hops.append(hop_over(graph, int(links.edges[start + at][0]), source, target))
        if len(hops) == len(way):
            explained[row] = tuple(hops)
    return explained


def paths_to_facts(
    graph: Graph, seeds: Seeds, subgraph: Subgraph, facts: list[int]
) -> dict[int, tuple[Hop, ...]]:
    """Return the hop to each fact that the question was mapped to, or the way to its subject and over it, with what it cost."""
    stating = {int(graph.edges.facts[edge]): edge for edge in subgraph.edges.tolist()[::-1]}
    score = dict(zip(seeds.facts.tolist(), seeds.fact_scores.tolist(), strict=False))
    to_subject = paths_from_question(
        graph, seeds, [int(graph.facts.subjects[fact]) for fact in facts if fact not in score]
    )
    explained: dict[int, tuple[Hop, ...]] = {}
    for fact in facts:
        text, subject, object = (
            graph.facts.texts[fact],
            int(graph.facts.subjects[fact]),
            int(graph.facts.objects[fact]),
        )
        cost = subgraph.edge_costs.get(stating.get(fact, -1))
        if fact in score:
            explained[fact] = (Hop(QUESTION, "fact", text, text, score[fact], cost=cost),)
        else:
            over = (
                (replace(hop_over(graph, stating[fact], subject, object), cost=cost),)
                if fact in stating
                else ()
            )
            explained[fact] = (*to_subject[subject], *over)
    return explained


def hop_over(graph: Graph, edge: int, source: int, target: int) -> Hop:
    fact = int(graph.edges.facts[edge])
    text = graph.facts.texts[fact] if fact >= 0 else ""
    return Hop(
        graph.ids[source],
        graph.edges.kinds[edge],
        graph.ids[target],
        text,
        float(graph.edges.weights[edge]),
        int(graph.edges.tails[edge]) == source,
    )


def context_edges(graph: Graph, printed: Rows, subgraph: Subgraph) -> tuple[ContextEdge, ...]:
    """Return the edges of the subgraph, or, where it names none, those among the printed nodes."""
    edges = subgraph.edges
    if not len(edges) and len(printed):
        edges = np.unique(induced_links(graph.links(), printed)[0].edges.values).astype(np.int32)
    hops = [
        hop_over(graph, e, int(graph.edges.tails[e]), int(graph.edges.heads[e]))
        for e in edges.tolist()
    ]
    costs = [subgraph.edge_costs.get(edge) for edge in edges.tolist()]
    return tuple(
        ContextEdge(hop.source, hop.target, hop.kind, hop.weight, hop.text, cost)
        for hop, cost in zip(hops, costs, strict=True)
    )


def _mapped(graph: Graph, seeds: Seeds) -> dict[int, Hop]:
    """The ends of the facts that the question was mapped to, each by its best fact."""
    mapped: dict[int, Hop] = {}
    for fact, score in zip(seeds.facts.tolist(), seeds.fact_scores.tolist(), strict=False):
        for row in (int(graph.facts.subjects[fact]), int(graph.facts.objects[fact])):
            mapped.setdefault(
                row, Hop(QUESTION, "fact", graph.ids[row], graph.facts.texts[fact], score)
            )
    return mapped


def _source(graph: Graph, seeds: Seeds, row: int) -> int:
    """The passage behind a made text that the question touches most."""
    passages = graph.read_from[row]
    named = passages[np.isin(passages, seeds.terminals)]
    passages = named if len(named) else passages
    return int(passages[top_k(seeds.scores[passages], 1)[0]])


def _touch(graph: Graph, seeds: Seeds, row: int) -> Hop:
    """The direct hop to a row; weight 0 where the question does not touch it and no short way leads there."""
    return Hop(QUESTION, "touches", graph.ids[row], weight=float(seeds.scores[row]))


def role_of(row: int, seeds: Seeds, subgraph: Subgraph, kind: str, filled: frozenset[int]) -> str:
    """Return the role of a printed node: fill, report, seed, bridge or expansion."""
    if row in filled:
        return "fill"
    if kind == "report":
        return "report"
    named = seeds.terminals
    if (row in named) if len(named) else seeds.scores[row] > 0:
        return "seed"
    return "bridge" if row in subgraph.required else "expansion"


def fact_score(graph: Graph, query: Query, seeds: Seeds, prizes: Floats, fact: int) -> float:
    """Return the score by which the question was mapped to a fact, or else the mean prize of its ends."""
    at = np.flatnonzero(seeds.facts == fact)
    if len(at) and len(seeds.fact_scores):
        return float(seeds.fact_scores[at[0]])
    return float((prizes[graph.facts.subjects[fact]] + prizes[graph.facts.objects[fact]]) / 2)
