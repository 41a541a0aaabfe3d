"""Several indexes that are asked as one: the answers of a single index over all documents."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

import clew
from clew import link, recipes
from clew.remote import Bounds
from clew.sharded import ShardedIndex, sharded_index
from clew.sharded.index_store import figures_of
from clew.sharded.known_shards import KnownShards
from clew.sharded.sharded_index import MAX_FILTERS
from tests.index.test_names_beside_an_embedder import QUESTION, Hashed
from tests.index.test_names_where_many import people

ROOT = Path(__file__).parents[2]
PAGES = [*sorted((ROOT / "examples" / "harbour").iterdir()), ROOT / "CONTRIBUTING.md"]
PAGES += [ROOT / "src" / "clew" / f"{name}.py" for name in ("deadline", "types", "relevance")]
NO_BOUNDS = Bounds(10**6, 10**6, 10**6, 10**6, hops=4, without=())
QUESTIONS = (
    "How are the ferries built?",
    "Who calls the function that reads a file?",
    "What happens when a deadline passes before there is an answer?",
)


def trigram_vectors(texts):
    """Vectors that depend on nothing but the text."""
    rows = np.zeros((len(texts), 64), np.float32)
    for row, text in zip(rows, texts, strict=True):
        padded = f"  {text.lower()} "
        for i in range(len(padded) - 2):
            row[crc32(padded[i : i + 3].encode()) % 64] += 1
    return rows + 0.01


def neighbouring_names(text):
    """Facts that depend on nothing but the passage: names that follow one another in it."""
    names = dict.fromkeys(re.findall(r"\b[A-Z][a-z]{3,}\b", text))
    return [(one, "stands before", other) for one, other in pairwise(names)]


LOCAL_LINKS = (link.Contains(), link.Next(), link.Mentions(), link.Fact())


MANUAL_PAGE = """{0}(1)                  Harbour Commands                  {0}(1)

NAME
       {1} - {2}

DESCRIPTION
       The command reads a list of ferries, one to a line, and prints what its options say. Without
       a file it reads standard input. Lines that begin with a cross are for whoever writes the
       list, and are not read. The lists of several harbours are read one after the other.

OPTIONS
       -d, --deadline=SECONDS
              Stop when a deadline passes, before there is an answer, and print what is known by
              then. Without it the command waits for as long as the list is written.

       -r, --read=FILE
              Read the function that is called from a file, whose lines are those of the program
              that the harbour's clerk keeps; a line that is none is an error, and ends the command.
"""
COMMANDS = {"berth": "build a ferry", "moor": "call a function", "sail": "answer in time"}


@pytest.fixture(scope="module")
def documents():
    manual = [
        clew.Document(
            f"{name}.txt",
            MANUAL_PAGE.format(name.upper(), name, what),
            {"file_name": f"{name}.txt"},
        )
        for name, what in COMMANDS.items()
    ]
    pages = list(clew.Index.from_documents(PAGES).documents)
    return [pages[0], manual[0], *pages[1:], *manual[1:]]


def build(documents):
    return clew.Index.from_documents(
        documents,
        embedder=trigram_vectors,
        extractor=neighbouring_names,
        splitter=clew.Splitter(128),
        links=LOCAL_LINKS,
    )


@pytest.fixture(scope="module")
def whole(documents):
    return build(documents)


@pytest.fixture(scope="module")
def parts(documents):
    third = len(documents) // 3
    return [build(documents[i * third : (i + 1) * third if i < 2 else None]) for i in range(3)]


@pytest.fixture(scope="module")
def sharded(parts):
    with ShardedIndex.open(parts, bounds=NO_BOUNDS) as opened:
        yield opened


@pytest.mark.parametrize("recipe", recipes.names())
def test_every_recipe_answers_over_shards_as_over_one_index(whole, sharded, recipe):
    for question in QUESTIONS:
        wanted, found = (one.ask(question, recipe=recipe, budget=1000) for one in (whole, sharded))
        assert found.relevance == pytest.approx(wanted.relevance, abs=1e-6)
        assert found.ids == wanted.ids
        assert found.text == wanted.text


def test_the_summary_of_a_document_is_found_by_any_of_its_passages(whole):
    graph, figures = whole.graph, figures_of(whole, 0)
    of_documents = {}
    for row in graph.rows("passage").tolist():
        if "NAME" in graph.texts[row] and "Harbour Commands" in graph.texts[row]:
            of_documents[int(graph.documents[row])] = row
    assert len(of_documents) == len(COMMANDS)
    everything = np.arange(len(graph), dtype=np.int32)
    assert figures.summaries_around(everything, None).tolist() == sorted(of_documents.values())
    assert not len(figures.summaries_around(everything, figures.passages[:1]))
    for row in everything[:: max(1, len(graph) // 200)]:
        own = of_documents.get(int(graph.documents[row]))
        is_known = own is not None and graph.kinds[row] == "passage"
        found = figures.summaries_around(np.array([row], np.int32), None).tolist()
        assert found == ([own] if is_known else [])


def test_a_filter_over_shards_is_the_filter_over_one_index(documents, whole, parts):
    def is_allowed(metadata):
        return metadata["file_name"] != "deadline.py"

    with ShardedIndex.open(parts, bounds=NO_BOUNDS) as opened:
        for recipe in ("bm25", "hipporag", "budgeted"):
            wanted = whole.ask(QUESTIONS[2], recipe=recipe, where=is_allowed)
            found = opened.ask(QUESTIONS[2], recipe=recipe, where=is_allowed)
            assert wanted.ids, "something that is allowed answers"
            assert found.ids == wanted.ids
            assert found.relevance == pytest.approx(wanted.relevance, abs=1e-6)


async def test_shards_are_asked_from_an_event_loop_and_know_where_a_passage_stands(whole, sharded):
    found, wanted = await sharded.aask(QUESTIONS[2]), whole.ask(QUESTIONS[2])
    assert [(one.id, one.location) for one in found] == [(one.id, one.location) for one in wanted]


def test_bounds_hold_for_all_shards_together_and_the_trace_says_what_they_cut(parts):
    with ShardedIndex.open(parts, bounds=Bounds(5, 3, 2, 60)) as opened:
        found = opened.ask(QUESTIONS[2])
    notes = found.trace[0].notes
    assert notes["shards"] == 3
    assert notes["nodes"] < 60 + 60  # and what contains them
    assert notes["nodes with edges that were cut"] > 0


def test_an_entity_of_two_shards_joins_what_they_say(tmp_path):
    facts = {"a": [("Anna", "married", "Ben")], "b": [("Ben", "lives on", "Corfu")]}
    folders = []
    for id, triples in facts.items():
        text = ". ".join(" ".join(triple) for triple in triples)
        clew.Index.from_documents([clew.Document(id, text)], facts={id: triples}).save(
            tmp_path / id
        )
        folders.append(tmp_path / id)
    with ShardedIndex.open(folders) as opened:
        found = opened.ask("Where does Anna's husband live?", recipe="agrag")
    assert {"a", "b"} <= set(found.ids)
    assert not found.missing


def test_shards_that_were_saved_and_changed_answer_as_those_in_memory(parts, tmp_path):
    folders = [tmp_path / str(i) for i in range(len(parts))]
    for part, folder in zip(parts, folders, strict=True):
        part.save(folder)
    log = clew.Document("log", "The Deadline passes before Anna answers.", {"file_name": "log"})

    def answers(shards):
        with ShardedIndex.open(shards, embedder=trigram_vectors) as opened:
            for recipe in ("bm25", "fused", "hipporag", "agrag"):
                for where in (None, {"file_name": ["log", "deadline.py"]}):
                    values = opened.ask(QUESTIONS[2], recipe=recipe, where=where).to_dict()
                    for step in values["trace"]:
                        del step["seconds"]
                    yield values

    before = list(answers(folders))
    assert before == list(answers(parts))
    changed = parts[1].upsert(log)
    changed.save(folders[1])
    after = list(answers(folders))
    assert after == list(answers([parts[0], changed, parts[2]]))
    read = [{item["id"] for found in some for item in found["items"]} for some in (before, after)]
    assert ["log" in ids for ids in read] == [False, True]


def test_what_shards_cannot_share_is_said(parts, tmp_path):
    same = clew.Index.from_documents([clew.Document("x", "One text.")], embedder=trigram_vectors)
    with pytest.raises(ValueError, match="at least one shard"):
        ShardedIndex.open([])
    with pytest.raises(ValueError, match="two shards have a node of the id 'x'"):
        ShardedIndex.open([same, same]).ask("Which text?", min_relevance=0)
    other = clew.Index.from_documents([clew.Document("y", "Another text.")])
    with pytest.raises(ValueError, match="the embedder of the first"):
        ShardedIndex.open([same, other])
    with pytest.raises(FileNotFoundError):
        ShardedIndex.open([tmp_path / "nothing"])


def test_the_embedded_default_is_weighted_by_the_words_of_all_shards(documents):
    whole = clew.Index.from_documents(documents, extractor=clew.NamesAndSymbols())
    third = len(documents) // 3
    parts = [
        clew.Index.from_documents(
            documents[i * third : (i + 1) * third if i < 2 else None],
            extractor=clew.NamesAndSymbols(),
        )
        for i in range(3)
    ]
    with ShardedIndex.open(parts, bounds=NO_BOUNDS) as opened:
        joined, wanted = opened.embedder.fitted, whole.embedder.fitted
        assert joined.n_texts == wanted.n_texts
        assert (joined.piece_counts == wanted.piece_counts).all()
        assert dict(zip(joined.vocabulary, joined.word_counts, strict=True)) == dict(
            zip(wanted.vocabulary, wanted.word_counts, strict=True)
        )
        for recipe in ("bm25", "fused", "hipporag"):
            for question in QUESTIONS:
                found, one = (
                    index.ask(question, recipe=recipe, min_relevance=0) for index in (opened, whole)
                )
                assert found.ids[0] == one.ids[0]


def test_the_canonical_text_of_a_question_is_embedded(tmp_path):
    asked = []

    def embed(texts):
        asked.extend(texts)
        return trigram_vectors(texts)

    for name, text in (("one", "Ferries sail at TEN."), ("two", "The MUSEUM opens at nine.")):
        index = clew.Index.from_documents([text], embedder=embed, canonical=str.casefold)
        index.save(tmp_path / name)
    folders = [tmp_path / "one", tmp_path / "two"]
    with ShardedIndex.open(folders, embedder=embed, canonical=str.casefold) as opened:
        opened.ask("When do FERRIES sail?")
    assert asked[-1] == "when do ferries sail?"


def test_entities_that_several_shards_name_count_once():
    """There are fewer entities than passages, which decides how much vectors count."""
    names = ("Anna", "Ben", "Corfu", "Delos", "Ella", "Fay")
    places = [(names[i % 6], names[(i + 1) % 6], ("nine", "ten", "noon")[i % 3]) for i in range(8)]
    documents = [
        clew.Document(f"d{i}", f"{one} sails with {other} to the quay of the island at {when}.")
        for i, (one, other, when) in enumerate(places)
    ]
    facts = {f"d{i}": [(one, "sails with", other)] for i, (one, other, _) in enumerate(places)}

    def made_of(some):
        own = {document.id: facts[document.id] for document in some}
        return clew.Index.from_documents(
            some, facts=own, embedder=trigram_vectors, extractor=None, links=LOCAL_LINKS
        )

    whole, halves = made_of(documents), [made_of(documents[i::2]) for i in range(2)]
    assert [len(one.graph.rows("entity")) for one in (whole, *halves)] == [6, 6, 6]
    question = "Who sails to the quay of the island with Fay at noon?"
    with ShardedIndex.open(halves, bounds=NO_BOUNDS) as opened:
        for recipe in ("fused", "hipporag"):
            one, other = (each.ask(question, recipe=recipe) for each in (whole, opened))
            scores = {item.id: item.score for item in one}
            assert {item.id: item.score for item in other} == pytest.approx(scores)


def test_threads_ask_with_more_filters_than_are_remembered(monkeypatch, quick_turns):
    """What takes time is left out, so that threads meet where filters are remembered."""
    shard = clew.Index.from_documents(["The ferry sails at ten."])
    filtered = [replace(shard, graph=replace(shard.graph)) for _ in range(4 * MAX_FILTERS)]
    sharded = ShardedIndex.open([shard])
    known = sharded._known_shards
    monkeypatch.setattr(sharded_index, "filtered_index", lambda _, where: filtered[where])
    monkeypatch.setattr(sharded_index, "figures_of", lambda index, _: index)
    monkeypatch.setattr(KnownShards, "of", lambda corpora, _: corpora)

    def ask(number):
        wanted = [(number + i) % len(filtered) for i in range(40_000)]
        return [sharded._allowed(known, where)[0] is filtered[where] for where in wanted]

    with ThreadPoolExecutor(8) as threads:
        assert all(map(all, threads.map(ask, range(8))))


def test_facts_without_vectors_are_compared_over_all_shards():
    hashed = Hashed()
    shards = [
        clew.Index.from_documents(
            [replace(one, id=f"{one.id}-{seed}") for one in people(100, seed)], embedder=hashed
        )
        for seed in range(2)
    ]
    assert all(shard.has_bare_names for shard in shards)
    with ShardedIndex.open(shards, embedder=hashed, bounds=NO_BOUNDS) as index:
        found = index.ask(QUESTION, limit=5)
    recognised = [step.notes["facts"] for step in found.trace if "facts" in step.notes]
    assert len(recognised) == 1
    assert recognised[0] > 0
    assert {"p0-0", "p0-1"} <= {*found.ids}
