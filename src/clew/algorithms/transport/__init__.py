"""Fused Gromov-Wasserstein distances between small graphs, and their bounds.

Titouan, Courty, Tavenard, Laetitia and Flamary, ICML 2019; bounds after Memoli, 2011.
`Neighbourhood` is the small graph of Kurisu-G2 whose changes are tested.
"""

from typing import TYPE_CHECKING

from clew.on_demand import load_on_demand

if TYPE_CHECKING:
    from clew.algorithms.transport.fused_gromov_wasserstein import (
        TransportVerdict,
        conditional_gradient,
        decide,
        fgw_distance,
        identity_bound,
    )
    from clew.algorithms.transport.neighbourhood import Neighbourhood
else:
    __getattr__, __dir__ = load_on_demand(
        __name__,
        {
            "fused_gromov_wasserstein": (
                "TransportVerdict conditional_gradient decide fgw_distance identity_bound"
            ),
            "neighbourhood": "Neighbourhood",
        },
    )

__all__ = [
    "Neighbourhood",
    "TransportVerdict",
    "conditional_gradient",
    "decide",
    "fgw_distance",
    "identity_bound",
]
