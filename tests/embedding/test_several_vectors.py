"""Several vectors are compared with all bags together: each as by itself, to the bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.algorithms.kernels.bags import MAX_IN_PAIRS
from clew.algorithms.kernels.compiled import Kernel, compile_first
from clew.algorithms.kernels.row_lanes import LANES, row_products_of_several
from clew.embedding import bag_segment, compared_pieces
from clew.embedding.bag_making import fit_bags
from clew.embedding.late_bags import LateBags, LateBagSegment, LateTexts
from clew.graph import VectorColumn, with_rows

LONG = "sea " * 300  # more often than a bag can say: it keeps its vector
CORPUS = [f"The ferry {number} to Corfu leaves at {number % 12}." for number in range(40)]
OTHERS = ["Xylophones quiver", "Zwölf", LONG, "", "Anna met Ben at sea, at sea", "The ferry"]


def both_forms(kernel, *arguments):
    """The results of plain Python's whole arrays, of the loop in Python, and of machine code."""
    as_written = Kernel(kernel.function, None, {}).plain
    with compile_first():
        by_machine = kernel(*arguments)
    return kernel.plain(*arguments), as_written(*arguments), by_machine


@given(st.lists(st.integers(1, MAX_IN_PAIRS), min_size=1, max_size=20), st.integers(0, 9))
@settings(deadline=None)
def test_sparse_rows_are_multiplied_with_all_lanes(lengths, seed):
    chance = np.random.default_rng(seed)
    starts = np.cumsum([0, *lengths])
    columns = chance.integers(0, 30, starts[-1]).astype(np.uint16)
    values = chance.normal(size=starts[-1]).astype(np.float32)
    vectors = chance.normal(size=(30, LANES))
    found = both_forms(row_products_of_several, starts, columns, values, vectors)
    assert len({one.tobytes() for one in found}) == 1
    matrix = np.zeros((len(lengths), 30))
    np.add.at(matrix, (np.repeat(np.arange(len(lengths)), lengths), columns), values)
    np.testing.assert_allclose(found[0], matrix @ vectors, atol=1e-11)


@pytest.mark.parametrize("in_two_threads", [False, True])
@pytest.mark.parametrize("min_in_blocks", [1, 2048])
def test_several_vectors_have_the_products_of_each(monkeypatch, in_two_threads, min_in_blocks):
    monkeypatch.setattr(compared_pieces, "MIN_IN_BLOCKS", min_in_blocks)
    monkeypatch.setattr(compared_pieces, "MIN_ASKED", 3)
    monkeypatch.setattr(bag_segment, "MIN_BESIDE", 0 if in_two_threads else 10**9)
    static, rows = fit_bags(CORPUS, OTHERS)
    chance = np.random.default_rng(1)
    late = LateBags(LateTexts(rows.table, lambda: ["Anna", "quiver", "Corfu"], None, [0, 3]))
    column = VectorColumn([rows, LateBagSegment(late, np.array([2, 1]))])
    dense = static(["Ben leaves", "the sea"])
    column = with_rows(column.take(np.array([*range(7, 46), 3, 47, 46])), dense)
    made = column[:]
    for n in (1, 2, 3, LANES, LANES + 1, 2 * LANES + 5):
        queries = chance.normal(size=(n, column.shape[1])).astype(np.float32)
        queries[: len(made)] += made[:n]
        found = column.several_products(queries)
        one_by_one = np.array([column.products(query) for query in queries])
        assert found.dtype == np.float32
        assert found.tobytes() == one_by_one.tobytes()
        wanted = queries.astype(np.float64) @ made.T.astype(np.float64)
        np.testing.assert_allclose(found, wanted, atol=1e-4)
        assert column.several_products(queries).tobytes() == found.tobytes()


def test_pieces_that_no_text_of_the_embedder_has_are_compared_with_several_vectors():
    static, rows = fit_bags(["The ferry to Corfu."], OTHERS)
    questions = [static.embed_question(text) for text in ("quiver", "zwölf", "ferry", "sea")]
    found = VectorColumn([rows]).several_products(np.array(questions))
    assert not np.isnan(found).any()
    np.testing.assert_allclose(found, np.array(questions) @ rows[:].T, atol=1e-6)
