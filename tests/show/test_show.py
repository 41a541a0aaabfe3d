"""A graph and a chart show all of a context: every path, every item, and no text that is read as markup."""

from __future__ import annotations

import re

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

import clew
from clew.context import Context
from clew.items import ContextEdge, Dropped, Hop, Item, Step
from clew.show import path_in_words, to_html, to_mermaid, to_networkx

HOSTILE = [
    '"]; end', "<script>alert(1)</script>", "a|b --> n0", "1. list\n- dash", "#quot; &amp;", "%%{init: {}}%%",
    "$$x$$ \\n fa:fa-car", "click n0 call f()", "日本語 🧶", "",
]  # fmt: skip


def item(id: str, text: str, why: tuple[Hop, ...], role: str = "seed", **more) -> Item:
    return Item(id, text, 0.5, role, "fact" if role == "fact" else "passage", 3, why=why, **more)


def touch(target: str, weight: float = 0.9) -> Hop:
    return Hop("question", "touches", target, weight=weight)


@pytest.fixture
def context() -> Context:
    """Anna's passage is a seed; an entity leads to Ben's; a fact; an edge joins the two passages."""
    to_anna = Hop("question", "fact", "entity:anna", "Anna married Ben", 0.8)
    items = (
        item(
            "fact:Anna married Ben",
            "Anna married Ben",
            (Hop("question", "fact", "Anna married Ben", "Anna married Ben", 0.8),),
            "fact",
        ),
        item(
            "p1",
            "Anna sails.",
            (touch("p1"),),
            metadata={"title": "The voyage"},
            document="p1",
            span=(0, 11),
        ),
        item(
            "p2",
            "Ben lives in Corfu.",
            (to_anna, Hop("entity:anna", "mentions", "p2", forward=False)),
            "expansion",
        ),
    )
    edges = (
        ContextEdge("p1", "p2", "similar", 0.4),
        ContextEdge("entity:anna", "p2", "mentions", 1.0),
        ContextEdge("p1", "entity:corfu", "mentions", 0.2),
    )
    return Context(
        items, "the page", 9, 20, "Who married Anna?", "Some(method)", edges,
        (Step("Dense()", 0.0021, {"touched": 3}),), 1.5, 2.0, (("p1", "p9"),), (Dropped("p7", "too long"),),
    )  # fmt: skip


def test_every_item_is_reached_from_the_question_along_its_own_hops(context):
    network = to_networkx(context)
    paths = networkx.subgraph_view(
        network, filter_edge=lambda a, b, key: network.edges[a, b, key]["on_path"]
    )
    for rank, one in enumerate(context, 1):
        assert network.nodes[one.id]["rank"] == rank
        assert networkx.shortest_path_length(paths, network.graph["question"], one.id) == len(
            one.why
        )
    assert network.graph["missing"] == [("p1", "p9")]


def test_an_edge_that_is_a_hop_already_is_not_drawn_twice_and_connectors_are_named(context):
    network = to_networkx(context)
    assert network.number_of_edges("entity:anna", "p2") == 1
    assert not network.edges["p1", "p2", 0]["on_path"]
    assert network.nodes["entity:corfu"] == {"role": "connector", "kind": "entity", "text": "corfu"}


def test_a_fact_that_the_question_was_not_mapped_to_hangs_on_the_subject_that_leads_to_it():
    fact = item(
        "fact:Ben sails", "Ben sails", (touch("p1"), Hop("p1", "mentions", "entity:ben")), "fact"
    )
    network = to_networkx(Context((fact,), "", 0, None, "Who sails?", ""))
    assert networkx.shortest_path(network, "question", fact.id) == [
        "question",
        "p1",
        "entity:ben",
        fact.id,
    ]


def test_a_document_named_question_is_not_the_question():
    network = to_networkx(
        Context((item("question", "text", (touch("question"),)),), "", 0, None, "Who?", "")
    )
    assert sorted(network.edges()) == [("question?", "question")]


def test_paths_are_described_in_plain_words(context):
    said = [path_in_words(one) for one in context]
    assert said == [
        "the question matches the fact “Anna married Ben” (0.80)",
        "the question touches it (0.90)",
        "the question matches the fact “Anna married Ben” (0.80) of “anna”, which is named in it",
    ]
    part = item(
        "d#0-9",
        "x",
        (
            touch("d#5-9"),
            Hop("d#5-9", "contains", "d", forward=False),
            Hop("d", "contains", "d#0-9"),
        ),
        "expansion",
    )
    assert (
        path_in_words(part)
        == "the question touches “d#5-9” (0.90), which is a part of “d”, which contains it"
    )
    assert "no short path leads to it" in path_in_words(item("p", "x", (touch("p", 0.0),)))


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_leaves_its_box_in_a_mermaid_chart(text):
    """Outside of quotes a chart consists of our own words alone, whatever the texts are."""
    name = text or "x"
    hostile = Context(
        (item(name, text, (touch(name),), metadata={"title": text}),), text, 1, None, text, "",
        (ContextEdge(name, "b", "fact", 1.0, text),),
    )  # fmt: skip
    for line in to_mermaid(hostile).splitlines():
        assert LINE.fullmatch(line), line


TEXT = r'[^"<$\\|]*'
LINE = re.compile(
    rf'flowchart LR|    n\d+\["{TEXT}(<br/>{TEXT})?"\]:::[a-z]+|    n\d+ (-->|-\.-)\|"{TEXT}"\| n\d+|    classDef [a-z]+ [-a-z0-9:,# ]+'
)


def test_what_is_not_drawn_is_counted_the_strongest_edges_first(context):
    chart = to_mermaid(context, max_edges=1)
    assert "%% 1 weaker edges are not drawn" in chart
    assert "similar 0.40" in chart
    assert "corfu" not in chart
    assert "1 weaker edges are not drawn" in to_html(context, max_edges=1)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12), st.integers(1, 6))
def test_any_tangle_of_items_and_edges_can_be_drawn(pairs, number):
    """Also edges to themselves, edges between connectors, and connectors that hang on nothing that is printed."""
    items = tuple(item(f"p{i}", "text", (touch(f"p{i}"),)) for i in range(number))
    tangle = Context(
        items,
        "",
        0,
        None,
        "Who?",
        "",
        tuple(ContextEdge(f"p{a}", f"p{b}", "similar", 0.5) for a, b in pairs),
    )
    page = LexborHTMLParser(to_html(tangle))
    assert len(page.css("svg.drawing .node")) == len(to_networkx(tangle))
    assert to_mermaid(tangle).count(":::") == len(to_networkx(tangle))


def test_a_context_shows_itself_and_the_same_index_shows_the_same():
    documents = [
        clew.Document(f"d{i}", text)
        for i, text in enumerate(("Anna sails to Corfu.", "Ben sails.", "Corfu is an island."))
    ]
    pages = [clew.Index.from_documents(documents).ask("Who sails to Corfu?") for _ in range(2)]
    assert pages[0].to_mermaid() == pages[1].to_mermaid() == to_mermaid(pages[0])
    assert set(pages[0].ids) < set(pages[0].to_networkx())
    stable = [re.sub(r"[\d.]+ ms", "ms", page.to_html()) for page in pages]
    assert stable[0] == stable[1]


def test_nothing_found_can_be_shown():
    empty = Context((), "", 0, 100, "Who?", "method")
    assert list(to_networkx(empty)) == ["question"]
    assert "0 items" in to_html(empty)
    assert to_mermaid(empty).startswith("flowchart LR")


NAMED = {
    "ferry": "Ferries sail from Corfu. Ada Brandt keeps the timetable with Ben Okri in Lindow.",
    "clock": "Ada Brandt and Ben Okri repaired the clock of Lindow in winter.",
    "quay": "Lindow has a quay.",
    "rain": "Rain falls on stone.",
}


def asked_along_names(**options):
    documents = [clew.Document(id, text, {"title": id.title()}) for id, text in NAMED.items()]
    index = clew.Index.from_documents(documents, extractor=clew.Names(min_passages=1))
    method = clew.Pipeline(
        clew.seed.BM25(),
        spreads=(clew.spread.PageRank(),),
        selects=(clew.select.Top(3),),
        order=clew.order.ByPrize(),
    )
    return index.ask("When do ferries sail?", recipe=method, min_relevance=0, **options)


def test_a_path_over_shared_names_says_which():
    context = asked_along_names()
    [clock] = [item for item in context if item.id == "clock"]
    hop = clock.why[-1]
    assert (hop.source, hop.kind, hop.target) == ("ferry", "shared", "clock")
    both = {
        name
        for name in ("Ada Brandt", "Ben Okri", "Lindow", "Corfu")
        if name in NAMED["ferry"] and name in NAMED["clock"]
    }
    assert set(hop.text.split(", ")) == both
    assert f"names {hop.text}, as it does" in path_in_words(clock)
    assert f"in common: {hop.text}" in context.to_mermaid()
    assert f"has in common: {hop.text}" in context.to_html()
    edges = {(one.tail, one.head): one.text for one in context.edges if one.kind == "shared"}
    assert edges.pop(("ferry", "clock")) == hop.text
    assert set(edges.values()) == {"Lindow"}, "both share it with the quay"


def test_what_was_left_out_is_named_by_its_words():
    whole = asked_along_names()
    [large] = [item.tokens for item in whole if item.id == "clock"]
    context = asked_along_names(budget=whole.tokens - large)
    [dropped] = [one for one in context.dropped if one.id == "clock"]
    assert dropped.title == f"Clock: {NAMED['clock']}"
    assert f"clock: {dropped.title}" in context.to_html()
    from clew.cli.report import explanation

    lines = explanation(context).splitlines()
    at = next(i for i, line in enumerate(lines) if line.strip().startswith("clock: its "))
    assert lines[at + 1].strip() == dropped.title
    assert context.to_dict()["dropped"][0]["title"] == dropped.title
