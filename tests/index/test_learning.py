"""Edges that learn: what a context says is learnt, kept apart, saved, undone, and does not creep to 1."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import clew
from clew import Index
from clew.index.learning import Learned, lesson_of
from clew.methods.kurisu.hierarchy import DocumentTreePart

TOPICS = {
    "moon": "craters seas dust water stones",
    "cats": "fish sleep milk mice fur",
    "rome": "forum river senate arches aqueduct",
}


@pytest.fixture(scope="module")
def index(embed):
    documents = [
        clew.Document(
            name,
            "\n\n".join(
                f"## {word}\n\nThe {word} of {name} are old. Many {word} came."
                for word in words.split()
            ),
            format="markdown",
        )
        for name, words in TOPICS.items()
    ]
    return Index.from_documents(
        documents, embedder=embed, splitter=clew.Splitter(12, sentences=True)
    )


def strength(index, tail, head):
    return index.learned.strengths[(tail, head)]


def taught_edges(graph):
    """Strengths by rows of tail and head."""
    at = np.flatnonzero(graph.edges.kinds.mask("learned"))
    return dict(
        zip(
            zip(graph.edges.tails[at].tolist(), graph.edges.heads[at].tolist(), strict=True),
            graph.edges.weights[at],
            strict=True,
        )
    )


def test_what_is_near_gains_what_is_far_below_loses_and_the_next_question_sees_it(index):
    context = index.ask("What is old?", recipe="kurisu")
    lesson = lesson_of(context)
    said, links = lesson.rewards, lesson.grafts
    taught = index.learn(context)
    assert set(taught.learned.strengths) == {*said, *links}
    assert len(said) > 5
    for pair, change in said.items():
        assert strength(taught, *pair) == pytest.approx(taught.learned.built[pair] + change)
    assert {taught.learned.built[pair] for pair in said if not pair[0]} == {0.5}
    assert min(said.values()) < 0 < max(said.values()), "both have room"
    edges = taught_edges(taught.graph)
    for tail, head in taught.learned.strengths:
        row = taught.graph.row(head)
        assert edges[(taught.graph.row(tail) if tail else row, row)] == pytest.approx(
            strength(taught, tail, head)
        )
    again = taught.ask("What is old?", recipe="kurisu")
    assert lesson_of(again).rewards.keys() & said.keys()
    assert index.learned == Learned(), "the index that was asked is as it was"


def test_a_question_that_nothing_answers_teaches_nothing(index):
    silent = index.ask("What is old?", recipe="kurisu", min_relevance=1.0)
    assert silent.nothing_found
    assert index.learn(silent).learned == index.learned


def test_the_edges_that_were_built_stay_as_they_are(index):
    taught = index.learn(index.ask("Are the craters of the moon old?", recipe="kurisu"))
    built, edges = index.graph.edges, taught.graph.edges
    assert (edges.weights[: len(built)] == built.weights).all()
    assert (edges.heads[: len(built)] == built.heads).all()
    assert edges.kinds.mask("learned").sum() == len(edges) - len(built) == len(taught.learned)
    for recipe in ("dense", "fused", "hipporag"):
        one, other = (which.ask("Are the seas old?", recipe=recipe) for which in (index, taught))
        assert one.ids == other.ids


def test_what_was_learnt_decides(index):
    """Two documents that answer alike: the one whose edge is weak is no longer the first step."""
    context = index.ask("What is old?", recipe="kurisu")
    first = next(step.notes for step in context.trace if "path" in step.notes)["path"][0][0][0]
    weak = Learned({("", first): 0.1}, {("", first): 0.5})
    taught = replace(index, graph=weak.on(index.graph)[0], learned=weak)
    then = next(
        step.notes
        for step in taught.ask("What is old?", recipe="kurisu").trace
        if "path" in step.notes
    )["path"][0][0]
    assert first not in then


def test_a_graft_that_a_question_went_over_is_kept_and_fades(index):
    """From each member of the fused node to what was grafted on to it: a later question goes that way, as long as some do."""
    by_vectors = clew.Pipeline(
        clew.seed.Dense(("passage", "sentence")),
        selects=(clew.methods.Descent(),),
        order=clew.order.ByDocument(),
    )
    context = index.ask("Are the craters of the moon old?", recipe=by_vectors)
    links = lesson_of(context).grafts
    assert links
    taught = index.learn(context)
    tree = taught.graph.part(DocumentTreePart())
    for (tail, head), value in links.items():
        at, to = taught.graph.row(tail), taught.graph.row(head)
        slots = np.arange(tree.starts[at], tree.starts[at + 1])
        slot = slots[tree.heads[slots] == to]
        assert tree.strengths[slot] == pytest.approx([value], abs=1e-6)
        assert not tree.contains[slot].any()
        assert taught.learned.built[(tail, head)] == 0
    elsewhere = lesson_of(index.ask("Do cats drink milk?", recipe=by_vectors))
    later = taught.learned
    for _ in range(90):
        later = later.after(elsewhere, index.graph, 1.0, 0.05)
    assert not (links.keys() - elsewhere.grafts.keys()) & later.strengths.keys(), (
        "what nothing goes over any more is forgotten"
    )


def test_it_can_be_undone(index):
    taught = index
    for word in ("craters", "fish", "forum"):
        taught = taught.learn(taught.ask(f"Are the {word} old?", recipe="kurisu"))
    back = taught.forget()
    assert back.learned == Learned()
    assert (back.graph.edges.weights == index.graph.edges.weights).all()
    assert (back.graph.edges.heads == index.graph.edges.heads).all()
    assert (
        back.ask("Are the seas old?", recipe="kurisu").ids
        == index.ask("Are the seas old?", recipe="kurisu").ids
    )


def test_it_is_saved_and_lives_through_additions_deletions_and_filters(index, embed, tmp_path):
    taught = index.learn(index.ask("Are the craters of the moon old?", recipe="kurisu"))
    taught.save(tmp_path / "i")
    loaded = Index.load(tmp_path / "i", embedder=embed)
    assert loaded.learned == taught.learned
    assert (loaded.graph.edges.weights == taught.graph.edges.weights).all()
    more = taught.add([clew.Document("new", "Something else.")])
    assert more.learned == taught.learned
    assert more.delete("new").graph.edges.weights.tolist() == taught.graph.edges.weights.tolist()
    asked = "Are the seas of the moon old?"
    assert (
        taught.ask(asked, recipe="kurisu", where=lambda metadata: True).ids
        == taught.ask(asked, recipe="kurisu").ids
    )
    assert taught.learned.on(taught.graph)[1] == taught.learned, (
        "what was built is not taken for what was learnt"
    )
    fewer = taught.delete("cats")
    assert {pair for pair in fewer.learned.strengths if "cats" in "".join(pair)} == set()
    assert fewer.learned.strengths.items() < taught.learned.strengths.items()


def test_a_thousand_questions_do_not_creep_to_one(index):
    """No strength is further from what was built than the most that a question changes, divided by the decay; the printed rule creeps."""
    taught, printed = index, Learned()
    asked = [
        f"Are the {word} of {name} old?" for name, words in TOPICS.items() for word in words.split()
    ]
    lessons = [lesson_of(index.ask(question, recipe="kurisu")) for question in asked]
    for number in range(1000):
        lesson = lessons[number % len(asked)]
        if number < 60:
            taught = taught.learn(taught.ask(asked[number % len(asked)], recipe="kurisu"))
            learned = taught.learned
        else:  # asking takes longer than learning
            learned = learned.after(lesson, index.graph, 1.0, 0.05)
        as_printed = {pair: 0.1 / 0.03 * change for pair, change in lesson.rewards.items()}
        printed = printed.after(replace(lesson, rewards=as_printed), index.graph, 1.0, 0.0)
    inner = [pair for pair in learned.strengths if learned.built[pair]]
    drift = np.array([learned.strengths[pair] - learned.built[pair] for pair in inner])
    assert np.abs(drift).max() <= 0.5 * 0.03 / 0.05 + 1e-9
    assert abs(drift.mean()) < 0.05
    assert (
        np.mean([printed.strengths[pair] > 0.99 for pair in inner if pair in printed.strengths])
        > 0.3
    ), "without going back, it would"


@pytest.mark.parametrize(
    "wrong", [{"rate": float("nan")}, {"rate": float("inf")}, {"decay": 2.0}, {"decay": -0.1}]
)
def test_a_rate_or_decay_that_makes_no_strength_is_refused(index, wrong):
    context = index.ask("What is old?", recipe="kurisu")
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} is a"):
        index.learn(context, **wrong)


def test_a_context_of_another_method_or_index_teaches_nothing(index, embed):
    with pytest.raises(
        ValueError, match=r"nothing can be learnt from a context of Pipeline.*kurisu"
    ):
        index.learn(index.ask("Are the seas old?", recipe="dense"))
    other = Index.from_documents(
        [clew.Document("x", "The seas."), clew.Document("y", "The sun.")], embedder=embed
    )
    with pytest.raises(
        ValueError, match="this context is of another index: 'x' is not in the graph"
    ):
        index.learn(other.ask("Seas?", recipe="kurisu"))
