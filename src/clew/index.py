"""The one object most people meet: documents in, contexts out."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from clew.context import Context
from clew.document import Document
from clew.embed import Embedder, embed_all, fit_latent, unit_rows
from clew.graph import UNLIMITED, Edges, Graph, Mask, Query, Vectors, frozen
from clew.link import Contains, Facts, Hyperlink, Mentions, Next, Shared, Similar, Synonym
from clew.read import Splitter, Triple, documents_of, read
from clew.stage import Link, Method
from clew.tokens import counter

LINKS: tuple[Link, ...] = (Contains(), Next(), Mentions(), Facts(), Hyperlink(), Shared(), Similar(), Synonym())
BUDGET = 2000
Where = Mapping[str, Any] | Callable[[Mapping[str, Any]], bool]


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
    splitter: Splitter | None = None
    links: tuple[Link, ...] = LINKS
    fitted: bool = False
    skipped: tuple[tuple[str, str], ...] = ()

    @classmethod
    def from_documents(
        cls,
        documents: Any,
        *,
        embedder: Any = None,
        facts: Mapping[str, Iterable[Triple]] | None = None,
        splitter: Splitter | None = None,
        count: Callable[[str], Any] | str | None = None,
        links: Sequence[Link] = LINKS,
        progress: bool = False,
    ) -> Index:
        """Return an index of the documents.

        Args:
            documents: texts, paths of files and folders, `clew.Document`s, LlamaIndex documents and nodes, LangChain documents, or
                several of them. A piece keeps its own id; what clew cuts is named `{id}#{start}-{end}`.
            embedder: a callable list[str] -> array [n, d], a LlamaIndex or LangChain embedder, a sentence-transformers model or the
                name of one; None for the embedded default, which is fitted on the passages and needs no download.
            facts: triples (subject, relation, object) by document id.
            splitter: cuts documents into sections, passages and sentences, as `clew.Splitter()` does; None keeps each whole.
            count: the tokenizer that budgets are counted with: a function text -> number (or list) of tokens, a tokenizer with `encode`,
                or the name of a tiktoken encoding; None for clew's own estimate.
            links: the kinds of edge to make. progress: show bars on stderr.

        Raises:
            ValueError: no documents, a document without text, an id that comes twice, vectors that are not finite, all zeros, ragged or
                of another dimension than the documents' own. Nothing is left half done.
        """
        found, skipped = documents_of(documents)
        if not found:
            seen = f"; {len(skipped)} files were skipped, for instance {skipped[0][0]}: {skipped[0][1]}" if skipped else ""
            raise ValueError(f"no documents came: an index needs at least one with text{seen}")
        given = {id: list(said) for id, said in (facts or {}).items()}
        made = _built(tuple(found), given, splitter, counter(count), embedder, tuple(links), {}, progress)
        return replace(made, skipped=tuple(skipped))

    def __repr__(self) -> str:
        return f"Index({len(self.documents):,} documents, embedder {self.embedder.name!r}, {self.graph!r})"

    def __len__(self) -> int:
        return len(self.documents)

    def ask(
        self,
        question: str,
        *,
        recipe: str | Method = "fused",
        budget: int | None = BUDGET,
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
                a filter that allows nothing, a vector that is not finite or of another dimension.
        """
        question = _checked(question, budget, limit)
        inside = self._restricted(where)
        raw = inside.embedder.question(question) if vector is None else vector
        return inside._answer(question, inside._vector(raw), recipe, budget, limit, deadline, model)

    async def aask(
        self,
        question: str,
        *,
        recipe: str | Method = "fused",
        budget: int | None = BUDGET,
        limit: int | None = None,
        where: Where | None = None,
        deadline: float | None = None,
        model: Any = None,
        vector: Any = None,
    ) -> Context:
        """Return what `ask` returns without blocking the event loop: the embedder's own async call, the rest in a thread."""
        question = _checked(question, budget, limit)
        inside = await asyncio.to_thread(self._restricted, where)
        if vector is not None:
            raw = vector
        elif inside.embedder.ask is None:
            raw = await asyncio.to_thread(inside.embedder.question, question)
        else:
            raw = await inside.embedder.ask(question)
        return await asyncio.to_thread(inside._answer, question, inside._vector(raw), recipe, budget, limit, deadline, model)

    def ask_many(self, questions: Iterable[str], **how: Any) -> list[Context]:
        """Return the contexts for several questions, in their order; see `ask`."""
        return [self.ask(question, **how) for question in questions]

    def add(self, documents: Any, *, facts: Mapping[str, Iterable[Triple]] | None = None, progress: bool = False) -> Index:
        """Return the index with these documents too; the result is that of an index built of all of them at once."""
        more = {id: list(said) for id, said in (facts or {}).items()}
        return self._again((*self.documents, *documents_of(documents).documents), {**self.facts, **more}, progress)

    def delete(self, ids: str | Iterable[str]) -> Index:
        """Return the index without the documents of these ids; facts and entities go with the last passage they were read from."""
        gone = {ids} if isinstance(ids, str) else set(ids)
        unknown = gone - {document.id for document in self.documents}
        if unknown:
            raise ValueError(f"{len(unknown)} of the ids to delete are not in the index, for instance {min(unknown)!r}")
        left = tuple(document for document in self.documents if document.id not in gone)
        if not left:
            raise ValueError("deleting these would leave an index without documents")
        return self._again(left, {id: said for id, said in self.facts.items() if id not in gone}, False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the index to a folder, whole or not at all; see `clew.store.save`."""
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
        verify: Literal["size", "full"] = "size",
        generation: int | None = None,
    ) -> Index:
        """Return the index that was saved in a folder; what is not clew's own is given again: see `clew.store.load`."""
        from clew.store import load

        return load(path, embedder=embedder, count=count, splitter=splitter, links=links, verify=verify, generation=generation)

    def _again(self, documents: tuple[Document, ...], facts: Mapping[str, Sequence[Triple]], progress: bool) -> Index:
        known = {} if self.fitted else dict(zip(self.graph.texts, self.graph.vectors, strict=True))
        embedder = None if self.fitted else self.embedder
        return _built(documents, facts, self.splitter, self.graph.count, embedder, self.links, known, progress)

    def _vector(self, raw: Any) -> Vectors:
        row: Vectors = unit_rows([raw], ["the question"], self.graph.vectors.shape[1], zeros=self.embedder.zeros)[0]
        return row

    def _answer(
        self,
        question: str,
        vector: Vectors,
        recipe: str | Method,
        budget: int | None,
        limit: int | None,
        deadline: float | None,
        model: Any,
        given: Mapping[int, float] | None = None,
    ) -> Context:
        from clew import recipes

        method = recipes.get(recipe)
        query = Query(question, vector, None, self._embed, model, limit, deadline, given)
        return self.graph.part(_Bound(method))(query, UNLIMITED if budget is None else budget)

    def _embed(self, texts: list[str]) -> Vectors:
        return embed_all(self.embedder, texts, width=self.graph.vectors.shape[1])

    def _restricted(self, where: Where | None) -> Index:
        """The index of what a filter allows, equal to one built of that alone."""
        if where is None:
            return self
        allowed = allowed_by(self.graph, where)
        if allowed.all():
            return self
        if not allowed[self.graph.content].any():
            raise ValueError(f"the filter {where!r} allows none of the {int(self.graph.content.sum())} passages")
        return self.graph.part(_Filtered(self, allowed.tobytes()))


@dataclass(frozen=True)
class _Bound:
    """A method bound to a graph."""

    method: Method

    def of(self, graph: Graph) -> Callable[[Query, int], Context]:
        return self.method.on(graph)


@dataclass(frozen=True)
class _Filtered:
    """The index that a filter leaves; edges that depend on the whole corpus, and the fitted embedder, are made again."""

    index: Index
    allowed: bytes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Filtered) and self.allowed == other.allowed

    def __hash__(self) -> int:
        return hash(self.allowed)

    def of(self, graph: Graph) -> Index:
        left = graph.where(np.frombuffer(self.allowed, np.bool_))
        if self.index.fitted:
            bare = replace(left, vectors=frozen(np.zeros((len(left), 0)), np.float32))
            embedder, left = _embedded(bare, None, {}, {}, False)
        else:
            embedder = self.index.embedder
        stay = Edges.join([left.edges.take(np.flatnonzero(~left.edges.kinds.mask(*_corpus_wide_kinds(self.index.links))))])
        again = [link.on(left) for link in self.index.links if link.corpus_wide]
        return replace(self.index, graph=left.linked(Edges.join([stay, *again])), embedder=embedder)


def _corpus_wide_kinds(links: Sequence[Link]) -> list[str]:
    return [type(link).__name__.lower() for link in links if link.corpus_wide]


def allowed_by(graph: Graph, where: Where) -> Mask:
    """Return which nodes a filter allows: bool [n]; it is asked about the metadata of content alone.

    Args:
        where: a function of a passage's metadata, or a mapping of wanted values (a list means any of its values).
    """
    test = where if callable(where) else _matches(where)
    content = graph.content
    return np.array([not content[row] or bool(test(graph.metadata[row])) for row in range(len(graph))], np.bool_)


def _matches(wanted: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], bool]:
    several = {key: value if isinstance(value, (list, tuple, set, frozenset)) else [value] for key, value in wanted.items()}
    return lambda metadata: all(key in metadata and metadata[key] in values for key, values in several.items())


def _built(
    documents: tuple[Document, ...],
    facts: Mapping[str, Sequence[Triple]],
    splitter: Splitter | None,
    count: Callable[[str], int],
    embedder: Any,
    links: tuple[Link, ...],
    known: Mapping[str, Any],
    progress: bool,
) -> Index:
    from tqdm import tqdm

    for document in documents:
        if not document.heading and not document.text.strip():
            raise ValueError(f"the document {document.id!r} has no text")
    graph = read(documents, splitter=splitter, facts=facts, count=count, progress=progress)
    instead = {document.id: document.embedded_as for document in documents if document.embedded_as is not None}
    made, graph = _embedded(graph, embedder, known, instead, progress)
    bar = tqdm(links, desc="linking", unit="kind", disable=not progress)
    graph = graph.linked(Edges.join([link.on(graph) for link in bar]))
    return Index(graph, made, documents, facts, splitter, links, fitted=embedder is None)


def _embedded(graph: Graph, embedder: Any, known: Mapping[str, Any], instead: Mapping[str, str], progress: bool) -> tuple[Embedder, Graph]:
    """The graph with a vector for every passage, sentence, entity and fact, and the embedder, fitted on the passages if none came."""
    rows = np.flatnonzero(graph.content | graph.kinds.mask("entity"))
    texts = [instead.get(graph.ids[row], graph.texts[row]) for row in rows]
    passages = [graph.texts[row] for row in graph.rows("passage")]
    made = fit_latent(passages) if embedder is None else Embedder.of(embedder)
    width = graph.vectors.shape[1] or None
    given = {row for row in rows.tolist() if width and graph.vectors[row].any()}
    missing = [i for i, row in enumerate(rows.tolist()) if row not in given and texts[i] not in known]
    fresh = embed_all(made, [texts[i] for i in missing] + list(graph.facts.texts), width=width, progress=progress)
    width = fresh.shape[1] if len(fresh) else width or len(next(iter(known.values())))
    vectors = np.zeros((len(graph), width), np.float32)
    for i, row in enumerate(rows.tolist()):
        if row in given:
            vectors[row] = graph.vectors[row]
        elif texts[i] in known:
            vectors[row] = known[texts[i]]
    vectors[rows[missing]] = fresh[: len(missing)]
    facts = replace(graph.facts, vectors=frozen(fresh[len(missing) :].reshape(len(graph.facts), width), np.float32))
    return made, replace(graph, vectors=frozen(vectors, np.float32), facts=facts)


def _checked(question: str, budget: int | None, limit: int | None) -> str:
    if not isinstance(question, str) or not question.strip():
        raise ValueError(f"a question is a text with at least one word; got {question!r}")
    for name, value in (("budget", budget), ("limit", limit)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1):
            raise ValueError(f"{name} is a whole number of at least 1, or None; got {value!r}")
    return question.strip()


def narrow(
    question: str,
    candidates: Any,
    *,
    recipe: str | Method = "fused",
    budget: int | None = BUDGET,
    embedder: Any = None,
    count: Callable[[str], Any] | str | None = None,
    facts: Mapping[str, Iterable[Triple]] | None = None,
    limit: int | None = None,
    model: Any = None,
    vector: Any = None,
) -> Context:
    """Return the context made of another retriever's candidates alone: a small graph of them, and no index.

    Args:
        candidates: documents, best first, as `Index.from_documents` takes them, or pairs of one and its score. Without scores their
            rank counts. The scores are the seeds' weights in the place of a search of our own.
        recipe, budget, embedder, count, facts, limit, model, vector: as in `Index`.
    """
    question = _checked(question, budget, limit)
    pairs = [pair if isinstance(pair, tuple) else (pair, None) for pair in candidates]
    if not pairs:
        raise ValueError("no candidates came: there is nothing to make a context of")
    index = Index.from_documents([document for document, _ in pairs], embedder=embedder, count=count, facts=facts)
    scores = [n if score is None else score for n, (_, score) in zip(range(len(pairs), 0, -1), pairs, strict=True)]
    top = max(scores)
    given = {index.graph.row(d.id): max(0.0, float(s)) / (top if top > 0 else 1) for d, s in zip(index.documents, scores, strict=True)}
    known = index._vector(index.embedder.question(question) if vector is None else vector)
    return index._answer(question, known, recipe, budget, limit, None, model, given)
