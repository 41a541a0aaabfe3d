"""Rows that are kept by whoever asks: never another tenant's, a forbidden or an old one."""

from __future__ import annotations

import threading

import numpy as np
import pytest

psycopg = pytest.importorskip("psycopg", reason="an index in PostgreSQL needs clew[postgres]")
pytest.importorskip("pgserver", reason="a PostgreSQL for tests comes with clew[stores]")

import clew
from clew.algorithms.pagerank.full import WalkPart, pagerank
from clew.remote import Bounds, RemoteIndex, remote_index
from clew.remote.kept_columns import OVERHEAD, KeptColumns, RowBlock, texts_of
from clew.remote.kept_rows import MAX_SPAN, KeptRows, _Lookup
from clew.remote.packed_rows import STRONGEST
from clew.remote.postgres import PostgresStore
from clew.remote.session import BoundStatement, finish
from tests.remote.harbour import NO_BOUNDS, embed, harbour, saved

WALKED = ("fact", "mentions", "synonym")


def test_a_kept_row_is_read_again_only_where_the_filter_of_this_question_allows_it(postgres):
    _, address = saved(postgres, *harbour(240, owners=("a", "b")))
    with RemoteIndex.open(address, bounds=NO_BOUNDS, kept_whole=0, embedder=embed) as opened:
        everything = opened.ask("Which ferry sails to island 3?", min_relevance=0)
        assert {int(id[1:]) % 2 for id in everything.ids} == {0, 1}
        kept = opened._database._kept_rows.newest
        n_kept = len(kept)
        for owner, place in (("a", 0), ("b", 1), ("a", 0)):
            found = opened.ask(
                "Which ferry sails to island 3?", where={"owner": owner}, min_relevance=0
            )
            assert {int(id[1:]) % 2 for id in found.ids} == {place}
            assert found.trace[0].notes["nodes"] < everything.trace[0].notes["nodes"]
        assert opened.ask("ferry", where={"owner": "nobody"}, min_relevance=0).ids == []
        with opened._database.reading() as session:
            corpus = opened._corpus
            store = PostgresStore(
                *(session, corpus.number, corpus.dimension, corpus.count, corpus.canonical),
                opened._database._kept_rows,
            )
            finish(store.seeds(None, [], 1, 1))
            numbers = np.array(sorted(kept.table.numbers), np.int32)
            every = finish(store.nodes(numbers))  # one question, asked in three ways
            own = finish(store.nodes(numbers, where={"owner": "b"}))
            again = finish(store.nodes(numbers, where={"owner": "a"}))
        assert opened._database._kept_rows.newest is kept
        assert len(kept) == n_kept, "all came from what was kept"
    assert set(every.graph.ids) > set(own.graph.ids)
    for nodes, owner in ((own, "b"), (again, "a")):
        passages = [nodes.graph.metadata[row] for row in nodes.graph.rows("passage").tolist()]
        assert len(passages) == 120
        assert {one["owner"] for one in passages} == {owner}
        texts = [nodes.graph.facts.texts[row] for row in range(len(nodes.graph.facts))]
        number = {"a": 0, "b": 1}[owner]
        ferries = [int(text.split("Ferry ")[1].split()[0]) for text in texts]
        assert ferries
        assert {one % 2 for one in ferries} == {number}


def test_what_another_writer_changed_is_read_anew_and_the_rest_is_kept(postgres):
    index, address = saved(postgres, *harbour(1100))
    question = "When does ferry 7 sail?"
    with RemoteIndex.open(address, bounds=NO_BOUNDS, kept_whole=0, embedder=embed) as opened:
        assert opened.ask(question).ids == index.ask(question).ids
        rows = opened._database._kept_rows.newest
        with RemoteIndex.open(address, embedder=embed) as writer:
            writer.delete(["d7", "d9"])
            writer.add([clew.Document("new", "Ferry 7 was sold, and never sails.")])
            writer.add([clew.Document("newer", "Ferry 999 sails to Island 7 at nine.")])
        for recipe in ("hipporag", "dense", "bm25", "agrag"):
            found = opened.ask(question, recipe=recipe, min_relevance=0)
            wanted = opened.load().ask(question, recipe=recipe, min_relevance=0)
            assert found.ids == wanted.ids
            assert found.text == wanted.text
        after = opened._database._kept_rows.newest
        assert after.version == rows.version + 3
        numbers = np.intersect1d(after.table.numbers, rows.table.numbers)
        assert after.table.columns is rows.table.columns
        shared = after.table.places(numbers) == rows.table.places(numbers)
        assert shared.sum() > len(rows) / 2
        assert {"new", "newer"} < set(ids_of(after.table))
        assert "d7" not in opened.ask(question, recipe="bm25", min_relevance=0).ids


def test_a_save_in_the_place_of_an_index_forgets_all_that_was_kept(postgres):
    documents, facts = harbour(60)
    _, address = saved(postgres, documents, facts)
    with RemoteIndex.open(address, bounds=NO_BOUNDS, kept_whole=0, embedder=embed) as opened:
        opened.ask("ferry 3", min_relevance=0)
        before = opened._database._kept_rows.newest
        others = [clew.Document(one.id, f"Nothing but {one.id}.") for one in documents]
        other = clew.Index.from_documents(others, embedder=embed)
        other.save(address)
        assert (
            opened.ask("nothing", min_relevance=0).ids == other.ask("nothing", min_relevance=0).ids
        )
        assert opened._database._kept_rows.newest.table.columns is not before.table.columns


def test_what_is_kept_of_one_index_is_nothing_to_another_or_to_an_older_moment(postgres):
    (_, mine), (_, theirs) = (
        saved(postgres, *harbour(40), name=f"of{tenant}", tenant=tenant)
        for tenant in ("me", "them")
    )
    kept = KeptRows()
    passages = {}
    for address in (mine, theirs, mine):
        with RemoteIndex.open(address, kept_whole=0, embedder=embed) as opened:
            corpus = opened._corpus
            with opened._database.reading() as session:
                store = PostgresStore(
                    *(session, corpus.number, corpus.dimension, corpus.count), None, kept
                )
                finish(store.seeds(None, [], 1, 1))
                assert kept.newest.index == corpus.number
                assert not set(kept.newest.table.numbers) & set(passages.get(address, ()))
                found = finish(store.nodes(corpus.passages))
                passages[address] = found.numbers.tolist()
                others = np.array([n for a in passages if a != address for n in passages[a]], int)
                assert not len(finish(store.nodes(others.astype(np.int32))).numbers)
                assert not set(others.tolist()) & set(kept.newest.table.numbers)
    newest = kept.newest
    old = kept.begin(newest.index, newest.version - 1, (), corpus.dimension, None)
    assert kept.newest is newest
    assert not len(old)
    assert kept.of(newest.index, newest.version + 1) is None
    assert kept.of(newest.index + 1, newest.version) is None


def block(numbers):
    """Rows of some nodes, each with all that a row can have, different from all others."""
    numbers = list(numbers)
    facts = [[f"fact {one}.{i}" for i in range(one % 3)] for one in numbers]
    packed = [[one] * (1 + one % 4) for one in numbers]
    near = [[[one, 1, 1]] * (one % 2) for one in numbers]
    every = [text for some in facts for text in some]
    has_vector = np.array([one % 5 != 0 for one in numbers], bool)
    return RowBlock(
        np.array([one for some in packed for one in some], "<i4"),
        np.array(list(map(len, packed)), np.int64),
        np.array([one for some in near for one in some], "<i4").reshape(-1, 3),
        np.array(list(map(len, near)), np.int64),
        np.array([one % 7 == 0 for one in numbers], bool),
        texts_of([f"{one:9}" for one in numbers]),
        texts_of([f"text {one}" for one in numbers]),
        texts_of([{"number": one} for one in numbers]),
        texts_of([("a",) * (one % 2) for one in numbers]),
        texts_of(every),
        texts_of([f"relation {len(text)}" for text in every]),
        np.array(list(map(len, facts)), np.int64),
        np.array([[one, -one] for one in numbers], np.float32)[has_vector],
        has_vector,
    )


def numbers_of(some):
    return np.array(list(some), np.int32)


def ids_of(table):
    return table.columns.ids(table.places(numbers_of(table.numbers)))


def is_whole(table, numbers):
    """Whether these nodes are in the table, and every column has of each what its block has."""
    columns, places = table.columns, table.places(numbers_of(numbers))
    if places.min() < 0:
        return False
    wanted, slots = block(numbers), columns.fact_slots(places)
    entries, counts = columns.neighbours(places)
    vectors = columns.vectors(places)
    return (
        columns.ids(places) == tuple(wanted.ids)
        and columns.texts(places) == tuple(wanted.texts)
        and columns.metadata(places) == tuple(wanted.metadata)
        and columns.links(places) == tuple(wanted.links)
        and list(columns.fact_texts(slots)) == list(wanted.fact_texts)
        and list(columns.relations(slots)) == list(wanted.relations)
        and entries.tolist() == wanted.neighbours.tolist()
        and counts.tolist() == wanted.n_neighbours.tolist()
        and columns.has_others(places).tolist() == wanted.has_others.tolist()
        and vectors.has_vector.tolist() == wanted.has_vector.tolist()
        and vectors[np.flatnonzero(wanted.has_vector)].tolist() == wanted.vectors.tolist()
    )


def test_rows_are_kept_within_their_bytes_and_the_least_used_go_first():
    sizes = block(range(105)).sizes
    assert sizes.min() > OVERHEAD
    kept = KeptRows(int(sizes[:100].sum())).begin(1, 1, (), 2, None)
    first = kept.table
    kept.put(first, numbers_of(range(100)), block(range(100)))
    kept.table.places(numbers_of([3, 4, 5]))
    kept.put(kept.table, numbers_of(range(100, 105)), block(range(100, 105)))
    assert kept.table is not first
    assert is_whole(first, range(105)), "a question goes on with what it has begun with"
    stay = [3, 4, 5, *range(100, 105)]
    assert is_whole(kept.table, stay)
    assert not is_whole(kept.table, [0])
    failures = []

    def use(first):
        for number in range(first, first + 200):
            table = kept.table
            kept.put(table, numbers_of([number, 7]), block([number, 7]))
            if not is_whole(table, [number, 7]):
                failures.append(number)
            newest = kept.table
            if not is_whole(newest, newest.numbers):
                failures.append(number)

    threads = [threading.Thread(target=use, args=(1000 * n,)) for n in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert kept.bytes <= sizes[:100].sum()
    assert kept.bytes == block(kept.table.numbers).sizes.sum()


def test_the_strongest_edges_are_followed_whatever_is_read_at_once(postgres):
    """A hub has more neighbours of a kind than stand in its row: all of them come when asked for."""
    random = np.random.default_rng(3)
    n, hub = 3 * STRONGEST, 0
    others = np.arange(1, n)
    ends = [(others, np.full(len(others), hub)), (np.full(60, hub), others[:60])]
    parts = [
        clew.graph.Edges.of(kind, tails, heads, 1 - random.random(len(tails)))
        for kind, (tails, heads) in zip(("cites", "next"), ends, strict=True)
    ]
    parts.append(clew.graph.Edges.of("cites", others[:-1], others[1:], 0.5))
    edges = clew.graph.Edges.join(parts)
    index = clew.Index.from_graph(clew.Graph.of([f"Page {i}." for i in range(n)], edges=edges))
    address = postgres.address()
    index.save(address)
    both = [(edges.tails, edges.heads), (edges.heads, edges.tails)]
    with RemoteIndex.open(address, kept_whole=0) as opened:
        corpus = opened._corpus
        for per_node in (1, 16, STRONGEST, STRONGEST + 5, 10**6):
            for without in ((), ("cites",), ("next",)):
                sums = np.zeros(n)
                for own, other in both:
                    for node in (hub, 7):
                        of_kind = np.array([kind not in without for kind in edges.kinds])
                        chosen = np.flatnonzero((own == node) & of_kind)
                        order = np.lexsort((other[chosen], -edges.weights[chosen]))[:per_node]
                        np.add.at(sums, other[chosen[order]], edges.weights[chosen[order]])
                with opened._database.reading() as session:
                    store = PostgresStore(session, corpus.number, corpus.dimension, corpus.count)
                    found = finish(store.expand(corpus.passages[[hub, 7]], per_node, without))
                rows = np.searchsorted(corpus.passages, found.numbers)
                assert rows.tolist() == np.flatnonzero(sums).tolist()
                assert found.weights == pytest.approx(sums[rows], rel=1e-5)


def _exact_walk(graph, reset):
    """Personalised PageRank by a dense linear system: another way than the program's."""
    weights = np.zeros((len(graph), len(graph)))
    edges = graph.edges
    is_walked = edges.kinds.mask(*WALKED)
    for tail, head, weight in zip(
        edges.tails[is_walked], edges.heads[is_walked], edges.weights[is_walked], strict=True
    ):
        weights[tail, head] += weight
        weights[head, tail] += weight
    steps = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-12)
    ranks = np.linalg.solve(np.eye(len(graph)) - 0.5 * steps.T, 0.5 * reset)
    return ranks / ranks.sum()


def test_a_part_within_bounds_has_nearly_the_walk_and_the_answers_of_the_whole(postgres):
    """A third of the graph has at least .8 of a walk over the whole and of the ids of its answers,
    and what its nodes have in the whole makes the walk over the part a better one.
    """
    index, address = saved(postgres, *harbour(900))
    bounds = Bounds(passages=60, nodes=400)
    shared, inside, errors, without = [], [], [], []
    with RemoteIndex.open(address, bounds=bounds, kept_whole=0, embedder=embed) as opened:
        parts = []
        real = remote_index.pull

        async def noted(*arguments):
            parts.append(await real(*arguments))
            return parts[-1]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(remote_index, "pull", noted)
            for number in range(0, 900, 60):
                question = f"Who commands Ferry {number}?"
                wanted = index.ask(question, budget=400, min_relevance=0)
                found = opened.ask(question, budget=400, min_relevance=0)
                assert found.trace[0].notes["nodes"] < len(index.graph) / 3
                ids = set(wanted.ids), set(found.ids)
                shared.append(len(ids[0] & ids[1]) / len(ids[0] | ids[1]))
                part = parts[-1].graph
                start = next(
                    row for row, text in enumerate(index.graph.texts) if text == f"Ferry {number}"
                )
                whole = _exact_walk(index.graph, np.eye(len(index.graph))[start])
                own = np.eye(len(part))[part.row(index.graph.ids[start])]
                ranks = pagerank(part.part(WalkPart(WALKED)), own, 0.5)
                rows = [index.graph.row(id) for id in part.ids]
                among = whole[rows] / whole[rows].sum()
                errors.append(np.abs(ranks - among).sum())
                inside.append(whole[rows].sum())
                alone = pagerank(part.with_edges(part.edges).part(WalkPart(WALKED)), own, 0.5)
                without.append(np.abs(alone - among).sum())
    assert np.mean(shared) >= 0.8
    assert np.mean(inside) >= 0.8
    assert np.mean(errors) < 0.8 * np.mean(without)


@pytest.mark.parametrize("span", [200, 40_000, 10**9])
def test_numbers_are_looked_up_as_in_a_dictionary_however_far_apart_they_are(span):
    rng = np.random.default_rng(span)
    lookup, wanted, first = _Lookup(), {}, int(rng.integers(1, span))
    for _ in range(40):
        size = int(rng.integers(0, 9))
        numbers = np.unique(rng.integers(first, first + span, size, np.int64))
        numbers = np.array([one for one in numbers.tolist() if one not in wanted], np.int64)
        places = len(wanted) + np.arange(len(numbers))
        lookup = lookup.with_places(numbers, places)
        wanted.update(zip(numbers.tolist(), places.tolist(), strict=True))
        asked = rng.integers(max(0, first - span), first + 2 * span, 50)
        asked = np.concatenate([asked, [*wanted], [0, 2**31 - 1]]).astype(np.int64)
        found = lookup.places(asked)
        if found is None:
            assert max(wanted) - min(wanted) > MAX_SPAN / 4
        else:
            assert found.tolist() == [wanted.get(one, -1) for one in asked.tolist()]
    assert (lookup.places(asked) is None) == (span > MAX_SPAN)


def test_relations_are_named_in_alphabetical_order_as_they_come():
    columns, rng = KeptColumns(2), np.random.default_rng(3)
    for start in (0, 40, 80):
        block_of = block(range(start, start + 40))
        for i in range(len(block_of.relations)):
            block_of.relations[i] = "relation " + chr(97 + int(rng.integers(26)))
        columns.append(block_of)
        slots = rng.permutation(len(columns._relations))[:25]
        names = columns._names.values[columns._relations.values[slots]].tolist()
        labels = columns.relations(slots)
        assert list(labels.names) == sorted(set(names))
        assert [labels.names[code] for code in labels.codes.tolist()] == names


def test_a_session_that_reads_is_one_transaction_that_begins_with_what_is_asked_first(postgres):
    _, address = saved(postgres, *harbour(40))
    version = BoundStatement("SELECT sum(version)::int FROM clew_index")
    with RemoteIndex.open(address, kept_whole=0, embedder=embed) as opened:
        with opened._database.reading() as session:
            [[[before]]] = finish(session.run(version))
            with RemoteIndex.open(address, embedder=embed) as writer:
                writer.delete(["d3"])
            later = [finish(session.send(version)), finish(session.send(version, version))]
            tables = [table for answers in later for table in finish(answers())]
            assert [table[0][0] for table in tables] == [before] * 3
            assert session.round_trips == 2
            finish(session.end())
        with opened._database.reading() as session:
            assert finish(session.run(version))[0][0][0] == before + 1
        refused = pytest.raises(psycopg.errors.ReadOnlySqlTransaction)
        with refused, opened._database.reading() as session:
            finish(session.run(BoundStatement("DELETE FROM clew_index")))
        assert opened._database._idle == []  # what failed is not used again
        with opened._database.reading() as session:
            finish(session.run(version))
        [connection] = opened._database._idle
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
