"""Filters by metadata in the languages of vector stores: documents that have one of some values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.documents import Document

Having = Callable[[Any, str, Sequence[Any], Any], object]
"""(store, key of metadata, wanted values, what is allowed anyway) -> filter.

None allows everything. NotImplemented stands for a filter beside which no other can be set.
"""


def no_having(_: object, key: str, values: Sequence[Any], filter: Any) -> object:  # noqa: ANN401, ARG001  # as others have them
    """Return that no filter can be set, for a store that takes none."""
    return NotImplemented


def function_having(_: object, key: str, values: Sequence[Any], filter: Any) -> object:  # noqa: ANN401
    """Return a function of a document, or of its metadata."""
    if filter is not None and not callable(filter):
        return NotImplemented

    def test(document: Document | Mapping[str, object]) -> bool:
        own = (document.metadata if isinstance(document, Document) else document).get(key)
        listed = own if isinstance(own, (list, tuple, set)) else [own]
        return any(one in values for one in listed) and (filter is None or bool(filter(document)))

    return test


def mapping_having(_: object, key: str, values: Sequence[Any], filter: Any) -> object:  # noqa: ANN401
    """Return a mapping with the operators `$in` and `$and`."""
    if filter is not None and not isinstance(filter, Mapping):
        return NotImplemented
    only = {key: {"$in": list(values)}}
    return {"$and": [filter, only]} if filter else only


def either_having(store: object, key: str, values: Sequence[Any], filter: Any) -> object:  # noqa: ANN401
    """Return a mapping beside a mapping, otherwise a function, as FAISS takes both."""
    how = mapping_having if isinstance(filter, Mapping) else function_having
    return how(store, key, values, filter)


def qdrant_having(store: Any, key: str, values: Sequence[Any], filter: Any) -> object:  # noqa: ANN401
    """Return a `Filter` of Qdrant's."""
    from qdrant_client import models

    path = f"{store.metadata_payload_key}.{key}"
    only = models.FieldCondition(key=path, match=models.MatchAny(any=list(values)))
    return models.Filter(must=[only] if filter is None else [only, filter])


def lancedb_having(store: Any, key: str, values: Sequence[Any], filter: Any) -> object:  # noqa: ANN401
    """Return a condition of SQL."""
    if not hasattr(store, "get_table"):  # another class of this name, which takes no filter
        return NotImplemented
    condition, wanted = lancedb_condition(filter), ", ".join(map(sql_literal, values))
    only = f"metadata.`{key}` IN ({wanted})"
    if _is_list_in_lancedb(store, key):
        only = f"array_has_any(metadata.`{key}`, [{wanted}])"
    return only if condition is None else f"({condition}) AND {only}"


def _is_list_in_lancedb(store: Any, key: str) -> bool:  # noqa: ANN401
    """Return whether the table has lists under a key of metadata, which SQL searches otherwise."""
    table = store.get_table()
    if table is None or "metadata" not in table.schema.names:
        return False
    kinds = {field.name: str(field.type) for field in table.schema.field("metadata").type}
    return "list<" in kinds.get(key, "")


def lancedb_condition(filter: Any) -> str | None:  # noqa: ANN401
    """Return a filter of LanceDB's as SQL: it takes that, or a mapping of values by column."""
    if isinstance(filter, Mapping):
        return " AND ".join(f"{column} = {sql_literal(value)}" for column, value in filter.items())
    return None if filter is None else str(filter)


def sql_literal(value: object) -> str:
    """Return a value as SQL writes it.

    Example:
        >>> [sql_literal(value) for value in ("Anna's", 3, True)]
        ["'Anna''s'", '3', 'true']
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return str(value)
    quoted = str(value).replace("'", "''")
    return f"'{quoted}'"


def elasticsearch_having(_: object, key: str, values: Sequence[Any], filter: Any) -> object:  # noqa: ANN401
    """Return clauses of Elasticsearch's.

    A text is looked for in the field `keyword`, which Elasticsearch makes of it by itself.
    """
    texts = [value for value in values if isinstance(value, str)]
    others = [value for value in values if not isinstance(value, str)]
    pairs = ((f"metadata.{key}.keyword", texts), (f"metadata.{key}", others))
    terms = [{"terms": {field: wanted}} for field, wanted in pairs if wanted]
    allowed = [] if filter is None else list(filter)
    return [*allowed, terms[0] if len(terms) == 1 else {"bool": {"should": terms}}]
