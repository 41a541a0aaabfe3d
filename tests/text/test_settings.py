"""Settings are cut and quoted with what they are in, as the parsers of their formats know it."""

from __future__ import annotations

import configparser
import io
import json
import random
import xml.etree.ElementTree as ET

import pytest

from clew import Document, Index, Splitter, cite
from clew.text.quotable import MAX_ABOVE, quotable
from clew.text.settings import MAX_DEPTH, settings_in

WORDS = ["amber", "birch", "cedar", "dahlia", "elm", "fern", "ginger", "holly", "iris", "juniper"]


def tree(rng, depth, numbers):
    """Keys, and what is in them; every value is another one."""
    keys = [f"{word}{depth}" for word in rng.sample(WORDS, rng.randint(3, 6))]
    return {
        key: tree(rng, depth - 1, numbers) if depth and rng.random() < 0.6 else f"v{next(numbers)}x"
        for key in keys
    }


def leaves(of, above=()):
    for key, value in of.items():
        if isinstance(value, dict):
            yield from leaves(value, (*above, key))
        else:
            yield (*above, key), value


def as_yaml(of, indent=0):
    for key, value in of.items():
        space = "  " * indent
        yield f"{space}{key}:" if isinstance(value, dict) else f"{space}{key}: {value}"
        if isinstance(value, dict):
            yield from as_yaml(value, indent + 1)


def as_xml(of, name="all"):
    element = ET.Element(name)
    for key, value in of.items():
        child = as_xml(value, key) if isinstance(value, dict) else ET.Element(key)
        child.text = None if isinstance(value, dict) else value
        element.append(child)
    return element


def as_ini(of):
    parser = configparser.ConfigParser()
    parser.read_dict({key: value for key, value in of.items() if isinstance(value, dict)})
    stream = io.StringIO()
    parser.write(stream)
    return stream.getvalue()


def printed_xml(of):
    element = as_xml(of)
    ET.indent(element)
    return ET.tostring(element, encoding="unicode")


PRINTED = {
    "yaml": lambda of: "\n".join(as_yaml(of)),
    "json": lambda of: json.dumps(of, indent=2),
    "xml": printed_xml,
    "ini": as_ini,
}


def written(kind, seed):
    """A text, and the path of each value in it."""
    rng = random.Random(seed)
    numbers = iter(range(100, 10_000))
    if kind == "ini":
        of = {word: tree(rng, 0, numbers) for word in WORDS}
    else:
        of = {word: tree(rng, 2, numbers) for word in WORDS[:4]}
    return PRINTED[kind](of), {value: path for path, value in leaves(of)}


@pytest.mark.parametrize("kind", PRINTED)
@pytest.mark.parametrize("seed", range(5))
def test_a_value_is_quoted_behind_all_that_it_is_in(kind, seed):
    text, path_of = written(kind, seed)
    pieces = [piece.text for piece in quotable(text, {})]
    assert len(path_of) > 30
    for value, path in path_of.items():
        (piece,) = [piece for piece in pieces if value in piece]
        places = [piece.index(key) for key in path]
        assert places == sorted(places)
        others = {other for other in path_of if other in piece} - {value}
        assert all(path_of[other][:-1] == path[:-1] for other in others)  # of the same key
        assert len(piece) <= 300 + MAX_ABOVE + 1


@pytest.mark.parametrize("kind", PRINTED)
@pytest.mark.parametrize("seed", range(5))
def test_a_passage_of_settings_stands_under_what_it_is_in(kind, seed):
    text, path_of = written(kind, seed)
    pieces = Splitter(60)(Document("d", text))
    for value, path in path_of.items():
        (passage,) = [one for one in pieces if one.kind == "passage" and value in one.text]
        above, around = "", passage.parent
        while around is not None:
            above, around = f"{pieces[around].text} {above}", pieces[around].parent
        known = f"{above} {passage.text[: passage.text.index(value)]}"
        assert all(key in known for key in path)


def test_the_answer_is_the_setting_of_the_section_that_is_asked_for(tmp_path):
    lines = [
        f"[{word}]\nhost = {word}.sea\n; seconds\ntimeout = {i}7\n" for i, word in enumerate(WORDS)
    ]
    (tmp_path / "app.ini").write_text("\n".join(lines * 1))
    index = Index.from_documents(tmp_path)
    for i, word in enumerate(WORDS):
        answer = cite.quotes(index.ask(f"What is the timeout of {word}?"), 1, index)
        assert answer == f"[{word}] ; seconds timeout = {i}7 [1]"


def test_an_item_of_a_list_is_quoted_whole():
    text = (
        "ports:\n  - name: web\n    port: 80\n  - name: admin\n    port: 8080\nsize: 3\ncolour: red"
    )
    assert [piece.text for piece in quotable(text, {})] == [
        "ports: - name: web port: 80",
        "ports: - name: admin port: 8080",
        "size: 3",
        "colour: red",
    ]
    tables = '[[sea]]\nname = "a"\ndepth = 4\n[[sea]]\nname = "b"\ndepth = 9\n'
    assert [piece.text for piece in quotable(tables, {})] == [
        '[[sea]] name = "a" depth = 4',
        '[[sea]] name = "b" depth = 9',
    ]


OTHERS = {
    "a log": "2024-05-01 10:00:01 ERROR no disk:\n  at=boot\n2024-05-01 10:00:02 INFO ok\n" * 3,
    "settings alone": "host = sea\nport = 54\nsize = 7\n",
    "prose": "There is one rule:\n  nobody sails alone.\nThere is another:\n  all sail.\n",
}  # fmt: skip


@pytest.mark.parametrize("kind", OTHERS)
def test_in_other_texts_nothing_is_in_another(kind):
    text = OTHERS[kind]
    assert not any(one.name for one in settings_in(text, 0, len(text)))


def test_settings_may_be_as_deep_as_they_like():
    text = "\n".join(f"{' ' * i}k{i}:" for i in range(3000)) + "\n" + " " * 3000 + "last: 1"
    depth, found = 0, settings_in(text, 0, len(text))
    while found:
        depth, found = depth + 1, found[0].children
    assert depth == MAX_DEPTH + 1
    assert "last: 1" in "".join(piece.text for piece in quotable(text, {}))
