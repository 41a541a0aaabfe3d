"""What is read in a model's answer: JSON with anything around it, and scores however written."""

from __future__ import annotations

import json
import math
import re
from typing import Any

_NUMBER = r"\d+(?:[.,]\d+)?"
_SCORE = re.compile(
    rf"(?P<value>[-+]?{_NUMBER})\s*(?:(?:/|out of|of)\s*(?P<scale>{_NUMBER})|(?P<percent>%))?",
    re.IGNORECASE,
)
MAX_LETTERS = 200  # of a text that is a score; more is prose


def parse_json(text: str) -> dict[str, Any] | list[Any]:
    """Return the first JSON object or list in a text, whatever prose or fence stands around it.

    A list of whole numbers, as a citation is, is returned where there is nothing else.

    Raises:
        ValueError: there is none.

    Example:
        >>> parse_json('Here it is: {"score": 7}. I hope that helps.')
        {'score': 7}
        >>> parse_json('By passage [2] it is {"score": 7}.')
        {'score': 7}
    """
    decoder = json.JSONDecoder()
    citation: dict[str, Any] | list[Any] = []
    for bracket in re.finditer(r"[{\[]", text):
        try:
            value: dict[str, Any] | list[Any] = decoder.raw_decode(text, bracket.start())[0]
        except json.JSONDecodeError:
            continue
        except RecursionError:
            raise ValueError("its JSON is nested too deep") from None
        if not _is_citation(value):
            return value
        citation = citation or value
    if citation:
        return citation
    shown = " ".join(text.split())[:80]
    raise ValueError(f"no JSON in {shown!r}" if shown else "the answer is empty")


def _is_citation(value: dict[str, Any] | list[Any]) -> bool:
    return bool(value) and isinstance(value, list) and all(type(one) is int for one in value)


def read_score(value: object, maximum: float) -> float:
    """Return a score from 0 to `maximum`, the scale of the prompt that asked for it.

    A number is taken as it is. A text may have words around its one number. A scale of its own,
    as in "8/10", "8 out of 10" or "80 %", is converted; a number without one is on the prompt's
    scale.

    Args:
        value: what stands in the place of the score.
        maximum: the top of the scale.

    Raises:
        ValueError: it is no number, several numbers, or out of range.

    Example:
        >>> [read_score(value, 100) for value in (85, "85", "Score: 85", "8.5/10", "85 %")]
        [85.0, 85.0, 85.0, 85.0, 85.0]
        >>> read_score("85/100", 10), read_score("8.5", 10)
        (8.5, 8.5)
    """
    score = math.nan
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        score = float(value) if abs(value) < 1e9 else math.nan
    elif isinstance(value, str) and len(value) <= MAX_LETTERS:
        found = list(_SCORE.finditer(value))
        if len(found) == 1:
            score = _scaled(found[0], maximum)
    if not 0 <= score <= maximum:
        raise ValueError(f"a score is a number from 0 to {maximum:g}; got {repr(value)[:80]}")
    return score


def _scaled(found: re.Match[str], maximum: float) -> float:
    score = float(found["value"].replace(",", "."))
    scale = 100.0 if found["percent"] else float((found["scale"] or "0").replace(",", "."))
    if found["percent"] or found["scale"]:
        return score * maximum / scale if scale > 0 else math.nan
    return score
