"""The index that a server holds: asked by many at once, changed by one at a time.

An index does not change. A change makes the next one, saves it where the server has a saved index,
and puts it in the place of the one before; a question keeps the one that it began with. What HTTP
and other protocols offer is here once, and knows none of them.

Documents and questions may be strangers'. No source has more than its share of a page, no string is
ever a path, and a recipe is one of clew's own names, never a file.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Unpack

from clew import recipes
from clew.budget import without_warning
from clew.cite import quotes
from clew.context import Context
from clew.conversation import own_quotes
from clew.document import Document
from clew.graph import Graph, heading_of
from clew.index.answer import UNTRUSTED_SHARE
from clew.index.given_facts import changed_facts
from clew.index.index import Index
from clew.index.locating import with_locations
from clew.index.narrowing import narrow
from clew.index.question import DEFAULT_BUDGET, QueryKeywords, QueryOptions
from clew.index.saving import is_newest_saved
from clew.items import Item
from clew.model import Model
from clew.render import Render
from clew.serve.work_queue import QueueFullError
from clew.show import location_of
from clew.storage.address import without_password
from clew.text.unicode_forms import unicode_forms
from clew.types import BoundMethodPart, Method
from clew.version import __version__

FACT_PREFIX = "fact:"  # of the id of an item that is a fact
MAX_SOURCE = 200_000  # characters of a document that are shown around a passage
MAX_NEIGHBOURS = 50
MAX_BEGINNING = 160  # characters of a neighbour's text
MAX_KEYS, MAX_VALUES, MAX_VALUE = 50, 50, 200  # of metadata: keys, values of each, characters
DEADLINE = 30.0  # seconds of a question


class UnknownIdError(LookupError):
    """The index has nothing with this id."""


class KnownIdError(ValueError):
    """The index has a document with this id already."""


class ReadOnlyError(PermissionError):
    """The server was started without the leave to change its index."""


class NoFolderError(ValueError):
    """There is no folder to be read again."""


@dataclass(frozen=True)
class ServedOptions:
    """How a served index is asked where a question does not say.

    Attributes:
        recipe: The method, and what it is called.
        method: What the recipe stands for.
        budget: Tokens of a context.
        max_share: The share of a context that one source may have, above 0 and at most 1.
        deadline: Seconds that a question may take.
        model: The language model that answers; None for quotes. Recipes do without it: they would
            ask it again at every move of a budget, while others wait.
        writable: Whether documents may come and go.
        saved_to: The folder of the saved index, or its address in a storage, which every change is
            saved to, and which `ServedIndex.follow` opens again; None for nowhere.
        read_again: Returns the index of the folder as it is now, of the index as it was; None where
            there is no folder.
    """

    recipe: str = recipes.DEFAULT
    method: Method = recipes.RECIPES[recipes.DEFAULT].method
    budget: int = DEFAULT_BUDGET
    max_share: float = UNTRUSTED_SHARE
    deadline: float = DEADLINE
    model: Model | None = None
    writable: bool = False
    saved_to: Path | str | None = None
    read_again: Callable[[Index], Index] | None = None


@dataclass(frozen=True, eq=False)
class AskedAnswer:
    """A context, and the index that it was made of.

    Attributes:
        context: The context.
        index: The index; None where the context is of candidates.
        too_large: Tokens of the best passage, where that alone is larger than the budget; else 0.
        question: What quotes answer, where it was looked up with what it refers to; None for the
            context's own question.
    """

    context: Context
    index: Index | None = None
    too_large: int = 0
    question: str | None = None

    @property
    def remark(self) -> str:
        """What an asker has to know about what is not read; "" for nothing."""
        if not self.too_large:
            return ""
        return (
            f"The best passage was left out: it takes {self.too_large:,} tokens, more than the "
            f"whole budget of {self.context.budget:,}. A larger budget holds it."
        )

    @cached_property
    def quotes(self) -> str:
        """The sentences that answer, each with the number of its item; "" where none does."""
        context, index = self.context, self.index
        if not context.items:
            return ""
        if self.question is None or self.question == context.question:
            return quotes(context, index=index)
        return own_quotes(self.question, context, lambda one: quotes(one, index=index))


class IndexChange(NamedTuple):
    """What a change did.

    Attributes:
        added: Ids of documents that came, in their order.
        replaced: Ids of documents that are others now.
        deleted: Ids of documents that went.
        facts_changed: Ids of documents that were there before and are there now, and came with
            other facts then: facts go with the text that says them.
        facts_lost: Those of them that have none of these facts any more.
        documents: How many there are now.
        saved: Whether the change is on the disk.
    """

    added: tuple[str, ...]
    replaced: tuple[str, ...]
    deleted: tuple[str, ...]
    facts_changed: tuple[str, ...]
    facts_lost: tuple[str, ...]
    documents: int
    saved: bool


class ServedIndex:
    """An index that is asked and changed from many threads.

    Args:
        index: The index.
        options: How it is asked; None for the defaults.

    Example:
        >>> served = ServedIndex(Index.from_documents(["Anna married Ben.", "Ben is on Corfu."]))
        >>> served.ask("Who is on Corfu?", limit=1).context.text
        '- Ben is on Corfu.'
    """

    def __init__(self, index: Index, options: ServedOptions | None = None) -> None:
        self.options = options or ServedOptions()
        self.changes = 0
        self.started = time.time()
        self._index = index
        self._changing = threading.Lock()
        self._metadata: tuple[Index, dict[str, list[Any]]] | None = None

    @property
    def index(self) -> Index:
        """The index as it is now."""
        return self._index

    @property
    def shown_place(self) -> str:
        """Where the index is saved, without a password; "" for nowhere."""
        place = self.options.saved_to
        return without_password(place) if isinstance(place, str) else str(place or "")

    def prepare(self) -> None:
        """Make what the first question needs, before it comes."""
        self._prepare(self._index)

    def follow(self) -> bool:
        """Open what another process has saved since, and return whether there was anything.

        Questions under way keep the index that they began with. Where nothing is new, that takes
        as long as listing the folder, or two requests of a storage.

        Raises:
            OSError, ValueError: It cannot be opened.
        """
        if is_newest_saved(self._index):
            return False
        with self._changing:
            return self._follow()

    def _follow(self) -> bool:
        """Do what `follow` does, where no other change is under way."""
        before, folder = self._index, self.options.saved_to
        if folder is None or is_newest_saved(before):
            return False
        after = type(before).load(folder, embedder=before.config.embedder)
        self._prepare(after)
        self._index = after
        return True

    def ask(
        self, question: str, *, numbered: bool = False, **keywords: Unpack[QueryKeywords]
    ) -> AskedAnswer:
        """Return the context for a question.

        Args:
            question: A text with at least one word.
            numbered: Whether the items are numbered in the text, to be cited.
            **keywords: As in `Index.ask`. What is not there is as the server has it.

        Raises:
            DeadlineError: The deadline passed before there was anything to answer.
            ValueError: As in `Index.ask`.
        """
        index, options = self._index, self._query_options(keywords, numbered)
        with without_warning() as too_large:  # the asker learns it
            context = index.ask(question, options=options)
        if numbered and not hasattr(options.recipe, "render"):
            context = _as_numbered(context, index)
        return AskedAnswer(context, index, max(too_large, default=0))

    def narrow(
        self, question: str, candidates: Iterable[object], **keywords: Unpack[QueryKeywords]
    ) -> AskedAnswer:
        """Return the context of candidates that another retriever found.

        Args:
            question: A text with at least one word.
            candidates: Documents, or pairs of one and its score; see `clew.narrow`.
            **keywords: As in `ask`.
        """
        options = self._query_options(keywords, numbered=False)
        with without_warning() as too_large:
            context = narrow(question, candidates, options=options, untrusted=True)
        return AskedAnswer(context, too_large=max(too_large, default=0))

    def open_source(self, id: str) -> dict[str, Any]:
        """Return where something stands: the text of its document, and its place in there.

        Args:
            id: Of an item, also of a fact, or of another node. What is in no document, such as a
                fact or a name, is opened where it was read first.

        Returns:
            `id` and `kind` as they were asked for; `opened`, the id that the rest is of; the
            document's `document`, `metadata` and `length` in characters; its `text` from the place
            `offset` on, at most 200,000 characters; `span`, the place in the document; `heading`,
            `location`, and `read_from`, the ids of the passages that it was read in.

        Raises:
            UnknownIdError: There is nothing with this id.
        """
        index = self._index
        kind, row, passages = _place_of(index.graph, id)
        return {"id": id, "kind": kind, **_source_at(index, row), "read_from": passages}

    def neighbours(self, id: str, limit: int = MAX_NEIGHBOURS) -> list[dict[str, Any]]:
        """Return what something is linked to, the strongest links first.

        Args:
            id: Of an item, also of a fact, or of another node.
            limit: The most neighbours.

        Returns:
            For each the `id` and `kind` of the node, the `edge` (its kinds), the `weight`, the
            `fact` that the edge states or "", and a `beginning` of its text.

        Raises:
            UnknownIdError: There is nothing with this id.
        """
        graph = self._index.graph
        if id.startswith(FACT_PREFIX) and not graph.has(id):
            return _neighbours_of_fact(graph, _fact_of(graph, id))[:limit]
        row = _row_of(graph, id)
        links = graph.links()
        slots = range(int(links.starts[row]), int(links.starts[row + 1]))
        strongest = sorted(slots, key=lambda slot: -float(links.weights[slot]))[:limit]
        return [
            _neighbour(
                graph,
                int(links.targets[slot]),
                links.edges[slot].tolist(),
                float(links.weights[slot]),
            )
            for slot in strongest
        ]

    def add(self, documents: Sequence[Document], *, replace_known: bool = False) -> IndexChange:
        """Add documents.

        Args:
            documents: The documents.
            replace_known: Whether one of a known id takes its place.

        Raises:
            ReadOnlyError: The index may not be changed.
            KnownIdError: An id is there already.
            QueueFullError: Another process is saving the index just now.
            ValueError: A document has no text, or an id comes twice.
        """

        def with_more(index: Index) -> Index:
            if replace_known:
                return index.upsert(documents)
            for document in documents:
                if document.id in index.document_of:
                    raise KnownIdError(
                        f"there is a document {_shown(document.id)} already: give another id, or "
                        "say that it takes its place (`replace`)"
                    )
            return index.add(documents)

        return self._change(with_more)

    def delete(
        self, ids: Iterable[str] | None = None, *, where: Mapping[str, object] | None = None
    ) -> IndexChange:
        """Delete documents by their ids or by their metadata, as `Index.delete` does.

        Raises:
            ReadOnlyError: The index may not be changed.
            UnknownIdError: An id is not in the index.
            QueueFullError: Another process is saving the index just now.
            ValueError: No document would be left.
        """
        wanted = None if ids is None else list(ids)

        def without(index: Index) -> Index:
            for id in wanted or ():
                if id not in index.document_of:
                    raise UnknownIdError(f"there is no document {_shown(id)}")
            return index.delete(wanted, where=where)

        return self._change(without)

    def sync(self, documents: Sequence[Document] | None = None) -> IndexChange:
        """Make the index that of these documents alone, or of its folder as it is now.

        Args:
            documents: The documents; None for the folder.

        Raises:
            ReadOnlyError: The index may not be changed.
            NoFolderError: There is no folder.
            QueueFullError: Another process is saving the index just now.
        """
        if documents is not None:
            return self._change(lambda index: index.sync(documents))
        self._check_writable()
        read_again = self.options.read_again
        if read_again is None:
            raise NoFolderError(
                "the server knows no folder to read again: start it with a folder, or with "
                "--folder beside a saved index, or send the documents"
            )

        def read(before: Index) -> Index:
            try:
                return read_again(before)
            except FileNotFoundError as error:
                raise NoFolderError(f"{error}: the index stays as it was") from error

        return self._change(read)

    def status(self) -> dict[str, Any]:
        """Return what is served, in numbers and names."""
        index, options = self._index, self.options
        return {
            "version": __version__,
            "documents": len(index),
            "passages": len(index.graph.rows("passage")),
            "nodes": len(index.graph),
            "edges": len(index.graph.edges),
            "facts": len(index.graph.facts),
            "embedder": index.embedder.name,
            "recipe": options.recipe,
            "budget": options.budget,
            "max_share": options.max_share,
            "deadline": options.deadline,
            "model": None if options.model is None else options.model.name,
            "writable": options.writable,
            "saved": options.saved_to is not None,
            "can_sync": options.read_again is not None,
            "changes": self.changes,
            "seconds": time.time() - self.started,
        }

    def metadata_values(self) -> dict[str, list[Any]]:
        """Return the keys of the documents' metadata, each with values to filter by.

        Keys that nearly every document has its own value of come last; at most 50 keys, with at
        most 50 values each.
        """
        index, known = self._index, self._metadata
        if known is None or known[0] is not index:
            known = self._metadata = index, _metadata_values(index.documents)
        return known[1]

    def _query_options(self, keywords: QueryKeywords, numbered: bool) -> QueryOptions:
        """Return the options of a question, with the server's own where it says nothing."""
        mine = self.options
        given: dict[str, Any] = {key: value for key, value in keywords.items() if value is not None}
        method = recipes.get(given.pop("recipe", mine.method))
        if numbered and hasattr(method, "render"):
            changed: Any = method
            method = replace(changed, render=replace(changed.render, style="numbered"))
        defaults = QueryOptions(
            recipe=method,
            budget=mine.budget,
            deadline=mine.deadline,
            max_share=mine.max_share,
        )
        return QueryOptions.from_keywords(defaults, **given)

    def _change(self, make: Callable[[Index], Index]) -> IndexChange:
        """Put the next index in the place of this one, saved where there is a place to save it."""
        self._check_writable()
        with self._changing:
            try:
                self._follow()  # or what another process has saved would be lost
            except ValueError as error:  # no mistake of who asks for the change
                raise RuntimeError(f"what another process has saved: {error}") from error
            before = self._index
            after = make(before)
            if after is not before:
                self._save(after)  # before anybody sees what would be lost
                self._prepare(after)
                self._index = after
                self.changes += 1
            return _difference(before, after, saved=self.options.saved_to is not None)

    def _save(self, index: Index) -> None:
        place = self.options.saved_to
        if place is None:
            return
        try:
            index.save(place)
        except BlockingIOError as error:
            raise QueueFullError(
                "another process is saving the index, and nothing is changed: ask again in a moment"
            ) from error

    def _check_writable(self) -> None:
        if not self.options.writable:
            raise ReadOnlyError("this server only answers: start it with --writable to change it")

    def _prepare(self, index: Index) -> None:
        index.graph.part(BoundMethodPart(self.options.method))
        assert index.document_of is not None, "it is kept from here on"


def _as_numbered(context: Context, index: Index) -> Context:
    """Return the context of a method that has its own page, with numbers before its items."""
    text = "\n".join(Render("numbered").pieces_of(context.items))
    return replace(context, text=text, tokens=index.graph.count(text) if text else 0)


def _difference(before: Index, after: Index, *, saved: bool) -> IndexChange:
    old, new = before.document_of, after.document_of
    facts_changed = changed_facts(before, after)
    return IndexChange(
        tuple(id for id in new if id not in old),
        tuple(id for id in new if id in old and new[id] is not old[id] and new[id] != old[id]),
        tuple(id for id in old if id not in new),
        facts_changed,
        tuple(id for id in facts_changed if not after.facts.get(id)),
        len(new),
        saved,
    )


def _row_of(graph: Graph, id: str) -> int:
    """Return the row of an id, however the marks of its letters are written.

    A language model that names a file writes them in the letters, where macOS may have them apart.
    """
    for spelt in unicode_forms(id):
        if graph.has(spelt):
            return graph.row(spelt)
    raise UnknownIdError(f"there is nothing with the id {_shown(id)} in this index")


def _fact_of(graph: Graph, id: str) -> int:
    try:
        return graph.facts.texts.index(id.removeprefix(FACT_PREFIX))
    except ValueError:
        raise UnknownIdError(f"there is no fact {_shown(id)} in this index") from None


def _place_of(graph: Graph, id: str) -> tuple[str, int, list[str]]:
    """Return the kind of something, the row where it is opened, and the passages it is from."""
    if id.startswith(FACT_PREFIX) and not graph.has(id):
        kind, row = "fact", -1
        passages = graph.facts.read_from[_fact_of(graph, id)].tolist()
    else:
        row = _row_of(graph, id)
        kind, passages = graph.kinds[row], graph.read_from[row].tolist()
    names = [graph.ids[passage] for passage in passages[:MAX_NEIGHBOURS]]
    is_elsewhere = row < 0 or (graph.documents[row] < 0 and not graph.generated[row])
    if is_elsewhere and not passages:
        raise UnknownIdError(f"{_shown(id)} is in no document that could be opened")
    return kind, passages[0] if is_elsewhere else row, names


def _source_at(index: Index, row: int) -> dict[str, Any]:
    """Return the document around a node, its place there, and where that is to be opened."""
    graph, owner = index.graph, int(index.graph.documents[row])
    document = None if owner < 0 else index.document_of.get(graph.ids[owner])
    text = graph.texts[row] if document is None else document.text
    start, end = (0, len(text)) if document is None else map(int, graph.spans[row])
    name = None if document is None else document.id
    item = Item(
        graph.ids[row],
        graph.texts[row],
        0.0,
        "seed",
        graph.kinds[row],
        int(graph.tokens[row]),
        document=name,
        heading=heading_of(graph, row),
        span=None if document is None else (start, end),
    )
    [item] = with_locations([item], index.document_of, lambda: index.files_in_pieces)
    room = max(0, MAX_SOURCE - (end - start)) // 2
    offset = max(0, start - room)
    metadata = graph.metadata[row] if document is None else document.metadata
    return {
        "opened": item.id,
        "document": name,
        "text": text[offset : offset + MAX_SOURCE],
        "offset": offset,
        "length": len(text),
        "span": [start, end],
        "heading": item.heading,
        "location": location_of(item),
        "lines": item.lines,
        "metadata": dict(metadata),
    }


def _neighbour(graph: Graph, row: int, edges: Sequence[int], weight: float) -> dict[str, Any]:
    kinds = dict.fromkeys(graph.edges.kinds[edge] for edge in edges)
    facts = [fact for edge in edges if (fact := int(graph.edges.facts[edge])) >= 0]
    return {
        "id": graph.ids[row],
        "kind": graph.kinds[row],
        "edge": ", ".join(kinds),
        "weight": weight,
        "fact": graph.facts.texts[facts[0]] if facts else "",
        "beginning": _beginning(graph.texts[row]),
    }


def _neighbours_of_fact(graph: Graph, fact: int) -> list[dict[str, Any]]:
    facts = graph.facts
    rows = [(int(facts.subjects[fact]), "subject"), (int(facts.objects[fact]), "object")]
    rows += [(row, "read from") for row in facts.read_from[fact].tolist()]
    return [
        {**_neighbour(graph, row, [], 1.0), "edge": kind, "fact": facts.texts[fact]}
        for row, kind in rows
    ]


def _metadata_values(documents: Iterable[Document]) -> dict[str, list[Any]]:
    values: dict[str, dict[Any, int]] = {}
    for document in documents:
        for key, value in document.metadata.items():
            for one in value if isinstance(value, (list, tuple)) else (value,):
                is_plain = isinstance(one, (str, int, float, bool)) and len(str(one)) <= MAX_VALUE
                if is_plain and one == one:  # not a number is not equal to itself
                    counts = values.setdefault(str(key), {})
                    counts[one] = counts.get(one, 0) + 1
    by_use = sorted(values, key=lambda key: (len(values[key]) > MAX_VALUES, key))[:MAX_KEYS]
    return {
        key: sorted(values[key], key=lambda one: (-values[key][one], str(one)))[:MAX_VALUES]
        for key in by_use
    }


def _beginning(text: str) -> str:
    line = " ".join(text[: 4 * MAX_BEGINNING].split())
    return line if len(line) <= MAX_BEGINNING else f"{line[: MAX_BEGINNING - 1]}…"


def _shown(id: str) -> str:
    return repr(id if len(id) <= MAX_BEGINNING else f"{id[:MAX_BEGINNING]}…")
