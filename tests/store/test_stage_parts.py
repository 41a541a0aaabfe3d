"""What stages look for in all passages is saved with a large index, and is what they would find."""

from __future__ import annotations

import numpy as np
import pytest

from clew import Document, Index, Splitter
from clew.embedding import compact
from clew.graph import Graph
from clew.index import in_place
from clew.store import saving, stage_parts, tables, whole_beside
from clew.store.compression import pack_array, unpack_array
from clew.store.stage_parts import COHESION, DUPLICATES, LINKED_WORDS, SECTION_SIZES

QUESTION = "Who answers by radio, and on which channel does one call the harbour master?"
COPIED = "The harbour master answers by radio, and nobody else does. Call on channel nine."


def manual(number):
    """A document with a heading, an entry, a lead-in, a list, links and a passage that is copied."""
    ships = [f"ferry {number}", f"pilot {number % 7}", f"quay {number % 5}"]
    talk = " ".join(f"The {ship} of berth {number} is at {ship} again." for ship in ships)
    options = "\n\n".join(f"-{sign}, --{sign}{number}\n\n{talk}" for sign in "abcde")
    return (
        f"# Abstract\n\n{talk}\n\n# Ferries {number}\n\nSee here.\n\n## sail{number}\n\n"
        f"sail{number}(when)\n\n{talk}\n\n## Options\n\n{options}\n\n## Links\n\n"
        f"[ferries](a{number}.md) [quays](b.md) now\n\n{COPIED}\n\n## More\n\n"
        f"{talk} See [the timetable](https://example.org/{number}) for all of it. {talk}\n"
    )


@pytest.fixture(scope="module")
def built():
    documents = [Document(f"m{i}.md", manual(i), format="markdown") for i in range(24)]
    return Index.from_documents(documents, splitter=Splitter(tokens=30))


@pytest.fixture
def large(monkeypatch):
    monkeypatch.setattr(compact, "MIN_ROWS", 0)
    monkeypatch.setattr(compact, "MIN_COMPACT", 0)
    monkeypatch.setattr(tables, "MIN_STORED", 0)


def known_parts(graph):
    return [graph.known_part(part) for part in (LINKED_WORDS, SECTION_SIZES, COHESION, DUPLICATES)]


def test_what_stages_look_for_is_loaded_as_they_find_it_in_the_texts(built, large, tmp_path):
    built.save(tmp_path)
    graph = Index.load(tmp_path).graph
    words, sizes, cohesion, copies = known_parts(graph)
    texts = Graph(**{name: getattr(graph, name) for name in graph.__dataclass_fields__})
    found = texts.part(LINKED_WORDS), texts.part(SECTION_SIZES), texts.part(COHESION)
    assert words.tolist() == found[0].tolist()
    assert {-1, 1} < set(words.tolist())
    assert sizes.tolist() == found[1].tolist()
    assert {-3, -2, -1, 0, 3, 8} <= set(sizes.tolist())
    assert cohesion == found[2]
    anew = texts.part(DUPLICATES)
    assert (copies.first.tolist(), copies.rows.tolist()) == (
        anew.first.tolist(),
        anew.rows.tolist(),
    )
    assert copies.groups == anew.groups != {}
    assert Index.load(tmp_path).ask(QUESTION).text == built.ask(QUESTION).text != ""


def test_another_version_looks_again(built, large, tmp_path, monkeypatch):
    built.save(tmp_path)
    monkeypatch.setattr(stage_parts, "MADE_BY", "another")
    loaded = Index.load(tmp_path)
    assert known_parts(loaded.graph) == [None] * 4
    assert loaded.ask(QUESTION).text == built.ask(QUESTION).text


@pytest.mark.parametrize("whole", [True, False])
def test_a_changed_index_has_what_stages_find_in_it_now(built, large, tmp_path, monkeypatch, whole):
    monkeypatch.setattr(in_place, "MIN_PASSAGES", 0)
    monkeypatch.setattr(saving, "MIN_BYTES", 0)
    monkeypatch.setattr(saving, "MAX_SHARE", 0.0 if whole else 1e9)
    monkeypatch.setattr(saving, "MAX_BYTES", 0)
    built.save(tmp_path)
    changed = Index.load(tmp_path).delete("m3.md").add([Document("n.md", manual(99))])
    changed.save(tmp_path)
    loaded = Index.load(tmp_path)
    known = [part is not None for part in known_parts(loaded.graph)]
    assert known == ([True] * 4 if whole else [True, True, False, False])
    assert loaded.ask(QUESTION).text == changed.ask(QUESTION).text
    texts = Graph(
        **{name: getattr(loaded.graph, name) for name in loaded.graph.__dataclass_fields__}
    )
    for part in (LINKED_WORDS, SECTION_SIZES):
        assert loaded.graph.part(part).tolist() == texts.part(part).tolist()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("linked_words", lambda array: array[1:]),
        ("linked_words", lambda array: array - 9),
        ("section_sizes", lambda array: array - 9),
        ("section_sizes", lambda array: array.astype(np.int64) + 1_000_000),
        ("cohesion", lambda array: array + np.nan),
        ("cohesion", lambda array: array[:1]),
        ("copies", lambda array: array + 30_000),
        ("copies", lambda array: array[::-1]),
        ("copies.first", lambda array: array[1:]),
        ("copies.first", lambda array: array * 0),
    ],
)
def test_columns_that_do_not_fit_are_refused_by_name(
    built, large, tmp_path, monkeypatch, name, change
):
    write = whole_beside.write_array

    def other(each, array):
        if each == f"stages.{name}.zstd":
            return pack_array(change(unpack_array(array)))
        return change(array) if each == f"stages.{name}" else array

    monkeypatch.setattr(
        whole_beside,
        "write_array",
        lambda root, each, n, array, sync: write(root, each, n, other(each, array), sync),
    )
    built.save(tmp_path)
    with pytest.raises(ValueError, match=rf"do not fit together: .*stages\.{name[:6]}"):
        Index.load(tmp_path)
