"""DA-RAG's retrieval: communities around the question, from the chunks down to their facts.

DA-RAG (arXiv 2602.08545), sections 4 and 5:
1. The question's communities in the chunk layer: every k of the k-truss gives another one. They
   are chosen by falling score while they fit (adaptive k), before anything finer is searched.
2. The entities of all chosen communities: of these come the communities in the knowledge graph and
   in the similarity layer.
3. Adaptive k again: these are retained by falling score while their reports fit in the tokens for
   reports; see `CommunitySearch.pack`.

The tokens for reports, for one report and for chunks are ceilings, with a budget and without one.

Communities are found by Q-Peel, see `clew.algorithms.community_search.q_peel`. With a language
model the score and the report are the model's (`clew.methods.da_rag.method`). Without one the score
is Stouffer's,

    S = (sum over nodes of (cos - mean of the layer) / deviation of the layer) / sqrt(nodes)

which rewards relevance and size without a weight between them. The report on a community is then
the best fact of each of its entities, and the relations of its truss, the most relevant first.

Real graphs of facts have few triangles. What replaces a truss is noted in the trace, for every
layer: see `search_communities`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.community_search.q_peel import (
    Community,
    CommunitySearchResult,
    Trusses,
    induced_community,
    search_communities,
    search_trusses,
)
from clew.algorithms.last_result import remember_last
from clew.algorithms.ranking import dense_ranks, tolerance, top_k
from clew.deadline import current
from clew.graph import (
    Floats,
    Graph,
    Mask,
    MentionedEntitiesPart,
    Ragged,
    Rows,
    distinct,
    expand_ranges,
    freeze,
    take_vectors,
)
from clew.methods._rows import offered_mask
from clew.methods.da_rag.layers import (
    ChunkLayer,
    ChunkTrusses,
    DescribedPart,
    EntityVectorsPart,
    KnowledgeLayer,
    LateChunkLayer,
    Layer,
    SimilarityLayer,
)
from clew.select._shared import (
    EvidenceRule,
    JoinedRows,
    Offer,
    passages_in_order,
    select_evidence,
    similarities,
)
from clew.types import UNLIMITED, Query, Seeds, Subgraph

CHUNKS, FACTS, ALIKE = "chunks", "facts", "alike"


@dataclass(frozen=True, eq=False)
class Candidate:
    """A community that may be read.

    Attributes:
        layer: where it was found: "chunks", "facts" or "alike".
        level: how closely the layer hangs together, one of `q_peel.LEVELS`, or "one hop".
        community: its nodes and links.
        score: its Stouffer score.
        edges: edges of the graph whose facts are its report, best first.
        tokens: of the report, or of the chunks.
        retained: whether it is read.
    """

    layer: str
    level: str
    community: Community
    score: float
    edges: Rows
    tokens: int = 0
    retained: bool = False

    def notes(self) -> dict[str, Any]:
        """Return what the trace says of it."""
        return {
            "k": self.community.k,
            "nodes": len(self.community),
            "mean": round(self.community.mean, 4),
            "score": round(self.score, 4),
            "kept": self.retained,
        }


class Rooms(NamedTuple):
    """Tokens out of a budget: for all reports, for one report, and for chunks."""

    reports: int
    report: int
    chunks: int


Choose = Callable[[list[Candidate]], list[Candidate]]
"""The communities of chunks -> the same, with those marked that the fine search goes on from."""

FindCommunities = Callable[[Query, Seeds, Subgraph, Choose | None], list[Candidate]]
"""question, seeds, candidates, choice -> the communities of all layers. Without a choice, chunks
are chosen as `CommunitySearch` does without a budget."""


class _Layers(NamedTuple):
    """What the search needs of a graph: see `clew.methods.da_rag.layers`.

    Attributes:
        chunks: the chunk layer.
        entities: the layers of entities, by name.
        facts: the knowledge graph.
        mentioned: the entities of every chunk.
        chunk_rows: for every chunk the node by whose vector it is compared.
        entity_rows: the same for every entity.
        trusses: those of the chunk layer, where all chunks are searched by removing single ones.
    """

    chunks: Layer | LateChunkLayer
    entities: dict[str, Layer]
    facts: Layer
    mentioned: Ragged
    chunk_rows: Rows
    entity_rows: Rows
    trusses: Trusses | None = None


@dataclass(frozen=True)
class CommunitySearch:
    """Read facts of the question's communities, then chunks of its community, then other chunks.

    Attributes:
        max_nearest: the chunks' community is sought among so many chunks nearest to the question.
            None is all of them, as in the paper; peeling then stops at hundreds of chunks of which
            no single one may leave.
        max_k: the largest k of a k-truss; None for every k that has a truss, as in the paper.
        cascade: let a node take others with it when it is peeled off. The communities are smaller
            and their mean is higher.
        extra_entities: so many entities that the nearest chunks mention are searched too, those
            most like the question. Otherwise the nearest entity is often left out, and its
            surroundings are as dense as what is found, and nearer. 0 is none, as in the paper.
        min_piece_nodes: without triangles, the fewest nodes of a connected piece.
        n_nearest: without a piece, how many of the nearest nodes.
        k_neighbor: how many nearest entities each entity is linked to in the similarity layer.
        hub_cap: entities in more chunks join none in the chunk layer; see `clew.link.Related`. None
            for no such limit, as in the paper: then peeling takes long.
        min_support: so many relations must join two chunks.
        shared: an entity in both chunks joins them too.
        entity_descriptions: compare an entity with the question, and with others in the similarity
            layer, by its summary where `clew.generate.Summaries` wrote one. False compares names.
        context_tokens: for all reports. A question with a budget scales this and the next two so
            that they share it; a question without one takes them as they are. All are ceilings.
        report_tokens: for one report, which is cut there.
        text_unit_tokens: for chunks.
        unused_to_chunks: the chunks of a question with a budget may also have what the reports
            leave of it. False holds them to their own tokens, as the paper does.
        other_chunks: read chunks outside the community where there is room. False reads those of
            the community alone, as the paper does, and others only where there is no community.
        fact_share: the share of the tokens for reports that facts have in the place of reports. A
            report digests what facts state one by one, and a passage states many of its facts in
            fewer tokens.
        community_boost: the factor on the prizes of the community's chunks when chunks are
            ranked. None reads all of these first.
        acs: attributed community search. False takes the one-hop neighbours of the nearest nodes
            instead, an ablation of the paper, as the next two are.
        chunk_layer: False searches the `max_nearest` entities most like the question instead.
        similarity_layer: False leaves the similarity layer out.

    Example:
        >>> graph = Graph.from_triples(
        ...     [("Anna", "knows", "Ben"), ("Ben", "knows", "Cleo"), ("Cleo", "knows", "Anna")],
        ...     embed=lambda texts: np.tile([1.0, 0.0], (len(texts), 1)))
        >>> query = Query("Who knows Anna?", np.float32([0.6, 0.8]))
        >>> seeds, nodes = Seeds(np.zeros(len(graph))), freeze(np.arange(len(graph)), np.int32)
        >>> search = CommunitySearch(chunk_layer=False, similarity_layer=False)
        >>> find = search.finder(graph)
        >>> [(one.layer, one.community.k) for one in find(query, seeds, Subgraph(nodes), None)]
        [('facts', 3)]
    """

    max_nearest: int | None = 60
    max_k: int | None = 8
    cascade: bool = False
    extra_entities: int = 0
    min_piece_nodes: int = 5
    n_nearest: int = 10
    k_neighbor: int = 5
    hub_cap: int | None = 50
    min_support: int = 1
    shared: bool = False
    entity_descriptions: bool = False
    context_tokens: int = 4800
    report_tokens: int = 3200
    text_unit_tokens: int = 4000
    unused_to_chunks: bool = True
    other_chunks: bool = True
    fact_share: float = 0.2
    community_boost: float | None = None
    acs: bool = True
    chunk_layer: bool = True
    similarity_layer: bool = True

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats, Subgraph, int], Subgraph]:
        find = self.finder(graph)

        def select(
            query: Query, seeds: Seeds, prizes: Floats, candidates: Subgraph, budget: int
        ) -> Subgraph:
            found = find(
                query, seeds, candidates, lambda found: self.choose_chunks(graph, found, budget)
            )
            packed = self.pack(graph, found, budget)
            offer = Offer(graph, query, seeds, prizes, candidates, budget)
            return self.select(offer, packed, self.chunk_room(budget))

        return select

    def rooms(self, budget: int) -> Rooms:
        """Return the tokens for reports and chunks out of a budget."""
        whole = self.context_tokens + self.text_unit_tokens
        scale = 1.0 if budget >= UNLIMITED or not whole else budget / whole
        return Rooms(
            int(self.context_tokens * scale),
            int(self.report_tokens * scale),
            int(self.text_unit_tokens * scale),
        )

    def chunk_room(self, budget: int) -> int | None:
        """Return the most tokens of chunks; None for all that reports leave of the budget."""
        if budget < UNLIMITED and self.unused_to_chunks:
            return None
        return self.rooms(budget).chunks

    def finder(self, graph: Graph) -> FindCommunities:
        """Return the function that finds a question's communities, from coarse to fine."""
        facts = graph.part(KnowledgeLayer())
        entity_layers = {FACTS: facts}
        if self.similarity_layer:
            entity_layers[ALIKE] = graph.part(
                SimilarityLayer(self.k_neighbor, self.entity_descriptions)
            )
        chunk_layer = ChunkLayer(self.hub_cap, self.min_support, self.shared)
        peels_all = self.acs and self.chunk_layer and self.max_nearest is None
        peels_all = peels_all and not self.cascade and (self.max_k is None or self.max_k > 2)
        searches_few = self.acs and self.max_nearest is not None
        layers = _Layers(
            chunk_layer.near(graph) if searches_few else graph.part(chunk_layer),
            entity_layers,
            facts,
            graph.part(MentionedEntitiesPart()),
            graph.part(DescribedPart()),
            graph.part(EntityVectorsPart())
            if self.entity_descriptions
            else freeze(np.arange(len(graph)), np.int32),
            graph.part(ChunkTrusses(chunk_layer)) if peels_all else None,
        )

        @remember_last
        def find_chunks(
            query: Query, seeds: Seeds, candidates: Subgraph
        ) -> tuple[Mask, Floats, list[Candidate]]:
            offered = offered_mask(graph, candidates)
            relevance = _chunk_relevance(graph, layers, query, seeds, offered)
            if not self.chunk_layer:
                return offered, relevance, []
            rows = self._searched_chunks(layers, relevance, offered)
            found = self._communities(
                *(CHUNKS, layers.chunks, rows, relevance, self.max_nearest, layers.trusses)
            )
            return offered, relevance, found

        def find(
            query: Query, seeds: Seeds, candidates: Subgraph, choose: Choose | None = None
        ) -> list[Candidate]:
            offered, of_chunks, found = find_chunks(query, seeds, candidates)
            relevance, communities = of_chunks.copy(), list(found)
            if self.chunk_layer:
                if choose is None:
                    communities = self.choose_chunks(graph, communities, UNLIMITED)
                else:
                    communities = list(choose(communities))
                entities = self._entities(graph, layers, query, relevance, offered, communities)
            else:
                entities = graph.rows("entity")
            entities = distinct(entities[offered[entities]]).astype(np.int32)
            vectors = take_vectors(graph.vectors, layers.entity_rows[entities])
            relevance[entities] = similarities(vectors, query.vector)
            max_nearest = None if self.chunk_layer else self.max_nearest
            for name, layer in layers.entities.items():
                communities += self._communities(name, layer, entities, relevance, max_nearest)
            return _with_reports(graph, query, layers.facts, relevance, communities)

        return find

    def _entities(
        self,
        graph: Graph,
        layers: _Layers,
        query: Query,
        relevance: Floats,
        offered: Mask,
        communities: Sequence[Candidate],
    ) -> Rows:
        """Return the entities that the chosen communities mention, and `extra_entities` others."""
        rows = layers.chunks.rows[relevance[layers.chunks.rows] > 0]
        chosen = [one.community.rows for one in communities if one.retained]
        if chosen:
            chunks = distinct(np.concatenate(chosen))
        else:
            chunks = rows[top_k(relevance[rows], self.n_nearest)]
        entities = layers.mentioned.take(chunks).values
        if not self.extra_entities:
            return entities
        near = rows[top_k(relevance[rows], self.max_nearest)]
        others = distinct(layers.mentioned.take(near).values)
        others = others[offered[others]]
        vectors = graph.vectors[layers.entity_rows[others]]
        likest = top_k(similarities(vectors, query.vector), self.extra_entities)
        return np.concatenate([entities, others[likest]])

    def _communities(
        self,
        name: str,
        layer: Layer | LateChunkLayer,
        rows: Rows,
        relevance: Floats,
        max_nearest: int | None,
        trusses: Trusses | None = None,
    ) -> list[Candidate]:
        """Return the communities of one layer among some of its nodes, with their scores.

        `trusses` are those of the whole layer, where they are known.
        """
        if not len(rows):
            return []
        current().check()
        mean, deviation = float(relevance[rows].mean()), float(relevance[rows].std())
        among = freeze(np.sort(rows[top_k(relevance[rows], max_nearest)]), np.int32)
        if trusses is not None and len(among) == len(trusses.rows):
            result = search_trusses(
                trusses,
                relevance,
                max_k=self.max_k,
                min_piece=self.min_piece_nodes,
                nearest=self.n_nearest,
            )
        elif self.acs or isinstance(layer, LateChunkLayer):
            result = search_communities(
                layer.links_among(among),
                among,
                relevance,
                max_k=self.max_k,
                cascade=self.cascade,
                min_piece=self.min_piece_nodes,
                nearest=self.n_nearest,
            )
        else:
            result = self._one_hop(layer, among, relevance)
        differ = deviation > tolerance(relevance[rows])
        scores = [
            (community.mean - mean) * np.sqrt(len(community)) / deviation
            if differ
            else np.sqrt(len(community))
            for community in result.communities
        ]
        no_edges = freeze([], np.int32)
        return [
            Candidate(name, result.level, community, float(score), no_edges)
            for community, score in zip(result.communities, scores, strict=True)
        ]

    def _one_hop(self, layer: Layer, among: Rows, relevance: Floats) -> CommunitySearchResult:
        """Return the nearest nodes with their neighbours: the paper's ablation without ACS."""
        first = among[top_k(relevance[among], self.n_nearest)]
        neighbours = [layer.links.neighbours(row) for row in first.tolist()]
        rows = np.intersect1d(np.concatenate([first, *neighbours]), among).astype(np.int32)
        community = induced_community(layer.links, rows, relevance)
        return CommunitySearchResult("one hop", (community,))

    def choose_chunks(
        self, graph: Graph, communities: list[Candidate], budget: int
    ) -> list[Candidate]:
        """Return the communities of chunks with those marked that fit, by falling score.

        They are retained while their chunks fit in the tokens for chunks, the best one in any case.
        """
        chosen = list(communities)
        for i, packed in _packed_chunks(graph, communities, self.rooms(budget).chunks):
            chosen[i] = packed
        return chosen

    def _searched_chunks(self, layers: _Layers, relevance: Floats, offered: Mask) -> Rows:
        """Return the chunks among which the community is sought.

        A chunk that has nothing to do with the question is none of the nearest. Where all chunks
        are searched, it may still hold others together.
        """
        rows = layers.chunks.rows[offered[layers.chunks.rows]]
        touched = relevance[rows] > 0
        return rows if self.max_nearest is None and touched.any() else rows[touched]

    def pack(self, graph: Graph, candidates: list[Candidate], budget: int) -> list[Candidate]:
        """Return the candidates with those marked that fit, by falling score: adaptive k.

        A community that does not fit is passed over, and the next one is tried. Communities of
        chunks stay as they were chosen, see `choose_chunks`. Communities of entities are retained
        while the facts that they add fit in the tokens for reports; a report is cut at the tokens
        for one report, and each fact is stated, and counted, once.
        """
        rooms = self.rooms(budget)
        packed = list(candidates)
        room, report_room = (int(n * self.fact_share) for n in (rooms.reports, rooms.report))
        for i, packed_one in _packed_reports(graph, candidates, room, report_room):
            packed[i] = packed_one
        return packed

    def select(self, offer: Offer, packed: list[Candidate], chunk_room: int | None) -> Subgraph:
        """Return what is read of the packed communities, and of other passages where there is room.

        Args:
            offer: what the stage is given. A question with a limit counts passages: it has as many
                as it wants, and no facts are read.
            packed: the communities, as `pack` returns them.
            chunk_room: the most tokens of passages; None for all that facts leave of the budget.
        """
        graph, query, prizes = offer.graph, offer.query, offer.prizes
        retained = [one for one in _by_score(packed) if one.retained]
        chunks = np.array(
            sorted({row for one in retained if one.layer == CHUNKS for row in _rows(one)}), np.int64
        )
        ranked = chunks[top_k(prizes[chunks])].tolist()
        facts = [edge for one in retained if one.layer != CHUNKS for edge in one.edges.tolist()]
        edges = freeze(facts if query.limit is None else [], np.int32)
        ends = np.concatenate([graph.edges.tails[edges], graph.edges.heads[edges]])
        nodes = freeze([*ranked, *dict.fromkeys(ends.tolist())], np.int32)
        joined = JoinedRows(nodes, edges, np.arange(len(edges)), freeze([], np.int32))
        boosted = prizes.copy()
        boosted[ranked] *= self.community_boost or 1.0
        budget, candidates = offer.budget, offer.candidates
        if query.limit is None:
            if chunk_room is not None:
                budget = min(budget, chunk_room + _fact_tokens(graph, edges))
            if ranked and not self.other_chunks:
                candidates = _without_other_chunks(graph, candidates, chunks)
        # The facts were packed into their room already.
        rule = EvidenceRule(fact_share=1.0, tree_first=self.community_boost is None)
        offer = offer._replace(prizes=boosted, candidates=candidates, budget=budget)
        queue = passages_in_order(offer, joined, rule)
        chosen = select_evidence(offer, joined, rule, queue)
        notes = {**self._notes(packed), **chosen.notes, **self._fallback(packed)}
        return replace(chosen, notes=notes)

    def _levels(self, packed: Sequence[Candidate]) -> dict[str, str]:
        wanted = [CHUNKS] * self.chunk_layer + [FACTS] + [ALIKE] * self.similarity_layer
        return dict.fromkeys(wanted, "empty") | {one.layer: one.level for one in packed}

    def _notes(self, packed: Sequence[Candidate]) -> dict[str, Any]:
        """Return for the trace how every layer hangs together, and its communities."""
        levels = self._levels(packed)
        return {
            "levels": levels,
            **{layer: [one.notes() for one in packed if one.layer == layer] for layer in levels},
        }

    def _fallback(self, packed: Sequence[Candidate]) -> dict[str, str]:
        """Return the note on layers without a truss, or nothing."""
        without = [
            f"{layer}: {level}"
            for layer, level in self._levels(packed).items()
            if level not in ("truss", "one hop")
        ]
        if not without:
            return {}
        if not packed:
            return {"fallback": "no communities: the passages by prize"}
        return {"fallback": f"no truss among {', '.join(without)}"}


def _chunk_relevance(
    graph: Graph, layers: _Layers, query: Query, seeds: Seeds, offered: Mask
) -> Floats:
    """Return the relevance of the offered chunks, float64 [n], 0 for all other nodes."""
    relevance = np.zeros(len(graph))
    rows = layers.chunks.rows[offered[layers.chunks.rows]]
    if query.candidate_scores is not None:
        relevance[rows] = seeds.scores[rows]
    else:
        vectors = take_vectors(graph.vectors, layers.chunk_rows[rows])
        relevance[rows] = similarities(vectors, query.vector)
    return relevance


def _by_score(candidates: Sequence[Candidate]) -> list[Candidate]:
    return [candidates[i] for i in _order_by_score(candidates)]


def _order_by_score(candidates: Sequence[Candidate]) -> list[int]:
    order: list[int] = top_k(np.array([one.score for one in candidates])).tolist()
    return order


def _rows(candidate: Candidate) -> list[int]:
    rows: list[int] = candidate.community.rows.tolist()
    return rows


def _fact_tokens(graph: Graph, edges: Rows) -> int:
    """Return the tokens of the facts that edges state, each fact once."""
    facts = set(graph.edges.facts[edges].tolist())
    return sum(graph.count(f"- {graph.facts.texts[fact]}\n") for fact in facts)


def _without_other_chunks(
    graph: Graph, candidates: Subgraph, chunks: NDArray[np.int64]
) -> Subgraph:
    """Return the candidates without the passages that are neither chunks nor required."""
    inside = ~graph.content
    inside[chunks] = True
    inside[candidates.required] = True
    return replace(candidates, nodes=candidates.nodes[inside[candidates.nodes]])


def _packed_chunks(
    graph: Graph, candidates: Sequence[Candidate], room: int
) -> list[tuple[int, Candidate]]:
    """Return the communities of chunks that fit, by their places among the candidates."""
    packed, read = list[tuple[int, Candidate]](), set[int]()
    for i in _order_by_score(candidates):
        if candidates[i].layer != CHUNKS:
            continue
        new = [row for row in _rows(candidates[i]) if row not in read]
        tokens = int(graph.tokens[new].sum())
        if tokens <= room or not read:
            packed.append((i, replace(candidates[i], tokens=tokens, retained=True)))
            read.update(new)
            room -= tokens
    return packed


def _packed_reports(
    graph: Graph, candidates: Sequence[Candidate], room: int, report_room: int
) -> list[tuple[int, Candidate]]:
    """Return the communities of entities whose reports fit, by place among the candidates."""
    packed, stated = list[tuple[int, Candidate]](), set[int]()
    for i in _order_by_score(candidates):
        one = candidates[i]
        if one.layer == CHUNKS:
            continue
        edges, tokens = _cut_report(graph, one, stated, report_room)
        if tokens <= room and (edges or not one.edges.size):
            stated.update(graph.edges.facts[edges].tolist() if edges else [])
            report = freeze(edges, np.int32)
            packed.append((i, replace(one, edges=report, tokens=tokens, retained=True)))
            room -= tokens
    return packed


def _cut_report(
    graph: Graph, candidate: Candidate, stated: set[int], room: int
) -> tuple[list[int], int]:
    """Return the first facts of a report that are not stated yet and fit, and their tokens."""
    edges, tokens = list[int](), 0
    for edge in candidate.edges.tolist():
        fact = int(graph.edges.facts[edge])
        if fact in stated:
            continue
        cost = graph.count(f"- {graph.facts.texts[fact]}\n")
        if tokens + cost > room:
            break
        tokens += cost
        edges.append(edge)
    return edges, tokens


def _with_reports(
    graph: Graph, query: Query, facts: Layer, relevance: Floats, candidates: list[Candidate]
) -> list[Candidate]:
    """Return the candidates, those of entities with the facts of their reports.

    A report is each entity's best fact, then the relations of the community's truss; facts by
    falling similarity to the question.
    """
    of_entities = [one.community.rows for one in candidates if one.layer != CHUNKS]
    if not of_entities:
        return candidates
    rows, links = distinct(np.concatenate(of_entities)), facts.links
    begins, ends = links.starts[rows], links.starts[rows + 1]
    slots = links.edges.take(expand_ranges(begins, ends - begins))
    edges = slots.values
    owners = np.repeat(np.repeat(rows, ends - begins), slots.lengths)
    vector = query.vector if query.fact_vector is None else query.fact_vector
    # Groups of equal similarity, 0 for the most similar facts.
    every, places = np.unique(graph.edges.facts[edges], return_inverse=True)
    # Those of a common name are hundreds of thousands, which no vector is made for.
    likeness = similarities(take_vectors(graph.facts.vectors, every), vector)[places]
    groups = dense_ranks(likeness, 1.0)
    order = np.lexsort((edges, groups, owners))
    first = order[np.flatnonzero(np.diff(owners[order], prepend=-1))]
    best_of = dict(zip(owners[first].tolist(), edges[first].tolist(), strict=True))
    group_of = dict(zip(edges.tolist(), groups.tolist(), strict=True))
    fact_of = dict(zip(edges.tolist(), graph.edges.facts[edges].tolist(), strict=True))

    def report(one: Candidate) -> list[int]:
        ranked = one.community.rows[top_k(relevance[one.community.rows], largest=1.0)].tolist()
        relations = set[int]()
        if one.layer == FACTS:
            relations.update(links.edges.take(one.community.slots).values.tolist())
        best = [best_of[row] for row in ranked if row in best_of]
        inner = sorted(relations, key=lambda edge: (group_of[edge], edge))
        by_fact: dict[int, int] = {}
        for edge in [*best, *inner]:
            by_fact.setdefault(fact_of[edge], edge)
        return list(by_fact.values())

    return [
        one if one.layer == CHUNKS else replace(one, edges=freeze(report(one), np.int32))
        for one in candidates
    ]
