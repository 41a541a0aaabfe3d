"""The language of every passage, for its words to be stemmed by.

The languages of a corpus are those of a sample of its documents: those whose beginnings have the
smallest digests (a bottom-k sketch: Cohen and Kaplan, PODC 2007, "Summarizing data using bottom-k
sketches"). It is the same in whatever order documents come, and hardly any that comes or goes
changes it. What was identified is kept with the index, and a document is identified only where that
can change the result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from clew.graph import Graph, Mask, Rows, freeze
from clew.seed._likely_languages import identify_languages_of
from clew.seed.lowest_digests import LowestDigests
from clew.text.kept import MAX_KEPT_TEXT, Kept
from clew.text.stems import MAX_LETTERS

MAX_SAMPLE = 256  # documents whose languages are identified first
MAX_PASSAGES = 8  # whose letters are looked at, of a document
MAX_BEGINNINGS = 1_024  # documents whose first letters are not made twice
MIN_LETTERS = 64  # of a document whose language is identified by its own text
MAX_KEPT_DIGESTS = 256  # documents, such as candidates, that soon come again
DIGESTS = Kept[str, int](2_048)
MAX_KNOWN = 4096  # documents whose languages a saved index has, by which filters have a sample
TOGETHER = "\0"  # before several texts: so that one document alone has another digest than they
MIN_SHARE = 0.02  # of the sample, for a language to be one of the corpus


@dataclass(frozen=True, eq=False)
class LanguageSample:
    """The documents that the languages of a corpus are identified by.

    Attributes:
        keys: the digests of how they begin, ascending; one that several share comes as often.
        whole: the digest of their beginnings together, by which short documents are identified.
        known: languages that were identified, by the digest of the text. Where the others cannot
            change the languages of the corpus, they are not there. Of a saved index there are more
            than those of the sample.
        lowest: more documents than those of the sample, by which a filter has its own; None where
            an earlier version, or a change, has saved the index.
    """

    keys: tuple[int, ...] = ()
    whole: int = 0
    known: Mapping[int, str] = field(default_factory=dict)
    lowest: LowestDigests | None = None

    @property
    def own(self) -> dict[int, str]:
        """The languages of the documents of the sample alone."""
        return {key: self.known[key] for key in (*self.keys, self.whole) if key in self.known}

    def without(self, keys: AbstractSet[int]) -> LanguageSample:
        """Return the sample without what is known of other documents."""
        return replace(self, known={key: v for key, v in self.known.items() if key not in keys})


@dataclass(frozen=True, eq=False)
class Languages:
    """The languages of a corpus, and of each of its nodes.

    Attributes:
        names: ISO 639-1 codes, the most frequent first; "" for languages that are not stemmed.
        of_rows: int8 [nodes], each node's place among `names`.
        sample: what they were identified by; empty in an index that an earlier version saved.
    """

    names: tuple[str, ...]
    of_rows: NDArray[np.int8]
    sample: LanguageSample = LanguageSample()


@dataclass(frozen=True)
class LanguagesPart:
    """The part that computes the `Languages` of a graph.

    A document has one language, which its first letters are identified by; a short one has that of
    the corpus as a whole. Where a sample of the documents has one language, all have: then the same
    rules stem a word on both sides, whatever the few others are in.

    Example:
        >>> graph = Graph.of(["The fox is in the wood.", "It is red, and the sky is blue."])
        >>> graph.part(LanguagesPart()).names
        ('en',)
    """

    def compute(self, graph: Graph) -> Languages:
        return identify_languages(graph, {})

    def grow(self, graph: Graph, base: Graph, before: Languages) -> Languages:
        """Return what `compute` returns."""
        documents, sample, rows = _Documents(graph), before.sample, graph.rows("passage")
        if (documents.roots[rows[rows >= len(base)]] < len(base)).any():
            return self.compute(graph)  # a document that was there has grown
        new = np.flatnonzero(documents.rows >= len(base)).tolist()
        digests = [documents.digest(place) for place in new]
        lowest = sample.lowest and sample.lowest.with_more(digests, MAX_KNOWN)
        is_sampled = len(sample.keys) < MAX_SAMPLE or any(
            key <= sample.keys[-1] for key, _ in digests
        )
        if not is_sampled and len(before.names) == 1:
            sample = replace(sample, lowest=lowest)
            return Languages(before.names, np.zeros(len(graph), np.int8), sample)
        return _identified(graph, documents, before, lowest)

    def shrink(self, graph: Graph, base: Graph, stays: Mask, before: Languages) -> Languages:
        """Return what `compute` returns."""
        is_passage, roots = base.kinds.mask("passage"), _roots(base)
        gone, left = is_passage & ~stays, is_passage & stays
        if stays[roots[gone]].any():
            return self.compute(graph)  # a document that stays has shrunk
        lowest = before.sample.lowest
        if lowest is not None:
            lowest = lowest.among(stays) if stays[roots[left]].all() else None
        if 2 * int(gone.sum()) <= len(gone) and len(before.names) == 1:
            documents, keys = _Documents(base), set(before.sample.keys)
            lost = {documents.key(one) for one in np.flatnonzero(~stays[documents.rows]).tolist()}
            if keys and not keys & lost:
                sample = replace(before.sample.without(lost), lowest=lowest)
                return Languages(before.names, np.zeros(len(graph), np.int8), sample)
        known = Languages(before.names, before.of_rows[stays], before.sample)
        return _identified(graph, _Documents(graph), known, lowest)


def identify_languages(graph: Graph, known: Mapping[int, str]) -> Languages:
    """Return the languages of a graph, of which some are known by the digests of texts."""
    nothing = Languages((), freeze([], np.int8), LanguageSample(known=known))
    return _identified(graph, _Documents(graph), nothing)


def identify_more(graph: Graph, languages: Languages) -> Languages:
    """Return the languages of a graph with more that is known than its sample needs.

    The first question to some of the documents has a sample of these, and a new process would take
    half a second to load the identifier.

    Args:
        graph: The graph.
        languages: Its own.
    """
    documents, sample = _Documents(graph), languages.sample
    if len(documents.rows) <= len(sample.keys):
        return languages
    lowest, identifier = sample.lowest, _Identifier(sample.own)
    if lowest is None or len(lowest.keys) < min(len(documents.rows), MAX_KNOWN):
        lowest = LowestDigests.of(documents.digests(), MAX_KNOWN)
    for key, row in zip(lowest.keys.tolist(), lowest.rows.tolist(), strict=True):
        if key in sample.known:
            identifier.known[key] = sample.known[key]
        elif len(text := documents.beginning(documents.place(row))) >= MIN_LETTERS:
            identifier.language(key, text)
    return replace(languages, sample=replace(sample, known=identifier.known, lowest=lowest))


class _Documents:
    """The documents of a graph and how they begin.

    Attributes:
        roots: the outermost container of every node; itself where it has none.
        rows: the outermost container of every document with passages, ascending.
    """

    def __init__(self, graph: Graph) -> None:
        self._texts, self.roots = graph.texts, _roots(graph)
        rows = graph.rows("passage")
        self._passages = rows[np.argsort(self.roots[rows], kind="stable")]
        roots = self.roots[self._passages]  # ascending
        firsts = np.flatnonzero(np.append(-1, roots[:-1]) != roots)
        self.rows, self._starts = roots[firsts], np.append(firsts, len(roots))
        self._are_single = len(self.rows) == len(rows)  # as candidates are
        self._alone = self._passages.tolist() if self._are_single else []
        self._beginnings: dict[int, str] = {}  # of a few documents, most of which are sampled

    def beginning(self, place: int) -> str:
        """Return the first letters of a document."""
        if self._are_single:
            alone: str = self._texts[self._alone[place]]
            return alone
        known = self._beginnings.get(place)
        if known is None:
            known = self._joined(place)
            if len(self._beginnings) < MAX_BEGINNINGS:
                self._beginnings[place] = known
        return known

    def _joined(self, place: int) -> str:
        parts: list[str] = []
        start, end = self._starts[place : place + 2]
        for row in self._passages[start : min(end, start + MAX_PASSAGES)].tolist():
            parts.append(self._texts[row])
            if sum(map(len, parts)) >= MAX_LETTERS:
                break
        return "\n".join(parts)

    def place(self, row: int) -> int:
        """Return the place of a document among `rows`."""
        return int(np.searchsorted(self.rows, row))

    def digest(self, place: int) -> tuple[int, int]:
        """Return the digest of how a document begins, and its row."""
        return self.key(place), int(self.rows[place])

    def digests(self) -> Iterator[tuple[int, int]]:
        """Yield those of all documents."""
        return map(self.digest, range(len(self.rows)))

    def key(self, place: int) -> int:
        """Return the digest of how a document begins."""
        if not self._are_single or len(self.rows) > MAX_KEPT_DIGESTS:
            return _digest(self.beginning(place))
        text = self.beginning(place)
        known = DIGESTS.get(text)
        if known is None:
            known = _digest(text)
            if len(text) <= MAX_KEPT_TEXT:
                DIGESTS.put(text, known)
        return known


class _Identifier:
    """Identifies languages, each once, and remembers those of an earlier time."""

    def __init__(self, known: Mapping[int, str]) -> None:
        self.known = dict(known)

    def language(self, key: int, text: str) -> str:
        """Return the language of a text of this digest."""
        return self.languages([(key, text)])[0]

    def languages(self, texts: Iterable[tuple[int, str]]) -> list[str]:
        """Return the languages of texts by their digests."""
        listed = list(texts)
        new = {key: text for key, text in listed if key not in self.known}
        self.known.update(zip(new, identify_languages_of(list(new.values())), strict=True))
        return [self.known[key] for key, _ in listed]


def _identified(
    graph: Graph, documents: _Documents, before: Languages, lowest: LowestDigests | None = None
) -> Languages:
    """Return the languages of a graph.

    Args:
        graph: the graph.
        documents: its documents.
        before: what is known: `of_rows` of the first rows, by the sample before.
        lowest: the lowest digests of its documents; None where they are not known.
    """
    sample = None if lowest is None else lowest.lowest(MAX_SAMPLE)
    if lowest is None or sample is None:
        digests = [*documents.digests()]
        there, lowest = {key for key, _ in digests}, LowestDigests.of(digests, MAX_KNOWN)
        sample = lowest.lowest(MAX_SAMPLE) or []
    else:
        there = set(lowest.keys.tolist())
    chosen = [(key, documents.place(row)) for key, row in sample]
    together = _together(documents, [place for _, place in chosen])
    whole, identifier = _digest(TOGETHER + together), _Identifier(before.sample.known)

    def judged_by(key: int, place: int) -> tuple[int, str]:
        if key in identifier.known:  # then its text is long, and is not looked at again
            return key, ""
        text = documents.beginning(place)
        # A short document counts as one of the language that all have together.
        return (key, text) if len(text) >= MIN_LETTERS else (whole, together)

    judged = [judged_by(key, place) for key, place in chosen]
    names = _frequent([identifier.known.get(key) for key, _ in judged])
    if names is None:
        names = _frequent(identifier.languages(judged))
    names = names or ("",)
    of_rows = np.zeros(len(graph), np.int8)
    if len(names) > 1:
        is_known = names == before.names and len(before.sample.keys) > 0
        known = before.of_rows if is_known else before.of_rows[:0]
        n_known = int(np.searchsorted(documents.rows, len(known)))
        again = list(range(n_known, len(documents.rows)))
        if whole != before.sample.whole:  # by which short documents are identified
            again += [i for i in range(n_known) if len(documents.beginning(i)) < MIN_LETTERS]
        of_documents = np.zeros(len(graph), np.int8)
        of_documents[: len(known)] = known
        of_documents[documents.rows[again]] = _places_of(
            map(documents.beginning, again), names, lambda: identifier.language(whole, together)
        )
        of_rows = of_documents[documents.roots]
    keys, there = tuple(key for key, _ in sample), {whole, *there}
    kept = {key: language for key, language in identifier.known.items() if key in there}
    return Languages(names, of_rows, LanguageSample(keys, whole, kept, lowest))


def _together(documents: _Documents, places: Sequence[int]) -> str:
    """Return how some documents begin, one after the other, as far as letters are looked at."""
    parts, length = list[str](), 0
    for place in places:
        parts.append(documents.beginning(place)[: MAX_LETTERS // 8])
        length += len(parts[-1]) + 1  # and the end of a line
        if length > MAX_LETTERS:
            break
    return "\n".join(parts)[:MAX_LETTERS]


def _frequent(found: Sequence[str | None]) -> tuple[str, ...] | None:
    """Return the languages that enough of a sample is in, the most frequent first.

    Args:
        found: the language of each document; None for one that is not identified.

    Returns:
        The languages; None where they depend on one that is not identified.

    Example:
        >>> _frequent(["en"] * 90 + ["de"] * 9 + ["fr"]), _frequent(["en"] * 100 + [None])
        (('en', 'de'), ('en',))
        >>> _frequent(["en"] * 9 + [None]) is None
        True
    """
    counts = Counter(language for language in found if language is not None)
    n_unknown, least = len(found) - counts.total(), MIN_SHARE * len(found)
    ranked = sorted(counts, key=lambda name: (-counts[name], name))
    names = tuple(name for name in ranked if counts[name] >= least)
    rarer = max((counts[name] for name in ranked[len(names) :]), default=0)
    if n_unknown and (
        rarer + n_unknown >= least
        or any(counts[one] <= counts[other] + n_unknown for one, other in pairwise(names))
    ):
        return None
    return names


def _digest(text: str) -> int:
    """Return 64 bits that two texts have in common only by an unlikely chance."""
    encoded = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(encoded, digest_size=8).digest(), "little", signed=True)


def _places_of(
    beginnings: Iterable[str], names: tuple[str, ...], language_of_short: Callable[[], str]
) -> list[int]:
    """Return the place among `names` of the language of each document.

    Args:
        beginnings: how each begins.
        names: the languages to choose from.
        language_of_short: returns that of a document that begins with too few letters.
    """
    place, texts = {name: i for i, name in enumerate(names)}, list(beginnings)
    long = identify_languages_of([text for text in texts if len(text) >= MIN_LETTERS], names)
    found = iter(long)
    return [
        place.get(next(found) if len(text) >= MIN_LETTERS else language_of_short(), 0)
        for text in texts
    ]


def _roots(graph: Graph) -> Rows:
    """Return the outermost container of every node; itself where it has none."""
    roots = np.where(graph.parents >= 0, graph.parents, np.arange(len(graph)))
    while not np.array_equal(above := roots[roots], roots):
        roots = above
    return roots
