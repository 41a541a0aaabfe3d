"""The table of formats: one row makes a format known to everything that reads."""

from __future__ import annotations

import importlib.util
import inspect
import pickle
from collections import Counter
from dataclasses import replace

import pytest

from clew import Index, Splitter
from clew.document import Document
from clew.graph import heading_of
from clew.read import load_documents
from clew.read.formats import FORMATS
from clew.read.known_files import reader_of

TOY = '''
"""Toy: a line in capitals is a heading, a word that begins with @ links to a file."""

import re

from clew.read.formats import Block, Format, Heading, Outline


def read(file):
    text = file.text()
    if text.startswith("broken"):
        file.report("read as text: it says that it is broken")
        return [file.document(text)]
    return [file.document(text, "toy", title=text.partition("\\n")[0].title(), toys=1)]


def outline(text, share):
    parts, start = [], 0
    for line in text.splitlines(keepends=True):
        end = start + len(line.rstrip())
        if line.isupper():
            parts.append(Heading(1, line.strip().title(), start, end))
        elif start < end:
            parts.append(Block(start, end))
        start += len(line)
    links = ((match.start(), match[1]) for match in re.finditer(r"@(\\S+)", text))
    return Outline(tuple(parts), tuple(links))


TOY = Format("toy", read, (".toy",), outline, outlines_pieces=True)
'''


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """The format of a module that is no part of clew, in one line of the table."""
    path = tmp_path / "toy_format.py"
    path.write_text(TOY)
    spec = importlib.util.spec_from_file_location("toy_format", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setitem(FORMATS, "toy", module.TOY)
    return module.TOY


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "box"
    folder.mkdir()
    (folder / "bears.toy").write_text("BEARS\nThey are soft.\nDOLLS\nSee @trains.TOY for more.\n")
    (folder / "trains.TOY").write_text("TRAINS\nThey are fast.\n")
    (folder / "zebra.toy").write_text("broken zebra")
    return folder


def test_a_new_row_is_read_from_a_folder_cut_and_linked(toy, folder):
    index = Index.from_documents(folder, splitter=Splitter())
    graph = index.graph
    assert [(document.id, document.format) for document in index.documents] == [
        ("bears.toy", "toy"),
        ("trains.TOY", "toy"),
        ("zebra.toy", "text"),
    ]
    assert index.documents[0].metadata["title"] == "Bears"
    assert index.documents[0].metadata["toys"] == 1
    assert [heading_of(graph, row) for row in graph.rows("passage")][:3] == [
        "Bears",
        "Bears > Dolls",
        "Trains",
    ]
    links = graph.edges.kinds.mask("hyperlink")
    assert [graph.ids[row] for row in graph.edges.heads[links]] == ["trains.TOY"]
    assert [reason for _, reason in index.skipped] == ["read as text: it says that it is broken"]
    assert len(Index.from_documents(folder, splitter=None).graph.rows("passage")) == 3, (
        "each whole, unsplit"
    )


def test_a_new_row_is_known_to_pieces_of_frameworks_and_to_errors(toy):
    from langchain_core.documents import Document as LangChainDocument

    piece = LangChainDocument("BEARS\nSoft.", metadata={"source": "box/bears.toy"})
    assert load_documents([piece]).documents[0].format == "toy"
    with pytest.raises(ValueError, match=r"unknown format 'klingon'.*known: text, .*, toy$"):
        Splitter()(Document("a", "text", format="klingon"))


def test_without_its_module_a_format_is_read_as_text_if_it_is_text(toy, folder, monkeypatch):
    missing = replace(toy, requires=("no_such_module",), hint="pip install toys")
    monkeypatch.setitem(FORMATS, "toy", missing)
    found = load_documents(folder)
    assert {document.format for document in found.documents} == {"text"}
    assert {reason for _, reason in found.skipped} == {
        "read as text, not by its syntax (pip install toys)"
    }
    monkeypatch.setitem(FORMATS, "toy", replace(missing, outline=None))
    found = load_documents(folder)
    assert found.documents == []
    assert {reason for _, reason in found.skipped} == {"pip install toys"}


def test_rows_have_their_own_names_and_suffixes():
    assert all(name == format.name for name, format in FORMATS.items())
    suffixes = Counter(suffix for format in FORMATS.values() for suffix in format.suffixes)
    assert set(suffixes.values()) == {1}
    assert all(suffix == suffix.lower() and suffix[0] == "." for suffix in suffixes)


def test_every_function_that_a_row_names_is_there_and_takes_what_it_is_given():
    share = lambda start, end: 0.0  # noqa: E731
    given = {"read": ("file",), "outline": ("text", share), "links": ("text",), "declared_title": ("text",)}  # fmt: skip
    for format in FORMATS.values():
        for field, arguments in given.items():
            function = getattr(format, field)
            if function is None:
                continue
            module = importlib.import_module(function.__module__)
            assert module.__name__.startswith("clew.read.formats."), format.name
            own = getattr(module, function.__name__)
            inspect.signature(own).bind(*arguments, **function.keywords)
    assert FORMATS["markdown"].outline("# Moon", share).parts[0].text == "Moon"
    copied = pickle.loads(pickle.dumps(FORMATS["org"]))  # as another process gets it
    assert copied.outline("* Moon", share).parts == FORMATS["org"].outline("* Moon", share).parts
    assert len(copied.outline("* Moon", share).parts) == 1


def test_files_of_every_format_of_clew_are_known_by_what_reads_them():
    """What is not, is opened again by every `sync`, and read by one process."""
    readers = {suffix: reader_of(f"a{suffix}", None) for one in FORMATS.values() for suffix in one.suffixes}  # fmt: skip
    assert all(readers.values())
    assert FORMATS["javascript"].name in readers[".js"]


def test_rich_text_is_said_to_be_none(tmp_path):
    written = r"{\rtf1\ansi{\fonttbl{\f0 Arial;}}\f0 F\'e4hren sail {\b at ten}.\par}"
    for name in ("offer.rtf", "offer"):
        (tmp_path / name).write_text(written)
    (tmp_path / "note.txt").write_text("Ferries sail at ten.")
    index = Index.from_documents(tmp_path)
    assert [document.id for document in index.documents] == ["note.txt"]
    assert {reason for _, reason in index.skipped} == {
        "an office document: save it as PDF, HTML or text"
    }
