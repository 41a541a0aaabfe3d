"""What a question to a part of a corpus needs to know of the whole: frequencies, lengths, a sample.

A working subgraph has some of the passages. Their scores are those that they have in the whole,
since the parts that these scores come from are put on it with the numbers of the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.compressed_rows import CompressedRows
from clew.algorithms.cosines import cosines
from clew.algorithms.pagerank.full import WholeStrengths, WholeStrengthsPart
from clew.algorithms.postings import Postings
from clew.context import Context
from clew.embedding.embedder import Embedder
from clew.graph import (
    AnyVectors,
    Floats,
    Graph,
    Mask,
    Rows,
    VectorColumn,
    Vectors,
    distinct,
    freeze,
    offsets_of,
    seal,
    texts_at,
)
from clew.items import Step
from clew.relevance import MAX_SAMPLE, WholeSamplePart
from clew.remote.numbers import is_among
from clew.remote.passage_vectors import PassageVectors, RememberedProducts
from clew.remote.protocol import PulledNodes
from clew.seed._likely_languages import likely_language
from clew.seed._shared import MentionCountsPart
from clew.seed.bm25 import InvertedIndex, InvertedIndexPart
from clew.seed.cohesion import Cohesion
from clew.seed.in_documents import DocumentWords, DocumentWordsPart
from clew.seed.in_neighbours import (
    PassageNeighbours,
    PassageSequence,
    PassageSequencePart,
    runs_of,
)
from clew.seed.in_own_words import LinkedWordsPart
from clew.seed.languages import Languages, LanguagesPart
from clew.seed.section_sizes import SUMMARY, SectionSizesPart
from clew.text.stems import stems_in_each
from clew.text.words import terms

KEY_BYTES = 16

SEARCHED = (InvertedIndexPart(), InvertedIndexPart(("passage", "report")))
"""Kinds of node that recipes search by words; reports are generated, and there may be none."""


def key_of_stem(stem: str) -> bytes:
    """Return the key of a stem, which is short whatever the stem is.

    Example:
        >>> len(key_of_stem("fox" * 1000))
        16
    """
    return blake2b(stem.encode("utf-8", "surrogatepass"), digest_size=KEY_BYTES).digest()


def key_of_id(id: str) -> int:
    """Return the digest of a node's id: 64 bits."""
    digest = blake2b(id.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


@dataclass(frozen=True, eq=False)
class CorpusFigures:
    """What is known of a whole index by whoever asks it.

    Attributes:
        number: That of the index in its database.
        version: That of the index.
        nodes: How many nodes it has.
        embedder: What questions are embedded with.
        languages: Those of the passages, the most frequent first.
        passages: int32 [p], the numbers of all passages, ascending.
        lengths: float64 [p], how many words each has.
        documents: int64 [p], the place of the outermost container of each.
        n_documents: The number of these; 0 where no passage is in a document.
        sample: float32 [s, d], the vectors of a sample of the passages.
        sampled: int32 [s], the numbers of these.
        dimension: d.
        is_of_code: Whether most documents are source code.
        has_reports: Whether there are reports.
        untrusted: Whether strangers wrote the documents, as in `clew.index.IndexConfig`.
        count: The tokenizer.
        canonical: As in `clew.graph.Graph`.
        n_entities: How many entities there are; of shards in databases those that several name
            count for each.
        entities: int32 [e], the numbers of all entities.
        entity_keys: int64 [e], the digests of their ids, by which other indexes know them.
        summaries: int32 [s], the numbers of the passages that are the summary of their document,
            ascending; none in an index that was written before they were known.
        runs: int64 [p], the run of neighbours of each passage; None in an index that was written
            before they were known.
        cohesion: How far what stands around a passage shows what it is about.
        has_bare_names: Whether names, and facts about them, have no vectors.
        drift: What is as it was when the index was built whole; see `clew.index.drift`.
    """

    number: int
    version: int
    nodes: int
    embedder: Embedder
    languages: tuple[str, ...]
    passages: Rows
    lengths: Floats
    documents: NDArray[np.int64]
    n_documents: int
    sample: AnyVectors
    sampled: Rows
    dimension: int
    is_of_code: bool
    has_reports: bool
    untrusted: bool
    count: Callable[[str], int]
    canonical: Callable[[str], str] | None
    n_entities: int = 0
    entities: Rows = field(default_factory=lambda: freeze([], np.int32))
    entity_keys: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    summaries: Rows = field(default_factory=lambda: freeze([], np.int32))
    runs: NDArray[np.int64] | None = None
    cohesion: Cohesion = Cohesion()
    has_bare_names: bool = False
    drift: Step | None = None

    @cached_property
    def no_nodes(self) -> Graph:
        """A graph of no nodes, whose questions have the canonical text that they have in all."""
        return Graph.of([], count=self.count, canonical=self.canonical)

    @cached_property
    def passage_vectors(self) -> PassageVectors | None:
        """The vectors of all passages, where the sample is of all of them; None where it is not."""
        if len(self.sampled) < len(self.passages):
            return None
        return PassageVectors(self.sampled, np.asarray(self.sample))

    @cached_property
    def _neighbours(self) -> PassageNeighbours | None:
        return None if self.runs is None else PassageNeighbours(self.runs, self.lengths)

    @cached_property
    def _sample_column(self) -> VectorColumn:
        known = self.passage_vectors
        if known is None:
            return VectorColumn([RememberedProducts(np.asarray(self.sample))])
        return known.column

    def trace_of(self, pulled: Step, context: Context) -> tuple[Step, ...]:
        """Return the trace of an answer over a part of the index.

        Args:
            pulled: How the part was read.
            context: The answer.
        """
        drift = () if self.drift is None else (self.drift,)
        return (pulled, *context.trace, *drift)

    def summaries_around(self, nodes: Rows, allowed: Rows | None) -> Rows:
        """Return the summaries of the documents of some nodes, ascending.

        Args:
            nodes: Their numbers; those that are no passages are in no document here.
            allowed: The passages that may be read, ascending; None for all.
        """
        if not len(self.summaries):
            return self.summaries
        documents = distinct(self._documents_of(nodes[is_among(nodes, self.passages)]))
        are_around = is_among(self._documents_of(self.summaries), documents)
        around = self.summaries[are_around]
        return around if allowed is None else around[is_among(around, allowed)]

    def _documents_of(self, passages: Rows) -> NDArray[np.int64]:
        return self.documents[np.searchsorted(self.passages, passages)]

    def stems_of(self, question: str) -> list[str]:
        """Return every stem that a word of the question may have, in the languages of the index."""
        words = terms(self.searched(question))
        own = likely_language(self.searched(question), self.languages)
        stems = stems_in_each(words, dict.fromkeys([own, *self.languages]))
        return list(dict.fromkeys(stem for one in zip(*stems, strict=True) for stem in one))

    def searched(self, question: str) -> str:
        """Return the text of a question that is searched."""
        return question if self.canonical is None else self.canonical(question)

    def words(
        self, stems: Iterable[str], found: Mapping[bytes, tuple[Rows, Floats]]
    ) -> InvertedIndex:
        """Return the words of a question in all passages, as the index has them."""
        known = [stem for stem in stems if key_of_stem(stem) in found]
        parts = [found[key_of_stem(stem)] for stem in known]
        starts = offsets_of([len(numbers) for numbers, _ in parts])
        numbers = np.concatenate([np.zeros(0, np.int32), *(part[0] for part in parts)])
        counts = np.concatenate([np.zeros(0, np.float32), *(part[1] for part in parts)])
        places = np.searchsorted(self.passages, numbers).astype(np.int32)
        rows = CompressedRows(starts, places, counts.astype(np.float32), len(self.passages))
        postings = PostingsOfSomeTerms((rows,), self.lengths)
        stems_found = {stem: number for number, stem in enumerate(known)}
        everything = np.arange(len(self.passages), dtype=np.int32)
        return InvertedIndex(everything, stems_found, (), self.languages, postings)

    def put_on(self, pulled: PulledNodes, words: InvertedIndex) -> None:
        """Put what is known of the whole on a graph of some of its nodes.

        Args:
            pulled: The nodes.
            words: Those of the question in all passages.
        """
        graph = pulled.graph
        rows = graph.rows("passage")
        places = np.searchsorted(self.passages, pulled.numbers[rows]).astype(np.int64)
        whole = cast("PostingsOfSomeTerms", words.postings)
        own = InvertedIndex(
            rows, words.stems, (), self.languages, PostingsOfSomeTexts(whole, places)
        )
        for part in SEARCHED[: 1 if self.has_reports else 2]:
            graph.set_part(part, own)
        graph.set_part(LanguagesPart(), Languages(self.languages, pulled.languages))
        graph.set_part(WholeSamplePart(), self._sample_column)
        graph.set_part(MentionCountsPart(), pulled.mentions)
        graph.set_part(SectionSizesPart(), pulled.contents)
        around, sequence = None, None
        if self.n_documents:
            of_nodes = np.full(len(graph), -1, np.int64)
            of_nodes[rows] = self.documents[places]
            postings = whole.grouped(self.documents, self.n_documents)
            around = DocumentWords(of_nodes, postings, self.cohesion)
        if self.n_documents and self._neighbours is not None:
            of_passages = np.full(len(graph), -1, np.int64)
            of_passages[rows] = places
            sequence = PassageSequence(of_passages, self._neighbours, whole, self.cohesion)
        graph.set_part(DocumentWordsPart(), around)
        graph.set_part(PassageSequencePart(), sequence)
        if pulled.linked_words is not None:
            graph.set_part(LinkedWordsPart(), pulled.linked_words)
        if pulled.strengths is not None:
            graph.set_part(WholeStrengthsPart(), WholeStrengths(pulled.kinds, pulled.strengths))

    def farthest_passage(self, vector: Vectors, allowed: Rows | None) -> Rows:
        """Return the passage of the sample that is farthest from a question; none where none is.

        Args:
            vector: The question's.
            allowed: The passages that may be read, ascending; None for all.
        """
        if not len(self.sampled) or not vector.any():
            return freeze([], np.int32)
        near = cosines(self._sample_column, vector)
        if allowed is not None:
            near = np.where(np.isin(self.sampled, allowed), near, np.inf)
        found = int(near.argmin())
        return self.sampled[found : found + 1] if np.isfinite(near[found]) else self.sampled[:0]


@dataclass(frozen=True, eq=False, repr=False)
class PostingsOfSomeTerms(Postings):
    """How often all texts have some of the terms, and how long they are with all.

    Attributes:
        all_lengths: float64 [n].
    """

    all_lengths: Floats

    @cached_property
    def lengths(self) -> Floats:
        """The number of terms of every text, of all terms: float64 [n]."""
        return self.all_lengths

    @cached_property
    def _scores(self) -> dict[tuple[tuple[tuple[int, float], ...], float, float], Floats]:
        return {}

    def bm25(self, weights: Mapping[int, float], k1: float, b: float) -> Floats:
        """Return the score of every text by BM25: float64; of one question they are asked again."""
        key = (tuple(weights.items()), k1, b)
        if key not in self._scores:
            self._scores[key] = seal(super().bm25(weights, k1, b))
        return self._scores[key]

    @cached_property
    def _coverage(self) -> dict[tuple[int, ...], tuple[Floats, float]]:
        return {}

    def covered(self, terms: Iterable[int]) -> tuple[Floats, float]:
        """Return how much of some terms every text has; see `Postings.covered`."""
        key = tuple(terms)
        if key not in self._coverage:
            self._coverage[key] = super().covered(key)
        return self._coverage[key]


class PostingsOfSomeTexts(Postings):
    """How often some texts have terms: scores are those that they have among all texts.

    Args:
        whole: The postings of all texts.
        places: int64, those of the texts among all.
    """

    def __init__(self, whole: PostingsOfSomeTerms, places: NDArray[np.int64]) -> None:
        super().__init__(whole.segments)
        self.__dict__.update(whole=whole, places=places)

    whole: PostingsOfSomeTerms
    places: NDArray[np.int64]

    @cached_property
    def lengths(self) -> Floats:
        """The number of terms of every text: float64."""
        return self.whole.lengths[self.places]

    def texts_with(self, term: int) -> Rows:
        """Return which of the texts have a term, ascending."""
        found = is_among(self.places, self.whole.texts_with(term))
        return np.flatnonzero(found).astype(np.int32)

    def bm25(self, weights: Mapping[int, float], k1: float, b: float) -> Floats:
        """Return the score of every text by BM25: float64."""
        scores: Floats = self.whole.bm25(weights, k1, b)[self.places]
        return scores

    def covered(self, terms: Iterable[int]) -> tuple[Floats, float]:
        """Return how much of some terms every text has; see `Postings.covered`."""
        sums, total = self.whole.covered(terms)
        return sums[self.places], total

    def with_only(self, stays: Mask) -> Postings:
        """Return the postings of the texts that stay."""
        return PostingsOfSomeTexts(self.whole, self.places[stays])


def sampled_places(count: int) -> NDArray[np.int64]:
    """Return which of so many passages the sample is of, evenly spaced."""
    places = np.linspace(0, count - 1, min(count, MAX_SAMPLE)).round()
    return places.astype(np.int64)


def corpus_arrays(graph: Graph, numbers: Rows) -> dict[str, NDArray[Any]]:
    """Return what `CorpusFigures` has of the passages, by name.

    Args:
        graph: The whole graph.
        numbers: int32 [n], those of its nodes.
    """
    words = graph.part(InvertedIndexPart())
    around = graph.part(DocumentWordsPart())
    places, runs = np.zeros(len(words.rows), np.int64), np.arange(len(words.rows), dtype=np.int64)
    if around is not None:
        places = around.of_nodes[words.rows]
        runs = runs_of(places, graph.parents[words.rows])
    entities, sizes = graph.rows("entity"), graph.part(SectionSizesPart())
    cohesion = Cohesion() if around is None else around.cohesion
    return {
        "passages": numbers[words.rows],
        "lengths": words.postings.lengths.astype(np.float64),
        "documents": places,
        "n_documents": np.array([0 if around is None else len(around.postings)], np.int64),
        "runs": runs,
        "cohesion": np.array([cohesion.neighbours, cohesion.documents], np.float64),
        "entities": numbers[entities],
        "entity_keys": np.array(
            [*map(key_of_id, texts_at(graph.ids, entities.tolist()))], np.int64
        ),
        "summaries": numbers[words.rows[sizes[words.rows] == SUMMARY]],
    }
