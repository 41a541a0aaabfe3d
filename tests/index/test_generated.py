"""Texts that are made of what an index holds: kept, embedded, saved, gone with their source, and no content of the documents."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import clew
from clew import recipes
from clew.graph import Edges, Generated, add_generated

TEXTS = {"a": "Anna sails to Corfu.", "b": "Ben mends nets on Corfu.", "c": "Clara paints boats."}


@dataclass(frozen=True)
class Pairs:
    """One text for every two passages that follow each other, joined to the first."""

    model: Any = None

    def on(self, graph):
        rows = graph.rows("passage").tolist()
        pairs = list(pairwise(rows))
        return Generated(
            ids=tuple(f"pair:{graph.ids[a]}+{graph.ids[b]}" for a, b in pairs),
            kinds=("report",) * len(pairs),
            texts=tuple(f"Both: {graph.texts[a]} {graph.texts[b]}" for a, b in pairs),
            read_from=pairs,
            edges=Edges.of(
                "about", range(len(graph), len(graph) + len(pairs)), [a for a, _ in pairs]
            ),
            failed=(("pair:none", "nothing follows the last"),),
        )


def index_of(texts=TEXTS):
    return clew.Index.from_documents(
        [clew.Document(id, text, {"who": id}) for id, text in texts.items()]
    )


def reports(index):
    return sorted(index.graph.ids[row] for row in index.graph.rows("report").tolist())


def test_made_texts_are_kept_with_vectors_and_are_no_content():
    plain, index = index_of(), index_of().generate(Pairs())
    assert reports(index) == ["pair:a+b", "pair:b+c"]
    made = index.graph.rows("report")
    assert np.linalg.norm(index.graph.vectors[made], axis=1) == pytest.approx(1, abs=1e-5)
    assert not index.graph.content[made].any()
    assert index.failed == (("pair:none", "nothing follows the last"),)
    for name in recipes.names():
        if name in ("dense", "bm25", "fused", "mmr", "hipporag"):
            assert (
                index.ask("Who is on Corfu?", recipe=name).ids
                == plain.ask("Who is on Corfu?", recipe=name).ids
            )


def test_add_delete_and_save_make_and_keep_them(tmp_path):
    index = index_of().generate(Pairs())
    assert reports(index.delete("b")) == ["pair:a+c"]
    assert reports(index.add([clew.Document("d", "Dora cooks.")])) == [
        "pair:a+b",
        "pair:b+c",
        "pair:c+d",
    ]
    index.save(tmp_path / "saved")
    loaded = clew.Index.load(tmp_path / "saved")
    assert reports(loaded) == reports(index)
    assert loaded.failed == index.failed
    assert loaded.graph.vectors.tolist() == index.graph.vectors.tolist()
    with pytest.raises(ValueError, match=r"generators=Pairs.*give it again"):
        loaded.delete("b")
    assert reports(clew.Index.load(tmp_path / "saved", generators=[Pairs()]).delete("b")) == [
        "pair:a+c"
    ]
    with pytest.raises(ValueError, match="generators"):
        clew.Index.load(tmp_path / "saved", generators=[])


def test_a_filter_makes_them_of_what_is_allowed_and_never_asks_a_model():
    def without(metadata):
        return metadata["who"] != "b"

    free = index_of().generate(Pairs()).filtered(without)
    assert reports(free) == ["pair:a+c"]
    paid = index_of().generate(Pairs(model=str)).filtered(without)
    assert reports(paid) == []
    assert paid.failed[-1] == (
        repr(Pairs(model=str)),
        "it asks a language model, which a filter must not, or was not given again",
    )


def test_a_made_text_goes_with_the_first_of_its_sources():
    graph = index_of().generate(Pairs()).graph
    allowed = np.ones(len(graph), bool)
    allowed[graph.row("a")] = False
    left = graph.filtered(allowed)
    assert [left.ids[row] for row in left.rows("report").tolist()] == ["pair:b+c"]


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (Generated(("x",), ("report",), ("a", "b"), [[0]]), "1 ids came"),
        (Generated(("x",), ("report",), ("a",), [[]]), "made of at least one passage"),
        (Generated(("a",), ("report",), ("a",), [[0]]), "id of its own"),
        (Generated(("x",), ("report",), ("a",), [[99]]), "read_from"),
    ],
)
def test_what_does_not_fit_is_refused(written, message):
    with pytest.raises(ValueError, match=message):
        add_generated(index_of().graph, written)


def test_a_generator_is_an_object_with_on():
    with pytest.raises(TypeError, match="a generator has on"):
        index_of().generate(len)
