"""Vectors as bags of words: those of the embedder to the bit, and the dot products of these."""

import threading
from traceback import extract_stack

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.algorithms.kernels import bags as kernels
from clew.algorithms.kernels.bag_lengths import dense_squares
from clew.algorithms.kernels.bags import MAX_IN_PAIRS, add_scaled, bag_sums, row_products
from clew.algorithms.kernels.block_products import block_products, in_blocks
from clew.embedding import (
    bag_making,
    bag_segment,
    bag_table,
    bags,
    compared_pieces,
    sorted_bags,
)
from clew.embedding.bag_making import Source, as_bags, bags_of_recent_texts, bags_of_texts, fit_bags
from clew.embedding.bag_segment import MadeBags
from clew.embedding.bag_table import BagTable
from clew.embedding.bags import Bags
from clew.embedding.compared_pieces import ComparedPieces
from clew.embedding.sorted_bags import SortedBags
from clew.embedding.static import StaticEmbedding, TextCounts
from clew.embedding.word_vectors import DIMENSIONS, PIECES, piece_vectors
from clew.graph import VectorColumn, has_vector, products, row_addresses, take_vectors, with_rows

KERNELS = ("largest_counts", "count_pairs", "number_pairs", "pair_sums")
WORDS = [
    "Corfu",
    "ferry",
    "leaves",
    "at",
    "nine",
    "Anna",
    "Ben",
    "1998",
    "don't",
    "København",
    "京都",
    "naïve",
    "the",
    "a",
    "of",
    "sea",
]
text = st.lists(st.sampled_from([*WORDS, "...", ""]), max_size=12).map(" ".join)
LONG = "sea " * 300  # more often than a bag can say


@pytest.fixture(scope="module")
def static():
    return StaticEmbedding.fit([" ".join(WORDS[i : i + 5]) for i in range(12)])


@given(st.lists(text, min_size=1, max_size=20), st.data())
@settings(deadline=None)
def test_counts_of_bags_know_what_a_build_makes_of_their_terms(texts, data):
    _, segment = fit_bags([*WORDS, *texts])
    rows = np.array(data.draw(st.lists(st.integers(0, len(texts)), unique=True)), np.int64)
    parts = segment.pieces.take(rows), segment.terms.take(rows)
    kept, made = (segment.table.counts(*parts, kept=kept) for kept in (True, False))
    assert made.signatures is None is made.rarest
    assert kept.terms == made.terms
    found, wanted = kept.signatures_of_terms().dense(), made.signatures_of_terms().dense()
    np.testing.assert_array_equal(found, wanted)
    one, other = map(StaticEmbedding.fit_and_embed_counted, (kept, made))
    assert one[0].has_counts_of(other[0])
    np.testing.assert_array_equal(one[1], other[1])


@given(st.lists(text, max_size=20), st.data())
@settings(deadline=None)
def test_bags_are_the_vectors_of_their_texts(static, texts, data):
    texts = [*texts, LONG]
    embedded = static(texts)
    n = len(texts)
    without = data.draw(st.sets(st.integers(0, n - 1)))  # rows that come from no text
    chance = np.random.default_rng(n)
    own = data.draw(st.sets(st.integers(0, n - 1)))  # and have a vector of their own, or none
    vectors = embedded.copy()
    for row in without:
        vectors[row] = np.roll(embedded[0], row) if row in own else 0
    rows = np.array([row for row in range(n) if row not in without], np.int64)
    with pytest.MonkeyPatch.context() as patch:
        for module in (bag_making, bag_table, bag_segment):
            patch.setattr(module, "BATCH", 7)
        (segment,) = as_bags(static, [Source(vectors, rows, [texts[row] for row in rows])])
    column = VectorColumn([segment])
    for _ in range(3):
        if data.draw(st.booleans()):
            chosen = np.flatnonzero(chance.random(len(vectors)) < 0.7)
            column, vectors = take_vectors(column, chosen), vectors[chosen]
        if data.draw(st.booleans()):
            more = static(["Ben leaves Corfu"])
            column, vectors = with_rows(column, more), np.concatenate([vectors, more])
    assert np.asarray(column).tobytes() == vectors.tobytes()
    assert np.array_equal(has_vector(column), vectors.any(axis=1))
    question = static.embed_question("When does the ferry leave?")
    assert np.abs(products(column, question) - vectors @ question).max(initial=0) < 1e-6
    assert len(set(row_addresses(column).tolist())) == len(vectors)


@given(st.lists(text, min_size=1, max_size=12), st.data())
def test_bags_stay_one_segment_whose_rows_are_known_again(static, texts, data):
    """Whichever rows go, and also once they are side by side in memory."""
    segment = bags_of_texts(fit_bags(texts)[1].table, texts)
    column, left = VectorColumn([segment]), np.arange(len(texts))
    before, vectors = row_addresses(column), np.asarray(column)
    for _ in range(3):
        some = np.array(sorted(data.draw(st.sets(st.sampled_from(range(len(left))), min_size=1))))
        column, left = take_vectors(column, some), left[some]
        if data.draw(st.booleans()):
            column = column.compact()
        assert len(column.segments) == 1
        assert row_addresses(column).tolist() == before[left].tolist()
        assert np.asarray(column).tobytes() == vectors[left].tobytes()


def sum_of_row(numbers):
    """The order of additions by its definition: runs of 128, of each the first and eight chains."""
    total = 0.0
    for start in range(0, len(numbers), MAX_IN_PAIRS):
        first, *behind = numbers[start : start + MAX_IN_PAIRS]
        whole, rest = len(behind) // 8 * 8, 0.0
        if whole:
            chains = [0.0] * 8
            for place, number in enumerate(behind[:whole]):
                chains[place % 8] += number
            while len(chains) > 1:
                chains = [a + b for a, b in zip(chains[::2], chains[1::2], strict=True)]
            (rest,) = chains
        for number in behind[whole:]:
            rest += number
        total += first + rest
    return total


@given(
    st.lists(st.integers(0, 12) | st.integers(100, 300), max_size=30),
    st.integers(0, 10**6),
    st.sampled_from([np.uint16, np.int32]),
    st.sampled_from([1, 40, kernels.BLOCK]),
)
@settings(deadline=None)
def test_sorted_bags_have_the_sums_of_eight_chains_to_the_bit(lengths, seed, kind, block):
    rng = np.random.default_rng(seed)
    columns = rng.integers(0, 31, sum(lengths)).astype(kind)
    counts = rng.integers(1, 256, sum(lengths)).astype(np.uint8)
    whole = Bags.of(np.array(lengths, np.int64), columns, counts)
    some = whole.take(np.flatnonzero(rng.random(len(lengths)) < 0.8))
    weights, numbers = rng.standard_normal(256), rng.standard_normal(31)
    expected = [
        sum_of_row([weights[counts[i]] * numbers[columns[i]] for i in range(start, end)])
        for start, end in zip(some.starts.tolist(), some.ends.tolist(), strict=True)
    ]
    entries = (some.starts, some.ends, columns, counts)
    first = np.cumsum(np.full(32, 256)) - 256
    for function in ("plain", "function"):
        chosen = {name: getattr(kernels, name) for name in KERNELS}
        with pytest.MonkeyPatch.context() as patch:
            for name, kernel in chosen.items():
                patch.setattr(sorted_bags, name, getattr(kernel, function))
            patch.setattr(kernels, "BLOCK", block)
            laid = SortedBags.of(*entries)
            found = laid.sums(weights, numbers)
            as_they_are = getattr(bag_sums, function)(*entries, weights, numbers)
        assert found.tobytes() == as_they_are.tobytes() == np.array(expected).tobytes()
        assert laid.pairs.dtype == np.uint16
        times = chosen["count_pairs"].function(*entries, first, 32 * 256)
        assert np.count_nonzero(times) == len(laid.columns)
        assert (np.diff(times[first[laid.columns] + laid.counts - 1]) <= 0).all()


def test_products_are_the_same_to_the_bit_however_often_they_are_asked_for(static, monkeypatch):
    texts = [" ".join(WORDS[i % 7 : i % 7 + i % 11]) or "sea" for i in range(60)]
    vectors = static(texts)
    (segment,) = as_bags(static, [Source(vectors, np.arange(len(texts)), texts)])
    question = static.embed_question("When does the ferry leave?")
    before = segment.products(question)
    monkeypatch.setattr(bag_table, "MIN_SORTED", 1)
    monkeypatch.setattr(bag_table, "MIN_ASKED", 2)
    for times in range(1, 6):
        assert segment.take(np.arange(60)).products(question).tobytes() == before.tobytes()
        assert segment.take(np.arange(5, 40)).products(question).tobytes() == before[5:40].tobytes()
        asked = segment.table._asked.values()
        assert {one.sorted is not None for one in asked} == {times > 2}
        assert len(asked) == 4  # pieces and terms of both, which are where they were


def test_bags_of_one_table_are_joined_with_new_ones(static):
    texts = [f"{one} {other}" for one in WORDS for other in WORDS]
    vectors, every = static(texts), np.arange(len(texts))
    first, second = as_bags(
        static,
        [
            Source(vectors[:100], every[:100], texts[:100]),
            Source(vectors[100:200], every[:100], texts[100:200]),
        ],
    )
    assert first.table is second.table
    kept = [*range(40, 100), *range(7)]
    column = VectorColumn([second, first]).take(np.array([*kept, *range(120, 200)]))
    column = with_rows(column, vectors[200:])
    rows = [*(100 + row for row in kept), *range(20, 100), *range(200, len(texts))]
    source = Source(column, np.arange(len(rows)), [texts[row] for row in rows])
    (again,) = as_bags(static, [source])
    assert not len(again.others)
    assert again[:].tobytes() == vectors[rows].tobytes()
    question = static.embed_question("Corfu")
    assert np.abs(again.products(question) - column.products(question)).max() < 1e-6


@given(st.lists(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 9)), max_size=6), max_size=6))
def test_the_loop_and_its_plain_form_add_alike(rows):
    chance = np.random.default_rng(len(rows))
    weights, numbers = chance.random(10), chance.normal(size=6)
    ends = np.cumsum([len(row) for row in rows], dtype=np.int32)
    starts = np.array([0, *ends[:-1]][: len(rows)], np.int32)
    columns = np.array([column for row in rows for column, _ in row], np.uint16)
    counts = np.array([count for row in rows for _, count in row], np.uint8)
    arguments = starts, ends, columns, counts, weights, numbers
    one, other = bag_sums.plain(*arguments), bag_sums.function(*arguments)
    assert one.tobytes() == other.tobytes()
    wanted = [sum(weights[count] * numbers[column] for column, count in row) for row in rows]
    np.testing.assert_allclose(one, wanted)


@given(st.integers(0, 40), st.integers(0, 9))
def test_sums_are_scaled_alike_by_the_loop_and_by_numpy(n, seed):
    chance = np.random.default_rng(seed)
    first, second = chance.normal(size=(2, n))
    scales, mean = chance.random((n, 3)).astype(np.float32), np.float32(chance.normal())
    one = add_scaled.plain(first, second, scales, mean)
    other = add_scaled.function(first, second, scales, mean)
    assert one.dtype == other.dtype == np.float32
    assert one.tobytes() == other.tobytes()
    parts = np.column_stack([first, second, np.full(n, -mean)])
    np.testing.assert_allclose(one, (parts * scales).sum(axis=1), atol=1e-6)


@pytest.mark.parametrize("most", [0, compared_pieces.MAX_COPIED])
def test_pieces_that_no_text_of_the_embedder_has_are_compared_too(monkeypatch, most):
    monkeypatch.setattr(compared_pieces, "MAX_COPIED", most)
    corpus, others = ["The ferry to Corfu."], ["The ferry.", "Xylophones quiver", "Zwölf"]
    static, rows = fit_bags(corpus, others)
    apart = VectorColumn([rows]).take(np.array([3, 1, 2])).compact()
    assert apart[:].tobytes() == rows[np.array([3, 1, 2])].tobytes()
    for question in map(static.embed_question, ("ferry", "quiver xylophones", "ferry")):
        for some in (rows.take(np.arange(2)), apart, rows):
            made = some[:] @ question
            assert np.abs(some.products(question) - made).max() < 1e-6


def test_threads_that_compare_new_pieces_at_once_keep_those_of_each_other(monkeypatch):
    """One of them adds its pieces while the other is about to, and compares when both have."""
    static, rows = fit_bags(["The ferry to Corfu."], ["Xylophones quiver", "Zwölf Fjorde"])
    question = static.embed_question("quiver xylophones")
    first, second = (VectorColumn([rows]).take(np.array([row])) for row in (1, 2))
    has_added, may_go_on = threading.Event(), threading.Event()
    compare_also, pieces_of = BagTable.compare_also, ComparedPieces.of
    found = []
    thread = threading.Thread(target=lambda: found.append(first.products(question)))

    def compare_pieces(table, bags):
        compare_also(table, bags)
        if threading.current_thread() is thread:
            has_added.set()
            assert may_go_on.wait(30)

    def pieces_later(compared):
        if not thread.ident and "compare_also" in {frame.name for frame in extract_stack()}:
            thread.start()
            has_added.wait(0.5)  # it waits itself where one is added after the other
        return pieces_of(compared)

    rows.table.piece_factors(question)
    monkeypatch.setattr(BagTable, "compare_also", compare_pieces)
    monkeypatch.setattr(ComparedPieces, "of", pieces_later)
    found.append(second.products(question))
    may_go_on.set()
    thread.join()
    made = [second[:] @ question, first[:] @ question]
    assert np.abs(np.array(found) - np.array(made)).max() < 1e-6


@pytest.mark.parametrize(("most", "n_made"), [(6, 7), (8, 7), (8, 8)])
def test_counts_that_wait_for_their_vectors_lose_nothing(monkeypatch, most, n_made):
    for module in (bag_making, bag_table, bag_segment):
        monkeypatch.setattr(module, "BATCH", 2)
    monkeypatch.setattr(bag_making, "MAX_MADE", most)
    corpus = ["the sea of Corfu", LONG, "", "sea " * 255, "sea " * 256, "naïve Anna"]
    others = ["Ben leaves", LONG]
    fitted, rows = fit_bags(corpus, others, n_made=n_made)
    whole = StaticEmbedding.fit(corpus)
    assert fitted.has_counts_of(whole)
    vectors, order = whole([*corpus, *others]), np.array([7, 0, 2, 3])
    assert rows[:].tobytes() == vectors.tobytes()
    assert rows.take(order)[1:].tobytes() == vectors[order][1:].tobytes()
    assert isinstance(rows, MadeBags) == (most > 6)
    if isinstance(rows, MadeBags):
        assert len(rows.made) == n_made
        assert rows.take(order).bags()[:].tobytes() == vectors[order].tobytes()


@given(st.lists(st.integers(1, MAX_IN_PAIRS), min_size=1, max_size=40), st.integers(0, 9))
def test_sparse_rows_are_multiplied_alike_by_the_loop_and_by_numpy(lengths, seed):
    chance = np.random.default_rng(seed)
    starts = np.cumsum([0, *lengths])
    columns = chance.integers(0, 30, starts[-1]).astype(np.uint16)
    values, vector = chance.normal(size=starts[-1]).astype(np.float32), chance.normal(size=30)
    arguments = starts, columns, values, vector
    one, other = row_products.plain(*arguments), row_products.function(*arguments)
    assert one.tobytes() == other.tobytes()
    matrix = np.zeros((len(lengths), 30))
    np.add.at(matrix, (np.repeat(np.arange(len(lengths)), lengths), columns), values)
    np.testing.assert_allclose(one, matrix @ vector, atol=1e-12)


@pytest.mark.parametrize("n", [1, 511, 512, 1100])
def test_rows_in_blocks_have_the_products_of_rows_one_by_one(n):
    chance = np.random.default_rng(n)
    rows, vector = chance.normal(size=(n, 256)).astype(np.float32), chance.normal(size=256)
    vector = vector.astype(np.float32)
    blocks = in_blocks(rows)
    plain, loop = block_products.plain(blocks, vector), block_products.function(blocks, vector)
    assert plain.tobytes() == loop.tobytes()
    assert not plain[n:].any()
    np.testing.assert_allclose(plain[:n], rows.astype(float) @ vector.astype(float), atol=1e-4)
    row, lanes = rows[n // 2], [np.float32(0)] * 4
    for first in range(0, 256, 16):
        for column in range(first + 12, first - 1, -4):
            for lane in range(4):
                lanes[lane] += row[column + lane] * vector[column + lane]
    assert plain[n // 2] == (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])


@pytest.mark.parametrize("adds_alike", [True, False])
def test_pieces_stand_in_blocks_only_where_no_bit_changes(monkeypatch, adds_alike):
    monkeypatch.setattr(compared_pieces, "MIN_IN_BLOCKS", 1)
    of_blocks = compared_pieces.block_products.plain
    monkeypatch.setattr(compared_pieces, "block_products", of_blocks)
    pieces = ComparedPieces.of(np.arange(PIECES) % 40 == 0)
    rows = piece_vectors()[pieces.pieces]
    vector = np.random.default_rng(0).normal(size=DIMENSIONS).astype(np.float32)
    expected = of_blocks(in_blocks(rows), vector)[: len(rows)]
    if not adds_alike:
        expected = np.nextafter(expected, np.float32(9))
    monkeypatch.setattr(compared_pieces, "products", lambda *_: expected)
    for _ in range(compared_pieces.MIN_ASKED + 2):
        assert pieces.products(vector).tobytes() == expected.tobytes()
    assert (pieces._blocks is not None) == adds_alike
    assert len(pieces._vectors) == (0 if adds_alike else len(rows))


@settings(max_examples=30)
@given(st.lists(st.lists(st.one_of(text, st.just(LONG)), max_size=5), min_size=1, max_size=5))
def test_texts_that_come_by_and_by_are_counted_once_and_have_their_vectors(batches):
    first = ["The ferry to Corfu leaves at nine.", "Anna met Ben."]
    embedder, rows = fit_bags(first)
    seen, count = set[str](), TextCounts.of
    with pytest.MonkeyPatch.context() as patch:
        for batch in batches:
            counted = list[str]()
            patch.setattr(TextCounts, "of", lambda some, to=counted: to.extend(some) or count(some))
            segment = bags_of_recent_texts(rows.table, batch)
            assert sorted(counted) == sorted({*batch} - seen)
            seen |= {*batch}
            assert (segment[:] == embedder(batch)).all()
            at_once = bags_of_texts(fit_bags(first)[1].table, batch)
            assert segment.scales.tobytes() == at_once.scales.tobytes()
            assert segment.keys.tolist() == at_once.keys.tolist()
    assert len({*rows.table.terms}) == len(rows.table.terms)


@given(st.lists(text, min_size=1, max_size=8), st.data())
def test_rows_that_are_taken_keep_the_keys_of_their_pieces(static, texts, data):
    rows = bags_of_texts(fit_bags(texts)[1].table, texts)
    for _ in range(3):
        if data.draw(st.booleans()):
            assert len(rows.keys) == len(rows.scales)
        some = data.draw(st.lists(st.integers(0, len(rows.scales) - 1), min_size=1))
        rows, texts = rows.take(np.array(some)), [texts[i] for i in some]
    assert rows.keys.tolist() == bags_of_texts(rows.table, texts).keys.tolist()


@given(st.lists(st.lists(st.tuples(st.integers(0, 31_999), st.integers(1, 255)), max_size=11, unique_by=lambda one: one[0]), max_size=5))  # fmt: skip
def test_lengths_of_sums_are_measured_alike_in_every_form_and_are_those_of_the_sums(rows):
    flat = [one for row in rows for one in sorted(row)]
    ends = np.cumsum([len(row) for row in rows], dtype=np.int32)
    starts = ends - np.array([len(row) for row in rows], np.int32)
    columns, counts = (np.array([one[i] for one in flat], t) for i, t in ((0, np.uint16), (1, np.uint8)))  # fmt: skip
    weights = np.random.default_rng(0).random(PIECES)
    given_ = starts, ends, columns, counts, bags.OF_PIECES, weights, piece_vectors()
    plain, looped = dense_squares.plain(*given_), dense_squares.function(*given_)
    np.testing.assert_allclose(plain, looped, rtol=1e-12)
    wanted = [
        np.linalg.norm(sum(bags.OF_PIECES[n] * weights[c] * piece_vectors()[c].astype(float) for c, n in row)) ** 2
        for row in rows
    ]  # fmt: skip
    np.testing.assert_allclose(looped, wanted, rtol=1e-9)
