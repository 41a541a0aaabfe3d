"""`search_type` and `search_kwargs`, as people know them from `vectorstore.as_retriever`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import clew
from clew.adapters import Method

THRESHOLD = "similarity_score_threshold"
RECIPES = {"similarity": "dense", "mmr": "mmr", THRESHOLD: "dense"}
"""The recipe that does what a search type does."""

TWICE = "{0} came twice, as {0}= and in search_kwargs; give it once"


FETCHED = 20
"""Documents among which `as_retriever` chooses by "mmr", where no number is given."""


@dataclass(frozen=True)
class MarginalRelevance:
    """What "mmr" means in `as_retriever`.

    Attributes:
        lambda_mult: The weight of the cosine with the question against the highest cosine with a
            document that is chosen already, in [0, 1].
        fetch_k: Among how many documents is chosen; None for 20, or for as many as are wanted where
            these are more.
    """

    lambda_mult: float = 0.5
    fetch_k: int | None = None

    def among(self, k: int | None) -> int:
        """Return among how many documents is chosen where `k` are wanted."""
        return max(FETCHED, k or 0) if self.fetch_k is None else self.fetch_k

    def method(self, fetch_k: int | None, relevance: str = "similarity") -> Method:
        """Return the recipe "mmr" with these words.

        Args:
            fetch_k: Among how many documents is chosen; None for all.
            relevance: As in `clew.select.MMR`.

        Raises:
            ValueError: A word is out of range.
        """
        method: Any = clew.recipes.get("mmr")
        how = {"lambda_mult": self.lambda_mult, "fetch_k": fetch_k, "relevance": relevance}
        recipe: Method = replace(method, selects=(replace(method.selects[0], **how),))
        return recipe


@dataclass(frozen=True)
class SearchWords:
    """What `search_type` and `search_kwargs` say, in clew's terms.

    Attributes:
        fields: Fields of the retriever: `recipe`, `k` and `filter`, as far as they are said.
        mmr: The parameters of "mmr"; None for another search type.
        score_threshold: The least relevance, as the store means it; None for any.
        rest: What else the search of a store takes.
        is_single: Whether they name the one search that a store's own retriever makes.
    """

    fields: Mapping[str, object]
    mmr: MarginalRelevance | None
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
        mmr = _mmr(rest) if is_mmr else None
        for name in ("k", "filter"):
            if name in rest:
                if others.get(name) is not None:
                    raise ValueError(TWICE.format(name))
                fields[name] = rest.pop(name)
        threshold = _threshold(rest.pop("score_threshold", None), is_bounded)
        return cls(fields, mmr, threshold, rest, search_type in ("similarity", "mmr"))


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


def _mmr(rest: dict[str, Any]) -> MarginalRelevance:
    """Return the parameters of "mmr", and take them from the words: FAISS has its own `fetch_k`."""
    given = {name: rest.pop(name, None) for name in ("lambda_mult", "fetch_k")}
    mmr = MarginalRelevance(**{name: value for name, value in given.items() if value is not None})
    mmr.method(mmr.fetch_k)  # which checks them
    return mmr


def _threshold(threshold: object, is_bounded: bool) -> float | None:
    if threshold is None and not is_bounded:
        return None
    if not is_bounded:
        raise ValueError(
            f"score_threshold is of search_type={THRESHOLD!r}; give that too, or min_relevance=, "
            "which means the same for every store"
        )
    is_number = isinstance(threshold, Real) and not isinstance(threshold, bool)
    if not is_number or not 0 <= threshold <= 1:  # type: ignore[operator]  # a number by then
        raise ValueError(
            f"search_type={THRESHOLD!r} needs a score_threshold from 0 to 1 in search_kwargs; "
            f"got {threshold!r}"
        )
    return float(threshold)  # type: ignore[arg-type]  # as above
