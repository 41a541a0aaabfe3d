"""What the adapters of frameworks share: options by a framework's names, facts, embedders, reasons.

An adapter translates a framework's objects, and passes everything else on whole. So an option that
`clew.index.QueryOptions` or `clew.index.IndexConfig` gains is an option of every adapter at once.
This module knows no framework. A list of documents, for instance, is checked against a class that
the adapter names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar, cast

from numpy.typing import ArrayLike

from clew import recipes
from clew.algorithms.mmr.mmr import select_mmr
from clew.context import Context
from clew.embedding.embedder import Embedder, EmbedderSource, with_recent_vectors
from clew.forking import renew_after_fork
from clew.garbage import collecting_rarely
from clew.index.answer import NothingFitsWarning
from clew.index.config import IndexConfig, IndexKeywords
from clew.index.index import Index
from clew.index.last_places import LastPlaces
from clew.index.leads import (
    FEW_NAMES,
    HOPS,
    LEAD_DOCUMENTS,
    MAX_LINKS,
    LeadSearches,
    check_hops,
    cosines_by_id,
    links_in,
)
from clew.index.locating import file_named_by
from clew.index.narrowing import CANDIDATES, ask_candidates
from clew.index.options import check_names, option_names
from clew.index.question import (
    OtherQueryKeywords,
    QueryKeywords,
    QueryOptions,
    Where,
    check_question,
)
from clew.index.saving import load_contents, save_contents
from clew.items import Dropped, Item, Step
from clew.model import ModelSource
from clew.overlap import distinctive_metadata
from clew.printed import Ask, Printer, fit_printed
from clew.read import Triple, text_id, without_relationships
from clew.read.json_values import check_savable
from clew.store import DEFAULT_VERIFY, Verify
from clew.text.tokens import CounterSource
from clew.types import Method

__all__ = [
    "CANDIDATES",
    "FEW_NAMES",
    "HEADING",
    "HOPS",
    "LEAD_DOCUMENTS",
    "MAX_LINKS",
    "RANK",
    "RELEVANCE",
    "ROLE",
    "SCORE",
    "SOURCE_KEYS",
    "WHY",
    "Ask",
    "CounterSource",
    "Dropped",
    "EmbedderSource",
    "FactsByDocument",
    "IndexConfig",
    "IndexKeywords",
    "LastPlaces",
    "LeadSearches",
    "Method",
    "ModelSource",
    "NothingFitsWarning",
    "OptionNames",
    "OtherQueryKeywords",
    "Printer",
    "QueryKeywords",
    "QueryOptions",
    "Where",
    "aembed_question",
    "as_list",
    "ask_candidates",
    "check_hops",
    "check_question",
    "check_recipe",
    "check_savable",
    "collecting_rarely",
    "cosines_by_id",
    "distinctive_metadata",
    "empty_context",
    "facts_among",
    "facts_by_document",
    "fit_printed",
    "links_in",
    "load_index",
    "own_metadata",
    "path_of",
    "reasons_of",
    "remember_vectors",
    "renew_after_fork",
    "save_index",
    "select_mmr",
    "source_metadata",
    "text_id",
    "with_first_step",
    "with_recent_vectors",
    "without_relationships",
]

RANK, ROLE, SCORE, WHY = "clew_rank", "clew_role", "clew_score", "clew_why"
HEADING, RELEVANCE = "clew_heading", "clew_relevance"
"""Keys under which the metadata of what is returned say why it is read."""

NOTHING_CAME = "the search found nothing to read"
"""Why a context is empty where a store or a retriever gave no document with text."""

SOURCE_KEYS = ("source", "start_index", "heading", "line", "page", "anchor")
"""Keys under which they say where it is from, where the user has no values of these names."""

FactsByDocument = Mapping[str, Sequence[Triple]]
Value = TypeVar("Value")


@dataclass(frozen=True)
class OptionNames:
    """The names by which the users of a framework know clew's options.

    Attributes:
        renamed: The framework's names, by clew's. An option that is not here has clew's name.
        own: Options that the adapter itself takes.

    Example:
        >>> names = OptionNames({"limit": "k", "where": "filter"}, own=("explain",))
        >>> names.of_question
        ('recipe', 'budget', 'k', 'filter', 'deadline', 'model', 'max_question', 'max_share', \
'min_relevance', 'strict')
        >>> names.query_options({"k": 3, "recipe": "bm25", "explain": True}).limit
        3
    """

    renamed: Mapping[str, str] = field(default_factory=dict)
    own: tuple[str, ...] = ()

    @property
    def of_question(self) -> tuple[str, ...]:
        """The names of the options of a question."""
        return self._names(QueryOptions)

    @property
    def of_index(self) -> tuple[str, ...]:
        """The names of the options of an index."""
        return self._names(IndexConfig)

    def check(self, keywords: Iterable[str], known: Iterable[str], taker: str) -> None:
        """Raise TypeError, with the names that are known, for a name that is neither known nor own.

        Args:
            keywords: The names that came.
            known: Such as `of_question`.
            taker: What takes them, for the message.
        """
        check_names(keywords, (*known, *self.own), taker)

    def check_extra(self, extra: Mapping[str, object] | None, known: Iterable[str]) -> None:
        """Check the fields that a pydantic model did not declare, in a validator of it.

        Raises:
            ValueError: A field is no option of clew's. pydantic makes a validation error of it.
        """
        try:
            check_names(extra or {}, known, "this")
        except TypeError as error:
            raise ValueError(str(error)) from error

    def check_field(self, model: object, name: str, known: Iterable[str] = ()) -> None:
        """Check the name of an attribute of a pydantic model that is about to be set.

        A model that takes options which it does not declare takes any name, and pydantic's own
        validators come too late: what they refuse is set by then.

        Args:
            model: The model.
            name: The name.
            known: What the model takes beside its fields.

        Raises:
            ValueError: It is neither a field, nor known, nor private, nor an attribute of the
                class. A mistyped option would have no effect.
        """
        kind: Any = type(model)
        if not (name.startswith("_") or name in kind.model_fields or hasattr(kind, name)):
            self.check_extra({name: None}, dict.fromkeys((*known, *kind.model_fields)))

    def query_options(self, values: Mapping[str, object], **replaced: object) -> QueryOptions:
        """Return the options of a question that are among some values.

        Args:
            values: Values by the framework's names. What is no option of a question is left aside.
            **replaced: Values by clew's names, which go before the others.

        Raises:
            ValueError: A value is out of range; the message has the framework's name for it.
        """
        try:
            return QueryOptions.from_keywords(**(self._chosen(QueryOptions, values) | replaced))
        except ValueError as error:
            name, _, rest = str(error).partition(" ")
            if name not in self.renamed:
                raise
            raise ValueError(f"{self.renamed[name]} {rest}") from error

    def index_config(self, values: Mapping[str, object], **replaced: object) -> IndexConfig:
        """Return the options of an index that are among some values; see `query_options`."""
        return IndexConfig.from_keywords(**(self._chosen(IndexConfig, values) | replaced))

    def candidates_config(self, values: Mapping[str, object], **replaced: object) -> IndexConfig:
        """Return what a graph of candidates is made with: `CANDIDATES`, and what the values say."""
        chosen = self._chosen(IndexConfig, values) | replaced
        return IndexConfig.from_keywords(CANDIDATES, **chosen)

    def index_keywords(self, values: Mapping[str, object]) -> dict[str, object]:
        """Return the options of an index that are among some values, by clew's names."""
        return self._chosen(IndexConfig, values)

    def without_index(self, values: Mapping[str, object]) -> dict[str, Any]:
        """Return the values that are no options of an index."""
        return {name: value for name, value in values.items() if name not in self.of_index}

    def _names(self, options: type[QueryOptions | IndexConfig]) -> tuple[str, ...]:
        return tuple(self.renamed.get(name, name) for name in option_names(options))

    def _chosen(
        self, options: type[QueryOptions | IndexConfig], values: Mapping[str, object]
    ) -> dict[str, Any]:
        names = {name: self.renamed.get(name, name) for name in option_names(options)}
        return {name: values[theirs] for name, theirs in names.items() if theirs in values}


def check_recipe(recipe: object) -> None:
    """Raise unless this is the name of a recipe, or a method.

    Raises:
        ValueError: No recipe has this name. The message lists the names.
        TypeError: It is neither a name nor a method.
    """
    recipes.get(recipe)  # type: ignore[arg-type]  # it says what it wants


def as_list(source: Iterable[Value], single: type, what: str, advice: str) -> list[Value]:
    """Return what came as a list; a single one is a list of one.

    Args:
        source: What came.
        single: The class of a single one.
        what: The plural, for the message.
        advice: What to do with a file or a folder, for the message.

    Raises:
        TypeError: A text or a path, which would be read letter by letter, or nothing iterable.

    Example:
        >>> as_list((1, 2), int, "numbers", "count it"), as_list(3, int, "numbers", "count it")
        ([1, 2], [3])
    """
    if isinstance(source, single):
        return [cast("Value", source)]
    if isinstance(source, (str, bytes, Path)) or not isinstance(source, Iterable):
        raise TypeError(
            f"{what} are a list of {what}, not a {type(source).__name__} ({str(source)[:60]!r}); "
            f"{advice}"
        )
    return list(source)


def facts_by_document(
    facts: Mapping[str, Iterable[Triple]] | None,
) -> dict[str, list[Triple]]:
    """Return triples by document id as lists, so that they can be read at every question.

    Args:
        facts: A mapping from ids to any iterables of triples. None stands for no facts.

    Raises:
        TypeError: It is no mapping.

    Example:
        >>> facts_by_document({"a": iter([("Anna", "married", "Ben")])})
        {'a': [('Anna', 'married', 'Ben')]}
    """
    if facts is not None and not isinstance(facts, Mapping):
        raise TypeError(
            "facts are triples by document id, {id: [(subject, relation, object), ...]}, "
            f"not a {type(facts).__name__}"
        )
    return {id: list(triples) for id, triples in (facts or {}).items()}


def facts_among(facts: FactsByDocument | None, ids: Iterable[str | None]) -> FactsByDocument:
    """Return the facts of these documents alone.

    Example:
        >>> facts_among({"a": [], "b": []}, ["b", "c", None])
        {'b': []}
    """
    wanted = set(ids)
    return {id: triples for id, triples in (facts or {}).items() if id in wanted}


def remember_vectors(embedder: Embedder, known: Mapping[str, ArrayLike]) -> Embedder:
    """Return the embedder with vectors of texts that are known already.

    Args:
        embedder: What embeds the other texts.
        known: Vectors by text.
    """
    return replace(embedder, embed_texts=RememberedVectors(embedder.embed_texts, known))


@dataclass(frozen=True)
class RememberedVectors:
    """Embeds the texts whose vectors are not known.

    Attributes:
        embed_texts: What embeds them.
        vectors: Vectors by text.
    """

    embed_texts: Callable[[list[str]], ArrayLike]
    vectors: Mapping[str, ArrayLike]

    def __call__(self, texts: list[str]) -> ArrayLike:
        unknown = list(dict.fromkeys(text for text in texts if text not in self.vectors))
        came = cast("Iterable[ArrayLike]", self.embed_texts(unknown) if unknown else ())
        embedded = list(came)
        if len(embedded) != len(unknown):
            return cast("ArrayLike", embedded)  # clew says what is wrong with that
        fresh = dict(zip(unknown, embedded, strict=True))
        vectors = [self.vectors[text] if text in self.vectors else fresh[text] for text in texts]
        return cast("ArrayLike", vectors)


async def aembed_question(embedder: Embedder | None, question: str) -> ArrayLike | None:
    """Return the question's vector by the embedder's own async call.

    It is None where there is no embedder, or none with an async call: then clew embeds the question
    in a thread.
    """
    if embedder is None or embedder.aembed_question is None:
        return None
    vector: ArrayLike = await embedder.aembed_question(question)
    return vector


def own_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata of one's own, of which a change is none of what came.

    A value that cannot be copied, such as an open file or a lock, is shared: the frameworks share
    all of them.

    Args:
        metadata: What came.

    Example:
        >>> import threading
        >>> came = {"tags": ["sea"], "lock": threading.Lock()}
        >>> own = own_metadata(came)
        >>> own["tags"].append("sun")
        >>> came["tags"], own["lock"] is came["lock"]
        (['sea'], True)
    """
    try:
        return deepcopy(dict(metadata))
    except Exception:  # noqa: BLE001  # whatever such a value raises
        return {name: _own_value(value) for name, value in metadata.items()}


def _own_value(value: object) -> object:
    try:
        return deepcopy(value)
    except Exception:  # noqa: BLE001  # as above
        return value


def empty_context(question: str, options: QueryOptions, why: str = NOTHING_CAME) -> Context:
    """Return the context without items: all there is to read where nothing was found.

    Args:
        question: What was asked.
        options: What else the question said.
        why: Why there is nothing, in a sentence without a full stop.

    Example:
        >>> empty_context("Who paints?", QueryOptions()).nothing_found
        'the search found nothing to read'
    """
    method = repr(recipes.get(options.recipe))
    return Context((), "", 0, options.budget, question, method, nothing_found=why)


def with_first_step(context: Context, stage: str, notes: Mapping[str, object]) -> Context:
    """Return the context with a step before the others of its trace, unless that is empty."""
    if not context.trace:
        return context
    return context.changed(trace=(Step(stage, 0.0, notes), *context.trace))


def path_of(item: Item) -> str:
    """Return the path from the question to an item as one text.

    Example:
        >>> from clew.context import Hop
        >>> hops = (Hop("question", "touches", "a"), Hop("a", "mentions", "entity:corfu"))
        >>> path_of(Item("b", "Corfu", 0.5, "expansion", "passage", 3, why=hops))
        'question -touches-> a -mentions-> entity:corfu'
    """
    if not item.why:
        return ""
    return "".join([item.why[0].source, *(f" -{hop.kind}-> {hop.target}" for hop in item.why)])


def reasons_of(item: Item, rank: int) -> dict[str, object]:
    """Return why an item is read, by the keys that its metadata gain.

    Args:
        item: An item of a context.
        rank: Its place in the reading, from 1.
    """
    reasons: dict[str, object] = {
        RANK: rank,
        ROLE: str(item.role),
        SCORE: float(item.score),
        WHY: path_of(item),
    }
    return reasons if item.relevance is None else {**reasons, RELEVANCE: item.relevance}


def source_metadata(item: Item) -> dict[str, object]:
    """Return where an item is from, by the keys of `SOURCE_KEYS`, as far as it is known.

    The names are those of LangChain's loaders and splitters. `source` is the path of the file, or
    the id of the document; `start_index` the place in the text of the document, in characters;
    `heading` the headings above, joined by " > "; `line` the first line in the file and `page` the
    page, both from 1; `anchor` the nearest anchor in a page of HTML.

    A text of the caller's whose metadata name a file may be the whole file or a piece of it. So
    where it starts there is left out, unless clew cut the item out of the only text of that file.

    Args:
        item: An item of a context.

    Returns:
        The values that are not None; nothing for what is in no document, such as a fact, and
        for a whole text that names no file. A key that the metadata of the item have is left out:
        it is the user's.

    Example:
        >>> item = Item("a.md#4-9", "Boats", 0.5, "seed", "passage", 3, "a.md", heading="Sea",
        ...             span=(4, 9), location="a.md:2", lines=(2, 2), metadata={"line": "mine"})
        >>> source_metadata(item)
        {'source': 'a.md', 'start_index': 4, 'heading': 'Sea'}
    """
    name = file_named_by(item.metadata)
    if not item.location or (item.location == item.id and name is None):
        return {}
    is_elsewhere = name is not None and name != (item.document or item.id)
    if is_elsewhere and item.document in (None, item.id):
        start, line = None, None
    else:
        start = None if item.span is None else item.span[0]
        line = None if item.lines is None else item.lines[0]
        if is_elsewhere and line is None and item.anchor is None and item.page is None:
            start = None
    values = (
        name or item.source,
        start,
        item.heading or None,
        line,
        item.page,
        item.anchor,
    )
    return {
        key: value
        for key, value in zip(SOURCE_KEYS, values, strict=True)
        if value is not None and key not in item.metadata
    }


def save_index(index: Index, path: str | PathLike[str], attachments: Mapping[str, str]) -> None:
    """Save an index and texts of the adapter's own as one generation: all of it, or nothing.

    Args:
        index: What is saved.
        path: As in `Index.save`.
        attachments: Texts by name, such as the nodes and the options of a retriever.

    Example:
        >>> import tempfile
        >>> index = Index.from_documents(["The sea."])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     save_index(index, folder, {"options": "{}"})
        ...     load_index(folder, {})[1]
        {'options': '{}'}
    """
    save_contents(index, path, attachments)


def load_index(
    path: str | PathLike[str],
    keywords: Mapping[str, object],
    *,
    verify: Verify = DEFAULT_VERIFY,
    generation: int | None = None,
) -> tuple[Index, Mapping[str, str]]:
    """Return an index that `save_index` saved, and the texts beside it.

    There are no texts in an index that `Index.save` saved.

    Args:
        path: As in `Index.load`.
        keywords: Fields of `IndexConfig` that are not clew's own.
        verify: As in `Index.load`.
        generation: As in `Index.load`.
    """
    contents, attachments = load_contents(path, keywords, verify, generation)
    return Index.of_contents(contents), attachments
