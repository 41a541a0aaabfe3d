"""What a file says of itself at its top is its title, and no heading or name of the file."""

from __future__ import annotations

import pytest

from clew import Index
from clew.read import load_documents
from clew.read.formats.front_matter import front_matter_title, header_title, telling_front_matter

BODY = "The moon pulls the sea.\n\nSpring\n======\n\nIt is high.\n"
TOML = '+++\ntitle = "The tides"\ndate = 2024-01-01\n[extra]\nlayout = "wide"\n+++\n'
PEP = "PEP: 12\nTitle: The\n tides\nAuthor: Anna <a@b.c>,\n        Ben <b@c.d>\nPost-History:\n"


@pytest.mark.parametrize(
    ("name", "top"),
    [
        ("a.md", TOML),
        ("a.md", "Title: The tides\nDate: 2024-01-01\n"),
        ("a.md", "title:   The tides\n"),
        ("a.rst", PEP),
        ("a.rst", ":date: today\n:title: The tides\n"),
        ("a.txt", "\nTitle: The tides\nSubject: the sea\n"),
        ("a.txt", "From: Anna\nSubject: The tides\nDate: today\n"),
        ("LETTER", "Subject: The tides\n"),
    ],
)
def test_a_file_has_the_title_that_its_header_tells(tmp_path, name, top):
    (tmp_path / name).write_text(f"{top}\n{BODY}", encoding="utf-8")
    (document,) = load_documents(tmp_path).documents
    assert document.metadata["title"] == "The tides"
    graph = Index.from_documents(tmp_path).graph
    texts = [graph.texts[row] for row in graph.rows("passage")]
    shown = "\n".join(texts)
    assert all(line in shown for line in (*top.split("\n"), "The moon pulls the sea."))  # no loss


@pytest.mark.parametrize(
    "text",
    [
        "Title: The tides\nThey rise.",
        "They rise.\nTitle: The tides\n",
        "Anna: Title: no\nBen: yes\n\nTitle: The tides",
        "The Project of Tides\n\nTitle: The tides\n",
        " Title: The tides",
        "Title:\n\nThe tides",
        "Title:The tides",
        f"Title: {'tide ' * 50}\n",
        *("\n" * 3, ""),
    ],
)
def test_what_is_no_header_has_no_title(text):
    assert header_title(text) is None


def test_settings_have_no_title(tmp_path):
    (tmp_path / "a.yaml").write_text("title: Save\nsize: 3\n", encoding="utf-8")
    (tmp_path / "b.yaml").write_text("title: Open\nsize: 4\n", encoding="utf-8")
    titles = {one.metadata.get("title") for one in load_documents(tmp_path).documents}
    assert titles.isdisjoint(("Save", "Open"))


def test_front_matter_in_toml_is_read_as_that_in_yaml():
    assert front_matter_title(f"{TOML}# Moon") == "The tides"
    assert front_matter_title("+++\nmore\n+++\n") is None
    start, end = telling_front_matter(f"{TOML}# Moon")
    assert f"{TOML}# Moon"[start:end] == TOML.rstrip()
    assert telling_front_matter('+++\ntitle = "Tides"\nlayout = "wide"\n+++\n# Moon') is None
