"""What a caller can hand in, and what is said of what cannot be read."""

from __future__ import annotations

import os
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Index
from clew.document import Document
from clew.read import load_documents
from clew.read.sources import list_files


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def test_a_folder_gives_its_texts_in_order_and_says_what_it_left_out(tmp_path):
    write(
        tmp_path,
        {
            "b.md": "---\ntitle: Bee\n---\n# Other\nText.",
            "a/z.txt": "zed\r\nline",
            "a/plain": "no suffix",
            "a.csv": "x,y\n1,2",
            "code.py": '"""Doc."""',
            "bom.txt": b"\xef\xbb\xbfmarked",
            "wide.txt": "wide é".encode("utf-16"),
            "latin.txt": "é".encode("latin-1"),
            "image.png": b"\x89PNG\0\0",
            "nul.txt": b"a\0b",
            "empty.md": " \n",
            ".git/config": "no",
            ".env": "no",
            "pkg/__pycache__/x.py": "no",
            "node_modules/y.js": "no",
        },
    )
    with (tmp_path / "huge.txt").open("wb") as huge:
        huge.truncate(20_000_001)

    loaded = load_documents(tmp_path)
    documents, skipped, _ = loaded

    assert [d.id for d in documents] == [
        "a/plain",
        "a/z.txt",
        "a.csv",
        "a.csv#2",
        "b.md",
        "bom.txt",
        "code.py",
        "latin.txt",
        "wide.txt",
    ]
    of = {d.id: d for d in documents}
    assert of["b.md"].metadata == {
        "path": (tmp_path / "b.md").as_posix(),
        "title": "Bee",
        "file_name": "b.md",
    }
    assert [d.format for d in documents] == [
        "text",
        "text",
        "text",
        "record",
        "markdown",
        "text",
        "python",
        "text",
        "text",
    ]
    assert (of["a/z.txt"].text, of["bom.txt"].text, of["wide.txt"].text) == (
        "zed\nline",
        "marked",
        "wide é",
    )
    assert of["a/z.txt"].metadata["title"] == "z"
    reasons = {Path(path).relative_to(tmp_path).as_posix(): reason for path, reason in skipped}
    assert reasons == {
        ".git": "hidden",
        ".env": "hidden",
        "pkg/__pycache__": "belongs to a tool",
        "node_modules": "belongs to a tool",
        "empty.md": "empty",
        "huge.txt": "20 MB, more than 20",
        "image.png": "a picture",
        "latin.txt": "read as cp1252, which it looks like; encoding= names another",
        "nul.txt": "binary",
    }
    assert (
        load_documents(str(tmp_path))
        == load_documents([tmp_path])
        == load_documents([str(tmp_path)])
        == loaded
    )


def test_a_few_bytes_that_are_none_of_their_encoding_leave_the_others_as_they_are(tmp_path):
    words = "Die Bücherei hat am Mörikeplatz geöffnet. "
    table = f"name,wo\nAnn,{words}\nBo,Süd"
    write(
        tmp_path,
        {
            "a.txt": 9 * words.encode() + b"\xff\xfe broken \x80" + words.encode(),
            "b.csv": table.encode() + b" \xff",
            "c.txt": (3 * words).encode("cp1252"),
            "d.txt": ("Маяк построили в 1912 году. " * 3).encode("koi8_r"),
        },
    )
    loaded = load_documents(tmp_path)
    texts = {document.id: document.text for document in loaded.documents}
    assert texts["a.txt"] == f"{9 * words}\ufffd\ufffd broken \ufffd{words}"
    assert (texts["b.csv#2"], texts["b.csv#3"]) == (
        f"name: Ann\nwo: {words.strip()}",
        "name: Bo\nwo: Süd \ufffd",
    )
    assert (texts["c.txt"], texts["d.txt"]) == (3 * words, "Маяк построили в 1912 году. " * 3)
    assert [(Path(path).name, why) for path, why in loaded.skipped] == [
        ("a.txt", "read, but for 3 characters that are none in its encoding, utf-8"),
        ("b.csv", "read, but for 1 character that is none in its encoding, utf-8"),
        ("c.txt", "read as cp1252, which it looks like; encoding= names another"),
        ("d.txt", "read as koi8_r, which it looks like; encoding= names another"),
    ]


@pytest.mark.parametrize("order", ["le", "be"])
def test_utf_16_is_known_without_its_mark(tmp_path, order):
    text = "Die Sauna öffnet um 16 Uhr – täglich.\nSie schließt um zehn."
    numbers = bytes(range(1, 256)) * 8
    wide = b"".join(bytes((0, one)) for one in numbers)  # every other byte is 0
    write(
        tmp_path, {"a.txt": text.encode(f"utf-16-{order}"), "b.dat": wide, "c.dat": b"ab\0\0" * 9}
    )
    (document,), skipped, _ = load_documents(tmp_path)
    assert document.text == text
    assert [(Path(path).name, why.split(",")[0]) for path, why in skipped] == [
        ("a.txt", f"read as utf-16-{order}"),
        ("b.dat", "not text in UTF-8"),
        ("c.dat", "binary"),
    ]


def test_colours_of_a_terminal_are_no_words(tmp_path):
    log = "\x1b[1;31mERROR\x1b[0m disk full\n\x1b]0;title\x07N\bNO\bO \x1b(B_\bspace\nleft\n"
    write(tmp_path, {"a.log": log, "b.txt": "\x1b[0m\n"})
    (document,), skipped, _ = load_documents(tmp_path)
    assert document.text == "ERROR disk full\nNO space\nleft\n"
    assert [(Path(path).name, why) for path, why in skipped] == [("b.txt", "empty")]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_links_that_go_round_and_pipes_do_not_hang(tmp_path):
    write(tmp_path, {"one/a.txt": "a"})
    (tmp_path / "one" / "up").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "self").symlink_to(tmp_path / "self")
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    (tmp_path / "b.txt").symlink_to(tmp_path / "one" / "a.txt")
    os.mkfifo(tmp_path / "pipe")

    documents, skipped, _ = load_documents(tmp_path)

    assert [(d.id, d.text) for d in documents] == [("b.txt", "a"), ("one/a.txt", "a")]
    assert sorted(Path(path).name for path, _ in skipped) == ["gone", "pipe", "self", "up"]


def test_a_file_is_known_by_its_name(tmp_path):
    path = write(tmp_path, {"x/moon.md": "# The Moon\nIt shines."}) / "x" / "moon.md"
    for source in (path, str(path), [path], [str(path)]):
        (document,), skipped, _ = load_documents(source)
        assert (document.id, document.metadata["title"], skipped) == ("moon.md", "The Moon", [])


@pytest.mark.parametrize(
    "source", ["docs/nowhere.md", "The moon is far.", Path("nowhere"), [Path("nowhere")], ""]
)
def test_a_path_that_leads_nowhere_says_so(source, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if source == "":
        assert load_documents(source).documents[0].text == ""  # the index says that it has no text
        return
    with pytest.raises(FileNotFoundError, match="there is no file or folder") as error:
        load_documents(source)
    if isinstance(source, str):
        assert f"[{source!r}]" in str(error.value), "the way to give a text is shown"


def test_a_string_that_is_plainly_a_text_is_one(tmp_path, monkeypatch):
    write(tmp_path, {"moon": "from the file"})
    monkeypatch.chdir(tmp_path)
    for text in ("One line.\nAnother.", "long " * 60):
        assert [d.text for d in load_documents(text).documents] == [text]
    assert [d.text for d in load_documents(["moon", "the moon", "moon\n"]).documents] == [
        "from the file",
        "the moon",
        "moon\n",
    ]


@given(
    st.lists(
        st.text(min_size=1, max_size=20).map(lambda text: text + "\n"), unique=True, max_size=6
    ),
    st.data(),
)
def test_the_id_of_a_text_stays_when_others_come_or_go(texts, data):
    order = data.draw(st.permutations(texts))
    ids = {d.text: d.id for d in load_documents(texts).documents}
    assert all(re.fullmatch(r"text-[0-9a-f]{12}", id) for id in ids.values())
    assert {
        d.text: d.id for d in load_documents(order[: len(order) // 2]).documents
    }.items() <= ids.items()


def test_a_text_told_twice_is_one_document_and_two_documents_of_one_id_are_named():
    found = load_documents(["Twice told.", "Once.", "Twice told."])
    assert [document.text for document in found.documents] == ["Twice told.", "Once."]
    assert found.skipped == [(found.documents[0].id, "this text came already")]
    with pytest.raises(
        ValueError, match=r"1 ids came more than once.*'a', 2 times .the same text, 'Twice told"
    ):
        load_documents([Document("a", "Twice told."), Document("a", "Twice told.")])
    with pytest.raises(ValueError, match="'a', 2 times"):
        load_documents([Document("a", "one"), Document("a", "two")])


@pytest.mark.parametrize(
    "source",
    [None, 3, b"bytes", {"a": "text"}, [3], [None], [b"bytes"], [["nested"]], [("text", 0.5)]],
)
def test_anything_else_is_refused(source):
    with pytest.raises(TypeError, match="LangChain documents"):
        load_documents(source)


def test_documents_of_clew_come_back_as_they_are_and_an_iterator_will_do():
    document = Document("a", "text", {"k": 1})
    assert load_documents(document).documents == [document]
    assert load_documents(iter([document]))[0][0] is document


def test_an_index_of_a_folder_finds_its_files_and_knows_what_it_skipped(tmp_path):
    write(
        tmp_path,
        {
            "sea.md": "# Sea\nThe sea is salt.",
            "moon.md": "# Moon\nThe moon is far, the [sea](sea.md) is near.",
            "x.bin": b"\0",
        },
    )
    index = Index.from_documents(tmp_path)
    assert index.ask("How far is the moon?", recipe="bm25", limit=1).ids == ["moon.md#7-50"]
    assert [reason for _, reason in index.skipped] == ["binary"]


def test_files_of_one_name_below_several_sources_have_folders_in_their_ids(tmp_path):
    texts = {"p/README.md": "Up", "p/docs/README.md": "In", "q/README.md": "Queue", "q/a.md": "Art"}
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"# {text}\n\nText of {text}.\n")

    def ids(*sources):
        documents = load_documents([tmp_path / source for source in sources]).documents
        for document in documents:  # whatever they are called
            assert (
                f"Text of {texts[Path(document.metadata['path']).relative_to(tmp_path).as_posix()]}."
                in document.text
            )
        return sorted(document.id for document in documents)

    assert ids("p") == ["README.md", "docs/README.md"]
    assert ids("p", "q") == ["a.md", "docs/README.md", "p/README.md", "q/README.md"]
    assert ids("p/docs", "p/README.md") == ["docs/README.md", "p/README.md"]
    assert ids("p/docs/README.md", "q/README.md") == ["docs/README.md", "q/README.md"]
    assert ids("p", "p/docs", "p/README.md") == ["README.md", "docs/README.md"]  # each is read once
    assert ids("q", "p/docs", "p") == ["a.md", "docs/README.md", "p/README.md", "q/README.md"]
    (tmp_path / "p/newest.md").symlink_to(tmp_path / "p/README.md")  # is read as well, as ever
    texts["p/newest.md"] = texts["p/README.md"]
    assert ids("p") == ["README.md", "docs/README.md", "newest.md"]
    assert {"newest.md", "p/README.md"} < {*ids("p", "q")}
    taken = Document("p/README.md", "A text of that id.", {"path": str(tmp_path / "q/a.md")})
    documents = load_documents([taken, tmp_path / "p", tmp_path / "q"]).documents
    assert len({one.id for one in documents}) == len(documents) == 6


def test_a_file_that_several_folders_lead_to_is_read_once(tmp_path, monkeypatch):
    write(tmp_path, {"top.md": "Top.", "a/n.md": "Low.", "a/b/m.md": "Lower."})
    monkeypatch.chdir(tmp_path)
    for sources, ids in (
        ([".", "a"], ["a/b/m.md", "a/n.md", "top.md"]),
        (["a", tmp_path], ["b/m.md", "n.md", "top.md"]),
        (["a/b", "a/b/m.md", "a/../a"], ["m.md", "n.md"]),
    ):
        paths = [Path(source) for source in sources]
        assert sorted(one.id for one in load_documents(paths).documents) == ids
        assert sorted(file.id for file in list_files(paths).files) == ids


@pytest.mark.parametrize("encoding", ["iso-8859-2", "cp1250", "cp852", "gb18030"])
def test_a_module_is_read_in_the_encoding_that_python_runs_it_in(tmp_path, encoding):
    source = f"#!/usr/bin/env python\n# -*- coding: {encoding} -*-\ncity = 'Łódź, Čáslav'\n"
    if encoding == "gb18030":
        source = source.replace("Čáslav", "潮汐")
    write(tmp_path, {"city.py": source.encode(encoding)})
    ran = {}
    exec(compile((tmp_path / "city.py").read_bytes(), "city.py", "exec"), ran)
    (document,), skipped, _ = load_documents(tmp_path)
    assert f"'{ran['city']}'" in document.text
    assert (document.format, skipped) == ("python", [])


@pytest.mark.parametrize(
    ("encoding", "words"),
    [("IBM866", "Паром"), ("iso-8859-2", "Łódź"), ("ISO-8859-1", "Élis"), ("koi8-r", "Луна")],
)
def test_xml_is_read_in_the_encoding_that_its_parsers_read(tmp_path, encoding, words):
    source = f'<?xml version="1.0" encoding="{encoding}"?>\n<ferry>{words} 1996</ferry>'
    write(tmp_path, {"ferry.xml": source.encode(encoding)})
    (document,), skipped, _ = load_documents(tmp_path)
    assert ElementTree.parse(tmp_path / "ferry.xml").getroot().text in document.text
    assert skipped == []


@pytest.mark.parametrize(
    ("name", "raw", "said"),
    [
        ("a.py", b"# coding: klingon\ncity = '" + "Łódź'".encode(), "Łódź"),
        ("a.py", b"# coding: ascii\ncity = '" + "Łódź'".encode(), "Łódź"),
        ("a.py", b"# coding: base64\ncity = '" + "Łódź'".encode(), "Łódź"),
        ("a.py", b"# coding: undefined\ncity = '" + "Łódź'".encode(), "Łódź"),
        ("a.py", b"\xef\xbb\xbf# coding: cp1250\ncity = '" + "Łódź'".encode(), "Łódź"),
        ("a.py", "\n\n# coding: cp1250\ncity = 'Łódź'".encode(), "Łódź"),
        ("a.xml", "<?xml version='1.0' encoding='utf-16'?><a>Łódź</a>".encode(), "Łódź"),
        ("a.xml", "<?xml version='1.0' encoding='utf-16'?><a>é</a>".encode("cp1252"), "é"),
        ("a.xml", "<?xml version='1.0' encoding='idna'?><a>Łódź</a>".encode(), "Łódź"),
        ("a.xml", "<?xml version='1.0' encoding='latin1'?><a>“q”</a>".encode("cp1252"), "“q”"),
        ("a.xml", "<?xml version='1.0' encoding='cp866'?><a>é</a>".encode("utf-16"), "é"),
        ("a.html", "<meta charset=undefined><p>Łódź".encode(), "Łódź"),
    ],
)
def test_a_declaration_that_is_wrong_is_passed_over(tmp_path, name, raw, said):
    write(tmp_path, {name: raw})
    (document,), _, _ = load_documents(tmp_path)
    assert said in document.text


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "cp1251", "koi8-r", "ascii"])
def test_bytes_in_utf_8_beat_a_declared_encoding_of_one_byte_for_each_character(tmp_path, encoding):
    xml, code = "<?xml version='1.0' encoding='{}'?><a>Café</a>", "# coding: {}\na = 'Café'\n"
    files = {"a.xml": xml.format(encoding).encode(), "a.py": code.format(encoding).encode()}
    write(tmp_path, files)
    loaded = load_documents(tmp_path)
    assert ["Café" in document.text for document in loaded.documents] == [True, True]
    assert loaded.skipped == []


def test_the_encoding_that_the_caller_names_is_above_the_declared_one(tmp_path):
    write(tmp_path, {"a.py": b"# coding: iso-8859-2\ncity = '\xa3\xf3d\xbc'\n"})
    assert "Łódź" in load_documents(tmp_path).documents[0].text
    assert "£ód¼" in load_documents(tmp_path, encoding="latin-1").documents[0].text


def test_japanese_between_escape_sequences_is_read_and_a_terminals_sequences_are_not(tmp_path):
    text = "フェリーは朝十時に出発します。\nNext: 島に戻ります。\n"
    log = b"\x1b[31mERROR\x1b(B\x1b[m 12 \x1b$B odd"
    write(tmp_path, {"a.txt": text.encode("iso2022_jp"), "b.log": log})
    (document, of_log), skipped, _ = load_documents(tmp_path)
    assert document.text == text
    assert of_log.text.startswith("ERROR 12")
    assert [(Path(path).name, why.split(",")[0]) for path, why in skipped] == [
        ("a.txt", "read as iso2022_jp")
    ]
