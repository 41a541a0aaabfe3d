"""The text that metadata are saved as."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from clew.graph import EMPTY
from clew.read.json_values import from_json


def parse_metadata(text: str) -> Mapping[str, Any]:
    """Return the mapping that was saved as this text.

    Raises:
        ValueError: It is none.
    """
    metadata = from_json(json.loads(text))
    if not isinstance(metadata, dict):
        raise ValueError("metadata are no dictionary")  # noqa: TRY004  # a damaged file, no argument
    return metadata or EMPTY
