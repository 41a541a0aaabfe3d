"""What a question may be: refused by name before anything is done for it."""

from __future__ import annotations

import numpy as np


def check_question(
    question: str, budget: int | None, limit: int | None, deadline: float | None = None
) -> str:
    """Return the question without the space around it; raise ValueError unless it is one and the numbers are at least 1, or None."""
    if not isinstance(question, str) or not question.strip():
        raise ValueError(f"a question is a text with at least one word; got {question!r}")
    for name, value in (("budget", budget), ("limit", limit)):
        if value is not None and (
            isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1
        ):
            raise ValueError(f"{name} is a whole number of at least 1, or None; got {value!r}")
    if deadline is not None and (
        isinstance(deadline, (bool, str)) or not 0 < deadline < float("inf")
    ):
        raise ValueError(f"a deadline is a positive number of seconds, or None; got {deadline!r}")
    return question.strip()
