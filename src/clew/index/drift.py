"""What an index that was changed in place still has from when it was last built whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clew.graph import DeferredEdges
from clew.index.contents import IndexContents
from clew.items import Step
from clew.link import Alike, Similar

KEPT, CHANGED, SHARE = "as of the last compact", "passages changed since", "share"
WEIGHTS, NAMES = "weights of words in vectors", "names in passages that were there"
NEAR = "weights of words in edges between similar passages"


def drift_step(index: IndexContents) -> Step | None:
    """Return the step of a trace that says what is as it was; None where all is as of now.

    Frequencies of words and nearest passages follow every change, and so do the weights of words in
    the vectors of the embedded default. They are kept where these vectors are no bags of words, as
    an earlier version saved them, or have an approximate index (`nearest`), and so they are
    everywhere in the cosines by which passages are linked, once something has asked for such edges.
    In none a passage is read again for names. All is renewed by `Index.compact`, and by the change
    with which a tenth of the passages has come or gone.

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
    if follows and _has_edges_by_cosine(index):
        kept.append(NEAR)
    if not kept:
        return None
    return step_of(kept, index.changed, len(index.graph.rows("passage")))


def _has_edges_by_cosine(index: IndexContents) -> bool:
    """Whether there are edges that clew's own links made by the vectors of passages."""
    kinds = {link.kind for link in index.links if isinstance(link, Similar | Alike)}
    edges = index.graph.edges
    if isinstance(edges, DeferredEdges):
        kinds -= edges.waiting.keys()
    return not kinds.isdisjoint(edges.kind_names)


def joined_drift(steps: Sequence[Step | None], passages: int) -> Step | None:
    """Return what several indexes that are asked as one still have from when they were built.

    Args:
        steps: That of each index.
        passages: How many passages they have together.
    """
    found = [one.notes for one in steps if one is not None]
    kept = dict.fromkeys(one for notes in found for one in notes[KEPT])
    return step_of(list(kept), sum(notes[CHANGED] for notes in found), passages) if found else None


def drift_record(step: Step | None) -> Mapping[str, Any]:
    """Return what a step says, to be written down; see `drift_of_record`."""
    return {} if step is None else step.notes


def drift_of_record(record: Mapping[str, Any]) -> Step | None:
    """Return the step that `drift_record` wrote down; None for none."""
    return Step("index", 0.0, record) if record else None


def step_of(kept: list[str], changed: int, passages: int) -> Step:
    """Return the step that says what is as it was.

    Args:
        kept: What is so.
        changed: How many passages were changed since.
        passages: How many there are.
    """
    share = round(changed / max(1, passages), 4)
    return Step("index", 0.0, {KEPT: kept, CHANGED: changed, SHARE: share})
