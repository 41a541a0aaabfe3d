"""Terms without capitals: what is one by its definition, and that all documents together decide it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clew
from clew.read import Names, Passage, Terms

WORDS = ("zzx", "qqv", "xkw")  # the same by their stems, in any language
TOKENS = st.lists(st.sampled_from([*WORDS, ",", "42"]), max_size=12)


def triples(*texts, **how):
    return Terms(**how).triples([Passage(str(i), text, f"t{i}") for i, text in enumerate(texts)])


def terms(*texts, **how):
    return [[term for _, _, term in own] for own in triples(*texts, **how)]


def contains(tokens, phrase):
    return any(tokens[i : i + len(phrase)] == phrase for i in range(len(tokens)))


def terms_by_definition(corpus, tokens, max_words, max_passages):
    """Take out of a passage, again and again, the longest phrase that is rare, then the earliest."""
    left, found = list(tokens), {}
    while True:
        phrases = [
            (-n, i)
            for n in range(1, max_words + 1)
            for i in range(len(left) - n + 1)
            if all(token in WORDS for token in left[i : i + n])
            and 2 <= sum(contains(own, list(tokens[i : i + n])) for own in corpus) <= max_passages
        ]
        if not phrases:
            return dict(sorted(found.items()))
        n, i = min(phrases)
        found[i] = tokens[i : i - n]
        left[i : i - n] = ["taken"] * -n


@given(
    st.lists(TOKENS, min_size=2, max_size=6),
    st.integers(1, 4),
    st.integers(2, 3),
    st.integers(0, 3),
)
def test_a_term_is_the_longest_rare_phrase_and_its_relation_the_words_before(
    corpus, max_words, max_passages, max_relation_words
):
    read = triples(
        *(" ".join(tokens) for tokens in corpus),
        max_words=max_words,
        max_passages=max_passages,
        max_share=1.0,
        max_relation_words=max_relation_words,
    )
    for i, tokens in enumerate(corpus):
        expected = {}
        for place, term in terms_by_definition(corpus, tokens, max_words, max_passages).items():
            before = [token for token in tokens[:place] if token != ","]
            before = before[-max_relation_words:] if max_relation_words else []
            expected.setdefault(" ".join(term), " ".join(before) or "mentions")
        assert read[i] == [(f"t{i}", relation, term) for term, relation in expected.items()]


@given(st.permutations(range(6)))
def test_passages_in_another_order_have_the_same_terms(order):
    texts = [
        "a wing in a propeller slipstream was tested.",
        "the propeller slipstreams delay the stall of a wing;\n\nhot wires show it.",
        "propeller slipstreams and hot\nwires.",
        "heat flows through a slab, and a wing.",
        "the slab is hot.",
        "",
    ]
    read = terms(*texts, max_share=0.5)
    assert terms(*(texts[i] for i in order), max_share=0.5) == [read[i] for i in order]


def test_forms_of_a_word_are_one_term_which_is_written_as_it_is_most_often():
    read = terms("the slipstream is slow", "of slipstreams", "these slipstreams", max_share=1.0)
    assert read == [["slipstreams"]] * 3


def test_words_that_many_passages_have_and_function_words_separate():
    texts = [f"flow w{i // 2}x flow and drag{i // 2} of the n{i}" for i in range(40)]
    assert terms(*texts) == [[f"w{i // 2}x", f"drag{i // 2}"] for i in range(40)]


def test_a_corpus_with_capitals_and_source_code_have_none():
    lower = ["the propeller slipstream rises", "a propeller slipstream falls"]
    upper = [text.capitalize() for text in lower]
    assert terms(*upper) == [[], []]
    assert terms(*upper, max_capitals=1.0) == [["propeller slipstream"]] * 2
    assert terms("推进器 滑流", "推进器 滑流") == [[], []], "for Names"
    code = [Passage("a", lower[0], format="python"), Passage("b", lower[1], format="python")]
    assert Terms().triples(code) == [[], []]


@pytest.mark.parametrize(
    "how", [{"max_words": 0}, {"max_passages": 1}, {"max_share": 1.1}, {"max_capitals": -0.1}]
)
def test_a_parameter_out_of_its_range_is_refused_by_name(how):
    with pytest.raises(ValueError, match=next(iter(how))):
        Terms(**how)


def test_a_term_leads_from_one_passage_to_the_next_and_is_saved_with_the_index(tmp_path):
    texts = [
        clew.Document("lift", "the wing of the heron glider stands in a propeller slipstream."),
        clew.Document("stall", "to a heron glider a propeller slipstream is of use."),
        *(clew.Document(f"d{i}", f"paragraph {i} is on cooking pans.") for i in range(8)),
    ]
    question = "what is delayed for the heron glider by its propeller slipstream?"
    index = clew.Index.from_documents(texts, extractor=clew.Terms())
    plain = clew.Index.from_documents(texts, extractor=Names())
    assert not len(plain.graph.facts)
    assert "propeller slipstream" in index.graph.texts
    index.save(tmp_path / "index")
    loaded = clew.Index.load(tmp_path / "index")
    assert loaded.config.extractor == clew.Terms()
    shared = {
        tuple(sorted((index.graph.ids[a], index.graph.ids[b])))
        for a, b, kind in zip(
            index.graph.edges.tails, index.graph.edges.heads, index.graph.edges.kinds, strict=True
        )
        if kind == "shared"
    }
    assert shared == {("lift", "stall")}
    answers = [one.ask(question, limit=3) for one in (index, loaded)]
    assert [[(i.id, i.score) for i in own.items] for own in answers[:1]] == [
        [(i.id, i.score) for i in own.items] for own in answers[1:]
    ]
