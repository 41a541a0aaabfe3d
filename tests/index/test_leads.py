"""How near a document is to a question that leads to a name: by the definition, in plain Python."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import clew
from clew import Document
from clew.adapters import CANDIDATES, QueryOptions, ask_candidates
from clew.index import leads
from clew.index.leads import FIRST_SHARE, LEAD_SHARE, cosines_by_id
from clew.text.words import words

VECTOR = arrays(float, 3, elements=st.floats(-1, 1).map(lambda x: round(x, 2)))


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    lengths = math.hypot(*one) * math.hypot(*other)
    return sum(a * b for a, b in zip(one, other, strict=True)) / lengths if lengths else 0.0


@given(
    st.lists(VECTOR, min_size=1, max_size=4),
    VECTOR,
    st.lists(VECTOR, max_size=3),
    st.sets(st.integers(0, 5).map(str)),
)
def test_a_document_is_as_near_as_the_nearer_of_the_question_and_what_it_leads_to(
    rows: list[np.ndarray], question: np.ndarray, leads: list[np.ndarray], first: set[str]
) -> None:
    found = cosines_by_id({str(i): row for i, row in enumerate(rows)}, question, leads, first)
    for i, row in enumerate(rows):
        share = FIRST_SHARE if str(i) in first else LEAD_SHARE
        by_leads = [share * cosine(row, lead) for lead in leads]
        assert found[str(i)] == pytest.approx(max([cosine(row, question), *by_leads]), abs=1e-6)


def test_without_documents_there_is_nothing_to_compare() -> None:
    assert cosines_by_id({}, [1, 0]) == {}


def test_an_address_that_is_none_leads_nowhere():
    found = leads.links_in("See [a](http://[sea) and [b](tides.md).", "https://sea.org/moon.md")
    assert found == ("https://sea.org/tides.md", "tides.md")


@given(st.lists(VECTOR, min_size=1, max_size=4), VECTOR)
def test_vectors_as_lists_are_compared_as_arrays_are(rows: list[np.ndarray], question: np.ndarray):
    by_arrays = cosines_by_id({str(i): row for i, row in enumerate(rows)}, question)
    assert (
        cosines_by_id({str(i): row.tolist() for i, row in enumerate(rows)}, question) == by_arrays
    )
    mixed = {str(i): row if i % 2 else row.tolist() for i, row in enumerate(rows)}
    assert cosines_by_id(mixed, question) == by_arrays
    halves = {str(i): row.astype(np.float32) for i, row in enumerate(rows)}
    lists = {id: list(row) for id, row in halves.items()}
    assert cosines_by_id(lists, question) == cosines_by_id(halves, question)
    # Cosines are rounded to six digits, so those of float32 may differ by one in the last.
    assert cosines_by_id(halves, question) == pytest.approx(by_arrays, abs=1.5e-6)


def test_vectors_that_are_none_are_an_error_of_numpy() -> None:
    with pytest.raises(ValueError, match="inhomogeneous"):
        cosines_by_id({"a": [1.0, 0.0], "b": [1.0]}, [1, 0])
    with pytest.raises(ValueError, match="could not convert"):
        cosines_by_id({"a": ["x", "y"]}, [1, 0])


@given(
    st.lists(
        st.sampled_from(["Directed", "by", "DIRECTOR of", "straße", "Ferry", "—"]), max_size=5
    ),
    st.lists(st.sampled_from(["the director", "strasse", "ferries", "is by"]), max_size=3),
)
def test_words_of_the_question_that_are_said_are_known_by_their_beginnings(relation, question):
    asked = {word[:5] for word in words(" ".join(question)) if len(word) >= 5}
    said = {word[:5] for word in words(" ".join(relation)) if len(word) >= 5}
    assert leads._hits(" ".join(relation), frozenset(asked)) == len(asked & said)


@pytest.mark.parametrize("is_metadata", [False, True])
def test_documents_that_the_question_names_lead_first_wherever_they_stand(is_metadata: bool):
    people = ["Anna Bell", "Ben Okri", "Cleo Hart", "Dan Ek", "Eva Lind", "Finn Moe", "Gil Ash"]
    people += ["Hal Orr", "Ida Wes", "Jon Tay", "Kim Roe", "Lea Fox"]
    films = [f"Old Town {i}" for i in range(10)] + ["Blue Harbour (1950 film)", "Night Ferry"]
    documents = []
    for film, person in zip(films, people, strict=True):
        text = f"It is a drama film directed by {person} in Rome."
        metadata = {"title": film} if is_metadata else {}
        documents.append(Document(film, text if is_metadata else f"{film}\n{text}", metadata))
    asked = "Are the directors of Blue Harbour and Night Ferry from the same country?"
    assert set(leads.names_to_follow(asked, documents, count=2)) == {"Kim Roe", "Lea Fox"}
    assert not {"Kim Roe", "Lea Fox"} & set(leads.names_to_follow("Who is he?", documents))


WORDS = ["ferry", "Harbours", "straße", "of", "museum", "Twin"]


@given(
    st.lists(st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join), max_size=9),
    st.lists(st.sampled_from([*WORDS, "harbour", "STRASSE", "the"]), max_size=4).map(" ".join),
)
def test_what_leads_on_is_ordered_by_both_its_rank_and_the_rare_words_it_has(texts, question):
    documents = [Document(str(i), text or "-") for i, text in enumerate(texts)]
    long = {word[:6] for word in words(question) if len(word) >= 4}
    n = len(documents)
    held = {i: [w for w in long if w in words_text(one.text)] for i, one in enumerate(documents)}
    count = Counter(word for of_one in held.values() for word in of_one)
    idf = {word: math.log((n + 1) / (count[word] + 0.5)) for word in long}
    by_words = sorted(held, key=lambda i: (-round(math.fsum(idf[w] for w in held[i]), 6), i))
    score = {i: 1 / (2 + i) + 1 / (2 + (by_words.index(i) if long else i)) for i in held}
    order = sorted(held, key=lambda i: (-round(score[i], 6), i))
    got = leads._by_words_too(tuple(words(question)), documents)
    assert [int(one.id) for one in got] == order


def words_text(text: str) -> str:
    return " ".join(words(text))


def test_the_document_with_the_rare_word_of_a_question_leads_on():
    near = [film(f"Town {i}", f"The mayor of Town {i} was Ben Okri {i}.") for i in range(12)]
    rare = film("Kohuwala", "Kohuwala lies between Nugegoda and Colombo.")
    asked = "Who was the mayor of the town near Nugegoda?"
    assert "Colombo" in leads.names_to_follow(asked, [*near, rare])


def film(title: str, *sentences: str) -> Document:
    return Document(title, "\n".join([title, *sentences]))


def test_of_films_with_one_title_the_one_whose_brackets_are_asked_for_gives_the_name():
    older = film("Night Ferry (1935 film)", "It is a drama directed by Kim Roe.")
    newer = film("Night Ferry (1967 film)", "It is a drama directed by Lea Fox.")
    asked = "Who is the director of Night Ferry ({} Film)?"
    for documents in ([older, newer], [newer, older]):
        assert leads.bridge_names(asked.format(1935), documents) == ("Kim Roe",)
        assert leads.bridge_names(asked.format(1967), documents) == ("Lea Fox",)
        first = documents[0].text.partition("by ")[2].rstrip(".")
        assert leads.bridge_names("Who is the director of Night Ferry?", documents) == (first,)


def test_a_title_within_another_title_and_source_code_give_no_name():
    asked = "Who is the director of The Night Ferry Returns?"
    long = film("The Night Ferry Returns", "It is a drama directed by Lea Fox.")
    short = film("Night Ferry", "It is a drama directed by Kim Roe.")
    assert leads.bridge_names(asked, [short, long]) == ("Lea Fox",)
    assert leads.bridge_names(asked, [short]) == ("Kim Roe",)
    code = Document("a", short.text, format="python")
    assert leads.bridge_names(asked, [code]) == ()


def test_names_that_the_question_has_or_that_it_says_nothing_of_are_not_looked_for():
    asked = "Was the director of Blue Harbour, Ben Okri, born in Turin?"
    text = "Its director is Ben Okri. It was made in Rome by Cleo Hart."
    assert leads.bridge_names(asked, [film("Blue Harbour", text)]) == ()
    given = {"Blue Harbour": [("Blue Harbour", "directors", "Dan Ek")]}
    assert leads.bridge_names(asked, [film("Blue Harbour", text)], given) == ("Dan Ek",)


def test_each_further_search_is_for_names_that_none_before_was_for():
    asked = "Is the director of Blue Harbour older than the director of Night Ferry?"
    documents = [
        film("Blue Harbour", "It was directed by Ben Okri in Rome."),
        film("Night Ferry", "It was directed by Cleo Hart in Turin."),
    ]
    searches = leads.LeadSearches(asked)
    made = [searches.following(documents) for _ in range(5)]
    texts = [one.text for one in made if one is not None]
    assert texts[:2] == ["Ben Okri", "Cleo Hart"]
    assert texts[2].startswith(asked)
    names = [name for one in made if one is not None for name in one.names]
    assert sorted(names) == ["Ben Okri", "Cleo Hart", "Rome", "Turin"]
    assert made[-1] is None


def test_where_few_words_are_names_none_is_followed_unless_facts_were_given():
    manual = "The manual\nWhen the light goes out, wait for Ben Okri. " + "Wait. " * 40
    lid = "Turn the key twice, and close the lid."
    documents = [Document("a", manual), *(Document(str(i), lid) for i in range(10))]
    searches = leads.LeadSearches("Who waits?")
    assert searches.following(documents) is None
    assert searches.has_names is False
    given = {"a": [("Cleo Hart", "met", "Dan Ek")]}
    assert leads.LeadSearches("Who waits?").following(documents, given) is not None
    assert leads.LeadSearches("Who waits?").following(documents[:9]).names == ("Ben Okri",)
    story = [Document(f"c{i}", "Cleo Hart met Dan Ek in Rome.") for i in range(3)]
    assert leads.LeadSearches("Who met?").following([*story, *documents[1:]]).names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Она встретила Бена Окри в Риме.", True),
        ("Нажмите на кнопку, пока не загорится лампа.", False),
        ("ベン・オクリはローマで『ブルー・ハーバー』を監督した。", True),
        ("ランプが点灯するまでボタンを押してください。", True),
        ("她在罗马导演了《蓝色港湾》。", False),
        ("| 12 | 44 | 1.5 | 7 | 8 | 9 | 4 | 5 | 6 |", False),
    ],
)
def test_names_are_counted_by_capitals_where_there_are_some(text, expected):
    assert leads.have_names([Document(str(i), text) for i in range(10)]) is expected


def test_source_code_has_no_names_to_follow():
    texts = [f"// Ben Okri met Dan Ek in Rome.\nfn met{i}() {{}}" for i in range(10)]
    for suffix, expected in (("rs", False), ("txt", True)):
        documents = [
            Document(str(i), text, {"source": f"src/{i}.{suffix}"}) for i, text in enumerate(texts)
        ]
        assert leads.have_names(documents) is expected


def test_candidates_with_few_names_are_not_joined_by_them():
    few = [Document(str(i), "Ben Okri met Dan Ek. " + "Wait for it. " * 30) for i in range(10)]
    many = [Document(str(i), "Ben Okri met Dan Ek in Rome.") for i in range(10)]
    by_facts = [
        clew.narrow("Whom did Ben Okri meet?", documents, **how).trace[0].notes["facts"]
        for documents in (few, many)
        for how in ({}, {"extractor": clew.NamesAndSymbols()})
    ]
    assert [bool(n) for n in by_facts] == [False, True, True, True]
    known = [  # somebody has looked already, at what else was found
        ask_candidates("Whom did Ben Okri meet?", few, CANDIDATES, has_names=has_names)(
            QueryOptions()
        )
        for has_names in (False, True)
    ]
    assert [bool(context.trace[0].notes["facts"]) for context in known] == [False, True]
