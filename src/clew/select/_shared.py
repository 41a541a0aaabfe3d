"""What select stages share.

Three things: what an earlier stage requires, and what it costs; rows taken in order while they
fit; and what is read of a subgraph that joins terminals (`select_evidence`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clew.algorithms.cosines import cosines
from clew.algorithms.ranking import dense_ranks
from clew.graph import EMPTY, AnyVectors, Floats, Graph, Links, Rows, Vectors, freeze, row_mask
from clew.types import Query, Seeds, Subgraph

MAX_PASSED = 100  # something that still fits, but far down the ranking, is not worth its tokens
PASSAGES_BY = ("prize", "similarity")

Dropped = list[tuple[int, str]]  # rows that were wanted and do not fit, each with the reason


def similarities(vectors: AnyVectors, vector: Vectors | None) -> Floats:
    """Return the cosine of every unit row with the question, 0 where either has no vector.

    Example:
        >>> import numpy as np
        >>> similarities(np.eye(2, dtype=np.float32), np.float32([0.6, 0.8])).round(2).tolist()
        [0.6, 0.8]
    """
    if vector is None or vectors.shape[1] != len(vector):
        return np.zeros(len(vectors))
    return cosines(vectors, vector)


def slots_of(links: Links, rows: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return all slots of these rows, row by row."""
    lengths = links.starts[rows + 1] - links.starts[rows]
    ends = np.cumsum(lengths)
    first_slots = np.repeat(links.starts[rows] - ends + lengths, lengths)
    slots: NDArray[np.int64] = np.arange(ends[-1] if len(ends) else 0) + first_slots
    return slots


def required_rows(candidates: Subgraph) -> Rows:
    """Return the candidates that an earlier stage requires, in the order of the candidates."""
    if not len(candidates.required):  # nothing to look for among what may be the whole graph
        return candidates.nodes[:0]
    return candidates.nodes[np.isin(candidates.nodes, candidates.required)]


def required_content(graph: Graph, candidates: Subgraph) -> Rows:
    """Return the required candidates that are read: no connectors."""
    rows = required_rows(candidates)
    return rows[graph.content[rows]]


def required_tokens(graph: Graph, candidates: Subgraph) -> int:
    """Return what the required candidates cost: their content, and the facts stated among them."""
    edges = candidates.edges
    facts = graph.edges.facts[edges] if len(edges) else edges  # which are not made for nothing
    texts = {graph.facts.texts[fact] for fact in facts[facts >= 0].tolist()}
    content = int(graph.tokens[required_content(graph, candidates)].sum())
    return content + sum(graph.count(f"- {text}\n") for text in texts)


def places_left(available: int, taken: int, *limits: int | None) -> int:
    """Return how many more rows may be taken under several limits, of which None is none.

    Example:
        >>> places_left(9, 2, 5, None)
        3
    """
    return min([available, *(limit - taken for limit in limits if limit is not None)])


def take_while_fitting(
    graph: Graph, rows: Iterable[int], places: int, room: int, max_passed: int = MAX_PASSED
) -> tuple[list[int], Dropped]:
    """Take rows in their order while they fit, and pass over those that do not.

    Args:
        graph: the graph of the rows.
        rows: content, best first.
        places: take at most so many.
        room: the tokens that they may cost.
        max_passed: stop when so many were passed over.

    Returns:
        The rows taken, and those passed over. Of those behind the last one taken only the first
        is named: no other was kept out by the room alone.
    """
    taken, passed, before_last = list[int](), list[tuple[int, int, int]](), 0
    ranked, tokens_of = iter(rows), graph.tokens.item
    while len(taken) < places and len(passed) < max_passed:
        row = next(ranked, None)
        if row is None:
            break
        tokens = tokens_of(row)
        if tokens > room:
            passed.append((row, tokens, room))
            continue
        taken.append(row)
        room -= tokens
        before_last = len(passed)
    named = passed[: before_last + 1]
    return taken, [(row, _does_not_fit(tokens, left)) for row, tokens, left in named]


def _does_not_fit(tokens: int, room: int) -> str:
    return f"its {tokens} tokens do not fit in the {room} left"


def narrow_to(
    graph: Graph,
    candidates: Subgraph,
    chosen: ArrayLike,
    dropped: Dropped,
    notes: Mapping[str, Any] = EMPTY,
) -> Subgraph:
    """Return the required and the `chosen` candidates, with the candidates' edges among them.

    An edge stays too where it leads to a connector, since connectors are passed through; the
    connector then stays with it.

    Args:
        graph: the graph of the candidates.
        candidates: what is chosen from.
        chosen: the rows that are chosen.
        dropped: what was wanted and does not fit.
        notes: for the trace.
    """
    nodes = np.concatenate([required_rows(candidates), np.asarray(chosen, np.int32)])
    edges = candidates.edges
    if len(edges):
        tails, heads = graph.edges.tails, graph.edges.heads
        inside = ~graph.content
        inside[nodes] = True
        edges = edges[inside[tails[edges]] & inside[heads[edges]]]
        through = np.setdiff1d(np.concatenate([tails[edges], heads[edges]]), nodes)
        nodes = np.concatenate([nodes, candidates.nodes[np.isin(candidates.nodes, through)]])
    present = set(nodes.tolist())
    groups = (tuple(row for row in group if row in present) for group in candidates.groups)
    return Subgraph(
        freeze(nodes, np.int32),
        freeze(edges, np.int32),
        candidates.required,
        tuple(group for group in groups if len(group) > 1),
        missing=candidates.missing,
        dropped=(*candidates.dropped, *dropped),
        notes=notes,
        rewards=candidates.rewards,
        grafts=candidates.grafts,
    )


class Offer(NamedTuple):
    """What a select stage is given for one question: see the protocol `clew.types.Select`."""

    graph: Graph
    query: Query
    seeds: Seeds
    prizes: Floats
    candidates: Subgraph
    budget: int


@dataclass(frozen=True, eq=False)
class JoinedRows:
    """A subgraph that joins terminals, before it is decided what of it is read.

    Attributes:
        nodes: its rows, in the order in which they came to it.
        edges: its edges, in the order in which their facts are read.
        fact_order: positions in `edges`, in the order in which facts are taken while they fit.
        bridges: nodes of the tree that are no terminals.
    """

    nodes: Rows
    edges: Rows
    fact_order: NDArray[np.int64]
    bridges: Rows


@dataclass(frozen=True)
class EvidenceRule:
    """How facts and passages share the budget.

    Attributes:
        fact_share: the share of the budget that is reserved for facts, in [0, 1]; 0 prints none.
            What they leave goes to passages, and what these leave to further facts.
        repeat: print a fact also where a passage that states it is read.
        max_passages: read at most so many passages; None for as many as fit.
        passages_by: the order of passages outside the subgraph, by "prize" or by "similarity",
            the seed's score.
        tree_first: the subgraph's passages come before all others, in the order in which they came
            to it; False puts only its terminals first.
    """

    fact_share: float = 1.0
    repeat: bool = True
    max_passages: int | None = None
    passages_by: str = "prize"
    tree_first: bool = True


def select_evidence(
    offer: Offer, joined: JoinedRows, rule: EvidenceRule, queue: list[int]
) -> Subgraph:
    """Return what is read: facts and passages of `joined`, then other passages, while they fit.

    The queue is that of `passages_in_order`.

    What the passages leave of the budget goes to the facts that had no room before. A question with
    a limit counts passages: they get all places and all the room, and no fact is printed, since its
    passage states it.
    """
    graph, query, candidates, budget = offer.graph, offer.query, offer.candidates, offer.budget
    required = required_content(graph, candidates)
    room = budget - int(graph.tokens[required].sum())
    places = places_left(len(queue), len(required), rule.max_passages, query.limit)
    costs, printed, first = dict[int, int](), list[int](), list[int]()
    if query.limit is None:
        costs = _fact_tokens(graph, joined)
        reserve = min(sum(costs.values()), int(rule.fact_share * budget), room)
        first, _ = take_while_fitting(graph, queue, places, room - reserve)
        stated = _facts_stated(graph, costs, [*required.tolist(), *first], rule)
        printed = _facts_that_fit(costs, stated, reserve)
        room -= sum(costs[fact] for fact in printed)
    taken = set(first)
    in_turn = chain(first, (row for row in queue if row not in taken))
    chosen, passed = take_while_fitting(graph, in_turn, places, room)
    edges, without_room = joined.edges, 0
    if query.limit is None:
        room -= int(graph.tokens[chosen].sum())
        stated = _facts_stated(graph, costs, [*required.tolist(), *chosen], rule)
        if rule.fact_share > 0:
            printed += _facts_that_fit(costs, {*stated, *printed}, room)
        without_room = len(costs.keys() - {*stated, *printed})
        facts = graph.edges.facts[edges]
        edges = edges[(facts < 0) | np.isin(facts, [*printed, *stated])]
    notes = {"facts_without_room": without_room} if without_room else {}
    return _with_connectors(
        graph, narrow_to(graph, candidates, chosen, passed), joined, edges, notes
    )


def _facts_stated(
    graph: Graph, facts: Iterable[int], passages: list[int], rule: EvidenceRule
) -> set[int]:
    """Return the facts that are not printed, because a passage that is read states them."""
    return set() if rule.repeat else _facts_read_from(graph, facts, passages)


def _with_connectors(
    graph: Graph,
    passages: Subgraph,
    joined: JoinedRows,
    edges: Rows,
    notes: Mapping[str, int],
) -> Subgraph:
    """Return the passages with the connectors of the joined rows and the edges among them."""
    inside = row_mask(passages.nodes, len(graph))
    connectors = joined.nodes[~graph.content[joined.nodes] & ~inside[joined.nodes]]
    inside[connectors] = True
    edges = edges[inside[graph.edges.tails[edges]] & inside[graph.edges.heads[edges]]]
    bridges = joined.bridges[inside[joined.bridges]]
    all_edges = dict.fromkeys([*passages.edges.tolist(), *edges.tolist()])
    all_required = dict.fromkeys([*passages.required.tolist(), *bridges.tolist()])
    return Subgraph(
        freeze(np.concatenate([passages.nodes, connectors]), np.int32),
        freeze(list(all_edges), np.int32),
        freeze(list(all_required), np.int32),
        passages.groups,
        missing=passages.missing,
        dropped=passages.dropped,
        notes=notes,
    )


def _fact_tokens(graph: Graph, joined: JoinedRows) -> dict[int, int]:
    """Return the tokens of every fact that the edges state, in the order of being taken."""
    facts = graph.edges.facts[joined.edges[joined.fact_order]]
    return {
        fact: graph.count(f"- {graph.facts.texts[fact]}\n")
        for fact in dict.fromkeys(facts[facts >= 0].tolist())
    }


def _facts_read_from(graph: Graph, facts: Iterable[int], passages: list[int]) -> set[int]:
    """Return the facts that were read from one of the passages."""
    read, read_from = set(passages), graph.facts.read_from
    return {fact for fact in facts if not read.isdisjoint(read_from[fact].tolist())}


def _facts_that_fit(costs: Mapping[int, int], stated: set[int], room: int) -> list[int]:
    """Return the facts that no passage states, in their order, while they fit."""
    printed = list[int]()
    for fact, tokens in costs.items():
        if fact not in stated and tokens <= room:
            printed.append(fact)
            room -= tokens
    return printed


def passages_in_order(offer: Offer, joined: JoinedRows, rule: EvidenceRule) -> list[int]:
    """Return the passages that may be read, whatever the budget: of the subgraph, then others."""
    graph, _, seeds, prizes, candidates, _ = offer
    free = graph.content & row_mask(candidates.nodes, len(graph))
    free[required_rows(candidates)] = False
    others = np.flatnonzero(free & ((prizes > 0) | (seeds.scores > 0)))
    first_key = seeds.scores if rule.passages_by == "similarity" else prizes
    keys = [
        dense_ranks(scores[others], float(scores.max(initial=0)))
        for scores in (seeds.scores, first_key)
    ]
    front = joined.nodes if rule.tree_first else seeds.terminals
    front = front[free[front]]
    others = others[np.lexsort((others, *keys))]
    free[front] = False
    return [*dict.fromkeys(front.tolist()), *others[free[others]].tolist()]
