"""Rows 6 to 8 and 22: odd vectors, odd graphs, giant hubs, and the precision of floats."""

from __future__ import annotations

import logging
import math
import random
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

import clew
from clew import Document, Index, Query, recipes
from clew.graph import Edges, Graph
from tests.conftest import hashed_words
from tests.reliability.rows.row import Finding, Row, first

NAN, INF = float("nan"), float("inf")
ODD = {
    "NaN": [NAN, 1, 0, 0], "infinite": [INF, 1, 0, 0], "minus infinite": [-INF, 1, 0, 0],
    "all NaN": [NAN] * 4, "zero": [0, 0, 0, 0], "too short": [1, 0], "too long": [1, 0, 0, 0, 0],
    "huge": [1e300, 1e300, 0, 1], "largest": [1.7e308] * 4, "tiny": [1e-320, 0, 0, 0],
    "integers": [10**15, 1, 2, 3], "texts": ["a", "b", "c", "d"], "None": None, "nothing": [],
    "booleans": [True, False, True, False], "nested": [[1, 0, 0, 0]], "complex": [1j, 0, 0, 0],
}  # fmt: skip
GOOD = ([1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4])
REFUSALS = (ValueError, TypeError)


def floats_of(context: clew.Context) -> Iterator[float]:
    """Yield every number that leaves with a context."""
    yield context.value or 0.0
    for item in context:
        yield item.score
        for hop in item.why:
            yield from (number for number in (hop.weight, hop.cost) if number is not None)
    for edge in context.edges:
        yield from (number for number in (edge.weight, edge.cost) if number is not None)


def odd_vectors(short: bool) -> Finding:
    """Give odd vectors and scores to every door that takes some."""
    chance, failures = random.Random(1), []
    cases = refused = numbers = 0
    documents = [Document(f"d{i}", f"Anna of text {i} knows Ben.") for i in range(6)]
    sound = Index.from_documents(documents[:5], embedder=_giving([*GOOD]))
    doors = {
        "an embedder": lambda odd, at, recipe: Index.from_documents(
            documents, embedder=_giving([*GOOD[:at], odd, *GOOD[at:]])
        ).ask("Anna", recipe=recipe),
        "a document's own vector": lambda odd, at, recipe: Index.from_documents(
            [*documents[:5], replace(documents[5], vector=odd)], embedder=_giving([*GOOD])
        ).ask("Anna", recipe=recipe),
        "a graph": lambda odd, at, recipe: Index.from_graph(
            Graph.of([d.text for d in documents], vectors=[*GOOD[:at], odd, *GOOD[at:]]),
            embedder=_giving([*GOOD]),
        ).ask("Anna", recipe=recipe),
        "a question": lambda odd, at, recipe: sound.ask("Anna", vector=odd, recipe=recipe),
        "narrow's question": lambda odd, at, recipe: clew.narrow(
            "Anna", documents[:5], vector=odd, embedder=_giving([*GOOD]), recipe=recipe
        ),
        "narrow's scores": lambda odd, at, recipe: clew.narrow(
            "Anna", [(d, odd[0] if odd else None) for d in documents[:5]], recipe=recipe
        ),
    }  # fmt: skip
    for _ in range(150 if short else 5000):
        name, door = chance.choice(list(ODD)), chance.choice(list(doors))
        at, recipe = chance.randrange(6), chance.choice(recipes.names())
        cases += 1
        try:
            context = doors[door](ODD[name], at, recipe)
        except REFUSALS as error:
            refused += 1
            if len(str(error).split()) < 4:
                failures.append(f"{name} at {door}: {error!r} says too little")
            continue
        except Exception as error:  # noqa: BLE001  # any other is what is looked for
            failures.append(f"{name} at {door}, {recipe}: {error!r}")
            continue
        found = list(floats_of(context))
        numbers += len(found)
        if not all(map(math.isfinite, found)):
            failures.append(f"{name} at {door}, {recipe}: a number that is not finite")
    return Finding(
        f"{len(ODD)} kinds of odd vectors and scores at {len(doors)} doors, {cases:,} cases",
        f"refused in words {refused:,}, answered {cases - refused:,} with {numbers:,} numbers, "
        f"not finite 0, other errors {len(failures)}",
        first(failures),
    )


def _giving(rows: list) -> clew.Embedder:
    """Return an embedder that gives these rows, in turn, and a plain one for questions."""
    return clew.Embedder(
        "odd", lambda texts: [rows[i % len(rows)] for i in range(len(texts))], lambda text: GOOD[2]
    )


Facts = dict[str, list[tuple[str, str, str]]]


def _degenerate() -> dict[str, tuple[list[Document], Facts, dict[str, object]]]:
    """Return odd corpora, with facts and options of the index."""

    def row(n: int, text: str = "Anna of text {i} knows Ben.", **how) -> list[Document]:
        return [Document(f"d{i}", text.format(i=i), **how) for i in range(n)]

    loop = {"d0": [("Anna", "knows", "Anna")], "d1": [("Ben", "is", "Ben")]}
    parallel = {f"d{i}": [("Anna", "knows", "Ben"), ("Anna", "loves", "Ben")] for i in range(3)}
    islands = {f"d{i}": [(f"A{i}", "knows", f"B{i}")] for i in range(4)}
    star = {f"d{i}": [("Hub", "has", f"Leaf {i}")] for i in range(9)}
    return {
        "nothing": ([], {}, {}),
        "one": (row(1), {}, {}),
        "two alike": (row(2, "the same"), {}, {}),
        "nine alike": (row(9, "the same text"), {}, {}),
        "no links": (row(5), {}, {"links": ()}),
        "self-loops": (row(3), loop, {}),
        "parallel edges": (row(3), parallel, {}),
        "islands": (row(4, "A{i} knows B{i}."), islands, {}),
        "a star": (row(9, "Hub has Leaf {i}."), star, {}),
        "facts alone in one": (row(4), {"d3": [("x", "y", "z")] * 9}, {}),
        "duplicate ids": ([Document("d", "one"), Document("d", "two")], {}, {}),
        "blank texts": ([Document("a", " "), Document("b", "\n"), Document("c", "sea")], {}, {}),
        "blank alone": ([Document("a", " ")], {}, {}),
        "signs alone": (row(3, "?!… {i}"), {}, {}),
        "one letter": (row(3, "a"), {}, {}),
        "headings alone": (row(3, "Title {i}", heading=True), {}, {}),
        "a chain": ([Document(f"d{i}", f"text {i}", previous=f"d{i - 1}") for i in range(9)], {}, {}),
        "a ring": ([Document(f"d{i}", f"text {i}", previous=f"d{(i - 1) % 5}") for i in range(5)], {}, {}),
        "deep": ([Document(f"d{i}", f"text {i}", parent=f"d{i - 1}" if i else None) for i in range(40)], {}, {}),
        "dangling": ([Document("a", "the sea", parent="x", previous="y", references=("z",))], {}, {}),
        "facts of no one": (row(2), {"elsewhere": [("a", "b", "c")]}, {}),
        "empty facts": (row(2), {"d0": [("", "", "")]}, {}),
    }  # fmt: skip


def degenerate(short: bool) -> Finding:
    """Ask odd corpora by every recipe, through the core and both adapters."""
    logging.disable(logging.WARNING)
    corpora, failures, cells, refusals = _degenerate(), [], 0, 0
    names = recipes.names()
    for number, (what, (documents, facts, options)) in enumerate(corpora.items()):
        for asked, make in (("clew", _core), ("LangChain", _langchain), ("LlamaIndex", _llama)):
            try:
                ask = make(documents, facts, options)
            except REFUSALS as error:
                refusals, cells = refusals + 1, cells + len(names)
                if len(str(error).split()) < 4:
                    failures.append(f"{what}, {asked}: {error!r} says too little")
                continue
            for recipe in names[number % 4 :: 4] if short else names:
                cells += 1
                try:
                    ask(recipe)
                except REFUSALS as error:
                    refusals += 1
                    if len(str(error).split()) < 4:
                        failures.append(f"{what}, {asked}, {recipe}: {error!r} says too little")
                except Exception as error:  # noqa: BLE001  # any other is what is looked for
                    failures.append(f"{what}, {asked}, {recipe}: {error!r}")
    return Finding(
        f"{len(corpora)} degenerate corpora x {len(names)} recipes x clew and both adapters, with "
        "more asked for than there is",
        f"{cells:,} cells, {refusals} refused in words, {len(failures)} other errors",
        first(failures),
    )


def _core(documents, facts, options):
    index = Index.from_documents(documents, embedder=hashed_words, facts=facts, **options)

    def ask(recipe):
        for limit, budget in ((None, None), (len(documents) + 5, 60), (1, 4000)):
            context = index.ask("Does Anna know Ben?", recipe=recipe, limit=limit, budget=budget)
            assert all(map(math.isfinite, floats_of(context)))

    return ask


def _langchain(documents, facts, options):
    from langchain_clew import ClewRetriever
    from langchain_core.documents import Document as Page

    pages = [Page(d.text, id=d.id, metadata=dict(d.metadata)) for d in documents]
    retriever = ClewRetriever.from_documents(pages, facts=facts, **options)
    return lambda recipe: retriever.invoke("Does Anna know Ben?", recipe=recipe, k=99)


def _llama(documents, facts, options):
    from llama_index.core.schema import TextNode
    from llama_index.retrievers.clew import ClewRetriever

    nodes = [TextNode(id_=d.id, text=d.text, metadata=dict(d.metadata)) for d in documents]
    retriever = ClewRetriever.from_nodes(nodes, facts=facts, **options)
    return lambda recipe: retriever.with_options(recipe=recipe, similarity_top_k=99).retrieve(
        "Does Anna know Ben?"
    )


HUB_RECIPES = ("dense", "hipporag", "agrag", "budgeted", "journey", "da_rag")


def hubs(short: bool) -> Finding:
    """Ask a star of a million passages, with its hub for a seed."""
    logging.disable(logging.WARNING)
    n = 20_000 if short else 1_000_000
    chance = np.random.default_rng(1)
    vectors = chance.normal(size=(n + 1, 8)).astype(np.float32)
    graph = Graph.of(
        ["Hub", *(f"Hub has leaf {i}." for i in range(n))],
        kinds=["entity", *["passage"] * n],
        vectors=vectors / np.linalg.norm(vectors, axis=1, keepdims=True),
        tokens=[1, *[6] * n],
        edges=Edges.of("mentions", np.arange(1, n + 1), np.zeros(n, np.int64)),
    )
    chosen = HUB_RECIPES[:4] if short else HUB_RECIPES
    times, failures, most = dict[str, float](), [], 0
    for name in chosen:
        answer = recipes.get(name).on(graph)
        for _ in range(3):
            vector = graph.vectors[0] + 0.1 * chance.normal(size=8)
            query = Query("Which leaf has the Hub?", np.float32(vector / np.linalg.norm(vector)))
            began = time.perf_counter()
            context = answer(query, 300)
            times[name] = 1000 * (time.perf_counter() - began)  # of the last: the first prepares
            most = max(most, len(context))
            if context.tokens > 300 or not len(context):
                failures.append(f"{name}: {len(context)} items of {context.tokens} tokens")
    slowest = max(times, key=lambda name: times[name])
    return Finding(
        f"a hub with {n:,} passages as a seed, by {', '.join(chosen)}, a budget of 300 tokens",
        f"at most {most} passages on a page, slowest question {times[slowest]:,.0f} ms "
        f"({slowest}), median recipe {sorted(times.values())[len(times) // 2]:,.0f} ms",
        first(failures),
    )


def precision(short: bool) -> Finding:
    """Compare rankings by float32 with those by float64."""
    chance = np.random.default_rng(2)
    n, questions, k = (500, 20, 10) if short else (5000, 300, 10)
    rows = chance.normal(size=(n, 64))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    graph = Graph.of([f"text {i}" for i in range(n)], vectors=rows)
    answer = recipes.get("dense").on(graph)
    overlap, largest = 0, 0.0
    for _ in range(questions):
        vector = rows[chance.integers(n)] + 0.3 * chance.normal(size=64)
        vector /= np.linalg.norm(vector)
        exact = rows @ vector
        best = set(np.argsort(-exact, kind="stable")[:k].tolist())
        context = answer(Query("?", np.float32(vector), limit=k), 10**9)
        overlap += len(best & {int(id) for id in context.ids})
        largest = max([largest, *(abs(item.score - exact[int(item.id)]) for item in context)])
    share = overlap / (k * questions)
    return Finding(
        f"the top {k} of {n:,} vectors for {questions} questions, float32 beside float64",
        f"top-{k} overlap {100 * share:.2f} %, largest error of a score {largest:.1e}",
        () if share > 0.999 and largest < 1e-5 else ("the rankings differ",),
        "GPU: clew computes on the processor alone, so there is no other result to compare; "
        "kernels of BLAS are compared in row 13",
    )


ROWS = (
    Row(6, "NaN, infinite, zero, misshapen vectors", odd_vectors, 25),
    Row(7, "degenerate graphs", degenerate, 25),
    Row(8, "giant hubs", hubs, 60),
    Row(22, "parity of floats and GPUs", precision, 10),
)
