"""What is kept of a passage is what is read of it: beside other passages, in any order."""

from hypothesis import given
from hypothesis import strategies as st

from clew.read import Names, NamesAndSymbols, Passage
from clew.read.extract import corpus, known_facts, passage_names
from clew.text.kept import Kept

SENTENCES = [
    "Anna Bell met Ben in St. Louis.",
    "Bell Labs is old. The bell rang.",
    "In may it rains; May Day is in May.",
    "the Moon and the moon of Mars",
    "St. de Paul came. St. Ives too. St. Ives.",
    "El Niño is “The Child” there.",
    "夏目漱石は東京の人。カタカナ",
    "محمد علي ذهب الى القاهرة",
    "القاهرة مدينة محمد علي",
    "In 1990 Öst won.",
]
TITLES = ["", "Moon", "Anna Bell", "Bell Labs", "夏目漱石", "محمد علي", "May Day (feast)"]
passages = st.lists(
    st.builds(
        lambda sentences, title: Passage("", " ".join(sentences), title),
        st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=4),
        st.sampled_from(TITLES),
    ),
    max_size=7,
)
extractors = st.builds(Names, min_passages=st.sampled_from([1, 1, 2]), years=st.booleans())


def forget():
    kept_words = vars(passage_names.WORDS).values()
    for kept in (known_facts.FACTS, corpus.TITLE_KEYS, *kept_words):
        kept.clear()


@given(st.lists(passages, max_size=4), extractors | st.just(NamesAndSymbols()))
def test_passages_read_after_others_have_the_facts_of_passages_read_first(questions, extractor):
    kept = [extractor.triples(question) for question in questions]
    fresh = []
    for question in questions:
        forget()
        fresh.append(extractor.triples(question))
    assert kept == fresh


def test_a_passage_is_read_again_only_for_words_that_its_facts_depend_on(monkeypatch):
    read = []
    find = known_facts.find_mentions
    monkeypatch.setattr(
        known_facts,
        "find_mentions",
        lambda one, *rest: (read.append(one.text), find(one, *rest))[1],
    )
    forget()
    text = "Then she met Anna Bell. Bell left."
    alone = Passage("a", text, "Ben")
    within = Passage("b", "the anna of old, an anna", "May Bell")  # "anna" begins a longer name
    opening = Passage("c", "the bell, a bell, no bell", "Mars")  # "bell" opens a sentence
    facts = [Names().triples([alone, *others])[0] for others in ([], [within], [opening], [])]
    assert read.count(text) == 2
    assert facts[0] == facts[1] == facts[3]
    assert {end for _, _, end in facts[0]} == {"Anna Bell", "Bell"}
    assert {end for _, _, end in facts[2]} == {"Anna Bell"}


@given(passages, passages)
def test_what_is_learnt_in_two_parts_is_what_is_learnt_at_once(first, second):
    names = Names()
    known = names.learn(first)[1]
    triples, together = names.learn_more(second, known, lambda _: [])
    at_once, all_known = names.learn([*first, *second])
    assert triples == at_once[len(first) :]
    assert together == all_known
    assert names.forget(second, together) == known


def test_only_the_last_things_are_kept():
    kept = Kept[int, int](3)
    for i in range(10):
        kept.put(i % 7, i)
        assert len(kept) <= 3
        assert kept[i % 7] == i
