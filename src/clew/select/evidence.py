"""What is read of a subgraph that joins the question's terminals: the facts it states, its passages, and then others, while they fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clew.graph import Floats, Graph, Query, Rows, Seeds, Subgraph, frozen
from clew.select.narrowed import bridges, narrowed

REACH = 100  # something that still fits, but far down the ranking, is not worth its tokens
REST = ("prize", "similarity")


@dataclass(frozen=True, eq=False)
class Joined:
    """A subgraph before anything is read of it: `nodes` in the order they came to it, `edges`, and the `joins` that are no terminals."""

    nodes: Rows
    edges: Rows
    joins: Rows


def evidence(
    graph: Graph,
    query: Query,
    seeds: Seeds,
    prizes: Floats,
    candidates: Subgraph,
    budget: int,
    joined: Joined,
    *,
    fact_share: float = 1.0,
    most: int | None = None,
    rest: str = "prize",
    tree_first: bool = True,
) -> Subgraph:
    """Return what is read: first facts, then passages of `joined`, then other candidates by `rest`, each only while it fits.

    A question with a limit counts passages: they take all its places and all the room, since a fact is said by its passage.

    Args:
        fact_share: the share of the room that facts may take.
        most: stop at so many passages. rest: the others by "prize" or by "similarity", the seed's weight.
        tree_first: the subgraph's passages come before the others, by the order they came to it; or all by `rest`.
    """
    content, kept = graph.content, bridges(candidates)
    kept = kept[content[kept]]
    left = budget - int(graph.tokens[kept].sum())
    edges, unsaid = joined.edges, 0
    if query.limit is None:
        edges, used, unsaid = _stated(graph, joined.edges, min(left, int(fact_share * budget)))
        left -= used
    queue = _in_turn(graph, seeds, prizes, candidates, joined, rest, tree_first)
    places = min([len(queue), *(k - len(kept) for k in (most, query.limit) if k is not None)])
    chosen, passed = _that_fit(graph, queue, places, left)

    found = narrowed(graph, candidates, chosen, passed)
    inside = np.zeros(len(graph), np.bool_)
    inside[found.nodes] = True
    connectors = joined.nodes[~content[joined.nodes] & ~inside[joined.nodes]]
    inside[connectors] = True
    edges = edges[inside[graph.edges.tails[edges]] & inside[graph.edges.heads[edges]]]
    return Subgraph(
        frozen(np.concatenate([found.nodes, connectors]), np.int32),
        frozen(list(dict.fromkeys([*found.edges.tolist(), *edges.tolist()])), np.int32),
        frozen(list(dict.fromkeys([*found.kept.tolist(), *joined.joins[inside[joined.joins]].tolist()])), np.int32),
        found.groups,
        missing=found.missing,
        dropped=found.dropped,
        trace={"facts_without_room": unsaid} if unsaid else {},
    )


def _stated(graph: Graph, edges: Rows, room: int) -> tuple[Rows, int, int]:
    """The edges without those whose fact does not fit, the tokens of the facts that do, and the number of the others."""
    facts, said, used, unsaid = graph.edges.facts[edges], dict[int, bool](), 0, 0
    for fact in dict.fromkeys(facts[facts >= 0].tolist()):
        tokens = graph.count(f"- {graph.facts.texts[fact]}\n")
        said[fact] = used + tokens <= room
        used += tokens if said[fact] else 0
        unsaid += not said[fact]
    return edges[[fact < 0 or said[fact] for fact in facts.tolist()]] if unsaid else edges, used, unsaid


def _in_turn(graph: Graph, seeds: Seeds, prizes: Floats, candidates: Subgraph, joined: Joined, rest: str, tree_first: bool) -> list[int]:
    """The passages that may be read: those of the subgraph, then the others."""
    free = graph.content.copy()
    free[bridges(candidates)] = False
    offered = np.zeros(len(graph), np.bool_)
    offered[candidates.nodes] = True
    free &= offered
    queue = joined.nodes.tolist()
    worth = seeds.weights if rest == "similarity" else prizes
    others = np.flatnonzero(free & ((prizes > 0) | (seeds.weights > 0)))
    order = np.lexsort((others, -np.round(seeds.weights[others], 9), -np.round(worth[others] / max(worth.max(initial=0), 1e-300), 9)))
    queue = [*queue, *others[order].tolist()] if tree_first else others[order].tolist()
    return [row for row in dict.fromkeys(queue) if free[row]]


def _that_fit(graph: Graph, queue: list[int], places: int, left: int) -> tuple[list[int], list[tuple[int, str]]]:
    """As many as there are places and room for; of those behind the last one taken only the first was kept out by the room alone."""
    chosen, passed, before_last = list[int](), list[tuple[int, str]](), 0
    for row in queue:
        if len(chosen) >= places or len(passed) >= REACH:
            break
        tokens = int(graph.tokens[row])
        if tokens > left:
            passed.append((row, f"its {tokens} tokens do not fit in the {left} left"))
            continue
        chosen.append(row)
        left -= tokens
        before_last = len(passed)
    return chosen, passed[: before_last + 1]
