"""Finds which links of a graph may mean documents of some names, without a look at each link.

What all links are written as is one text. A name is looked for in it as an address ends with it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, product

from clew.graph import Graph, Mask
from clew.graph.link_targets import NOTE, REFERENCE
from clew.link._link_names import MODULE, NOT_PLAIN, last_parts, note_name, target_and_anchor

END = "\n"  # before and behind each reference in the text of all
MAX_SEARCHED = 32  # names that are looked for in the text; with more, every link is looked at
UPWARDS = ("", ".", "..")  # the last parts of links to a folder that they do not name
_ENDS = tuple(
    f"{slash}{end}" for slash, end in product(("", "/"), (END, "#"))
)  # of a plain address
_ODD = re.compile(NOT_PLAIN.pattern.replace(r"\x00-\x20", r"\x00-\x09\x0b-\x20"))  # but for `END`


@dataclass(frozen=True, eq=False)
class WrittenLinks:
    """What the links of some nodes are written as.

    Attributes:
        text: The references, each with `END` before and behind it.
        apart: Those that may mean what the last part of an address as it is written does not say.
    """

    text: str
    apart: frozenset[str]

    @classmethod
    def of(cls, references: Sequence[Sequence[str]]) -> WrittenLinks:
        """Return the references of nodes.

        Example:
            >>> links = WrittenLinks.of([("a.md#x", "b/c.md"), (), ("a.md", "..")])
            >>> sorted(links.that_may_mean({"a.md"}, ())), sorted(links.apart)
            (['..', 'a.md', 'a.md#x'], ['..'])
        """
        every = dict.fromkeys(chain.from_iterable(references))
        joined = END.join(("", *every, ""))
        broken = {one for one in every if END in one} if joined.count(END) > len(every) + 1 else ()
        if broken:
            joined = END.join(("", *(one for one in every if one not in broken), ""))
        found = cls(joined, frozenset())
        apart = {
            *broken,
            *(found._around(odd.start()) for odd in _ODD.finditer(joined)),
            *found._with(f"{END}{NOTE}"),
            *chain.from_iterable(map(found._ending_with, UPWARDS[1:])),
            *chain.from_iterable(map(found._with, (f"//{END}", "//#", f"{END}/{END}", f"{END}/#"))),
        }
        return cls(joined, frozenset(apart))

    def more(self, references: Sequence[Sequence[str]]) -> WrittenLinks:
        """Return these and the references of more nodes; some may come twice then."""
        if not any(references):
            return self
        others = WrittenLinks.of(references)
        return WrittenLinks(self.text + others.text.removeprefix(END), self.apart | others.apart)

    def that_may_mean(self, names: Collection[str], labels: Collection[str]) -> set[str]:
        """Return the references that may mean documents, from any folder, or name a label.

        Those that lead upwards are always among them: what they mean depends on where they stand.

        Args:
            names: The last parts of the names of the documents, and their names as notes.
            labels: References to the labels.
        """
        if not names and not labels:
            return set()
        wanted = {*names, *labels, *UPWARDS}
        if len(wanted) > MAX_SEARCHED or "" in names:
            looked_at: Collection[str] = {*self.text.split(END), *self.apart} - {""}
        else:
            looked_at = {*self.apart, *chain.from_iterable(map(self._ending_with, names))}
            looked_at.update(*(self._with(f"{END}{label}{END}") for label in labels))
        return {one for one in looked_at if not wanted.isdisjoint(_keys(one))}

    def _ending_with(self, name: str) -> Iterator[str]:
        """Yield the references that end with a name, but for slashes, and those to its module."""
        if name.startswith(NOTE):  # they are apart
            return
        for before, behind in product((END, "/"), _ENDS):
            yield from self._with(f"{before}{name}{behind}")
        if name == "__init__.py":
            yield from self._with(f"{END}{MODULE}")
        elif name.endswith(".py"):
            for before, behind in product((".", ":", "/"), (END, "#")):
                yield from self._with(f"{before}{name.removesuffix('.py')}{behind}")

    def _with(self, part: str) -> Iterator[str]:
        """Yield the references with a part of the text, which begins in or before them."""
        place = self.text.find(part)
        while place >= 0:
            yield self._around(place + part.startswith(END))
            place = self.text.find(part, place + 1)

    def _around(self, place: int) -> str:
        """Return the reference in which a place of the text is."""
        return self.text[self.text.rfind(END, 0, place) + 1 : self.text.find(END, place)]


@dataclass(frozen=True)
class WrittenLinksPart:
    """The part that keeps what the links of all nodes are written as."""

    def compute(self, graph: Graph) -> WrittenLinks:
        return WrittenLinks.of(graph.references)

    def grow(self, graph: Graph, base: Graph, before: WrittenLinks) -> WrittenLinks:
        """Return what `compute` returns, perhaps with references that come twice."""
        return before.more(graph.references[len(base) :])

    def shrink(
        self, graph: Graph, base: Graph, stays: Mask, before: WrittenLinks
    ) -> WrittenLinks:  # none has to go
        """Return what `compute` returns, perhaps with references that no node has any more."""
        return before


def _keys(reference: str) -> Collection[str]:
    """Return what a link is compared by: last parts of names, the name of a note, or a label."""
    if reference.startswith(NOTE):
        return (note_name(target_and_anchor(reference)[0]),)
    return (reference,) if reference.startswith(REFERENCE) else last_parts(reference)
