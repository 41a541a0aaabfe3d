"""Whether passages that stand together are about the same: what a corpus shows of itself.

In a manual or a program, what stands around a passage says what the passage is about. In a file of
snippets, of tickets or of questions and answers it does not: there the words beside a passage lead
to the wrong one. A corpus shows which it is. Passages about the same share rare words, and a sample
shows how much likelier those do that stand together.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from clew.graph import Graph, Rows
from clew.text.kept import Kept
from clew.text.words import terms_of_all

SAMPLE = 128  # passages
MIN_SAMPLE = 32  # with fewer to compare, passages that stand together count as they do elsewhere
MIN_DOCUMENTS = 20
"""With fewer, what one of them is about is in too much of the sample for its words to be rare."""
MIN_WORDS = 5  # rare ones that a passage has, to be compared
MAX_SHARE = 0.1  # of the passages of the sample that have a rare word
OF_NEIGHBOURS = 0.02, 0.05
"""How much more neighbours share than two passages anywhere, where they count for nothing, and
where fully. In 26 folders of documentation, programs, minutes and articles it is .065 to .37; where
functions were drawn at random and put into files, .011."""
OF_DOCUMENTS = 0.005, 0.015
"""The same for two passages of one document: .018 to .20 there, and .000."""


@dataclass(frozen=True)
class Cohesion:
    """How far what stands around a passage shows what it is about.

    Attributes:
        neighbours: What the passages before and behind show, from 0 for nothing to 1.
        documents: What the others of its document show, likewise.
    """

    neighbours: float = 1.0
    documents: float = 1.0


def measure_cohesion(graph: Graph, passages: Rows, documents: NDArray[np.int64]) -> Cohesion:
    """Return the cohesion of a corpus, by a sample of its documents of several passages.

    Of each passage in the sample, its rare words are compared with those of the next passage, of
    one half a document away, and of one of another document. A document is in the sample by a hash
    of its id, so that others come and go without a change of what it shows.

    Args:
        graph: The graph.
        passages: Its passages, in their order.
        documents: int64 [n], the number of the document that each stands in, -1 for none.

    Example:
        >>> from clew import Graph
        >>> graph = Graph.of(["The ferry sails at ten."])
        >>> measure_cohesion(graph, graph.rows("passage"), np.array([-1]))
        Cohesion(neighbours=1.0, documents=1.0)
    """
    places = _sample(graph, passages, documents)
    if len(places) < MIN_SAMPLE:
        return Cohesion()
    listed = list(dict.fromkeys(place for three in places for place in three))
    number_of = {place: number for number, place in enumerate(listed)}
    owners = documents[[place for place, _, _ in places]].tolist()
    sample = _Sample(
        tuple(graph.texts[passages[place]] for place in listed),
        tuple((number_of[own], number_of[next_], number_of[away]) for own, next_, away in places),
        tuple(map(owners.index, owners)),
    )
    known = COHESIONS.get(sample)
    return COHESIONS.put(sample, _cohesion_of(sample)) if known is None else known


class _Sample(NamedTuple):
    """The passages that show the cohesion of a corpus.

    Attributes:
        texts: Those of the passages.
        threes: Passages, the next of each, and one half a document away, by their texts' places.
        owners: For each of the threes the first one of its document.
    """

    texts: tuple[str, ...]
    threes: tuple[tuple[int, int, int], ...]
    owners: tuple[int, ...]


COHESIONS = Kept[_Sample, Cohesion](4)  # of indexes that change, whose samples mostly stay


def _cohesion_of(sample: _Sample) -> Cohesion:
    words = _rare_words(sample.texts)

    def shared(pairs: Iterable[tuple[int, int]]) -> float | None:
        return _shared([(words[one], words[other]) for one, other in pairs])

    n = len(sample.threes)
    own, owners = [place for place, _, _ in sample.threes], sample.owners
    pairs = [(i, (i + moved) % n) for moved in range(n // 4, 3 * n // 4, n // 16) for i in range(n)]
    anywhere = shared((own[i], own[j]) for i, j in pairs if owners[i] != owners[j])
    beside = shared((place, behind) for place, behind, _ in sample.threes)
    apart = shared((place, away) for place, _, away in sample.threes)
    return Cohesion(_share(beside, anywhere, OF_NEIGHBOURS), _share(apart, anywhere, OF_DOCUMENTS))


def _sample(
    graph: Graph, passages: Rows, documents: NDArray[np.int64]
) -> list[tuple[int, int, int]]:
    """Return the places of passages, of the next of each, and of one half a document away."""
    numbers, firsts, counts = np.unique(documents, return_index=True, return_counts=True)
    is_long = (counts > 3) & (numbers >= 0)
    hashed = [
        (crc32(_name(graph, int(passages[first])).encode("utf-8", "surrogatepass")), first, count)
        for first, count in zip(firsts[is_long].tolist(), counts[is_long].tolist(), strict=True)
    ]
    if len(hashed) < MIN_DOCUMENTS:
        return []
    chosen = sorted(hashed)[: SAMPLE // 2]
    each = -(-SAMPLE // len(chosen))
    return [places for _, first, count in chosen for places in _places_in(first, count, each)]


def _places_in(first: int, count: int, each: int) -> Iterator[tuple[int, int, int]]:
    """Yield places within a document of consecutive passages, evenly spaced."""
    for place in dict.fromkeys((2 * k + 1) * (count - 1) // (2 * each) for k in range(each)):
        yield first + place, first + place + 1, first + (place + count // 2) % count


def _name(graph: Graph, row: int) -> str:
    """Return the id of the document that a passage stands in."""
    owner = int(graph.documents[row])
    return graph.ids[owner if owner >= 0 else row]


def _rare_words(texts: Sequence[str]) -> list[dict[str, float]]:
    """Return the words of each text that few of them have, and how rare each is."""
    terms = [frozenset(found) for found in terms_of_all(texts)]
    counts = Counter(word for found in terms for word in found)
    most = MAX_SHARE * len(texts)
    rarity = {word: math.log(len(texts) / n) for word, n in counts.items() if n <= most}
    return [{word: rarity[word] for word in found if word in rarity} for found in terms]


def _shared(pairs: Sequence[tuple[dict[str, float], dict[str, float]]]) -> float | None:
    """Return which share of its rare words a passage has in common with another, on average.

    None stands for too few passages with enough rare words.
    """
    shares = [
        math.fsum(one[word] for word in one.keys() & other.keys())
        / min(math.fsum(one.values()), math.fsum(other.values()))
        for one, other in pairs
        if min(len(one), len(other)) >= MIN_WORDS
    ]
    return math.fsum(shares) / len(shares) if len(shares) >= MIN_SAMPLE else None


def _share(found: float | None, anywhere: float | None, bounds: tuple[float, float]) -> float:
    """Return how far passages count that share so much more than any two; 1 if nobody knows."""
    if found is None or anywhere is None:
        return 1.0
    nothing, full = bounds
    return min(1.0, max(0.0, (found - anywhere - nothing) / (full - nothing)))
