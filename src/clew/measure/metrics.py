"""The metrics of one question: how many of the passages that answer it were found.

`ids` are passages, best first, or in any order where order does not matter. `gold` are the
passages that answer the question, at least one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from clew.context import Context


def recall(ids: Collection[str], gold: Collection[str]) -> float:
    """Return the share of the gold passages that are among `ids`, in [0, 1].

    Example:
        >>> recall(["a", "b", "c"], ["a", "d"])
        0.5
    """
    return len(set(gold) & set(ids)) / len(set(gold))


def all_gold(ids: Collection[str], gold: Collection[str]) -> float:
    """Return 1 if every gold passage is among `ids`, else 0.

    A question of several steps needs every one of them.

    Example:
        >>> all_gold(["a", "b", "c"], ["a", "c"])
        1.0
    """
    return float(set(gold) <= set(ids))


def reciprocal_rank(ids: Sequence[str], gold: Collection[str]) -> float:
    """Return 1 / rank of the first gold passage, counted from 1; 0 where there is none.

    Example:
        >>> reciprocal_rank(["b", "a", "c"], ["a"])
        0.5
    """
    gold_set = set(gold)
    return next((1 / rank for rank, id in enumerate(ids, 1) if id in gold_set), 0.0)


def first_that_fit(ids: Sequence[str], lengths: Mapping[str, int], budget: int) -> list[str]:
    """Return the passages from the best on until one does not fit into the budget.

    Args:
        ids: Passages, best first.
        lengths: The tokens of each passage. An id without an entry is no passage and is skipped.
        budget: The tokens allowed.

    Example:
        >>> first_that_fit(["a", "b", "c"], {"a": 3, "b": 4, "c": 1}, 6)
        ['a']
    """
    fitting: list[str] = []
    left = budget
    for id in ids:
        if id not in lengths:
            continue
        left -= lengths[id]
        if left < 0:
            break
        fitting.append(id)
    return fitting


def by_score(context: Context) -> list[str]:
    """Return the documents of a context's items, the highest score first, each once.

    A whole document is a passage. Equal scores stay in reading order. An item without a document
    (a fact, an entity) counts by its own id: it takes a place.

    Example:
        >>> from clew.items import Item
        >>> far = Item("a", "", 0.2, "seed", "passage", 1)
        >>> near = Item("b", "", 0.9, "seed", "passage", 1)
        >>> by_score(Context((far, near), "", 2, None, "Which?", "dense"))
        ['b', 'a']
    """
    ranked = sorted(context.items, key=lambda item: -item.score)
    ids = (item.id if item.document is None else item.document for item in ranked)
    return list(dict.fromkeys(ids))
