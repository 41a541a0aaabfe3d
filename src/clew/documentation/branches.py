"""The branches of a document hierarchy: every container that holds passages of its own, with the titles that lead to it."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from clew.graph import Floats, Graph
from clew.graph.headings import titles_of

_DEFINITION = re.compile(r"(?:async\s+)?def\s+(\w+)\s*\(.*|(class\s+\w+)\b.*", re.DOTALL)


@dataclass(frozen=True)
class Branch:
    """The end of a path from a document down to where text stands: `titles` lead to it, outermost first, `rows` are its passages.

    `node` is the row of its container, or of the passage itself where that stands alone.
    """

    node: int
    titles: tuple[str, ...]
    rows: tuple[int, ...]


def branches(graph: Graph) -> tuple[Branch, ...]:
    """Return the branches in the order of the documents; a passage without a container is one by itself."""
    inside: dict[int, list[int]] = {}
    passages = np.flatnonzero(graph.content & ~graph.kinds.mask("sentence"))
    for row in passages.tolist():
        above = int(graph.parents[row])
        inside.setdefault(above if above >= 0 else row, []).append(row)
    found = []
    for node, rows in inside.items():
        titles = titles_of(graph, rows[0])
        alone = str(graph.metadata[node].get("title") or "").strip() or graph.ids[node]
        found.append(Branch(node, tuple(titles) or (alone,), tuple(rows)))
    return tuple(sorted(found, key=lambda branch: branch.rows[0]))


def pages_of(graph: Graph, found: tuple[Branch, ...]) -> tuple[str, ...]:
    """Return what the document of each branch is called: by its title, and by its id too where others have the same title."""
    tops = []
    for branch in found:
        top = branch.node
        while graph.parents[top] >= 0:
            top = int(graph.parents[top])
        tops.append(top)
    titles = [" ".join(branch.titles[0].split()) for branch in found]
    bearers: dict[str, set[int]] = {}
    for title, top in zip(titles, tops, strict=True):
        bearers.setdefault(title, set()).add(top)
    alike = {title for title, who in bearers.items() if len(who) > 1}
    return tuple(
        f"{title} ({graph.ids[top]})" if title in alike and title != graph.ids[top] else title
        for title, top in zip(titles, tops, strict=True)
    )


def numbered(graph: Graph, found: tuple[Branch, ...]) -> dict[str, int]:
    """Return the number of the branch in which each passage and each sentence stands, by id."""
    number = {row: at for at, branch in enumerate(found) for row in branch.rows}
    for row in graph.rows("sentence").tolist():
        above = int(graph.parents[row])
        if above in number:
            number[row] = number[above]
    return {graph.ids[row]: at for row, at in number.items()}


def text_of(graph: Graph, branch: Branch) -> str:
    """Return what stands in a branch, in order."""
    return "\n\n".join(graph.texts[row] for row in branch.rows)


def centres(graph: Graph, found: tuple[Branch, ...]) -> Floats:
    """Return the mean direction of each branch's passages: float64 [branches, d], unit rows, or zeros."""
    sums = np.stack(
        [graph.vectors[list(branch.rows)].astype(np.float64).sum(axis=0) for branch in found]
    )
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    centred: Floats = np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0)
    return centred


def short(title: str) -> str:
    """Return a title as it is spoken of: a Python definition by its name, without its parameters; any other as it is."""
    found = _DEFINITION.fullmatch(title.strip())
    return " ".join(title.split()) if found is None else found[2] or f"{found[1]}()"
