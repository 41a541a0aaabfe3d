"""Whatever was added, deleted, saved, loaded and filtered, in whatever order: the answers are those of an index built at once."""

from __future__ import annotations

import shutil
import tempfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from clew import Document, Index, Plain, Splitter, recipes

NAMES = ("Anna", "Ben", "Corfu", "Delos", "Ελένη", "北京", "Пётр")
VERBS = ("married", "lives on", "sails to", "knows", "built")
ASK = st.sampled_from(
    ["Who lives on Corfu?", "What did Anna build?", "Ελένη", "Кто знает Пётр?", "北京", "zebra"]
)
TRIPLES = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(VERBS), st.sampled_from(NAMES)), max_size=3
)
SAID = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(VERBS), st.sampled_from(NAMES)).map(" ".join),
    min_size=1,
    max_size=5,
)
SHAPES = st.sampled_from([". ", ".\n\n", ".\n\n# Part\n\n"])
TEXTS = st.tuples(SAID, SHAPES).map(lambda pair: pair[1].join(pair[0]) + ".")
KEPT = st.lists(
    st.tuples(st.integers(0, 9), TEXTS, TRIPLES),
    min_size=1,
    max_size=3,
    unique_by=lambda each: each[0],
)


def embed(texts):
    """Unit rows [n, 16] by a hash of each word; never zero."""
    rows = np.full((len(texts), 16), 0.01)
    for row, text in enumerate(texts):
        for word in text.split():
            rows[row, zlib.crc32(word.strip(".?").encode()) % 16] += 1
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class History(RuleBasedStateMachine):
    own = True

    @initialize(kept=KEPT, cut=st.booleans())
    def build(self, kept, cut):
        self.folder = Path(tempfile.mkdtemp())
        canonical = None if self.own else Plain()
        self.how = {
            "embedder": embed if self.own else None,
            "splitter": Splitter(12) if cut else None,
            "canonical": canonical,
        }
        self.documents, self.facts = [], {}
        self.hold(kept)
        self.index = self.at_once()

    @rule(kept=KEPT)
    def add(self, kept):
        known = {document.id for document in self.documents}
        documents, facts = self.hold([each for each in kept if f"d{each[0]}" not in known])
        if documents:
            self.index = self.index.add(documents, facts=facts)

    @precondition(lambda self: len(self.documents) > 1)
    @rule(data=st.data())
    def delete(self, data):
        ids = [document.id for document in self.documents]
        gone = data.draw(
            st.lists(st.sampled_from(ids), min_size=1, max_size=len(ids) - 1, unique=True)
        )
        self.index = self.index.delete(gone)
        self.documents = [document for document in self.documents if document.id not in gone]
        self.facts = {id: said for id, said in self.facts.items() if id not in gone}

    @rule()
    def save_and_load(self):
        self.index.save(self.folder / "index")
        self.index = Index.load(
            self.folder / "index", embedder=embed if self.own else None, verify="full"
        )

    @rule(
        question=ASK,
        recipe=st.sampled_from(recipes.names()),
        budget=st.sampled_from([15, 40, 2000]),
        limit=st.sampled_from([None, 3]),
    )
    def ask(self, question, recipe, budget, limit):
        how = {"recipe": recipe, "budget": budget, "limit": limit}
        alike(answer(self.index, question, **how), answer(self.at_once(), question, **how))

    @rule(question=ASK, recipe=st.sampled_from(recipes.names()), data=st.data())
    def ask_of_some(self, question, recipe, data):
        allowed = data.draw(
            st.sets(
                st.sampled_from([document.metadata["group"] for document in self.documents]),
                min_size=1,
            )
        )
        where = {"group": sorted(allowed)}
        alone = [document for document in self.documents if document.metadata["group"] in allowed]
        alike(
            answer(self.index, question, recipe=recipe, where=where),
            answer(self.at_once(alone), question, recipe=recipe),
        )

    @invariant()
    def it_holds_what_it_should(self):
        assert [document.id for document in self.index.documents] == [
            document.id for document in self.documents
        ]

    def hold(self, kept):
        documents = [
            Document(f"d{n}", text, {"group": n % 4}, format="markdown") for n, text, _ in kept
        ]
        facts = {f"d{n}": said for n, _, said in kept if said}
        self.documents += documents
        self.facts |= facts
        return documents, facts

    def at_once(self, documents=None):
        chosen = self.documents if documents is None else documents
        return Index.from_documents(
            chosen, facts={d.id: self.facts[d.id] for d in chosen if d.id in self.facts}, **self.how
        )

    def teardown(self):
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)


class HistoryByDefault(History):
    own = False


def answer(index, question, **how):
    try:
        return index.ask(question, **how)
    except ValueError as error:
        return str(error)


def alike(one, other):
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
        return
    assert one.text == other.text
    assert one.ids == other.ids
    assert [item.role for item in one] == [item.role for item in other]
    assert [item.score for item in one] == pytest.approx([item.score for item in other], abs=1e-6)
    assert one.missing == other.missing


FEW = settings(max_examples=settings().max_examples // 4, stateful_step_count=10)
TestHistory = History.TestCase
TestHistory.settings = FEW
TestHistoryByDefault = HistoryByDefault.TestCase
TestHistoryByDefault.settings = FEW


@pytest.mark.slow
@pytest.mark.parametrize("kind", [History, HistoryByDefault])
def test_many_histories(kind):
    from hypothesis.stateful import run_state_machine_as_test

    run_state_machine_as_test(kind, settings=settings(max_examples=400, stateful_step_count=30))
