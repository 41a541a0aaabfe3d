"""What is kept of a passage is what is read of it: beside other passages, in any order."""

import re
from collections import Counter
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from clew.read import Names, NamesAndSymbols, Passage
from clew.read.extract import (
    corpus,
    known_facts,
    many_passages,
    name_reading,
    name_rules,
    passage_names,
)
from clew.read.extract.caseless import caseless_words
from clew.read.extract.joined_texts import JoinedTexts, is_plain, plain_blocks
from clew.read.extract.mentions import find_short_words
from clew.read.extract.word_columns import TextWords, Word, find_columns
from clew.text.kept import Kept
from tests.traced_memory import traced_memory

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
    of_words = vars(passage_names.WORDS).values()
    for kept in (known_facts.FACTS, known_facts.BY_RUNS, corpus.TITLE_WORDS, *of_words):
        if isinstance(kept, Kept):
            kept.clear()


@given(st.lists(passages, max_size=4), extractors | st.just(NamesAndSymbols()))
def test_passages_read_after_others_have_the_facts_of_passages_read_first(questions, extractor):
    kept = [extractor.triples(question) for question in questions]
    fresh = []
    for question in questions:
        forget()
        fresh.append(extractor.triples(question))
    assert kept == fresh


@given(st.lists(passages, max_size=4))
def test_passages_whose_words_are_forgotten_have_the_same_facts(questions):
    names = Names()
    for question in questions:
        names.triples(question)
        passage_names.WORDS._words.clear()
    kept = [names.triples(question[::-1]) for question in questions]
    fresh = []
    for question in questions:
        forget()
        fresh.append(names.triples(question[::-1]))
    assert kept == fresh


def test_names_in_passages_whose_words_are_forgotten():
    text = "Then she met Anna Bell. Bell left."
    alone, other = Passage("a", text, "Ben"), Passage("b", "the bell, a bell, no bell", "Mars")
    forget()
    fresh = Names().triples([alone, other])
    forget()
    Names().triples([Passage("c", "A sea is wide. It is deep.", "Sea"), alone])  # read together
    passage_names.WORDS._words.clear()
    assert Names().triples([alone, other]) == fresh


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


def test_a_passage_is_not_read_again_for_a_title_that_makes_no_other_name(monkeypatch):
    """The titles of other passages that stand in a text are mostly written with capitals there."""
    read = []
    find = known_facts.find_mentions
    monkeypatch.setattr(
        known_facts,
        "find_mentions",
        lambda one, *rest: (read.append(one.text), find(one, *rest))[1],
    )
    forget()
    text = "Then she heard Anna Bell sing."
    alone = Passage("a", text, "Ben")
    named, longer = Passage("b", "tall.", "Anna Bell"), Passage("c", "long.", "Anna Bell Sing")
    facts = [Names().triples([alone, *others])[0] for others in ([], [named], [longer])]
    assert read.count(text) == 2
    assert facts[0] == facts[1]
    assert [end for _, _, end in facts[1]] == ["Anna Bell"]
    assert [end for _, _, end in facts[2]] == ["Anna Bell sing"]


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


def many():
    """Have any number of passages read as many are."""
    return patch.object(name_reading, "MANY", -1)


@given(passages, passages, extractors)
def test_many_passages_are_read_as_few_are(first, second, extractor):
    few, known = extractor.learn(first)
    with many():
        assert extractor.learn(first) == (few, known)
    if known is not None:
        more = extractor.learn_more(second, known, lambda _: [])
        with many():
            assert extractor.learn_more(second, known, lambda _: []) == more


@given(st.lists(st.sampled_from(SENTENCES), max_size=5), st.booleans())
def test_runs_are_unpacked_as_they_were_packed(sentences, years):
    passage = passage_names.NormalizedPassage(" ".join(sentences), "", 0)
    words = passage_names.find_passage_words(passage, ["st"])
    titles = {("the", "moon"): [("the", "moon")], ("in", "may"): [("in", "may")]}
    rules = name_rules.Rules(6, 8, frozenset(["de", "of"]), frozenset(), years)
    firsts = {first: {second for one, second in titles if one == first} for first, _ in titles}
    runs = passage_names.find_passage_runs(words, titles, firsts, rules)
    packed = many_passages.pack_runs(words, runs)
    unpacked, found = many_passages.unpack_runs(passage.text, packed)
    assert [is_title for _, _, is_title in found] == [is_title for _, _, is_title in runs]
    assert [list(map(unpacked.columns.word, range(a, b))) for a, b, _ in found] == [
        list(map(words.columns.word, range(a, b))) for a, b, _ in runs
    ]


def test_each_of_many_passages_is_cut_into_words_once(monkeypatch):
    found, find, join = [], passage_names.find_columns, JoinedTexts.words
    monkeypatch.setattr(
        passage_names,
        "find_columns",
        lambda text, *rest: (found.append(text), find(text, *rest))[1],
    )
    monkeypatch.setattr(
        JoinedTexts,
        "words",
        lambda self, *rest: (found.extend(self.text.split("\n")), join(self, *rest))[1],
    )
    texts = [f"Then Anna {i} met Ben in Rome." for i in range(name_reading.MANY)]
    texts.append("Then Anna met Ben 🙂")
    Names().triples([Passage(f"{i}", text) for i, text in enumerate(texts)])
    assert sorted(found) == sorted(texts)


def test_many_passages_are_read_in_ten_times_the_memory_of_their_texts():
    """With an object for each word, it was more than forty times."""
    sentence = "{} wrote that the old harbour of Corfu lies {} miles from any other town."
    given = [
        Passage(f"{i}", " ".join(sentence.format(f"Anna{i}", 10 * i + j) for j in range(8)))
        for i in range(name_reading.MANY + 1)
    ]
    _, peak = traced_memory(lambda: Names().triples(given))
    assert peak < 10 * sum(len(passage.text) for passage in given)


LETTERS = "aBé夏ßم9_.'’-,!\n\" ́"
texts = st.text(LETTERS, max_size=40) | st.lists(
    st.sampled_from(["St", "st", "U.S.", "Anna", "it's", ".", ". ", " ", ", ", "\n", "99", "夏"])
).map("".join)


@given(texts, st.sampled_from([(), ("st", "a")]))
def test_words_are_found_in_columns_as_one_by_one(text, abbreviations):
    mark = "̀-ًͯ-ٟ"
    letters = rf"[^\W_]+(?:[{mark}]+[^\W_]*)*"
    sentence, before, found = 0, None, []
    for match in re.finditer(rf"{letters}(?:['’.&/\-‐‑·]{letters})*", text):
        word, start = match[0], match.start()
        gap = text[before.end() : start] if before else "\n"
        ends = re.search(r"[.!?…][\"'”’»)\]]*(?:\s|$)|\n", gap) is not None
        if before and gap == ". ":
            last = before[0]
            ends = not (len(last) == 1 or "." in last or last.casefold() in abbreviations)
        sentence = start if ends else sentence
        capital = any(letter.isupper() for letter in word)
        opens = capital or word.casefold()[0].lower() == word.casefold()[0].upper()
        behind = text[:start].endswith(". ")
        found.append((start, match.end(), word.casefold(), ends, capital, sentence, behind, opens))
        before = match
    columns = find_columns(text, abbreviations)
    opening = [i in columns.openings for i in range(len(columns.keys))]
    assert list(zip(*columns[:-1], opening, strict=True)) == found
    for place in (0, 3, len(text)):
        shown = TextWords.from_place(text, columns, place)
        assert shown.keys == [one[2] for one in found if one[0] >= place]
        opens = [i for i, one in enumerate(found) if one[0] >= place and one[-1]]
        assert list(shown.openings) == opens


@given(st.lists(st.tuples(texts, st.sampled_from([(), ("st", "a")])), min_size=1, max_size=5))
def test_words_of_joined_texts_are_those_of_each(given_texts):
    given_texts = [(text, some) for text, some in given_texts if is_plain(text)] or [("", ())]
    several, abbreviations = zip(*given_texts, strict=True)
    places = [len(text) // 3 for text in several]
    joined = JoinedTexts.of(several)
    for number, found in enumerate(joined.words(places, abbreviations)):
        text, start = several[number], found.words.start
        alone = find_columns(text, abbreviations[number])
        wanted = TextWords.from_place(text, alone, places[number])
        words = found.words
        assert joined.text[start:].startswith(text)
        shown = range(words.first, words.end)
        moved = [
            Word(one.start - start, one.end - start, *one[2:-1], one.sentence - start)
            for one in map(words.columns.word, shown)
        ]
        assert moved == list(map(alone.word, range(wanted.first, wanted.end)))
        assert [words.columns.behind_stop[i] for i in shown] == alone.behind_stop[wanted.first :]
        shift = wanted.first - words.first
        assert [i + shift for i in words.openings] == list(wanted.openings)
        caseless = caseless_words(wanted)
        assert found.has_caseless or not caseless
        counted, placed = found[1:4], passage_names.place_alone(wanted)[1:4]
        assert [(some + shift).tolist() for some in counted] == [some.tolist() for some in placed]
    assert joined.short_words() == [find_short_words(text) for text in several]


def test_long_texts_are_joined_with_few_others():
    texts = ["a" * 50_000, "b" * 9_999, "c", "夏", "d" * 200_000, *"ef"]
    assert list(plain_blocks(texts)) == [[0, 1, 2], [4], [5, 6]]
    assert list(map(len, plain_blocks(["x"] * 300))) == [64, 64, 64, 64, 44]


@given(texts)
def test_short_words_are_the_ends_of_words(text):
    matches = list(re.finditer(r"[^\W\d_]{2,4}\b", text))
    short = [match[0].casefold() for match in matches]
    stopped = [m[0].casefold() for m in matches if text[m.end() : m.end() + 2] == ". "]
    assert find_short_words(text) == (tuple(short), tuple(stopped))


short_texts = st.lists(st.sampled_from(["st. ", "st ", "film. ", "film ", "Ivesst. ", "o", "x. "]))


@given(st.lists(short_texts.map("".join), max_size=6))
def test_few_passages_have_the_abbreviations_of_a_corpus(texts):
    passages = [passage_names.NormalizedPassage(text, "", 0) for text in texts]
    short = passage_names.WORDS.short_of(texts)
    whole = corpus.CorpusCounts(None)
    whole.add_passages(passages, map(find_short_words, texts))
    assert corpus.FewCounts(passages, short).abbreviations() == whole.abbreviations()
    assert [one.words() for one in short] == list(map(find_short_words, texts))


cased_words = st.lists(
    st.sampled_from(["Anna", "anna", "The", "the", "Öst", "öst", "Bell.", "bell,", "it"])
)


@given(st.lists(st.lists(cased_words.map(" ".join), max_size=5), max_size=4), st.integers(0, 20))
def test_few_passages_decide_on_words_by_how_often_they_write_them(questions, max_numbered):
    with patch.object(passage_names, "MAX_NUMBERED", max_numbered):
        kept = passage_names.KeptWords(9, 9)
        for texts in questions:
            passages = [passage_names.NormalizedPassage(text, "", 0) for text in texts]
            few = corpus.FewCounts(passages, kept.short_of(texts))
            abbreviations = few.abbreviations()
            found = few.corpus(kept.written(passages, abbreviations)[0])
            columns = [find_columns(text, abbreviations) for text in texts]
            within = Counter(
                (key, bool(capital))
                for one in columns
                for key, capital, begins, behind in zip(
                    one.keys, one.capitals, one.begins, one.behind_stop, strict=True
                )
                if not begins and not behind
            )
            looked_at = {
                key
                for one in columns
                for key, capital, begins, behind in zip(
                    one.keys, one.capitals, one.begins, one.behind_stop, strict=True
                )
                if capital or (behind and not begins)
            }
            assert found._capital == {
                key
                for key in looked_at
                if within[key, True] and within[key, True] >= within[key, False]
            }
            assert found._mostly_small == {
                key for key in looked_at if within[key, False] > within[key, True]
            }


@given(st.lists(st.text("sT. Öß\n_4-", max_size=12), max_size=5))
def test_short_words_that_are_kept_together_come_as_often(texts):
    for text, kept in zip(texts, passage_names.KeptWords(9, 9).short_of(texts), strict=True):
        every, stopped = find_short_words(text)
        assert kept.words() == (every, stopped)
        assert {word: kept.times(word) for word in every} == Counter(every)
