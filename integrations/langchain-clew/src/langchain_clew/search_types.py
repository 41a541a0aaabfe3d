"""`search_type` and `search_kwargs`, as people know them from `vectorstore.as_retriever`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import clew

THRESHOLD = "similarity_score_threshold"
RECIPES = {"similarity": "dense", "mmr": "mmr", THRESHOLD: "dense"}
"""The recipe that does what a search type does."""

TWICE = "{0} came twice, as {0}= and in search_kwargs; give it once"


@dataclass(frozen=True)
class SearchWords:
    """What `search_type` and `search_kwargs` say, in clew's terms.

    Attributes:
        fields: Fields of the retriever: `recipe`, `k` and `filter`, as far as they are said.
        fetch_k: Among how many documents "mmr" chooses; None where that is not said.
        score_threshold: The least relevance, as the store means it; None for any.
        rest: What else the search of a store takes.
        is_single: Whether they name the one search that a store's own retriever makes.
    """

    fields: Mapping[str, object]
    fetch_k: int | None
    score_threshold: float | None
    rest: Mapping[str, object]
    is_single: bool

    @classmethod
    def of(
        cls, search_type: str | None, search_kwargs: object, others: Mapping[str, object]
    ) -> SearchWords:
        """Return what the two say.

        Args:
            search_type: A key of `RECIPES`, or None for whatever the recipe does.
            search_kwargs: A mapping, or None.
            others: The fields that were given by their own names.

        Raises:
            ValueError: They contradict each other or the other fields, or something is missing.
            TypeError: `search_kwargs` is no mapping.

        Example:
            >>> words = SearchWords.of("similarity", {"k": 3, "namespace": "x"}, {})
            >>> words.fields, words.rest
            ({'recipe': 'dense', 'k': 3}, {'namespace': 'x'})
        """
        if search_kwargs is not None and not isinstance(search_kwargs, Mapping):
            raise TypeError(
                "search_kwargs is a mapping such as {'k': 4}; "
                f"got a {type(search_kwargs).__name__}"
            )
        rest: dict[str, Any] = dict(search_kwargs or {})
        is_mmr, is_bounded = search_type == "mmr", search_type == THRESHOLD
        if not is_mmr and "lambda_mult" in rest:
            raise ValueError("lambda_mult is of search_type='mmr'; give that too, or leave it out")
        fields: dict[str, Any] = {}
        if search_type is not None:
            fields["recipe"] = _recipe(search_type, others)
        fetch_k = rest.pop("fetch_k", None) if is_mmr else None  # of "mmr" alone: FAISS has its own
        if is_mmr and (fetch_k is not None or "lambda_mult" in rest):
            fields["recipe"] = _mmr(fetch_k, rest.pop("lambda_mult", None))
        for name in ("k", "filter"):
            if name in rest:
                if others.get(name) is not None:
                    raise ValueError(TWICE.format(name))
                fields[name] = rest.pop(name)
        threshold = _threshold(rest.pop("score_threshold", None), is_bounded)
        return cls(fields, fetch_k, threshold, rest, search_type in ("similarity", "mmr"))


def _recipe(search_type: str, others: Mapping[str, object]) -> object:
    if search_type not in RECIPES:
        raise ValueError(
            f"unknown search_type {search_type!r}; known: {', '.join(RECIPES)}; "
            "clew's own methods are recipes, see clew.recipes.names()"
        )
    chosen = others.get("recipe")
    if chosen is None:
        return RECIPES[search_type]
    if search_type == THRESHOLD:  # any recipe may read what is near enough
        return chosen
    raise ValueError(
        f"search_type={search_type!r} is recipe={RECIPES[search_type]!r}; give it or another "
        f"recipe, and not both; got {chosen!r}"
    )


def _mmr(fetch_k: int | None, lambda_mult: float | None) -> object:
    method: Any = clew.recipes.get("mmr")
    given = {"fetch_k": fetch_k, "lambda_mult": lambda_mult}
    select = replace(
        method.selects[0], **{name: value for name, value in given.items() if value is not None}
    )
    return replace(method, selects=(select,))


def _threshold(threshold: float | None, is_bounded: bool) -> float | None:
    is_number = isinstance(threshold, (int, float)) and not isinstance(threshold, bool)
    if threshold is None and not is_bounded:
        return None
    if not is_bounded:
        raise ValueError(
            f"score_threshold is of search_type={THRESHOLD!r}; give that too, or min_relevance=, "
            "which means the same for every store"
        )
    if not is_number or not 0 <= threshold <= 1:  # type: ignore[operator]  # a number by then
        raise ValueError(
            f"search_type={THRESHOLD!r} needs a score_threshold from 0 to 1 in search_kwargs; "
            f"got {threshold!r}"
        )
    return threshold
