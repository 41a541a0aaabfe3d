"""The heading of a node: the titles of the containers around it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from clew.graph.core import CONNECTORS, GraphColumns
from clew.text.metadata_text import text_under


def titles_of(graph: GraphColumns, node: int) -> list[str]:
    """Return the titles of the containers around a node, outermost first.

    Equal titles come once, empty ones not at all. A passage around a sentence is not a title.

    Example:
        >>> from clew.graph import Graph
        >>> graph = Graph.of(["Moon", "It is dry."], kinds=["document", "passage"], parents=[-1, 0])
        >>> titles_of(graph, 1)
        ['Moon']
    """
    titles: list[str] = []
    parents, kinds, texts = graph.parents, graph.kinds, graph.texts
    above = parents.item(node)
    while above >= 0:
        if kinds[above] in CONNECTORS:
            titles.append(" ".join(texts[above].split()))
        above = parents.item(above)
    return [title for title in dict.fromkeys(reversed(titles)) if title]


def titles_of_all(graph: GraphColumns, nodes: Sequence[int]) -> list[list[str]]:
    """Return what `titles_of` returns for each of several nodes, with every container read once.

    Example:
        >>> from clew.graph import Graph
        >>> graph = Graph.of(["Moon", "Dry.", "Far."], kinds="section", parents=[-1, 0, 0])
        >>> titles_of_all(graph, [1, 2])
        [['Moon'], ['Moon']]
    """
    if not len(nodes) or (graph.parents[np.asarray(nodes, np.int64)] < 0).all():
        return [[] for _ in nodes]  # as of another retriever's candidates
    parents = graph.parents.tolist()
    is_connector = graph.kinds.mask(*CONNECTORS).tolist()
    inside: dict[int, list[str]] = {-1: []}  # the titles of what stands directly in a container
    collected = list[list[str]]()
    for node in nodes:
        titles = inside.get(parents[node])
        if titles is None:
            above, path = parents[node], list[int]()
            while above not in inside:
                path.append(above)
                above = parents[above]
            titles = inside[above]
            for container in reversed(path):
                title = " ".join(graph.texts[container].split()) if is_connector[container] else ""
                titles = [*titles, title] if title and title not in titles else titles
                inside[container] = titles
        collected.append(titles)
    return collected


def heading_of(graph: GraphColumns, node: int) -> str:
    """Return the heading that a node is rendered under.

    That is its containers' titles; for a node without containers, the `title` in its metadata.

    Example:
        >>> from clew.graph import Graph
        >>> graph = Graph.of(["Moon", "Seas", "Dry."], kinds="section", parents=[-1, 0, 1])
        >>> heading_of(graph, 2)
        'Moon > Seas'
    """
    own_title = " ".join(text_under(graph.metadata[node], "title").split())
    return " > ".join(titles_of(graph, node) or ([own_title] if own_title else []))


def text_with_heading(graph: GraphColumns, node: int) -> str:
    r"""Return the text by which a node is searched, in its canonical form.

    That is its own text under its containers' titles. A passage seldom repeats the subject that
    its heading names.

    Example:
        >>> from clew.graph import Graph
        >>> graph = Graph.of(["Moon", "It is dry."], kinds=["document", "passage"], parents=[-1, 0])
        >>> text_with_heading(graph, 1)
        'Moon\nIt is dry.'
    """
    return _under(graph, titles_of(graph, node), graph.texts[node])


def texts_with_headings(
    graph: GraphColumns, nodes: Sequence[int], all_titles: Sequence[Sequence[str]] | None = None
) -> list[str]:
    r"""Return what `text_with_heading` returns for each of several nodes.

    Args:
        graph: The graph.
        nodes: The nodes.
        all_titles: What `titles_of_all` returns of them; None where that is not known yet.

    Example:
        >>> from clew.graph import Graph
        >>> graph = Graph.of(["Moon", "It is dry."], kinds=["document", "passage"], parents=[-1, 0])
        >>> texts_with_headings(graph, [0, 1])
        ['Moon', 'Moon\nIt is dry.']
    """
    all_titles = titles_of_all(graph, nodes) if all_titles is None else all_titles
    texts = texts_at(graph.texts, nodes)
    if graph.canonical is None:
        if not any(all_titles):
            return list(texts)  # most are names, which stand below nothing
        starts: dict[int, str] = {}  # of what stands in one container, which share their titles
        for titles in all_titles:
            if id(titles) not in starts:
                starts[id(titles)] = f"{' > '.join(titles)}\n" if titles else ""
        return [
            f"{starts[id(titles)]}{text}" for titles, text in zip(all_titles, texts, strict=True)
        ]
    return [_under(graph, titles, text) for titles, text in zip(all_titles, texts, strict=True)]


def texts_at(texts: Sequence[str], rows: Sequence[int]) -> Sequence[str]:
    """Return some texts of a column; stored ones are made together, in a fraction of the time.

    Args:
        texts: The column.
        rows: The rows of the texts.

    Example:
        >>> texts_at(("sea", "isle", "port"), [0, 2])
        ['sea', 'port']
    """
    take: Callable[[NDArray[np.int64]], Iterable[str]] | None = getattr(texts, "take", None)
    places = np.asarray(rows, np.int64)
    if take is not None and (places[1:] > places[:-1]).all():
        return list(take(places))
    return [texts[row] for row in rows]


def canonical_text(graph: GraphColumns, text: str) -> str:
    """Return the canonical form of a text, which is searched in its place.

    Returns:
        The text itself where the graph has no `canonical`, or its result is blank.

    Raises:
        TypeError: the graph's `canonical` returned something else than a text.

    Example:
        >>> from clew.graph import Graph
        >>> canonical_text(Graph.of([], canonical=str.lower), "Moon")
        'moon'
    """
    if graph.canonical is None:
        return text
    canonical = graph.canonical(text)
    if not isinstance(canonical, str):
        raise TypeError(
            f"canonical is a function text -> text; for {text[:40]!r} it returned a "
            f"{type(canonical).__name__}"
        )
    return canonical if canonical.strip() else text


def _under(graph: GraphColumns, titles: Sequence[str], text: str) -> str:
    return canonical_text(graph, "\n".join([" > ".join(titles), text]) if titles else text)
