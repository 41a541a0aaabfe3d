"""Passages of long sections: each factor counted by a plain loop."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.graph import Graph
from clew.seed import BM25, InSections
from clew.types import Query

SECTIONS = st.lists(st.integers(0, 5), min_size=1, max_size=4)  # passages of each


@given(SECTIONS, st.integers(0, 3), st.sampled_from([0.0, 0.1, 1.0]), st.integers(1, 4))
def test_a_score_is_divided_by_a_power_of_the_passages_beside(lengths, loose, exponent, most):
    texts, kinds, parents = ["the whole"], ["document"], [-1]
    for length in lengths:
        section = len(texts)
        texts += ["a ferry", *(f"ferry {i}" for i in range(length))]
        kinds += ["section"] + ["passage"] * length
        parents += [0] + [section] * length
    texts, kinds = texts + ["ferry"] * loose, kinds + ["passage"] * loose
    parents += [-1] * loose
    graph = Graph.of(texts, kinds=kinds, parents=parents)
    query = Query("the ferry")
    alone = BM25().on(graph)(query).scores
    found = InSections(BM25(), exponent, most).on(graph)(query).scores
    for row, parent in enumerate(parents):
        n = 1
        if kinds[row] == "passage" and parent >= 0:
            n = sum(
                kind == "passage" and p == parent for kind, p in zip(kinds, parents, strict=True)
            )
        assert found[row] == pytest.approx(alone[row] / min(n, most) ** exponent)


KINDS = {"a.md": 1.0, "a.go": 0.5, "a_test.go": 0.5, "CHANGELOG.md": 1.0}


@pytest.mark.parametrize(
    ("question", "is_milder"),
    [
        ("What does the ferry do?", True),
        ("Where is a ferry?", True),
        ("To whom does the ferry sail? Which ferry?", False),  # begins otherwise
        ("the ferry", False),
        ("How do I ferry?", False),
    ],
)
def test_of_source_code_the_length_of_a_file_counts_less_where_a_question_asks_what_is(
    question, is_milder
):
    n = 4
    graph = Graph.of(
        [text for path in KINDS for text in (path, *["a ferry"] * n)],
        kinds=["document", *["passage"] * n] * len(KINDS),
        parents=[parent for i in range(len(KINDS)) for parent in (-1, *[i * (n + 1)] * n)],
        documents=[i * (n + 1) for i in range(len(KINDS)) for _ in range(n + 1)],
        ids=[f"{path}{end}" for path in KINDS for end in ("", *(f"#{i}" for i in range(n)))],
    )
    query = Query(question)
    alone = BM25().on(graph)(query).scores
    found = InSections(BM25(), 1.0, code_share=0.5).on(graph)(query).scores
    for row, (id, kind) in enumerate(zip(graph.ids, graph.kinds, strict=True)):
        power = KINDS[id.partition("#")[0]] if is_milder else 1.0
        divisor = n**power if kind == "passage" else 1.0
        assert found[row] == pytest.approx(alone[row] / divisor), id
    assert InSections(BM25(), 1.0, code_share=1).on(graph)(query).scores == pytest.approx(
        [score / n if "#" in id else score for id, score in zip(graph.ids, alone, strict=True)]
    )


@pytest.mark.parametrize("wrong", [-0.1, 1.5, float("nan")])
def test_what_is_no_share_of_the_exponent_is_refused(wrong):
    with pytest.raises(ValueError, match=f"code_share .* from 0 to 1; got {wrong!r}"):
        InSections(BM25(), code_share=wrong)


@pytest.mark.parametrize("wrong", [{"exponent": -0.1}, {"exponent": float("nan")}, {"most": 0}])
def test_what_is_no_power_is_refused(wrong):
    with pytest.raises(ValueError, match="at least 0, and most"):
        InSections(BM25(), **wrong)


def test_an_entry_of_a_reference_counts_as_one_of_several_passages():
    texts = {
        "sea.sail": "sea.sail(hour)\n\nSet out.",  # an entry
        "sea.dive": "sea.dive (a function) is called.\n\nSet out.",  # a sentence
        "sea.land": "To come back, sea.land is called.\n\nSet out.",  # a sentence
        "sea.swim": "def sea.swim():\n    out\n\nSet out.",  # code
        "sea": "(a table)\n\nSet out.",  # another line
        "Set out": "Set out(hour)\n\nSet out.",  # words, not a name
        "a, b": "a(b)\n\nSet out.",  # an entry of two names
    }
    both = [text for pair in texts.items() for text in pair]
    graph = Graph.of(
        both,
        kinds=["section", "passage"] * len(texts),
        parents=[parent for row in range(0, len(both), 2) for parent in (-1, row)],
    )
    query = Query("Who set out?")
    plain = BM25().on(graph)(query).scores[1::2]
    scores = InSections(BM25(), exponent=1).on(graph)(query).scores[1::2]
    assert (plain / scores).tolist() == pytest.approx([3, 1, 1, 1, 1, 1, 3])


def test_a_lead_in_of_the_sections_below_counts_as_one_of_many_passages():
    lead_in, said = "These sail now:", "They all sail now. " * 8
    texts = ["A", lead_in, "B", said, "C", said, "D", lead_in, "E", lead_in, lead_in, "F", said]
    kinds = ["passage" if text in (lead_in, said) else "section" for text in texts]
    #         A: leads in B | C: says enough before D | D: nothing below | E: twice, before F
    parents = [-1, 0, 0, 2, -1, 4, 4, 6, -1, 8, 8, 8, 11]
    graph = Graph.of(texts, kinds=kinds, parents=parents)
    query = Query("Who will sail?")
    plain, found = (seed.on(graph)(query).scores for seed in (BM25(), InSections(BM25(), 1.0)))
    passages = graph.rows("passage")
    assert (plain[passages] / found[passages]).tolist() == pytest.approx([8, 1, 1, 1, 8, 8, 1])


OPTIONS = [
    "--sail Sail at ten.",
    "Wind=strong, sail at nine.",
    "-s, --slow\n\nSail slowly.",
    "SEA_STATE tells who may sail.",
    "  `/proc/sea` sail there.",
]
PROSE = [
    "We sail at ten.",
    "To sail = to live.",
    "SAILORS sail.",
    "Sail - and return.",
    "Sail_on(x)",
]


@pytest.mark.parametrize(
    ("texts", "metadata", "heading", "counted"),
    [
        (OPTIONS, {}, "OPTIONS", [1] * 5),
        (PROSE, {}, "OPTIONS", [5] * 5),
        ([*OPTIONS[:2], *PROSE[:2]], {}, "OPTIONS", [1, 1, 4, 4]),  # half of them
        ([*OPTIONS[:2], *PROSE[:3]], {}, "OPTIONS", [5] * 5),
        (OPTIONS[:3], {}, "OPTIONS", [3] * 3),  # too few
        (PROSE, {"module": "sea"}, "module sea", [1] * 5),
        (OPTIONS, {"module": "sea"}, "class Sea", [5] * 5),
    ],
)
def test_a_passage_of_a_list_of_many_subjects_counts_as_alone(texts, metadata, heading, counted):
    graph = Graph.of(
        ["the whole", heading, *texts],
        kinds=["document", "section"] + ["passage"] * len(texts),
        parents=[-1, 0] + [1] * len(texts),
        documents=[0] * (2 + len(texts)),
        metadata=[metadata] + [{}] * (1 + len(texts)),
    )
    query = Query("Who will sail?")
    plain, found = (seed.on(graph)(query).scores for seed in (BM25(), InSections(BM25(), 1.0)))
    assert (plain[2:] / found[2:]).tolist() == pytest.approx(counted)
