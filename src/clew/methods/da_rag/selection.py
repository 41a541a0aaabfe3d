"""Communities around the question, from the chunks down to what is said in them.

DA-RAG (arXiv 2602.08545): the question's community among chunks (which relations join) names the entities to look among; of these come the
communities in the knowledge graph and among similar names. For every k of the k-truss there is another, and which are kept is decided by a
score. Without a language model that is Stouffer's,

    S = sum over nodes of (cos - mean of the layer) / deviation of the layer, / sqrt(number of nodes)

which likes what is relevant and what is large without a weight between them. A report on a community is then the best fact of each of its
entities, and the relations of its truss, the most relevant first.

Real graphs of facts have few triangles. What comes in the place of a truss is said in the trace, for every layer: see
`clew.algorithms.community_search.q_peel.search`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clew.algorithms.community_search.q_peel import (
    Community,
    CommunitySearchResult,
    search_communities,
    whole_community,
)
from clew.algorithms.ranking import levels, tolerance, top_k
from clew.graph import Floats, Graph, Rows, freeze
from clew.methods.da_rag.layers import (
    ChunkLayer,
    DescribedPart,
    KnowledgeLayer,
    Layer,
    MentionedEntitiesPart,
    SimilarityLayer,
)
from clew.select._costs import similarities
from clew.select._evidence import JoinedRows, select_evidence
from clew.types import UNLIMITED, Query, Seeds, Subgraph

CHUNKS, FACTS, ALIKE = "chunks", "facts", "alike"


@dataclass(frozen=True, eq=False)
class Candidate:
    """A community that was found: in which layer, how it scores, the facts that tell of it (edges of the graph), and their tokens."""

    layer: str
    level: str
    community: Community
    score: float
    edges: Rows
    tokens: int
    kept: bool = False

    def said(self) -> dict[str, Any]:
        """Return it as the trace tells it."""
        mean, score = round(self.community.mean, 4), round(self.score, 4)
        return {
            "k": self.community.k,
            "nodes": len(self.community),
            "mean": mean,
            "score": score,
            "kept": self.kept,
        }


@dataclass(frozen=True)
class CommunitySearch:
    """Read facts of the question's communities in their share of the budget, then the chunks of its community, then others by prize.

    Attributes:
        near: look for the chunks' community among so many that are most like the question; None for all, as the paper does, where
            peeling ends at hundreds of chunks that no single one of which may leave.
        most: the largest k. cascade: let nodes take others with them, to small communities of higher mean.
        touched: look also among so many entities that the `near` chunks mention, those most like the question. Without them the nearest
            entity is often left out, and what is around it is as dense as what is found, and nearer; 0: without, as the paper.
        pieces, nearest: without triangles, the nodes of a connected piece; without a piece, how many of the nearest nodes.
        k_neighbor: how many nearest names an entity is joined to in the similarity layer.
        hub_cap, min_support, shared: of the chunk layer, see `clew.link.Related`.
        context_tokens, report_tokens, text_unit_tokens: the room of all reports, of one report, and of chunks; with a budget
            they are scaled to share it, without one they stand. fact_share: of the room of reports, what facts take in their place; a
            report digests what facts say one by one, and a passage says in less room what many of its facts do.
        lead: what the prize of a chunk in a kept community is multiplied by when chunks are ranked; None to read all of these first.
        acs: False for the one-hop neighbours of the nearest nodes in the place of communities. chunk_layer: False to look among the
            `near` entities that are most like the question. similarity_layer: False to do without. These are the paper's ablations.
    """

    max_nearest: int | None = 60
    max_communities: int = 8
    cascade: bool = False
    max_start_rows: int = 0
    pieces: int = 5
    nearest: int = 10
    k_neighbor: int = 5
    hub_cap: int = 50
    min_support: int = 1
    shared: bool = False
    context_tokens: int = 4800
    report_tokens: int = 3200
    text_unit_tokens: int = 4000
    fact_share: float = 0.2
    lead: float | None = None
    acs: bool = True
    chunk_layer: bool = True
    similarity_layer: bool = True

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats, Subgraph, int], Subgraph]:
        find = self.finder(graph)

        def select(
            query: Query, seeds: Seeds, prizes: Floats, candidates: Subgraph, budget: int
        ) -> Subgraph:
            found = find(query, seeds, candidates)
            return self.read(
                graph, query, seeds, prizes, candidates, budget, self.packed(graph, found, budget)
            )

        return select

    def rooms(self, budget: int) -> tuple[int, int, int]:
        """Return the tokens of all reports, of one report, and of chunks, out of a budget."""
        whole = self.context_tokens + self.text_unit_tokens
        scale = 1.0 if budget >= UNLIMITED or not whole else budget / whole
        return (
            int(self.context_tokens * scale),
            int(self.report_tokens * scale),
            int(self.text_unit_tokens * scale),
        )

    def finder(self, graph: Graph) -> Callable[[Query, Seeds, Subgraph], list[Candidate]]:
        """Return what finds the communities of a question in all layers, none of them kept yet."""
        chunks = graph.part(ChunkLayer(self.hub_cap, self.min_support, self.shared))
        facts, mentioned, speaker = (
            graph.part(KnowledgeLayer()),
            graph.part(MentionedEntitiesPart()),
            graph.part(DescribedPart()),
        )
        fine = {FACTS: facts} | (
            {ALIKE: graph.part(SimilarityLayer(self.k_neighbor))} if self.similarity_layer else {}
        )

        def find(query: Query, seeds: Seeds, candidates: Subgraph) -> list[Candidate]:
            offered = np.zeros(len(graph), np.bool_)
            offered[candidates.nodes] = True
            worth = np.zeros(len(graph))
            rows = chunks.rows[offered[chunks.rows]]
            given = query.candidate_scores is not None
            worth[rows] = (
                seeds.scores[rows]
                if given
                else similarities(_taken(graph.vectors, speaker[rows]), query.vector)
            )
            rows = rows[worth[rows] > 0]
            found, work = list[Candidate](), freeze([], np.int32)
            if self.chunk_layer:
                found = self._in(graph, CHUNKS, chunks, rows, worth, self.max_nearest)
                inside = (
                    np.unique(np.concatenate([c.community.rows for c in found]))
                    if found
                    else rows[top_k(worth[rows], self.nearest)]
                )
                work = mentioned.take(inside).values
                if self.max_start_rows:
                    about = np.unique(
                        mentioned.take(rows[top_k(worth[rows], self.max_nearest)]).values
                    )
                    about = about[offered[about]]
                    like = similarities(graph.vectors[about], query.vector)
                    work = np.concatenate([work, about[top_k(like, self.max_start_rows)]])
            else:
                work = graph.rows("entity")
            work = np.unique(work[offered[work]]).astype(np.int32)
            worth[work] = similarities(graph.vectors[work], query.vector)
            for name, layer in fine.items():
                found += self._in(
                    graph, name, layer, work, worth, None if self.chunk_layer else self.max_nearest
                )
            return _told(graph, query, facts, worth, found)

        return find

    def _in(
        self, graph: Graph, name: str, layer: Layer, rows: Rows, worth: Floats, near: int | None
    ) -> list[Candidate]:
        """The communities of one layer among some of its nodes."""
        if not len(rows):
            return []
        mean, deviation = float(worth[rows].mean()), float(worth[rows].std())
        among = freeze(np.sort(rows[top_k(worth[rows], near)]), np.int32)
        if self.acs:
            found = search_communities(
                layer.links,
                among,
                worth,
                most=self.max_communities,
                cascade=self.cascade,
                pieces=self.pieces,
                nearest=self.nearest,
            )
        else:
            first = among[top_k(worth[among], self.nearest)]
            ranges = [layer.links.neighbours(row) for row in first.tolist()]
            hop = np.intersect1d(np.concatenate([first, *ranges]), among).astype(np.int32)
            found = CommunitySearchResult("one hop", (whole_community(layer.links, hop, worth),))
        none = freeze([], np.int32)
        told_apart = deviation > tolerance(worth[rows])
        scores = [
            (c.mean - mean) * np.sqrt(len(c)) / deviation if told_apart else np.sqrt(len(c))
            for c in found.communities
        ]
        return [
            Candidate(name, found.level, c, float(s), none, 0)
            for c, s in zip(found.communities, scores, strict=True)
        ]

    def packed(self, graph: Graph, found: list[Candidate], budget: int) -> list[Candidate]:
        """Return the candidates, kept by falling score while the facts that they add fit in the room of all reports.

        The facts of one are cut at the room of one report; what another has said is said, and counted, once. Chunks' communities are kept
        while their chunks fit in the room of chunks, the best one in any case.
        """
        reports, report, units = self.rooms(budget)
        reports, report = int(reports * self.fact_share), int(report * self.fact_share)
        packed, told, read = list(found), set[int](), set[int]()
        for i in top_k(np.array([one.score for one in found])).tolist():
            one, tokens, edges = found[i], 0, list[int]()
            if one.layer == CHUNKS:
                new = [row for row in one.community.rows.tolist() if row not in read]
                tokens = int(graph.tokens[new].sum())
                if tokens <= units or not read:
                    packed[i] = replace(one, tokens=tokens, kept=True)
                    read.update(new)
                    units -= tokens
                continue
            for edge in one.edges.tolist():
                fact = int(graph.edges.facts[edge])
                if fact in told:
                    continue
                cost = graph.count(f"- {graph.facts.texts[fact]}\n")
                if tokens + cost > report:
                    break
                tokens += cost
                edges.append(edge)
            if tokens <= reports and (edges or not one.edges.size):
                told.update(graph.edges.facts[edges].tolist() if edges else [])
                packed[i] = replace(one, edges=freeze(edges, np.int32), tokens=tokens, kept=True)
                reports -= tokens
        return packed

    def read(
        self,
        graph: Graph,
        query: Query,
        seeds: Seeds,
        prizes: Floats,
        candidates: Subgraph,
        budget: int,
        packed: list[Candidate],
    ) -> Subgraph:
        """Return what is read of the kept candidates, and of others where there is room."""
        kept = [
            one
            for i in top_k(np.array([one.score for one in packed])).tolist()
            if (one := packed[i]).kept
        ]
        chunks = np.array(
            sorted(
                {row for one in kept if one.layer == CHUNKS for row in one.community.rows.tolist()}
            ),
            np.int64,
        )
        ranked = chunks[top_k(prizes[chunks])].tolist()
        told = [edge for one in kept if one.layer != CHUNKS for edge in one.edges.tolist()]
        edges = freeze(told if query.limit is None else [], np.int32)  # a limit counts passages
        entities = dict.fromkeys(
            np.concatenate([graph.edges.tails[edges], graph.edges.heads[edges]]).tolist()
        )
        nodes = freeze([*ranked, *entities], np.int32)
        joined = JoinedRows(nodes, edges, np.arange(len(edges)), freeze([], np.int32))
        share = (
            self.fact_share
            * self.context_tokens
            / max(1, self.context_tokens + self.text_unit_tokens)
        )
        led = prizes.copy()
        led[ranked] *= self.lead or 1.0
        chosen = select_evidence(
            graph,
            query,
            seeds,
            led,
            candidates,
            budget,
            joined,
            fact_share=share,
            tree_first=self.lead is None,
        )
        wanted = [CHUNKS] * self.chunk_layer + [FACTS] + [ALIKE] * self.similarity_layer
        levels = dict.fromkeys(wanted, "empty") | {one.layer: one.level for one in packed}
        trace: dict[str, Any] = {
            "levels": levels,
            **{layer: [one.said() for one in packed if one.layer == layer] for layer in levels},
            **chosen.notes,
        }
        lower = [
            f"{layer}: {level}"
            for layer, level in levels.items()
            if level not in ("truss", "one hop")
        ]
        if lower:
            trace["fallback"] = (
                f"no truss among {', '.join(lower)}"
                if packed
                else "no communities: the passages by prize"
            )
        return replace(chosen, notes=trace)


def _told(
    graph: Graph, query: Query, facts: Layer, worth: Floats, found: list[Candidate]
) -> list[Candidate]:
    """The candidates with the facts that tell of them: each entity's best, then those of its truss, by likeness to the question."""
    wanted = [one.community.rows for one in found if one.layer != CHUNKS]
    if not wanted:
        return found
    rows, links = np.unique(np.concatenate(wanted)), facts.links
    slots = links.edges.take(_ranges(links.starts[rows], links.starts[rows + 1]))
    edges = slots.values
    owner = np.repeat(np.repeat(rows, links.starts[rows + 1] - links.starts[rows]), slots.lengths)
    vector = query.vector if query.fact_vector is None else query.fact_vector
    unlike = levels(similarities(graph.facts.vectors[graph.edges.facts[edges]], vector), 1.0)
    place = np.lexsort((edges, unlike, owner))
    first = place[np.flatnonzero(np.diff(owner[place], prepend=-1))]
    best_of = dict(zip(owner[first].tolist(), edges[first].tolist(), strict=True))
    turn_of = dict(zip(edges.tolist(), unlike.tolist(), strict=True))
    fact_of = dict(zip(edges.tolist(), graph.edges.facts[edges].tolist(), strict=True))
    told = list[Candidate]()
    for one in found:
        if one.layer == CHUNKS:
            told.append(one)
            continue
        ranked = one.community.rows[top_k(worth[one.community.rows], largest=1.0)].tolist()
        own = links.edges.take(one.community.slots).values.tolist() if one.layer == FACTS else []
        inner = sorted(set(own), key=lambda edge: (turn_of[edge], edge))
        said: dict[int, int] = {}
        for edge in [*(best_of[row] for row in ranked if row in best_of), *inner]:
            said.setdefault(fact_of[edge], edge)
        told.append(replace(one, edges=freeze(list(said.values()), np.int32)))
    return told


def _ranges(begins: Any, ends: Any) -> Any:
    """The numbers from each begin up to its end, one range after another."""
    lengths = ends - begins
    behind = np.cumsum(lengths)
    return np.arange(behind[-1] if len(behind) else 0) + np.repeat(ends - behind, lengths)


def _taken(vectors: Any, rows: Any) -> Any:
    """The vectors of some rows, without a copy where these are consecutive, as they are where passages were read first."""
    if len(rows) and rows[-1] - rows[0] == len(rows) - 1 and (np.diff(rows) == 1).all():
        return vectors[rows[0] : rows[-1] + 1]
    return vectors[rows]
