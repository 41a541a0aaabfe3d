"""How much vectors count beside words: by their embedder, and by the question's language."""

from __future__ import annotations

import pytest

import clew
from clew.index.answer import GIVEN_VECTORS_WEIGHT, UNKNOWN_LANGUAGE_WEIGHT

TEXTS = {
    "en": [
        "The ferry to the island leaves every morning at nine from the old harbour in the north.",
        "When the wind is strong, the captain stays ashore and the passengers have to wait.",
        "Tickets are sold in the office behind the market, which is open until the evening.",
    ],
    "de": [
        "Die Fähre zur Insel verlässt den alten Hafen im Norden jeden Morgen um neun Uhr.",
        "Wenn der Wind stark ist, bleibt der Kapitän an Land und die Fahrgäste müssen warten.",
        "Karten werden im Büro hinter dem Markt verkauft, das bis zum Abend geöffnet ist.",
    ],
    "zh": [
        "渡轮每天早上九点从北边的旧港口出发前往岛上。",
        "风大的时候，船长留在岸上，乘客必须等待。",
    ],
}


class Weight:
    """A seed that remembers the weight that it was asked with."""

    def __init__(self):
        self.asked = []

    def on(self, graph):
        bound = clew.seed.Dense().on(graph)

        def find_seeds(query):
            self.asked.append(query.vector_weight)
            return bound(query)

        return find_seeds


def top(seed):
    """The recipe that reads the best by a seed."""
    return clew.Pipeline(seed, selects=(clew.select.Top(),), order=clew.order.ByPrize())


def weight_of(question, texts, **options):
    index = clew.Index.from_documents(texts, **options)
    seed = Weight()
    index.ask(question, recipe=top(seed), min_relevance=0)
    assert seed.asked
    return seed.asked[-1]


@pytest.mark.parametrize(
    ("question", "languages", "expected"),
    [
        ("When does the ferry leave?", ["en"], 1.0),
        ("Wann fährt die Fähre ab?", ["de"], UNKNOWN_LANGUAGE_WEIGHT),
        ("渡轮早上几点出发？", ["zh"], UNKNOWN_LANGUAGE_WEIGHT),
        ("9:00", ["zh"], 1.0),
        ("When does the ferry leave for the island?", ["en", "de"], 1.0),
        ("Wann verlässt die Fähre zur Insel den Hafen?", ["en", "de"], UNKNOWN_LANGUAGE_WEIGHT),
    ],
)
def test_the_language_of_the_question_decides(question, languages, expected):
    texts = [text for language in languages for text in TEXTS[language]]
    assert weight_of(question, texts) == expected


@pytest.mark.parametrize(
    ("question", "languages", "expected"),
    [
        ("When does it leave?", ["en"], GIVEN_VECTORS_WEIGHT),
        ("When does the ferry leave for the island?", ["en", "de"], GIVEN_VECTORS_WEIGHT),
        ("Wann verlässt die Fähre zur Insel den Hafen?", ["en", "de"], 1.0),
        ("Wann fährt die Fähre ab?", ["de"], 1.0),
        ("渡轮早上几点出发？", ["zh"], 1.0),
    ],
)
def test_an_embedder_that_was_given_counts_more_in_english(question, languages, expected):
    texts = [text for language in languages for text in TEXTS[language]]
    assert weight_of(question, texts, embedder=embed) == expected


def embed(texts):
    return [[1.0, len(text)] for text in texts]


FACTS = {
    i: [(name, "met", other) for name, other in (("Anna", "Ben"), ("Cleo", "Dan"), ("Eve", "Finn"))]
    for i in range(3)
}


@pytest.mark.parametrize(
    ("name", "n_facts", "expected"),
    [("{}.txt", 3, 1.0), ("{}.txt", 1, GIVEN_VECTORS_WEIGHT), ("{}.py", 3, GIVEN_VECTORS_WEIGHT)],
)
@pytest.mark.parametrize("is_saved", [False, True])
def test_where_names_are_read_in_prose_it_counts_no_more(
    name, n_facts, expected, is_saved, tmp_path
):
    """More entities than passages tell that: six and two beside three."""
    format = "python" if name.endswith("py") else "text"
    documents = [
        clew.Document(name.format(i), text, format=format) for i, text in enumerate(TEXTS["en"])
    ]
    facts = {name.format(i): own[:n_facts] for i, own in FACTS.items()}
    index = clew.Index.from_documents(documents, embedder=embed, facts=facts, extractor=None)
    assert len(index.graph.rows("entity")) == 2 * n_facts
    if is_saved:
        index.save(tmp_path / "index")
        index = clew.Index.load(tmp_path / "index", embedder=embed)
    seed = Weight()
    index.ask("When does it leave?", recipe=top(seed), min_relevance=0)
    assert seed.asked[-1] == expected


def test_of_another_retriever_nobody_knows_its_languages():
    seed = Weight()
    clew.narrow("Wann fährt die Fähre ab?", TEXTS["de"], recipe=top(seed))
    assert seed.asked == [1.0]


def test_words_decide_what_vectors_of_another_language_cannot():
    """The share by definition: the same page as a blend with a quarter for vectors."""
    index = clew.Index.from_documents(TEXTS["de"])
    question = "Wo werden Karten verkauft?"
    own = top(clew.seed.Blend())
    found = index.ask(question, recipe=own)
    given = clew.Index.from_documents(
        TEXTS["de"], embedder=lambda texts: index.embedder.embed_texts(texts)
    )
    quarter = top(clew.seed.Blend(dense_share=0.25))
    expected = given.ask(question, recipe=quarter)
    assert found.ids == expected.ids
    assert [i.score for i in found] == pytest.approx([i.score for i in expected])
