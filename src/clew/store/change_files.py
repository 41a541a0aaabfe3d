"""What changed since the generation before, as the bytes of one file.

A change has long columns that hold little: the language of every node, of which hardly one is new,
or the passages of a common name, of which one came. So those are compressed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.store.compression import compressed, expanded
from clew.store.packing import pack, unpack
from clew.store.tables import Arrays
from clew.store.vector_bags import MAPPED

MIN_BYTES = 2_048
"""The size from which a column is compressed: most are shorter, and each takes some microseconds.
"""


class PackedChange(NamedTuple):
    """The bytes of a change.

    Attributes:
        data: uint8 [bytes].
        is_compressed: Whether columns are, which an earlier clew cannot read.
    """

    data: NDArray[np.uint8]
    is_compressed: bool

    @property
    def bytes(self) -> int:
        """How many there are."""
        return self.data.nbytes


def pack_change(arrays: Arrays) -> PackedChange:
    """Return a change as `clew.store.difference` returned it, as bytes.

    Example:
        >>> packed = pack_change({"words.language_of_node": np.zeros(100_000, np.uint8)})
        >>> packed.bytes < 500, len(unpack_change(packed.data)["words.language_of_node"])
        (True, 100000)
    """
    smaller: dict[str, NDArray[Any]] = {}
    for name, array in arrays.items():
        if name not in MAPPED and array.nbytes >= MIN_BYTES:
            smaller |= compressed({name: array}, ())
        else:
            smaller[name] = array
    return PackedChange(pack(smaller), smaller.keys() != arrays.keys())


def unpack_change(data: NDArray[np.uint8]) -> Arrays:
    """Return the columns of a change, also of one that an earlier clew packed.

    Raises:
        ValueError, TypeError, KeyError: It is not what `pack_change` returned.
    """
    return expanded(unpack(data))
