"""Documents stand before source code, tests and release notes, unless these are asked for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Document, Index
from clew.graph import Graph
from clew.seed import BM25, InProse
from clew.seed._kinds_of_files import _MAY_BE_OTHER
from clew.seed._release_notes import is_release_notes
from clew.seed._test_code import is_test_code, is_test_data
from clew.types import Query

TEXT = "The kiln heats up to a thousand degrees."
TESTS = ("tests/kiln.py", "a/kiln_test.go", "src/test/java/KilnTest.java", "web/kiln.spec.ts")
OTHERS = ("src/kiln.py", "cmd/kiln.go", "docs/tests/kiln.md", "latest.py", "hatch/env/test.py")


def factors(question, graph):
    query = Query(question)
    changed = np.asarray(InProse(BM25(), 0.9, 0.7, how_to_share=1).on(graph)(query).scores)
    return changed / np.asarray(BM25().on(graph)(query).scores)


@pytest.mark.parametrize("key", ["path", "file_path", "source", "id"])
@pytest.mark.parametrize("root", ["", "/home/anna/", "C:\\anna\\"])
def test_what_a_path_calls_a_test_keeps_its_share(key, root):
    paths = [root + path.replace("/", "\\" if "\\" in root else "/") for path in (*TESTS, *OTHERS)]
    metadata = [{} if key == "id" else {key: path} for path in paths]
    ids = paths if key == "id" else None
    graph = Graph.of([TEXT] * len(paths), ids=ids, metadata=metadata)
    of_code = [1 if path.endswith(".md") else 0.9 for path in paths]
    wanted = [0.7] * len(TESTS) + of_code[len(TESTS) :]
    assert factors("heat a kiln", graph) == pytest.approx(wanted)
    assert factors("How do I test a kiln?", graph) == pytest.approx(wanted)
    for question in ("Which test heats a kiln?", "kiln fixtures", "pytest of the kiln"):
        assert factors(question, graph) == pytest.approx(of_code)


@pytest.mark.parametrize("question", ["What does kiln.py heat?", "Does `src/Kiln.go:12` heat it?"])
def test_a_question_that_names_a_file_of_code_lowers_none(question):
    graph = Graph.of([TEXT] * 3, metadata=[{"path": p} for p in ("kiln.py", "a_test.py", "a.md")])
    assert factors(question, graph) == pytest.approx(1)
    assert factors("What does the kiln heat, e.g. by U.S. law?", graph) != pytest.approx(1)


def test_where_all_code_lies_in_a_folder_of_tests_nothing_is_a_test():
    paths = ["/tests/fair/kiln.py", "/tests/fair/oven.py", "/tests/fair/README.md"]
    graph = Graph.of([TEXT] * 3, metadata=[{"path": path} for path in paths])
    assert factors("heat a kiln", graph) == pytest.approx([0.9, 0.9, 1])


def test_where_there_are_no_documents_source_code_keeps_its_score():
    paths = ["kiln.py", "oven.go", "kiln_test.go"]
    graph = Graph.of([TEXT] * 3, metadata=[{"path": path} for path in paths])
    assert factors("heat a kiln", graph) == pytest.approx([1, 1, 0.7])


def test_of_a_folder_that_is_read_the_path_below_it_counts(tmp_path):
    root = tmp_path / "tests"
    for path, name in (("src/kiln.py", "heat_kiln"), ("tests/test_kiln.py", "check_kiln")):
        file = root / path
        file.parent.mkdir(parents=True)
        body = "".join(f"    kiln_{i} = heat(kiln, {i})\n" for i in range(3))
        file.write_text(f"def {name}(kiln):\n{body}    return kiln\n", encoding="utf-8")
    graph = Index.from_documents(root).graph
    rows, query = graph.rows("passage"), Query("How is a kiln heated?")
    alone, changed = (
        np.asarray(seed.on(graph)(query).scores)[rows] for seed in (BM25(), InProse(BM25()))
    )
    of_tests = np.array(["test_kiln.py" in graph.ids[row] for row in rows])
    assert of_tests.any()
    assert (alone[of_tests] > 0).all()
    assert changed == pytest.approx(np.where(of_tests, 0.65 * alone, alone))


def test_a_guide_comes_before_tests_that_repeat_the_question():
    guide = Document(
        "docs/kiln.md", "# Kilns\n\nTo heat a kiln, give `heat` the temperature and wait an hour."
    )
    tests = [
        Document(f"tests/test_{i}.py", f"def test_{i}():\n    heat_a_kiln({i})  # heat a kiln\n")
        for i in range(5)
    ]
    source = Document("src/kiln.py", "def heat(kiln, degrees):\n    kiln.degrees = degrees\n")
    index = Index.from_documents([*tests, source, guide])
    assert index.ask("How do I heat a kiln?", limit=1).items[0].document == guide.id
    assert index.ask("Which tests heat a kiln?", limit=1).items[0].document in {
        one.id for one in tests
    }


def test_paths_of_tests_in_many_languages():
    assert all(is_test_code(path) for path in TESTS)
    assert not any(is_test_code(path) for path in OTHERS)
    assert is_test_code("docs/tests/kiln.md") is None


DATA_OF_TESTS = (
    "web/testdata/home.html",
    "tests/fixtures/README.md",
    "a/__snapshots__/kiln.md",
    "C:\\kiln\\tests\\kiln.json",
    "cases/kiln.caddyfiletest",
)


@pytest.mark.parametrize("path", DATA_OF_TESTS)
def test_what_tests_read_is_no_document(path):
    assert is_test_data(path)
    paths = ("docs/kiln.md", "kiln.py", path)
    assert shares("What heats the kiln?", paths) == pytest.approx([1, 0.9, 0.65])
    assert shares("Which test heats the kiln?", paths) == pytest.approx([1, 0.9, 0.9])
    assert shares("What heats the kiln?", paths[1:]) == pytest.approx([1, 0.65])
    assert shares("What heats the kiln?", paths[2:]) == pytest.approx([1])  # all there is


@pytest.mark.parametrize(
    "path", ["tests/README.md", "docs/tests/kiln.html", "kiln.latest", "data/kiln.html", "contest"]
)
def test_a_document_beside_tests_is_one(path):
    assert not is_test_data(path)
    assert shares("What heats the kiln?", (path, "kiln.py")) == pytest.approx([1, 0.9])


@pytest.mark.parametrize("path", ["kiln.rb", "kiln.cs", "queries/kiln.scm", "kiln.sh", "kiln.R"])
def test_a_language_that_no_grammar_reads_is_source_code(path):
    assert shares("What heats the kiln?", ("kiln.md", path)) == pytest.approx([1, 0.9])
    assert shares("Which function heats the kiln?", ("kiln.md", path)) == pytest.approx([0.9, 1])
    assert shares(f"What heats the kiln in {path}?", ("kiln.md", path)) == pytest.approx(
        [1, 0.9 if path.endswith(".R") else 1]  # of one letter may be an abbreviation
    )


USES = (
    "How do I heat the kiln?",
    "how to heat kilns",
    "Where can I heat a kiln?",
    "heat the kiln",
    "Kiln heat",
)
OTHER_QUESTIONS = (
    "What heats the kiln?",
    "where the kiln is heated",
    "heat(kiln)",
    "kiln.heat",
    "kiln HeatOfKiln",
    "kiln of heat_up",
)


def shares(question, paths, **options):
    """Return what each path keeps of a score that all have alike."""
    graph = Graph.of([TEXT] * len(paths), metadata=[{"path": path} for path in paths])
    query = Query(question)
    changed = np.asarray(InProse(BM25(), **options).on(graph)(query).scores)
    return (changed / np.asarray(BM25().on(graph)(query).scores)).tolist()


def test_who_wants_to_do_something_reads_how_a_program_is_used():
    paths, options = ("docs/kiln.md", "kiln.py", "test_kiln.py"), {"how_to_share": 0.5}
    for question in USES:
        assert shares(question, paths, **options) == pytest.approx([1, 0.5, 0.5]), question
    for question in OTHER_QUESTIONS:
        assert shares(question, paths, **options) == pytest.approx([1, 0.9, 0.65]), question
    for question in (*USES, *OTHER_QUESTIONS):  # there is nothing else to read
        assert shares(question, paths[1:], **options) == pytest.approx([1, 0.65])


def test_who_asks_for_source_code_reads_it_before_documents():
    paths = ("docs/kiln.md", "kiln.py", "test_kiln.py", "NEWS.md")
    for question in (
        "Which function heats the kiln?",
        "Which code heats it?",
        "How is the heat of a kiln implemented?",
    ):
        assert shares(question, paths) == pytest.approx([0.9, 1, 0.65, 0.7]), question
        assert shares(question, (paths[0], paths[2])) == pytest.approx([1, 1])
        assert shares(question, paths[::3]) == pytest.approx([1, 0.7])
    for question in ("What heats the kiln?", "What classifies a kiln?"):
        assert shares(question, paths) == pytest.approx([1, 0.9, 0.65, 0.7]), question
    assert shares("How do I implement a kiln?", paths) == pytest.approx([1, 0.7, 0.65, 0.7])


@pytest.mark.parametrize(
    "path",
    [
        "CHANGELOG.md",
        "CHANGES",
        "changes.rst",
        "docs/release_notes.rst",
        "docs/releases/4.2.txt",
        "C:\\kiln\\whatsnew\\2.0.html",
        "doc/announce/release-8.0.0.rst",
        "NEWS.md",
        "HISTORY.rst",
        "changelog_20.html",
        "Kiln 3 Release Notes.pdf",
    ],
)
def test_release_notes_come_behind_what_explains(path):
    paths = (path, "docs/kiln.md", "kiln.py")
    assert shares("What heats the kiln?", paths) == pytest.approx([0.7, 1, 0.9])
    assert shares("How do I change the heat of a new kiln?", paths) == pytest.approx([0.7, 1, 0.7])
    assert shares("What heats the kiln?", [path, path]) == pytest.approx([1, 1])
    history = "What is in the history of the kiln?"  # of what a program keeps, as of a shell
    assert shares(history, paths) == pytest.approx([0.7, 1, 0.9])
    assert shares("What is the version history of the kiln?", paths) == pytest.approx([1, 1, 0.9])


@pytest.mark.parametrize(
    "question",
    [
        "What is new about the kiln?",
        "When was the heat of the kiln introduced?",
        "Does the kiln heat up since 2.0?",
        "What changed about the kiln?",
        "How do I heat the kiln in version 3?",
        "Which release heats the kiln?",
        "Was the heat of the kiln removed?",
    ],
)
def test_a_question_on_changes_reads_release_notes(question):
    assert shares(question, ("CHANGELOG.md", "docs/kiln.md")) == pytest.approx([1, 1])


@pytest.mark.parametrize(
    "path",
    [
        "docs/history.md",
        "news/2024.md",
        "RELEASE.md",
        "src/changes.py",
        "docs/changing.md",
        "new.md",
    ],
)
def test_what_only_sounds_like_release_notes_is_none(path):
    share = 0.9 if path.endswith(".py") else 1
    assert shares("What heats the kiln?", (path, "docs/kiln.md")) == pytest.approx([share, 1])


@given(st.text("aZ./\\-_ 12") | st.sampled_from([*TESTS, *OTHERS, *DATA_OF_TESTS, "NEWS", "tests"]))
def test_what_is_taken_for_a_document_at_a_glance_is_one(name):
    if not _MAY_BE_OTHER.search(name):
        assert is_test_code(name) is None
        assert not is_test_data(name)
        assert not is_release_notes(name)


@pytest.mark.parametrize("title", ["What's new", "Version history", "Change log", "RELEASES"])
def test_release_notes_are_known_by_their_titles(title):
    assert is_release_notes(title)
    assert _MAY_BE_OTHER.search(title)


def test_a_share_that_is_none_is_an_error():
    with pytest.raises(ValueError, match=r"from 0 to 1; got code_share=1\.5"):
        InProse(BM25(), 1.5)
    with pytest.raises(ValueError, match=r"got test_share=-1, notes_share=2"):
        InProse(BM25(), test_share=-1, notes_share=2)
