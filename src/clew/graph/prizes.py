"""Prizes with what is to be said of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clew.graph.columns import Floats
from clew.graph.travel import NOTHING


@dataclass(frozen=True, eq=False)
class Prizes:
    """What a spread stage gives that has something to say of its work: `values`, float64 [n], >= 0, and `notes` for the trace."""

    values: Floats
    notes: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
