"""DA-RAG's communities beside other parts of the same graph, on benchmark folders; and what its parts are worth.

    pip install networkx python-igraph
    python -m tests.benchmarks.da_rag FOLDER [FOLDER ...] --only quality layers levels sweep ablations splitting time

quality: QRScore, density, diameter and mean similarity of what each method takes of the chunks that relations join, measured on the
layer's own edges. Others take as many nodes as the community has ("nodes"), or as many as fit in its tokens ("tokens"): the nearest
(dense), the highest of HippoRAG 2's walk, the first of a breadth-first search from the nearest, and the nearest of the Louvain community
(networkx, seed 0) whose mean is highest. The question is whether another part is at least as dense and has a higher QRScore; "of the same
nodes" asks it again of others that choose among the nodes that the search was given, not among all of the layer.
layers: the same for entities that facts join and entities that are alike, whose searches are given what the chunks' community mentions,
with strict and with cascade peeling. Others win among what is alike mostly by the entity nearest to the question, which the chunks'
community seldom mentions: among the same nodes they hardly do.
levels: how often each level of the fallback chain answers, and the recall where it does. sweep: k of the similarity layer. ablations: the
paper's, and other settings. time: whole questions, render included, beside runs of igraph's PRPACK on the same graph.
splitting: the passages, shuffled and run together ten to a document, are cut by `clew.read.Splitter` without and with `semantic`, and
without again into passages as small; how many of their borders are found, and how much of the gold passages' text is in da_rag's contexts.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from time import process_time
from typing import Any

import numpy as np

import clew
from clew import recipes
from clew.algorithms.ranking import top_k
from clew.algorithms.traversal.reached import induced_links
from clew.graph import Graph, Links, MentionedEntitiesPart, freeze
from clew.index.index import Index
from clew.measure import Benchmark, compare, quality
from clew.measure.metrics import by_score, recall
from clew.methods.da_rag.layers import (
    ChunkLayer,
    KnowledgeLayer,
    Layer,
    SimilarityLayer,
)
from clew.methods.da_rag.method import DaRag
from clew.methods.da_rag.selection import ALIKE, CHUNKS, FACTS, Candidate
from clew.read import Splitter
from clew.types import Query, Seeds, Subgraph
from tests.benchmarks.rivals import build_installed, require

PARTS = ("quality", "layers", "levels", "sweep", "ablations", "splitting", "time")
BUDGET = 1024
TOGETHER = 10  # passages that are run together to a document
CUT = 160  # tokens of a passage that such a document is cut into
VARIANTS = {
    "da_rag": {},
    "da_rag, strict": {"cascade": False},
    "da_rag, strict, all chunks (paper)": {"cascade": False, "max_nearest": None},
}
MEANS = ("nodes", "score", "density", "diameter", "similarity")


def layers_of(graph: Graph) -> dict[str, Layer]:
    return {
        CHUNKS: graph.part(ChunkLayer()),
        FACTS: graph.part(KnowledgeLayer()),
        ALIKE: graph.part(SimilarityLayer()),
    }


def questions_of(benchmark: Benchmark, index: Index) -> list[Query]:
    return [
        Query(question.text, np.float32(index.embedder.embed_question(question.text)))
        for question in benchmark.questions
    ]


def taken(found: list[Candidate], layer: str) -> np.ndarray:
    """The nodes of the kept community of a layer that scores highest."""
    kept = [one for one in found if one.retained and one.layer == layer]
    return max(kept, key=lambda one: one.score).community.rows if kept else np.zeros(0, np.int32)


def louvain(rows: np.ndarray, links: Links) -> list[np.ndarray]:
    networkx = require("networkx")
    network = networkx.Graph()
    network.add_nodes_from(rows.tolist())
    network.add_edges_from(zip(links.sources.tolist(), links.targets.tolist(), strict=True))
    return [
        np.array(sorted(nodes)) for nodes in networkx.community.louvain_communities(network, seed=0)
    ]


def breadth_first(links: Links, start: int, like: np.ndarray) -> list[int]:
    order, seen, front = [start], {start}, [start]
    while front:
        front = sorted(
            {n for row in front for n in links.neighbours(row).tolist()} - seen,
            key=lambda row: (-round(like[row], 9), row),
        )
        seen.update(front)
        order += front
        if len(order) > 500:
            break
    return order


def rivals(
    graph: Graph, rows: np.ndarray, links: Links, query: Query, static: list[np.ndarray]
) -> Iterator[tuple[str, list[int]]]:
    """Other orders of some nodes, from the first to be taken to the last."""
    like = np.full(len(graph), -1.0)
    like[rows] = graph.vectors[rows] @ query.vector
    ranked = rows[top_k(like[rows], 500)].tolist()
    yield "dense", ranked
    hipporag: Any = recipes.get("hipporag")
    seeds = graph.part(_On(hipporag.seed))(query)
    walk = graph.part(_On(hipporag.spreads[0]))(query, seeds, seeds.scores)
    yield "hipporag", rows[top_k(walk[rows], 500)].tolist()
    yield "breadth first", breadth_first(links, ranked[0], like)
    nearest = max(static, key=lambda nodes: like[nodes].mean(), default=rows)
    yield "louvain", nearest[np.argsort(-like[nearest], kind="stable")].tolist()


def given_to(
    stage: Any, graph: Graph, level: str, query: Query, found: list[Candidate]
) -> np.ndarray:
    """The nodes that the search of a layer was given."""
    if level == CHUNKS:
        rows = layers_of(graph)[level].rows
        return np.sort(rows[top_k(graph.vectors[rows] @ query.vector, stage.max_nearest)])
    inside = [one.community.rows for one in found if one.layer == CHUNKS]
    return (
        np.unique(
            graph.part(MentionedEntitiesPart()).take(np.unique(np.concatenate(inside))).values
        )
        if inside
        else np.zeros(0, np.int32)
    )


def among(links: Links, rows: np.ndarray) -> Links:
    """The links among some rows, numbered as before."""
    inner, _ = induced_links(links, rows)
    lengths = np.zeros(len(links), np.int64)
    lengths[rows] = np.diff(inner.starts)
    return Links(
        np.concatenate([[0], np.cumsum(lengths)]), rows[inner.targets], inner.weights, inner.edges
    )


class _On:
    """A stage, bound once per graph."""

    def __init__(self, stage: Any) -> None:
        self.stage = stage

    def __hash__(self) -> int:
        return hash(self.stage)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _On) and other.stage == self.stage

    def compute(self, graph: Graph) -> Any:
        return self.stage.on(graph)


class _Louvain(_On):
    def compute(self, graph: Graph) -> Any:
        layer = layers_of(graph)[self.stage]
        return louvain(layer.rows, layer.links)


def first_in(graph: Graph, order: list[int], tokens: int) -> list[int]:
    """The first of an order that fit."""
    chosen = []
    for row in order:
        if graph.tokens[row] <= tokens:
            chosen.append(row)
            tokens -= int(graph.tokens[row])
    return chosen


def qualities(
    benchmark: Benchmark, index: Index, own_name: str, levels: tuple[str, ...]
) -> Iterator[str]:
    graph, queries = index.graph, questions_of(benchmark, index)
    everything = Subgraph(freeze(np.arange(len(graph)), np.int32))
    dense: Callable[[Query], Seeds] = recipes.get("dense").seed.on(graph)  # type: ignore[attr-defined]
    columns = "| layer | equal | method | nodes | tokens | QRScore | density | diameter | similarity | denser and nearer | of the same nodes |"
    yield f"{columns}\n|:--|:--|:--|" + "--:|" * 8
    for level, layer in (
        (level, layer) for level, layer in layers_of(graph).items() if level in levels
    ):
        static = [nodes for nodes in graph.part(_Louvain(level)) if len(nodes) > 2]
        for equal in ("nodes", "tokens") if level == CHUNKS else ("nodes",):
            figures, beaten, inside = (
                defaultdict[str, list[Any]](list),
                Counter[str](),
                Counter[str](),
            )
            for query in queries:
                parts: dict[str, Any] = {}
                for name, changed in VARIANTS.items():
                    stage = replace(recipes.get("da_rag").communities, **changed)
                    found = graph.part(_Finder(stage))(query, dense(query), everything)
                    parts[name] = taken(stage.pack(graph, found, BUDGET), level)
                    if name == own_name:
                        own, given = parts[name], given_to(stage, graph, level, query, found)
                room = int(graph.tokens[own].sum())

                def as_many(order: list[int]) -> np.ndarray:
                    chosen = order[: len(own)] if equal == "nodes" else first_in(graph, order, room)  # noqa: B023
                    return np.array(chosen, np.int32)

                for name, order in rivals(graph, layer.rows, layer.links, query, static):
                    parts[name] = as_many(order)
                if not len(own):
                    continue
                ours = quality(graph, own, query.vector, layer.links)

                def better(part: np.ndarray) -> bool:
                    its = quality(graph, part, query.vector, layer.links)  # noqa: B023
                    return its.density >= ours.density - 1e-9 and its.score > ours.score + 1e-6  # noqa: B023

                links = among(layer.links, given)
                pieces = [nodes for nodes in louvain(given, links) if len(nodes) > 2]
                for name, order in rivals(graph, given, links, query, pieces):
                    inside[name] += better(as_many(order))
                for name, part in parts.items():
                    if len(part):
                        figures[name].append(
                            (
                                quality(graph, part, query.vector, layer.links),
                                int(graph.tokens[part].sum()),
                            )
                        )
                        beaten[name] += better(part)
            for name, measured in figures.items():
                means = [
                    float(np.mean([getattr(one, what) for one, _ in measured])) for what in MEANS
                ]
                tokens, n = float(np.mean([t for _, t in measured])), len(figures[own_name])
                shares = (
                    "|"
                    if name == own_name
                    else f"{beaten[name] / n:.0%} | {f'{inside[name] / n:.0%}' if name in inside else ''}"
                )
                yield (
                    f"| {level} | {equal} | {name} | {means[0]:.1f} | {tokens:.0f} | {means[1]:.3f} | {means[2]:.3f} | {means[3]:.2f} | "
                    f"{means[4]:.3f} | {shares} |"
                )


class _Finder(_On):
    def compute(self, graph: Graph) -> Any:
        return self.stage.finder(graph)


def entity_layers(benchmark: Benchmark, index: Index) -> Iterator[str]:
    for own_name in ("da_rag", "da_rag, strict"):
        yield f"\nOthers in the size of {own_name}:\n"
        yield from qualities(benchmark, index, own_name, (FACTS, ALIKE))


def levels(benchmark: Benchmark, index: Index) -> Iterator[str]:
    """How often each level answers, and the recall at a budget where it does, beside dense retrieval's on the same questions."""
    counts: dict[str, dict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    for question in benchmark.questions:
        contexts = [
            index.ask(question.text, recipe=recipe, budget=BUDGET) for recipe in ("da_rag", "dense")
        ]
        both = tuple(recall(by_score(context), question.gold) for context in contexts)
        said = next(step.notes["levels"] for step in contexts[0].trace if "levels" in step.notes)
        for layer, level in said.items():
            counts[layer][level].append((both[0], both[1]))
    yield f"| layer | level | questions | R@{BUDGET} tokens | dense, same questions |\n|:--|:--|--:|--:|--:|"
    for layer, found in counts.items():
        for level, pairs in found.items():
            ours, dense = np.mean(pairs, axis=0)
            yield f"| {layer} | {level} | {len(pairs)} | {ours:.3f} | {dense:.3f} |"


def compared(
    benchmark: Benchmark, index: Index, methods: dict[str, Any], budgets: tuple[int, ...]
) -> str:
    return compare(
        replace(benchmark, reference_tokens={}), methods, (), budgets, index=index, samples=2000
    ).to_markdown()


def sweep(benchmark: Benchmark, index: Index) -> Iterator[str]:
    methods = {f"k_neighbor {k}": with_changed(k_neighbor=k) for k in range(3, 10)}
    yield compared(benchmark, index, methods, (512, BUDGET))


def with_changed(**changed: Any) -> DaRag:
    return replace(
        recipes.get("da_rag"), communities=replace(recipes.get("da_rag").communities, **changed)
    )


def ablations(benchmark: Benchmark, index: Index) -> Iterator[str]:
    methods = {
        "da_rag": recipes.get("da_rag"),
        "w/o ACS (one hop)": with_changed(acs=False),
        "w/o chunk layer": with_changed(chunk_layer=False),
        "w/o similarity layer": with_changed(similarity_layer=False),
        "strict": with_changed(cascade=False),
        "strict, all chunks (paper)": with_changed(cascade=False, max_nearest=None),
        "chunks of the community first": with_changed(community_boost=None),
        "facts in all of the reports' room": with_changed(fact_share=1.0),
        "without facts": with_changed(fact_share=0.0),
        "hipporag": "hipporag",
    }
    yield compared(benchmark, index, methods, (512, BUDGET, 2048))


def times(benchmark: Benchmark, index: Index, repeats: int) -> Iterator[str]:
    graph = index.graph
    links = graph.links()
    ends = [
        (a, b) for a, b in zip(links.sources.tolist(), links.targets.tolist(), strict=True) if a < b
    ]
    reset = np.zeros(len(graph))
    reset[:10] = 1

    def prpack() -> Callable[[], Any]:
        network = require("igraph").Graph(n=len(graph), edges=ends)
        return lambda: network.personalized_pagerank(damping=0.5, reset=reset.tolist())

    walks = build_installed({"igraph PRPACK, once": prpack})
    answers = {name: recipes.get(name).on(graph) for name in ("da_rag", "dense", "hipporag")}
    taken_by = defaultdict[str, list[float]](list)
    for turn, query in enumerate(questions_of(benchmark, index)[: repeats + 1]):
        runs: dict[str, Callable[[], Any]] = {
            **walks,
            **{name: partial(answer, query, BUDGET) for name, answer in answers.items()},
        }
        for name, run in runs.items():
            began = process_time()
            run()
            if turn:
                taken_by[name].append(process_time() - began)
    one = float(np.median(taken_by["igraph PRPACK, once"])) if walks else float("nan")
    yield f"{len(graph)} nodes, {len(ends)} edges; processor time of a question at {BUDGET} tokens\n"
    yield "| | ms | of one PRPACK |\n|:--|--:|--:|"
    for name, found in taken_by.items():
        yield f"| {name} | {np.median(found) * 1e3:.2f} | {np.median(found) / one:.2f} |"


def splittings(benchmark: Benchmark, embedder: Any) -> Iterator[str]:
    """Documents of ten passages each, in random order; `borders`: places in the text where passages really meet."""
    order = np.random.default_rng(0).permutation(len(benchmark.documents)).tolist()
    documents, facts, where, borders = (
        list[clew.Document](),
        dict[str, list[Any]](),
        dict[str, tuple[str, int, int]](),
        dict[str, set[int]](),
    )
    for at in range(0, len(order), TOGETHER):
        id, text = f"document {at // TOGETHER}", ""
        borders[id], facts[id] = set(), []
        for row in order[at : at + TOGETHER]:
            one = benchmark.documents[row]
            start = len(text) + bool(text)
            text = f"{text} {' '.join(one.text.split())}".strip()
            where[one.id] = id, start, len(text)
            facts[id] += benchmark.facts.get(one.id, ())
            borders[id].add(start)
        borders[id].discard(0)
        documents.append(clew.Document(id, text))
    asked = replace(
        benchmark,
        documents=tuple(documents),
        embedder=embedder,
        reference_tokens={},
        facts={id: tuple(said) for id, said in facts.items()},
        questions=tuple(
            replace(q, gold=tuple(dict.fromkeys(where[id][0] for id in q.gold)))
            for q in benchmark.questions
        ),
    )
    places = {q.id: [where[id] for id in q.gold] for q in benchmark.questions}

    def covered(context: Any, question: Any) -> float:
        """The mean share of a gold passage's text that is in the context."""
        spans = [(item.document, *item.span) for item in context if item.document is not None]
        shares = [
            sum(max(0, min(end, b) - max(start, a)) for of, a, b in spans if of == id)
            / (end - start)
            for id, start, end in places[question.id]
        ]
        return float(np.mean(shares))

    yield "| splitter | passages | tokens | borders found | of the cuts | F1 |\n|:--|--:|--:|--:|--:|--:|"
    tables = list[str]()
    sizes, most = dict[str, float](), CUT
    for name in ("plain", "semantic", "plain, as small"):
        if name == "plain, as small":  # that passages are shorter is not what is asked
            most = round(CUT * sizes["semantic"] / sizes["plain"])
        splitter = Splitter(
            most, semantic=name == "semantic" and (True if embedder is None else embedder)
        )
        index = Index.from_documents(
            documents, embedder=embedder, facts=asked.facts, splitter=splitter
        )
        graph, cut, hit = index.graph, 0, 0
        for row in graph.rows("passage").tolist():
            start = int(graph.spans[row, 0])
            cut, hit = (
                cut + (start > 0),
                hit + (start in borders[graph.ids[int(graph.documents[row])]]),
            )
        real = sum(map(len, borders.values()))
        tokens = graph.tokens[graph.rows("passage")]
        sizes[name], f1 = float(tokens.mean()), 2 * hit / max(1, cut + real)
        yield f"| {name} | {len(tokens)} | {tokens.mean():.0f} | {hit / real:.2f} | {hit / max(1, cut):.2f} | {f1:.2f} |"
        found = compare(
            asked,
            ["da_rag", "dense"],
            (),
            (256, 512, BUDGET, 2048),
            samples=2000,
            index=index,
            figures={"gold text": covered},
        )
        tables.append(f"\nCut by the splitter, {name}:\n\n{found.tables[-1].to_markdown()}")
    yield from tables


SMOKE = "{folder} --repeats 2"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", help="as `clew measure` reads them")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--repeats", type=int, default=99, help="questions that are timed")
    parser.add_argument(
        "--strict",
        action="store_true",
        help="of quality: compare others with the communities of strict peeling, in their size",
    )
    parser.add_argument(
        "--embedder",
        help="of splitting: a folder or name for sentence-transformers; without it the embedded default",
    )
    chosen = parser.parse_args()
    for folder in chosen.folders:
        benchmark = Benchmark.open(folder)
        index = benchmark.index()
        own = "da_rag, strict" if chosen.strict else "da_rag"
        made: dict[str, Callable[[], Iterator[str]]] = {
            "quality": lambda: qualities(benchmark, index, own, (CHUNKS,)),  # noqa: B023
            "layers": lambda: entity_layers(benchmark, index),  # noqa: B023
            "levels": lambda: levels(benchmark, index),  # noqa: B023
            "sweep": lambda: sweep(benchmark, index),  # noqa: B023
            "ablations": lambda: ablations(benchmark, index),  # noqa: B023
            "splitting": lambda: splittings(benchmark, chosen.embedder),  # noqa: B023
            "time": lambda: times(benchmark, index, chosen.repeats),  # noqa: B023
        }
        for part in chosen.only:
            print(f"\n## {part}, {benchmark.name}\n")
            for line in made[part]():
                print(line, flush=True)


if __name__ == "__main__":
    main()
