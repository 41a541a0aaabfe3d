"""Finds which links of a graph may mean documents of some names, without a look at each link."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.graph import Graph, Mask, Rows
from clew.graph.link_targets import NO_PATHS, NOTE, REFERENCE
from clew.link._link_names import (
    MODULE,
    NOT_PLAIN,
    composed,
    last_parts,
    note_name,
    target_and_anchor,
)

UPWARDS = ("", ".", "..")  # the last parts of links to a folder that they do not name
MAX_GROWTH = 2  # times as many references, some of which nothing has, before all are looked at
MIN_FIRST = 1_000  # references of which fewer do not count
_APART = (*NO_PATHS, MODULE)  # what references begin with that are no plain addresses


class WrittenLinks(NamedTuple):
    """The references of some nodes, each once, with keys of what they may lead to.

    Keys are numbers of one process, of the last parts of names and of references to labels. Two of
    which one is not the other may have one key.

    Attributes:
        references: The references.
        keys: int64 [k].
        places: int32 [k], the place of the reference that has each key.
        n_first: How many there were when all were looked at.
    """

    references: tuple[str, ...]
    keys: NDArray[np.int64]
    places: Rows
    n_first: int

    @classmethod
    def of(cls, references: Sequence[Sequence[str]]) -> WrittenLinks:
        """Return the references of nodes.

        Example:
            >>> links = WrittenLinks.of([("a.md#x", "b/c.md"), (), ("a.md", "..")])
            >>> sorted(links.that_may_mean({"a.md"}, ()))
            ['..', 'a.md', 'a.md#x']
        """
        every = tuple(dict.fromkeys(chain.from_iterable(references)))
        is_odd = NOT_PLAIN.search
        is_plain = [not (one.startswith(_APART) or is_odd(one)) for one in every]
        # Nearly all are plain, and to take an address apart takes ten times as long.
        targets = [one.partition("#")[0] for one in compress(every, is_plain)]
        parts = [composed(target.rstrip("/").rpartition("/")[2]) for target in targets]
        places = np.flatnonzero(is_plain)[list(map(bool, targets))]
        keys = _keys(list(compress(parts, targets)))
        others = np.flatnonzero(np.logical_not(is_plain)).tolist()
        more = [(part, place) for place in others for part in _parts(every[place])]
        return cls(
            every,
            np.append(keys, _keys([part for part, _ in more])),
            np.append(places, [place for _, place in more]).astype(np.int32),
            len(every),
        )

    def more(self, references: Sequence[Sequence[str]]) -> WrittenLinks:
        """Return these and the references of more nodes; some may come twice then."""
        if not any(references):
            return self
        others = WrittenLinks.of(references)
        return WrittenLinks(
            self.references + others.references,
            np.append(self.keys, others.keys),
            np.append(self.places, others.places + np.int32(len(self.references))),
            self.n_first,
        )

    def that_may_mean(self, names: Collection[str], labels: Collection[str]) -> set[str]:
        """Return the references that may mean documents, from any folder, or name a label.

        Those that lead upwards are always among them: what they mean depends on where they stand.

        Args:
            names: The last parts of the names of the documents, and their names as notes.
            labels: References to the labels.
        """
        if not names and not labels:
            return set()
        found = np.flatnonzero(np.isin(self.keys, _keys([*names, *labels, *UPWARDS])))
        return {self.references[place] for place in self.places[found].tolist()}


@dataclass(frozen=True)
class WrittenLinksPart:
    """The part that keeps the references of all nodes."""

    def compute(self, graph: Graph) -> WrittenLinks:
        return WrittenLinks.of(graph.references)

    def grow(self, graph: Graph, base: Graph, before: WrittenLinks) -> WrittenLinks:
        """Return what `compute` returns, perhaps with references that come twice."""
        links = before.more(graph.references[len(base) :])
        most = MAX_GROWTH * max(before.n_first, MIN_FIRST)
        return links if len(links.references) <= most else self.compute(graph)

    def shrink(self, graph: Graph, base: Graph, stays: Mask, before: WrittenLinks) -> WrittenLinks:
        """Return what `compute` returns, perhaps with references that no node has any more."""
        return before


def _parts(reference: str) -> Collection[str]:
    """Return the last parts of all names that a link may mean, the name of a note, or a label."""
    if reference.startswith(NOTE):
        return (note_name(target_and_anchor(reference)[0]),)
    return (reference,) if reference.startswith(REFERENCE) else last_parts(reference)


def _keys(texts: Sequence[str]) -> NDArray[np.int64]:
    return np.fromiter(map(hash, texts), np.int64, len(texts))
