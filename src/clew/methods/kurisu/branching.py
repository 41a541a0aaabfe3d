"""How fast the number of successors falls with depth, and how many tests of fusions that makes.

Kurisu-G2 (ICLR 2026 submission 18441), appendix C, supposes k(d) = k(0) exp(-beta d) successors at
depth d, of which a fusion by bisection tests log2 k(d). Here both models are fitted to the numbers
that descents met, and predict numbers of tests:

- C.1: one decay, with D' the last depth at which k(d) is at least 1,

      tests = (D' + 1) log2 k(0) - beta / (2 ln 2) D' (D' + 1);

- C.2: each part of the corpus i has a decay beta_i of its own, and starts with a number of relevant
  successors that is normally distributed, at least 1, so that log2 k(0) becomes its expectation.

The paper multiplies both by the cube of the nodes, the cost of a test on the whole graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clew.graph import Floats

QUADRATURE_POINTS = 400  # of the expectation of a logarithm
FARTHEST = 8.0  # deviations from the mean, beyond which a normal distribution is taken as 0


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


def expected_tests(start: float, decay: float, max_depth: int) -> float:
    """Return the tests of fusions on one path down to `max_depth`: appendix C.1.

    Args:
        start: k(0), the successors at depth 0.
        decay: beta; the closed form of the paper supposes that it is >= 0. A path that widens has
            as many successors at every depth as at the first.
        max_depth: D, >= 0.

    Example:
        >>> expected_tests(8, np.log(2), 10)  # 3 tests among 8, 2 among 4, 1 among 2, 0 among 1
        6.0
    """
    return _tests(float(np.log2(max(1.0, start))), decay, max_depth)


@dataclass(frozen=True)
class ClusterBranching:
    """How a part of the corpus branches: appendix C.2.

    Attributes:
        mean: of the number of relevant successors at its first depth.
        deviation: the standard deviation of that number.
        decay: beta_i.
        max_depth: D_i.
    """

    mean: float
    deviation: float
    decay: float
    max_depth: int

    @classmethod
    def fit(cls, counts_of_paths: Sequence[Sequence[float]]) -> ClusterBranching:
        """Return the branching that paths through one part of the corpus met.

        Args:
            counts_of_paths: for each path its numbers of relevant successors, by depth.

        Example:
            >>> fitted = ClusterBranching.fit([[8, 4, 2], [4, 2, 1]])
            >>> fitted.mean, fitted.deviation, round(fitted.decay, 6), fitted.max_depth
            (6.0, 2.0, 0.693147, 2)
        """
        starts = np.array([counts[0] for counts in counts_of_paths], np.float64)
        longest = max(len(counts) for counts in counts_of_paths)
        means = [
            float(np.mean([counts[depth] for counts in counts_of_paths if depth < len(counts)]))
            for depth in range(longest)
        ]
        decay = fit_decay(means)[1]
        return cls(float(starts.mean()), float(starts.std()), decay, longest - 1)

    def expected_tests(self) -> float:
        """Return the expected number of tests on a path through this part."""
        return _tests(_mean_log2(self.mean, self.deviation), self.decay, self.max_depth)


def expected_tests_of_clusters(clusters: Sequence[ClusterBranching]) -> float:
    """Return the expected number of tests, summed over the parts of a corpus: appendix C.2."""
    return float(sum(cluster.expected_tests() for cluster in clusters))


def _tests(log_start: float, decay: float, max_depth: int) -> float:
    """Return the sum over depths of log2 k(d), as long as that is at least 0."""
    decay = max(0.0, decay)
    if decay * max_depth > log_start * np.log(2):
        max_depth = int(log_start * np.log(2) / decay + 1e-9)
    lost = decay / (2 * np.log(2)) * max_depth * (max_depth + 1)
    return float((max_depth + 1) * log_start - lost)


def _mean_log2(mean: float, deviation: float) -> float:
    """Return the mean of log2 max(1, k) for a normally distributed k."""
    if deviation <= 0:
        return float(np.log2(max(1.0, mean)))
    points = np.linspace(-FARTHEST, FARTHEST, QUADRATURE_POINTS)
    densities: Floats = np.exp(-(points**2) / 2)
    logarithms = np.log2(np.maximum(1.0, mean + deviation * points))
    return float((densities * logarithms).sum() / densities.sum())
