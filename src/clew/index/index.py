"""The one object most people meet: documents in, contexts out."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from clew.context import Context, Step
from clew.document import Document
from clew.embedding.attach import attach_vectors, rows_to_embed, text_to_embed, texts_embedded_as
from clew.embedding.embedder import Embedder, embed_texts, unit_rows
from clew.graph import EMPTY, Edges, Graph, Vectors, canonical_text
from clew.index.build import LINKS, Failed, build_graph, collect_facts, edges_by, generate_texts
from clew.index.filtering import Where, filtered_index
from clew.index.learning import Learned
from clew.index.question import check_question
from clew.read import Split, Triple, load_documents, make_canonical
from clew.recipes import DEFAULT
from clew.text.tokens import make_counter
from clew.types import UNLIMITED, BoundMethod, Generate, Link, Method, Query

DEFAULT_BUDGET = 2000


@dataclass(frozen=True, eq=False)
class Index:
    """Documents, the graph made of them, and what is needed to make it again.

    Make one with `Index.from_documents`. An index does not change: `add` and `delete` change what it holds by making the next graph,
    so that a question under way keeps the one it started with.
    """

    graph: Graph
    embedder: Embedder
    documents: tuple[Document, ...]
    facts: Mapping[str, Sequence[Triple]]
    splitter: Split | None = None
    links: tuple[Link, ...] = LINKS
    fitted: bool = False
    skipped: tuple[tuple[str, str], ...] = ()
    extractor: Any = None
    generators: tuple[Generate, ...] = ()
    failed: Failed = ()
    extracted: Mapping[str, Sequence[Triple]] = field(default_factory=lambda: EMPTY, repr=False)
    learned: Learned = field(default_factory=Learned, repr=False)

    @classmethod
    def from_documents(
        cls,
        documents: Any,
        *,
        embedder: Any = None,
        facts: Mapping[str, Iterable[Triple]] | None = None,
        extractor: Any = None,
        splitter: Split | None = None,
        count: Callable[[str], Any] | str | None = None,
        canonical: Callable[[str], str] | None = None,
        links: Sequence[Link] = LINKS,
        progress: bool = False,
    ) -> Index:
        """Return an index of the documents.

        Args:
            documents: texts, paths of files and folders, `clew.Document`s, LlamaIndex documents and nodes, LangChain documents and
                graph documents, or several of them. A piece keeps its own id; what clew cuts is named `{id}#{start}-{end}`.
            embedder: a callable list[str] -> array [n, d], a LlamaIndex or LangChain embedder, a sentence-transformers model or the
                name of one; None for the embedded default, which is fitted on the passages and needs no download.
            facts: triples (subject, relation, object) by document id, beside those that documents bring along.
            extractor: reads facts out of the passages: a function text -> triples, or an object with `triples(passages)`, such as
                `clew.Names()`, which needs no language model, or `clew.Triples(model)`; None reads none. Passages that could not be read
                are in `failed`, with the reasons; `add([])` tries these again.
            splitter: cuts documents into sections, passages and sentences, as `clew.Splitter()` does; None keeps each whole.
            count: the tokenizer that budgets are counted with: a function text -> number (or list) of tokens, a tokenizer with `encode`,
                or the name of a tiktoken encoding; None for clew's own estimate.
            canonical: a function text -> the text by which it is found, such as `clew.Plain()`, for passages and questions alike; what
                is read stays as it is. None leaves both as they are.
            links: the kinds of edge to make. progress: show bars on stderr.

        Raises:
            ValueError: no documents, a document without text, an id that comes twice, vectors that are not finite, all zeros, ragged or
                of another dimension than the documents' own. Nothing is left half done.
        """
        found, skipped = load_documents(documents)
        if not found:
            seen = (
                f"; {len(skipped)} files were skipped, for instance {skipped[0][0]}: {skipped[0][1]}"
                if skipped
                else ""
            )
            raise ValueError(f"no documents came: an index needs at least one with text{seen}")
        given = collect_facts(found, facts)
        linked, counted, clean = tuple(links), make_counter(count), make_canonical(canonical)
        made, graph, reads = build_graph(
            tuple(found),
            given,
            splitter,
            counted,
            embedder,
            linked,
            {},
            progress,
            extractor,
            canonical=clean,
        )
        rest = (
            linked,
            embedder is None,
            tuple(skipped),
            extractor,
            (),
            tuple(reads.failed),
            reads.read,
        )
        return cls(graph, made, tuple(found), given, splitter, *rest)

    @classmethod
    def from_graph(
        cls,
        graph: Graph,
        *,
        embedder: Any = None,
        links: Sequence[Link] = (),
        progress: bool = False,
    ) -> Index:
        """Return an index of a graph that is made already, for instance by `Graph.from_networkx`.

        Args:
            graph: nodes, facts and edges; vectors that are missing are made. embedder: as in `from_documents`.
            links: kinds of edge to make beside those the graph has; give each a kind of its own, as a filter makes corpus-wide kinds again.
        """
        made, graph = attach_vectors(graph, embedder, progress=progress)
        graph = graph.with_edges(
            Edges.join([graph.edges, *(edges_by(link, graph) for link in links)])
        )
        return cls(graph, made, (), {}, None, tuple(links), fitted=embedder is None)

    def __repr__(self) -> str:
        failed = f", {len(self.failed):,} failed" if self.failed else ""
        return f"Index({len(self.documents):,} documents, embedder {self.embedder.name!r}, {self.graph!r}{failed})"

    def __len__(self) -> int:
        return len(self.documents)

    def ask(
        self,
        question: str,
        *,
        recipe: str | Method = DEFAULT,
        budget: int | None = DEFAULT_BUDGET,
        limit: int | None = None,
        where: Where | None = None,
        deadline: float | None = None,
        model: Any = None,
        vector: Any = None,
    ) -> Context:
        """Return the context for a question.

        Args:
            question: a text with at least one word. recipe: a name of `clew.recipes.names()`, or a method of one's own.
            budget: the most tokens the rendered context may have, by the index's counter; None for no ceiling.
            limit: exactly so many items while there are so many; what the method does not choose is filled up by prize.
            where: what may be read: wanted metadata values, or a function of a passage's metadata. What it forbids influences nothing.
            deadline: seconds after which an anytime method returns its best so far, marked. model: a language model for methods that ask.
            vector: the question's vector by the index's embedder, if it is known already.

        Raises:
            ValueError: an empty question, an unknown recipe, a budget or limit below 1, a budget that holds nothing of what was chosen,
                a vector that is not finite or of another dimension. A filter that allows nothing gives an empty context.
        """
        question = check_question(question, budget, limit, deadline)
        inside = self._restricted(where)
        if (
            vector is None or inside.embedder is not self.embedder
        ):  # a filter fits the embedded default again
            vector = inside.embedder.embed_question(canonical_text(inside.graph, question))
        return inside.answer(question, vector, recipe, budget, limit, deadline, model)

    async def aask(
        self,
        question: str,
        *,
        recipe: str | Method = DEFAULT,
        budget: int | None = DEFAULT_BUDGET,
        limit: int | None = None,
        where: Where | None = None,
        deadline: float | None = None,
        model: Any = None,
        vector: Any = None,
    ) -> Context:
        """Return what `ask` returns without blocking the event loop: the embedder's own async call, the rest in a thread."""
        question = check_question(question, budget, limit, deadline)
        inside = await asyncio.to_thread(self._restricted, where)
        if vector is None or inside.embedder is not self.embedder:
            if inside.embedder.aembed_question is None:
                vector = await asyncio.to_thread(
                    inside.embedder.embed_question, canonical_text(inside.graph, question)
                )
            else:
                vector = await inside.embedder.aembed_question(
                    canonical_text(inside.graph, question)
                )
        return await asyncio.to_thread(
            inside.answer, question, vector, recipe, budget, limit, deadline, model
        )

    def ask_many(self, questions: Iterable[str], **how: Any) -> list[Context]:
        """Return the contexts for several questions, in their order; see `ask`."""
        if isinstance(questions, str):
            raise TypeError(
                f"ask_many takes several questions; for {questions!r} alone there is `ask`"
            )
        return [self.ask(question, **how) for question in questions]

    def add(
        self,
        documents: Any,
        *,
        facts: Mapping[str, Iterable[Triple]] | None = None,
        progress: bool = False,
    ) -> Index:
        """Return the index with these documents too; the result is that of an index built of all of them at once."""
        found, skipped = load_documents(documents)
        more = collect_facts(found, facts)
        known = [
            document if document.original is None else document.original
            for document in self.documents
        ]
        whole = load_documents(
            [
                *known,
                *(
                    document if document.original is None else document.original
                    for document in found
                ),
            ]
        ).documents
        made = self.rebuild(tuple(whole), {**self.facts, **more}, progress)
        return replace(made, skipped=(*self.skipped, *skipped))

    def delete(self, ids: str | Iterable[str]) -> Index:
        """Return the index without the documents of these ids; facts and entities go with the last passage they were read from."""
        gone = {ids} if isinstance(ids, str) else set(ids)
        unknown = gone - {document.id for document in self.documents}
        if unknown:
            raise ValueError(
                f"{len(unknown)} of the ids to delete are not in the index, for instance {min(unknown)!r}"
            )
        left = tuple(document for document in self.documents if document.id not in gone)
        if not left:
            raise ValueError("deleting these would leave an index without documents")
        return self.rebuild(
            left, {id: said for id, said in self.facts.items() if id not in gone}, free=True
        )

    def generate(self, *writers: Generate, progress: bool = False) -> Index:
        """Return the index with texts made of what it holds, such as `clew.generate.Reports()`; `add` and `delete` make them anew.

        What could not be made is in `failed`, with the reasons. Under a filter, those that need a language model are left out.
        """
        graph, failed = generate_texts(self.graph, self.embedder, writers, {}, progress)
        return replace(
            self,
            graph=graph,
            generators=(*self.generators, *writers),
            failed=(*self.failed, *failed),
        )

    def learn(self, context: Context, *, rate: float = 1.0, decay: float = 0.05) -> Index:
        """Return the index with what a context of "kurisu" taught: edges stronger or weaker, links it made and went over kept.

        Args: as in `clew.index.learning.Learned.after`.
        """
        learned = self.learned.after(context, self.graph, rate, decay)
        return replace(self, graph=learned.on(self.graph)[0], learned=learned)

    def forget(self) -> Index:
        """Return the index as it was before it learnt anything."""
        return replace(self, graph=self.learned.off(self.graph), learned=Learned())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the index to a folder, whole or not at all, without the framework objects its documents came as; see `clew.store.save`."""
        from clew.store import save

        save(self, path)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        embedder: Any = None,
        count: Callable[[str], Any] | str | None = None,
        splitter: Any = ...,
        links: Any = ...,
        extractor: Any = ...,
        writers: Any = ...,
        canonical: Any = ...,
        verify: Literal["size", "full"] = "size",
        generation: int | None = None,
    ) -> Index:
        """Return the index that was saved in a folder; what is not clew's own is given again: see `clew.store.load`."""
        from clew.store import load

        own = {
            "embedder": embedder,
            "count": count,
            "splitter": splitter,
            "links": links,
            "extractor": extractor,
            "writers": writers,
        }
        return load(path, **own, canonical=canonical, verify=verify, generation=generation)

    def rebuild(
        self,
        documents: tuple[Document, ...],
        facts: Mapping[str, Sequence[Triple]],
        progress: bool = False,
        writers: tuple[Generate, ...] | None = None,
        free: bool = False,
    ) -> Index:
        """Return the index of these documents and facts, made as this one was; what is embedded or read already is not so again.

        Args: `free` keeps the extractor from asking a language model.
        """
        if not self.documents:
            raise ValueError(
                "this index was made of a graph: change the graph, and make an index of that"
            )
        known: dict[str, Vectors] = {}
        if not self.fitted:  # what the embedder has made of a text already
            own = {document.id for document in self.documents if document.vector is not None}
            instead = texts_embedded_as(self.documents)
            for row in rows_to_embed(self.graph).tolist():
                if self.graph.ids[row] not in own:
                    known[text_to_embed(self.graph, row, instead)] = self.graph.vectors[row]
            known |= dict(zip(self.graph.facts.texts, self.graph.facts.vectors, strict=True))
        embedder = None if self.fitted else self.embedder
        how = (
            self.splitter,
            self.graph.count,
            embedder,
            self.links,
            known,
            progress,
            self.extractor,
            self.extracted,
        )
        embedder, graph, reads = build_graph(
            documents, facts, *how, dict(self.failed) if free else None, self.graph.canonical
        )
        chosen = self.generators if writers is None else writers
        graph, failed = generate_texts(graph, embedder, chosen, known, progress)
        graph, learned = self.learned.on(graph)
        made = replace(
            self,
            graph=graph,
            embedder=embedder,
            documents=documents,
            facts=facts,
            generators=chosen,
            extracted=reads.read,
        )
        return replace(made, learned=learned, failed=(*reads.failed, *failed))

    def answer(
        self,
        question: str,
        vector: Any,
        recipe: str | Method,
        budget: int | None,
        limit: int | None,
        deadline: float | None,
        model: Any,
        given: Mapping[int, float] | None = None,
    ) -> Context:
        """Return the context for a question whose vector is known; `given` are candidates' scores by row. See `ask`."""
        from clew import recipes

        method = recipes.get(recipe)
        if not self.graph.content.any():
            why = Step("filter", 0.0, {"fallback": "the filter allows none of the passages"})
            return Context((), "", 0, budget, question, repr(method), trace=(why,))
        row = unit_rows(
            [vector],
            ["the question"],
            self.graph.vectors.shape[1],
            zeros=self.embedder.allows_zero_vectors,
        )[0]
        query = Query(question, row, None, self._embed, model, limit, deadline, given)
        return self.graph.part(BoundMethod(method))(query, UNLIMITED if budget is None else budget)

    def _embed(self, texts: list[str]) -> Vectors:
        return embed_texts(
            self.embedder,
            [canonical_text(self.graph, text) for text in texts],
            width=self.graph.vectors.shape[1],
        )

    def _restricted(self, where: Where | None) -> Index:
        """The index of what a filter allows, equal to one built of that alone."""
        return self if where is None else filtered_index(self, where)
