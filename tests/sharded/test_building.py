"""Shards that are built by several processes."""

from __future__ import annotations

import asyncio
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest

import clew
from clew.sharded import EmptyShardWarning, ShardedIndex, build_shards

DOCUMENTS = [
    clew.Document(f"d{i}", f"Ferry {i} sails to island {i % 7} with captain {i % 5}.")
    for i in range(60)
]
FACTS = {f"d{i}": [(f"Ferry {i}", "sails to", f"Island {i % 7}")] for i in range(60)}


def holds(folder):
    return {one.id: one.text for one in clew.Index.load(folder).documents}


def generations(folder):
    return sorted(path.name for path in folder.glob("MANIFEST*"))


def test_processes_build_the_shards_that_one_builds(tmp_path):
    alone, apart = ([tmp_path / name / str(i) for i in range(3)] for name in ("alone", "apart"))
    sizes = build_shards(DOCUMENTS, alone, facts=FACTS)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        assert build_shards(DOCUMENTS, apart, facts=FACTS, executor=executor) == sizes
    assert sum(sizes) == 60
    for one, other in zip(alone, apart, strict=True):
        ours, theirs = clew.Index.load(one).graph, clew.Index.load(other).graph
        assert ours.ids == theirs.ids
        assert (ours.vectors == theirs.vectors).all()
        assert (ours.edges.weights == theirs.edges.weights).all()
    with ShardedIndex.open(apart) as index:
        found = index.ask("Which ferry sails to island 3?", recipe="bm25", limit=3, min_relevance=0)
        assert len(found) == 3


def test_the_same_call_goes_on_after_a_failure_and_brings_what_has_changed(tmp_path):
    targets = [tmp_path / "one", tmp_path / "two"]
    targets[1].write_text("no folder", encoding="utf-8")
    shard_of = {one.id: int(one.id[1:]) % 2 for one in DOCUMENTS}
    with (
        ThreadPoolExecutor(2) as executor,
        pytest.raises(RuntimeError, match="two' was not built") as caught,
    ):
        build_shards(DOCUMENTS, targets, shard_of=shard_of, executor=executor)
    assert caught.value.__cause__ is not None
    before = generations(targets[0])
    targets[1].unlink()
    build_shards(DOCUMENTS, targets, shard_of=shard_of)
    assert generations(targets[0]) == before, "a shard that is as it should be is not written again"
    assert holds(targets[0]).keys() | holds(targets[1]).keys() == {one.id for one in DOCUMENTS}

    changed = [clew.Document("d0", "Ferry 0 was sold."), *DOCUMENTS[1:58]]
    build_shards(changed, targets, shard_of=shard_of)
    together = {**holds(targets[0]), **holds(targets[1])}
    assert together == {one.id: one.text for one in changed}


def test_what_cannot_be_divided_is_said(tmp_path):
    with pytest.raises(ValueError, match="none came"):
        build_shards(DOCUMENTS, [])
    with pytest.raises(ValueError, match="go to 6 shards, and there are 1 targets"):
        build_shards(DOCUMENTS[:1], [tmp_path / "a"], shard_of={"d0": 5})


def test_facts_of_no_shard_are_refused_and_those_that_were_given_stay(tmp_path):
    documents = [clew.Document(f"d{n}", f"Ferry {n} sails to Corfu.") for n in range(12)]
    targets = [tmp_path / "one", tmp_path / "two"]
    facts = {one.id: [["Ferry", "sails to", "Corfu"]] for one in documents[:3]}
    with pytest.raises(ValueError, match="did not come, for instance 'elsewhere'"):
        build_shards(documents, targets, facts=facts | {"elsewhere": []})

    def given():
        return {
            id: each for target in targets for id, each in clew.Index.load(target).facts.items()
        }

    for again, expected in ((facts, facts), (None, facts), ({}, {})):
        build_shards(documents, targets, facts=again)
        assert given() == {id: [*map(tuple, each)] for id, each in expected.items()}


def test_facts_of_sources_are_those_of_a_fresh_build(tmp_path):
    documents = [
        clew.Document(f"p{n}", f"Ferry {n} sails to Corfu.", source="book" if n < 9 else None)
        for n in range(12)
    ]
    said = [("Ferry", "sails to", "Corfu")]
    shard_of = {one.id: n % 2 for n, one in enumerate(documents)}
    kept = [tmp_path / "one", tmp_path / "two"]
    for step, facts in enumerate(({"book": said}, {"p3": said}, {"book": said}, {})):
        fresh = [tmp_path / f"{step} one", tmp_path / f"{step} two"]
        for targets in (kept, fresh):
            build_shards(documents, targets, shard_of=shard_of, facts=facts)
        for one, other in zip(kept, fresh, strict=True):
            assert clew.Index.load(one).facts == clew.Index.load(other).facts


def test_a_shard_of_other_documents_and_of_pieces_of_one_that_it_had(tmp_path):
    said = {"book": [("Ferry", "sails to", "Corfu")]}
    build_shards([clew.Document("book", "Ferries sail.")], [tmp_path / "one"])
    pages = [clew.Document("p1", "The ferry sails to Corfu.", source="book")]
    build_shards(pages, [tmp_path / "one"], facts=said)
    assert holds(tmp_path / "one").keys() == {"p1"}
    assert clew.Index.load(tmp_path / "one").facts == said


def test_what_was_closed_says_so(tmp_path):
    targets = [tmp_path / str(i) for i in range(3)]
    build_shards(DOCUMENTS, targets)
    with ShardedIndex.open(targets) as sharded:
        assert sharded.ask("Which ferry sails?").ids
        again = ShardedIndex.open(targets)
    again.close()
    for closed in (sharded, again):
        with pytest.raises(RuntimeError, match="this ShardedIndex was closed"):
            closed.ask("Which ferry sails?")
        with pytest.raises(RuntimeError, match="this ShardedIndex was closed"):
            asyncio.run(closed.aask("Which ferry sails?"))


def test_a_target_whose_documents_are_gone_has_no_index_and_all_stay_where_none_come(tmp_path):
    targets, shard_of = [tmp_path / "a", tmp_path / "b"], {"d0": 0, "d1": 1}
    build_shards(DOCUMENTS[:2], targets, shard_of=shard_of)
    (targets[1] / "notes.txt").write_text("Not ours.", encoding="utf-8")
    with ThreadPoolExecutor(2) as executor, pytest.warns(EmptyShardWarning, match="b'") as caught:
        found = build_shards(DOCUMENTS[:1], targets, shard_of=shard_of, executor=executor)
    assert (found, caught[0].message.targets) == ((1, 0), (str(targets[1]),))
    assert holds(targets[0]).keys() == {"d0"}
    assert [one.name for one in targets[1].iterdir()] == ["notes.txt"]
    with pytest.raises(ValueError, match="no documents came"):
        build_shards([], targets)
    assert holds(targets[0]).keys() == {"d0"}
