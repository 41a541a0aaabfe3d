"""DA-RAG's communities beside other parts of the same graph, on a benchmark folder; and what its parts are worth.

    pip install networkx python-igraph
    python tests/benchmarks/da_rag.py FOLDER --parts quality levels sweep ablations time

quality: QRScore, density, diameter and mean similarity of what each method takes of a layer, all measured on the layer's own edges: chunks
that relations join, entities that facts join, entities that are alike. Others take as many nodes as the community has ("nodes"), or of
chunks as many as fit in its tokens ("tokens"): the nearest (dense), the highest of HippoRAG 2's walk, the first of a breadth-first search
from the nearest, and the nearest of the Louvain community (networkx, seed 0) whose mean is highest. The question is whether another part
is at least as dense and has a higher QRScore.
levels: how often each level of the fallback chain answers, and the recall where it does. sweep: k of the similarity layer. ablations: the
paper's, and other settings. time: whole questions, render included, beside runs of igraph's PRPACK on the same graph.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from time import process_time
from typing import Any

import numpy as np
from steiner import wanted

from clew import recipes
from clew.algorithms.layers import ChunkLayer, KnowledgeLayer, Layer, SimilarityLayer
from clew.algorithms.rank import best
from clew.graph import Graph, Links, Query, Seeds, Subgraph, frozen
from clew.index import Index
from clew.measure import Benchmark, compare, quality
from clew.measure.metrics import by_score, recall
from clew.methods.da_rag import DaRag
from clew.select.communities import ALIKE, CHUNKS, FACTS, Candidate

PARTS = ("quality", "levels", "sweep", "ablations", "time")
BUDGET = 1024
VARIANTS = {
    "da_rag": {},
    "da_rag, strict": {"cascade": False},
    "da_rag, strict, all chunks (paper)": {"cascade": False, "near": None},
}


def layers_of(graph: Graph) -> dict[str, Layer]:
    return {CHUNKS: graph.part(ChunkLayer()), FACTS: graph.part(KnowledgeLayer()), ALIKE: graph.part(SimilarityLayer())}


def questions_of(benchmark: Benchmark, index: Index) -> list[Query]:
    return [Query(question.text, np.float32(index.embedder.question(question.text))) for question in benchmark.questions]


def taken(found: list[Candidate], layer: str) -> np.ndarray:
    """The nodes of the kept community of a layer that scores highest."""
    kept = [one for one in found if one.kept and one.layer == layer]
    return max(kept, key=lambda one: one.score).community.rows if kept else np.zeros(0, np.int32)


def louvain(rows: np.ndarray, links: Links) -> list[np.ndarray]:
    networkx = wanted("networkx")
    network = networkx.Graph()
    network.add_nodes_from(rows.tolist())
    network.add_edges_from(zip(links.sources.tolist(), links.targets.tolist(), strict=True))
    return [np.array(sorted(nodes)) for nodes in networkx.community.louvain_communities(network, seed=0)]


def breadth_first(links: Links, start: int, like: np.ndarray) -> list[int]:
    order, seen, front = [start], {start}, [start]
    while front:
        front = sorted({n for row in front for n in links.neighbours(row).tolist()} - seen, key=lambda row: (-round(like[row], 9), row))
        seen.update(front)
        order += front
        if len(order) > 500:
            break
    return order


def rivals(index: Index, level: str, rows: np.ndarray, links: Links, query: Query) -> Iterator[tuple[str, list[int]]]:
    """Other orders of the same nodes, from the first to be taken to the last."""
    graph, like = index.graph, np.full(len(index.graph), -1.0)
    like[rows] = graph.vectors[rows] @ query.vector
    ranked = rows[best(like[rows], 500)].tolist()
    yield "dense", ranked
    hipporag: Any = recipes.get("hipporag")
    seeds = graph.part(_On(hipporag.seed))(query)
    walk = graph.part(_On(hipporag.spreads[0]))(query, seeds, seeds.weights)
    yield "hipporag", rows[best(walk[rows], 500)].tolist()
    yield "breadth first", breadth_first(links, ranked[0], like)
    static = [nodes for nodes in graph.part(_Louvain(level)) if len(nodes) > 2]
    nearest = max(static, key=lambda nodes: like[nodes].mean())
    yield "louvain", nearest[np.argsort(-like[nearest], kind="stable")].tolist()


class _On:
    """A stage, bound once per graph."""

    def __init__(self, stage: Any) -> None:
        self.stage = stage

    def __hash__(self) -> int:
        return hash(self.stage)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _On) and other.stage == self.stage

    def of(self, graph: Graph) -> Any:
        return self.stage.on(graph)


class _Louvain(_On):
    def of(self, graph: Graph) -> Any:
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


def qualities(benchmark: Benchmark, index: Index, own_name: str, layers: list[str]) -> Iterator[str]:
    graph, queries = index.graph, questions_of(benchmark, index)
    everything = Subgraph(frozen(np.arange(len(graph)), np.int32))
    dense: Callable[[Query], Seeds] = recipes.get("dense").seed.on(graph)  # type: ignore[attr-defined]
    yield (
        "| layer | equal | method | nodes | tokens | QRScore | density | diameter | similarity | denser and nearer |\n|:--|:--|:--|"
        + "--:|" * 7
    )
    for level, layer in ((level, layer) for level, layer in layers_of(graph).items() if level in layers):
        rows, links = layer.rows, layer.links
        for equal in ("nodes", "tokens") if level == CHUNKS else ("nodes",):
            figures, beaten = defaultdict[str, list[Any]](list), Counter[str]()
            for query in queries:
                parts: dict[str, Any] = {}
                for name, changed in VARIANTS.items():
                    stage = replace(recipes.DA_RAG.communities, **changed)
                    find = graph.part(_Finder(stage))
                    parts[name] = taken(stage.packed(graph, find(query, dense(query), everything), BUDGET), level)
                own = parts[own_name]
                room = int(graph.tokens[own].sum())
                for name, order in rivals(index, level, rows, links, query):
                    parts[name] = np.array(order[: len(own)] if equal == "nodes" else first_in(graph, order, room), np.int32)
                measured = {name: quality(graph, part, query.vector, links) for name, part in parts.items() if len(part)}
                for name, found in measured.items() if own_name in measured else ():
                    figures[name].append((found, int(graph.tokens[parts[name]].sum())))
                    ours = measured[own_name]
                    beaten[name] += found.density >= ours.density - 1e-9 and found.score > ours.score + 1e-6
            for name, found in figures.items():
                means = [
                    np.mean([getattr(one, what) for one, _ in found]) for what in ("nodes", "score", "density", "diameter", "similarity")
                ]
                tokens, share = np.mean([t for _, t in found]), beaten[name] / len(found)
                yield (
                    f"| {level} | {equal} | {name} | {means[0]:.1f} | {tokens:.0f} | {means[1]:.3f} | {means[2]:.3f} | {means[3]:.2f} | "
                    f"{means[4]:.3f} | {'' if name == own_name else f'{share:.0%}'} |"
                )


class _Finder(_On):
    def of(self, graph: Graph) -> Any:
        return self.stage.finder(graph)


def levels(benchmark: Benchmark, index: Index) -> Iterator[str]:
    """How often each level answers, and the recall at a budget where it does, beside dense retrieval's on the same questions."""
    counts: dict[str, dict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    for question in benchmark.questions:
        contexts = [index.ask(question.text, recipe=recipe, budget=BUDGET) for recipe in ("da_rag", "dense")]
        both = tuple(recall(by_score(context), question.gold) for context in contexts)
        said = next(step.notes["levels"] for step in contexts[0].trace if "levels" in step.notes)
        for layer, level in said.items():
            counts[layer][level].append((both[0], both[1]))
    yield f"| layer | level | questions | R@{BUDGET} tokens | dense, same questions |\n|:--|:--|--:|--:|--:|"
    for layer, found in counts.items():
        for level, pairs in found.items():
            ours, dense = np.mean(pairs, axis=0)
            yield f"| {layer} | {level} | {len(pairs)} | {ours:.3f} | {dense:.3f} |"


def compared(benchmark: Benchmark, index: Index, methods: dict[str, Any], budgets: tuple[int, ...]) -> str:
    return compare(benchmark, methods, (), budgets, index=index, samples=2000).to_markdown()


def sweep(benchmark: Benchmark, index: Index) -> Iterator[str]:
    methods = {f"k_neighbor {k}": with_changed(k_neighbor=k) for k in range(3, 10)}
    yield compared(benchmark, index, methods, (512, BUDGET))


def with_changed(**changed: Any) -> DaRag:
    return replace(recipes.DA_RAG, communities=replace(recipes.DA_RAG.communities, **changed))


def ablations(benchmark: Benchmark, index: Index) -> Iterator[str]:
    methods = {
        "da_rag": recipes.DA_RAG,
        "w/o ACS (one hop)": with_changed(acs=False),
        "w/o chunk layer": with_changed(chunk_layer=False),
        "w/o similarity layer": with_changed(similarity_layer=False),
        "strict": with_changed(cascade=False),
        "strict, all chunks (paper)": with_changed(cascade=False, near=None),
        "chunks of the community first": with_changed(lead=None),
        "facts in all of the reports' room": with_changed(fact_share=1.0),
        "without facts": with_changed(fact_share=0.0),
        "hipporag": "hipporag",
    }
    yield compared(benchmark, index, methods, (512, BUDGET, 2048))


def times(benchmark: Benchmark, index: Index, repeats: int) -> Iterator[str]:
    igraph, graph = wanted("igraph"), index.graph
    links = graph.links()
    ends = [(a, b) for a, b in zip(links.sources.tolist(), links.targets.tolist(), strict=True) if a < b]
    network, reset = igraph.Graph(n=len(graph), edges=ends), np.zeros(len(graph))
    reset[:10] = 1
    answers = {name: recipes.get(name).on(graph) for name in ("da_rag", "dense", "hipporag")}
    taken_by = defaultdict[str, list[float]](list)
    for turn, query in enumerate(questions_of(benchmark, index)[: repeats + 1]):
        runs: dict[str, Callable[[], Any]] = {
            "igraph PRPACK, once": lambda: network.personalized_pagerank(damping=0.5, reset=reset.tolist()),
            **{name: (lambda answer=answer: answer(query, BUDGET)) for name, answer in answers.items()},  # noqa: B023
        }
        for name, run in runs.items():
            began = process_time()
            run()
            if turn:
                taken_by[name].append(process_time() - began)
    one = float(np.median(taken_by["igraph PRPACK, once"]))
    yield f"{len(graph)} nodes, {len(ends)} edges; processor time of a question at {BUDGET} tokens\n"
    yield "| | ms | of one PRPACK |\n|:--|--:|--:|"
    for name, found in taken_by.items():
        yield f"| {name} | {np.median(found) * 1e3:.2f} | {np.median(found) / one:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="as `clew measure` reads it")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--repeats", type=int, default=50, help="questions that are timed")
    parser.add_argument("--layers", nargs="+", choices=(CHUNKS, FACTS, ALIKE), default=[CHUNKS, FACTS, ALIKE], help="of quality")
    parser.add_argument("--strict", action="store_true", help="compare others with the communities of strict peeling, in their size")
    chosen = parser.parse_args()
    benchmark = Benchmark.open(chosen.folder)
    index = benchmark.index()
    made = {
        "quality": lambda: qualities(benchmark, index, "da_rag, strict" if chosen.strict else "da_rag", chosen.layers),
        "levels": lambda: levels(benchmark, index),
        "sweep": lambda: sweep(benchmark, index),
        "ablations": lambda: ablations(benchmark, index),
        "time": lambda: times(benchmark, index, chosen.repeats),
    }
    for part in chosen.parts:
        print(f"\n## {part}\n")
        for line in made[part]():
            print(line, flush=True)


if __name__ == "__main__":
    main()
