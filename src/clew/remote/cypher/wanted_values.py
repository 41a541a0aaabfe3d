"""Values of metadata as texts that are compared in a database, and what a filter wants of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from clew.read.json_values import to_json
from clew.remote.cypher.texts import keepable
from clew.remote.protocol import Wanted
from clew.text.unicode_forms import unicode_forms

LONGEST = 200  # characters of a value that is kept as it is


def metadata_values(metadata: Mapping[str, object]) -> list[str]:
    """Return the values of metadata, and the items of those that are lists, each with its key.

    Example:
        >>> metadata_values({"owner": "anna", "years": [1, 2.0]})
        ['["owner","anna"]', '["years",[1,2]]', '["years",1]', '["years",2]']
    """
    found = dict[str, None]()
    for key, value in metadata.items():
        items = value if isinstance(value, (list, tuple, set, frozenset)) else ()
        for one in (value, *items):
            found[_text_of(key, one)] = None
    return list(found)


def wanted_values(where: Wanted) -> list[list[str]]:
    """Return, for each key that is wanted, the values of which metadata has to have one.

    Raises:
        TypeError: It is no mapping, such as a function, which a database cannot call.
        ValueError: A key begins with $, or a value is none that metadata has.
    """
    if not isinstance(where, Mapping):
        raise TypeError(
            "a database keeps to a mapping of wanted metadata values, and to no function; "
            f"got a {type(where).__name__}"
        )
    wanted = []
    for key, value in where.items():
        if str(key).startswith("$"):  # as in the other databases
            raise ValueError(f"a database cannot keep to metadata keys that begin with $: {key!r}")
        some = list(value) if isinstance(value, (list, tuple, set, frozenset)) else [value]
        wanted.append([_text_of(str(key), spelt) for one in some for spelt in unicode_forms(one)])
    return wanted


def _text_of(key: str, value: object) -> str:
    pair = [key, _comparable(to_json(value, f"metadata {key!r}"))]
    text = json.dumps(pair, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    if len(text) > LONGEST:
        text = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).hexdigest()
    return keepable(text)


def _comparable(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Return JSON in which what is equal in Python is the same text: 1, 1.0 and True."""
    if isinstance(value, dict):
        return {key: _comparable(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_comparable(one) for one in value]
    if isinstance(value, bool) or (isinstance(value, float) and value.is_integer()):
        return int(value)
    return value
