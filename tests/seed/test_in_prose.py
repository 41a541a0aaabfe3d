"""Documents stand before source code, and that before what tests it, unless tests are asked for."""

from __future__ import annotations

import numpy as np
import pytest

from clew import Document, Index
from clew.graph import Graph
from clew.seed import BM25, InProse
from clew.seed._test_code import is_test_code
from clew.types import Query

TEXT = "The kiln heats up to a thousand degrees."
TESTS = ("tests/kiln.py", "a/kiln_test.go", "src/test/java/KilnTest.java", "web/kiln.spec.ts")
OTHERS = ("src/kiln.py", "cmd/kiln.go", "docs/tests/kiln.md", "latest.py", "hatch/env/test.py")


def factors(question, graph):
    query = Query(question)
    changed = np.asarray(InProse(BM25(), 0.9, 0.7).on(graph)(query).scores)
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


def test_a_share_that_is_none_is_an_error():
    with pytest.raises(ValueError, match=r"from 0 to 1; got 1\.5 and 0\.65"):
        InProse(BM25(), 1.5)
    with pytest.raises(ValueError, match=r"from 0 to 1; got 0\.9 and -1"):
        InProse(BM25(), test_share=-1)
