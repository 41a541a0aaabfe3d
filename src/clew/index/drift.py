"""What an index that was changed in place still has from when it was last built whole."""

from __future__ import annotations

from clew.index.contents import IndexContents
from clew.items import Step

WEIGHTS, NAMES = "weights of words in vectors", "names in passages that were there"


def drift_step(index: IndexContents) -> Step | None:
    """Return the step of a trace that says what is as it was; None where all is as of now.

    Frequencies of words and nearest passages follow every change, and so do the weights of words in
    the vectors of the embedded default in an index of at least 1,000 nodes. In a smaller one they
    are kept, and in none a passage is read again for names. Both are renewed by `Index.compact`,
    and by the change with which a tenth of the passages has come or gone.

    Its notes are "as of the last compact", the list of what is so, "passages changed since", and
    "share", that number by the passages that there are.

    Example:
        >>> from clew import Index
        >>> drift_step(Index.from_documents(["The sea."])) is None
        True
    """
    if not index.changed:
        return None
    from clew.embedding.reweighted import embedder_now  # it loads what counts words

    read_by_all = index.knowledge is not None and len(index.graph.facts) > 0
    follows = embedder_now(index.graph) is not None
    kept = [WEIGHTS] * (index.fitted and not follows) + [NAMES] * read_by_all
    if not kept:
        return None
    share = index.changed / max(1, len(index.graph.rows("passage")))
    notes = {
        "as of the last compact": kept,
        "passages changed since": index.changed,
        "share": round(share, 4),
    }
    return Step("index", 0.0, notes)
