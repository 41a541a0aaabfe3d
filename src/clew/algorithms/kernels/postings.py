"""Compiled loops of BM25: what one term adds to the scores of texts that have it or are near it."""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled

MANY = 16  # a term that one text in so many has is near to so many that all are gone through


def _add_term_at_once(scores, texts, counts, start, end, norms, idf):
    found, often = texts[start:end], counts[start:end]
    scores[found] += idf * often / (often + norms[found])


@compiled(at_once=_add_term_at_once, changes=("scores",))
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


@compiled(at_once=_add_constant_at_once, changes=("sums",))
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


def _add_to_groups_at_once(sums, groups, texts, counts, start, end):
    np.add.at(sums, groups[texts[start:end]], counts[start:end])


@compiled(at_once=_add_to_groups_at_once, changes=("sums",))
def add_to_groups(sums, groups, texts, counts, start, end):
    """Add the count of each text of a run of postings to the sum of its group, in place.

    Args:
        sums: float32 [groups].
        groups: int64 [n], the group of each text.
        texts: as in `add_term`.
        counts: as in `add_term`.
        start: as in `add_term`.
        end: as in `add_term`.
    """
    for at in range(start, end):
        sums[groups[np.uint64(texts[at])]] += counts[at]


def _add_term_around_at_once(scores, sums, texts, counts, before, behind, shares, norms, idf):
    sums[texts] += counts
    for away in range(1, len(shares) + 1):
        for step, limit in ((-away, before), (away, behind)):
            rows = np.flatnonzero(limit[texts] >= away)
            sums[texts[rows] + step] += shares[away - 1] * counts[rows]
    scores += idf * sums / (sums + norms)
    sums[:] = 0.0


@compiled(at_once=_add_term_around_at_once, changes=("scores", "sums"))
def add_term_around(scores, sums, texts, counts, before, behind, shares, norms, idf):
    """Add idf * sum / (sum + norm) to the scores of the texts that have a term, and of those near.

    A sum is the count of a text, and a share of the counts before and behind it. The scores are
    changed in place.

    Args:
        scores: float64 [n].
        sums: float64 [n], zeros, which it has again at the end.
        texts: int32 [m], the texts that have the term, each once.
        counts: float64 [m], how often, > 0.
        before: int32 [n], how many of the texts before each one are near it, at most `reach`.
        behind: int32 [n], likewise.
        shares: float64 [reach], what part of a count counts 1, 2, ... texts away, >= 0.
        norms: float64 [n], > 0, of each text with what is near it.
        idf: float64.
    """
    n, m = len(scores), len(texts)
    for at in range(m):
        text, count = np.int64(texts[at]), np.float64(counts[at])
        sums[text] += count
        for away in range(1, before[text] + 1):
            sums[text - away] += shares[away - 1] * count
        for away in range(1, behind[text] + 1):
            sums[text + away] += shares[away - 1] * count
    if MANY * m > n:  # several at once, and what has none adds nothing
        for text in range(n):
            scores[text] += idf * sums[text] / (sums[text] + norms[text])
            sums[text] = 0.0
        return
    for at in range(m):
        text = np.int64(texts[at])
        for near in range(text - before[text], text + behind[text] + 1):
            if sums[near] > 0:
                scores[near] += idf * sums[near] / (sums[near] + norms[near])
                sums[near] = 0.0
