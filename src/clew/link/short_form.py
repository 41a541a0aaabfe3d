"""Names and their short forms: "Barack Obama" and "Obama", "American Psychological Association" and "APA".

An edge, never a merge, as a short form may be another's too: the more names it could stand for, the weaker. Where the two are named in
one passage, that passage tells which is meant.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import ClassVar

from clew.graph import Edges, Graph
from clew.text.words import words

LONGEST = 10  # words; a name that is longer is a clause, whose words are no short forms of it


@dataclass(frozen=True)
class ShortForm:
    """From each entity to those whose name it may be short for: their first words, their last words, or their initials.

    The weight is the larger of 1 / the number of names it may stand for, and the share of its passages that have the other name too.

    Attributes:
        least: the smallest weight. shortest: letters and digits that a short form has at least, all words together.
    """

    min_share: float = 0.34
    min_letters: int = 3

    kind: ClassVar[str] = "shortform"
    corpus_wide: ClassVar[bool] = True

    def on(self, graph: Graph) -> Edges:
        rows = graph.rows("entity").tolist()
        names = {row: tuple(words(graph.texts[row])) for row in rows}
        by_name: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
        for row, name in names.items():
            if sum(map(len, name)) >= self.min_letters:
                by_name[name].append(row)
        longer: defaultdict[int, dict[int, None]] = defaultdict(dict)
        for row, name in names.items():
            for form in _short_forms(name):
                for short in by_name.get(form, ()):
                    longer[short][row] = None
        tails, heads, weights = list[int](), list[int](), list[float]()
        for short in sorted(longer):
            own = set(graph.read_from[short].tolist())
            for row in longer[short]:
                together = len(own & set(graph.read_from[row].tolist())) / len(own) if own else 0.0
                weight = max(1 / len(longer[short]), together)
                if weight >= self.min_share:
                    tails.append(short)
                    heads.append(row)
                    weights.append(weight)
        return Edges.of(self.kind, tails, heads, weights)


def _short_forms(name: tuple[str, ...]) -> set[tuple[str, ...]]:
    if not 2 <= len(name) <= LONGEST:
        return set()
    forms = {part for k in range(1, len(name)) for part in (name[:k], name[-k:])}
    for some in (
        name,
        [word for word in name if len(word) > 3],
        [word for word in name if len(word) > 2],
    ):
        if len(some) > 1:
            forms.add(("".join(word[0] for word in some),))
    return forms
