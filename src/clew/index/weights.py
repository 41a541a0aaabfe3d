"""An index whose vectors follow the weights of its words, and as it was when it was built whole.

It is asked as the first, and changed and saved as the second.
"""

from __future__ import annotations

from typing import TypeVar

from clew.index.contents import IndexContents

Contents = TypeVar("Contents", bound=IndexContents)


def with_weights_of_now(index: Contents) -> Contents:
    """Return an index whose vectors follow the weights of its words, where they can.

    Args:
        index: The index, whose vectors are weighted as when it was built whole.
    """
    if not index.fitted or not index.changed or index.config.nearest is not None:
        return index
    from clew.embedding.reweighted import reweighted  # it loads what counts words

    fitted = index.fitted_embedder and index.fitted_embedder.fitted
    known = not index.embedded_as
    return index.replaced(graph=reweighted(index.graph, fitted, known=known))


def with_weights_as_built(index: Contents) -> Contents:
    """Return an index with vectors as they were when it was built whole, for a change of it."""
    if not index.fitted or not index.changed:
        return index
    from clew.embedding.reweighted import as_built

    graph = as_built(index.graph)
    return index if graph is index.graph else index.replaced(graph=graph)
