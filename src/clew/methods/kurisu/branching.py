"""How fast a descent narrows: the decay of the number of successors with depth, k(d) = k(0) exp(-decay d).

Kurisu-G2 (ICLR 2026 submission 18441), appendix C.1, supposes this form; here it is fitted to what a descent met.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def decay(successors: Sequence[float]) -> tuple[float, float]:
    """Return k(0) and the decay that fit these numbers of successors, by depth, best: least squares of the logarithms.

    Depths without successors are left out; with fewer than two depths the decay is 0.
    """
    counts = np.asarray(successors, np.float64)
    depths = np.flatnonzero(counts > 0)
    if len(depths) < 2:
        return float(counts[depths].max(initial=0)), 0.0
    logs, off = np.log(counts[depths]), depths - depths.mean()
    slope = float(off @ logs) / float(off @ off)
    return float(np.exp(logs.mean() - slope * depths.mean())), -slope
