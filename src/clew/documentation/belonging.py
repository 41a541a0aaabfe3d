"""What of a context belongs to a section: its questions' branches, and what is about as near.

A context is filled up to its budget: in a small or a mixed corpus, with passages that have nothing
to do with the question. A section takes from it its own branches, and of other branches what is at
least half as near to its question as the nearest passage of its own.

The branch that gives the section its title comes first, as far as there is room. Any other branch
comes whole or not at all, so that none is read in fragments; only of a branch that no section could
hold, a part is read (the window of siblings of Kurisu-G2, Algorithm 8).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from clew.algorithms.ranking import reaches
from clew.context import Context
from clew.documentation.branches import Branch, short_title
from clew.graph import Floats, Graph, heading_of
from clew.items import Item

# A passage of another branch belongs to a section if its cosine is at least this share of the
# nearest own passage's.
NEAR_SHARE = 0.5
NO_BRANCH = -1  # the number of what stands in no branch


def select_for_section(
    context: Context,
    graph: Graph,
    branches: Sequence[Branch],
    branch_of: Mapping[str, int],
    about: Sequence[int],
    question: Floats,
    read_before: Collection[str] = (),
) -> Context:
    """Return the context with what belongs to a section, within its budget.

    Args:
        context: the answer to the section's question.
        graph: the graph.
        branches: all branches.
        branch_of: the number of the branch in which each passage stands, by id.
        about: the branches of the section's questions, the one that gives the title first.
        question: the vector of the section's question, float64 [d].
        read_before: ids of passages that earlier sections with the same title have read. A
            branch that is
            too long for one section goes on in the next.
    """
    near = _near_items(context, graph, branch_of, about, question)
    room = np.inf if context.budget is None else context.budget
    chosen = dict[str, Item]()
    for number in dict.fromkeys((about[0], *(branch_of.get(id, NO_BRANCH) for id in near))):
        items = _items_of_branch(graph, branches, branch_of, near, number)
        sizes = {item.id: graph.count(f"[10] {item.heading}\n{item.text}\n\n") for item in items}
        whole = sum(sizes.values())
        if number not in (about[0], NO_BRANCH) and room < whole:
            fits_no_section = whole > (context.budget or 0)
            items = [item for item in items if item.id in near] if fits_no_section else []
        for item in items:
            is_read = number == about[0] and item.id in read_before
            if not is_read and sizes[item.id] <= room:
                chosen[item.id] = item
                room -= sizes[item.id]
    return replace(context, items=tuple(chosen.values()))


def _near_items(
    context: Context,
    graph: Graph,
    branch_of: Mapping[str, int],
    about: Sequence[int],
    question: Floats,
) -> dict[str, Item]:
    """Return the items of the section's branches, and other items about as near, by id."""
    rows = {id: row for row, id in enumerate(graph.ids)}
    cosines = {
        item.id: float(graph.vectors[rows[item.id]].astype(np.float64) @ question)
        for item in context
        if item.id in branch_of
    }
    own = [cosine for id, cosine in cosines.items() if branch_of[id] in about]
    threshold = max(NEAR_SHARE * max(own or cosines.values(), default=0.0), 1e-9)
    return {
        item.id: item
        for item in context
        if branch_of.get(item.id) in about
        or (item.score > 0 and reaches(cosines.get(item.id, 1.0), threshold))
    }


def _items_of_branch(
    graph: Graph,
    branches: Sequence[Branch],
    branch_of: Mapping[str, int],
    near: Mapping[str, Item],
    number: int,
) -> list[Item]:
    """Return all passages of a branch, then the other near items in it, with short headings."""
    passages = [
        near.get(graph.ids[row]) or _item(graph, row)
        for row in (branches[number].rows if number != NO_BRANCH else ())
    ]
    ids = {item.id for item in passages}
    others = [
        item
        for id, item in near.items()
        if branch_of.get(id, NO_BRANCH) == number and item.id not in ids
    ]
    return [
        replace(item, heading=" > ".join(map(short_title, item.heading.split(" > "))))
        for item in (*passages, *others)
    ]


def _item(graph: Graph, row: int) -> Item:
    """Return a passage that the context does not have, as an item without a score."""
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
