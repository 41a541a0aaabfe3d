"""A change to an index in a graph database: rows in proportion to it, and all of it or nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import clew
from clew import recipes
from clew.remote import Bounds, DatabaseUnavailableError, RemoteIndex
from clew.remote.cypher import changing, lease, writing
from clew.remote.cypher.bolt import BoltSession
from clew.remote.cypher.falkor import FalkorSession
from tests.remote.row_counts import RowCounter
from tests.remote.servers import started

NO_BOUNDS = Bounds(10**6, 10**6, 10**6, 10**6, hops=4, without=())
QUESTION = "Which ferry sails to island 3 with captain 4?"


def embed(texts):
    """Vectors that depend on a text alone, so that a change of one document changes no other's."""
    rows = [np.random.default_rng(list(text.encode())).normal(size=64) for text in texts]
    return [row / np.linalg.norm(row) for row in rows]


def ferry(number, island=None):
    """A document about a ferry that shares an island and a captain with a few others, and facts."""
    island = number // 6 if island is None else island
    captain = number // 5
    text = f"Ferry {number} sails to island {island} with captain {captain}."
    facts = [
        (f"Ferry {number}", "sails to", f"Island {island}"),
        (f"Captain {captain}", "commands", f"Ferry {number}"),
    ]
    return clew.Document(f"d{number}", text, {"owner": "ab"[number % 2]}), facts


def harbour(count):
    pairs = [ferry(number) for number in range(count)]
    facts = {document.id: facts for document, facts in pairs}
    return clew.Index.from_documents([one for one, _ in pairs], facts=facts, embedder=embed)


def adding(number, island=None):
    document, facts = ferry(number, island)
    return lambda index: index.upsert([document], facts={document.id: facts})


def deleting(number):
    return lambda index: index.delete(f"d{number}")


def saved(server, index):
    address = server.address()
    index.save(address)
    return address


def assert_as_embedded(opened, index, recipe):
    found, wanted = (
        one.ask(QUESTION, recipe=recipe, min_relevance=0, budget=400) for one in (opened, index)
    )
    assert found.ids == wanted.ids
    assert found.text == wanted.text


def assert_rows_are_those_of(server, address, index):
    graph = index.graph
    assert server.counts(address) == (len(graph), len(graph.facts), len(graph.edges))


@pytest.mark.parametrize(
    ("change", "documents"),
    [(adding(900), 1), (adding(40, island=3), 2), (deleting(41), 1)],
    ids=["added", "changed", "deleted"],
)
def test_as_many_rows_are_written_as_the_change_has_whatever_the_index_has(
    graph_server, change, documents
):
    written = {}
    for count in (60, 180):
        index = harbour(count)
        address = saved(graph_server, index)
        with RemoteIndex.open(address, embedder=embed) as opened:
            opened.load()
            counter = RowCounter(graph_server)
            opened.change(change)
            counts = counter.counts()
        written[count] = {kind: one.written for kind, one in counts.items()}
        # A document has a passage and two facts; its three entities and its links are others'. The
        # files of a saved index that is as small as this one are written whole: see tests/store.
        assert 0 < counts["nodes"].written <= 6 * documents
        assert 0 < counts["facts"].written <= 6 * documents
        assert 0 < counts["edges"].written <= 60 * documents
        assert 0 < counts["words"].written <= 2 * 10 * documents
        assert_rows_are_those_of(graph_server, address, change(index))
    for kind in ("nodes", "facts", "words"):
        assert written[180][kind] <= written[60][kind] + 2
    assert written[180]["edges"] <= written[60]["edges"] + 20


def test_after_every_change_of_many_the_answers_are_those_of_the_embedded_index(graph_server):
    random = np.random.default_rng(7)
    index = harbour(60)
    address = saved(graph_server, index)
    recipe_of = dict(enumerate(recipes.names()))
    there, next_number = list(range(60)), 60
    with (
        RemoteIndex.open(address, embedder=embed) as writer,
        RemoteIndex.open(address, bounds=NO_BOUNDS, kept_whole=0, embedder=embed) as opened,
    ):
        generation = writer._corpus.number
        for turn in range(12):
            kind = random.integers(3)
            if kind == 0:
                change = adding(next_number)
                there.append(next_number)
                next_number += 1
            else:
                number = there[random.integers(len(there))]
                change = adding(number, island=int(random.integers(17)))
                if kind == 2:
                    change = deleting(number)
                    there.remove(number)
            writer.change(change)
            index = change(index)
            for each in range(2):
                assert_as_embedded(opened, index, recipe_of[(2 * turn + each) % len(recipe_of)])
        assert opened._corpus.number == generation, "the index was written anew"
        assert opened._corpus.version == 13
        with RemoteIndex.open(address, embedder=embed) as again:
            assert again.load().graph.ids == writer.load().graph.ids
    assert_rows_are_those_of(graph_server, address, index)


class KilledError(BaseException):
    """The writer was killed: nothing that it does reaches the server any more."""


class Killer:
    """What kills writers before one of their statements, counted from 0.

    Args:
        patch: pytest's.
        kill: What is done besides.
    """

    def __init__(self, patch, kill=None):
        self.left, self.is_dead, self.kill = -1, False, kill
        own = self
        for session in (FalkorSession, BoltSession):
            run = session.run

            async def counted(self, *statements, seconds=None, run=run):
                if own.is_dead and threading.current_thread().name == "clew-lease":
                    return [[] for _ in statements]
                if own.is_dead:
                    raise KilledError
                if any(one.writes for one in statements) and own.left >= 0 and self.lease:
                    own.left -= 1
                    if own.left < 0:
                        own.is_dead = True
                        if own.kill is None:
                            raise KilledError
                        own.kill()
                return await run(self, *statements, seconds=seconds)

            patch.setattr(session, "run", counted)
        end = lease.Lease.end

        def ended(self):
            self._ended.set()
            self._thread.join()
            if not own.is_dead:
                end(self)  # the lease of one that was killed ends by itself

        patch.setattr(lease.Lease, "end", ended)

    def change_until(self, statement, address, change):
        """Return whether the writer was killed before this statement, and was not done before."""
        with RemoteIndex.open(address, embedder=embed) as writer:
            writer.load()
            self.left = statement
            try:
                writer.change(change)
            except (KilledError, DatabaseUnavailableError):
                assert self.is_dead
            was_killed, self.is_dead, self.left = self.is_dead, False, -1
        return was_killed


def short_leases(monkeypatch):
    monkeypatch.setattr(lease, "SECONDS", 1.0)
    monkeypatch.setattr(changing, "SECONDS", 2.0)


def test_a_writer_killed_at_any_statement_leaves_the_version_before_or_the_next(
    graph_server, monkeypatch
):
    short_leases(monkeypatch)
    before = harbour(30)
    address = saved(graph_server, before)
    change = adding(3, island=9)
    after = change(before)
    killer, outcomes = Killer(monkeypatch), []
    step = 3 if graph_server.extra == "neo4j" else 1  # a server in Java takes its time
    with RemoteIndex.open(address, bounds=NO_BOUNDS, kept_whole=0, embedder=embed) as opened:
        for statement in range(0, 200, step):
            was_killed = killer.change_until(statement, address, change)
            with RemoteIndex.open(address, embedder=embed) as whole:
                version, loaded = whole._corpus.version, whole.load()
            assert version in (1, 2)
            wanted = (before, after)[version - 1]
            assert loaded.graph.ids == wanted.graph.ids
            for recipe in ("bm25", "hipporag"):
                assert_as_embedded(opened, wanted, recipe)
            outcomes.append(version)
            if version == 2:
                break
    assert was_killed or outcomes.count(1) == len(outcomes) - 1
    assert outcomes.count(1) * step > 10, (
        "of a writer's statements most come before the change is seen"
    )
    with RemoteIndex.open(address, embedder=embed) as writer:
        writer.change(deleting(5))
    assert_rows_are_those_of(graph_server, address, after.delete("d5"))
    assert graph_server.run("MATCH (g:ClewGeneration) RETURN count(g)")[0][0] == len(
        graph_server.run("MATCH (i:ClewIndex) WHERE i.number > 0 RETURN i.number")
    )


@pytest.mark.parametrize("scheme", ["falkordb", "bolt"])
def test_a_server_killed_while_it_is_changed_has_a_whole_version_afterwards(scheme, monkeypatch):
    server = started(scheme)  # with nothing else in it: it reads all that it has as it starts
    try:
        _kill_and_compare(server, range(0, 24, 2) if scheme == "falkordb" else (5, 15), monkeypatch)
    finally:
        server.stop()


def _kill_and_compare(graph_server, statements, monkeypatch):
    short_leases(monkeypatch)
    index = harbour(30)
    address = saved(graph_server, index)
    killer = Killer(monkeypatch, kill=graph_server.kill)
    for number, statement in enumerate(statements):
        change = adding(number, island=(number + 5) % 17)
        before, after = index, change(index)
        try:
            killer.change_until(statement, address, change)
        finally:
            graph_server.kill()
            graph_server.start()
        with RemoteIndex.open(address, bounds=NO_BOUNDS, kept_whole=0, embedder=embed) as opened:
            text = opened.document_of[f"d{number}"].text
            index = after if text == after.document_of[f"d{number}"].text else before
            for recipe in ("bm25", "hipporag", "dense"):
                assert_as_embedded(opened, index, recipe)
            opened.change(deleting(29 - number))
            index = index.delete(f"d{29 - number}")
            assert_as_embedded(opened, index, "hipporag")
        assert_rows_are_those_of(graph_server, address, index)


def test_a_process_that_is_killed_in_the_middle_changes_nothing(graph_server, monkeypatch):
    monkeypatch.setattr(lease, "SECONDS", 1.0)
    index = harbour(20)
    address = saved(graph_server, index)
    script = f"""
        import os, signal
        import clew
        from clew.remote import RemoteIndex
        from clew.remote.cypher import changing, lease
        from tests.remote.test_changes_in_place import adding, embed

        lease.SECONDS = 1.0

        async def killed(*_):
            os.kill(os.getpid(), signal.SIGKILL)

        changing.ChangeWriter.show = killed
        RemoteIndex.open({address!r}, embedder=embed).change(adding(3, island=9))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=False, timeout=120)
    assert done.returncode == -signal.SIGKILL
    assert graph_server.run("MATCH (n:ClewNode) WHERE n.id = 'd3' RETURN count(n)")
    with RemoteIndex.open(address, bounds=NO_BOUNDS, kept_whole=0, embedder=embed) as opened:
        assert_as_embedded(opened, index, "hipporag")
        opened.change(adding(30))
        assert_as_embedded(opened, adding(30)(index), "hipporag")
    assert_rows_are_those_of(graph_server, address, adding(30)(index))


def test_a_change_keeps_to_its_own_index_and_to_its_own_tenant(graph_server):
    name = graph_server.address().partition("index=")[2]
    mine, theirs = (graph_server.address(name, tenant=tenant) for tenant in ("mine", "theirs"))
    index = harbour(40)
    for address in (mine, theirs):
        index.save(address)
    [[number]] = graph_server.run(
        "MATCH (i:ClewIndex) WHERE i.tenant = 'theirs' AND i.name = $name RETURN i.number",
        name=name,
    )
    own = (
        "MATCH (x {index: $index}) RETURN x.key, x.path, x.text, x.read_from, x.data ORDER BY id(x)"
    )
    before = graph_server.run(own, index=number)
    with RemoteIndex.open(mine, embedder=embed) as opened:
        for change in (adding(3, island=9), deleting(4), adding(77)):
            opened.change(change)
    assert graph_server.run(own, index=number) == before
    with RemoteIndex.open(theirs, bounds=NO_BOUNDS, kept_whole=0, embedder=embed) as opened:
        assert_as_embedded(opened, index, "hipporag")


def test_vectors_that_are_searched_approximately_are_those_of_the_version(monkeypatch):
    server = started("falkordb")
    monkeypatch.setattr(writing, "APPROXIMATE_FROM", (40, 40))
    try:
        index = harbour(50)
        address = saved(server, index)
        opened = RemoteIndex.open(address, bounds=NO_BOUNDS, kept_whole=0, embedder=embed)
        few = RemoteIndex.open(address, bounds=Bounds(3, 3, 16, 1000), kept_whole=0, embedder=embed)
        for change in (adding(3, island=9), deleting(4), adding(77), adding(3, island=2)):
            opened.change(change)
            index = change(index)
            for one in (0, 3, 5, 77):
                text = ferry(one)[0].text
                vector = embed([text])[0]
                wanted = index.ask(text, recipe="dense", vector=vector, min_relevance=0).ids
                found = opened.ask(text, recipe="dense", vector=vector, min_relevance=0).ids
                assert found == wanted
                nearest = few.ask(text, recipe="dense", vector=vector, min_relevance=0).ids
                assert nearest[:3] == wanted[:3]
        labels = "MATCH (n:ClewNode) WHERE n.kind = 'passage' RETURN labels(n)"
        assert all(any("Near" in one for one in row[0]) for row in server.run(labels))
        assert_rows_are_those_of(server, address, index)
        few.close()
        opened.close()
    finally:
        server.stop()


def test_a_large_change_and_one_in_the_order_of_which_numbers_do_not_ascend_write_all_anew(
    graph_server, monkeypatch
):
    index = harbour(30)
    address = saved(graph_server, index)
    monkeypatch.setattr(changing, "MAX_CHARACTERS", 100)
    with RemoteIndex.open(address, bounds=NO_BOUNDS, kept_whole=0, embedder=embed) as opened:
        number = opened._corpus.number
        opened.change(adding(3, island=9))
        index = adding(3, island=9)(index)
        assert_as_embedded(opened, index, "hipporag")
        assert opened._corpus.number > number
    assert_rows_are_those_of(graph_server, address, index)


def test_askers_beside_small_changes_see_whole_versions_alone(graph_server):
    """Every version has the word "tide" in as many documents as its number says, and their texts."""
    address = saved(graph_server, harbour(20))
    stop, failures, versions = threading.Event(), [], []

    def tide(n, version):
        return f"Tide {n} is {version}, the tide {n} of place {n} is {version}."

    def ask():
        with RemoteIndex.open(address, bounds=NO_BOUNDS, kept_whole=0, embedder=embed) as opened:
            while not stop.is_set():
                try:
                    found = opened.ask("tide", recipe="bm25", min_relevance=0)
                    version = found.trace[0].notes["version"]
                    versions.append(version)
                    wanted = {f"t{n}": tide(n, version) for n in range(1, version)}
                    if {item.id: item.text for item in found} != wanted:
                        failures.append((version, {item.id: item.text for item in found}))
                except Exception as error:  # noqa: BLE001 - all are reported
                    failures.append(error)
                    return

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    with RemoteIndex.open(address, embedder=embed) as writer:
        for version in range(2, 8):
            writer.upsert([clew.Document(f"t{n}", tide(n, version)) for n in range(1, version)])
    stop.set()
    for thread in threads:
        thread.join(60)
    assert not failures
    assert len(set(versions)) > 1
