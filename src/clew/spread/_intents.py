"""The factors that a question gives to types of edge: by a table of cues, or by a language model.

Both are values for `BestFirst.intent`, and what they decide is recorded in the trace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from clew.model import Model, parse_json, read_score
from clew.text.words import contains_phrase
from clew.types import Query

MAX_FACTOR = 10.0

PROMPT = """A question is answered by following the links of a graph. How much does each type of \
link help to answer it?

Question: {question}

Types of link:
{types}

Answer with a JSON object alone, from the names of those types that matter to numbers from 0 \
(never follow) over 1 (as any other) to
{most} (follow first). Leave out what makes no difference."""


class Intent(Protocol):
    """What gives a question's factors of types of edge."""

    def __call__(
        self, query: Query, types: tuple[str, ...]
    ) -> tuple[Mapping[str, float], Mapping[str, Any]]:
        """Return the factors by type, and notes for the trace."""
        ...


@dataclass(frozen=True)
class Cues:
    """A table of cues: a question that contains one gives these types these factors.

    Attributes:
        table: pairs of a cue (one or several words, in any language) and pairs of a type and its
            factor. Of two cues for one type the later one holds.

    Example:
        >>> from clew import Query
        >>> cues = Cues((("work", (("works at", 1.5), ("friend of", 0.5))),))
        >>> factors, notes = cues(Query("Where does Anna work?"), ("works at", "friend of"))
        >>> factors
        {'works at': 1.5, 'friend of': 0.5}
    """

    table: tuple[tuple[str, tuple[tuple[str, float], ...]], ...]

    def __call__(
        self, query: Query, types: tuple[str, ...]
    ) -> tuple[Mapping[str, float], Mapping[str, Any]]:
        """Return the factors by type, and notes for the trace."""
        matches = [(cue, pairs) for cue, pairs in self.table if contains_phrase(cue, query.text)]
        factors = {name: factor for _, pairs in matches for name, factor in pairs}
        return factors, {"cues": [cue for cue, _ in matches], "types for this question": factors}


@dataclass(frozen=True)
class ModelIntent:
    """The question's language model gives the factors.

    Without a model, or where its answer is of no use, `BestFirst.types` stands, and the trace says
    so.

    Attributes:
        max_types: how many types the model is shown, kinds of edge first.

    Example:
        >>> from clew import Query
        >>> query = Query("Whom does Anna like?", model=lambda prompt: '{"likes": 2}')
        >>> ModelIntent()(query, ("likes", "works at"))[0]
        {'likes': 2.0}
    """

    max_types: int = 60
    asks_model: ClassVar[bool] = True

    def __call__(
        self, query: Query, types: tuple[str, ...]
    ) -> tuple[Mapping[str, float], Mapping[str, Any]]:
        """Return the factors by type, and notes for the trace."""
        if query.model is None:
            note = "without a language model the types count as the table has them"
            return {}, {"fallback": note}
        model, names = Model.of(query.model), types[: self.max_types]

        def build(shown: Sequence[str]) -> str:
            listed = "\n".join(f"- {name}" for name in shown)
            return PROMPT.format(question=query.text, types=listed, most=int(MAX_FACTOR))

        prompt = model.fit(build, names, "types")
        shown = names[: prompt.shown]
        notes = {"not shown to the model": prompt.left_out} if prompt.left_out else {}
        answer = model.ask(prompt.text, lambda text: _parse(text, shown))
        if answer.value is None:
            fallback = f"the types count as the table has them: {answer.error}"
            return {}, {"fallback": fallback, **notes}
        return answer.value, {"types for this question": answer.value, **notes}


def _parse(text: str, types: tuple[str, ...]) -> dict[str, float]:
    """Return the factors in a model's answer, which may have a fence or text around its JSON."""
    factors = parse_json(text)
    if not isinstance(factors, dict):
        raise ValueError("wanted a JSON object from names of types to numbers")  # noqa: TRY004  # an answer, no argument
    for name in factors:
        if name not in types:
            raise ValueError(f"{name!r} is no type that was named")
    try:
        return {name: read_score(value, MAX_FACTOR) for name, value in factors.items()}
    except ValueError as problem:
        raise ValueError(f"wanted numbers from 0 to {MAX_FACTOR:g}: {problem}") from None
