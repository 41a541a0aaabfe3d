"""A benchmark folder is read as its page says, and what is wrong with one is told with its place."""

from __future__ import annotations

import json

import numpy as np
import pytest

from clew.measure import Benchmark


def unit(vectors):
    vectors = np.asarray(vectors, np.float64)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_passages_are_title_and_text_and_questions_keep_what_else_is_known(folder):
    benchmark = Benchmark.open(folder.path)
    assert benchmark.documents[0].id == "a"
    assert benchmark.documents[0].text == "Anna\nAnna Berg married Ben."
    assert benchmark.questions[1].gold == ("b", "c")
    assert benchmark.questions[1].extra == {"hops": 2}
    assert benchmark.embedder is None
    assert not benchmark.facts
    assert len(benchmark.index().graph) == 5


def test_gzipped_files_are_the_same_benchmark(folder):
    plain = Benchmark.open(folder.path)
    for name in ("corpus.jsonl", "queries.jsonl"):
        folder.lines(
            f"{name}.gz",
            [json.loads(line) for line in (folder.path / name).read_text().splitlines()],
        )
        (folder.path / name).unlink()
    packed = Benchmark.open(folder.path)
    assert packed.documents == plain.documents
    assert packed.questions == plain.questions


def test_stored_vectors_reach_every_node_and_fact_of_the_index(folder):
    arrays = folder.triples().vectors()
    benchmark = Benchmark.open(folder.path)
    index = benchmark.index()
    graph = index.graph
    np.testing.assert_allclose(
        graph.vectors[graph.rows("passage")], unit(arrays["passages"]), atol=1e-6
    )
    assert [graph.texts[row] for row in graph.rows("entity")] == [
        "anna berg",
        "ben",
        "corfu",
        "greece",
    ]
    np.testing.assert_allclose(
        graph.vectors[graph.rows("entity")], unit(arrays["entities"]), atol=1e-3
    )
    np.testing.assert_allclose(graph.facts.vectors, unit(arrays["facts"]), atol=1e-6)
    asked = [index.embedder.embed_question(question.text) for question in benchmark.questions]
    np.testing.assert_allclose(asked, unit(arrays["queries"]), atol=1e-6)
    with pytest.raises(ValueError, match="only the benchmark's own questions"):
        index.ask("Who is Anna?")


def test_spellings_that_fold_together_share_the_vector_of_the_one_that_is_stored(folder):
    folder.triples(
        triples={"a": [["Anna  Berg", "married", "BEN"]], "b": [["anna berg", "married", "ben"]]}
    )
    folder.vectors()
    graph = Benchmark.open(folder.path).index().graph
    assert len(graph.facts) == 1
    assert graph.facts.vectors.any()


def test_an_embedder_or_the_default_takes_the_place_of_stored_vectors(folder, embed):
    folder.triples().vectors()
    own = Benchmark.open(folder.path, embedder=embed).index()
    np.testing.assert_allclose(
        own.graph.vectors[0], embed(["Anna\nAnna Berg married Ben."])[0], atol=1e-6
    )
    default = Benchmark.open(folder.path, vectors=False)
    assert default.embedder is None
    assert default.index().embedder.name.startswith("clew-static")


def test_the_choice_of_names_is_the_reader_s(folder):
    folder.triples(
        triples={"a": [["Anna Berg", "is-called", "Ännchen!"], ["Αθήνα", "is", "Athens"]]}
    )
    ascii, written = Benchmark.open(folder.path), Benchmark.open(folder.path, names="as_written")
    assert ascii.facts["a"] == (("anna berg", "is called", "nnchen"),)
    assert ascii.notes == (
        "triples left out of triples.jsonl because a subject or an object has no letter or digit a-z, 0-9: 1",
    )
    assert written.facts["a"] == (("Anna Berg", "is-called", "Ännchen!"), ("Αθήνα", "is", "Athens"))
    assert not written.notes


def test_one_file_of_triples_is_read_and_triples_come_before_surface_triples(folder):
    folder.triples("surface_triples.jsonl.gz", {"e": [["Euboea", "mentions", "Greece"]]})
    assert set(Benchmark.open(folder.path).facts) == {"e"}
    folder.triples()
    assert set(Benchmark.open(folder.path).facts) == {"a", "b", "c"}
    assert set(Benchmark.open(folder.path, facts="surface_triples").facts) == {"e"}
    assert not Benchmark.open(folder.path, facts="none").facts


def test_surface_triples_find_the_vectors_that_are_named_after_them(folder):
    folder.triples("surface_triples.jsonl").vectors(prefix="surface_")
    assert Benchmark.open(folder.path).index().graph.facts.vectors.any(axis=1).all()


def test_missing_vectors_are_one_error_that_counts_them(folder):
    folder.triples(
        triples={
            "a": [["Anna Berg", "married", "Ben"], ["Zoe", "saw", "Ben"], ["Zoe", "saw", "Yannis"]]
        }
    ).vectors()
    with pytest.raises(
        ValueError,
        match=r"vectors\.npz has no vector for 2 names \(for instance 'zoe'\) and 2 facts \(for .*'zoe saw ben'",
    ):
        Benchmark.open(folder.path)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        ({"passages": None}, "the array 'passages' is missing"),
        (
            {"passages": np.ones((4, 8))},
            r"'passages' must have one row for each of the 5 texts of its file; its shape is \(4, 8\)",
        ),
        ({"queries": np.ones((3, 7))}, "'queries' has 7 dimensions and 'passages' has 8"),
        (
            {"passages_scale": None},
            r"'passages' is of int8: wanted floats, or integers with a '\.\.\._scale'",
        ),
        ({"queries": np.zeros((3, 8))}, "'queries' has 3 rows that are zero or not finite"),
        ({"facts": np.full((3, 8), np.nan)}, "'facts' has 3 rows that are zero or not finite"),
    ],
)
def test_vectors_that_do_not_belong_are_refused(folder, spoil, said):
    folder.triples().vectors(**spoil)
    with pytest.raises(ValueError, match=said):
        Benchmark.open(folder.path)


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        (
            "corpus.jsonl",
            '{"id": "a", "title": "A", "text": "again"}',
            r"corpus\.jsonl:6: the id 'a' came before, at .*corpus\.jsonl:1",
        ),
        (
            "corpus.jsonl",
            '{"id": "f", "title": "A"}',
            r"corpus\.jsonl:6: 'text' is missing; the fields there are id, title",
        ),
        (
            "corpus.jsonl",
            '{"id": "f", "title": " ", "text": ""}',
            r"corpus\.jsonl:6: the passage 'f' has neither a title nor a text",
        ),
        (
            "corpus.jsonl",
            '{"id": 5, "title": "A", "text": "t"}',
            r"corpus\.jsonl:6: 'id' must be a text with at least one word; got 5",
        ),
        ("corpus.jsonl", '{"id": "f", ', r"corpus\.jsonl:6: not JSON"),
        ("corpus.jsonl", '["f"]', r"corpus\.jsonl:6: a line must be an object"),
        (
            "queries.jsonl",
            '{"id": "q", "question": "x", "gold_ids": []}',
            r"queries\.jsonl:4: a question needs at least one gold passage",
        ),
        (
            "queries.jsonl",
            '{"id": "q", "question": "x", "gold_ids": ["z"]}',
            r"queries\.jsonl:4: the gold passage 'z' is not in the corpus",
        ),
        (
            "queries.jsonl",
            '{"id": "q", "question": "", "gold_ids": ["a"]}',
            r"queries\.jsonl:4: 'question' must be a text with",
        ),
        (
            "queries.jsonl",
            '{"id": "q", "question": "x", "gold_ids": "a"}',
            r"queries\.jsonl:4: 'gold_ids' must be a list; got 'a'",
        ),
        (
            "triples.jsonl",
            '{"passage_id": "z", "triples": []}',
            r"triples\.jsonl:4: the passage 'z' is not in the corpus",
        ),
        (
            "triples.jsonl",
            '{"passage_id": "a", "triples": [["x", "y"]]}',
            r"triples\.jsonl:4: a triple must be \[subject, relation, object\]",
        ),
    ],
)
def test_a_malformed_line_is_told_with_file_and_number(folder, name, line, said):
    folder.triples()
    with (folder.path / name).open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    with pytest.raises(ValueError, match=said):
        Benchmark.open(folder.path)


def test_bytes_that_are_no_text_and_archives_that_end_early_are_told_with_their_line(folder):
    whole = (folder.path / "queries.jsonl").read_bytes()
    (folder.path / "queries.jsonl").write_bytes(whole + b"\xff\n")
    with pytest.raises(ValueError, match=r"queries\.jsonl:4: cannot be read on from here"):
        Benchmark.open(folder.path)
    (folder.path / "queries.jsonl").unlink()
    folder.lines("queries.jsonl.gz", [json.loads(line) for line in whole.splitlines()])
    packed = folder.path / "queries.jsonl.gz"
    packed.write_bytes(packed.read_bytes()[:-12])
    with pytest.raises(ValueError, match=r"queries\.jsonl\.gz:\d: cannot be read on from here"):
        Benchmark.open(folder.path)


def test_a_missing_file_is_named(folder):
    with pytest.raises(FileNotFoundError, match=r"triples\.jsonl is missing"):
        Benchmark.open(folder.path, facts="triples")
    with pytest.raises(FileNotFoundError, match=r"other\.npz is missing"):
        Benchmark.open(folder.path, vectors="other.npz")
    (folder.path / "queries.jsonl").unlink()
    with pytest.raises(FileNotFoundError, match=r"queries\.jsonl is missing"):
        Benchmark.open(folder.path)
    with pytest.raises(FileNotFoundError, match="is not a folder"):
        Benchmark.open(folder.path / "nowhere")


def test_which_of_several_files_is_meant_must_be_said(folder):
    folder.vectors()
    np.savez(folder.path / "more.npz", passages=np.ones((5, 2)), queries=np.ones((3, 2)))
    with pytest.raises(
        ValueError, match=r"2 files of vectors \(more\.npz, vectors\.npz\): say which"
    ):
        Benchmark.open(folder.path)
    assert Benchmark.open(folder.path, vectors="more.npz").index().graph.vectors.shape == (5, 2)
    folder.lines("corpus.jsonl.gz", [])
    with pytest.raises(ValueError, match=r"has both corpus\.jsonl and corpus\.jsonl\.gz"):
        Benchmark.open(folder.path)


def test_reference_lengths_are_one_per_passage(folder):
    lengths = folder.path / "toklen.json"
    lengths.write_text("[4, 5, 6, 7, 8]")
    assert Benchmark.open(folder.path).reference_tokens == {"a": 4, "b": 5, "c": 6, "d": 7, "e": 8}
    lengths.write_text("[4, 5]")
    with pytest.raises(ValueError, match=r"toklen\.json: 2 token counts for 5 passages"):
        Benchmark.open(folder.path)
    lengths.write_text('[4,\n "5"')
    with pytest.raises(ValueError, match=r"toklen\.json:2: not JSON"):
        Benchmark.open(folder.path)
