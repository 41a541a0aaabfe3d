"""The options of a question: one frozen value, from the caller to the method that answers.

A new option of a question is declared here, once in `QueryOptions` and once in
`OtherQueryKeywords`, and used where it has its effect. Nothing between these two places names it:
`Index.ask`, `clew.narrow` and the adapters of frameworks pass the value on whole.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence, ValuesView
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np

from clew.index.options import check_base, check_names, option_names
from clew.text.unicode_forms import unicode_forms
from clew.types import DEFAULT_RECIPE, Method

if TYPE_CHECKING:
    from clew.model import ModelSource

DEFAULT_BUDGET = 2000

Where = Mapping[str, object] | Callable[[Mapping[str, Any]], bool]
"""A filter: the wanted values of metadata by key, or a test of a passage's metadata.

A test may have an attribute `wanted`, a filter by values without which it allows no document. Then
an index asks it about those documents alone that have them, or whose value is a list, and once for
several filters in turn: its answers must not change. It may have `parts`, too, pairs of a key and a
test, which it is the conjunction of: a test with a key reads the metadata under that key alone, and
answers alike for equal values, and one with None in place of it may read any. Then an index asks a
part once for all documents of one value.
"""

COLLECTIONS = (list, tuple, set, frozenset)
WANTED_COLLECTIONS = (*COLLECTIONS, AbstractSet, ValuesView, range, deque)
"""What lists the wanted values of a filter; metadata are lists where they are `COLLECTIONS`."""

HASHED = {str, int, bool, float}  # values that are equal where a set finds them


class RecipeKeywords(TypedDict, total=False):
    """The first two fields of `QueryOptions`."""

    recipe: str | Method
    budget: int | None


class OtherQueryKeywords(TypedDict, total=False):
    """The other fields, for callers that name the first two themselves."""

    limit: int | None
    where: Where | None
    deadline: float | None
    model: ModelSource | None
    max_question: int
    max_share: float | None
    min_relevance: float | None
    strict: bool


class QueryKeywords(RecipeKeywords, OtherQueryKeywords, total=False):
    """The fields of `QueryOptions` as keyword arguments."""


@dataclass(frozen=True)
class QueryOptions:
    """What a question may say beside its text.

    Attributes:
        recipe: A name of `clew.recipes.names()`, or a method of your own.
        budget: Tokens that the rendered context may have at most, counted by the index's counter.
            None sets no ceiling.
        limit: The exact number of items, as long as there are so many. Prizes decide what fills the
            places that the method leaves. None leaves the number to the method. With a
            `min_relevance` or a `max_share` it is the highest number.
        where: What may be read: wanted values of metadata by key, or a function of a passage's
            metadata. A letter with a mark is wanted however a system writes it. What it forbids
            influences nothing. None allows everything.
        deadline: Seconds after which the best answer so far comes back, marked as such in the
            trace. It holds for the filter, the question's vector, every stage, and the language
            model that one asks; a page that is being fitted and printed then has 0.15 seconds more.
            Where a method has nothing by then, the passages most similar to the question come, or
            those with its words, where it has no vector yet. Where nothing may be answered, since
            the filter is not applied yet, `DeadlineError` is raised. What was begun goes on in a
            thread, and later questions find it done. What cannot be interrupted: a single call
            into a library that holds the interpreter's lock, and the caller's counter of tokens.
            `clew.narrow` indexes its candidates first, and counts from then on. None waits for
            the end.
        model: A language model, for methods that ask one: whatever `clew.Model.of` takes. A method
            that asks none says so, in a warning and in the trace.
        max_question: Characters that a question may have; a longer one is refused.
        max_share: The share of the budget, above 0 and at most 1, that one source may have on the
            page, its headings included, where others have a prize, too. It may also have no larger
            share of the entries than this. What is left out is in `dropped`. It may have one entry
            in any case, unless the index is of `untrusted` documents. A source is a file, or a
            document with all that is in it. Without a budget the share is one of the page without a
            cap, and one entry may be all of it. None is 1, no cap; for an index of `untrusted`
            documents it is 0.5, so that no single author has the majority.
        min_relevance: Passages that are less relevant to the question by themselves are not read,
            however much room there is; in [0, 1], see `clew.relevance`. Where all are, the context
            is empty and says so in `nothing_found`, and there may be fewer items than `limit`.
            None reads whatever the method chooses, unless even the best passage is below 0.15, or
            below 0.05 in an index of source code: then the context is empty. That is so only
            without a `limit`, in an index of at least 1,000 words and without generated texts, and
            not for candidates of another retriever. 0 leaves out nothing.
        strict: Whether a budget that holds nothing of what was chosen is an error, `BudgetError`.
            Otherwise the context is empty, says so in `nothing_found`, and a `NothingFitsWarning`
            comes. The adapters of frameworks, whose other retrievers return less then, are not
            strict by themselves.

    Example:
        >>> QueryOptions(budget=0)
        Traceback (most recent call last):
        ValueError: budget is a whole number of at least 1, or None; got 0
    """

    recipe: str | Method = DEFAULT_RECIPE
    budget: int | None = DEFAULT_BUDGET
    limit: int | None = None
    where: Where | None = None
    deadline: float | None = None
    model: ModelSource | None = None
    max_question: int = 100_000
    max_share: float | None = None
    min_relevance: float | None = None
    strict: bool = True

    def __post_init__(self) -> None:
        check_numbers(self.budget, self.limit, self.deadline)
        check_share(self.max_share)
        check_relevance(self.min_relevance)

    @classmethod
    def from_keywords(
        cls, base: QueryOptions | None = None, /, **keywords: Unpack[QueryKeywords]
    ) -> QueryOptions:
        """Return the options that these keywords make.

        Args:
            base: The options that stay where no keyword replaces them. None stands for the
                defaults.
            **keywords: Fields of `QueryOptions`.

        Raises:
            TypeError: A keyword is no field, or the base is of another type. The message lists the
                fields.
            ValueError: A number is out of range.

        Example:
            >>> QueryOptions.from_keywords(QueryOptions(limit=3), budget=500).limit
            3
        """
        check_base(base, cls, "options")
        check_names(keywords, option_names(cls), "a question")
        return replace(base or cls(), **keywords)


def check_question(
    question: str,
    budget: int | None = None,
    limit: int | None = None,
    deadline: float | None = None,
    max_length: int | None = None,
) -> str:
    """Return the question without the white space around it.

    Raises:
        ValueError: The question has no word or is too long, or a number is out of range.

    Example:
        >>> check_question("  Who paints? ")
        'Who paints?'
    """
    if not isinstance(question, str) or not question.strip():
        raise ValueError(f"a question is a text with at least one word; got {question!r}")
    check_numbers(budget, limit, deadline)
    if max_length is not None and len(question) > max_length:
        raise ValueError(
            f"a question has at most {max_length:,} characters (max_question); "
            f"got {len(question):,}: {question[:40]!r}…"
        )
    return question.strip()


def check_numbers(
    budget: int | None = None, limit: int | None = None, deadline: float | None = None
) -> None:
    """Check the numbers of a question; None is always allowed.

    Raises:
        ValueError: A budget or limit below 1, or a deadline that is no positive number of seconds.
    """
    for name, value in (("budget", budget), ("limit", limit)):
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if value is not None and (not whole or value < 1):
            raise ValueError(f"{name} is a whole number of at least 1, or None; got {value!r}")
    if deadline is None:
        return
    if isinstance(deadline, (bool, str)) or not 0 < deadline < float("inf"):
        raise ValueError(f"a deadline is a positive number of seconds, or None; got {deadline!r}")


def check_share(share: float | None) -> None:
    """Check the share of a source; None is always allowed.

    Raises:
        ValueError: It is not above 0 and at most 1.

    Example:
        >>> check_share(50)
        Traceback (most recent call last):
        ValueError: max_share is a number above 0 and at most 1, or None; got 50
    """
    if share is None:
        return
    if isinstance(share, (bool, str)) or not 0 < share <= 1:
        raise ValueError(f"max_share is a number above 0 and at most 1, or None; got {share!r}")


def check_relevance(relevance: float | None) -> None:
    """Check the least relevance of what is read; None is always allowed.

    Raises:
        ValueError: It is not from 0 to 1.

    Example:
        >>> check_relevance(16)
        Traceback (most recent call last):
        ValueError: min_relevance is a number from 0 to 1, or None; got 16
    """
    if relevance is None:
        return
    if isinstance(relevance, (bool, str)) or not 0 <= relevance <= 1:
        raise ValueError(f"min_relevance is a number from 0 to 1, or None; got {relevance!r}")


def metadata_test(where: Where) -> Callable[[Mapping[str, object]], bool]:
    """Return the test of metadata that a filter stands for.

    Args:
        where: A function, which is returned, or a mapping of wanted values. A list means any of its
            values. Of metadata that is a list or an array, one of its values has to be wanted.

    Raises:
        TypeError: The filter is neither.

    Example:
        >>> is_wanted = metadata_test({"year": [1, 2]})
        >>> is_wanted({"year": 2}), is_wanted({"year": [2, 3]}), is_wanted({})
        (True, True, False)
    """
    if callable(where):
        return where
    wanted = wanted_values(where)
    hashed = {  # of many values each would be compared with that of every document
        key: frozenset(values) if set(map(type, values)) <= HASHED else frozenset[object]()
        for key, values in wanted.items()
    }

    def is_wanted(metadata: Mapping[str, object]) -> bool:
        for key, values in wanted.items():  # of every document: a call for each takes long
            if key not in metadata:
                return False
            value = metadata[key]
            if type(value) in HASHED and (known := hashed[key]):
                if value not in known:
                    return False
            elif (plain := _plain(value)) not in values and not (
                isinstance(plain, COLLECTIONS) and any(one in values for one in plain)
            ):
                return False
        return True

    return is_wanted


def wanted_values(where: Mapping[str, object]) -> dict[str, list[Any]]:
    """Return the values that a filter wants for each key.

    Raises:
        TypeError: The filter is no mapping, or values come from an iterator.

    Example:
        >>> wanted_values({"year": {2}, "month": range(1, 3), "place": "Corfu"})
        {'year': [2], 'month': [1, 2], 'place': ['Corfu']}
    """
    if not isinstance(where, Mapping):
        raise TypeError(
            "a filter is a mapping of wanted metadata values or a function of the metadata; "
            f"got a {type(where).__name__}"
        )
    return {key: _wanted(key, _plain(value)) for key, value in where.items()}


def plain_answers(answers: Sequence[object]) -> list[bool]:
    """Return what a function that filters has answered, as truth values.

    Raises:
        TypeError: An answer has to be awaited. As it is, it would count as a yes.

    Example:
        >>> plain_answers([True, None, 1])
        [True, False, True]
    """
    if not set(map(type, answers)) <= {bool, np.bool_}:
        waiting = [answer for answer in answers if inspect.isawaitable(answer)]
        for answer in waiting:
            if inspect.iscoroutine(answer):
                answer.close()  # else Python warns that nobody has awaited it
        if waiting:
            raise TypeError(
                "a filter is a plain function, which answers at once whether metadata may be read; "
                f"got a {type(waiting[0]).__name__}: await what it needs before you ask"
            )
    return list(map(bool, answers))


def _wanted(key: object, value: object) -> list[Any]:
    """Return the values that one key may have: several, or the one, each as systems write it."""
    if isinstance(value, Iterator):  # it is read once, and a filter is asked again
        raise TypeError(
            f"a filter has a list of the values that {key!r} may have; "
            f"got a {type(value).__name__}: give list(...) of it"
        )
    some = value if isinstance(value, WANTED_COLLECTIONS) else [value]
    return [spelt for one in some for spelt in unicode_forms(one)]


def _plain(value: object) -> object:
    """Return an array or a column as a list, which compares as a whole; all else as it is."""
    if isinstance(value, np.generic) or not hasattr(value, "__array__"):
        return value
    return np.asarray(value).tolist()
