"""What a question asks of a vector store of LlamaIndex's, and what is made of what it gives."""

from __future__ import annotations

from collections.abc import Container, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from llama_index.core.schema import (
    BaseNode,
    MetadataMode,
    NodeRelationship,
    NodeWithScore,
    QueryBundle,
)
from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)
from llama_index.retrievers.clew.filters import where_of
from numpy.typing import ArrayLike

from clew.adapters import LEAD_DOCUMENTS, MAX_LINKS, links_in, without_relationships

Value = str | int | float
"""What an edge leads by."""

TEXT, RELATIONSHIPS = "text", "relationships"
"""In the place of a key of metadata, the first of an edge: the links in a text, and the nodes that
LlamaIndex relates to one."""

NODE_ID = "node_id"
LEADING = 10  # nodes whose links are looked at
RELATED = (
    NodeRelationship.NEXT,
    NodeRelationship.PREVIOUS,
    NodeRelationship.PARENT,
    NodeRelationship.CHILD,
    NodeRelationship.SOURCE,
)
MAX_RELATED = 2 * LEAD_DOCUMENTS  # ids that are asked for: a store need not hold all of them


@dataclass(frozen=True)
class Embed:
    """The vector of a question is wanted."""

    bundle: QueryBundle


@dataclass(frozen=True, eq=False)
class Search:
    """The nearest nodes to a vector are wanted.

    Attributes:
        bundle: The question, and the vector.
        limit: How many nodes.
        filters: What may be found.
        arguments: What else this store's query takes.
    """

    bundle: QueryBundle
    limit: int
    filters: MetadataFilters | None
    arguments: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Read:
    """The vectors of some nodes are wanted, by their ids."""

    ids: Sequence[str]


@dataclass(frozen=True)
class Fetch:
    """Some nodes are wanted, by their ids; those that are nowhere are left out."""

    ids: Sequence[str]


@dataclass(frozen=True)
class SearchResults:
    """What a search of a store gave.

    Attributes:
        nodes: Nodes with what the store scores them, best first.
        vectors: The vectors that came along, by the ids of the nodes.
    """

    nodes: Sequence[NodeWithScore]
    vectors: Mapping[str, ArrayLike] = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """What a vector store gave for a question.

    Attributes:
        nodes: Distinct nodes with a score for the question, or None, best first.
        notes: What the trace says of where they come from.
        has_names: Whether the best have many names, where somebody has looked.
    """

    nodes: Sequence[NodeWithScore]
    notes: Mapping[str, object]
    has_names: bool | None = None


Request = Embed | Search | Read | Fetch
Requests = Generator[Request, Any, Found]


def reading_once(requests: Requests) -> Requests:
    """Yield what is asked of a store, but for vectors that its searches brought along.

    The answer to a search is `SearchResults`, and the nodes alone are passed on. Only vectors that
    are missing are read.

    Args:
        requests: What is asked.
    """
    known: dict[str, ArrayLike] = {}
    answer: Any = None
    while True:
        try:
            request = requests.send(answer)
        except StopIteration as stop:
            found: Found = stop.value
            return found
        if isinstance(request, Read):
            missing = [id for id in request.ids if id not in known]
            if missing:
                known |= yield Read(missing)
            answer = {id: known[id] for id in request.ids if id in known}
        else:
            answer = yield request
            if isinstance(answer, SearchResults):
                known = {**answer.vectors, **known}
                answer = answer.nodes


def known_class(store: object, names: Container[str]) -> str | None:
    """Return which of some classes a store is of, or is derived from; None for none of them.

    Args:
        store: The store.
        names: The names of classes, which need not be installed.
    """
    classes = (one.__name__ for one in type(store).__mro__)
    return next((name for name in classes if name in names), None)


def with_text(nodes: Sequence[NodeWithScore]) -> list[NodeWithScore]:
    """Return the nodes with text; one without, such as a picture, has no tokens to read."""
    return [scored for scored in nodes if scored.get_content().strip()]


def distinct(
    found: Sequence[NodeWithScore], filters: MetadataFilters | None
) -> list[NodeWithScore]:
    """Return each node once, without relationships to what a filter may forbid."""
    first_of_id: dict[str, NodeWithScore] = {}
    for scored in _found(with_text(found), filters):
        first_of_id.setdefault(scored.node.node_id, scored)
    return list(first_of_id.values())


def joined(
    nodes: Sequence[NodeWithScore],
    more: Sequence[NodeWithScore],
    searches: list[Mapping[str, object]],
    how: str,
    names: Sequence[object],
    limit: int = LEAD_DOCUMENTS,
) -> list[NodeWithScore]:
    """Return nodes, and behind them at most so many others that a further search found.

    What it scored was another question, so that they are no nearer than the last of the first.
    """
    known = {scored.node.node_id for scored in nodes}
    new = [scored for scored in more if scored.node.node_id not in known][:limit]
    scores = [scored.score for scored in nodes if scored.score is not None]
    least = min(scores) if len(scores) == len(nodes) and scores else None
    searches.append({how: tuple(names), "found": len(new)})
    return [*nodes, *(NodeWithScore(node=scored.node, score=least) for scored in new)]


def values_of(nodes: Sequence[NodeWithScore], key: str, target: str) -> Sequence[Value]:
    """Return the values that nodes have under a key of metadata, those of a list one by one.

    Truth values are none of them: no filter of LlamaIndex's takes one.

    Args:
        nodes: The nodes, best first.
        key: The key; `text` stands for the links in the text of the best.
        target: The key under which nodes are called what a link calls them.
    """
    distinct: dict[Value, None] = {}
    if key == TEXT:
        for scored in islice(nodes, LEADING):
            name = scored.node.metadata.get(target)
            text = scored.node.get_content(MetadataMode.NONE)
            distinct |= dict.fromkeys(links_in(text, name if isinstance(name, str) else ""))
        return list(islice(distinct, MAX_LINKS))
    for scored in nodes:
        value = scored.node.metadata.get(key)
        for single in value if isinstance(value, (list, tuple, set)) else [value]:
            if isinstance(single, (str, int, float)) and not isinstance(single, bool):
                distinct.setdefault(single)
    texts = [single for single in distinct if isinstance(single, str)]
    return texts or list(distinct)  # a filter of LlamaIndex's has values of one type


def related_ids(nodes: Iterable[BaseNode]) -> list[str]:
    """Return the ids of the nodes next to, above, below and behind some nodes, but for these.

    Args:
        nodes: The nodes, best first.
    """
    listed = list(nodes)
    own, others = {node.node_id for node in listed}, dict[str, None]()
    for node in listed:
        for kind in RELATED:
            named = node.relationships.get(kind, [])
            for one in named if isinstance(named, list) else [named]:
                if one.node_id not in own:
                    others.setdefault(one.node_id)
    return list(islice(others, MAX_RELATED))


def allowed_by(
    filters: MetadataFilters | None, nodes: Sequence[NodeWithScore]
) -> list[NodeWithScore]:
    """Return the nodes that the filters allow; a store does not filter what is named by id."""
    test = where_of(filters)
    return [one for one in nodes if test is None or test(one.node.metadata)]


def search_having(search: Search, store: object, key: str, values: Sequence[Value]) -> Search:
    """Return a search for nodes with one of some values, which also keeps what is forbidden out.

    Args:
        search: The search.
        store: What is searched.
        key: The key of the metadata.
        values: The wanted values.
    """
    filters = search.filters
    name = known_class(store, ("ElasticsearchStore", "QdrantVectorStore"))
    if name == "ElasticsearchStore":  # its filters are for one value each
        clauses = [*_terms(filters), *_terms_of_either(key, values)]
        return replace(search, filters=None, arguments={"es_filter": clauses})
    only: MetadataFilter | MetadataFilters
    if name == "QdrantVectorStore" and any(isinstance(value, float) for value in values):
        each = [MetadataFilter(key=key, value=float(value)) for value in values]
        only = MetadataFilters(filters=[*each], condition=FilterCondition.OR)
    else:
        of_one_type: Any = list(values)  # see `values_of`
        only = MetadataFilter(key=key, value=of_one_type, operator=FilterOperator.IN)
    if filters is None or not filters.filters:
        return replace(search, filters=MetadataFilters(filters=[only]))
    flat = filters.condition == FilterCondition.AND  # few stores know filters in filters
    kept = filters.filters if flat else [filters]
    both = MetadataFilters(filters=[only, *kept], condition=FilterCondition.AND)
    return replace(search, filters=both)


def _terms(filters: MetadataFilters | None) -> list[dict[str, Any]]:
    """Return filters as clauses of Elasticsearch's, as its store in LlamaIndex makes them."""
    exact = [] if filters is None else filters.legacy_filters()
    return [{"term": {f"metadata.{one.key}.keyword": {"value": one.value}}} for one in exact]


def _terms_of_either(key: str, values: Sequence[Value]) -> list[dict[str, Any]]:
    """Return a clause for any of some values; texts are in the field `keyword` as they are."""
    texts = [value for value in values if isinstance(value, str)]
    others = [value for value in values if not isinstance(value, str)]
    pairs = ((f"metadata.{key}.keyword", texts), (f"metadata.{key}", others))
    terms = [{"terms": {name: wanted}} for name, wanted in pairs if wanted]
    return terms if len(terms) == 1 else [{"bool": {"should": terms}}]


def _found(nodes: Sequence[NodeWithScore], filters: MetadataFilters | None) -> list[NodeWithScore]:
    """Return a store's nodes with text; with filters, they lead to one another alone.

    Whether a filter allows the other nodes that they name, the store alone knows.
    """
    found = with_text(nodes)
    if filters is None or not filters.filters:
        return found
    ids = {scored.node.node_id for scored in found}
    return [
        NodeWithScore(node=without_relationships(one.node, ids, ids), score=one.score)
        for one in found
    ]
