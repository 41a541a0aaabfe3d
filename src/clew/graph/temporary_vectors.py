"""Many vectors in a temporary file, of which a process has few in memory at a time."""

from __future__ import annotations

import tempfile

import numpy as np

from clew.graph.columns import Vectors, in_blocks
from clew.graph.vector_column import AnyVectors, VectorColumn

BLOCK = 4096  # rows that are made at once, 12 MB of the embedded default


def in_temporary_file(vectors: AnyVectors) -> Vectors:
    """Return all rows as an array that is mapped from a file, which goes with the array.

    Where the file cannot be written, such as on a full disk, the array is in memory. An array stays
    as it is, and so does a column that looks at one.

    Args:
        vectors: float32 [n, d].

    Returns:
        float32 [n, d], read-only. Who reads many rows lets their pages go, see `release_pages`.

    Example:
        >>> from clew.graph import DenseSegment, VectorColumn
        >>> column = VectorColumn([DenseSegment(np.eye(2, dtype=np.float32))])
        >>> in_temporary_file(column).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    if isinstance(vectors, np.ndarray) or not len(vectors) or _is_array(vectors):
        return np.asarray(vectors)
    try:
        with tempfile.TemporaryFile(prefix="clew-vectors-") as file:
            for _, block in in_blocks(vectors, BLOCK):
                file.write(np.ascontiguousarray(block).data)
            file.flush()
            return np.memmap(file, np.float32, "r", shape=vectors.shape).view(np.ndarray)
    except OSError:
        return np.asarray(vectors)


def _is_array(column: VectorColumn) -> bool:
    """Return whether the rows are those of one array, and not made when they are asked for."""
    return len(column.segments) == 1 and not column[:1].flags.owndata
