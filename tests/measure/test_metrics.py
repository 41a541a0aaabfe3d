"""The figures by their definitions, against counting by hand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clew.context import Context
from clew.items import Item
from clew.measure.metrics import all_gold, by_score, first_that_fit, recall, reciprocal_rank

IDS = st.lists(st.sampled_from("abcdefg"), unique=True)
GOLD = st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=4, unique=True)


@given(IDS, GOLD)
def test_recall_counts_the_gold_that_is_found_and_all_gold_is_recall_of_one(ids, gold):
    hits = sum(1 for one in gold if one in ids)
    assert recall(ids, gold) == hits / len(gold)
    assert all_gold(ids, gold) == (1.0 if hits == len(gold) else 0.0)


@given(IDS, GOLD)
def test_the_reciprocal_rank_is_that_of_the_first_gold_passage(ids, gold):
    best = 0.0
    for rank in range(len(ids), 0, -1):
        if ids[rank - 1] in gold:
            best = 1 / rank
    assert reciprocal_rank(ids, gold) == best


@given(IDS, st.dictionaries(st.sampled_from("abcdefg"), st.integers(0, 9)), st.integers(1, 30))
def test_what_fits_is_the_longest_beginning_of_the_ranked_passages_within_the_budget(
    ids, lengths, budget
):
    passages = [id for id in ids if id in lengths]
    fits = [
        n for n in range(len(passages) + 1) if sum(lengths[id] for id in passages[:n]) <= budget
    ]
    assert first_that_fit(ids, lengths, budget) == passages[: max(fits)]


def test_a_context_is_ranked_by_score_and_counted_by_document_whatever_its_reading_order():
    def item(id, score, document=None):
        return Item(id, "text", score, "seed", "passage", 1, document=document)

    read = (
        item("b", 0.2, "b"),
        item("fact:x", 0.5),
        item("a#0-9", 0.9, "a"),
        item("a#10-20", 0.8, "a"),
        item("c", 0.5, "c"),
    )
    assert by_score(Context(read, "", 0, None, "", "")) == ["a", "fact:x", "c", "b"]
