"""A benchmark of five passages and three questions, written file by file so that a test can spoil one of them."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

PASSAGES = {
    "a": ("Anna", "Anna Berg married Ben."),
    "b": ("Ben", "Ben Olsen lives on Corfu."),
    "c": ("Corfu", "Corfu is an island of Greece, in the Ionian Sea."),
    "d": (
        "Delos",
        "Delos has no inhabitants but many columns, some of which still stand on the hill above the harbour of the island.",
    ),
    "e": ("Euboea", "Euboea has bridges."),
}
QUESTIONS = {
    "q1": ("Where does the husband of Anna Berg live?", ["a", "b"]),
    "q2": ("To which country does the island of Ben Olsen belong?", ["b", "c"]),
    "q3": ("Who lives on Delos?", ["d"]),
}
TRIPLES = {
    "a": [["Anna Berg", "married", "Ben"]],
    "b": [["Ben", "lives on", "Corfu"]],
    "c": [["Corfu", "is of", "Greece!"]],
}
NAMES = ["anna berg", "ben", "corfu", "greece"]
FACTS = [
    ["anna berg", "married", "ben"],
    ["ben", "lives on", "corfu"],
    ["corfu", "is of", "greece"],
]


class Folder:
    """A benchmark folder under construction."""

    def __init__(self, path):
        self.path = path
        self.lines(
            "corpus.jsonl",
            [{"id": id, "title": title, "text": text} for id, (title, text) in PASSAGES.items()],
        )
        self.lines(
            "queries.jsonl",
            [
                {"id": id, "question": q, "gold_ids": gold, "hops": 2}
                for id, (q, gold) in QUESTIONS.items()
            ],
        )

    def lines(self, name, records):
        text = "".join(json.dumps(record) + "\n" for record in records)
        if name.endswith(".gz"):
            (self.path / name).write_bytes(gzip.compress(text.encode()))
        else:
            (self.path / name).write_text(text, encoding="utf-8")
        return self

    def triples(self, name="triples.jsonl", triples=TRIPLES):
        return self.lines(
            name,
            [{"passage_id": id, "entities": [], "triples": said} for id, said in triples.items()],
        )

    def vectors(self, seed=0, prefix="", **changed):
        """int8 passages with a scale, float questions without, and the names of the entities and facts."""
        draw = np.random.default_rng(seed)
        arrays = {
            "passages": draw.integers(-127, 128, (5, 8)).astype(np.int8),
            "passages_scale": np.float32(0.01),
            "queries": draw.normal(size=(3, 8)),
            f"{prefix}entities": draw.normal(size=(len(NAMES), 8)).astype(np.float16),
            f"{prefix}facts": draw.normal(size=(len(FACTS), 8)),
        }
        arrays |= changed
        np.savez(
            self.path / "vectors.npz",
            **{name: array for name, array in arrays.items() if array is not None},
        )
        (self.path / f"{prefix}entities.txt.gz").write_bytes(
            gzip.compress("\n".join(NAMES).encode())
        )
        (self.path / f"{prefix}facts.json").write_text(json.dumps(FACTS), encoding="utf-8")
        return arrays


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)
