"""A vector store alone, and clew over the same store, on the questions of ordinary folders.

    python -m tests.benchmarks.dropin_everyday --cache CACHE --corpora tools scrapy --embedder all-MiniLM-L6-v2
    python -m tests.benchmarks.dropin_everyday --cache CACHE --sources SOURCES --half held
    python -m tests.benchmarks.dropin_everyday --folder FOLDER --questions FILE

Corpora and questions are those of `everyday.py`, and the rows those of `dropin.py`. The passages that
`clew index FOLDER` would make go into LangChain's store in memory, each with its file as `source` and
nothing else. The embedder is named as there; without one it is clew's own, fitted on each corpus. The
vectors of a named one are kept in CACHE, so that a second run embeds nothing.

A question is hit at k if a passage among the k best holds a quote of a place that answers, and in 512
tokens if one that is read does. Differences are paired and from the store, with their 95 % intervals.
The table is over all questions; after it each corpus has a line for the retriever as it comes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from langchain_core.documents import Document

import clew
from clew.cli.source import TOKENS
from clew.graph import Graph
from clew.measure.paired import Table, build_table
from clew.measure.quotes import QuotedQuestion
from clew.read import Splitter, load_documents, read_nodes
from clew.text.estimate import estimate_tokens
from tests.benchmarks.dropin import (
    BUDGET,
    Answer,
    ArrayStore,
    Counting,
    answers_of,
    embedder_of,
)
from tests.benchmarks.everyday import KS, add_corpora, places_of, pooled, read_questions
from tests.benchmarks.kept_vectors import KeptVectors

STORE, AS_IT_COMES = "the store", "and a third, as it comes"
FIGURES = (*(f"hit@{k}" for k in KS), f"in {BUDGET} tokens")
SMOKE = "--folder {folder} --questions {folder}/everyday.jsonl"


def passages_of(folder: Path) -> Graph:
    """Return the passages of a folder as `clew index FOLDER` cuts them, without vectors."""
    documents = load_documents(folder).documents
    return read_nodes(documents, splitter=Splitter(tokens=TOKENS), count=estimate_tokens)


def store_of(graph: Graph, embedder: clew.Embedder) -> ArrayStore:
    """Return a store of the passages, each with its file."""
    store = ArrayStore(Counting(embedder))
    store.add_documents(
        [
            Document(graph.texts[row], id=graph.ids[row], metadata={"source": file_of(graph, row)})
            for row in graph.rows("passage").tolist()
        ]
    )
    return store


def file_of(graph: Graph, row: int) -> str:
    return graph.ids[int(graph.documents[row])]


def figures_of(
    answers: dict[str, Answer], questions: Sequence[QuotedQuestion], texts: dict[str, str]
) -> dict[str, dict[str, list[float]]]:
    """Return the figures of every question, by row and column."""
    values = {}
    for name, answer in answers.items():
        rows = []
        for question in questions:
            ranked, page = answer(question.text)
            read = [*(ranked[:k] for k in KS), page]
            rows.append(
                [float(question.is_quoted_in(texts.get(id, "") for id in ids)) for ids in read]
            )
        values[name] = {figure: [row[i] for row in rows] for i, figure in enumerate(FIGURES)}
    return values


def compare(
    corpus: str,
    folder: Path,
    questions: Sequence[QuotedQuestion],
    embed: Callable[[Sequence[str]], clew.Embedder],
) -> Table:
    """Return the table of one corpus."""
    graph = passages_of(folder)
    texts = {graph.ids[row]: graph.texts[row] for row in graph.rows("passage").tolist()}
    store = store_of(graph, embed(list(texts.values())))
    lengths = {id: estimate_tokens(text) for id, text in texts.items()}
    title = f"{corpus}, {len(texts):,} passages, {len(questions)} questions"
    return build_table(title, figures_of(answers_of(store, lengths), questions, texts), STORE)


def differences_line(table: Table) -> str:
    """Return what the retriever as it comes has more than the store, as a line of a table."""
    row = table.methods.index(AS_IT_COMES)
    cells = [
        f"{table.mean(STORE, figure):.3f} {table.differences[row, j]:+.3f} "
        f"[{table.low[row, j]:+.3f}, {table.high[row, j]:+.3f}]"
        for j, figure in enumerate(FIGURES)
    ]
    return f"| {' | '.join((table.title, *cells))} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_corpora(parser)
    parser.add_argument("--embedder", help="a sentence-transformers model, or MODULE:NAME")
    options = parser.parse_args()
    places = places_of(parser, options)

    def embed(texts: Sequence[str]) -> clew.Embedder:
        found = embedder_of(options.embedder, texts)
        if options.embedder is None or options.cache is None:
            return found
        name = options.embedder.replace("/", "+")
        return clew.Embedder.of(KeptVectors(found, options.cache / f"vectors-{name}.sqlite"))

    tables = []
    for corpus, folder, path in places:
        asked = [question for question in read_questions(path, options.half) if question.places]
        tables.append(compare(corpus, folder, asked, embed))
    whole = pooled(tables, by_corpus=False)
    print(f"## {whole.title}, half {options.half!r}, {options.embedder or 'own vectors'}\n")
    print(whole.to_markdown(intervals=True))
    print(f"\n| {AS_IT_COMES}, and more than the store | {' | '.join(FIGURES)} |")
    print("| --- |" + " ---: |" * len(FIGURES))
    for table in tables:
        print(differences_line(table))


if __name__ == "__main__":
    main()
