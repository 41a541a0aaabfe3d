"""BM25 against the textbook formula in Lucene's form, by plain loops."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from math import log
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew import Document, Index
from clew.graph import Graph
from clew.seed import BM25, bm25
from clew.seed._kept_stems import KeptStems, StemmedText
from clew.seed.bm25 import InvertedIndexPart
from clew.text.stems import stem_words
from clew.text.words import terms
from clew.types import Query

TEXTS = st.lists(
    st.lists(st.sampled_from(["red", "Blue", "green,", "красный", "文", "🙂"]), max_size=6).map(
        " ".join
    ),
    min_size=1,
    max_size=7,
)


def textbook(texts, question, k1, b):
    documents = [terms(text) for text in texts]
    n, mean = len(documents), sum(map(len, documents)) / len(documents)
    scores = []
    for document in documents:
        score = 0.0
        for word in terms(question):
            containing = sum(word in other for other in documents)
            times = document.count(word)
            if times:
                rarity = log(1 + (n - containing + 0.5) / (containing + 0.5))
                score += rarity * times / (times + k1 * (1 - b + b * len(document) / mean))
        scores.append(score)
    return scores


@given(
    TEXTS,
    st.sampled_from(["red", "Red blue", "red red blue", "文字 красный", "unheard", "🙂?!"]),
    st.sampled_from([(1.5, 0.75), (0.9, 0.4)]),
)
def test_weights_are_those_of_the_textbook(texts, question, parameters):
    graph = Graph.of([*texts, "red blue"], kinds=["passage"] * len(texts) + ["entity"])
    found = BM25(*parameters).on(graph)(Query(question))
    assert found.scores == pytest.approx([*textbook(texts, question, *parameters), 0], abs=1e-5)
    known = {word for text in texts for word in terms(text)}
    assert ("fallback" in found.notes) == (not known & set(terms(question)))


def test_function_words_of_a_question_in_english_count_a_third():
    texts = ["How to do it.", "A ferry sails to the island.", "Nothing is like the sea."]
    scores = BM25().on(Graph.of(texts))(Query("How is the ferry?")).scores
    apart = [BM25().on(Graph.of(texts))(Query(word)).scores for word in ("how", "is", "the")]
    ferry = BM25().on(Graph.of(texts))(Query("ferry")).scores
    assert scores == pytest.approx(ferry + sum(apart))
    assert ferry == pytest.approx(textbook(texts, "ferry", 1.5, 0.75), abs=1e-6)
    assert apart[0] == pytest.approx(np.array(textbook(texts, "how", 1.5, 0.75)) / 3, abs=1e-6)


def test_words_of_other_languages_that_look_like_english_function_words_count_whole():
    texts = [
        "Was die Fähre heute will, das weiß niemand im Hafen.",
        "Der Winter ist in diesem Jahr lang und sehr kalt gewesen.",
    ]
    question = "Was will die Fähre?"
    found = BM25().on(Graph.of(texts))(Query(question))
    assert found.scores == pytest.approx(textbook(texts, question, 1.5, 0.75), abs=1e-5)


WORDS = ["read_path", "HTTPResponse", "__init__", "Foxes", "geht", "Straße", "文字", "a" * 300]
SIGNS = [" ", "\n", ".", "_", "1", "e", "\x00", "\x01"]


@settings(max_examples=40)
@given(
    st.lists(
        st.lists(st.sampled_from([*WORDS, *SIGNS, "in"]), max_size=9).map("".join), max_size=9
    ),
    st.lists(st.sampled_from(["", "Read read_path", "HTTPResponse » Öl", "foxes"]), min_size=1),
    st.sampled_from([1, 2, 4]),
)
def test_terms_that_are_found_by_runs_are_numbered_as_one_by_one(texts, titles, weight):
    """Documents in two languages, with and without headings; the runs of few texts at a time."""
    english = "The ferry is in the harbour, and that is where all of the foxes have been. " * 3
    german = "Die Fähre ist im Hafen, und dort sind auch alle Füchse gewesen, die geht. " * 3
    documents = [english, german, *texts]
    heads = [titles[i % len(titles)] for i in range(len(documents))]
    graph = Graph.of(
        [*heads, *documents],
        kinds=["section"] * len(heads) + ["passage"] * len(documents),
        parents=[-1] * len(heads) + list(range(len(heads))),
    )
    part = InvertedIndexPart(heading_weight=weight)
    found = []
    for least in (0, 1000):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(bm25, "MAX_KEPT_COUNTS", 0)
            patch.setattr(bm25, "MIN_BY_RUNS", least)
            patch.setattr(bm25, "LARGE_BLOCK", 3)
            patch.setattr(bm25, "MIN_PART", 5)
            one = part.compute(graph)
        arrays = [array.tolist() for array in one.postings.arrays(len(one.stems))]
        found.append((list(one.stems.items()), [list(f.items()) for f in one.forms], arrays))
    assert found[0] == found[1]
    assert {"en", "de"} <= set(one.languages)


def test_passages_are_indexed_once_where_there_are_no_reports():
    texts = ["The ferry sails to Corfu.", "Anna met Ben.", "What both say."]
    both, alone = InvertedIndexPart(("passage", "report")), InvertedIndexPart()
    graph = Graph.of(texts)
    assert graph.part(both) is graph.part(alone)
    with_report = Graph.of(texts, kinds=["passage", "passage", "report"])
    assert with_report.part(both).rows.tolist() == [0, 1, 2]
    assert with_report.part(alone).rows.tolist() == [0, 1]
    assert "say" in with_report.part(both).stems
    assert "say" not in with_report.part(alone).stems


def test_candidates_that_came_with_scores_are_still_searched_for_words():
    found = BM25().on(Graph.of(["red", "red blue"]))(Query("blue", candidate_scores={0: 0.5}))
    assert found.scores[0] == 0 < found.scores[1]


SCRIPTS = {
    "Han": ("渡轮每天早上七点出发。", "古城的市场周日关闭。", "渡轮几点开"),
    "Kana": ("わたしはあさごはんをたべます。", "ねこがやねのうえでねむる。", "ねこはどこ"),
    "Thai": ("เรือออกจากท่าเรือตอนเจ็ดโมงเช้า", "ตลาดปลาปิดวันอาทิตย์", "ตลาดปลาเปิดกี่โมง"),
    "Lao": ("ເຮືອອອກຕອນເຊົ້າ", "ຕະຫຼາດປາປິດວັນອາທິດ", "ຕະຫຼາດປາຢູ່ໃສ"),
    "Khmer": ("ទូកចេញពីកំពង់ផែ", "ផ្សារត្រីបិទថ្ងៃអាទិត្យ", "ផ្សារត្រីនៅឯណា"),
    "Burmese": ("သင်္ဘောသည်မနက်ထွက်သည်", "ငါးဈေးသည်တနင်္ဂနွေပိတ်သည်", "ငါးဈေးဘယ်မှာလဲ"),
    "identifiers": (
        "def parseXMLFile(path): ...",
        "def read_table(path): ...",
        "how is a table read",
    ),
}


@pytest.mark.parametrize("recipe", ["bm25", "dense", "fused"])
@pytest.mark.parametrize("script", SCRIPTS)
def test_what_a_question_names_is_found_in_scripts_without_spaces_and_in_code(script, recipe):
    one, other, question = SCRIPTS[script]
    index = Index.from_documents(
        [Document("one", one), Document("other", other), Document("far", "Nothing of it, 123.")]
    )
    wanted = "one" if script == "Han" else "other"
    assert index.ask(question, recipe=recipe).ids[0] == wanted


@given(TEXTS, TEXTS)
def test_few_texts_are_indexed_as_many_are(texts, others):
    """By what is kept of each text, and by arrays of all: the same numbers for the same stems."""
    german = "Die Fähren fahren nach Norden, und die Boote bleiben auf der Insel, weil es stürmt. "
    documents = [
        *(Document(f"a{i}", text or "red") for i, text in enumerate(texts)),
        *(Document(f"b{i}", german * 3 + text) for i, text in enumerate(others)),
        Document("c", "# Red skies\n\nBlue boats.\n\n## Boats\n\nGreen ones.", format="markdown"),
    ]
    graph = Index.from_documents(documents).graph
    few = InvertedIndexPart().compute(graph)
    with patch.object(bm25, "MAX_KEPT_COUNTS", 0):
        many = InvertedIndexPart().compute(graph)
    assert list(few.stems.items()) == list(many.stems.items())
    assert list(map(dict, few.forms)) == list(many.forms)
    for one, other in zip(few.postings.arrays(99), many.postings.arrays(99), strict=True):
        assert (one.tolist(), one.dtype) == (other.tolist(), other.dtype)


@given(st.lists(TEXTS, min_size=1, max_size=4), st.sampled_from([0, 3, 1000]))
def test_stems_that_are_kept_are_those_of_texts_read_first(questions, most):
    """Whatever was read before them, and also where there is no room for more words."""
    kept = KeptStems(most)
    for texts in questions:
        some = [
            StemmedText(text, "en", terms("Red skies")[: i % 3]) for i, text in enumerate(texts)
        ]
        stems, postings = kept.postings(some)
        lists = [stem_words([*terms(one.text), *one.others], "en") for one in some]
        wanted = list(dict.fromkeys(stem for stems in lists for stem in stems))
        assert list(stems) == wanted
        assert dict(stems) == {stem: number for number, stem in enumerate(wanted)}
        assert not any(stem in stems for stem in ("red", "blue", "ferri") if stem not in wanted)
        for stem, number in stems.items():
            rows, counts = (part.tolist() for part in postings.of_term(number))
            assert dict(zip(rows, counts, strict=True)) == {
                i: one.count(stem) for i, one in enumerate(lists) if stem in one
            }


def test_threads_give_a_stem_one_number():
    kept = KeptStems()
    texts = [StemmedText(" ".join(f"w{i}x{j % 97}" for j in range(400)), "") for i in range(40)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda shift: kept.postings([*texts[shift:], *texts]), range(8)))
    for shift, (stems, postings) in enumerate(found):
        together = [*texts[shift:], *texts]
        assert len(stems) == 40 * 97
        assert postings.lengths.tolist() == [400] * len(together)
        assert postings.texts_with(stems["w39x5"]).tolist() == [39 - shift, len(together) - 1]


@pytest.mark.parametrize(
    ("name", "value"),
    [("k1", -0.5), ("k1", float("nan")), ("b", -0.1), ("b", 1.5), ("heading_weight", 0)],
)
def test_parameters_out_of_their_range_are_refused(name, value):
    with pytest.raises(ValueError, match=rf"^{name} is .*; got {value}$"):
        BM25(**{name: value})
