"""How much of what answers a question was found, for one question.

`ids` are passages, best first or in any order where order does not matter; `gold` are those that answer, at least one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from clew.context import Context


def recall(ids: Collection[str], gold: Collection[str]) -> float:
    """Return the share of the gold passages that are among `ids`, in [0, 1]."""
    return len(set(gold) & set(ids)) / len(set(gold))


def everything(ids: Collection[str], gold: Collection[str]) -> float:
    """Return 1 if every gold passage is among `ids`, else 0: what a question of several steps needs."""
    return float(set(gold) <= set(ids))


def reciprocal_rank(ids: Sequence[str], gold: Collection[str]) -> float:
    """Return 1 / rank of the first gold passage, counted from 1; 0 where there is none."""
    wanted = set(gold)
    return next((1 / rank for rank, id in enumerate(ids, 1) if id in wanted), 0.0)


def first_that_fit(ids: Sequence[str], lengths: Mapping[str, int], budget: int) -> list[str]:
    """Return the passages from the best on until one does not fit in `budget`; what has no length is no passage and is passed over."""
    taken: list[str] = []
    left = budget
    for id in ids:
        if id not in lengths:
            continue
        left -= lengths[id]
        if left < 0:
            break
        taken.append(id)
    return taken


def by_score(context: Context) -> list[str]:
    """Return the documents (whole ones: passages) behind the items of a context, the highest score first, each once.

    Equal scores stay in reading order. An item of no document (a fact, an entity) counts under its own id: it takes a place.
    """
    ranked = sorted(context.items, key=lambda item: -item.score)
    return list(
        dict.fromkeys(item.id if item.document is None else item.document for item in ranked)
    )
