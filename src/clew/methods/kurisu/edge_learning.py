"""How the strengths of a node's edges change with a question: similar heads gain, far ones lose.

Kurisu-G2 (ICLR 2026 submission 18441), appendix B.3. With z the standardised similarities s of the
heads with the question, R the reward and gamma the share of penalties,

    gain_e = (1 - gamma) R softmax(max(0, z + margin) / T+)_e       over all edges
    loss_e =      -gamma R softmax(-z / T-)_e                       over the edges with z < -delta

The paper claims that the losses always sum to -gamma R. They do so only where an edge lies more
than delta below the mean; otherwise they sum to 0. With its default of gamma below 1/2, strengths
creep to 1 with use; with gamma = 1/2 gains and losses cancel.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from clew.algorithms.ranking import exceeds
from clew.graph import Floats

# How strongly an edge of weight 1 exists before anything is learnt: gains and losses have the same
# room.
BUILT_STRENGTH = 0.5
LEARNED = "learned"  # the kind of the edges that hold what was learnt


class RewardShape(NamedTuple):
    """How a reward is shared among edges.

    Attributes:
        margin: edges so many deviations below the mean still count as above it.
        z_cut: delta; edges more deviations below the mean than this lose.
        temp_pos: T+, > 0; the higher it is, the more evenly gains are shared.
        temp_neg: T-, > 0; the same for losses.
        sigma_min: the smallest deviation that similarities are divided by.
    """

    margin: float = 0.25
    z_cut: float = 1.0
    temp_pos: float = 1.0
    temp_neg: float = 1.0
    sigma_min: float = 0.05


DEFAULT_SHAPE = RewardShape()
# A change of strength below this is none: strengths are kept as float32. Only the gains of nodes
# with tens of thousands of children are so small.
MIN_CHANGE = 1e-7


def strength_changes(
    similarities: ArrayLike,
    *,
    reward: float = 0.1,
    penalty_share: float = 0.5,
    shape: RewardShape = DEFAULT_SHAPE,
) -> Floats:
    """Return the change of each edge's strength, float64 [m].

    The gains sum to `(1 - penalty_share) * reward`, the losses to `penalty_share * reward` or 0.

    Args:
        similarities: of the edges' heads with the question, [m], from 0 to 1.
        reward: R, what all edges together may gain and lose.
        penalty_share: gamma, the share of the reward that the losses have.
        shape: how the reward is shared.

    Example:
        >>> strength_changes([0.9, 0.8, 0.0], reward=0.1).round(4).tolist()
        [0.0236, 0.0184, -0.042]
    """
    s = np.asarray(similarities, np.float64)
    if not len(s):
        return s
    z = (s - s.mean()) / max(float(s.std()), shape.sigma_min)
    above = np.maximum(0, z + shape.margin)
    changes = (1 - penalty_share) * reward * _softmax(above / shape.temp_pos)
    low = exceeds(-z, shape.z_cut, shape.z_cut)
    if low.any():
        changes[low] -= penalty_share * reward * _softmax(-z[low] / shape.temp_neg)
    return changes


def _softmax(values: Floats) -> Floats:
    powers = np.exp(values - values.max())
    shares: Floats = powers / powers.sum()
    return shares
