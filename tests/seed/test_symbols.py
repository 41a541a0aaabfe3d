"""Questions that name symbols of source code: the facts that they ask for, and nothing in prose."""

from __future__ import annotations

import numpy as np
import pytest

from clew import Document, Index, NamesAndSymbols, Query, Symbols, recipes, seed
from clew.graph import Graph

CODE = {
    "kit/tools.py": "class Tool:\n    def use_it(self): raise NotImplementedError\n"
    "    def open(self): self.use_it()\n",
    "kit/wood.py": "from kit.tools import Tool\n\nclass Saw(Tool):\n    def use_it(self): cut_wood()\n"
    "\ndef cut_wood(): raise Lost\n\nclass Lost(Exception): pass\n",
    "main.py": "from kit.wood import Saw, cut_wood\n\ndef run():\n    cut_wood()\n    Saw().open()\n",
}


@pytest.fixture(scope="module")
def index():
    documents = [Document(name, text, format="python") for name, text in CODE.items()]
    return Index.from_documents(documents, extractor=NamesAndSymbols())


def asked_facts(index, question):
    """The facts that the question asks for, without the definition of what it names."""
    query = Query(question, np.float32(index.embedder.embed_question(question)))
    seeds = seed.RecognisedFacts().on(index.graph)(query)
    best = seeds.fact_scores == 1.0
    asked = seeds.notes.get("facts about symbols", 0)
    return {index.graph.facts.texts[fact] for fact in seeds.facts[:asked][best[:asked]]}


@pytest.mark.parametrize(
    ("question", "facts"),
    [
        ("Who calls cut_wood?", {"Saw.use_it calls cut_wood", "run calls cut_wood"}),
        ("Where is `cut_wood` called?", {"Saw.use_it calls cut_wood", "run calls cut_wood"}),
        ("what calls cut wood", {"Saw.use_it calls cut_wood", "run calls cut_wood"}),
        ("What does Saw.use_it call?", {"Saw.use_it calls cut_wood"}),
        ("Who calls open of Tool?", {"run calls Tool.open"}),
        ("Who calls kit.tools.Tool.open?", {"run calls Tool.open"}),
        ("Which classes inherit from Tool?", {"Saw inherits from Tool"}),
        ("What does Saw inherit from?", {"Saw inherits from Tool"}),
        ("What must I implement to make a Tool?", {"Tool requires Tool.use_it"}),
        ("What overrides Tool.use_it?", {"Saw.use_it overrides Tool.use_it"}),
        ("How do I write my own Saw?", set()),
        ("What does Saw call?", {"Saw.use_it calls cut_wood"}),
        ("Who raises Lost?", {"cut_wood raises Lost"}),
        ("Where is cut_wood defined?", {"kit.wood defines cut_wood"}),
        ("Where is run in main defined?", {"main defines run"}),
        ("Where is `open` of `Tool` defined?", {"Tool defines Tool.open"}),
        ("Where is open of the class Tool defined?", {"Tool defines Tool.open"}),
        ("Where is the open method of a Tool defined?", {"Tool defines Tool.open"}),
        ("Where is the open function defined?", {"Tool defines Tool.open"}),
        ("Where is the open of the shop checked?", set()),
        ("Where is run in the morning defined?", set()),
        ("Where is the open method of a shop defined?", set()),
        ("Where is a cut wood defined?", set()),
        ("Is the road to the sea open?", set()),
        ("Who calls the elephant?", set()),
    ],
)
def test_a_question_asks_for_the_facts_of_its_verb(index, question, facts):
    assert asked_facts(index, question) == facts


@pytest.mark.parametrize("recipe", ["hipporag", "budgeted", "agrag"])
def test_what_is_asked_for_is_read_first(index, recipe):
    context = index.ask("Which function raises Lost?", recipe=recipe)
    best = max((item for item in context if item.kind == "passage"), key=lambda item: item.score)
    assert best.id == "kit/wood.py"


def test_a_name_that_many_things_have_means_none_of_them():
    triples = [(f"m{i}", "defines", f"m{i}.Box.open_it") for i in range(9)]
    graph = Graph.from_triples([*triples, ("a", "calls", "m1.Box.open_it")])
    find = seed.RecognisedFacts().on(graph)
    assert "facts about symbols" not in find(Query("Who calls open_it?")).notes
    assert find(Query("Who calls m1.Box.open_it?")).notes["facts about symbols"] == 2


def test_the_word_i_is_no_class_of_that_name():
    code = {"kit.py": "class I:\n    def cut(self): return I\n\ndef saw(): return I()\n"}
    index = Index.from_documents(
        [Document(name, text, format="python") for name, text in code.items()],
        extractor=NamesAndSymbols(),
    )
    for question in (
        "Where do I define what is cut?",
        "Which function should I call?",
        "Where is the class I use?",
    ):
        assert asked_facts(index, question) == set()
    assert asked_facts(index, "Who calls `I`?") == {"saw calls I"}


@pytest.mark.parametrize("question", ["Where is the cut wood of Tom?", "who calls the cut wood"])
def test_words_behind_an_article_are_a_name_where_nothing_goes_on(index, question):
    assert asked_facts(index, question)


@pytest.mark.parametrize(
    "question",
    [
        "Where is the cut wood storage?",
        "who calls the cut wood dealer",
        "What is this cut wood pile",
    ],
)
def test_words_behind_an_article_that_go_on_are_no_name(index, question):
    assert not asked_facts(index, question)


def test_words_that_are_a_name_of_some_test_alone_do_not_ask_for_it():
    code = "SECRET_KEY = 1\n\ndef cut_wood(): return SECRET_KEY\n"

    def asked_of(question, *paths):
        documents = [Document(path, code, format="python") for path in paths]
        return asked_facts(Index.from_documents(documents, extractor=NamesAndSymbols()), question)

    question = "Where is cut wood defined?"
    assert asked_of(question, "kit.py", "tests/test_kit.py") == {"kit defines kit.cut_wood"}
    assert asked_of(question, "tests/test_kit.py") == set()
    assert asked_of("Where is cut_wood defined?", "tests/test_kit.py")
    assert asked_of("Where is `SECRET_KEY` defined?", "tests/test_kit.py")
    assert asked_of("Where do I define the secret key?", "tests/test_kit.py") == set()


def test_facts_of_prose_are_chosen_as_before():
    graph = Graph.from_triples([("Anna", "calls", "Ben"), ("Ben", "uses", "a_b")])
    assert (
        "facts about symbols" not in seed.RecognisedFacts().on(graph)(Query("Who calls Ben?")).notes
    )


def test_that_a_page_names_a_symbol_says_nothing_of_its_title():
    page, other = "Call `cut_wood` and wait.", "Cutting wood takes a saw, and a good one for long."
    documents = [Document(name, text, format="python") for name, text in CODE.items()]
    documents += [Document("a", page, {"title": "Cutting wood"}), Document("b", other)]
    index = Index.from_documents(documents, extractor=Symbols())
    facts = index.graph.facts
    assert "Cutting wood mentions cut_wood" in facts.texts
    query = Query(
        "How long does cutting wood take?",
        np.float32(index.embedder.embed_question("How long does cutting wood take?")),
    )
    seeds = seed.RecognisedFacts().on(index.graph)(query)
    assert not [facts.texts[fact] for fact in seeds.facts if "mentions" in facts.texts[fact]]


def test_published_recipes_leave_symbols_alone(index):
    question = "Who calls cut_wood?"
    for name in ("agrag_paper", "hipporag2_paper"):
        context = index.ask(question, recipe=recipes.get(name))
        assert "facts about symbols" not in str(context.trace)
    assert "facts about symbols" in str(index.ask(question, recipe="hipporag").trace)
