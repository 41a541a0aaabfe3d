"""Format 1: how an index that an earlier version saved is read with the names of this version.

The arrays of both formats are the same. The settings of format 1 name classes and fields of that
time, and list the parts of an index side by side. A class or a field that gets another name is
added to the tables below; nothing else has to change.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

Settings = Mapping[str, Any]

CLASSES = {
    "Facts": "Fact",
    "Tagged": "TaggedEntities",
}
"""New names of classes, by the name in format 1."""

FIELDS: dict[str, dict[str, str]] = {
    "Names": {
        "least": "min_passages",
        "relation": "max_relation_words",
        "longest": "max_name_words",
        "inside": "inner_words",
        "lists": "list_words",
    },
    "Reports": {"smallest": "min_passages", "reading": "prompt_tokens"},
    "Shared": {"most": "max_passages"},
    "ShortForm": {"least": "min_share", "shortest": "min_letters"},
    "Similar": {"least": "min_similarity"},
    "Summaries": {"least": "min_passages", "reading": "prompt_tokens"},
    "Synonym": {"least": "min_similarity", "shortest": "min_letters"},
    "Tagged": {"relation": "max_relation_words", "lists": "list_words"},
    "Triples": {"most": "max_facts", "said": "verbatim"},
}
"""New names of fields, by the class's name in format 1 and the field's name there."""

PARTS = {
    "splitter": "splitter",
    "extractor": "extractor",
    "canonical": "canonical",
    "links": "links",
    "writers": "generators",
    "count": "count",
}
"""The names of an index's parts now, by the name in format 1."""

ABSENT: dict[str, object] = {
    "extractor": {"name": "None", "own": None, "parameters": {}, "counters": {}},
    "canonical": {"name": "None", "own": None, "parameters": {}, "counters": {}},
    "writers": [],
}
"""Parts that the first versions of format 1 did not have."""


def upgrade_settings(settings: Settings) -> dict[str, Any]:
    """Return the settings of format 1 as those of this version.

    Raises:
        KeyError: A setting is missing.

    Example:
        >>> names = {"name": "Facts()", "own": "Facts", "parameters": {}, "counters": {}}
        >>> upgrade_record(names)["own"]
        'Fact'
    """
    complete = {**ABSENT, **settings}
    config = {
        name: [upgrade_record(record) for record in complete[old]]
        if isinstance(complete[old], list)
        else upgrade_record(complete[old])
        for old, name in PARTS.items()
    }
    return {"embedder": settings["embedder"], "fitted": settings["fitted"], "config": config}


def upgrade_record(record: Settings) -> dict[str, Any]:
    """Return the record of one part with the names of this version.

    Example:
        >>> old = {"name": "Shared(most=9)", "own": "Shared", "parameters": {"most": 9}}
        >>> upgrade_record(old)
        {'name': 'Shared(max_passages=9)', 'own': 'Shared', 'parameters': {'max_passages': 9}}
    """
    own = record.get("own")
    fields = FIELDS.get(own, {}) if isinstance(own, str) else {}
    upgraded = {**record, "name": _upgrade_name(record["name"])}
    if isinstance(own, str):
        upgraded["own"] = CLASSES.get(own, own)
    for kind in ("parameters", "counters"):
        if isinstance(values := record.get(kind), dict):
            upgraded[kind] = {fields.get(name, name): value for name, value in values.items()}
    return upgraded


def _upgrade_name(name: str) -> str:
    """Return the `repr` of a part with the names of this version, for its outermost class.

    A part that the caller gives again is compared by it, such as a splitter of clew's own with a
    tokenizer of the caller's.
    """
    own, bracket, rest = name.partition("(")
    if not bracket:
        return name
    for old, new in FIELDS.get(own, {}).items():
        rest = re.sub(rf"(^|, ){re.escape(old)}=", rf"\g<1>{new}=", rest, count=1)
    return f"{CLASSES.get(own, own)}({rest}"
