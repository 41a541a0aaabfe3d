"""How the edges to a node's successors change with a question: the likely ones gain a little, the plainly unlikely ones lose.

Kurisu-G2 (ICLR 2026 submission 18441), appendix B.3: of a reward shared out over all edges by a softmax of their standardised
similarities, and a penalty over those far below the mean. Its claim that the penalties always sum to -penalty_share * reward holds only
where an edge is that far below; the part that no edge takes is not given out. Its default share of less than a half makes weights creep
to 1 with use; a half lets gains and losses cancel.
"""

from __future__ import annotations

import numpy as np

from clew.graph import Floats

BUILT_STRENGTH = 0.5  # how strongly an edge of weight 1 exists before anything is learnt: gains and losses have the same room


def strength_changes(
    similarities: Floats,
    *,
    reward: float = 0.1,
    penalty_share: float = 0.5,
    margin: float = 0.25,
    z_cut: float = 1.0,
    temp_pos: float = 1.0,
    temp_neg: float = 1.0,
    sigma_min: float = 0.05,
) -> Floats:
    """Return the change of each edge's strength, float64 [m]; gains sum to (1 - penalty_share) * reward, losses to the rest or to 0.

    Args:
        similarities: of the edges' heads with the question, in [0, 1]. margin: edges so many deviations below the mean count as above.
        z_cut: edges more deviations below than this lose. temp_pos, temp_neg: > 0; high shares evenly. sigma_min: least deviation.
    """
    s = np.asarray(similarities, np.float64)
    if not len(s):
        return s
    z = (s - s.mean()) / max(float(s.std()), sigma_min)
    found = (1 - penalty_share) * reward * _softmax(np.maximum(0, z + margin) / temp_pos)
    low = z < -z_cut
    if low.any():
        found[low] -= penalty_share * reward * _softmax(-z[low] / temp_neg)
    return found


def _softmax(values: Floats) -> Floats:
    powers = np.exp(values - values.max())
    shares: Floats = powers / powers.sum()
    return shares
