"""Row 9: no page is larger than its budget, by any counter, as clew and as both frameworks print it."""

from __future__ import annotations

import logging
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

import clew
from clew import Document, Index, Pipeline, Render, recipes
from clew.render import STYLES
from tests.conftest import hashed_words
from tests.reliability.rows.row import Finding, Row, first

WORDS = ("Anna", "Ben", "Rome", "river", "東京", "首都", "🙂", "👍🏽", "x", "…", "नमस्ते", ".", "Corfu",
         "a-very-long-word-without-an-end", "zero\u200bwidth", "e\u0301", "\t", "ﷺ", "<|endoftext|>",
         "ａｂｃ", "[2]", "# T", "- a", "  ", "0x7f", "thisIsCamelCase", "https://a.example/b?c=d#e")  # fmt: skip
NAMES = ("Anna", "Ben", "Rome", "東京", "Corfu")
QUESTION = "Does Anna of Rome know 東京?"
QUICK = (
    "dense", "bm25", "fused", "mmr", "baseline", "lightweight", "global", "hipporag",
    "hipporag2_paper",
)  # fmt: skip


def bpe_counters() -> dict[str, object]:
    """Return two real byte-pair encodings, of the tables that llama-index-core ships with.

    Nothing is fetched.
    """
    import llama_index.core
    import tiktoken

    tables = Path(llama_index.core.__file__).parent / "_static" / "tiktoken_cache"
    os.environ["TIKTOKEN_CACHE_DIR"] = str(tables)
    return {name: tiktoken.get_encoding(name) for name in ("cl100k_base", "o200k_base")}


def counters() -> dict[str, object]:
    """Return the token counters, by name."""
    encodings = {
        name: lambda text, encoding=encoding: len(encoding.encode(text, disallowed_special=()))
        for name, encoding in bpe_counters().items()
    }
    return {
        "clew's estimate": None,
        "characters": len,
        "words": lambda text: len(text.split()),
        "bytes": lambda text: len(text.encode()),
        "distinct characters": lambda text: len(set(text)),
        **encodings,
    }


@dataclass
class Cases:
    """The cases so far.

    Attributes:
        total: How many.
        refused: How many budgets held nothing, and were refused in words.
        shares: The used shares of budgets, summed, of those that were not refused.
        failures: What is wrong.
        of: The cases by who printed.
    """

    total: int = 0
    refused: int = 0
    shares: float = 0.0
    failures: list[str] = field(default_factory=list)
    of: dict[str, int] = field(default_factory=dict)

    def take(self, what: str, budget: int, ask: Callable[[], int]) -> None:
        """Ask once; `ask` returns the tokens of the printed page."""
        self.total += 1
        self.of[what] = self.of.get(what, 0) + 1
        try:
            tokens = ask()
        except clew.BudgetError:
            self.refused += 1
            return
        self.shares += tokens / budget
        if tokens > budget:
            self.failures.append(f"{what}: {tokens} tokens in a budget of {budget}")


def corpus(chance: random.Random) -> tuple[list[Document], dict[str, list[tuple[str, str, str]]]]:
    """Return a few documents of difficult words, some of them long, and facts."""
    documents = []
    for i in range(chance.randrange(1, 9)):
        length = chance.choice((1, 4, 12, 40, 200 if chance.random() < 0.1 else 20))
        text = chance.choice((" ", " ", "")).join(chance.choices(WORDS, k=length))
        metadata = {"title": " ".join(chance.choices(WORDS, k=2))} if chance.random() < 0.5 else {}
        parent = "book" if i and chance.random() < 0.3 else None
        documents.append(Document(f"d{i}", text if text.strip() else "x", metadata, parent=parent))
    if any(document.parent for document in documents):
        documents.append(Document("book", "The book of Anna", heading=True))
    facts = {
        f"d{i}": [(chance.choice(NAMES), "knows", chance.choice(NAMES))]
        for i in range(len(documents))
        if chance.random() < 0.4 and f"d{i}" in {document.id for document in documents}
    }
    return documents, facts


def drawn_recipe(chance: random.Random) -> str:
    """Return the name of a recipe; one that is not quick comes in one draw of four alone."""
    name = chance.choice(recipes.names())
    return name if name in QUICK or chance.random() < 0.25 else chance.choice(QUICK)


@dataclass(frozen=True)
class Found:
    """The part that remembers what a stage found for the one question of a graph."""

    stage: object

    def compute(self, graph):
        return {}


@dataclass(frozen=True)
class Once:
    """A seed or spread that works once for the one question; only selecting depends on budgets."""

    stage: object

    def on(self, graph):
        bound, found = self.stage.on(graph), graph.part(Found(self.stage))

        def work(query, *before):
            key = (query.limit, *(one.tobytes() for one in before if isinstance(one, np.ndarray)))
            if key not in found:
                found[key] = bound(query, *before)
            return found[key]

        return work


def ask_core(cases: Cases, index: Index, chance: random.Random, times: int) -> None:
    """Ask an index with drawn recipes, styles, budgets and limits."""
    count = index.graph.count
    for _ in range(times):
        name, budget = drawn_recipe(chance), chance.choice((chance.randrange(1, 30), chance.randrange(30, 400)))  # fmt: skip
        method = recipes.get(name)
        if isinstance(method, Pipeline):
            method = replace(
                method,
                seed=Once(method.seed),
                spreads=tuple(map(Once, method.spreads)),
                render=Render(chance.choice(STYLES), chance.random() < 0.8),
            )
        limit = chance.choice((None, None, None, 1, 3))

        def ask(method=method, budget=budget, limit=limit) -> int:
            # Nothing is too irrelevant here: an empty page would be a weak test.
            context = index.ask(
                QUESTION, recipe=method, budget=budget, limit=limit, min_relevance=0
            )
            assert count(context.text) == context.tokens, "its tokens are miscounted"
            return context.tokens

        cases.take(f"clew, {name}", budget, ask)


def langchain_pages(documents: list[Document], facts, count) -> Callable[[str, int], str]:
    """Return what LangChain's own chain shows a model: (recipe, budget) -> page."""
    from langchain_classic.chains.combine_documents import create_stuff_documents_chain
    from langchain_clew import ClewRetriever
    from langchain_core.documents import Document as Page
    from langchain_core.prompts import PromptTemplate
    from langchain_core.runnables import RunnableLambda

    seen: list[str] = []
    model = RunnableLambda(lambda prompt: seen.append(prompt.to_string()) or "")
    chain = create_stuff_documents_chain(model, PromptTemplate.from_template("{context}"))
    pages = [Page(d.text, id=d.id, metadata=dict(d.metadata)) for d in documents if not d.heading]
    retriever = ClewRetriever.from_documents(pages, facts=facts, count=count)

    def page(recipe: str, budget: int) -> str:
        chain.invoke({"context": retriever.invoke(QUESTION, recipe=recipe, budget=budget)})
        return seen.pop()

    return page


def llama_index_pages(documents: list[Document], facts, count) -> Callable[[str, int], str]:
    """Return what LlamaIndex's own query engine shows a model: (recipe, budget) -> page."""
    from llama_index.core import PromptTemplate
    from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
    from llama_index.core.query_engine import RetrieverQueryEngine
    from llama_index.core.schema import TextNode
    from llama_index.retrievers.clew import ClewRetriever

    seen: list[str] = []

    class Listens(CustomLLM):
        @property
        def metadata(self):
            return LLMMetadata(context_window=100_000)

        def complete(self, prompt, formatted=False, **how):
            seen.append(prompt)
            return CompletionResponse(text="")

        def stream_complete(self, prompt, formatted=False, **how):
            raise NotImplementedError

    nodes = [
        TextNode(id_=d.id, text=d.text, metadata=dict(d.metadata))
        for d in documents
        if not d.heading
    ]
    retriever, model = ClewRetriever.from_nodes(nodes, facts=facts, count=count), Listens()

    def page(recipe: str, budget: int) -> str:
        engine = RetrieverQueryEngine.from_args(
            retriever.with_options(recipe=recipe, budget=budget),
            llm=model,
            text_qa_template=PromptTemplate("{context_str}"),
        )
        engine.query(QUESTION)
        return seen.pop() if seen else ""

    return page


def ask_framework(
    cases: Cases,
    name: str,
    pages: Callable[[str, int], str],
    count: Callable[[str], int],
    chance: random.Random,
    times: int,
) -> None:
    """Ask a framework's chain with drawn recipes and budgets."""
    for _ in range(times):
        recipe, budget = drawn_recipe(chance), chance.randrange(3, 300)
        cases.take(f"{name}, {recipe}", budget, lambda r=recipe, b=budget: count(pages(r, b)))


def corpora(short: bool, chance: random.Random) -> Iterator[tuple[str, object]]:
    """Yield counters, over and over, until there are enough cases."""
    named = list(counters().items())
    for number in range(len(named) if short else 200):
        yield named[number % len(named)]


def budgets(short: bool) -> Finding:
    """Ask with drawn corpora, counters, recipes, styles, budgets and frameworks."""
    logging.disable(logging.WARNING)  # of what is larger than the whole budget
    chance, cases, used = random.Random(1), Cases(), set()
    of_core, of_each_framework = (60, 8) if short else (420, 40)
    for name, source in corpora(short, chance):
        documents, facts = corpus(chance)
        index = Index.from_documents(documents, embedder=hashed_words, facts=facts, count=source)
        count, before = index.graph.count, len(cases.failures)
        used.add(name)
        ask_core(cases, index, chance, of_core)
        facts = {id: triples for id, triples in facts.items() if id != "book"}
        for framework, make in (("LangChain", langchain_pages), ("LlamaIndex", llama_index_pages)):
            pages = make(documents, facts, source)
            ask_framework(cases, framework, pages, count, chance, of_each_framework)
        cases.failures[before:] = [f"{name}, {one}" for one in cases.failures[before:]]
    printers = ("clew", "LangChain", "LlamaIndex")
    by = {who: sum(n for what, n in cases.of.items() if what.startswith(who)) for who in printers}
    overflows = len(cases.failures)
    kept = cases.total - cases.refused
    return Finding(
        f"{cases.total:,} questions over {len(used)} counters ({', '.join(sorted(used))}), "
        f"{len(recipes.names())} recipes, {len(STYLES)} styles: {by['clew']:,} pages of clew, "
        f"{by['LangChain']:,} and {by['LlamaIndex']:,} prompts of LangChain's and LlamaIndex's own "
        "chains, headings and metadata included",
        f"overflows {overflows} of {cases.total:,}; {cases.refused:,} budgets held nothing and "
        f"were refused in words; {100 * cases.shares / max(kept, 1):.0f} % of a budget is used "
        "on average",
        first(cases.failures),
    )


ROWS = (Row(9, "budget overflow", budgets, 400),)
