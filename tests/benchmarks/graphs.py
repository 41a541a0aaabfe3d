"""Random graphs to measure on, like those that knowledge is kept in."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array


def knowledge_graph(
    n: int, seed: int = 0, degree: float = 7.6, within: float = 0.7, closing: float = 0.35
) -> Any:
    """Return a symmetric CSR array [n, n] of float32 weights in (0.1, 1), average degree about 9, rows in random order.

    Degrees follow a power law of exponent 2.5 up to about n^0.55, the sizes of communities one of exponent 2 from 20 to n^0.7; of every
    node's links the share `within` stays in its community (a configuration model in each); then as many open triads as the share
    `closing` of the links are closed.
    """
    rng = np.random.default_rng(seed)
    wanted = (1 - rng.random(n)) ** (-1 / 1.5)
    wanted = np.minimum(wanted * (degree / np.minimum(wanted, n**0.55).mean()), n**0.55)
    stubs = np.floor(wanted + rng.random(n)).astype(np.int64)
    community = np.repeat(
        np.arange(n), np.clip((20 / (1 - rng.random(n))), 20, n**0.7).astype(np.int64)
    )[:n]
    inside = rng.binomial(stubs, within)
    own = np.repeat(np.arange(n), inside)
    own = own[np.lexsort((rng.random(len(own)), community[own]))]
    far = rng.permutation(np.repeat(np.arange(n), stubs - inside))
    pairs = np.concatenate([_paired(own), _paired(far)])
    pairs = pairs[(pairs[:, 0] != pairs[:, 1])]
    links = _symmetric(pairs, n)
    first = rng.integers(len(links.indices), size=int(closing * len(pairs)))
    one = np.searchsorted(links.indptr, first, side="right") - 1
    middle = links.indices[first]
    span = np.diff(links.indptr)[middle]
    other = links.indices[links.indptr[middle] + (rng.random(len(middle)) * span).astype(np.int64)]
    closed = np.stack([one, other], axis=1)[one != other]
    pairs = rng.permutation(n)[np.concatenate([pairs, closed])]
    links = _symmetric(pairs, n)
    low, high = np.minimum(pairs[:, 0], pairs[:, 1]), np.maximum(pairs[:, 0], pairs[:, 1])
    key = np.unique(low * n + high)
    weight = rng.uniform(0.1, 1, len(key)).astype(np.float32)
    rows = np.repeat(np.arange(n), np.diff(links.indptr))
    columns = links.indices.astype(np.int64)
    links.data = weight[
        np.searchsorted(key, np.minimum(rows, columns) * n + np.maximum(rows, columns))
    ]
    return links


def _paired(ends: Any) -> Any:
    return ends[: len(ends) // 2 * 2].reshape(-1, 2)


def _symmetric(pairs: Any, n: int) -> Any:
    tails, heads = (
        np.concatenate([pairs[:, 0], pairs[:, 1]]),
        np.concatenate([pairs[:, 1], pairs[:, 0]]),
    )
    links = csr_array(coo_array((np.ones(len(tails), np.float32), (tails, heads)), shape=(n, n)))
    links.sum_duplicates()
    links.sort_indices()
    return links
