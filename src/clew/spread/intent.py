"""What a question makes of the types of edge: by a table of cues, or by the caller's language model. Both are recorded in the trace."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clew.model import Model
from clew.text.words import contains_phrase
from clew.types import Query

MOST = 10.0  # no type counts for more

PROMPT = """A question is answered by following the links of a graph. How much does each type of link help to answer it?

Question: {question}

Types of link:
{types}

Answer with a JSON object alone, from the names of those types that matter to numbers from 0 (never follow) over 1 (as any other) to
{most} (follow first). Leave out what makes no difference."""


@dataclass(frozen=True)
class Cues:
    """A table of cues: where a question says one, these types count for so much; of two cues for one type the later one holds.

    `table` has pairs of a cue, a word or several in any language, and pairs of a type and its factor:
    `Cues((("work", (("works at", 1.5), ("friend of", 0.5))),))`.
    """

    table: tuple[tuple[str, tuple[tuple[str, float], ...]], ...]

    def __call__(
        self, query: Query, types: tuple[str, ...]
    ) -> tuple[Mapping[str, float], Mapping[str, Any]]:
        heard = [(cue, factors) for cue, factors in self.table if contains_phrase(cue, query.text)]
        found = {name: factor for _, factors in heard for name, factor in factors}
        return found, {"cues": [cue for cue, _ in heard], "types for this question": found}


@dataclass(frozen=True)
class ModelIntent:
    """The caller's language model, `Query.model`, weighs the types; without one, or with an answer of no use, the table stays as it is.

    `most`: tell it of so many types, kinds of edge first.
    """

    most: int = 60

    def __call__(
        self, query: Query, types: tuple[str, ...]
    ) -> tuple[Mapping[str, float], Mapping[str, Any]]:
        if query.model is None:
            return {}, {
                "fallback": "the question came without a language model: the types count as the table has them"
            }
        told = types[: self.most]
        prompt = PROMPT.format(
            question=query.text, types="\n".join(f"- {name}" for name in told), most=int(MOST)
        )
        answer = Model.of(query.model).ask(prompt, lambda text: _read(text, told))
        if answer.value is None:
            return {}, {"fallback": f"the types count as the table has them: {answer.error}"}
        return answer.value, {"types for this question": answer.value}


def _read(text: str, types: tuple[str, ...]) -> dict[str, float]:
    """The factors in a model's answer, which may have a fence or a sentence around its JSON."""
    start, end = text.find("{"), text.rfind("}")
    try:
        found = json.loads(text[start : end + 1])
    except ValueError as error:
        raise ValueError(f"no JSON object: {error}") from None
    if not isinstance(found, dict) or not all(
        isinstance(v, (int, float)) and not isinstance(v, bool) for v in found.values()
    ):
        raise ValueError("wanted a JSON object from names of types to numbers")
    wrong = [name for name, value in found.items() if name not in types or not 0 <= value <= MOST]
    if wrong:
        raise ValueError(
            f"{wrong[0]!r} is no type that was named, or its number is not from 0 to {MOST:g}"
        )
    return {name: float(value) for name, value in found.items()}
