"""A changed index that is dropped is told of; one that anything is done with is not."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import textwrap
import warnings

import pytest

import clew
from clew.index.dropped import DroppedIndexWarning

DOCUMENTS = [clew.Document("a", "Ferries sail at ten."), clew.Document("b", "Corfu is green.")]
NEW = [clew.Document("c", "Ferries are white.")]


@pytest.fixture(scope="module")
def index():
    return clew.Index.from_documents(DOCUMENTS)


@pytest.mark.parametrize(
    "statement",
    [
        "index.add(NEW)",
        "index.add(NEW, progress=False)",
        "index.upsert(**{'documents': NEW})",
        "index.sync(NEW)",
        "index.delete('a')",
        "index.compact()",
        "index.generate(*[clew.generate.Reports()])",
        "index.forget()",
        "for _ in 'ab': index.add(NEW)",
    ],
)
def test_a_change_that_is_dropped_is_told_of_at_its_line(statement, index):
    program = compile(f"\n\n{statement}\n", "their.py", "exec")
    with pytest.warns(DroppedIndexWarning, match=r"keep it, as in index = index\.\w+\(") as told:
        exec(program, {"index": index, "NEW": NEW, "clew": clew})
    assert {(one.filename, one.lineno) for one in told} == {("their.py", 3)}


def test_what_is_kept_asked_saved_chained_or_iterated_is_not(index, tmp_path):
    def returned():
        return index.add(NEW)

    def never_used():
        changed = index.add(NEW)  # noqa: F841

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = index.add(NEW)
        kept.upsert(NEW)  # which changes nothing, and returns the index itself
        index.add(NEW).ask("Which ferries are white?")
        index.add(NEW).save(tmp_path / "index")
        index.add(NEW).delete("a").ask("Which ferries?")
        [document.id for document in index.add(NEW).documents]
        len(index.add(NEW))
        [index.add(NEW)]
        assert index.add(NEW) is not index
        copy.copy(kept), pickle.loads(pickle.dumps(kept.graph))
        returned()
        never_used()
        kept = index.delete("a")
        del kept


def test_nothing_is_told_when_the_interpreter_ends():
    program = """
        import clew
        index = clew.Index.from_documents([clew.Document("a", "One.")])
        changed = index.add([clew.Document("b", "Two.")])
        """
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert ran.stderr == ""
