"""How fast the number of successors falls with depth: k(d) = k(0) exp(-beta d).

Kurisu-G2 (ICLR 2026 submission 18441), appendix C.1, supposes this form for its complexity; here it
is fitted to the numbers that a descent met.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def fit_decay(counts_by_depth: Sequence[float]) -> tuple[float, float]:
    """Return k(0) and the decay beta, fitted by least squares of the logarithms.

    Args:
        counts_by_depth: the number of successors at depth 0, 1, 2, ... Depths without successors
            are left out; fewer than two depths have a decay of 0.

    Example:
        >>> start, beta = fit_decay([8, 4, 2])
        >>> round(start, 6), round(beta, 6)
        (8.0, 0.693147)
    """
    counts = np.asarray(counts_by_depth, np.float64)
    depths = np.flatnonzero(counts > 0)
    if len(depths) < 2:
        return float(counts[depths].max(initial=0)), 0.0
    logarithms, centred = np.log(counts[depths]), depths - depths.mean()
    slope = float(centred @ logarithms) / float(centred @ centred)
    return float(np.exp(logarithms.mean() - slope * depths.mean())), -slope
