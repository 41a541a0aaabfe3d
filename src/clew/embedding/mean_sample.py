"""The texts whose vectors give the mean of a corpus: few, and the same after most changes.

A text is chosen by a key that its own words make, so that one that comes or goes changes at most
one of those chosen. Were they evenly spaced, the mean after a change would be that of other texts,
and every vector would move: of 13,852 passages one page of 14 reordered the best five of a tenth of
all questions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.compressed_rows import CompressedRows
from clew.embedding.latent_semantic import mix_bits
from clew.embedding.word_vectors import PIECES

FACTOR = np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing


def sample_places(
    batches: Sequence[tuple[NDArray[np.int64], CompressedRows]], most: int
) -> NDArray[np.int64]:
    """Return the places of the texts with the smallest keys, ascending.

    Args:
        batches: of some texts each, in turn: int64 [pieces], the pieces that come, and how often
            each text has each, [texts, pieces].
        most: the number of texts that are chosen; of no more, all are.

    Example:
        >>> counts = CompressedRows.counted([0, 1, 1, 2], [0, 1, 2, 0], (3, 3))
        >>> sample_places([(np.array([7, 8, 9]), counts)], 5).tolist()
        [0, 1, 2]
    """
    return places_of_keys(
        np.concatenate([np.zeros(0, np.uint64), *(_keys(*batch) for batch in batches)]), most
    )


def places_of_keys(keys: NDArray[np.uint64], most: int) -> NDArray[np.int64]:
    """Return the places of the texts with the smallest keys, ascending, as `sample_places` does.

    Args:
        keys: uint64 [n], of each text.
        most: as in `sample_places`.
    """
    if len(keys) <= most:
        return np.arange(len(keys))
    order = np.argsort(keys, kind="stable")
    in_order = keys[order]
    first = np.flatnonzero(np.append(True, in_order[1:] != in_order[:-1]))
    times = np.diff(first, append=len(keys))
    earlier = np.empty(len(keys), np.uint64)  # texts of the same words before each
    earlier[order] = np.arange(len(keys)) - np.repeat(first, times)
    # Copies of a text have keys of their own: with one key they would be chosen together.
    chosen = np.argsort(mix_bits(keys + earlier * FACTOR), kind="stable")[:most]
    return np.sort(chosen)


def _keys(pieces: NDArray[np.int64], of_pieces: CompressedRows) -> NDArray[np.uint64]:
    """Return a number for each text that its pieces make, in any order: uint64 [texts]."""
    return keys_of_entries(pieces[of_pieces.columns], of_pieces.values, of_pieces.starts)


def keys_of_entries(
    pieces: NDArray[np.integer], times: NDArray[np.number], starts: NDArray[np.integer]
) -> NDArray[np.uint64]:
    """Return the key of each text, which its pieces make in any order: uint64 [n].

    Args:
        pieces: the pieces of all texts, one text behind the other.
        times: how often each comes.
        starts: where the pieces of each text start, and where the last ones end.
    """
    of_entries = mix_bits(np.arange(PIECES, dtype=np.uint64) + FACTOR)[pieces]
    of_entries *= times.astype(np.uint64)
    sums = np.append(np.uint64(0), np.cumsum(of_entries, dtype=np.uint64))
    found: NDArray[np.uint64] = np.diff(sums[starts])  # modulo 2^64
    return found
