"""What is read of a subgraph that joins the question's terminals: the facts it states, its passages, and then others, while they fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.ranking import levels
from clew.graph import Floats, Graph, Rows, freeze
from clew.select._shared import narrow_to, required_rows
from clew.types import Query, Seeds, Subgraph

REACH = 100  # something that still fits, but far down the ranking, is not worth its tokens
REST = ("prize", "similarity")


@dataclass(frozen=True, eq=False)
class JoinedRows:
    """A subgraph before anything is read of it.

    `nodes` in the order they came to it, `edges` in reading order, the `turn` in which edges are taken while there is room, and the
    `joins`, nodes of the tree that are no terminals.
    """

    nodes: Rows
    edges: Rows
    turn: NDArray[np.int64]
    joins: Rows


def select_evidence(
    graph: Graph,
    query: Query,
    seeds: Seeds,
    prizes: Floats,
    candidates: Subgraph,
    budget: int,
    joined: JoinedRows,
    *,
    fact_share: float = 1.0,
    repeat: bool = True,
    most: int | None = None,
    rest: str = "prize",
    tree_first: bool = True,
) -> Subgraph:
    """Return what is read: facts, passages of `joined`, other candidates by `rest`, each only while it fits.

    A question with a limit counts passages: they take all its places and all the room, since a fact is said by its passage.

    Args:
        fact_share: the share of the room that is kept for facts; what they leave goes to passages.
        repeat: say a fact also where a passage that it was read from is read.
        most: stop at so many passages. rest: the others by "prize" or by "similarity", the seed's weight.
        tree_first: the subgraph's passages come before the others, by the order they came to it; or only its terminals do.
    """
    content, kept = graph.content, required_rows(candidates)
    kept = kept[content[kept]]
    left = budget - int(graph.tokens[kept].sum())
    queue = _in_turn(graph, seeds, prizes, candidates, joined, rest, tree_first)
    places = min([len(queue), *(k - len(kept) for k in (most, query.limit) if k is not None)])
    edges, unsaid = joined.edges, 0
    if query.limit is None:
        costs = _tokens_of_facts(graph, joined)
        reserve = min(sum(costs.values()), int(fact_share * budget), left)
        first, _ = _that_fit(graph, queue, places, left - reserve)
        told = set() if repeat else _told(graph, costs, [*kept.tolist(), *first])
        said = _said(costs, told, reserve)
        unsaid = len(costs) - len(told) - len(said)
        left -= sum(costs[fact] for fact in said)
        facts = graph.edges.facts[edges]
        edges = edges[(facts < 0) | np.isin(facts, [*said, *told])]
        queue = list(dict.fromkeys([*first, *queue]))
    chosen, passed = _that_fit(graph, queue, places, left)

    found = narrow_to(graph, candidates, chosen, passed)
    inside = np.zeros(len(graph), np.bool_)
    inside[found.nodes] = True
    connectors = joined.nodes[~content[joined.nodes] & ~inside[joined.nodes]]
    inside[connectors] = True
    edges = edges[inside[graph.edges.tails[edges]] & inside[graph.edges.heads[edges]]]
    return Subgraph(
        freeze(np.concatenate([found.nodes, connectors]), np.int32),
        freeze(list(dict.fromkeys([*found.edges.tolist(), *edges.tolist()])), np.int32),
        freeze(
            list(
                dict.fromkeys(
                    [*found.required.tolist(), *joined.joins[inside[joined.joins]].tolist()]
                )
            ),
            np.int32,
        ),
        found.groups,
        missing=found.missing,
        dropped=found.dropped,
        notes={"facts_without_room": unsaid} if unsaid else {},
    )


def _tokens_of_facts(graph: Graph, joined: JoinedRows) -> dict[int, int]:
    """The tokens of every fact that the edges state, the cheapest edge's first: what is most like the question."""
    facts = graph.edges.facts[joined.edges[joined.turn]]
    return {
        fact: graph.count(f"- {graph.facts.texts[fact]}\n")
        for fact in dict.fromkeys(facts[facts >= 0].tolist())
    }


def _told(graph: Graph, facts: Iterable[int], passages: list[int]) -> set[int]:
    """The facts that were read from one of the passages."""
    return {
        fact for fact in facts if not set(passages).isdisjoint(graph.facts.read_from[fact].tolist())
    }


def _said(costs: Mapping[int, int], told: set[int], room: int) -> list[int]:
    """The other facts, in turn, while they fit."""
    said = list[int]()
    for fact, tokens in costs.items():
        if fact not in told and tokens <= room:
            said.append(fact)
            room -= tokens
    return said


def _in_turn(
    graph: Graph,
    seeds: Seeds,
    prizes: Floats,
    candidates: Subgraph,
    joined: JoinedRows,
    rest: str,
    tree_first: bool,
) -> list[int]:
    """The passages that may be read: those of the subgraph, then the others."""
    free = graph.content.copy()
    free[required_rows(candidates)] = False
    offered = np.zeros(len(graph), np.bool_)
    offered[candidates.nodes] = True
    free &= offered
    queue = joined.nodes.tolist()
    worth = seeds.scores if rest == "similarity" else prizes
    others = np.flatnonzero(free & ((prizes > 0) | (seeds.scores > 0)))
    order = np.lexsort(
        (
            others,
            *(
                levels(scores[others], float(scores.max(initial=0)))
                for scores in (seeds.scores, worth)
            ),
        )
    )
    queue = (
        [*queue, *others[order].tolist()]
        if tree_first
        else [*seeds.terminals.tolist(), *others[order].tolist()]
    )
    return [row for row in dict.fromkeys(queue) if free[row]]


def _that_fit(
    graph: Graph, queue: list[int], places: int, left: int
) -> tuple[list[int], list[tuple[int, str]]]:
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
