"""The everyday question sets hold what their README says, and their figures are what a reader would count."""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import re
import tarfile
from pathlib import Path

import numpy as np
import pytest

import clew
from clew import Graph, Query, order, recipes, seed, select, spread
from clew.measure.paired import build_table
from clew.measure.quotes import Place, QuotedQuestion, lost_questions, words_of
from tests.benchmarks import everyday, everyday_corpora, repositories
from tests.benchmarks.everyday import best, measure, read_questions

SETS = [everyday.QUESTIONS / f"{name}.jsonl" for name in sorted(everyday_corpora.SOURCES)]
HOWTO = everyday.QUESTIONS / "howto.jsonl"  # written, too, for a folder that code makes
TASKS = everyday.QUESTIONS / "tasks.jsonl"  # the same
CHORES = everyday.QUESTIONS / "chores.jsonl"  # the same
DAILY = everyday.QUESTIONS / "daily.jsonl"  # of the same folder, by the page
REPOSITORIES = everyday.QUESTIONS / "repositories.jsonl"  # of whole clones, by the file


def asked(text, *quotes):
    return QuotedQuestion(text, tuple(Place(quote=quote) for quote in quotes))


def lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_there_is_a_set_for_every_corpus():
    assert set(everyday.QUESTIONS.glob("*.jsonl")) == {
        *SETS,
        HOWTO,
        TASKS,
        CHORES,
        DAILY,
        REPOSITORIES,
    }


def test_the_questions_on_repositories_are_whole():
    records = lines(REPOSITORIES)
    assert len({record["id"] for record in records}) == len(records) == 337
    halves = {
        half: {r["repository"] for r in records if r["half"] == half} for half in ("tune", "held")
    }
    assert halves["tune"].isdisjoint(halves["held"])
    for record in records:
        assert record["wants"] in repositories.WANTS
        assert record["answerable"]
        assert record["gold"]
        assert all(set(place) == {"file"} for place in record["gold"])


def test_a_hit_on_a_repository_is_a_passage_of_a_file_that_answers(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "kiln.md").write_text("# Kiln\n\nTurn the knob to heat the kiln.")
    (tmp_path / "boat.md").write_text("# Boat\n\nThe boat leaves at nine.")
    index = clew.Index.from_documents(tmp_path)

    def found(*files):
        gold = [{"file": file} for file in files]
        question = {"question": "How do I heat the kiln?", "gold": gold}
        return repositories.hits(index, question, "bm25")

    assert found("boat.md", "docs/") == [True] * 3
    assert found("docs/kiln.md") == [True] * 3
    assert found("kiln.md") == [False] * 3


@pytest.mark.parametrize("path", SETS, ids=lambda path: path.stem)
def test_a_set_is_whole(path):
    records = lines(path)
    assert len({record["id"] for record in records}) == len(records) == 80
    assert len({record["question"] for record in records}) == 80
    assert sum(record["answerable"] for record in records) == 60
    for record in records:
        assert set(record) == {"id", "question", "gold", "half", "answerable"}
        assert bool(record["gold"]) == record["answerable"]
        assert record["half"] in ("tune", "held")
        assert all(2 <= len(words_of(gold["quote"]).split()) <= 14 for gold in record["gold"])


@pytest.mark.parametrize("path", SETS, ids=lambda path: path.stem)
def test_no_file_has_gold_in_both_halves(path):
    files = {half: set() for half in ("tune", "held")}
    for record in lines(path):
        files[record["half"]].update(gold["file"] for gold in record["gold"])
    assert not files["tune"] & files["held"]
    assert len(read_questions(path, "tune")) + len(read_questions(path, "held")) == 80


def test_each_how_to_question_is_of_a_definition_of_its_own():
    records = lines(HOWTO)
    assert len({record["question"] for record in records}) == len(records) == 115
    files = [name.partition("#")[0] for record in records for name in record["definitions"][:1]]
    assert len(set(files)) == len(files), "one definition was drawn of each file"


@pytest.mark.parametrize(("path", "n"), [(TASKS, 133), (CHORES, 60)])
def test_each_task_is_asked_once_and_names_what_does_it(path, n):
    records = lines(path)
    assert len({record["question"] for record in records}) == len(records) == n
    for record in records:
        places = [name.partition("#") for name in record["definitions"]]
        assert places
        assert all(page and anchor for page, _, anchor in places)


def test_daily_questions_are_for_the_end_and_name_pages():
    records = lines(DAILY)
    assert len({record["question"] for record in records}) == len(records) == 100
    assert {record["half"] for record in records} == {"held"}
    for record in records:
        assert record["gold"]
        assert all(re.fullmatch(r"library/[\w.-]+\.html", gold["file"]) for gold in record["gold"])
        assert all(set(gold) == {"file"} for gold in record["gold"])


def test_chores_are_answered_on_pages_that_no_older_set_asks_for():
    pages = [
        {name.partition("#")[0] for record in lines(path) for name in record["definitions"]}
        for path in (CHORES, HOWTO, TASKS)
    ]
    first = {record["definitions"][0].partition("#")[0] for record in lines(CHORES)}
    assert not first & (pages[1] | pages[2])
    assert pages[0] - first <= {
        "select",
        "threading",
        "xml.etree.elementtree",
    }  # the same, elsewhere


def test_a_quote_is_found_across_line_ends_and_markup():
    question = asked("Who waits?", "the ferry waits at the *quay*")
    assert question.is_quoted_in(["Then", "the `ferry` waits\n    at the quay."])
    assert not question.is_quoted_in(["the ferry waits", "at the quay"])  # half of it in each
    assert not question.is_quoted_in(["the ferry waits at the quayside"])
    assert not asked("Who?").is_quoted_in(["the ferry waits"])


def test_figures_are_those_of_a_count_by_hand():
    texts = [f"Pier {i} has a red lamp." for i in range(9)] + ["The ferry waits at the quay."]
    index = clew.Index.from_documents(texts)
    questions = [
        asked("Where does the ferry wait?", "waits at the quay"),
        asked("Where does the ferry wait?", "a green lamp"),
        asked("ferry"),
    ]
    figures, more = measure(index, recipes.get("bm25"), questions, [64])
    assert figures == {f"hit@{k}": [True, False] for k in (1, 3, 10)} | {"in 64": [True, False]}
    context = index.ask("ferry", recipe="bm25", budget=64)
    assert more["passages, unanswerable"] == f"{len(context):.1f}"
    assert more["tokens, unanswerable"] == f"{context.tokens:.1f}"


def test_by_file_any_passage_of_the_file_answers():
    index = clew.Index.from_documents(
        [clew.Document("in/a.md", "The ferry waits."), clew.Document("b.md", "The ferry sails.")]
    )
    places = (Place("a.md", "nothing of the kind"),)
    questions = [everyday.of_files(QuotedQuestion("ferry waits", own)) for own in (places, ())]
    figures, more = measure(index, recipes.get("bm25"), questions, [64])
    assert figures == {f"hit@{k}": [True] for k in (1, 3, 10)} | {"in 64": [True]}
    assert more["passages, unanswerable"] != "-"
    sails = [QuotedQuestion("ferry sails", places), QuotedQuestion("sails", (Place("b.md"),))]
    assert [everyday.is_hit(own, best(index.ask(own.text), 1)) for own in sails] == [False, True]


def test_a_recipe_without_a_kind_of_edge_finds_nothing_along_it():
    index = clew.Index.from_documents(
        [
            clew.Document("a", "The ferry waits. See [the quay](b).", format="markdown"),
            clew.Document("b", "Lamps are red."),
        ],
        embedder=lambda texts: [[float("ferry" in text), float("red" in text)] for text in texts],
    )
    walk = clew.Pipeline(
        seed.BM25(),
        (spread.PageRank(kinds=("hyperlink",)),),
        (select.Top(min_share=0),),
        order=order.ByPrize(),
    )
    without = everyday.WithoutEdges(walk, "hyperlink")
    prizes = [
        {item.id for item in index.ask("ferry", recipe=method, budget=99) if item.score > 0}
        for method in (walk, without)
    ]
    assert prizes == [{"a", "b"}, {"a"}]
    assert everyday.method_of("agrag-next", "tools").kind == "next"


def test_the_rival_strips_endings_and_stop_words_and_counts_headings():
    rival = everyday.method_of("fifteen", "tools")
    texts = ["# Ferries\n\nThey go at ten.", "# Bread\n\nThe oven is where it is and what it was."]
    documents = [clew.Document(name, text) for name, text in zip("ab", texts, strict=True)]
    index = clew.Index.from_documents(documents, splitter=clew.read.Splitter(tokens=64))
    assert "They go" in best(index.ask("where is the ferrie", recipe=rival, limit=1), 1)[0].text
    assert not any(item.score for item in index.ask("where is it", recipe=rival, limit=2))


def test_the_rival_with_vectors_ranks_by_the_weighted_mean_of_shares():
    vectors = [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]
    graph = Graph.of(
        ["a ferry and a ferry", "the moon", "one ferry, the other pier"], vectors=vectors
    )
    query = Query("ferry", np.float32([0.0, 1.0]))
    words = everyday.Fifteen().on(graph)(query).scores
    expected = 0.7 * words / words.max() + 0.3 * np.array([0.0, 1.0, 0.8])
    found = everyday.FifteenAndDense(0.3).on(graph)(query).scores
    assert found.tolist() == pytest.approx(expected.tolist())


def test_corpora_weigh_the_same_in_one_table_and_questions_in_the_other():
    def table(values):
        return build_table("t", {"a": {"hit": [0.0] * len(values)}, "b": {"hit": values}}, "a")

    tables = [table([1.0]), table([0.0, 0.0, 1.0])]
    by_corpus, by_question = (everyday.pooled(tables, by_corpus=own) for own in (True, False))
    assert by_corpus.mean("b", "hit") == pytest.approx((1 + 1 / 3) / 2)
    assert by_question.mean("b", "hit") == pytest.approx(2 / 4)
    assert (by_corpus.title, by_question.title) == ("Mean over 2 corpora", "Mean over 4 questions")


def test_groups_name_their_corpora():
    assert everyday.corpora_of(["tools", "documentation", "code"])[:3] == [
        "tools",
        "django",
        "sqlalchemy",
    ]
    assert everyday.corpora_of(["abstracts"]) == ["cranfield", "cisi"]
    assert set(everyday.corpora_of(["written"])) == set(everyday_corpora.SOURCES)
    assert set(everyday.CORPORA) == {*everyday_corpora.SOURCES, *everyday.SETS}
    assert len(everyday.CORPORA) == len(set(everyday.CORPORA))


def test_questions_whose_quotes_the_splitter_cut_are_counted():
    index = clew.Index.from_documents(["The ferry waits.", "At the quay."])
    questions = [asked("a", "ferry waits"), asked("b", "waits at"), asked("c")]
    assert lost_questions(index, questions) == questions[1:2]


def test_a_kept_index_waits_until_a_file_changes(tmp_path, monkeypatch):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.txt").write_text("The ferry waits at the quay.")
    options = argparse.Namespace(
        names=False, sentences=False, embedder=None, keep_index=tmp_path / "kept"
    )
    first = everyday.index_of(folder, options)
    build, built = everyday.build_index, []
    monkeypatch.setattr(
        everyday, "build_index", lambda *given: built.append(given) or build(*given)
    )
    assert everyday.index_of(folder, options).ask("ferry").text == first.ask("ferry").text
    assert not built
    (folder / "a.txt").write_text("The ferry waits at the northern quay.")
    assert "northern" in everyday.index_of(folder, options).ask("ferry").text
    assert len(built) == 1


def archive_of(files):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text))
    return data.getvalue()


@pytest.fixture
def small_index(tmp_path, monkeypatch):
    """A package index in a folder, with one archive of some files."""
    data = archive_of(
        {
            "p-1/docs/a.md": b"# A",
            "p-1/docs/in/b.md": b"# B",
            "p-1/docs/c.txt": b"C",
            "p-1/d.md": b"D",
            "p-1/docs/../../e.md": b"E",
            "p-1/docs/big.md": b"x" * 99,
        }
    )
    page = tmp_path / "simple" / "p"
    page.mkdir(parents=True)
    (page / "p-1.tar.gz").write_bytes(data)
    digest = hashlib.sha256(data).hexdigest()
    source = everyday_corpora.Source(
        "p", "p-1.tar.gz", digest, ("",), ".md", "p-1/docs/", "p", max_bytes=50
    )

    def opened(address, timeout):
        name = address if isinstance(address, str) else address.full_url
        if name.endswith("/"):
            return io.BytesIO(b'<a href="p-1.tar.gz#sha256=0">p-1.tar.gz</a>')
        return io.BytesIO(Path(name.removeprefix("file://")).read_bytes())

    monkeypatch.setattr(everyday_corpora.urllib.request, "urlopen", opened)
    monkeypatch.setitem(everyday_corpora.SOURCES, "small", (source,))
    return page.parent.as_uri(), data, page / "p-1.tar.gz"


def test_a_corpus_is_what_the_rule_keeps_and_is_fetched_once(small_index, tmp_path):
    address, _, archive = small_index
    folder = everyday_corpora.corpus_folder("small", tmp_path / "cache", address)
    kept = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert kept == {"p/a.md", "p/in/b.md"}
    archive.unlink()
    assert everyday_corpora.corpus_folder("small", tmp_path / "cache", address) == folder


def test_whole_archives_have_all_files_and_gold_has_its_path_there(
    small_index, tmp_path, monkeypatch
):
    address, _, _ = small_index
    record = {"id": "1", "question": "B?", "half": "tune", "answerable": True}
    gold = {"file": "p/in/b.md", "quote": "B"}
    (tmp_path / "small.jsonl").write_text(json.dumps(record | {"gold": [gold]}), encoding="utf-8")
    monkeypatch.setattr(everyday, "QUESTIONS", tmp_path)
    options = argparse.Namespace(
        folder=None, whole_archives=True, cache=tmp_path / "cache", index_url=address
    )
    folder, questions = everyday.folder_and_questions("small", options)
    kept = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert kept == {
        f"p-1/{path}" for path in ("docs/a.md", "docs/in/b.md", "docs/c.txt", "d.md", "docs/big.md")
    }
    (asked_there,) = everyday.read_questions(questions, "tune")
    (place,) = asked_there.places
    assert (folder / place.file).read_text() == "# B"
    with pytest.raises(ValueError, match="cranfield is not made of archives"):
        everyday.folder_and_questions("cranfield", options)


def test_an_archive_with_other_bytes_is_refused(small_index, tmp_path):
    address, data, archive = small_index
    archive.write_bytes(data + b"\0")
    with pytest.raises(ValueError, match=r"p-1\.tar\.gz has SHA-256"):
        everyday_corpora.corpus_folder("small", tmp_path / "cache", address)
    assert not (tmp_path / "cache" / "small.complete").exists()


def test_a_refused_budget_is_a_miss_that_is_counted():
    index = clew.Index.from_documents(["The ferry waits at the quay. " * 20])
    questions = [asked("ferry", "waits at the quay"), asked("quay")]
    figures, more = measure(index, recipes.get("bm25"), questions, [8, 999])
    assert figures["hit@1"] == figures["in 999"] == [True]
    assert figures["in 8"] == [False]
    assert (more["refused"], more["passages, unanswerable"]) == ("2", "0.0")
