"""Fused Gromov-Wasserstein distances between small graphs, and their bounds.

Titouan, Courty, Tavenard, Laetitia and Flamary, ICML 2019; bounds after Memoli, 2011.
`Neighbourhood` is the small graph of Kurisu-G2 whose changes are tested.
"""

from clew.algorithms.transport.fused_gromov_wasserstein import (
    TransportVerdict,
    conditional_gradient,
    decide,
    fgw_distance,
    identity_bound,
)
from clew.algorithms.transport.neighbourhood import Neighbourhood

__all__ = [
    "Neighbourhood",
    "TransportVerdict",
    "conditional_gradient",
    "decide",
    "fgw_distance",
    "identity_bound",
]
