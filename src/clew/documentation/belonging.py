"""What of a context belongs to a section: what its questions are on, and what is about as near to them.

A context is filled up to its budget, in a small or a mixed corpus with what has nothing to do with the question. A section takes of it its
own branches, and of others what is at least half as near to its question as the nearest of its own. What it is titled after comes first, as
far as there is room; of others all or nothing, so that none is told in fragments, but for those that no section could hold (the window of
siblings of Kurisu-G2, algorithm 8).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from clew.algorithms.ranking import reaches
from clew.context import Context, Item
from clew.documentation.branches import Branch, short
from clew.graph import Floats, Graph, heading_of

SHARE = 0.5  # of the nearest own passage's cosine, from which a passage of another branch belongs to a section


def belonging(
    context: Context,
    graph: Graph,
    found: Sequence[Branch],
    of: Mapping[str, int],
    about: Sequence[int],
    question: Floats,
    told: Collection[str] = (),
) -> Context:
    """Return the context with what belongs to a section, within its budget.

    Args:
        found: all branches. of: the number of that in which each passage stands, by id. about: those that the section's questions are on,
            that of the question asked first: its passages are taken before all others. question: the vector of that.
        told: passages, by id, that sections titled after the same branch tell: one that is too long for one section goes on in the next.
    """
    rows = {id: row for row, id in enumerate(graph.ids)}
    near = {
        item.id: float(graph.vectors[rows[item.id]].astype(np.float64) @ question)
        for item in context
        if item.id in of
    }
    own = [near[id] for id in near if of[id] in about]
    least = max(SHARE * max(own or near.values(), default=0.0), 1e-9)
    scored = {
        item.id: item
        for item in context
        if of.get(item.id) in about or (item.score > 0 and reaches(near.get(item.id, 1.0), least))
    }
    left = np.inf if context.budget is None else context.budget
    taken = dict[str, Item]()
    for number in dict.fromkeys((about[0], *(of.get(id, -1) for id in scored))):
        here = (
            [scored.get(graph.ids[row]) or _item(graph, row) for row in found[number].rows]
            if number >= 0
            else []
        )
        inside = [
            item
            for id, item in scored.items()
            if of.get(id, -1) == number and item.id not in {one.id for one in here}
        ]
        here = [
            replace(item, heading=" > ".join(map(short, item.heading.split(" > "))))
            for item in (*here, *inside)
        ]
        sizes = {item.id: graph.count(f"[10] {item.heading}\n{item.text}\n\n") for item in here}
        if number not in (about[0], -1) and left < (whole := sum(sizes.values())):
            here = (
                [item for item in here if item.id in scored]
                if whole > (context.budget or 0)
                else []
            )
        for item in here:
            if not (number == about[0] and item.id in told) and sizes[item.id] <= left:
                taken[item.id] = item
                left -= sizes[item.id]
    return replace(context, items=tuple(taken.values()))


def _item(graph: Graph, row: int) -> Item:
    owner, (start, end) = int(graph.documents[row]), graph.spans[row].tolist()
    return Item(
        graph.ids[row],
        graph.texts[row],
        0.0,
        "fill",
        graph.kinds[row],
        int(graph.tokens[row]),
        document=graph.ids[owner] if owner >= 0 else None,
        heading=heading_of(graph, row),
        span=(start, end) if owner >= 0 else None,
        metadata=graph.metadata[row],
    )
