"""Where things are in a store that lists them by their places, looked up without reading all."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

Place = TypeVar("Place", bound=Hashable)


@dataclass(frozen=True, eq=False)
class _Read(Generic[Place]):
    """What was read of a list of things by their places."""

    things: Mapping[Place, str]
    state: tuple[int, object]
    places: Mapping[str, Place]


class LastPlaces(Generic[Place]):
    """The place of each thing in the lists of stores; the last one, where it has several.

    A list is read when it is first asked for, and again once it has another length, another last
    entry, or is another object. So it is after whatever stores do: they put new entries at the end,
    under places of their own, and take entries away.

    Example:
        >>> class Store:
        ...     listed = {0: "sea", 1: "isle"}
        >>> places = LastPlaces[int]()
        >>> places.of(Store, Store.listed)["sea"]
        0
        >>> Store.listed[2] = "sea"
        >>> places.of(Store, Store.listed)["sea"]
        2
    """

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Any, _Read[Place]] = WeakKeyDictionary()

    def of(self, store: object, things: dict[Place, str]) -> Mapping[str, Place]:
        """Return the places of the things in the list of a store.

        Args:
            store: What the list belongs to.
            things: The list: a dictionary of things by their places.
        """
        known = self._known.get(store)
        state = len(things), next(reversed(things.items()), None)
        if known is None or known.things is not things or known.state != state:
            listed = things.copy()  # at once: another thread may be adding to the store
            state = len(listed), next(reversed(listed.items()), None)
            places = {thing: place for place, thing in listed.items()}
            known = self._known[store] = _Read(things, state, places)
        return known.places
