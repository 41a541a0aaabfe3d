"""The one object that most people meet: documents in, contexts out.

What builds and changes an index is loaded by the methods that need it, and so is what answers: a
question does without the one, who builds without the other.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Literal, Self, Unpack

from numpy.typing import ArrayLike

from clew.algorithms.nearest.hnsw import HNSW
from clew.context import Context
from clew.deadline import within
from clew.embedding.embedder import EmbedderSource
from clew.garbage import collecting_rarely
from clew.graph import Edges, Graph, canonical_text
from clew.index.config import IndexConfig, IndexKeywords
from clew.index.contents import IndexContents
from clew.index.dropped import warning_if_dropped
from clew.index.learning import Learned, lesson_of
from clew.index.options import documents_keywords
from clew.index.question import QueryKeywords, QueryOptions, Where, check_question
from clew.read import Triple
from clew.types import Generate, Link
from clew.usage import metered


@dataclass(frozen=True, eq=False, repr=False)
class Index(IndexContents):
    """Documents, the graph made of them, and the configuration to make it again.

    Make one with `Index.from_documents`. An index does not change: `add` and `delete` return the
    next index, so a question under way keeps the one it started with. Where that is dropped, a
    warning says so. See `IndexContents` for the attributes.

    Example:
        >>> index = Index.from_documents(["Anna married Ben.", "Ben lives on Corfu."])
        >>> index.ask("Who lives on Corfu?", recipe="bm25", limit=1).text
        '- Ben lives on Corfu.'
    """

    @classmethod
    @documents_keywords(IndexConfig)
    def from_documents(
        cls,
        documents: object,
        *,
        facts: Mapping[str, Iterable[Triple]] | None = None,
        progress: bool = False,
        config: IndexConfig | None = None,
        **keywords: Unpack[IndexKeywords],
    ) -> Self:
        """Return an index of the documents.

        Args:
            documents: Texts, paths of files and folders, values of `clew.Document`, LlamaIndex
                documents and nodes, LangChain documents and graph documents, or several of them. A
                piece keeps its own id. What clew cuts is named `{id}#{start}-{end}`.
            facts: Triples (subject, relation, object) by document id, beside those that documents
                bring along. Facts of a document that is not among these are an error.
            progress: Whether to show bars on stderr.
            config: All options in one value. Keywords replace single ones.
            **keywords: The fields of `clew.index.IndexConfig`.

        Raises:
            TypeError: A keyword or a value is of a kind that is not taken.
            ValueError: No documents came, a document has no text, an id comes twice, or a vector is
                not finite, all zeros, ragged or of another dimension than the documents' own.
        """
        chosen = IndexConfig.from_keywords(config, **keywords)
        load = partial(_load_builder, is_default_embedded=chosen.embedder is None)
        with chosen.reading(meanwhile=load):  # one of its processes is of use until the end
            return cls._of_documents(documents, facts, chosen, progress)

    @classmethod
    @collecting_rarely()
    def _of_documents(
        cls,
        documents: object,
        facts: Mapping[str, Iterable[Triple]] | None,
        chosen: IndexConfig,
        progress: bool,
    ) -> Self:
        (loaded, skipped, files), cut = chosen.load_and_cut(documents, progress)
        # Where much is read, these were loaded meanwhile.
        from clew.index.build import KnownResults, build_graph, generate_texts
        from clew.index.changes import NoDocumentsError
        from clew.index.given_facts import collect_facts

        if not loaded:
            raise NoDocumentsError(skipped)
        collected = collect_facts(loaded, facts)
        with metered(chosen.count) as meter:
            known = KnownResults.of_cut(cut)
            built = build_graph(
                tuple(loaded),
                collected,
                chosen,
                known,
                progress,
                counts_words=not chosen.generators,
            )
            graph, failed = generate_texts(
                built.graph, built.embedder, chosen.generators, progress=progress
            )
        return cls(
            graph=graph,
            config=chosen,
            documents=tuple(loaded),
            facts=collected,
            fitted_embedder=built.embedder if chosen.embedder is None else None,
            extracted=built.extracted,
            knowledge=built.knowledge,
            skipped=tuple(skipped),
            files=files,
            failed=(*built.failed, *failed),
            usage=meter.usage,
        )

    @classmethod
    def from_graph(
        cls,
        graph: Graph,
        *,
        embedder: EmbedderSource | None = None,
        links: Sequence[Link] = (),
        nearest: HNSW | None = None,
        progress: bool = False,
    ) -> Self:
        """Return an index of a graph that exists already, for instance by `Graph.from_networkx`.

        Args:
            graph: Nodes, facts and edges. Vectors that are missing are made.
            embedder: As in `from_documents`. None makes all vectors anew, also those that the graph
                has: a question can be compared with no others.
            links: Kinds of edge to make beside those that the graph has. Give each a kind of its
                own, since a filter makes corpus-wide kinds again.
            nearest: As in `from_documents`.
            progress: Whether to show bars on stderr.

        Example:
            >>> graph = Graph.of(["the sea", "an island"], ids=["a", "b"])
            >>> Index.from_graph(graph).ask("Which island?", recipe="bm25").ids
            ['b']
        """
        from clew.embedding.attach import attach_vectors
        from clew.index.build import edges_by

        config = IndexConfig.from_keywords(
            embedder=embedder,
            links=links,
            canonical=graph.canonical,
            count=graph.count,
            nearest=nearest,
        )
        used, graph = attach_vectors(graph, config.embedder, progress=progress)
        edges = [edges_by(link, graph) for link in config.links]
        return cls(
            graph=graph.with_edges(Edges.join([graph.edges, *edges])),
            config=config,
            fitted_embedder=used if config.embedder is None else None,
        )

    def __repr__(self) -> str:
        failed = f", {len(self.failed):,} failed" if self.failed else ""
        return (
            f"Index({len(self.documents):,} documents, embedder {self.embedder.name!r}, "
            f"{self.graph!r}{failed})"
        )

    def __len__(self) -> int:
        return len(self.documents)

    @documents_keywords(QueryOptions)
    def ask(
        self,
        question: str,
        *,
        vector: ArrayLike | None = None,
        options: QueryOptions | None = None,
        **keywords: Unpack[QueryKeywords],
    ) -> Context:
        """Return the context for a question.

        Args:
            question: A text with at least one word.
            vector: The question's vector by the index's embedder, if it is known already.
            options: All options in one value. Keywords replace single ones.
            **keywords: The fields of `clew.index.QueryOptions`.

        Raises:
            DeadlineError: The deadline passed before there was anything that may be answered.
            TypeError: A keyword that a question does not take.
            ValueError: An empty question, an unknown recipe, a budget or limit below 1, a budget
                that holds nothing of what was chosen, or a vector that is not finite or of another
                dimension. A filter that allows nothing gives an empty context.
        """
        chosen = QueryOptions.from_keywords(options, **keywords)
        question = check_question(question, max_length=chosen.max_question)
        with within(chosen.deadline):
            inside = _filter_in_time(self, chosen.where)
            from clew.index.answer import answer, embed_in_time

            if vector is None or inside.embedder is not self.embedder:  # a filter fits it again
                vector = embed_in_time(inside, question)
            return answer(inside, question, vector, chosen)

    @documents_keywords(QueryOptions)
    async def aask(
        self,
        question: str,
        *,
        vector: ArrayLike | None = None,
        options: QueryOptions | None = None,
        **keywords: Unpack[QueryKeywords],
    ) -> Context:
        """Return what `ask` returns without blocking the event loop.

        The question is embedded by the embedder's own async call, where it has one. The rest runs
        in a thread.

        Args:
            question: A text with at least one word.
            vector: The question's vector by the index's embedder, if it is known already.
            options: All options in one value. Keywords replace single ones.
            **keywords: The fields of `clew.index.QueryOptions`.
        """
        import asyncio  # it loads slowly, and is there already where a coroutine runs

        chosen = QueryOptions.from_keywords(options, **keywords)
        question = check_question(question, max_length=chosen.max_question)
        with within(chosen.deadline):
            inside = await asyncio.to_thread(_filter_in_time, self, chosen.where)
            from clew.index.answer import aembed_in_time, answer

            if vector is None or inside.embedder is not self.embedder:
                vector = await aembed_in_time(inside, question)
            return await asyncio.to_thread(answer, inside, question, vector, chosen)

    @documents_keywords(QueryOptions)
    def ask_many(
        self,
        questions: Iterable[str],
        *,
        options: QueryOptions | None = None,
        **keywords: Unpack[QueryKeywords],
    ) -> list[Context]:
        """Return the contexts for several questions, in their order; see `ask`.

        Args:
            questions: Texts with at least one word each.
            options: All options in one value. Keywords replace single ones.
            **keywords: The fields of `clew.index.QueryOptions`.
        """
        if isinstance(questions, str):
            raise TypeError(
                f"ask_many takes several questions; for {questions!r} alone there is `ask`"
            )
        chosen = QueryOptions.from_keywords(options, **keywords)
        return [self.ask(question, options=chosen) for question in questions]

    def embed_question(self, question: str) -> ArrayLike:
        """Return the question's vector, of its canonical text, as the embedder gives it."""
        vector: ArrayLike = self.embedder.embed_question(canonical_text(self.graph, question))
        return vector

    async def aembed_question(self, question: str) -> ArrayLike:
        """Return what `embed_question` returns without blocking the event loop."""
        import asyncio

        embed = self.embedder.aembed_question
        if embed is None:
            return await asyncio.to_thread(self.embed_question, question)
        vector: ArrayLike = await embed(canonical_text(self.graph, question))
        return vector

    def filtered(self, where: Where | None) -> Self:
        """Return the index of what a filter allows, equal to one built of that alone.

        Args:
            where: As in `QueryOptions`. None allows everything.
        """
        from clew.index.filtering import filtered_index

        return self if where is None else filtered_index(self, where)

    def add(
        self,
        documents: object,
        *,
        facts: Mapping[str, Iterable[Triple]] | None = None,
        progress: bool = False,
    ) -> Self:
        """Return the index with these documents too, equal to one built of all of them at once.

        Three things make a difference: a generator that keeps what it has, as
        `clew.generate.Reports(keep_communities=True)` does; an index of a thousand passages or
        more, which is changed in place and keeps until `compact` what `Index.compact` names; and
        one of more than 20,000 passages, whose new passages find all of their nearest, and others
        most of them. What scores exactly alike may come in another order.

        Args:
            documents: As in `from_documents`.
            facts: As in `from_documents`, of these documents alone. Facts of others are given with
                `upsert`, together with these.
            progress: Whether to show bars on stderr.

        Raises:
            ValueError: An id is in the index already, or facts were given for a document that is
                not among these; and as in `from_documents`.
        """
        from clew.index.changes import with_documents

        return warning_if_dropped(with_documents(self, documents, facts, progress), self)

    def upsert(
        self,
        documents: object,
        *,
        facts: Mapping[str, Iterable[Triple]] | None = None,
        progress: bool = False,
    ) -> Self:
        """Return the index with these documents: new ones, and those of a known id in its place.

        A document that is there already with the same text, metadata and facts costs nothing; where
        all are, the index itself is returned. One that brings another vector is another document,
        unless the embedder is fitted; one without a vector keeps that of the same document.

        Args:
            documents: As in `from_documents`.
            facts: As in `from_documents`: all facts of these documents, which have no others then.
                None keeps those that were given for a document before, as long as its text is the
                same; facts of another text go with it. {} is for no facts.
            progress: Whether to show bars on stderr.

        Raises:
            ValueError: Facts were given for a document that is not among these; and as in
                `from_documents`.

        Example:
            >>> from clew import Document
            >>> index = Index.from_documents([Document("a", "Ferries sail at nine.")])
            >>> index.upsert([Document("a", "Ferries sail at ten.")]).documents[0].text
            'Ferries sail at ten.'
        """
        from clew.index.changes import with_replaced

        return warning_if_dropped(with_replaced(self, documents, facts, progress), self)

    def sync(
        self,
        documents: object,
        *,
        facts: Mapping[str, Iterable[Triple]] | None = None,
        include: str | Sequence[str] | None = None,
        exclude: str | Sequence[str] | None = None,
        progress: bool = False,
    ) -> Self:
        """Return the index of these documents alone: `upsert`, and all others are deleted.

        A file that was read before is opened again only where its size, its times or its place on
        the disk have changed.

        Args:
            documents: As in `from_documents`, such as the path of a folder that has changed.
            facts: As in `upsert`: None keeps the facts of the texts that have not changed.
            include: As in `from_documents`, from now on. None keeps the patterns of the index.
            exclude: Likewise.
            progress: Whether to show bars on stderr.

        Raises:
            ValueError: No documents came, or facts were given for one that did not; and as in
                `from_documents`.

        Example:
            >>> from clew import Document
            >>> index = Index.from_documents([Document("a", "One."), Document("b", "Two.")])
            >>> index.sync([Document("b", "Two."), Document("c", "Three.")]).graph.ids
            ('b', 'c')
        """
        from clew.index.changes import with_patterns, with_replaced

        return warning_if_dropped(
            with_replaced(
                with_patterns(self, include, exclude), documents, facts, progress, others_go=True
            ),
            self,
        )

    def delete(self, ids: str | Iterable[str] | None = None, *, where: Where | None = None) -> Self:
        """Return the index without the documents of these ids, or of this metadata.

        Facts and entities go with the last passage that they were read from.

        Args:
            ids: The ids of documents.
            where: In the place of ids, which documents go, by their metadata, as in `QueryOptions`:
                `index.delete(where={"author": "Anna"})`. Where it finds none, nothing changes.

        Raises:
            TypeError: Both are given, or neither; or `where` is no filter.
            ValueError: An id is not in the index, no document would be left, or the index was made
                of a graph.
        """
        from clew.index.changes import without_documents

        return warning_if_dropped(without_documents(self, ids, where), self)

    def compact(self, *, progress: bool = False) -> Self:
        """Return the index built whole of its documents; nothing is embedded or read twice.

        A large index is changed in place. `changed` says how many passages came and went since it
        was built whole. By so many is out of date what `clew.Names` and `clew.Symbols` have read in
        passages that were there, and what words weigh where the embedded default says which
        passages are similar enough to be linked; with an approximate index (`nearest`), in all of
        its vectors. The step "index" in the trace of a question says which of these it is. All is
        done anew anyway once a tenth has changed.

        Args:
            progress: Whether to show bars on stderr.

        Raises:
            ValueError: The index was made of a graph.
        """
        from clew.index.changes import rebuild

        return warning_if_dropped(
            rebuild(self, self.documents, self.facts, progress=progress), self
        )

    def generate(self, *generators: Generate, progress: bool = False) -> Self:
        """Return the index with texts made of what it holds; `add` and `delete` make them again.

        Texts that could not be made are in `failed`, with the reasons. A filter leaves out the
        generators that need a language model.

        Args:
            *generators: Such as `clew.generate.Reports()`.
            progress: Whether to show bars on stderr.
        """
        from clew.index.build import generate_texts
        from clew.index.weights import with_weights_as_built

        built = with_weights_as_built(self)  # with whose vectors those of the texts are compared
        with metered(self.graph.count) as meter:
            graph, failed = generate_texts(
                built.graph, built.embedder, generators, progress=progress
            )
        generated = replace(
            self,
            graph=graph,
            config=replace(self.config, generators=(*self.generators, *generators)),
            failed=(*self.failed, *failed),
            usage=self.usage + meter.usage,
        )
        return warning_if_dropped(generated, self)

    def written(self, *writers: Generate, progress: bool = False) -> Self:
        """Return what `generate` returns; the name of version 0.1, until version 0.3."""
        warnings.warn("Index.written is now Index.generate", DeprecationWarning, stacklevel=2)
        return self.generate(*writers, progress=progress)

    def learn(self, context: Context, *, rate: float = 1.0, decay: float = 0.05) -> Self:
        """Return the index with what a context of "kurisu" taught.

        Edges become stronger or weaker, and grafts that the answer went over are kept.

        Args:
            context: An answer of this index.
            rate: What the changes of strength are multiplied by; finite.
            decay: The share of the way back to the built strength that every earlier strength goes,
                in [0, 1].

        Raises:
            ValueError: The context teaches nothing or is of another index, or a number is out of
                range.
        """
        learned = self.learned.after(lesson_of(context), self.graph, rate, decay)
        learnt = replace(self, graph=learned.on(self.graph)[0], learned=learned)
        return warning_if_dropped(learnt, self)

    def forget(self) -> Self:
        """Return the index as it was before it learnt anything."""
        forgotten = replace(self, graph=self.learned.off(self.graph), learned=Learned())
        return warning_if_dropped(forgotten, self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the index to a folder, whole or not at all; see `clew.store.save`.

        Of a large index that was changed in place since it was saved there or loaded from there,
        the changes alone are written. Edges between names alike by their words are left out of
        these: they are made again when something asks for them, as after a change. Where changes
        are large together, they are saved likewise, and a thread then writes the index whole; a
        program that ends waits for it. Framework objects that documents came as are not saved.

        The last save is what is loaded: of two processes that load an index, change it and save it,
        the second one saves without the changes of the first, and the log of "clew.index" warns.
        The generation before stays for `Index.load(path, generation=N)`. Load again before each
        change, have one process make all of them, or keep the index in a database, where writers
        take turns.

        Args:
            path: A folder that holds an index, or is empty or does not exist; or the address of one
                in a storage that fsspec reaches, `s3://bucket/name`, which is written likewise: see
                `clew.storage`; or in a database, `postgresql://user@host/db?index=name`, where the
                index is written whole: see `clew.remote`.
        """
        from clew.index.saving import save_contents

        save_contents(self, path)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        verify: Literal["changed", "full", "size"] = "changed",
        generation: int | None = None,
        **keywords: Unpack[IndexKeywords],
    ) -> Self:
        """Return the index that was saved in a folder; see `clew.store.load`.

        Args:
            path: The folder; or an address such as `s3://bucket/name`, of which what is new is
                copied into the user's cache. An index in a database is opened by
                `clew.remote.RemoteIndex.open`.
            verify: "changed" checks all checksums, those of the vectors once after every write;
                "full" checks them all; "size" checks of the vectors the size alone.
            generation: An earlier generation that is still there. None is the newest.
            **keywords: The fields of `clew.index.IndexConfig` that are not clew's own, as the index
                was made with them. None for `embedder` and `count` stands for the saved ones.
        """
        from clew.index.saving import load_contents

        contents, _ = load_contents(path, keywords, verify, generation)
        return cls.of_contents(contents)

    @classmethod
    def of_contents(cls, contents: IndexContents) -> Self:
        """Return the index that holds these contents."""
        return cls(**{field.name: getattr(contents, field.name) for field in fields(contents)})


def _filter_in_time(index: Index, where: Where | None) -> Index:
    """Return what is inside a filter, with what answers loaded."""
    from clew.index.answer import filter_in_time

    return filter_in_time(index, where)


def _load_builder(is_default_embedded: bool) -> None:
    """Load what makes a graph of much that is read, which takes some tenths of a second.

    Args:
        is_default_embedded: Whether texts are embedded by the embedded default.
    """
    import clew.index.build  # noqa: F401  # loaded, and used by who builds

    if is_default_embedded:
        from clew.embedding.word_vectors import load

        load()
