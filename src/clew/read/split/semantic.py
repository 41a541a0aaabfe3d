"""Where a document changes its subject: at the gaps between sentences where vectors agree least.

A gap is measured by the cosine between the few units before it and the few units behind it, as in
TextTiling (Hearst 1997), with sentence vectors instead of word counts. Gaps below a quantile of the
document's own gaps are cut where they are a local minimum, although nothing else asks for it. Where
a passage would be too long, `clew.algorithms.segmentation` finds the cheapest cuts.

On passages of MuSiQue run together, ten to a document, this finds their ends with an F1 of .67;
filling passages up to the same size finds them with an F1 of .33.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from clew.algorithms.ranking import make_summable, reaches
from clew.algorithms.segmentation import Floats, cohesion, find_cuts
from clew.embedding.embedder import Embedder, embed_texts
from clew.embedding.latent_semantic import LatentSemantic

WINDOW = 3  # units on either side of a gap
DIMENSIONS = 256  # of the vectors that are made of a document's own words
Unit = tuple[int, int, int]  # start, end, tokens


def subject_starts(
    text: str,
    runs: Sequence[Sequence[Unit]],
    max_tokens: int,
    breaks: float,
    embedder: object,
    size: Callable[[int, int], int],
) -> frozenset[int]:
    """Return the places where units begin that another subject begins with.

    Args:
        text: of the document.
        runs: units in order; cuts are made within a run only.
        max_tokens: that may stand together.
        breaks: the share of the gaps that may be cut where the text between them would fit.
        embedder: whatever `Embedder.of` takes. None uses vectors of the document's own words.
        size: tokens of text[start:end].

    Example:
        >>> text = "Ships sail. Ships float. Bread bakes. Bread rises."
        >>> units = [(0, 11, 2), (12, 24, 2), (25, 37, 2), (38, 50, 2)]
        >>> embed = lambda texts: np.array([[1, 0] if "Ship" in one else [0, 1] for one in texts])
        >>> sorted(subject_starts(text, [units], 100, 0.5, embed, lambda start, end: 2))
        [25]
    """
    vectors = _unit_vectors([text[start:end] for run in runs for start, end, _ in run], embedder)
    sizes = [_sizes(run, size) for run in runs]
    ends = np.cumsum([len(run) for run in runs]).tolist()
    agreement = [
        cohesion(vectors[end - len(run) : end], np.array(tokens, np.float64), WINDOW)
        for run, tokens, end in zip(runs, sizes, ends, strict=True)
    ]
    gaps = np.concatenate([*agreement, np.zeros(0)])
    threshold = float(np.quantile(gaps, breaks)) if len(gaps) else 0.0
    cuts = [
        find_cuts(_costs(cosines, threshold).tolist(), tokens, max_tokens)
        for cosines, tokens in zip(agreement, sizes, strict=True)
    ]
    return frozenset(
        run[gap + 1][0] for run, gaps_cut in zip(runs, cuts, strict=True) for gap in gaps_cut
    )


def _unit_vectors(texts: Sequence[str], embedder: object) -> Floats:
    """Return the vector of each unit's text; zeros for one without a letter or digit."""
    rows = [i for i, text in enumerate(texts) if any(map(str.isalnum, text))]
    if not rows:
        return np.zeros((len(texts), 0))
    known = [texts[i] for i in rows]
    chosen = Embedder.of(LatentSemantic.fit(known, DIMENSIONS) if embedder is None else embedder)
    embedded = embed_texts(chosen, known)
    vectors = np.zeros((len(texts), embedded.shape[1]))
    vectors[rows] = embedded
    return vectors


def _sizes(run: Sequence[Unit], size: Callable[[int, int], int]) -> list[int]:
    """Return the tokens of each unit, with the space behind it."""
    if not run:
        return []
    return [size(start, end) for (start, _, _), (end, _, _) in itertools.pairwise(run)] + [
        run[-1][2]
    ]


def _costs(cosines: Floats, threshold: float) -> Floats:
    """Return what cutting each gap costs.

    It pays below the threshold, at a local minimum alone, lest one change be cut twice.
    """
    padded = np.concatenate([[np.inf], cosines, [np.inf]])
    is_minimum = reaches(padded[:-2], cosines) & reaches(padded[2:], cosines)
    above = np.maximum(cosines - threshold, 0)
    return make_summable(np.where(is_minimum, cosines - threshold, above), 1.0)
