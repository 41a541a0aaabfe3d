"""Names without a language model: what is one, in any script, and that all documents together decide it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Document, Index
from clew.index.filtering import filtered_index
from clew.link import ShortForm
from clew.read import Names, Passage, Splitter, TaggedEntities


def names(*texts, **how):
    return Names(**how).names([Passage(str(i), text) for i, text in enumerate(texts)])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("he met Ludwig van Beethoven in New York", ["Ludwig van Beethoven", "New York"]),
        ("she left the University of the West for Paris", ["University of the West", "Paris"]),
        ("by J. K. Rowling and O.P. Heggie of AT&T", ["J. K. Rowling", "O.P. Heggie of AT&T"]),
        ("Virginia's border with Maryland, Ohio and Iowa", ["Maryland", "Ohio", "Iowa"]),
        ('the play "the little café" of 1911', ["the little café"]),
        ("in Москве жил Александр Пушкин", ["Москве", "Александр Пушкин"]),
        ("στην Αθήνα", ["Αθήνα"]),
        ("the \uff30\uff41\uff52\uff49\uff53 of old", ["Paris"]),  # NFKC: wide letters are letters
        ("夏目漱石の『吾輩は猫である』とスカイツリー", ["吾輩は猫である", "スカイツリー"]),
        ("nothing here has a name", []),
        ("", []),
    ],
)
def test_capitals_quotes_and_katakana_name(text, found):
    assert names(text) == [found]


def test_a_word_that_begins_a_sentence_is_a_name_if_the_corpus_writes_it_with_a_capital_elsewhere():
    opening = "Berlin was cold. Winter came. Nobody spoke."
    assert names(opening) == [[]]
    assert names(opening, "they went to Berlin in winter") == [["Berlin"], ["Berlin"]]
    assert names("When Anna came", "it was cold when she left") == [["Anna"], []]
    assert names("it was Albert I. She left", "then she came")[0] == ["Albert I"]


def test_a_full_stop_ends_no_sentence_behind_a_word_that_nearly_always_has_one():
    alone, often = "they live in St. Louis", ["in St. Louis", "of St. Helena", "near St. Paul"]
    assert names(alone) != [["St. Louis"]]
    assert names(alone, *often)[0] == ["St. Louis"]


def test_a_title_is_found_in_other_passages_whatever_is_in_it_and_counts_without_its_brackets():
    novel = "Pride and Prejudice (novel)\nA book."
    assert names(novel, "she read Pride and Prejudice to them")[1] == ["Pride and Prejudice"]
    assert names("東京\n首都である。", "日本の首都は東京です。")[1] == ["東京"]
    assert names("กรุงเทพ\nเมือง", "เมืองหลวงคือกรุงเทพ")[1] == ["กรุงเทพ"]
    assert "नई दिल्ली" in names("नई दिल्ली\nराजधानी है।", "भारत की राजधानी नई दिल्ली है।")[1]


def test_in_scripts_without_capitals_a_word_is_a_name_that_comes_back_but_seldom():
    texts = [f"هذا نص رقم {'اثنان' * (i + 1)}" for i in range(60)]
    texts[3] += " عن القاهرة"
    texts[40] += " في القاهرة"
    found = names(*texts)
    assert found[3] == found[40] == ["القاهرة"]
    assert not any(found[:3])


def test_least_leaves_out_what_fewer_passages_name_unless_it_is_a_title():
    texts = "Anna met Ben and Cleo", "here is Ben again", "Cleo\nshe sings"
    assert names(*texts, min_passages=2)[0] == ["Ben", "Cleo"]
    assert names(*texts, min_passages=3)[0] == ["Cleo"]


def test_years_are_names_when_asked_for():
    assert names("in 1926 with 12345 others") == [[]]
    assert names("in 1926 with 12345 others", years=True) == [["1926"]]


@given(st.lists(st.text(st.sampled_from("Aa b.\n\"'“”()I東カคदि1-,"), max_size=40), max_size=5))
def test_every_name_stands_in_its_text_and_none_is_empty(texts):
    for text, found in zip(texts, names(*texts), strict=True):
        assert all(name.strip() and name in text for name in found)


@given(st.text(max_size=60))
def test_any_text_can_be_read(text):
    assert len(Names().triples([Passage("a", text), Passage("b", text, text)])) == 2


PEOPLE = [
    Document("ada", "Ada Lovelace\nAda Lovelace wrote to Charles Babbage in London.", {"year": 1}),
    Document(
        "engine",
        "Analytical Engine\nThe Analytical Engine was designed by Charles Babbage.",
        {"year": 2},
    ),
    Document("city", "London\nLondon lies on the Thames. Nobody knows why.", {"year": 1}),
    Document("why", "Thames\nwe ask why Nobody drank of it in London.", {"year": 2}),
]


def facts(index):
    graph = index.graph
    said = zip(graph.facts.texts, map(list, graph.facts.read_from), strict=True)
    return {(text, tuple(graph.ids[row] for row in rows)) for text, rows in said}


@pytest.fixture(scope="module")
def index():
    return Index.from_documents(PEOPLE, extractor=Names())


def test_an_index_reads_facts_from_the_passages_that_say_them(index):
    assert ("Analytical Engine was designed by Charles Babbage", ("engine",)) in facts(index)
    assert (
        index.ask("Who designed the Analytical Engine?", recipe="hipporag").items[0].id == "engine"
    )


def test_what_is_added_deleted_or_filtered_equals_an_index_built_of_what_is_left(index):
    first = Index.from_documents(PEOPLE[:3], extractor=Names())
    assert facts(first) != {
        fact for fact in facts(index) if "why" not in fact[1]
    }  # the last document makes "Nobody" a name
    assert facts(first.add(PEOPLE[3:])) == facts(index)
    assert facts(index.delete("why")) == facts(first)
    odd = Index.from_documents(
        [document for document in PEOPLE if document.metadata["year"] == 1], extractor=Names()
    )
    for recipe in ("hipporag", "fused"):
        filtered, built = (
            index.ask("Who wrote?", recipe=recipe, where={"year": 1}),
            odd.ask("Who wrote?", recipe=recipe),
        )
        assert [(item.id, item.score) for item in filtered] == [
            (item.id, item.score) for item in built
        ]


def test_an_extractor_is_saved_by_its_parameters_and_one_of_the_callers_own_is_wanted_again(
    index, tmp_path
):
    few = replace(Names(), min_passages=2, inner_words=("of",))
    Index.from_documents(PEOPLE, extractor=few).save(tmp_path / "ours")
    assert Index.load(tmp_path / "ours").extractor == few
    Index.from_documents(PEOPLE, extractor=shouting).save(tmp_path / "own")
    lost, loaded = Index.load(tmp_path / "own"), Index.load(tmp_path / "own", extractor=shouting)
    for one in (lost, loaded):
        assert facts(one.delete("why")) == facts(
            Index.from_documents(PEOPLE[:3], extractor=shouting)
        )
        assert facts(filtered_index(one, {"year": 1})) == facts(
            Index.from_documents(PEOPLE[::2], extractor=shouting)
        )
    with pytest.raises(ValueError, match=r"extractor=.*give it again"):
        lost.add([Document("new", "Paris\nis new")])
    assert "Paris shouts NEW" in dict(facts(loaded.add([Document("new", "Paris\nis new")])))


def shouting(text):
    title = text.partition("\n")[0]
    return [(title, "shouts", word.upper()) for word in text.split()[-1:]]


def test_facts_of_an_extractor_come_beside_those_that_are_given_and_from_the_piece_that_says_them():
    document = Document(
        "d", "Ada met Ben. " * 30 + "Later on she met Cleo of Delos.", {"title": "Ada"}
    )
    index = Index.from_documents(
        [document],
        extractor=Names(),
        facts={"d": [("Ada", "is", "a person")]},
        splitter=Splitter(tokens=62),
    )
    read = dict(facts(index))
    assert "Ada is a person" in read
    (piece,) = read["Ada Later on she met Cleo of Delos"]
    assert "Cleo" in index.graph.texts[index.graph.ids.index(piece)]


@pytest.mark.parametrize(
    ("extractor", "error", "said"),
    [
        (Names, TypeError, "is the class Names"),
        (7, TypeError, "cannot extract with a int"),
        (lambda text: 1 / 0, RuntimeError, "failed on the passage 'ada': ZeroDivisionError"),
        (lambda text: [("a", "b")], ValueError, "a fact is (subject, relation, object)"),
        (
            lambda text: [{"subject": "Ada", "relation": "met", "object": "Ben"}],
            ValueError,
            "three strings; document 'ada' has {'subject': 'Ada', ",
        ),
        (lambda text: [{"Ada", "met", "Ben"}], ValueError, "three strings; document 'ada' has {'"),
        (TaggedEntities("no pipeline"), TypeError, "a tagger has pipe(texts)"),
    ],
)
def test_what_is_no_extractor_is_refused_by_name(extractor, error, said):
    with pytest.raises(error, match=re.escape(said)):
        Index.from_documents(PEOPLE, extractor=extractor)


@dataclass
class Entity:
    text: str
    start_char: int
    end_char: int
    label_: str = "PERSON"


@dataclass
class Tags:
    ents: list[Entity]


class Pipeline:
    """Stands in for a spaCy pipeline: whoever is called Ada or Ben."""

    def pipe(self, texts):
        for text in texts:
            yield Tags(
                [
                    Entity(m[0], m.start(), m.end(), "PERSON" if m[0] != "Rome" else "GPE")
                    for m in re.finditer("ada|ben|rome", text)
                ]
            )


def test_a_tagger_of_the_callers_own_finds_the_names():
    passages = [
        Passage("0", "the trip\nin may ada met ben"),
        Passage("1", "rome saw ben", "a title"),
    ]
    assert TaggedEntities(Pipeline()).triples(passages) == [
        [("the trip", "in may", "ada"), ("the trip", "… met", "ben")],
        [("a title", "mentions", "rome"), ("a title", "… saw", "ben")],
    ]
    assert TaggedEntities(Pipeline(), labels=("GPE",)).triples(passages) == [[], []]


def entities(*read):
    """A graph of entities: a name, and the passages it was read from."""
    from clew.graph import Graph, Ragged

    passages = 1 + max(row for _, rows in read for row in rows)
    return Graph.of(
        [*map(str, range(passages)), *(name for name, _ in read)],
        kinds=["passage"] * passages + ["entity"] * len(read),
        read_from=Ragged.of([*[()] * passages, *(rows for _, rows in read)]),
    )


def test_short_forms_lead_to_what_they_may_stand_for_the_more_the_weaker():
    graph = entities(
        ("Barack Obama", [0]), ("Obama", [1]), ("American Psychological Association", [0]), ("APA", [2]), ("New York", [0]), ("New", [3]),
        ("New Jersey", [3, 4]), ("New Delhi", [5]), ("Al", [1]), ("Al Gore", [1]),
    )  # fmt: skip
    edges = ShortForm().on(graph)
    found = {
        (graph.texts[t], graph.texts[h]): round(float(w), 3)
        for t, h, w in zip(edges.tails, edges.heads, edges.weights, strict=True)
    }
    assert found == {
        ("Obama", "Barack Obama"): 1,
        ("APA", "American Psychological Association"): 1,
        ("New", "New Jersey"): 1,  # named beside it; of two others it says nothing
    }
    assert len(ShortForm(min_share=0.3).on(graph)) == 5
    assert set(edges.kinds) == {"shortform"}
