"""A filter takes from the whole index what is known of its documents, and the result is that of these alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clew.text.stems
from clew import Document, Index, Names, Splitter, recipes
from clew.embedding import compact
from clew.embedding.bag_segment import BagSegment
from clew.embedding.static import TextCounts
from clew.graph import VectorColumn
from clew.index import build as index_build
from clew.read.split import cutter
from clew.seed import _likely_languages, bm25, languages
from clew.seed.in_own_words import LinkedWordsPart
from tests.text.test_stems import SENTENCES

QUESTION = "Where did Anna Bell meet the captain of the ferry?"
TEXTS = [
    "# Ferries\n\nAnna Bell sails to Corfu. See [it](b1.md).\n\n## Ports\n\nSt. Ives. St. Paul. Ben.",
    "# Islands\n\n- Paxos\n- Corfu\n\nA ferry calls on Sundays.\n\n# Anna Bell\n\nShe is a captain.",
    "Anna Bell met Ben in Rome.",
    "* * *\n\nThe bell rang at nine; ANNA BELL heard it. " + "The ferry was late. " * 30,
    SENTENCES["de"],
    SENTENCES["fr"],
]
MADE = st.lists(
    st.tuples(
        st.sampled_from(TEXTS),
        st.sampled_from(["text", "markdown"]),
        st.integers(0, 1),
        st.sampled_from(["alone", "alone", "follows", "inside", "piece", "heading"]),
    ),
    min_size=2,
    max_size=7,
)
MORE = [Document("more", "Anna Bell wrote of St. Paul. The captain of Paxos sleeps.", {"group": 0})]
RECIPES = ("bm25", "fused", "hipporag")


def document(i, made):
    text, format, group, place = made
    before = f"b{i - 1}.md" if i else None
    if place == "heading":
        return Document(f"b{i}.md", f"Chapter {i} of Anna", {"group": group}, heading=True)
    return Document(
        f"b{i}.md",
        text if format == "markdown" else f"{i}. {text}",
        {"group": group, "title": f"Part {i % 2}"} if i % 3 else {"group": group},
        format=format,
        previous=before if place == "follows" else None,
        parent=before if place == "inside" else None,
        source="book" if place == "piece" else None,
        span=(0, len(text)) if place == "piece" and i % 2 else None,
    )


def build(documents):
    return Index.from_documents(documents, splitter=Splitter(tokens=24), extractor=Names())


def described(index):
    """Return all that a graph holds, as plain values."""
    graph, edges, facts = index.graph, index.graph.edges, index.graph.facts
    return {
        "nodes": list(zip(graph.ids, graph.kinds, graph.texts, graph.references, strict=True)),
        "places": [each.tolist() for each in (graph.parents, graph.documents, graph.previous)],
        "spans": graph.spans.tolist(),
        "tokens": graph.tokens.tolist(),
        "metadata": list(map(dict, graph.metadata)),
        "words beside links": graph.part(LinkedWordsPart()).tolist(),
        "vectors": np.asarray(graph.vectors).tobytes(),
        "facts": list(zip(facts.texts, facts.subjects.tolist(), facts.objects, strict=True)),
        "vectors of facts": np.asarray(facts.vectors).tobytes(),
        "edges": list(zip(edges.tails, edges.heads, edges.kinds, edges.weights, strict=True)),
        "languages": [graph.part(languages.LanguagesPart()).names],
        "known": index.knowledge,
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("index")


@given(MADE, st.booleans(), st.sampled_from(sorted(recipes.names())))
def test_a_filter_of_an_opened_index_is_an_index_of_what_it_allows(folder, made, as_bags, recipe):
    documents = [document(i, one) for i, one in enumerate(made)]
    if all(one.heading for one in documents):
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compact, "MIN_ROWS", 0)
        patch.setattr(compact, "MIN_COMPACT", 0)
        build(documents).save(folder / "saved")
        opened = Index.load(folder / "saved")
    for known in ("bm25", "hipporag"):
        opened.ask(QUESTION, recipe=known)
    for group in (0, 1):
        allowed = [one for one in documents if one.metadata["group"] == group]
        if all(one.heading for one in allowed):
            continue
        ids = {one.id for one in allowed} | {"book"}
        alone = build(
            [
                Document(
                    one.id,
                    one.text,
                    one.metadata,
                    format=one.format,
                    heading=one.heading,
                    previous=one.previous if one.previous in ids else None,
                    parent=one.parent if one.parent in ids else None,
                    source=one.source,
                    span=one.span,
                )
                for one in allowed
            ]
        )
        with pytest.MonkeyPatch.context() as patch:
            if as_bags:  # as the filter of a large index has them that allows much
                patch.setattr(compact, "MIN_ROWS", 0)
                patch.setattr(compact, "MIN_COMPACT", 0)
                patch.setattr(index_build, "MAX_KEPT_ROWS", 0)
            filtered = opened.filtered({"group": group})
        segment = VectorColumn.of(filtered.graph.vectors).segments[0]
        assert filtered is opened or isinstance(segment, BagSegment) == as_bags
        assert described(filtered) == described(alone)
        for name in dict.fromkeys((*RECIPES, recipe)):
            some, anew = (each.ask(QUESTION, recipe=name, budget=90) for each in (filtered, alone))
            assert (some.text, some.ids) == (anew.text, anew.ids)
            scores = [item.score for item in anew]  # of vectors, and not of bags of words
            assert [item.score for item in some] == pytest.approx(scores, abs=1e-6)
        assert described(filtered.add(MORE)) == described(alone.add(MORE))


def test_nothing_that_is_known_is_cut_read_counted_or_identified_again(tmp_path, monkeypatch):
    monkeypatch.setattr(compact, "MIN_ROWS", 0)
    monkeypatch.setattr(compact, "MIN_COMPACT", 0)
    monkeypatch.setattr(languages, "MAX_SAMPLE", 16)
    documents = [
        Document(
            f"{i}",
            f"# {i}\n\n{SENTENCES['fr' if i % 6 > 3 else 'de']} Anna met Ben in Rome.",
            {"group": i % 2},
            format="markdown",
        )
        for i in range(60)
    ]
    build(documents).save(tmp_path)
    opened = Index.load(tmp_path)
    opened.ask(QUESTION, recipe="bm25")
    done = []

    def noted(owner, name):
        function = getattr(owner, name)

        def note(*arguments):
            done.append((name, arguments[0]))
            return function(*arguments)

        monkeypatch.setattr(owner, name, note)

    noted(cutter.Cutter, "cut")
    noted(bm25.InvertedIndexPart, "compute")
    noted(clew.text.stems, "_identified")
    noted(_likely_languages, "find_likeliest")
    with monkeypatch.context() as patch:
        patch.setattr(TextCounts, "of", lambda texts: pytest.fail(f"counted {texts}"))
        filtered = opened.filtered({"group": 0})
    filtered.ask(QUESTION, recipe="bm25")
    assert set(done) <= {("_identified", QUESTION)}
    assert len(filtered.documents) == len(documents) // 2
    assert not filtered.graph.facts.vectors.segments[0].is_made, "no question has compared facts"


def test_a_splitter_of_the_caller_s_is_asked_again(tmp_path):
    asked = []

    def split(document):
        asked.append(document.id)
        return Splitter()(document)

    documents = [Document(f"{i}", f"Text {i}.", {"group": i % 2}) for i in range(4)]
    index = Index.from_documents(documents, splitter=split)
    asked.clear()
    index.filtered({"group": 1})
    assert asked == ["1", "3"]
