"""Edges that learn: what a context says is learnt, kept apart, saved, undone, and does not creep to 1."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import clew
from clew import Index
from clew.learned import Learned, rewards

TOPICS = {"moon": "craters seas dust water stones", "cats": "fish sleep milk mice fur", "rome": "forum river senate arches aqueduct"}


@pytest.fixture(scope="module")
def index(embed):
    documents = [
        clew.Document(
            name, "\n\n".join(f"## {word}\n\nThe {word} of {name} are old. Many {word} came." for word in words.split()), format="markdown"
        )
        for name, words in TOPICS.items()
    ]
    return Index.from_documents(documents, embedder=embed, splitter=clew.Splitter(12, sentences=True))


def strength(index, tail, head):
    return index.learned.strengths[(tail, head)]


def test_what_is_near_gains_what_is_far_below_loses_and_the_next_question_sees_it(index):
    context = index.ask("Are the craters of the moon old?", recipe="kurisu")
    said = rewards(context)
    taught = index.learn(context)
    assert len(taught.learned) == len(said) > 5
    for pair, change in said.items():
        assert strength(taught, *pair) == pytest.approx(min(1.0, taught.learned.built[pair] + change))
    assert {taught.learned.built[pair] for pair in said if not pair[0]} == {1.0}
    weaker = [pair for pair in said if strength(taught, *pair) < 1]
    assert weaker
    weights = dict(
        zip(zip(taught.graph.edges.tails.tolist(), taught.graph.edges.heads.tolist(), strict=True), taught.graph.edges.weights, strict=True)
    )
    for tail, head in weaker:
        row = taught.graph.row(head)
        assert weights[(taught.graph.row(tail) if tail else row, row)] == pytest.approx(strength(taught, tail, head))
    again = taught.ask("Are the craters of the moon old?", recipe="kurisu")
    assert rewards(again).keys() == said.keys()
    assert index.graph.edges.weights.min() == 1 or index.learned == Learned(), "the index that was asked is as it was"


def test_what_was_learnt_decides(index):
    """Two documents that answer alike: the one whose edge is weak is no longer the first step."""
    context = index.ask("What is old?", recipe="kurisu")
    first = next(step.notes for step in context.trace if "path" in step.notes)["path"][0][0][0]
    weak = Learned({("", first): 0.2}, {("", first): 1.0})
    taught = replace(index, graph=weak.on(index.graph)[0], learned=weak)
    then = next(step.notes for step in taught.ask("What is old?", recipe="kurisu").trace if "path" in step.notes)["path"][0][0]
    assert first not in then


def test_it_can_be_undone(index):
    taught = index
    for word in ("craters", "fish", "forum"):
        taught = taught.learn(taught.ask(f"Are the {word} old?", recipe="kurisu"))
    back = taught.forget()
    assert back.learned == Learned()
    assert (back.graph.edges.weights == index.graph.edges.weights).all()
    assert (back.graph.edges.heads == index.graph.edges.heads).all()
    assert back.ask("Are the seas old?", recipe="kurisu").ids == index.ask("Are the seas old?", recipe="kurisu").ids


def test_it_is_saved_and_lives_through_additions_deletions_and_filters(index, embed, tmp_path):
    taught = index.learn(index.ask("Are the craters of the moon old?", recipe="kurisu"))
    taught.save(tmp_path / "i")
    loaded = Index.load(tmp_path / "i", embedder=embed)
    assert loaded.learned == taught.learned
    assert (loaded.graph.edges.weights == taught.graph.edges.weights).all()
    more = taught.add([clew.Document("new", "Something else.")])
    assert more.learned == taught.learned
    assert more.delete("new").graph.edges.weights.tolist() == taught.graph.edges.weights.tolist()
    fewer = taught.delete("cats")
    assert {pair for pair in fewer.learned.strengths if "cats" in "".join(pair)} == set()
    assert fewer.learned.strengths.items() < taught.learned.strengths.items()


def test_a_thousand_questions_do_not_creep_to_one(index, embed):
    """On links that were built below 1, where a gain would show: all strengths stay about what was built, and most penalties heal."""
    graph = index.graph
    below = graph.linked(replace(graph.edges, weights=np.full(len(graph.edges), 0.6, np.float32)))
    taught = replace(index, graph=below)
    contexts = [taught.ask(f"Are the {word} of {name} old?", recipe="kurisu") for name, words in TOPICS.items() for word in words.split()]
    built = Learned()
    printed = Learned()
    for number in range(1000):
        context = contexts[number % len(contexts)]
        built = built.after(context, below, 1.0, 0.05)
        printed = printed.after(context, below, 1.0, 0.0)
    inner = [pair for pair in built.strengths if pair[0]]
    drift = np.array([built.strengths[pair] - built.built[pair] for pair in inner])
    assert abs(drift.mean()) < 0.1
    assert np.mean([built.strengths[pair] > 0.99 for pair in inner]) < 0.02
    assert np.mean([printed.strengths[pair] > 0.99 for pair in inner]) > 0.3, "without going back, it would"


def test_a_context_of_another_method_or_index_teaches_nothing(index, embed):
    with pytest.raises(ValueError, match=r"nothing can be learnt from a context of Pipeline.*kurisu"):
        index.learn(index.ask("Are the seas old?", recipe="dense"))
    other = Index.from_documents([clew.Document("x", "The seas."), clew.Document("y", "The sun.")], embedder=embed)
    with pytest.raises(ValueError, match="this context is of another index: 'x' is not in the graph"):
        index.learn(other.ask("Seas?", recipe="kurisu"))
