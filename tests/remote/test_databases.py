"""An index in a database: the answers of the embedded one, and nothing of another's, on real servers."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
import uuid
from functools import cache
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest

import clew
from clew import recipes
from clew.deadline import DeadlineError, within
from clew.index.drift import NAMES, WEIGHTS
from clew.index.in_place import MIN_PASSAGES
from clew.index.saving import DATABASE_SCHEMES
from clew.index.weights import with_weights_as_built
from clew.remote import Bounds, DatabaseUnavailableError, RemoteIndex
from clew.remote.cypher import lease
from clew.remote.database import DATABASES
from clew.remote.session import finish
from tests.index.test_names_beside_an_embedder import QUESTION, Hashed
from tests.index.test_names_where_many import people
from tests.remote.servers import PASSWORD, PostgresServer

ROOT = Path(__file__).parents[2]
PAGES = [*sorted((ROOT / "examples" / "harbour").iterdir()), ROOT / "CONTRIBUTING.md"]
PAGES += [ROOT / "src" / "clew" / f"{name}.py" for name in ("deadline", "types", "relevance")]
NO_BOUNDS = Bounds(10**6, 10**6, 10**6, 10**6, hops=4, without=())
QUESTIONS = (
    "How are the ferries built?",
    "Who calls the function that reads a file?",
    "What happens when a deadline passes before there is an answer?",
)


@pytest.fixture(scope="module")
def index():
    """Real pages and programs, with names, symbols and facts about them."""
    return clew.Index.from_documents(
        PAGES,
        extractor=clew.NamesAndSymbols(),
        splitter=clew.Splitter(128),
    )


@pytest.fixture(scope="module")
def address(server, index):
    address = server.address()
    index.save(address)
    return address


@pytest.fixture(scope="module")
def pulled(address):
    with RemoteIndex.open(address, bounds=NO_BOUNDS, kept_whole=0) as opened:
        yield opened


@pytest.fixture(scope="module")
def embedded(index):
    """What the embedded index answers, asked once for all servers."""
    return cache(lambda question, recipe: index.ask(question, recipe=recipe))


@pytest.mark.parametrize("recipe", recipes.names())
def test_every_recipe_answers_over_a_pulled_graph_as_over_the_index(embedded, pulled, recipe):
    for question in QUESTIONS:
        wanted, found = embedded(question, recipe), pulled.ask(question, recipe=recipe)
        assert found.ids == wanted.ids
        assert found.text == wanted.text
        assert found.relevance == pytest.approx(wanted.relevance, abs=1e-6)


def test_the_canonical_text_of_a_question_is_embedded(server):
    asked = []

    def embed(texts):
        asked.extend(texts)
        return [[1.0, len(text)] for text in texts]

    parts = {"embedder": embed, "canonical": str.casefold}
    index = clew.Index.from_documents(["Ferries sail at TEN."], **parts)
    address = server.address()
    index.save(address)
    with RemoteIndex.open(address, kept_whole=0, **parts) as opened:
        opened.ask("When do FERRIES sail?")
        assert asked[-1] == "when do ferries sail?"

        async def ask():
            await opened.aask("Do FERRIES sail?")
            await opened.aclose()

        asyncio.run(ask())
        assert asked[-1] == "do ferries sail?"


def test_a_question_is_bounded_and_says_what_was_cut(server, index, address):
    with RemoteIndex.open(address, bounds=Bounds(3, 2, 2, 100), kept_whole=0) as opened:
        opened.ask(QUESTIONS[0])  # reads what is known of the whole
        found = opened.ask(QUESTIONS[0], recipe="bm25")
    notes = found.trace[0].notes
    assert notes["round trips"] <= server.round_trips
    assert notes["nodes with edges that were cut"] > 0
    assert notes["nodes"] < len(index.graph) / 2
    assert found.ids[:3] == index.ask(QUESTIONS[0], recipe="bm25").ids[:3]


def test_a_small_index_is_read_whole_and_answers_with_its_locations(index, address):
    with RemoteIndex.open(address, kept_whole=10**6) as opened:
        found, wanted = opened.ask(QUESTIONS[0]), index.ask(QUESTIONS[0])
    assert [(item.id, item.score, item.location) for item in found] == [
        (item.id, item.score, item.location) for item in wanted
    ]


async def test_it_is_asked_from_an_event_loop_without_a_thread_for_the_database(
    pulled, index, monkeypatch
):
    def refuse():
        raise AssertionError("the loop was left")

    monkeypatch.setattr(pulled._database, "reading", refuse)
    contexts = await asyncio.gather(*(pulled.aask(question) for question in QUESTIONS))
    assert [one.ids for one in contexts] == [index.ask(question).ids for question in QUESTIONS]
    await pulled._database.aclose()


def test_what_is_written_is_what_the_index_would_be_and_writers_take_turns(server):
    n = server.documents
    texts = [f"Ferry {i} sails to island {i % 7} with captain {i % 5}." for i in range(n)]
    documents = [clew.Document(f"d{i}", text) for i, text in enumerate(texts)]
    facts = {f"d{i}": [(f"Ferry {i}", "sails to", f"Island {i % 7}")] for i in range(n)}
    index = clew.Index.from_documents(documents, facts=facts)
    address = server.address()
    index.save(address)
    more = [clew.Document(f"new{i}", f"Tug {i} pulls ferry {i}.") for i in range(4)]
    wanted = index.add(more).upsert([clew.Document("d3", "Ferry 3 was sold.")]).delete("d9")

    def write(document):
        with RemoteIndex.open(address) as writer:
            writer.add([document])

    threads = [threading.Thread(target=write, args=(one,)) for one in more]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    with RemoteIndex.open(address, bounds=NO_BOUNDS, kept_whole=0) as opened:
        opened.upsert([clew.Document("d3", "Ferry 3 was sold.")])
        opened.delete("d9")
        assert {one.id: one.text for one in opened.documents} == {
            one.id: one.text for one in wanted.documents
        }
        # The database holds vectors as they were when the index was built whole, and says so.
        assert_same_answers(opened, with_weights_as_built(opened.load()))
        notes = [step.notes for step in opened.ask("ferry").trace if step.stage == "index"]
        changed = len(more) + 3 if n >= MIN_PASSAGES else 0  # a small index is built whole again
        assert [one["passages changed since"] for one in notes] == [changed] * bool(changed)
        assert all(one["as of the last compact"] == [WEIGHTS, NAMES] for one in notes)
        version = opened.ask("ferry").trace[0].notes["version"]
        assert version == 1 + len(more) + 2
        graph = wanted.graph
        assert server.counts(address) == (len(graph), len(graph.facts), len(graph.edges))
        opened.change(lambda index: index.compact())
        assert_same_answers(opened, opened.load())
        assert "index" not in [step.stage for step in opened.ask("ferry").trace]


def assert_same_answers(opened, whole):
    for recipe in ("dense", "bm25", "hipporag", "agrag"):
        for question in ("Which tug pulls ferry 2?", "Was ferry 3 sold?", "Who sails to 5?"):
            assert opened.ask(question, recipe=recipe).ids == whole.ask(question, recipe=recipe).ids


def _mixed(owners):
    """A graph of passages of two owners, in which half of the edges lead to the other's."""
    random = np.random.default_rng(5)
    texts = [f"Passage {i} on the red ferry {i % 9}." for i in range(len(owners))]
    tails, heads = random.integers(0, len(owners), (2, 6 * len(owners)))
    keep = tails != heads
    edges = clew.graph.Edges.of("fact", tails[keep], heads[keep], 0.5)
    own = [{"owner": owner} for owner in owners]
    graph = clew.Graph.of(
        texts, ids=[f"{o}{i}" for i, o in enumerate(owners)], metadata=tuple(own), edges=edges
    )
    return clew.Index.from_graph(graph)


def test_nothing_of_the_other_is_pulled_where_half_of_the_edges_lead_there(server):
    index = _mixed(["a", "b"] * 150)
    edges = index.graph.edges
    crossing = np.mean((edges.tails % 2) != (edges.heads % 2))
    assert 0.4 < crossing < 0.6
    address = server.address()
    index.save(address)
    with RemoteIndex.open(address, bounds=Bounds(20, 5, 50, 10**4, 3), kept_whole=0) as opened:
        for recipe in recipes.names():
            found = opened.ask(
                "the red ferry 3", recipe=recipe, where={"owner": ["a"]}, min_relevance=0
            )
            assert found.ids
            assert all(id.startswith("a") for id in found.ids)
        with opened._database.reading() as session:
            corpus = opened._corpus
            store = finish(opened._database.store(session, corpus))
            every = finish(store.nodes(corpus.passages))
            by_number = dict(zip(every.numbers.tolist(), every.graph.ids, strict=True))
            both = finish(store.expand(corpus.passages[:50], 50))
            own = finish(store.expand(corpus.passages[:50], 50, where={"owner": "a"}))
            nodes = finish(store.nodes(corpus.passages, where={"owner": "a"}))
            vector = np.asarray(index.graph.vectors[0])
            seeds = finish(store.seeds(vector, [], 300, 5, {"owner": "a"}))
            assert not len(finish(store.nodes(corpus.passages, where={"owner": "nobody"})).numbers)
        with pytest.raises(TypeError, match="no function"):
            opened.ask("ferry", where=lambda metadata: True)
    assert any(by_number[n].startswith("b") for n in both.numbers.tolist())
    for numbers in (own.numbers, nodes.numbers, seeds.passages.numbers):
        assert len(numbers)
        assert {by_number[n][0] for n in numbers.tolist()} == {"a"}


VALUES = ([], ["t1"], "t1", ["t1", "t2"], ("t1", "t2"), [["t1"]], {}, {"a": "b"}, {"a": "b", "c": 1},
          "a\x00b", "\ud800x", "😀", "ü", True, 1, 0, False, None, 1.0, "1", 0.1, 1e300, 10**20)  # fmt: skip


def test_a_filter_allows_what_it_allows_over_the_index(server):
    """Whatever the metadata are: no value of one document ends the questions on others."""
    documents = [
        clew.Document(f"d{number}", f"Ferry {number} sails.", {"value": value, "k\x00": number % 2})
        for number, value in enumerate(VALUES)
    ]
    pairs = {5: "of a table", "$x": 1, "value": "t1"}
    documents.append(clew.Document("pairs", "A ferry of a table sails.", pairs))
    index, address = clew.Index.from_documents(documents), server.address()
    index.save(address)
    filters = [{"value": value} for value in (*VALUES, "none", ["t2", 7], [[]], [{"a": "b"}])]
    with RemoteIndex.open(address, bounds=NO_BOUNDS, kept_whole=0) as opened:
        for where in [*filters, {"k\x00": 1, "value": ["t1", True]}, {"k": 1}]:
            how = {"where": where, "recipe": "dense", "min_relevance": 0, "budget": None}
            expected = set(index.ask("Which ferry sails?", **how).ids)
            assert set(opened.ask("Which ferry sails?", **how).ids) == expected, where


def test_facts_without_vectors_are_compared_over_what_is_pulled(server):
    hashed, question = Hashed(), QUESTION
    index, address = clew.Index.from_documents(people(100), embedder=hashed), server.address()
    index.save(address)
    assert index.has_bare_names
    with RemoteIndex.open(address, embedder=hashed, bounds=NO_BOUNDS, kept_whole=0) as opened:
        here, there = index.ask(question, limit=5), opened.ask(question, limit=5)
        assert there.ids == here.ids
        assert [item.score for item in there] == pytest.approx([item.score for item in here])
        assert {"p0", "p1"} <= {*there.ids}
        assert not any("fallback" in step.notes for step in there.trace)
        opened.upsert([clew.Document("new", "Zoe Quill met Ben Bell in the workshop on Samos.")])
        assert "new" in opened.ask("Whom did Zoe Quill meet on Samos?", limit=2).ids


def test_an_edge_to_a_node_of_another_tenants_index_leads_nowhere(server):
    name = f"shared{uuid.uuid4().hex}"
    mine, theirs = (server.address(name, tenant=tenant) for tenant in ("mine", "theirs"))
    _mixed(["m"] * 200).save(mine)
    _mixed(["t"] * 200).save(theirs)
    assert server.lead_edges(("mine", name), ("theirs", name)) > 300
    for address, letter in ((mine, "m"), (theirs, "t")):
        with RemoteIndex.open(address, bounds=Bounds(50, 5, 50, 10**4, 3), kept_whole=0) as opened:
            found = opened.ask("the red ferry 3", recipe="lightweight", min_relevance=0)
            assert found.ids
            assert {id[0] for id in found.ids} == {letter}
    with pytest.raises(KeyError, match="nobody"):
        RemoteIndex.open(server.address(name, tenant="nobody"))


HOSTILE = (
    "'; DROP TABLE clew_node; --",
    "`}) MATCH (n) DETACH DELETE n //",
    '\\" MATCH (n) DETACH DELETE n WITH 1 AS x //',
    "' OR 1=1 --",
    '"}) DETACH DELETE n //',
    "$$; DELETE FROM clew_index; $$",
    "%s %(x)s {0} \\' \x00 \ud800",
)


def test_nothing_that_is_written_or_asked_is_executed(server):
    plain = server.address()
    clew.Index.from_documents(["A canary sings."]).save(plain)
    for number, text in enumerate(HOSTILE):
        facts = {text: [(text + "a", text, text + "b")]}
        value = text.replace("\x00", "").replace("\ud800", "")
        documents = [clew.Document(text, f"The sea {text}", {value: value}), "An island."]
        index = clew.Index.from_documents(documents, facts=facts)
        quoted = quote(f"{value}{number}", safe="")
        address = server.address(quoted, tenant=quoted)
        index.save(address)
        with RemoteIndex.open(address, bounds=NO_BOUNDS, kept_whole=0) as opened:
            for where in (None, {value: value}):
                question = f"the sea {value}"
                if where and value.startswith("$"):
                    with pytest.raises(ValueError, match="begin with"):
                        opened.ask(question, where=where)
                    continue
                found = opened.ask(question, where=where, recipe="dense", min_relevance=0)
                expected = index.ask(question, where=where, recipe="dense", min_relevance=0)
                assert text in expected.ids
                assert text in found.ids
            assert opened.ask("sea", where={f"a{value}": "' OR 1=1 --x"}, min_relevance=0).ids == []
            opened.add([clew.Document(f"{text}2", "The sea again.")])
            assert len(opened.documents) == 3
            opened.delete(text)
            assert opened.load().graph.has(f"{text}2")
    with RemoteIndex.open(plain) as opened:
        assert len(opened.ask("canary", min_relevance=0).ids) == 1


def test_a_killed_server_is_one_clear_error_and_then_it_works_and_nothing_is_lost(server, index):
    address = server.address()
    index.save(address)
    opened = RemoteIndex.open(address, bounds=NO_BOUNDS, kept_whole=0)
    wanted = opened.ask(QUESTIONS[0]).ids
    opened.add([clew.Document("late", "The late ferry sails at midnight.")])
    server.kill()
    try:
        with pytest.raises(DatabaseUnavailableError, match="cannot be reached"):
            opened.ask(QUESTIONS[0])
        with pytest.raises(DatabaseUnavailableError):
            opened.add(["Never written."])
    finally:
        server.start()
    assert opened.ask("When does the late ferry sail?", recipe="bm25").ids[0] == "late"
    assert len(opened.documents) == len(index) + 1
    assert set(wanted) & set(opened.ask(QUESTIONS[0]).ids)
    opened.close()


def test_four_askers_beside_a_writer_see_whole_versions_alone(server):
    address = server.address()
    clew.Index.from_documents([clew.Document("n0", "The tide is 0, the tide is 0.")]).save(address)
    stop, failures, answers = threading.Event(), [], []

    def ask():
        with RemoteIndex.open(address, bounds=NO_BOUNDS, kept_whole=0) as opened:
            while not stop.is_set():
                try:
                    found = opened.ask("tide", recipe="bm25", min_relevance=0)
                    n = found.trace[0].notes["version"]
                    answers.append(n)
                    if len(found.ids) != n:  # version n has n documents
                        failures.append((n, found.ids))
                except Exception as error:  # noqa: BLE001 - all are reported
                    failures.append(error)
                    return

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    with RemoteIndex.open(address) as writer:
        for i in range(1, 6):
            writer.add([clew.Document(f"n{i}", f"The tide is {i}, the tide is {i}.")])
    end = time.monotonic() + 60  # a busy machine may not have let them ask meanwhile
    while len(set(answers)) < 2 and not failures and time.monotonic() < end:
        time.sleep(0.01)
    stop.set()
    for thread in threads:
        thread.join(60)
    assert not failures
    assert len(set(answers)) > 1


def test_tables_of_another_version_are_refused_and_a_deadline_holds(server, address):
    of_its_own = server.schema
    try:
        for version, advice in ((99, r"version 99.*upgrade clew"), (0, "version 0")):
            server.set_schema(version)
            with pytest.raises(ValueError, match=advice):
                RemoteIndex.open(address)
    finally:
        server.set_schema(of_its_own)
    with RemoteIndex.open(address, kept_whole=0) as opened:
        opened.ask(QUESTIONS[0])
        with opened._database.reading() as session:
            corpus = opened._corpus
            store = finish(opened._database.store(session, corpus))
            with within(1e-9), pytest.raises(DeadlineError):
                finish(store.expand(corpus.passages, 5))


def test_a_refused_password_is_an_error_in_words(graph_server):
    wrong = graph_server.address().replace(PASSWORD, "wrong")
    with pytest.raises(DatabaseUnavailableError, match="cannot be reached"):
        RemoteIndex.open(wrong)


def test_without_numbers_nothing_is_asked(pulled, address, monkeypatch):
    async def refuse(*statements, **_):
        raise AssertionError("asked")

    pulled.ask(QUESTIONS[0])
    nothing = np.zeros(0, np.int32)
    with pulled._database.reading() as session:
        store = finish(pulled._database.store(session, pulled._corpus))
        monkeypatch.setattr(session, "run", refuse)
        assert not len(finish(store.expand(nothing, 5)).numbers)
        assert not len(finish(store.nodes(nothing)).numbers)
        with pytest.raises(ValueError, match="not finite"):
            finish(store.seeds(np.float32([np.nan]), [], 1, 1))
    with pytest.raises(ValueError, match=r"RemoteIndex\.open"):
        clew.Index.load(address)


def test_documents_of_strangers_stay_so(server):
    authors = [
        clew.Document(f"a{i}", f"The tug {i} pulls the ferry.", {"author": "one"}) for i in range(9)
    ]
    index = clew.Index.from_documents(
        [*authors, clew.Document("b", "The ferry has a tug.", {"author": "two"})], untrusted=True
    )
    address = server.address()
    index.save(address)
    with RemoteIndex.open(address, bounds=NO_BOUNDS, kept_whole=0) as opened:
        opened.ask("Which tug pulls the ferry?")
        assert opened._corpus.untrusted
        for recipe in ("dense", "hipporag"):
            options = {"recipe": recipe, "min_relevance": 0}
            found = opened.ask("Which tug pulls the ferry?", **options)
            assert found.ids == index.ask("Which tug pulls the ferry?", **options).ids


async def test_a_slow_embedder_does_not_hold_up_the_event_loop(server):
    begun, opened_gate = threading.Event(), threading.Event()

    def embed(texts):
        if list(texts) == ["ferry"]:
            begun.set()
            assert opened_gate.wait(30), "the event loop was held up"
        return [[1.0, len(text)] for text in texts]

    address = server.address()
    clew.Index.from_documents(["The ferry sails."], embedder=embed).save(address)
    remote = RemoteIndex.open(address, kept_whole=0, embedder=embed)
    asked = asyncio.ensure_future(remote.aask("ferry", min_relevance=0))
    while not begun.is_set() and not asked.done():  # noqa: ASYNC110 - a thread sets it
        await asyncio.sleep(0.01)
    opened_gate.set()
    assert len((await asked).ids) == 1
    await remote.aclose()


@pytest.mark.parametrize(
    ("client", "scheme", "extra"),
    [
        ("psycopg", "postgresql", "postgres"),
        ("falkordb", "falkordb", "falkordb"),
        ("neo4j", "bolt", "neo4j"),
        ("neo4j", "neo4j+s", "neo4j"),
    ],
)
def test_without_the_client_the_extra_is_named(monkeypatch, client, scheme, extra):
    monkeypatch.setitem(sys.modules, client, None)
    with pytest.raises(ModuleNotFoundError, match=rf"install clew\[{extra}\]"):
        RemoteIndex.open(f"{scheme}://anna@host/db?index=harbour")


def test_every_scheme_of_an_address_has_a_database():
    assert set(DATABASES) == set(DATABASE_SCHEMES)


def test_a_writer_that_was_silent_for_too_long_changes_nothing(server, monkeypatch):
    if isinstance(server, PostgresServer):
        pytest.skip("a transaction has the turn there until it ends")
    monkeypatch.setattr(lease, "SECONDS", 1.0)
    monkeypatch.setattr(lease, "RENEWALS", 0.001)  # it is never renewed
    address = server.address()
    clew.Index.from_documents([clew.Document("a", "The tide is low.")]).save(address)

    def change(index):
        time.sleep(1.5)
        with RemoteIndex.open(address) as other:
            other.add([clew.Document("b", "The tide is high.")])
        return index.add([clew.Document("c", "The tide turns.")])

    with RemoteIndex.open(address) as late:
        with pytest.raises(BlockingIOError, match="nothing was changed"):
            late.change(change)
        assert {one.id for one in late.documents} == {"a", "b"}
        late.add([clew.Document("c", "The tide turns.")])
        assert {one.id for one in late.documents} == {"a", "b", "c"}
        graph = late.load().graph
    assert server.counts(address) == (len(graph), len(graph.facts), len(graph.edges))
