"""Where a document changes its subject: at the gaps between sentences over which the vectors agree least.

A gap is measured by the cosine between the few units before it and the few behind it, as in TextTiling (Hearst 1997), with sentence
vectors in the place of word counts. Of the gaps below a quantile of the document's own, those in a valley are cut though nothing asks
for it; where a passage would be too long, the cheapest cuts are found by `clew.algorithms.segmentation`. On passages of MuSiQue run
together, ten to a document, that finds their ends with an F1 of .67 where filling up to the same size finds them with one of .33.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from clew.algorithms.ranking import reaches, summable
from clew.algorithms.segmentation import Floats, cohesion, segments
from clew.embedding.embedder import Embedder, embed_texts, fit_latent_semantic

WINDOW = 3  # units on either side of a gap
DIMENSIONS = 256  # of the vectors that are made of a document's own words
Unit = tuple[int, int, int]  # start, end, tokens


def subjects(
    text: str,
    runs: Sequence[Sequence[Unit]],
    most: int,
    breaks: float,
    embedder: Any,
    size: Callable[[int, int], int],
) -> frozenset[int]:
    """Return the places where units begin that another subject begins with.

    Args:
        runs: units in order, cut only within a run. most: tokens that may stand together. breaks: the share of the gaps that may
            be cut though what is between would fit. embedder: as `Embedder.of` takes it; None: vectors of the document's own words.
        size: tokens of text[start:end].
    """
    said = [text[start:end] for run in runs for start, end, _ in run]
    known = [i for i, one in enumerate(said) if any(map(str.isalnum, one))]
    texts = [said[i] for i in known]
    vectors = np.zeros((len(said), 0))
    if texts:
        found = embed_texts(
            fit_latent_semantic(texts, DIMENSIONS) if embedder is None else Embedder.of(embedder),
            texts,
        )
        vectors = np.zeros((len(said), found.shape[1]))
        vectors[known] = found
    ends = np.cumsum([len(run) for run in runs]).tolist()
    sizes = [
        [size(a, b) for (a, _, _), (b, _, _) in itertools.pairwise(run)] + [run[-1][2]]
        if run
        else []
        for run in runs
    ]
    agreed = [
        cohesion(vectors[end - len(run) : end], np.array(tokens, np.float64), WINDOW)
        for run, tokens, end in zip(runs, sizes, ends, strict=True)
    ]
    gaps = np.concatenate([*agreed, np.zeros(0)])
    least = float(np.quantile(gaps, breaks)) if len(gaps) else 0.0
    cuts = [
        segments(_costs(each, least).tolist(), tokens, most)
        for each, tokens in zip(agreed, sizes, strict=True)
    ]
    return frozenset(
        run[gap + 1][0] for run, found in zip(runs, cuts, strict=True) for gap in found
    )


def _costs(agreed: Floats, least: float) -> Floats:
    """What cutting each gap costs: it pays below the least, in a valley alone, lest one change be cut twice."""
    beside = np.concatenate([[np.inf], agreed, [np.inf]])
    valley = reaches(beside[:-2], agreed) & reaches(beside[2:], agreed)
    return summable(np.where(valley, agreed - least, np.maximum(agreed - least, 0)), 1.0)
