"""Opening a file never runs it."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import clew.store

SOURCES = sorted(Path(clew.store.__file__).parent.glob("*.py"))
FORBIDDEN_MODULES = {
    "pickle",
    "cPickle",
    "marshal",
    "shelve",
    "dill",
    "joblib",
    "cloudpickle",
    "yaml",
    "importlib",
    "runpy",
    "ctypes",
    "subprocess",
}
FORBIDDEN_CALLS = {
    "eval",
    "exec",
    "compile",
    "__import__",
    "literal_eval",
    "import_module",
    "load_module",
    "np.load",
    "np.fromfile",
}


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_the_store_has_no_way_to_run_what_it_reads(source):
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = {alias.name for alias in node.names} | {getattr(node, "module", None) or ""}
            assert not {name.partition(".")[0] for name in names} & FORBIDDEN_MODULES, (
                f"line {node.lineno}"
            )
        if isinstance(node, ast.Call):
            assert ast.unparse(node.func).removeprefix("ast.") not in FORBIDDEN_CALLS, (
                f"line {node.lineno}"
            )
            assert all(keyword.arg != "allow_pickle" for keyword in node.keywords), (
                f"line {node.lineno}"
            )


WATCHED = """
import sys, tempfile
import numpy as np
import clew
def embed(texts):
    return np.array([[1.0, len(text), text.count("a")] for text in texts])
documents = [clew.Document("a", "the sea"), clew.Document("b", "an island")]
index = clew.Index.from_documents(documents, embedder=embed, facts={"a": [("sea", "has", "island")]})
folder = tempfile.mkdtemp()
index.save(folder)
clew.Index.load(folder, embedder=embed)
seen = []
def is_record(event, args):  # of the files that were hashed; it is written once they are a while old
    return event == "os.rename" and "VERIFIED-" in str(args[1])
sys.addaudithook(lambda event, args: is_record(event, args) or seen.append(event))
clew.Index.load(folder, embedder=embed, verify="full")
bad = ("exec", "compile", "import", "pickle", "marshal", "socket", "subprocess", "os.system", "os.fork", "os.remove", "os.rename")
print(sorted({event for event in seen if event.startswith(bad)}), "open" in seen)
"""


def test_loading_runs_imports_and_connects_to_nothing():
    done = subprocess.run(
        [sys.executable, "-c", WATCHED], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[] True"
