"""Compiled loop of BM25: what one term adds to the scores of the texts that have it."""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled


def _add_term_at_once(scores, texts, counts, start, end, norms, idf):
    found, often = texts[start:end], counts[start:end]
    scores[found] += idf * often / (often + norms[found])


@compiled(at_once=_add_term_at_once)
def add_term(scores, texts, counts, start, end, norms, idf):
    """Add idf * count / (count + norm) to the score of each text of a run of postings, in place.

    Args:
        scores: float64 [n].
        texts: int32 [m], the texts that have each term, each once for a term.
        counts: float32 [m], how often.
        start: where the run starts.
        end: where it ends.
        norms: float64 [n], of each text.
        idf: float32.
    """
    for at in range(start, end):
        text = np.uint64(texts[at])
        count = counts[at]
        scores[text] += np.float64(idf * count) / (np.float64(count) + norms[text])


def _add_constant_at_once(sums, texts, start, end, more):
    sums[texts[start:end]] += more


@compiled(at_once=_add_constant_at_once)
def add_constant(sums, texts, start, end, more):
    """Add a number to the sum of each text of a run of postings, in place.

    Args:
        sums: float64 [n].
        texts: as in `add_term`.
        start: as in `add_term`.
        end: as in `add_term`.
        more: float64.
    """
    for at in range(start, end):
        sums[np.uint64(texts[at])] += more
