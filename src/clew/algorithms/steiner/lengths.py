"""Edge lengths by a query vector, each measured only when a search needs it.

    length(u, v) = (1 - cos(query, vector of the edge)) / 2,  at least 1e-6 and at most 1

AGRAG (arXiv 2511.05549), eq. 6. An edge with several vectors has the length of the nearest one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clew.algorithms.cosines import as_compared
from clew.deadline import current
from clew.graph import AnyVectors, Floats, Links, Ragged, Rows, Vectors

Scalar = TypeVar("Scalar", bound=np.generic)

BLOCK = 20_000  # slots that are measured between two looks at the deadline: some milliseconds


@dataclass(frozen=True, eq=False)
class LazyLengths:
    """Edge lengths by a query vector, measured by the search that needs them.

    Slots whose rows in `slot_rows` are empty have no vector of their own. Their length is
    `neutral`. With `row_vectors` it is (1 - weight * mean cosine of both ends with `row_query`) / 2
    instead, in the same range.

    Attributes:
        slot_rows: for each slot, rows of `vectors`; the same for both slots of an edge.
        vectors: float32 [f, d], the vectors of the edges, unit rows or zeros.
        query: [d], the query vector beside `vectors`.
        neutral: length of the slots without a vector, > 0; inf forbids them.
        row_vectors: float32 [n, e], unit rows or zeros, one per row of the graph; None to use
            `neutral`.
        weights: float32 [m], one per slot; required with `row_vectors`.
        row_query: [e], the query vector beside `row_vectors`; required with `row_vectors`.

    Example:
        >>> import numpy as np
        >>> from clew.graph import Ragged
        >>> lengths = LazyLengths(Ragged.of([[0], [0]]), np.eye(2, dtype=np.float32), [1.0, 0.0])
        >>> len(lengths)
        2
    """

    slot_rows: Ragged
    vectors: AnyVectors
    query: ArrayLike
    neutral: float = 0.5
    row_vectors: AnyVectors | None = None
    weights: Vectors | None = None
    row_query: ArrayLike | None = None

    def __post_init__(self) -> None:
        shape, query = np.shape(self.vectors), np.asarray(self.query, np.float64)
        if len(shape) != 2 or query.shape != shape[1:]:
            raise ValueError(
                f"vectors must be [f, d] and the query vector [d]; got {shape} and {query.shape}"
            )
        has_weights = self.weights is not None and self.weights.shape == (len(self.slot_rows),)
        if self.row_vectors is not None and not (
            has_weights
            and self.row_query is not None
            and np.shape(self.row_query) == self.row_vectors.shape[1:]
        ):
            raise ValueError(
                f"row vectors of shape {self.row_vectors.shape} need one weight per slot"
                " and a query vector of the same width"
            )
        if not np.isfinite(query).all() or not self.neutral > 0:
            raise ValueError(
                "the query vector must be finite and the neutral length > 0;"
                f" got {query} and {self.neutral}"
            )

    def __len__(self) -> int:
        return len(self.slot_rows)

    def measure_all(self, links: Links) -> Floats:
        """Return the lengths of all slots of the links, float64 [m]."""
        from clew.algorithms.steiner.kernels.lengths import all_lengths

        sources = read_only(links.sources, np.int64)
        targets = read_only(links.targets, np.int32)
        lengths, measured = edge_lengths(self, np.inf), np.empty(len(targets))
        for first in range(0, len(targets), BLOCK):
            current().check()
            block = slice(first, first + BLOCK)
            measured[block] = all_lengths(sources[block], targets[block], first, lengths)
        return measured


class EdgeVectors(NamedTuple):
    """What the kernels read to measure the slots that have vectors of their own.

    Attributes:
        starts: int64 [m + 1], where each slot's vectors begin in `rows`.
        rows: int32, rows of `vectors`.
        vectors: float32 [f, d].
        query: float32 [d], a unit vector.
        lengths: float64 [f], the lengths measured so far, 0 where not measured; the kernels write
            here.
    """

    starts: NDArray[np.int64]
    rows: Rows
    vectors: Vectors
    query: Vectors
    lengths: Floats


class EndVectors(NamedTuple):
    """What the kernels read to measure the slots without vectors of their own, from both ends.

    Attributes:
        vectors: float32 [n, e].
        weights: float32 [m].
        query: float32 [e], a unit vector; [0] where these slots have the neutral length.
        cosines: float64 [n], 2 + the cosines measured so far, 0 where not measured; the kernels
            write here.
    """

    vectors: Vectors
    weights: Vectors
    query: Vectors
    cosines: Floats


class EdgeLengths(NamedTuple):
    """What the kernels' `length_of` reads: fixed lengths, or what is needed to measure them.

    Attributes:
        fixed: float64 [m], the lengths of all slots; [0] where they are measured.
        max_edge: greatest length of an edge that may be used; finite.
        neutral: length of the slots that have nothing to measure.
        edges: the vectors of the slots.
        ends: the vectors of the slots' ends.
        leaders: float64, a table of `kernels.equal_scores`. Equal cosines become the same number,
            so paths of equal edges have the same length.
    """

    fixed: Floats
    max_edge: float
    neutral: float
    edges: EdgeVectors
    ends: EndVectors
    leaders: Floats


def edge_lengths(lengths: Floats | LazyLengths, max_edge: float) -> EdgeLengths:
    """Return the lengths as the kernels take them, with nothing measured yet."""
    from clew.algorithms.kernels.equal_scores import table_size

    if isinstance(lengths, LazyLengths):
        lazy, fixed = lengths, np.zeros(0)
    else:
        nothing = np.zeros((0, 0), np.float32)
        lazy, fixed = LazyLengths(Ragged.empty(0), nothing, np.zeros(0), 1.0), lengths
    of_edges, query = as_compared(lazy.vectors, _unit(lazy.query))
    edges = EdgeVectors(
        read_only(lazy.slot_rows.starts, np.int64),
        read_only(lazy.slot_rows.values, np.int32),
        read_only(of_edges, np.float32),
        query,
        np.zeros(len(lazy.vectors)),
    )
    if lazy.row_vectors is None or lazy.weights is None or lazy.row_query is None:
        vectors: Vectors = np.zeros((0, 0), np.float32)
        weights = query = np.zeros(0, np.float32)
    else:
        vectors, query = as_compared(lazy.row_vectors, _unit(lazy.row_query))
        weights = lazy.weights
    ends = EndVectors(
        read_only(vectors, np.float32),
        read_only(weights, np.float32),
        read_only(query, np.float32),
        np.zeros(len(vectors)),
    )
    return EdgeLengths(
        read_only(fixed, np.float64),
        min(float(max_edge), float(np.finfo(np.float64).max)),
        float(lazy.neutral),
        edges,
        ends,
        np.zeros(table_size(len(ends.cosines) + len(edges.lengths))),
    )


def read_only(values: ArrayLike, dtype: type[Scalar]) -> NDArray[Scalar]:
    """Return the kind of array that the kernels are compiled for.

    It is contiguous, aligned and read-only, and a copy only if it has to be.
    """
    array: NDArray[Scalar] = np.require(values, dtype, ["C", "A"]).view()
    array.flags.writeable = False
    return array


def _unit(query: ArrayLike) -> Vectors:
    vector = np.asarray(query, np.float64)
    return read_only(vector / max(float(np.linalg.norm(vector)), 1e-300), np.float32)
