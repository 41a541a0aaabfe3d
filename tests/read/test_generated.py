"""What programs made for programs is left out below a folder, with the reason, and nothing else."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from clew import Index
from clew.read import load_documents
from tests.read.test_sources import write

SCRIPT = "// where ferries berth\n" + "function berth(ferry) {\n  return quays[ferry];\n}\n" * 40
MINIFIED = "function b(f){return q[f]}" * 200
INDEX = json.dumps({"terms": {"ferry": list(range(200))}})
PAGE = "<html><body><h1>Ferries</h1><p>They berth at the north quay.</p></body></html>"


def read(tmp_path, files):
    """The ids of what is read below a folder, and the reason for everything else."""
    documents, skipped, _ = load_documents(write(tmp_path, files))
    reasons = {Path(path).relative_to(tmp_path).as_posix(): reason for path, reason in skipped}
    return [document.id for document in documents], reasons


def test_a_project_is_read_without_what_its_tools_wrote(tmp_path):
    written = {
        "app/berth.js": SCRIPT,
        "app/short.js": "x = 1;" * 30,  # one line, as a person may write it
        "app/search_index.js": SCRIPT,  # a program that makes one
        "app/style.css": "p {\n  color: red;\n}\n" * 90,
        "data.json": json.dumps([{"ferry": "Anna"}] * 500),
        "index.html": PAGE,
        "print.html": PAGE.replace("north", "south"),
        "map.map": "north",
    }
    made = {
        "app/berth.min.js": ("x=1", "minified"),
        "app/bundle.js": (MINIFIED, "minified"),
        "app/bundle.css": ("p{color:red}" * 300, "minified"),
        "app/bundle.js.map": (json.dumps({"version": 3}), "a source map"),
        "package-lock.json": (json.dumps({"lockfileVersion": 3}), "a lock file"),
        "uv.lock": ("version = 1\n" * 3, "a lock file"),
        "quay.svg": ("<svg><text>quay</text></svg>", "a picture"),
    }
    ids, reasons = read(tmp_path, written | {path: text for path, (text, _) in made.items()})
    assert {id.partition("#")[0] for id in ids} == set(written)
    assert reasons == {path: reason for path, (_, reason) in made.items()}


@pytest.mark.parametrize(
    "index", ["searchindex.js", "searchindex-6a1da8cc.js", "search/search_index.json"]
)
def test_a_built_site_is_read_by_its_pages(tmp_path, index):
    pages = {
        "site/index.html": PAGE,
        "site/ferry/north.html": PAGE.replace("north", "east"),
        "notes/theme.js": SCRIPT,
        "notes/print.html": PAGE.replace("north", "west"),
        "site/license.txt": "All may use it.",
    }
    made = {
        "site/theme.js": SCRIPT,
        "site/ferry/more.css": "p {\n  color: red;\n}\n" * 90,
        "site/print.html": PAGE,
        "site/genindex-A.html": PAGE,
        "site/_sources/index.rst.txt": "They berth.",
    }
    ids, reasons = read(tmp_path, pages | made | {f"site/{index}": INDEX})
    assert set(ids) == set(pages)
    assert reasons.pop(f"site/{index}") == "a search index"
    assert reasons == {path.replace("/index.rst.txt", ""): "of a built site" for path in made}


def test_what_is_given_by_its_own_name_is_read(tmp_path):
    files = {"uv.lock": "name = 'ferry'", "a.min.js": MINIFIED, "quay.svg": "<svg>quay</svg>"}
    write(tmp_path, files)
    documents = load_documents([tmp_path / name for name in files]).documents
    assert [document.text for document in documents] == list(files.values())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_with_the_name_of_a_script_is_not_opened(tmp_path):
    write(tmp_path, {"index.html": PAGE})
    os.mkfifo(tmp_path / "berth.js")
    os.mkfifo(tmp_path / "searchindex.js")
    assert read(tmp_path, {})[0] == ["index.html"]


def test_an_index_that_was_saved_inside_its_folder_is_not_read(tmp_path):
    write(tmp_path, {"quay.md": PAGE, "sub/tide.md": PAGE})
    index = Index.from_documents(tmp_path)
    index.save(tmp_path / "sub" / "docs.clew")
    again = index.sync(tmp_path)
    assert again.documents is index.documents
    assert again.skipped == (((tmp_path / "sub" / "docs.clew").as_posix(), "a saved index"),)
