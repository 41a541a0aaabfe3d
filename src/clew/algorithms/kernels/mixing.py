"""Compiled loops over the scores of all nodes: one pass in the place of several of numpy's."""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled

BLOCK = 1024  # scores that stay near the processor


def _blended_at_once(first, second, first_best, second_best, share):
    mixed, other = first / first_best, second / second_best
    mixed *= share
    other *= 1 - share
    mixed += other
    return mixed


@compiled(at_once=_blended_at_once)
def blended(first, second, first_best, second_best, share):
    """Return share * first / first_best + (1 - share) * second / second_best: float64 [n].

    Args:
        first: float64 [n].
        second: float64 [n].
        first_best: what the first scores are divided by, not 0.
        second_best: likewise.
        share: the weight of the first scores.
    """
    mixed, rest = np.empty(len(first)), 1 - share
    for row in range(len(first)):
        mixed[row] = share * (first[row] / first_best) + rest * (second[row] / second_best)
    return mixed


def _added_at_once(scores, best, beside, owners, whole):
    alone = scores / best
    mixed = beside[owners]
    mixed += alone
    mixed /= whole
    mixed[alone <= 0] = 0.0
    return mixed


@compiled(at_once=_added_at_once)
def added_of_owners(scores, best, beside, owners, whole):
    """Return (scores / best + beside[owner]) / whole, or 0 where the score is not above 0.

    Args:
        scores: float64 [n].
        best: what the scores are divided by, above 0.
        beside: float64 [m], what belongs to each owner.
        owners: int64 [n], the owner of each score; -1 for the last.
        whole: what the sum is divided by.
    """
    mixed, sums = np.empty(len(scores)), np.empty(BLOCK)
    for first in range(0, len(scores), BLOCK):
        n = min(BLOCK, len(scores) - first)
        own, of_scores, of_owners = mixed[first:], scores[first:], owners[first:]
        for row in range(n):  # several divisions at once, which those with a place between are not
            own[row] = of_scores[row] / best
        for row in range(n):
            sums[row] = beside[of_owners[row]] + own[row]
        for row in range(n):
            together = sums[row] / whole
            own[row] = 0.0 if own[row] <= 0 else together
    return mixed


def _raised_at_once(scores, rows, others, weights, whole):
    raised, alone = scores.copy(), scores[rows]
    beside = weights * np.maximum(scores[others], 0.0)
    raised[rows] = np.where(alone > 0, (alone + beside) / whole, alone)
    return raised


@compiled(at_once=_raised_at_once)
def raised_by_others(scores, rows, others, weights, whole):
    """Return the scores, where (score + weight * other) / whole is in the place of some above 0.

    Args:
        scores: float64 [n].
        rows: int32 [m], those that are replaced, each once.
        others: int64 [m], the row of the other score beside each; one below 0 counts as 0.
        weights: float64 [m], of the other scores.
        whole: what the sums are divided by.
    """
    raised, alone, sums = scores.copy(), np.empty(BLOCK), np.empty(BLOCK)
    for first in range(0, len(rows), BLOCK):
        n = min(BLOCK, len(rows) - first)
        own, beside, of_others = rows[first:], others[first:], weights[first:]
        for i in range(n):
            alone[i] = scores[own[i]]
            other = scores[beside[i]]
            sums[i] = 0.0 if other <= 0 else other
        for i in range(n):
            together = (alone[i] + of_others[i] * sums[i]) / whole
            sums[i] = together if alone[i] > 0 else alone[i]
        for i in range(n):
            raised[own[i]] = sums[i]
    return raised


def _keep_far_at_once(mixed, alone, best, far):
    shares = alone / best
    rows = np.flatnonzero(shares < far)
    mixed[rows] = np.minimum(mixed[rows], shares[rows] * mixed.max(initial=0.0))


@compiled(at_once=_keep_far_at_once)
def keep_far(mixed, alone, best, far):
    """Take from mixed scores, in place, the share of the best that some did not have alone.

    Args:
        mixed: float64 [n], >= 0.
        alone: float64 [n].
        best: the highest of these, above 0.
        far: what has a smaller share of the best alone has no larger one mixed.
    """
    highest = 0.0
    for row in range(len(mixed)):
        highest = max(highest, mixed[row])
    for row in range(len(mixed)):
        share = alone[row] / best
        kept = min(mixed[row], share * highest)
        mixed[row] = kept if share < far else mixed[row]


def _above_noise_at_once(products, noise):
    scores = products.astype(np.float64)
    scores[np.flatnonzero(~(np.abs(scores) > noise))] = 0.0  # few: by rows it is faster
    return scores


@compiled(at_once=_above_noise_at_once)
def above_noise(products, noise):
    """Return products in double precision, and 0 where they are no more than noise: float64 [n].

    Args:
        products: float32 [n].
        noise: the largest absolute value that is noise.
    """
    scores = np.empty(len(products))
    for row in range(len(products)):
        score = np.float64(products[row])
        scores[row] = score if abs(score) > noise else 0.0
    return scores
