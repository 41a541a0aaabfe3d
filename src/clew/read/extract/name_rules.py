"""What `clew.Names` takes for a name, and what for a relation."""

from __future__ import annotations

from typing import NamedTuple


class Rules(NamedTuple):
    """What is a name, and what is a relation; see `clew.Names`."""

    max_relation_words: int
    max_name_words: int
    inner_words: frozenset[str]
    list_words: frozenset[str]
    years: bool
