"""An index reads names where prose has many, as if somebody had asked for them, and else none."""

from __future__ import annotations

import random
import re

import pytest

from clew import Document, Index, IndexConfig, NamesAndSymbols, NamesWhereMany, Symbols
from clew.index import in_place
from clew.index.config import DEFAULT_LINKS, LINKS_OF_NAMES
from clew.read.extract.names_where_many import share_of_names
from tests.index.test_in_place import described

FIRST = ("Anna", "Ben", "Cleo", "Dora", "Emil", "Frida", "Gustav", "Hanna", "Ivan", "Jana")
LAST = ("Bell", "Okri", "Hart", "Lund", "Moor", "Nash", "Orr", "Page", "Quist", "Rhys")
TOWNS = ("Corfu", "Delos", "Naxos", "Paros", "Rhodes", "Samos", "Syros", "Thasos", "Tinos", "Kea")
MANUAL = (
    "Press the button until the lamp lights up, then wait for the pump to stop.",
    "The filter has to be washed once a week in warm water without any soap.",
    "If the valve leaks, turn the screw below the tank until it is tight.",
    "Water that stands for more than a day has to be let out of the boiler.",
)


def people(number, seed=0):
    """Return pages on people, each of whom leads to the next."""
    drawn = random.Random(seed)
    names = [f"{first} {last}" for last in LAST for first in FIRST][:number]
    return [
        Document(
            f"p{i}",
            f"{name} was born in {drawn.choice(TOWNS)} in {1800 + i}, and worked there as a potter "
            f"until {names[(i + 1) % number]} came to the workshop.",
            {"title": name, "about": "people"},
        )
        for i, name in enumerate(names)
    ]


def manual(number):
    return [
        Document(f"m{i}", f"{MANUAL[i % 4]} That is step {i} of the list.", {"about": "boilers"})
        for i in range(number)
    ]


def entities(index):
    return len(index.graph.rows("entity"))


def share_by_pattern(text):
    """Return the share of words after a letter or a comma that have one capital, their first."""
    found = re.findall(r"(?<=[A-Za-z,] )[A-Z][a-z]+\b", text)
    return len(found) / len(text.split())


def test_prose_with_many_names_is_read_as_if_they_had_been_asked_for():
    documents = people(60)
    index = Index.from_documents(documents)
    asked = Index.from_documents(documents, extractor=NamesAndSymbols(), links=LINKS_OF_NAMES)
    assert entities(index) > 60
    assert described(index.graph) == described(asked.graph)
    assert index.config.extractor == NamesWhereMany()
    assert (index.extractor, index.links) == (NamesAndSymbols(), LINKS_OF_NAMES)


def test_other_prose_is_read_for_symbols_alone():
    documents = manual(120)
    index = Index.from_documents(documents)
    assert described(index.graph) == described(
        Index.from_documents(documents, extractor=Symbols()).graph
    )
    assert (index.extractor, index.links) == (Symbols(), DEFAULT_LINKS)


def test_no_names_are_read_where_facts_are_given():
    given = {"facts": {"p0": [("Anna Bell", "met", "Ben Bell")]}}
    assert entities(Index.from_documents(people(60), **given)) == 2


def test_the_share_is_that_of_words_with_a_capital_within_sentences():
    documents = people(60)
    text = " ".join(document.text for document in documents)
    assert share_of_names(documents) == pytest.approx(share_by_pattern(text), abs=0.002)
    assert share_of_names(documents[:20]) == 0  # less than a thousand words
    assert share_of_names(manual(200)) == 0
    pages = [Document(str(i), "Der Hund und die Katze sind nicht im Haus.") for i in range(200)]
    assert share_of_names(pages) == 0  # German writes all nouns so
    headings = [
        Document(str(i), "The Old Harbour\nAnna Bell\n| Corfu | Delos |") for i in range(100)
    ]
    assert share_of_names([*documents, *headings]) == share_of_names(documents)


def test_what_a_filter_allows_decides_for_itself(monkeypatch):
    monkeypatch.setattr(in_place, "MIN_PASSAGES", 0)
    some, others = people(80), manual(700)
    index = Index.from_documents([*some, *others])
    assert not entities(index)  # of all words too few are names
    for about, alone in (("people", some), ("boilers", others)):
        filtered = index.ask("Who came to the workshop?", where={"about": about}, limit=5)
        built = Index.from_documents(alone).ask("Who came to the workshop?", limit=5)
        assert [item.id for item in filtered] == [item.id for item in built]
        assert [item.score for item in filtered] == pytest.approx([item.score for item in built])
    assert entities(Index.from_documents(some))


def test_what_comes_later_is_read_as_what_was_there(monkeypatch, tmp_path):
    monkeypatch.setattr(in_place, "MIN_PASSAGES", 0)
    Index.from_documents(people(60)).save(tmp_path)
    index = Index.load(tmp_path)
    more = Document("new", "Zoe Quill came from Samos to the workshop of Ben Bell in Paros.")
    grown = index.add([more])
    assert grown.changed == 1  # nothing was built anew
    assert "Zoe Quill" in grown.graph.texts
    assert grown.compact().graph.texts == Index.from_documents([*people(60), more]).graph.texts
    fewer = grown.delete(["new"])
    assert "Zoe Quill" not in fewer.graph.texts
    assert (grown.extractor, grown.links) == (NamesAndSymbols(), LINKS_OF_NAMES)


def test_an_index_that_turns_to_names_does_so_when_it_is_built_again():
    index = Index.from_documents(manual(40))
    assert not entities(index)
    grown = index.add(people(90))
    assert described(grown.graph) == described(
        Index.from_documents([*manual(40), *people(90)]).graph
    )
    assert entities(grown)


def test_links_of_the_caller_stay():
    config = IndexConfig.from_keywords(links=DEFAULT_LINKS[:3])
    index = Index.from_documents(people(60), config=config)
    assert entities(index)
    assert index.links == DEFAULT_LINKS[:3]


def test_a_question_over_two_pages_finds_the_second():
    documents = people(60)
    question = "In which town was the person born who came to the workshop of Anna Bell?"
    wanted = {"p0", "p1"}
    found = Index.from_documents(documents).ask(question, limit=3)
    assert wanted <= set(found.ids)


@pytest.mark.parametrize("share", [-0.1, 1.5])
def test_a_share_is_between_0_and_1(share):
    with pytest.raises(ValueError, match="from 0 to 1"):
        NamesWhereMany(min_share=share)
