"""Plain texts with headings that are underlined, numbered or chapters, and those without."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clew import Document, Index, Splitter
from clew.read.formats.headed_text import headings_in

SAID = "The water rises and falls by what the moon and the sun do."

HEADED = {
    "underlined": ("Tides\n=====\n\n{0}\n\nHigh water\n----------\n{0}\n\nLow\n---\n\n{0}\n", 1),
    "overlined": ("=====\nTides\n=====\n{0}\n\n High water\n", 1),
    "one at the beginning": ("\nTides of 1899\n-------------\n{0}\n\n{0}\n", 1),
    "numbered": ("1. Tides\n\n{0}\n\n2. Moon\n{0}\n\n3. Sun\n\n{0}\n", 1),
    "numbered, with parts": ("1 Tides\n\n{0}\n\n1.1 High\n\n{0}\n\n1.2 Low\n\n{0}\n\n2 Sun\n\n{0}", 2),
    "chapters": ("Kapitel 1\n{0}\n\nKapitel 2: Ebbe\n\n{0}\n\nKapitel 3\n\n{0}", 1),
    "of laws": ("§ 1 Ebbe\n\n{0}\n\n§ 2 Flut\n\n{0}\n\n§ 2a Springflut\n\n{0}", 1),
    "of a handbook": ("第一章 潮汐\n{0}\n\n第二章 月\n{0}\n\n第十一章 日\n{0}", 1),
    "of MediaWiki": ("== Tides ==\n{0}\n===High===\n{0}\n=== Low ===\n{0}\n== Sun ==\n{0}\n", 2),
    "of DokuWiki": ("====== Tides ======\n{0}\n\n===== Sun =====\n{0}\n", 2),
    "of Textile": ("h1. Tides\n\n{0}\n\nh2. Sun\n\n{0}", 2),
    "in capitals beside others": ("TIDES\n\n{0}\n\n1. Moon\n\n{0}\n\n2. Sun\n\n{0}\n\n3. Sea\n\n{0}", 2),
}  # fmt: skip


@pytest.mark.parametrize("kind", HEADED)
def test_what_stands_under_a_heading_is_read_under_it(kind):
    text, depth = HEADED[kind]
    text = text.format(SAID)
    titles = [
        re.sub(r"^(?:=+|h\d\.)(?! *$)|(?<=[^=])=+$", "", line).strip()
        for line in text.split("\n")
        if line.strip() and line != SAID
    ]
    titles = [line for line in titles if not re.fullmatch(r"=+|-+", line) and line != "High water"]
    titles += ["High water"] * (kind == "underlined")
    found = headings_in(text)
    assert sorted(heading.text for heading in found) == sorted(titles)
    assert max(heading.level for heading in found) == (2 if kind == "underlined" else depth)
    pieces = Splitter()(Document("d", text))
    passages = [piece for piece in pieces if piece.kind == "passage"]
    for passage in passages:
        above = [title for title in titles if title in text[: passage.start]]
        last = max(above, key=lambda title: text.rfind(title, 0, passage.start))
        assert pieces[passage.parent].text == last
        assert not any(title in passage.text.split("\n") for title in titles)


NO_HEADINGS = {
    "steps": "1. Pour the water.\n\n2. Wait until it is low.\n\n3. Go out.\n\n",
    "a list": "1. Tides\n\n2. Moon\n\n3. Sun\n\n4. Sea\n\n",
    "a list without empty lines": f"1. Tides\n2. Moon\n3. Sun\n\n{SAID}\n\n{SAID}",
    "out of turn": f"12 boats\n\n{SAID}\n\n7 seals\n\n{SAID}\n\n3 men\n\n{SAID}\n\n",
    "figures": f"2023 Report\n\n{SAID}\n\n1.5 m\n\n{SAID}\n\n10.30 Boat\n\n{SAID}",
    "a table": f"Name   Port\n-----------\nIda    Cork\n\nName  Hour\n----- ----\nIda   10\n\n{SAID}",
    "separators": f"{SAID}\n----------\n{SAID}\n\n{SAID}\n----------\n{SAID}",
    "a comment": "    Returns\n    -------\n    The tide.\n\n    Raises\n    ------\n    ValueError",
    "shouting": f"GO HOME\n\n{SAID}\n\nNO TIDE TODAY\n\n{SAID}\n\nCLOSED\n\n{SAID}",
    "comparisons": f"{SAID}\n== 3\na == b =\n\n=== RUN Test\n\n{SAID}",
    "one heading within": f"{SAID}\n\n== Tides ==\n\n{SAID}",
    "two chapters that are spoken of": f"Chapter 1\n\n{SAID}\n\nPart 2 of it\n\n{SAID}",
}


@pytest.mark.parametrize("kind", NO_HEADINGS)
def test_other_texts_have_no_headings(kind):
    if kind == "a table":
        assert not any("Hour" in heading.text for heading in headings_in(NO_HEADINGS[kind]))
        return
    assert headings_in(NO_HEADINGS[kind]) == []


def test_the_clause_that_answers_is_found_and_cited_by_its_heading(tmp_path):
    clauses = ["RENT", "DEPOSIT", "PETS", "NOTICE", "ACCESS"]
    said = [f"The tenant does what is right, by part {i} of it." for i in range(4)]
    body = "\n".join(said)
    text = "\n\n".join(f"{i}. {name}\n\n{body}" for i, name in enumerate(clauses, 1))
    (tmp_path / "lease.txt").write_text(text.replace("part 2 of it", "keeping no dog", 3))
    best = Index.from_documents(tmp_path).ask("What does the lease say on notice?").items[0]
    assert best.heading == "lease > 4. NOTICE"
    line = int(re.search(r":(\d+)", best.location)[1])
    assert Path(tmp_path / "lease.txt").read_text().split("\n")[line - 3] == "4. NOTICE"
