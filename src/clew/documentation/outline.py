"""The outline of a corpus: its branches, the page of each, and where each passage stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clew.documentation.branches import Branch, find_branches, short_title
from clew.graph import Graph


@dataclass(frozen=True)
class DocumentationOutline:
    """The branches of a corpus, numbered in the order of the documents.

    Attributes:
        branches: The branches.
        pages: For each branch the name of its document: its title, followed by its id where
            another document has the same title.
        branch_of: The number of the branch of each passage and sentence, by id.
    """

    branches: tuple[Branch, ...]
    pages: tuple[str, ...]
    branch_of: Mapping[str, int]

    @classmethod
    def compute(cls, graph: Graph) -> DocumentationOutline:
        """Return the outline of a graph.

        Example:
            >>> from clew import Document, Index
            >>> oars = Document("oars", "Oars are of ash.")
            >>> sails = Document("sails", "Sails are of flax.")
            >>> index = Index.from_documents([oars, sails])
            >>> DocumentationOutline.compute(index.graph).branch_of
            {'oars': 0, 'sails': 1}
        """
        all_branches = find_branches(graph)
        return cls(all_branches, _pages(graph, all_branches), _branch_of(graph, all_branches))

    def heading(self, number: int, page: str) -> str:
        """Return the heading of a branch on a page.

        It has the branch's last two titles below its document. The document's name comes first
        where the page is another document's.
        """
        titles = [short_title(title) for title in self.branches[number].titles[1:][-2:]]
        own_page = self.pages[number]
        return " > ".join(titles if own_page == page and titles else [own_page, *titles])


def _pages(graph: Graph, all_branches: tuple[Branch, ...]) -> tuple[str, ...]:
    roots = [_root(graph, branch.node) for branch in all_branches]
    titles = [" ".join(branch.titles[0].split()) for branch in all_branches]
    roots_with: dict[str, set[int]] = {}
    for title, root in zip(titles, roots, strict=True):
        roots_with.setdefault(title, set()).add(root)
    ambiguous = {title for title, owners in roots_with.items() if len(owners) > 1}
    return tuple(
        f"{title} ({graph.ids[root]})" if title in ambiguous and title != graph.ids[root] else title
        for title, root in zip(titles, roots, strict=True)
    )


def _root(graph: Graph, node: int) -> int:
    while graph.parents[node] >= 0:
        node = int(graph.parents[node])
    return node


def _branch_of(graph: Graph, all_branches: tuple[Branch, ...]) -> dict[str, int]:
    number_of = {row: number for number, branch in enumerate(all_branches) for row in branch.rows}
    for row in graph.rows("sentence").tolist():
        passage = int(graph.parents[row])
        if passage in number_of:
            number_of[row] = number_of[passage]
    return {graph.ids[row]: number for row, number in number_of.items()}
