"""A graph that is not one is refused, and the message names what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from clew.graph import Edges, Facts, Graph, Labels, Ragged, freeze


def facts(
    subjects=(0,),
    objects=(1,),
    read_from=((0,),),
    vectors=((1.0, 0.0),),
    relations=("r",),
    texts=("a r b",),
):
    return Facts(
        tuple(texts),
        freeze(vectors, np.float32),
        freeze(subjects, np.int32),
        freeze(objects, np.int32),
        Labels.of(relations),
        Ragged.of(read_from),
    )


def edge(tail=0, head=1, weight=1.0, fact=-1, read_from=((),)):
    return Edges.of("next", [tail], [head], weight, [fact], Ragged.of(read_from))


BAD = {
    "ids": ({"ids": ["x", "x"]}, "'x'"),
    "fewer ids": ({"ids": ["x"]}, "kinds needs one entry per node: wanted 1, got 2"),
    "kinds": ({"kinds": ["passage"]}, "kinds.*wanted 2, got 1"),
    "vectors too few": ({"vectors": [[1.0, 0.0]]}, "vectors.*wanted 2, got 1"),
    "vectors not a matrix": ({"vectors": [1.0, 1.0]}, "vectors must be a matrix"),
    "vectors not unit": ({"vectors": [[1.0, 0.0], [3.0, 4.0]]}, "vectors.*'1' has length 5"),
    "vectors NaN": ({"vectors": [[1.0, 0.0], [np.nan, 0.0]]}, "vectors.*'1' has length nan"),
    "vectors infinite": ({"vectors": [[np.inf, 0.0], [1.0, 0.0]]}, "vectors.*'0' has length inf"),
    "tokens": ({"tokens": [1]}, "tokens.*wanted 2, got 1"),
    "negative tokens": ({"tokens": [1, -1]}, "tokens.*'1'"),
    "documents": ({"documents": [0, 2]}, "documents must be rows from -1 to 1"),
    "parents": ({"parents": [-2, 0]}, "parents must be rows from -1 to 1"),
    "parents in a ring": ({"parents": [1, 0]}, "parents.*'0'"),
    "its own parent": ({"parents": [-1, 1]}, "parents.*'1'"),
    "previous": ({"previous": [-1, 9]}, "previous must be rows"),
    "spans": ({"spans": [(0, 1, 2), (0, 1, 2)]}, r"spans.*\(2, 2\)"),
    "references": ({"references": ((),)}, "references.*wanted 2, got 1"),
    "read_from rows": ({"read_from": Ragged.of([[5], []])}, "read_from must be rows from 0 to 1"),
    "read_from length": ({"read_from": Ragged.of([[]])}, "read_from.*wanted 2, got 1"),
    "generated": ({"generated": [True]}, "generated.*wanted 2, got 1"),
    "metadata": ({"metadata": ({},)}, "metadata.*wanted 2, got 1"),
    "originals": ({"originals": (None,) * 3}, "originals.*wanted 2, got 3"),
    "fact subject": ({"facts": facts(subjects=[7])}, "facts.subjects must be rows from 0 to 1"),
    "fact object": ({"facts": facts(objects=[-1])}, "facts.objects must be rows from 0 to 1"),
    "fact read_from": ({"facts": facts(read_from=[[4]])}, "facts.read_from must be rows"),
    "fact vectors": ({"facts": facts(vectors=[[2.0, 0.0]])}, "facts.vectors.*'a r b' has length 2"),
    "fact relations": ({"facts": facts(relations=())}, "facts.relations.*wanted 1, got 0"),
    "edge tail": ({"edges": edge(tail=2)}, "edges.tails must be rows from 0 to 1"),
    "edge head": ({"edges": edge(head=-1)}, "edges.heads must be rows from 0 to 1"),
    "edge fact": ({"edges": edge(fact=0)}, "edges.facts must be rows from -1 to -1"),
    "edge read_from": ({"edges": edge(read_from=[[3]])}, "edges.read_from must be rows"),
    "edge weight zero": ({"edges": edge(weight=0.0)}, "affinities in .0, 1.: edge 0 has 0"),
    "edge weight above one": ({"edges": edge(weight=1.5)}, "affinities.*1.5"),
    "edge weight NaN": ({"edges": edge(weight=np.nan)}, "affinities.*nan"),
}


@pytest.mark.parametrize(("columns", "message"), BAD.values(), ids=BAD)
def test_what_is_wrong_is_named(columns, message):
    with pytest.raises(ValueError, match=message):
        Graph.of(["one", "two"], **columns)


def test_an_empty_graph_and_rows_of_zeros_are_graphs():
    assert len(Graph.of([])) == 0
    assert len(Graph.of(["a", "b"], vectors=[[0.0, 0.0], [0.6, 0.8]])) == 2


def test_tokens_may_come_as_an_array():
    assert Graph.of(["a", "b"], tokens=np.array([3, 4])).tokens.tolist() == [3, 4]
