"""Filters by metadata in the languages of vector stores: documents that have one of some values."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, cast

from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStore

Value = str | int | float
"""What an edge leads by; a truth value is a number."""

Having = Callable[[VectorStore, str, Sequence[Value], object], object]
"""(store, key of metadata, wanted values, what is allowed anyway) -> filter.

None allows everything. NotImplemented stands for a filter beside which no other can be set.
"""


def no_having(_: object, key: str, values: Sequence[Value], filter: object) -> object:  # noqa: ARG001  # as others have them
    """Return that no filter can be set, for a store that takes none."""
    return NotImplemented


def function_having(_: object, key: str, values: Sequence[Value], filter: object) -> object:
    """Return a function of a document, or of its metadata."""
    if filter is not None and not callable(filter):
        return NotImplemented

    def test(document: Document | Mapping[str, object]) -> bool:
        own = (document.metadata if isinstance(document, Document) else document).get(key)
        listed = own if isinstance(own, (list, tuple, set)) else [own]
        return any(one in values for one in listed) and (filter is None or bool(filter(document)))

    return test


def mapping_having(_: object, key: str, values: Sequence[Value], filter: object) -> object:
    """Return a mapping with `$in` for values of each type, `$eq` for truth values, and `$and`.

    Chroma takes values of one type in a list, and PGVector no truth value.
    """
    if filter is not None and not isinstance(filter, Mapping):
        return NotImplemented
    of_type: dict[type, list[Value]] = {}
    for value in values:
        of_type.setdefault(type(value), []).append(value)
    truths = of_type.pop(bool, [])
    conditions: list[Any] = [{key: {"$in": listed}} for listed in of_type.values()]
    conditions += [{key: {"$eq": truth}} for truth in truths]
    only = conditions[0] if len(conditions) == 1 else {"$or": conditions}
    return {"$and": [filter, only]} if filter else only


def table_having(store: Any, key: str, values: Sequence[Value], filter: object) -> object:  # noqa: ANN401
    """Return a mapping for a `PGVectorStore`, in which a key is a column or a field of JSON.

    The store reads a field as the type of the wanted values, and fails where another row has none
    of that type. So fields are compared as texts, where `7` and `"7"` are one.
    """
    table = table_of(store)
    if not hasattr(table, "aget"):  # before langchain_postgres 0.0.17, whose filters reach no JSON
        return NotImplemented
    if key in table.metadata_columns:
        wanted = _of_the_column(store, key, values)
    elif table.metadata_json_column is None or key in (table.id_column, table.content_column):
        wanted = list(values)
    else:
        texts = (text for value in values for text in json_texts(value))
        wanted = list(dict.fromkeys(texts))
    if wanted:
        return mapping_having(store, key, wanted, filter)
    nothing = {table.id_column: {"$exists": False}}
    return {"$and": [filter, nothing]} if filter else nothing


def table_of(store: Any) -> Any:  # noqa: ANN401
    """Return the `AsyncPGVectorStore` that a `PGVectorStore` asks, or that the store is itself."""
    return getattr(store, "_PGVectorStore__vs", store)


def _of_the_column(store: Any, key: str, values: Sequence[Value]) -> list[Value]:  # noqa: ANN401
    """Return the values that a column may have, by one that it has: SQL fails to compare others.

    A store that only its own event loop may ask gets all of them.
    """
    loop = getattr(getattr(store, "_engine", None), "_loop", None)
    if loop is None or loop is asyncio._get_running_loop():
        return list(values)
    found = store.get(where={key: {"$exists": True}}, limit=1, include=["metadatas"])
    return [
        value
        for metadata in found["metadatas"]
        for wanted in values
        for value in _as_in_column(metadata[key], wanted)
    ]


def _as_in_column(example: object, value: Value) -> list[Value]:
    """Return a value as a column has it that has this example; nothing where it has none such.

    Example:
        >>> [_as_in_column(3, value) for value in (7, 7.0, 7.5, True, "7")]
        [[7], [7], [], [], []]
        >>> [_as_in_column(2.5, value) for value in (7, True, "7")], _as_in_column("u1", "7")
        ([[7.0], [], []], ['7'])
    """
    if isinstance(value, (str, bool)) or isinstance(example, (str, bool)):
        return [value] if type(value) is type(example) else []
    if isinstance(example, int):
        return [int(value)] if value == value // 1 else []
    return [float(value)] if isinstance(example, (float, Decimal)) else []


def json_texts(value: Value) -> list[str]:
    """Return the texts that a value may have in JSON, without the quotes of a text.

    Example:
        >>> [json_texts(value) for value in ("u1", True, 2.5, 7)]
        [['u1'], ['true'], ['2.5'], ['7', '7.0']]
    """
    if isinstance(value, str):
        return [value]
    if isinstance(value, bool) or value != value // 1:
        return [json.dumps(value)]
    return list(dict.fromkeys([json.dumps(value), f"{int(value)}", f"{int(value)}.0"]))


def either_having(store: object, key: str, values: Sequence[Value], filter: object) -> object:
    """Return a mapping beside a mapping, otherwise a function, as FAISS takes both."""
    how = mapping_having if isinstance(filter, Mapping) else function_having
    return how(store, key, values, filter)


def qdrant_having(store: Any, key: str, values: Sequence[Value], filter: object) -> object:  # noqa: ANN401
    """Return a `Filter` of Qdrant's, which compares values of one type by one condition."""
    from qdrant_client import models

    path = f"{store.metadata_payload_key}.{key}"
    texts = [value for value in values if isinstance(value, str)]
    truths = [value for value in values if isinstance(value, bool)]
    numbers = [one for one in values if isinstance(one, int | float) and not isinstance(one, bool)]
    conditions: list[Any] = [
        models.FieldCondition(key=path, range=models.Range(gte=number, lte=number))
        for number in numbers
    ]
    conditions += [
        models.FieldCondition(key=path, match=models.MatchValue(value=truth)) for truth in truths
    ]
    if texts:
        conditions.append(models.FieldCondition(key=path, match=models.MatchAny(any=texts)))
    only = conditions[0] if len(conditions) == 1 else models.Filter(should=conditions)
    of_caller = [] if filter is None else [cast("models.Filter", filter)]
    return models.Filter(must=[only, *of_caller])


def lancedb_having(store: Any, key: str, values: Sequence[Value], filter: object) -> object:  # noqa: ANN401
    """Return a condition of SQL."""
    if not hasattr(store, "get_table"):  # another class of this name, which takes no filter
        return NotImplemented
    condition, kind = lancedb_condition(filter), _kind_in_lancedb(store, key)
    wanted = ", ".join(sql_literal(value) for value in values if _may_be(kind, value))
    if not wanted:
        only = "false"
    elif "list<" in kind:  # which SQL searches otherwise
        only = f"array_has_any(metadata.`{key}`, [{wanted}])"
    else:
        only = f"metadata.`{key}` IN ({wanted})"
    return only if condition is None else f"({condition}) AND {only}"


def _kind_in_lancedb(store: Any, key: str) -> str:  # noqa: ANN401
    """Return the type of what the table has under a key of metadata, or "" for nothing."""
    table = store.get_table()
    if table is None or "metadata" not in table.schema.names:
        return ""
    kinds = {field.name: str(field.type) for field in table.schema.field("metadata").type}
    return kinds.get(key, "")


def _may_be(kind: str, value: object) -> bool:
    """Return whether a column of this type may hold a value: SQL fails to compare others.

    Example:
        >>> [_may_be("list<item: string>", value) for value in ("u1", 7)]
        [True, False]
        >>> [_may_be("int64", value) for value in ("u1", 7, True)], _may_be("bool", True)
        ([False, True, False], True)
    """
    if isinstance(value, str):
        return "string" in kind or "utf8" in kind
    if isinstance(value, bool):
        return "bool" in kind
    return any(number in kind for number in ("int", "float", "double", "decimal"))


def lancedb_condition(filter: object) -> str | None:
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


def elasticsearch_having(_: object, key: str, values: Sequence[Value], filter: object) -> object:
    """Return clauses of Elasticsearch's.

    A text is looked for in the field `keyword`, which Elasticsearch makes of it by itself.
    """
    texts = [value for value in values if isinstance(value, str)]
    others = [value for value in values if not isinstance(value, str)]
    pairs = ((f"metadata.{key}.keyword", texts), (f"metadata.{key}", others))
    terms = [{"terms": {field: wanted}} for field, wanted in pairs if wanted]
    allowed = [] if filter is None else list(cast("Iterable[object]", filter))
    return [*allowed, terms[0] if len(terms) == 1 else {"bool": {"should": terms}}]
