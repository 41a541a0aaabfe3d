"""Why each item is read: the path to it from the question, its role, and the edges around it.

A path has the fewest hops from where the question touches the graph, unless the selector came to
the item by a path of its own. What is merely similar comes last: such edges are followed to what is
neither touched nor reached by others, and are made for no other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

import numpy as np

from clew.algorithms.ranking import top_k
from clew.algorithms.traversal.breadth_first import shortest_paths
from clew.algorithms.traversal.reached import induced_links
from clew.graph import (
    Adjacency,
    Edges,
    Graph,
    LateLists,
    Links,
    MentionedEntitiesPart,
    Rows,
    distinct,
    kinds_without,
    known_heading_of,
)
from clew.items import ContextEdge, Dropped, Hop
from clew.types import Seeds, Subgraph

QUESTION, READ_FROM = "question", "read from"
SHARED, RELATED = "shared", "related"  # kinds of edges that are made of names or facts
SIMILAR = "similar"
MAX_HOPS = 4
MAX_TITLE = 90  # characters of what was left out
MAX_SHARED = 3  # names that the text of an edge has
MAX_START_ROWS = 64  # where a seed names no terminals, paths start at its highest scores

Path = tuple[Hop, ...]


def paths_to_nodes(
    graph: Graph, seeds: Seeds, subgraph: Subgraph, rows: list[int]
) -> dict[int, Path]:
    """Return the path to each row: the selector's own, or else the one of the fewest hops."""
    paths = _selector_paths(graph, subgraph, rows)
    return paths | _shortest_paths(graph, seeds, [row for row in rows if row not in paths])


def paths_to_facts(
    graph: Graph, seeds: Seeds, subgraph: Subgraph, facts: list[int]
) -> dict[int, Path]:
    """Return the path to each fact: one hop to a mapped fact, or the path to its subject and on.

    Hops carry what the edge costs where the selector prices edges.
    """
    edge_of = {int(graph.edges.facts[edge]): edge for edge in subgraph.edges.tolist()[::-1]}
    score_of = dict(zip(seeds.facts.tolist(), seeds.fact_scores.tolist(), strict=False))
    subjects = [int(graph.facts.subjects[fact]) for fact in facts if fact not in score_of]
    to_subject = _shortest_paths(graph, seeds, subjects)
    paths: dict[int, Path] = {}
    for fact in facts:
        text, edge = graph.facts.texts[fact], edge_of.get(fact, -1)
        cost = subgraph.edge_costs.get(edge)
        if fact in score_of:
            paths[fact] = (Hop(QUESTION, "fact", text, text, score_of[fact], cost=cost),)
            continue
        subject, object_ = int(graph.facts.subjects[fact]), int(graph.facts.objects[fact])
        paths[fact] = to_subject[subject]
        if edge >= 0:
            paths[fact] += (
                replace(_hop_over(graph, graph.edges, edge, subject, object_), cost=cost),
            )
    return paths


def role_of(
    graph: Graph, seeds: Seeds, subgraph: Subgraph, row: int, fill_rows: frozenset[int]
) -> str:
    """Return the role of a node that is read: fill, report, seed, bridge or expansion."""
    if row in fill_rows:
        return "fill"
    if graph.kinds[row] == "report":
        return "report"
    terminals = seeds.terminals
    if (row in terminals) if len(terminals) else seeds.scores[row] > 0:
        return "seed"
    return "bridge" if row in subgraph.required else "expansion"


def with_ids(
    graph: Graph, values: Iterable[tuple[int, int, float]]
) -> tuple[tuple[str, str, float], ...]:
    """Return (tail, head, value) with ids in the place of rows; "" is the root of the corpus.

    Example:
        >>> with_ids(Graph.of(["a", "b"], ids=["a.md", "b.md"]), [(-1, 1, 0.5)])
        (('', 'b.md', 0.5),)
    """
    return tuple(
        (graph.ids[tail] if tail >= 0 else "", graph.ids[head], value)
        for tail, head, value in values
    )


def with_titles(dropped: Iterable[Dropped], graph: Graph) -> tuple[Dropped, ...]:
    """Return what was left out with its headings and first words.

    Args:
        dropped: What a context leaves out. What is no node of the graph, or has a title, stays as
            it is.
        graph: The graph.

    Example:
        >>> graph = Graph.of(["They are of ash."], ids=["oars"], metadata=({"title": "Oars"},))
        >>> with_titles([Dropped("oars", "too long")], graph)[0].title
        'Oars: They are of ash.'
    """
    titled = list[Dropped]()
    for one in dropped:
        row = None if one.title else graph.find_row(one.id)
        titled.append(one if row is None else Dropped(one.id, one.reason, title_of(graph, row)))
    return tuple(titled)


def title_of(graph: Graph, row: int) -> str:
    """Return the heading and the first words of a node, on one line.

    Example:
        >>> graph = Graph.of(["They are of ash."], metadata=({"title": "Oars"},))
        >>> title_of(graph, 0)
        'Oars: They are of ash.'
    """
    text = " ".join(graph.texts[row][: 4 * MAX_TITLE].split())
    heading = known_heading_of(graph, row)
    title = f"{heading}: {text}" if heading and not text.startswith(heading) else text
    return title if len(title) <= MAX_TITLE else f"{title[: MAX_TITLE - 1].rstrip()}…"


def context_edges(graph: Graph, rows: Rows, subgraph: Subgraph) -> tuple[ContextEdge, ...]:
    """Return the edges of the subgraph, or, where it names none, those among the rows read."""
    edges = subgraph.edges
    columns = graph.edges.take(edges) if len(edges) or not len(rows) else _edges_among(graph, rows)
    ids = graph.ids
    costs = [subgraph.edge_costs.get(edge) for edge in edges.tolist()] or [None] * len(columns)
    return tuple(
        ContextEdge(
            *(ids[tail], ids[head], kind, weight),
            *(_stated(graph, fact, kind, tail, head), cost),
        )
        for tail, head, kind, weight, fact, cost in zip(
            *(columns.tails.tolist(), columns.heads.tolist(), columns.kinds),
            *(columns.weights.tolist(), columns.facts.tolist(), costs),
            strict=True,
        )
    )


def _edges_among(graph: Graph, rows: Rows) -> Edges:
    """Return the edges that join some rows.

    Where no method needed the adjacency so far, it is not made for this: it takes seconds for
    millions of edges. Nor are edges of all nodes, where those of these rows take less.
    """
    links = graph.known_part(Adjacency(None, directed=False, merge="max"))
    if links is None:
        return graph.edges.among(rows, len(graph))
    return graph.edges.take(distinct(induced_links(links, rows)[0].edges.values))


def _selector_paths(graph: Graph, subgraph: Subgraph, rows: list[int]) -> dict[int, Path]:
    """Return the selector's own paths, where edges join all of their rows."""
    if not subgraph.paths:
        return {}
    links, paths = graph.links(), dict[int, Path]()
    for row in rows:
        if row not in subgraph.paths:
            continue
        score, steps = subgraph.paths[row]
        hops = [Hop(QUESTION, "touches", graph.ids[steps[0]], weight=score)]
        for source, target in pairwise(steps):
            edge = _edge_between(links, source, target)
            if edge >= 0:
                hops.append(_hop_over(graph, graph.edges, edge, source, target))
        if len(hops) == len(steps):
            paths[row] = tuple(hops)
    return paths


def _shortest_paths(graph: Graph, seeds: Seeds, rows: list[int]) -> dict[int, Path]:
    """Return the path of the fewest hops to each row.

    A row that the question touches directly has one hop. The path to a generated text is over the
    one of its passages that the question touches most.
    """
    passage_of = {
        row: _touched_passage(graph, seeds, row)
        for row in rows
        if graph.generated[row] and len(graph.read_from[row])
    }
    if passage_of:
        wanted = list(dict.fromkeys(passage_of.get(row, row) for row in rows))
        paths = _shortest_paths(graph, seeds, wanted)
        for row, passage in passage_of.items():
            last_hop = Hop(graph.ids[passage], READ_FROM, graph.ids[row])
            paths[row] = (*paths[passage], last_hop)
        return {row: paths[row] for row in rows}
    fact_hops = _hops_by_facts(graph, seeds)
    named = dict.fromkeys([*fact_hops, *seeds.terminals.tolist()])
    wanted = [row for row in rows if row not in named and (named or seeds.scores[row] <= 0)]
    if not wanted:
        return {row: (fact_hops.get(row) or _touch(graph, seeds, row),) for row in rows}
    starts = list(named)
    if not starts:
        best = top_k(seeds.scores, MAX_START_ROWS)
        starts = best[seeds.scores[best] > 0].tolist()
    links = graph.links(kinds_without(graph, None, (SIMILAR,)))
    slots_to = shortest_paths(links, starts, wanted, MAX_HOPS, directed=False)
    apart, whole = {row for row in wanted if row not in slots_to and seeds.scores[row] <= 0}, links
    if apart and SIMILAR in graph.edges.kind_names:
        whole = graph.links()
        slots_to |= shortest_paths(whole, starts, apart, MAX_HOPS, directed=False)
    paths = {}
    for row in rows:
        slots, followed = slots_to.get(row, []), whole if row in apart else links
        at = int(np.searchsorted(followed.starts, slots[0], side="right")) - 1 if slots else row
        hops = [fact_hops.get(at) or _touch(graph, seeds, at)]
        for slot in slots:
            following = int(followed.targets[slot])
            edges, edge = _first_edge(graph, followed, slot)
            hops.append(_hop_over(graph, edges, edge, at, following))
            at = following
        paths[row] = tuple(hops)
    return paths


def _hops_by_facts(graph: Graph, seeds: Seeds) -> dict[int, Hop]:
    """Return the hop to each end of the facts that the question is mapped to, by its best fact."""
    hops: dict[int, Hop] = {}
    for fact, score in zip(seeds.facts.tolist(), seeds.fact_scores.tolist(), strict=False):
        text = graph.facts.texts[fact]
        for row in (int(graph.facts.subjects[fact]), int(graph.facts.objects[fact])):
            hops.setdefault(row, Hop(QUESTION, "fact", graph.ids[row], text, score))
    return hops


def _touched_passage(graph: Graph, seeds: Seeds, row: int) -> int:
    """Return the passage behind a generated text that the question touches most."""
    passages = graph.read_from[row]
    terminals = passages[np.isin(passages, seeds.terminals)]
    passages = terminals if len(terminals) else passages
    return int(passages[top_k(seeds.scores[passages], 1)[0]])


def _touch(graph: Graph, seeds: Seeds, row: int) -> Hop:
    """Return the direct hop to a row; of weight 0 where no short path leads there either."""
    return Hop(QUESTION, "touches", graph.ids[row], weight=float(seeds.scores[row]))


def _first_edge(graph: Graph, links: Links, slot: int) -> tuple[Edges, int]:
    """Return the first edge of a slot, as edges and its row there; no late ones are made for it."""
    lists = links.edges
    if isinstance(lists, LateLists):
        return lists.first_edge(graph.edges, slot)
    return graph.edges, int(lists[slot][0])


def _edge_between(links: Links, source: int, target: int) -> int:
    """Return the first edge between two rows, or -1."""
    near = links.neighbours(source)
    at = int(np.searchsorted(near, target))
    if at == len(near) or near[at] != target:
        return -1
    return int(links.edges[int(links.starts[source]) + at][0])


def _hop_over(graph: Graph, edges: Edges, edge: int, source: int, target: int) -> Hop:
    """Return the hop from one end of an edge to the other.

    Args:
        graph: The graph.
        edges: Its edges, or those of them that are made.
        edge: The row of the edge among these.
        source: The end that the hop starts from.
        target: The other end.
    """
    kind = edges.kinds[edge]
    return Hop(
        graph.ids[source],
        kind,
        graph.ids[target],
        _stated(graph, int(edges.facts[edge]), kind, source, target),
        float(edges.weights[edge]),
        int(edges.tails[edge]) == source,
    )


def _stated(graph: Graph, fact: int, kind: str, source: int, target: int) -> str:
    """Return the fact that an edge of a kind states, or what it is made of and hides by itself."""
    if fact >= 0:
        return graph.facts.texts[fact]
    if kind not in (SHARED, RELATED):
        return ""
    mentioned = graph.part(MentionedEntitiesPart())
    if kind == RELATED and (text := _relation(graph, mentioned[source], mentioned[target])):
        return text
    shared = set(mentioned[source].tolist()).intersection(mentioned[target].tolist())
    both = np.array(sorted(shared), np.int64)  # `np.intersect1d` imports masked arrays
    starts = graph.read_from.starts  # not the lengths of all, for every edge
    rarest = both[np.argsort(starts[both + 1] - starts[both], kind="stable")]
    names = [graph.texts[row] for row in rarest[:MAX_SHARED].tolist()]
    return ", ".join([*names, *(["…"] if len(both) > MAX_SHARED else [])])


def _relation(graph: Graph, of_source: Rows, of_target: Rows) -> str:
    """Return the first fact between what two passages name, or ""."""
    subjects, objects = graph.facts.subjects, graph.facts.objects
    along = np.isin(subjects, of_source) & np.isin(objects, of_target)
    back = np.isin(subjects, of_target) & np.isin(objects, of_source)
    found = np.flatnonzero(along | back)
    return graph.facts.texts[int(found[0])] if len(found) else ""
