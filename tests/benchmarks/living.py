"""An index that changes, beside bm25s, tantivy and LlamaIndex: milliseconds of what a program does with it.

    python -m tests.benchmarks.living --folder FOLDER [--passages 10000] [--rounds 5]

The texts below FOLDER are cut into passages of at most 128 tokens, each with the same vector of its
hashed words for whoever takes vectors. Every round and every system has two new processes, by turns: one
builds the index and saves it, the other opens it, asks two questions, adds a passage and finds it, and
deletes it and finds it no more. Times are those of the processor, without imports; medians. bm25s and
tantivy have words alone. bm25s cannot change an index: it builds it again. What is not installed is
left out, with a note (`pip install bm25s tantivy llama-index-core`).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, Protocol

import numpy as np

import clew
from clew.read import read_passages
from tests.benchmarks.indexing import hashed_words
from tests.benchmarks.rivals import MissingError, require

K = 5
MIN_TEXTS = 1000  # passages from which on every system finds K
QUESTIONS = ("How is a graph drawn with labels?", "Which error is raised for a negative weight?")
NEW = "Quokkaberry ferries sail at the zwieback hour."  # no other passage has these words
STEPS = ("build", "save", "open", "first question", "second question", "add one", "delete one")
SMOKE = "--folder {folder} --passages 20 --rounds 1"


KNOWN: dict[str, Any] = {}
"""Vectors by their texts, so that building embeds nothing."""


def embed(texts: list[str]) -> Any:
    """Return vectors, those of the corpus as they are known."""
    return [KNOWN[text] if text in KNOWN else hashed_words([text])[0] for text in texts]


class System(Protocol):
    """An index of passages, whose ids are numbers as text."""

    def build(self, texts: list[str], vectors: Any) -> None: ...
    def save(self, folder: Path) -> None: ...
    def open(self, folder: Path) -> None: ...
    def ask(self, question: str, vector: Any) -> list[str]: ...
    def add(self, id: str, text: str, vector: Any) -> None: ...
    def delete(self, id: str) -> None: ...


class Clew:
    """clew by the recipe that compares words and vectors."""

    def build(self, texts: list[str], vectors: Any) -> None:
        KNOWN.update(zip(texts, vectors, strict=True))
        documents = [clew.Document(str(i), text) for i, text in enumerate(texts)]
        self.index = clew.Index.from_documents(documents, embedder=embed)

    def save(self, folder: Path) -> None:
        self.index.save(folder)

    def open(self, folder: Path) -> None:
        self.index = clew.Index.load(folder, embedder=embed)

    def ask(self, question: str, vector: Any) -> list[str]:
        return self.index.ask(question, vector=vector, recipe="fused", limit=K).ids

    def add(self, id: str, text: str, vector: Any) -> None:
        self.index = self.index.add([clew.Document(id, text)])

    def delete(self, id: str) -> None:
        self.index = self.index.delete(id)


class BM25S:
    """bm25s, which is made again for every change."""

    def __init__(self) -> None:
        self.library = require("bm25s")

    def build(self, texts: list[str], vectors: Any) -> None:
        self.texts = texts
        self.index = self.library.BM25()
        tokens = self.library.tokenize(texts, show_progress=False)
        self.index.index(tokens, show_progress=False)

    def save(self, folder: Path) -> None:
        self.index.save(str(folder), corpus=self.texts, show_progress=False)

    def open(self, folder: Path) -> None:
        self.index = self.library.BM25.load(str(folder), load_corpus=True)
        self.texts = [one["text"] for one in self.index.corpus]

    def ask(self, question: str, vector: Any) -> list[str]:
        tokens = self.library.tokenize(question, show_progress=False)
        rows, _ = self.index.retrieve(
            tokens, corpus=np.arange(len(self.texts)), k=K, show_progress=False
        )
        return [str(row) for row in rows[0]]

    def add(self, id: str, text: str, vector: Any) -> None:
        self.build([*self.texts, text], None)

    def delete(self, id: str) -> None:
        self.build([text for row, text in enumerate(self.texts) if str(row) != id], None)


class Tantivy:
    """tantivy: words in files that are written at once."""

    def __init__(self) -> None:
        self.library = require("tantivy")
        schema = self.library.SchemaBuilder()
        schema.add_text_field("id", stored=True, tokenizer_name="raw")
        schema.add_text_field("text", stored=True, tokenizer_name="en_stem")
        self.schema = schema.build()

    def build(self, texts: list[str], vectors: Any) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.index = self.library.Index(self.schema, path=str(self.folder))
        self.writer = self.index.writer()
        for number, text in enumerate(texts):
            self.writer.add_document(self.library.Document(id=str(number), text=text))

    def save(self, folder: Path) -> None:
        self.writer.commit()
        self.writer.wait_merging_threads()
        folder.rmdir()
        self.folder.rename(folder)

    def open(self, folder: Path) -> None:
        self.index = self.library.Index.open(str(folder))
        self.index.reload()

    def ask(self, question: str, vector: Any) -> list[str]:
        words = " ".join(word for word in question.split() if word.strip("?.").isalpha())
        query = self.index.parse_query(words.strip("?."), ["text"])
        searcher = self.index.searcher()
        hits = searcher.search(query, K).hits
        return [searcher.doc(place)["id"][0] for _, place in hits]

    def add(self, id: str, text: str, vector: Any) -> None:
        writer = self.index.writer()
        writer.add_document(self.library.Document(id=id, text=text))
        writer.commit()
        self.index.reload()

    def delete(self, id: str) -> None:
        writer = self.index.writer()
        writer.delete_documents("id", id)
        writer.commit()
        self.index.reload()


class LlamaIndex:
    """LlamaIndex's VectorStoreIndex in memory, with the vectors alone."""

    def __init__(self) -> None:
        self.core = require("llama_index.core")
        self.schema = require("llama_index.core.schema")
        self.model = self.core.MockEmbedding(embed_dim=384)

    def _node(self, id: str, text: str, vector: Any) -> Any:
        return self.schema.TextNode(id_=id, text=text, embedding=vector.tolist())

    def build(self, texts: list[str], vectors: Any) -> None:
        nodes = [
            self._node(str(i), *pair) for i, pair in enumerate(zip(texts, vectors, strict=True))
        ]
        self.index = self.core.VectorStoreIndex(nodes, embed_model=self.model)

    def save(self, folder: Path) -> None:
        self.index.storage_context.persist(str(folder))

    def open(self, folder: Path) -> None:
        storage = self.core.StorageContext.from_defaults(persist_dir=str(folder))
        self.index = self.core.load_index_from_storage(storage, embed_model=self.model)

    def ask(self, question: str, vector: Any) -> list[str]:
        bundle = self.schema.QueryBundle(question, embedding=vector.tolist())
        retriever = self.index.as_retriever(similarity_top_k=K)
        return [node.node_id for node in retriever.retrieve(bundle)]

    def add(self, id: str, text: str, vector: Any) -> None:
        self.index.insert_nodes([self._node(id, text, vector)])

    def delete(self, id: str) -> None:
        self.index.delete_nodes([id], delete_from_docstore=True)


SYSTEMS: dict[str, Callable[[], System]] = {
    "clew": Clew,
    "bm25s": BM25S,
    "tantivy": Tantivy,
    "LlamaIndex": LlamaIndex,
}


def timed(function: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    """Return what a function returns, and its milliseconds of the processor."""
    began = time.process_time()
    result = function(*arguments)
    return result, 1000 * (time.process_time() - began)


def build_and_save(system: System, texts: list[str], folder: Path) -> dict[str, float]:
    """Return what the first process of a round takes."""
    vectors = hashed_words(texts)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    _, building = timed(system.build, texts, vectors)
    _, saving = timed(system.save, folder)
    return {"build": building, "save": saving}


def open_and_change(system: System, texts: list[str], folder: Path) -> dict[str, float]:
    """Return what the second process of a round takes."""
    took: dict[str, float] = {}
    vectors = hashed_words([*QUESTIONS, NEW])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    new = str(len(texts))
    _, took["open"] = timed(system.open, folder)
    for name, question, vector in zip(STEPS[3:5], QUESTIONS, vectors[:2], strict=True):
        found, took[name] = timed(system.ask, question, vector)
        # An engine of words finds nothing in a few passages that have none of the question's.
        enough = len(found) == K or len(texts) < MIN_TEXTS
        assert enough, f"{len(found)} passages were found, not {K}"
    _, took["add one"] = timed(system.add, new, NEW, vectors[2])
    assert system.ask(NEW, vectors[2])[0] == new, "the new passage is not found"
    _, took["delete one"] = timed(system.delete, new)
    assert new not in system.ask(NEW, vectors[2]), "the deleted passage is found"
    return took


def step_in_a_process(step: str, name: str, corpus: Path, folder: Path) -> dict[str, float]:
    """Return what a step takes in a process of its own; nothing where a library is missing."""
    command = [sys.executable, "-m", "tests.benchmarks.living"]
    command += ["--step", step, "--system", name, "--corpus", str(corpus), "--index", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{name} failed to {step}:\n{done.stderr[-2000:]}")
    took: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return took


def table(took: dict[str, list[dict[str, float]]]) -> str:
    """Return the medians as a table in Markdown."""
    columns = (*STEPS, "MB on disk")
    lines = [f"| | {' | '.join(columns)} |", f"|{'---|' * (len(columns) + 1)}"]
    for name, rounds in took.items():
        figures = [median(each[column] for each in rounds) for column in columns]
        cells = [f"{figure:,.1f}" if figure < 10 else f"{figure:,.0f}" for figure in figures]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, help="of the texts")
    parser.add_argument("--passages", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    for name in ("--step", "--system"):  # of a process of a round
        parser.add_argument(name, help=argparse.SUPPRESS)
    for name in ("--corpus", "--index"):
        parser.add_argument(name, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step is not None:
        texts = json.loads(options.corpus.read_text("utf-8"))
        step = build_and_save if options.step == "build" else open_and_change
        print(json.dumps(step(SYSTEMS[options.system](), texts, options.index)))
        return
    if options.folder is None:
        parser.error("--folder names the folder of the texts: it is missing")
    if not options.folder.is_dir():
        raise FileNotFoundError(f"{options.folder} is no folder")
    found = read_passages(options.folder, splitter=clew.Splitter(tokens=128))
    texts = list(dict.fromkeys(passage.text for passage in found))[: options.passages]
    print(f"{len(texts):,} passages, milliseconds of the processor\n")
    compare(texts, options.rounds)


def compare(texts: list[str], rounds: int) -> None:
    """Print the table."""
    took: dict[str, list[dict[str, float]]] = {}
    for name, system in SYSTEMS.items():
        try:
            system()
        except MissingError as error:
            sys.stderr.write(f"{name} is not compared: it is not installed ({error})\n")
        else:
            took[name] = []
    with tempfile.TemporaryDirectory() as place:
        corpus = Path(place, "corpus.json")
        corpus.write_text(json.dumps(texts), encoding="utf-8")
        for number in range(rounds):
            for name, measured in took.items():
                folder = Path(place, f"{name} {number}")
                folder.mkdir()
                figures = step_in_a_process("build", name, corpus, folder)
                files = (file for file in folder.rglob("*") if file.is_file())
                figures["MB on disk"] = sum(file.stat().st_size for file in files) / 1e6
                measured.append(figures | step_in_a_process("open", name, corpus, folder))
    print(table(took))


if __name__ == "__main__":
    main()
