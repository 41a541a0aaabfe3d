"""Documents become a graph: they are read, embedded and linked, and texts are generated of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from clew.algorithms.nearest.hnsw import HNSW
from clew.document import Document
from clew.embedding.attach import attach_vectors, attach_vectors_but_of_names
from clew.embedding.compact import without_made
from clew.embedding.counted_beside import CountsBeside
from clew.embedding.embedded_texts import texts_embedded_as
from clew.embedding.embedder import Embedder
from clew.embedding.static import CountsOf
from clew.embedding.word_vectors import load_pieces
from clew.graph import (
    EMPTY,
    DeferredEdges,
    Edges,
    Generated,
    Graph,
    LateEdges,
    Vectors,
    add_generated,
    release_free_memory,
)
from clew.graph.validate import validate_edges
from clew.index.config import IndexConfig
from clew.index.contents import Failures
from clew.index.reader import config_for, leaves_names_bare
from clew.index.words_beside import WordsBeside, load_identifier
from clew.link import Alike, Synonym
from clew.processes import begin_items, end_others, start_others, working
from clew.progress import progress_bar
from clew.read import CachedExtractor, CutBefore, Knowledge, Names, Piece, Split, Triple, read_nodes
from clew.types import DeferrableLink, Generate, Link

if TYPE_CHECKING:
    from clew.read.extract.code.python_scopes import Module
    from clew.read.pieces import CutDocument

MIN_CHARACTERS = 1_000_000  # of fewer, there may be nothing that another process counts
MAX_KEPT_ROWS = 80_000
"""Nodes and facts of a filtered graph whose vectors do not become bags of words: 240 MB."""


@dataclass(frozen=True, eq=False)
class KnownResults:
    """Results of an earlier build that the next one need not compute again.

    Attributes:
        vectors: Vectors by the text they are of.
        triples: Triples that the extractor read, by the key of the passage.
        pieces: What documents were cut into, by their ids.
        modules: The scopes of modules in Python, by their ids; read once, and then let go.
        counts: Counts the words of texts for the embedded default, those that it knows already
            without reading them; None for `TextCounts.of`.
        unread: None lets the extractor read passages that are not in `triples`. Otherwise an
            extractor that asks a language model is not called: such passages fail, with the reasons
            that are here by passage id, or a standard one.
    """

    vectors: Mapping[str, Vectors] = field(default_factory=lambda: EMPTY)
    triples: Mapping[str, Sequence[Triple]] = field(default_factory=lambda: EMPTY)
    pieces: Mapping[str, Sequence[Piece]] = field(default_factory=lambda: EMPTY)
    modules: dict[str, Module] = field(default_factory=dict)
    counts: CountsOf | None = None
    unread: Mapping[str, str] | None = None

    @classmethod
    def of_cut(cls, cut: Mapping[str, CutDocument]) -> KnownResults:
        """Return what is known of documents that were cut as they were read, by their ids."""
        pieces = {id: one.pieces for id, one in cut.items()}
        modules = {id: one.module for id, one in cut.items() if one.module is not None}
        return cls(pieces=pieces, modules=modules)

    def keeps_vectors_of(self, graph: Graph) -> bool:
        """Return whether the vectors of a graph stay as they are, so that a filter is quick.

        That is where words are not counted again, and where there are not too many.
        """
        return self.counts is not None and not _is_large(graph)


@dataclass(frozen=True, eq=False)
class BuiltGraph:
    """A graph that was built of documents, and what came up on the way.

    Attributes:
        graph: The linked graph.
        embedder: What its vectors were made with.
        extracted: Triples that the extractor read, by the key of the passage.
        failed: Passages that could not be read, with the reasons.
        knowledge: What all passages have taught the extractor; None where it cannot say.
    """

    graph: Graph
    embedder: Embedder
    extracted: Mapping[str, Sequence[Triple]]
    failed: Failures
    knowledge: Knowledge | None = None


def build_graph(
    documents: Sequence[Document],
    facts: Mapping[str, Sequence[Triple]],
    config: IndexConfig,
    known: KnownResults | None = None,
    progress: bool = False,
    counts_words: bool = False,
) -> BuiltGraph:
    """Return the graph of the documents; see `Index.from_documents`.

    Args:
        documents: What to index.
        facts: Triples by document id.
        config: What the graph is made with. Its generators are not asked; see `generate_texts`.
        known: Results of an earlier build.
        progress: Whether to show bars on stderr.
        counts_words: Whether another process, if there is one, counts the words of the passages
            meanwhile, which the first question asks for.

    Raises:
        ValueError: A document has no text.

    Example:
        >>> from clew import Document
        >>> documents = [Document("a", "The sea."), Document("b", "An island in the sea.")]
        >>> build_graph(documents, {}, IndexConfig()).graph.ids
        ('a', 'b')
    """
    known = known or KnownResults()
    asked, config = config, config_for(config, documents, facts)
    are_bare = leaves_names_bare(asked, config)
    extractor = CachedExtractor(config.extractor, known.triples, known.unread, progress)
    extractor.modules = known.modules
    splitter = CutBefore(config.splitter, known.pieces) if known.pieces else config.splitter
    counting = _Counting(documents, config, known)
    if counts_words and isinstance(config.extractor, Names):  # which takes as long as to count
        start_others(lambda _: sum(len(document.text) for document in documents))
    if counts_words:
        _load_beside(documents, counting)
    extractor.before = counting.begin_early
    graph = read_graph(documents, facts, config, extractor, progress, splitter)
    known.modules.clear()
    is_large = _is_large(graph)
    if is_large:
        release_free_memory()
    counting.begin(graph)
    if counts_words:
        with WordsBeside(graph) as words:
            counting.end_idle()
            embedder, graph = _embedded(
                graph, counting, config, known, progress, bare_names=are_bare
            )
        graph = _linked(graph, config, progress, is_large)
        words.give_to(graph)
    else:
        counting.end_idle()
        embedder, graph = _embedded(graph, counting, config, known, progress, bare_names=are_bare)
        graph = _linked(graph, config, progress, is_large)
    if is_large:
        release_free_memory()
    failed = tuple(extractor.failed)
    return BuiltGraph(graph, embedder, extractor.read_triples, failed, extractor.knowledge)


def embed_and_link(
    nodes: Graph, documents: Sequence[Document], config: IndexConfig, known: KnownResults
) -> tuple[Embedder, Graph]:
    """Return the embedder of nodes that are known already, and their linked graph.

    Args:
        nodes: The nodes and facts of the documents, without vectors and edges.
        documents: The documents.
        config: What the graph is made with.
        known: Results of an earlier build, among them the counts of the texts.
    """
    counting = _Counting(documents, config, known)
    embedder, graph = _embedded(nodes, counting, config, known, progress=False)
    return embedder, _linked(graph, config, progress=False)


def _load_beside(documents: Sequence[Document], counting: _Counting) -> None:
    """Have another process load what it will count with, while it has nothing else to do.

    It is asked for all at once: its answers wait until this process hands Python's lock over.
    """
    if sum(len(document.text) for document in documents) >= MIN_CHARACTERS:
        loads = [load_identifier] if counting.beside is None else [load_pieces, load_identifier]
        begin_items(_call, loads, sizes=[1] * len(loads))


def _call(load: Callable[[], object]) -> None:
    load()


class _Counting:
    """The counts of the passages for the embedded default, which other processes may have begun.

    Args:
        documents: What is indexed.
        config: What the graph is made with.
        known: Results of an earlier build.
    """

    def __init__(
        self, documents: Sequence[Document], config: IndexConfig, known: KnownResults
    ) -> None:
        self.replacement_texts = texts_embedded_as(documents)
        is_wanted = config.embedder is None and known.counts is None
        self.beside = CountsBeside() if is_wanted else None
        self.counts = self.beside or known.counts
        # What a caller has made is not called once more, since it may take long.
        self._begins_early = is_wanted and config.canonical is None

    @property
    def begin_early(self) -> Callable[[Graph], None] | None:
        """What begins as soon as the nodes are there; None where it waits for the facts.

        It is made when it is asked for, since one that is kept would keep itself alive.
        """
        return self.begin if self._begins_early else None

    def begin(self, nodes: Graph) -> None:
        """Have other processes count, unless they do already."""
        if self.beside is not None:
            self.beside.begin(nodes, self.replacement_texts)

    def end_idle(self) -> None:
        """End the other processes, unless they count; those end when they have."""
        if self.beside is None or not self.beside.has_begun:
            end_others()


def _embedded(
    graph: Graph,
    counting: _Counting,
    config: IndexConfig,
    known: KnownResults,
    progress: bool,
    *,
    bare_names: bool = False,
) -> tuple[Embedder, Graph]:
    """Return the embedder of a graph, and the graph with vectors."""
    if bare_names:
        assert config.embedder is not None, (
            "its own vectors the embedded default makes of names, too"
        )
        instead = counting.replacement_texts
        return config.embedder, attach_vectors_but_of_names(
            graph,
            config.embedder,
            replacement_texts=instead,
            known=known.vectors,
            progress=progress,
        )
    compact: bool | Literal["late"] = False
    if not isinstance(config.nearest, HNSW) and not known.keeps_vectors_of(graph):
        compact = any(map(_compares_vectors_of_names, config.links)) or "late"
    with working(config.processes):
        return attach_vectors(
            graph,
            config.embedder,
            replacement_texts=counting.replacement_texts,
            known=known.vectors,
            compact=compact,
            counts=counting.counts,
            progress=progress,
        )


def _compares_vectors_of_names(link: Link) -> bool:
    return isinstance(link, Alike) or (isinstance(link, Synonym) and link.by == "vectors")


def _linked(graph: Graph, config: IndexConfig, progress: bool, is_large: bool = False) -> Graph:
    """Return the graph with the edges of every link, those of deferred links when they are wanted.

    These are made of the graph as it is here, whatever is made of it later.
    """
    made, nodes = list[Edges | LateEdges](), without_made(graph)
    for link in progress_bar(config.links, shown=progress, label="linking", unit="kind"):
        if is_large:
            release_free_memory()
        # Whether it has all of a protocol takes long to say; few links have this.
        if getattr(link, "deferred", False) and isinstance(link, DeferrableLink):
            made.append(late_edges(link, nodes))
        else:
            made.append(edges_by(link, graph))
    return with_parts(nodes, made)


def with_parts(nodes: Graph, parts: Sequence[Edges | LateEdges]) -> Graph:
    """Return a graph with edges, of which some are made when something first asks for them.

    Args:
        nodes: A graph.
        parts: Its edges in turn.

    Raises:
        ValueError: An edge that is there leads nowhere.
    """
    early = [part for part in parts if isinstance(part, Edges)]
    if len(early) == len(parts):
        return nodes.with_edges(Edges.join(early))
    edges = DeferredEdges(parts)
    validate_edges(nodes.unchecked(edges=edges.of_kinds(())))
    return nodes.unchecked(edges=edges)


def late_edges(link: Link, nodes: Graph) -> LateEdges:
    """Return the edges of a link, which are made when they are asked for.

    Args:
        link: The link.
        nodes: A graph without edges.
    """
    among = getattr(link, "among", None)
    some = None if among is None else partial(among, nodes)
    return LateEdges(link.kind, partial(checked_edges, link, nodes), some)


def checked_edges(link: Link, nodes: Graph) -> Edges:
    """Return the edges that a link makes, which fit the nodes.

    Args:
        link: The link.
        nodes: A graph without edges.

    Raises:
        TypeError, ValueError: As `edges_by`; or an edge leads nowhere.
    """
    return nodes.with_edges(edges_by(link, nodes)).edges


def _is_large(graph: Graph) -> bool:
    return len(graph) + len(graph.facts) > MAX_KEPT_ROWS


def read_graph(
    documents: Sequence[Document],
    facts: Mapping[str, Sequence[Triple]],
    config: IndexConfig,
    extractor: CachedExtractor,
    progress: bool = False,
    splitter: Split | CutBefore | None = None,
) -> Graph:
    """Return the nodes and facts of the documents, without vectors and edges.

    Args:
        documents: What to read.
        facts: Triples by document id.
        config: What the graph is made with.
        extractor: Reads more facts, where the configuration has an extractor.
        progress: Whether to show bars on stderr.
        splitter: What cuts the documents; None for that of the configuration.

    Raises:
        ValueError: A document has no text.
    """
    for document in documents:
        if not document.heading and not document.text.strip():
            raise ValueError(f"the document {document.id!r} has no text")
    with working(config.processes):
        graph = read_nodes(
            documents,
            splitter=splitter or config.splitter,
            facts=facts,
            extractor=None if config.extractor is None else extractor,
            count=config.count,
            embedder=config.embedder,
            progress=progress,
        )
    return graph if config.canonical is None else graph.unchecked(canonical=config.canonical)


def edges_by(link: Link, graph: Graph) -> Edges:
    """Return the edges that a link makes.

    Raises:
        TypeError: The link does not say its kind, or returns no edges.
        ValueError: Some edges are of another kind. A filter would not find them again.
    """
    edges, kind, name = link.on(graph), getattr(link, "kind", None), type(link).__name__
    if not isinstance(kind, str):
        raise TypeError(
            "a link says the kind of its edges, kind: ClassVar[str] = 'similar'; "
            f"{name} has {kind!r}"
        )
    if not isinstance(edges, Edges):
        raise TypeError(
            "a link returns clew.graph.Edges, Edges.of(kind, tails, heads) of rows; "
            f"{name} returned a {type(edges).__name__}"
        )
    kinds = {edges.kinds.names[code] for code in np.flatnonzero(np.bincount(edges.kinds.codes))}
    if other := sorted(kinds - {kind}):
        raise ValueError(
            f"a link makes edges of one kind, its own: {name} has kind {kind!r} "
            f"and made edges of {', '.join(other)}"
        )
    return edges


def generate_texts(
    graph: Graph,
    embedder: Embedder,
    generators: Sequence[Generate],
    known_vectors: Mapping[str, Vectors] = EMPTY,
    progress: bool = False,
    before: Graph | None = None,
) -> tuple[Graph, Failures]:
    """Return the graph with the texts that the generators make of it, and what failed.

    Args:
        graph: A linked graph.
        embedder: What the generated texts are embedded with.
        generators: Asked one after the other; each sees the texts of those before it.
        known_vectors: Vectors by the text they are of.
        progress: Whether to show bars on stderr.
        before: The graph to which documents were added, for generators with an `update`; None for
            a graph that is built of all its documents at once.

    Raises:
        TypeError: A generator has no `on(graph)`, or returns no texts.
    """
    failed: list[tuple[str, str]] = []
    for generator in generators:
        if isinstance(generator, type) or not callable(getattr(generator, "on", None)):
            raise TypeError(
                f"a generator has on(graph), as clew.generate.Reports() does; got {generator!r}"
            )
        update = getattr(generator, "update", None)
        if before is None or update is None:
            generated = generator.on(graph)
        else:
            generated = update(graph, before)
        if not isinstance(generated, Generated):
            raise TypeError(
                "a generator returns clew.graph.Generated, texts with what they are made of; "
                f"{type(generator).__name__} returned a {type(generated).__name__}"
            )
        failed += generated.failed
        if len(generated):
            graph = add_generated(graph, generated)
            _, graph = attach_vectors(graph, embedder, known=known_vectors, progress=progress)
    return graph, tuple(failed)
