"""Passages of code whose symbols were read have no similar ones, unless somebody asks for them."""

from __future__ import annotations

import numpy as np
import pytest

from clew import Document, Index, Names, NamesAndSymbols, Splitter
from clew.index import in_place
from clew.index.config import DEFAULT_LINKS
from clew.link import Similar
from clew.link.similar import CODE_FILE
from clew.read.formats import FORMATS
from clew.store.config_record import describe_config, restore_config
from clew.text.code_languages import CODE_FORMATS
from tests.index.test_in_place import told_apart

PLACES = ("harbour", "meadow", "island", "village", "river", "forest", "market", "temple")
ALL = tuple(Similar() if isinstance(link, Similar) else link for link in DEFAULT_LINKS)


def prose(i):
    a, b, c = (PLACES[(i * step + step) % len(PLACES)] for step in (1, 3, 5))
    return f"# Walk {i}\n\nFrom the {a} to the {b}, by the {c}.\n\nThe {b} is far from the {a}."


def code(i):
    a, b = PLACES[i % len(PLACES)], PLACES[(3 * i + 1) % len(PLACES)]
    return f'def walk_{i}():\n    """From the {a} to the {b}."""\n    return go_{b}()\n'


def mixed(n=8):
    texts = {f"guide/{i}.md": prose(i) for i in range(n)}
    texts |= {f"src/{i}.py": code(i) for i in range(n)}
    texts |= {"src/script.py": "print('to the harbour')\n"}
    order = sorted(texts, key=lambda name: (len(name) * 7 + ord(name[-4])) % 5)
    formats = {"md": "markdown", "py": "python"}
    return [Document(id, texts[id], format=formats[id.rpartition(".")[2]]) for id in order]


def build(documents, **keywords):
    return Index.from_documents(documents, embedder=told_apart, splitter=Splitter(12), **keywords)


def similar(graph):
    chosen = np.flatnonzero(graph.edges.kinds.mask("similar")).tolist()
    return {
        (graph.ids[graph.edges.tails[i]], graph.ids[graph.edges.heads[i]]): graph.edges.weights[i]
        for i in chosen
    }


def by_brute_force(graph, is_compared, k=5):
    """The nearest k of each passage of the documents that are compared, by all cosines."""
    rows = [
        row
        for row in graph.rows("passage").tolist()
        if is_compared(graph.ids[graph.documents[row]])
    ]
    vectors = np.asarray(graph.vectors[rows], np.float64)
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -1)
    return {
        (graph.ids[rows[i]], graph.ids[rows[j]]): cosines[i, j]
        for i in range(len(rows))
        for j in np.argsort(-cosines[i])[:k].tolist()
        if cosines[i, j] >= 0.1
    }


def assert_alike(found, wanted):
    assert found.keys() == wanted.keys()
    assert [found[key] for key in found] == pytest.approx([wanted[key] for key in found], abs=1e-5)


@pytest.mark.parametrize("keywords", [{}, {"extractor": NamesAndSymbols()}], ids=["", "names"])
def test_passages_of_a_mixed_folder_are_similar_among_its_prose(keywords):
    graph = build(mixed(), **keywords).graph
    wanted = by_brute_force(
        graph, lambda name: not name.endswith(tuple(f"{i}.py" for i in range(8)))
    )
    assert len(wanted) > 40
    assert_alike(similar(graph), wanted)


@pytest.mark.parametrize(
    "keywords", [{"extractor": None}, {"extractor": Names()}, {"links": ALL}], ids=str
)
def test_all_are_compared_where_no_symbols_were_read_or_somebody_asks_for_it(keywords):
    graph = build(mixed(), **keywords).graph
    wanted = by_brute_force(graph, lambda _: True)
    assert any(tail.endswith(".py") for tail, _ in wanted)
    assert_alike(similar(graph), wanted)


def test_prose_that_defines_something_is_no_code():
    documents = [one for one in mixed() if one.id.endswith(".md")]
    defined = {one.id: [(one.id, "defines", "a walk")] for one in documents}
    assert similar(build(documents, facts=defined).graph) == similar(build(documents).graph)


def test_documents_that_come_and_go_leave_what_a_new_index_has(monkeypatch):
    monkeypatch.setattr(in_place, "MIN_PASSAGES", 0)
    monkeypatch.setattr(in_place, "MAX_CHANGED", 1e9)
    documents = mixed(12)
    index = build(documents[:9])
    steps = [
        lambda index: index.add(documents[9:17]),
        lambda index: index.delete([documents[2].id, documents[5].id, documents[11].id]),
        lambda index: index.add(documents[17:]),
        lambda index: index.delete([documents[20].id, documents[0].id]),
        lambda index: index.compact(),
    ]
    for step in steps:
        index = step(index)
        assert_alike(similar(index.graph), similar(build(index.documents).graph))


def test_an_index_of_before_goes_on_as_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(in_place, "MIN_PASSAGES", 0)
    documents = mixed()
    record = describe_config({"count": len, "canonical": None, "links": (Similar(3), Similar())})
    for one in record["links"]:
        del one["parameters"]["code"]
        one["name"] = one["name"].replace(", code=True", "")
    parts = {"count": len, "links": [Similar(3), Similar()]}
    assert restore_config(record, parts)["links"] == (Similar(3), Similar())
    assert restore_config(record, {"count": len})["links"] == (Similar(3), Similar())
    with pytest.raises(ValueError, match=r"code=False.* was given"):
        restore_config(record, parts | {"links": [Similar(3), Similar(code=False)]})
    build(documents[:-2]).save(tmp_path)
    loaded = Index.load(tmp_path, embedder=told_apart)
    assert loaded.config.links == DEFAULT_LINKS
    grown = loaded.add(documents[-2:])
    assert_alike(similar(grown.graph), similar(build(documents).graph))


def test_a_file_of_code_is_known_by_its_name():
    suffixes = [
        suffix
        for format in FORMATS.values()
        if format.name in CODE_FORMATS
        for suffix in format.suffixes
    ]
    assert len(suffixes) > 20
    assert all(CODE_FILE.fullmatch(suffix) for suffix in suffixes)
    others = {
        suffix
        for format in FORMATS.values()
        if format.name not in CODE_FORMATS
        for suffix in format.suffixes
    }
    assert not any(CODE_FILE.fullmatch(suffix) for suffix in (*others, "", ".cfg", "py"))
