"""Compiled vectors of texts: weighted sums of what the words of each text are made of."""

from __future__ import annotations

import math

import numpy as np

from clew.algorithms.compressed_rows import CompressedRows
from clew.algorithms.kernels.compiled import compiled
from clew.graph import expand_ranges

MAX_SORTED = 128  # columns of a row that are sorted; of more, all columns are looked through
LANES = 8  # running sums of squares
MAX_BLOCK = 128  # numbers that numpy adds in running sums
ROUNDING, UPPER, HALF = np.uint32(0x8000), np.uint32(0xFFFF0000), np.uint32(16)  # of 32 bits
BATCH = 256  # rows that numpy computes at once, in arrays that are used again


@compiled
def squared_length(vector):
    """Return the sum of the squares of an array whose length is a multiple of `LANES`."""
    sums = np.zeros(LANES)
    for i in range(0, len(vector), LANES):
        for lane in range(LANES):
            sums[lane] += vector[i + lane] * vector[i + lane]
    total = 0.0
    for lane in range(LANES):
        total += sums[lane]
    return total


@compiled
def put_in_order(found, n, counts):
    """Put the first `n` of some columns, which are those with counts, into ascending order."""
    if n > MAX_SORTED:
        n = 0
        for column in range(len(counts)):
            if counts[column] != 0:
                found[n] = column
                n += 1
        return
    for i in range(1, n):
        column = found[i]
        place = i
        while place > 0 and found[place - 1] > column:
            found[place] = found[place - 1]
            place -= 1
        found[place] = column


def _vectors_at_once(
    of_words, lists_of_pieces, of_pieces, of_terms, signatures, weights, shares, width
):
    n, (piece_starts, pieces, times), (piece_weights, piece_vectors) = (
        len(of_words[0]),
        lists_of_pieces,
        of_pieces,
    )
    words, rows = _listed(*of_words)
    lengths = piece_starts[words + 1] - piece_starts[words]
    places = expand_ranges(piece_starts[words], lengths)
    shape = n, len(piece_vectors)
    bags = CompressedRows.summed(np.repeat(rows, lengths), pieces[places], times[places], shape)
    bags = bags.with_values(np.sqrt(bags.values * piece_weights[bags.columns]))
    bags, used = _with_used_columns(bags)
    meanings = piece_vectors[used].astype(np.float64)

    terms, rows = _listed(*of_terms)
    spelt = CompressedRows.counted(rows, terms, (n, max(len(signatures[0]) - 1, 1)))
    term_weights, of_counts = weights
    spelt = spelt.with_values(of_counts[spelt.values.astype(int)] * term_weights[spelt.columns])
    spelt, used = _with_used_columns(spelt)
    signs = CompressedRows(*signatures, width).take(used)

    vectors = np.zeros((n, piece_vectors.shape[1] + width), np.float32)
    for start in range(0, n, BATCH):
        end = min(start + BATCH, n)
        halves = (
            bags.part(start, end).times_dense(meanings),
            spelt.part(start, end).dense_product(signs),
        )
        sizes = np.sqrt([_squared_lengths(half) for half in halves])
        parts = np.where(sizes > 0, shares[:, None], 0)
        whole = np.sqrt(parts[0] + parts[1])
        scales = np.sqrt(parts) / np.where(whole > 0, whole, 1) / np.where(sizes > 0, sizes, 1)
        first = 0
        for half, scale in zip(halves, scales, strict=True):
            vectors[start:end, first : first + half.shape[1]] = half * scale[:, None]
            first += half.shape[1]
    return vectors


def _listed(starts, ends, numbers):
    """Return the numbers of all rows, row by row, and the row of each."""
    lengths = ends - starts
    return numbers[expand_ranges(starts, lengths)], np.repeat(np.arange(len(starts)), lengths)


def _with_used_columns(matrix):
    """Return the matrix of the columns that have entries, and which these are."""
    is_used = np.zeros(matrix.width, np.bool_)
    is_used[matrix.columns] = True
    used = np.flatnonzero(is_used)
    place_of = np.zeros(matrix.width, np.int32)
    place_of[used] = np.arange(len(used), dtype=np.int32)
    columns = place_of[matrix.columns]
    return CompressedRows(matrix.starts, columns, matrix.values, len(used)), used


def _squared_lengths(rows):
    """Return what `squared_length` returns of each row."""
    lanes = rows.reshape(len(rows), rows.shape[1] // LANES, LANES)
    sums = np.zeros((len(rows), LANES))
    for i in range(lanes.shape[1]):
        sums += lanes[:, i] * lanes[:, i]
    total = np.zeros(len(rows))
    for lane in range(LANES):
        total += sums[:, lane]
    return total


@compiled(at_once=_vectors_at_once)
def bag_vectors(of_words, lists_of_pieces, of_pieces, of_terms, signatures, weights, shares, width):
    """Return the vectors of texts, float32 [n, d + width]: unit rows, or zeros without words.

    A vector has two halves, each scaled to a share of its length: the sum of the vectors of the
    pieces of the words, each times the root of its weight and of how often it comes, and the sum of
    the signatures of the terms. Both are added in the order of the columns.

    Args:
        of_words: int64 [n], where the words of each text start; int64 [n], where they end; and
            int64, the number of each word that comes.
        lists_of_pieces: int64 [words + 1], where the pieces of each word start; int32, the pieces;
            and float64, how often each comes in its word.
        of_pieces: float64 [p], the weight of each piece, and float32 [p, d], its vector.
        of_terms: as `of_words`, of terms.
        signatures: int64 [terms + 1], where the signature of each term starts; int32, its columns;
            and float64, what stands there.
        weights: float64 [terms], that of each term, and float64, that of each count.
        shares: float64 [2], of the square of the length of a vector, for each half.
        width: of a signature.
    """
    starts, ends, words = of_words
    piece_starts, pieces, times = lists_of_pieces
    piece_weights, piece_vectors = of_pieces
    term_starts, term_ends, terms = of_terms
    signature_starts, columns, signs = signatures
    term_weights, of_counts = weights
    n, depth, n_terms = len(starts), piece_vectors.shape[1], len(signature_starts) - 1
    vectors = np.zeros((n, depth + width), np.float32)
    meaning, spelling = np.zeros(depth), np.zeros(width)
    counts_of_pieces, counts_of_terms = np.zeros(len(piece_vectors)), np.zeros(max(n_terms, 1))
    found = np.zeros(max(len(piece_vectors), n_terms), np.int64)
    for row in range(n):
        n_found = 0
        for i in range(starts[row], ends[row]):
            for at in range(piece_starts[words[i]], piece_starts[words[i] + 1]):
                piece = pieces[at]
                if counts_of_pieces[piece] == 0:
                    found[n_found] = piece
                    n_found += 1
                counts_of_pieces[piece] += times[at]
        put_in_order(found, n_found, counts_of_pieces)
        meaning[:] = 0.0
        for i in range(n_found):
            piece = found[i]
            weight = math.sqrt(counts_of_pieces[piece] * piece_weights[piece])
            counts_of_pieces[piece] = 0
            for j in range(depth):
                meaning[j] += weight * np.float64(piece_vectors[piece, j])

        n_found = 0
        for i in range(term_starts[row], term_ends[row]):
            if counts_of_terms[terms[i]] == 0:
                found[n_found] = terms[i]
                n_found += 1
            counts_of_terms[terms[i]] += 1
        put_in_order(found, n_found, counts_of_terms)
        spelling[:] = 0.0
        for i in range(n_found):
            term = found[i]
            weight = of_counts[int(counts_of_terms[term])] * term_weights[term]
            counts_of_terms[term] = 0
            for at in range(signature_starts[term], signature_starts[term + 1]):
                spelling[columns[at]] += weight * signs[at]

        first, second = math.sqrt(squared_length(meaning)), math.sqrt(squared_length(spelling))
        of_first = shares[0] if first > 0 else 0.0
        of_second = shares[1] if second > 0 else 0.0
        whole = math.sqrt(of_first + of_second)
        if first > 0:
            scale = math.sqrt(of_first) / whole / first
            for j in range(depth):
                vectors[row, j] = meaning[j] * scale
        if second > 0:
            scale = math.sqrt(of_second) / whole / second
            for j in range(width):
                vectors[row, depth + j] = spelling[j] * scale
    return vectors


def centre_at_once(vectors, mean):
    """Do what `centre_rows` does, by numpy, which is there without the compiler."""
    for start in range(0, len(vectors), BATCH):
        some = vectors[start : start + BATCH]
        empty = np.flatnonzero(~some[:, :LANES].any(axis=1))  # at most: few rows begin so
        empty = empty[~some[empty].any(axis=1)]
        some -= mean
        some[empty] = 0
        lengths = np.sqrt((some * some).sum(axis=1, keepdims=True))
        lengths[lengths == 0] = 1
        some /= lengths


@compiled(at_once=centre_at_once)
def centre_rows(vectors, mean):
    """Subtract a vector from rows that are not empty, and make them unit rows, in place.

    The squares are added as numpy adds them: eight running sums of each block of at most 128, and
    then block by block in pairs.

    Args:
        vectors: float32 [n, d], where d is a block or a block doubled several times.
        mean: float32 [d].
    """
    width = len(mean)
    n_blocks = 1
    while width // n_blocks > MAX_BLOCK:
        n_blocks *= 2
    step = width // n_blocks
    sums, lanes = np.zeros(n_blocks, np.float32), np.zeros(LANES, np.float32)
    for row in range(len(vectors)):
        vector = vectors[row]
        is_empty = True
        for i in range(width):
            if vector[i] != 0:
                is_empty = False
                break
        if is_empty:
            continue
        for i in range(width):
            vector[i] -= mean[i]
        for block in range(n_blocks):
            first = block * step
            for lane in range(LANES):
                lanes[lane] = vector[first + lane] * vector[first + lane]
            for i in range(first + LANES, first + step, LANES):
                some = vector[i : i + LANES]  # whose places are known not to be negative
                for lane in range(LANES):
                    lanes[lane] += some[lane] * some[lane]
            sums[block] = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + (
                (lanes[4] + lanes[5]) + (lanes[6] + lanes[7])
            )
        left = n_blocks
        while left > 1:
            left //= 2
            for block in range(left):
                sums[block] = sums[2 * block] + sums[2 * block + 1]
        length = np.sqrt(sums[0])
        if length > 0:
            for i in range(width):
                vector[i] /= length


def _sums_at_once(vectors):
    return vectors.sum(axis=0, dtype=np.float64)


@compiled(at_once=_sums_at_once)
def sum_rows(vectors):
    """Return the sum of rows, one after the other: float64 [d].

    Args:
        vectors: float32 [n, d].
    """
    sums = np.zeros(vectors.shape[1])
    for row in range(len(vectors)):
        for i in range(len(sums)):
            sums[i] += np.float64(vectors[row, i])
    return sums


def _round_at_once(bits, halves):
    bits += ROUNDING
    bits &= UPPER
    np.right_shift(bits, HALF, out=halves, casting="unsafe")


@compiled(at_once=_round_at_once)
def round_rows(bits, halves):
    """Round float32 numbers to bfloat16, in place; there is no infinite one among them.

    Args:
        bits: uint32 [n, d], the bits of the numbers.
        halves: uint16 [n, d], which gets their upper halves, all that is left.
    """
    for row in range(len(bits)):
        own, upper = bits[row], halves[row]
        for i in range(len(own)):
            rounded = (own[i] + ROUNDING) & UPPER
            own[i] = rounded
            upper[i] = rounded >> HALF


def _put_at_once(bits, rows, halves, places):
    bits[rows] = halves[places].astype(np.uint32) << HALF


@compiled(at_once=_put_at_once)
def put_halves(bits, rows, halves, places):
    """Put bfloat16 numbers into rows of an array of float32.

    Args:
        bits: uint32 [n, d], the bits of the array.
        rows: int64 [m], those that get numbers.
        halves: uint16 [k, d], the upper halves of numbers.
        places: int64 [m], where the numbers of each row stand among these.
    """
    for i in range(len(rows)):
        own, upper = bits[rows[i]], halves[places[i]]
        for j in range(len(own)):
            own[j] = np.uint32(upper[j]) << HALF
