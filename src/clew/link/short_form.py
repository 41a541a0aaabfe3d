"""Names and their short forms: "Obama", "APA" for "American Psychological Association".

A short form may belong to several names, so it is an edge, never a merge: the more names there are,
the lighter is the edge. If a passage has both forms, it shows which name is meant.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from clew.graph import Edges, Graph
from clew.text.words import words

MAX_WORDS = 10  # a longer name is a clause, whose words are no short forms of it

Words = tuple[str, ...]


@dataclass(frozen=True)
class ShortForm:
    """From each entity to those whose name it may abbreviate: first words, last words or initials.

    The weight is the larger of two shares: 1 / the number of names that it may abbreviate, and the
    share of its passages that have the other name too.

    Attributes:
        min_share: the lowest weight of an edge.
        min_letters: the smallest number of letters and digits of a short form.

    Example:
        >>> graph = Graph.of(["Barack Obama", "Obama"], kinds="entity")
        >>> edges = ShortForm().on(graph)
        >>> edges.tails, edges.heads, edges.weights
        (array([1], dtype=int32), array([0], dtype=int32), array([1.], dtype=float32))
    """

    min_share: float = 0.34
    min_letters: int = 3

    kind: ClassVar[str] = "shortform"
    corpus_wide: ClassVar[bool] = True

    def on(self, graph: Graph) -> Edges:
        names = {row: tuple(words(graph.texts[row])) for row in graph.rows("entity").tolist()}
        full_names = self._full_names(names)
        tails, heads, weights = list[int](), list[int](), list[float]()
        for short in sorted(full_names):
            passages = set(graph.read_from[short].tolist())
            for row in full_names[short]:
                common = passages & set(graph.read_from[row].tolist())
                together = len(common) / len(passages) if passages else 0.0
                weight = max(1 / len(full_names[short]), together)
                if weight >= self.min_share:
                    tails.append(short)
                    heads.append(row)
                    weights.append(weight)
        return Edges.of(self.kind, tails, heads, weights)

    def _full_names(self, names: Mapping[int, Words]) -> Mapping[int, Mapping[int, None]]:
        """For each entity the ones whose name it may abbreviate, in the order of rows."""
        by_name: defaultdict[Words, list[int]] = defaultdict(list)
        for row, name in names.items():
            if sum(map(len, name)) >= self.min_letters:
                by_name[name].append(row)
        full_names: defaultdict[int, dict[int, None]] = defaultdict(dict)
        for row, name in names.items():
            for form in _short_forms(name):
                for short in by_name.get(form, ()):
                    full_names[short][row] = None
        return full_names


def _short_forms(name: Words) -> set[Words]:
    if not 2 <= len(name) <= MAX_WORDS:
        return set()
    forms = {part for k in range(1, len(name)) for part in (name[:k], name[-k:])}
    # Initials of all words, and without short ones such as "of" and "the".
    longer_words = [[word for word in name if len(word) > length] for length in (3, 2)]
    for initialled in (name, *longer_words):
        if len(initialled) > 1:
            forms.add((_initials(initialled),))
    return forms


def _initials(name: Sequence[str]) -> str:
    return "".join(word[0] for word in name)
