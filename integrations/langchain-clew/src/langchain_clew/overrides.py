"""What a class derived from a store's own overrides: what its searches may find is its own matter.

A search that a derived class overrides may leave out what somebody must not read. So such a store
is asked by the method that its own retriever calls, and by no other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from langchain_core.vectorstores import VectorStore

SCORED = "similarity_search_with_score", "asimilarity_search_with_score"
OF_A_SEARCH = "search", "query"
"""What the names of methods have in them that search, or embed a question."""


def overrides_a_search(store: object, kind: type, beneath: Collection[str] = ()) -> bool:
    """Return whether something overrides a search of a store, or what it embeds questions with.

    That may be a class derived from the store's own, or the object itself.

    Args:
        store: The store.
        kind: The class of the store itself, or one that it is derived from.
        beneath: Methods that may be overridden, since every search goes through them.

    Example:
        >>> class Store:
        ...     def search(self): ...
        >>> class Renamed(Store):
        ...     def load(self): ...
        >>> class Guarded(Renamed):
        ...     def search(self): ...
        >>> overrides_a_search(Renamed(), Store), overrides_a_search(Guarded(), Store)
        (False, True)
    """
    classes = type(store).__mro__
    derived = classes[: classes.index(kind)]
    names = {*_own_methods(store), *(name for one in derived for name in vars(one))}
    return any(
        (_is_of_a_search(name) or name == "embeddings") and hasattr(kind, name)
        for name in names.difference(beneath)
    )


def scores_its_search(store: object) -> bool:
    """Return whether a store of any class finds with scores what it finds without.

    That is so where one class has all of its searches, beside what is derived from it for the
    scores alone.
    """
    if any(map(_is_of_a_search, _own_methods(store))):
        return False
    classes = [one for one in type(store).__mro__ if one not in VectorStore.__mro__]
    searching = [
        place
        for place, one in enumerate(classes)
        if any(_is_of_a_search(name) and name not in SCORED for name in vars(one))
    ]
    scoring = [
        place for place, one in enumerate(classes) if not vars(one).keys().isdisjoint(SCORED)
    ]
    return len(searching) == 1 and bool(scoring) and scoring[0] <= searching[0]


def overrides_blocking_alone(store: object, *whole: str) -> bool:
    """Return whether a search is overridden, and its async variant is that of an older class.

    The async variant would find what the override leaves out.

    Args:
        store: The store.
        *whole: Methods that LangChain's base class has whole, so that the store's own override it.
    """
    classes = type(store).__mro__
    own = [list(vars(one)) for one in classes if one not in VectorStore.__mro__]
    own.append(_own_methods(store))
    n_classes = Counter(name for names in own for name in names if _is_of_a_search(name))
    repeated = [name for name, n in n_classes.items() if n > 1 and hasattr(store, _awaited(name))]
    return any(
        _place_of(store, name) < _place_of(store, _awaited(name)) for name in (*repeated, *whole)
    )


def _awaited(name: str) -> str:
    """Return the name of the async variant of a method.

    Example:
        >>> _awaited("similarity_search"), _awaited("_search")
        ('asimilarity_search', '_asearch')
    """
    return f"_a{name[1:]}" if name.startswith("_") else f"a{name}"


def _place_of(store: object, name: str) -> int:
    """Return how far from the object the class is that has a method."""
    if name in _own_methods(store):
        return -1
    classes = type(store).__mro__
    places = (place for place, one in enumerate(classes) if name in vars(one))
    return next(places, len(classes))


def _own_methods(store: object) -> list[str]:
    """Return the names of what can be called of an object itself, and not of its class."""
    return [name for name, value in getattr(store, "__dict__", {}).items() if callable(value)]


def _is_of_a_search(name: str) -> bool:
    return any(part in name for part in OF_A_SEARCH)
