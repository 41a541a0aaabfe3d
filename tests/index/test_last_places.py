"""Where a thing is last, by reading the whole list; and that nothing is read without a change."""

from hypothesis import given
from hypothesis import strategies as st

from clew.adapters import LastPlaces


class Store:
    """A store, and its list of things by their places."""

    def __init__(self):
        self.listed, self.next = {}, 0


class Watched(dict):
    """A dictionary that counts how often all of it is read."""

    read = 0

    def copy(self):
        self.read += 1
        return super().copy()


@given(st.lists(st.tuples(st.sampled_from(["add", "take", "renew", "ask"]), st.integers(0, 5))))
def test_a_place_is_the_last_of_its_thing_whatever_a_store_has_done(steps):
    places, store = LastPlaces(), Store()
    for step, number in steps:
        if step == "add":  # FAISS's places go on, and one thing may be there twice
            store.listed[store.next] = f"thing {number}"
            store.next += 1
        elif step == "take":
            store.listed.pop(number, None)
        elif step == "renew":  # as LangChain's FAISS does, when it deletes
            store.listed = dict(enumerate(list(store.listed.values())[number:]))
            store.next = len(store.listed)
        found = places.of(store, store.listed)
        assert found == {thing: place for place, thing in store.listed.items()}


def test_a_list_is_read_once_until_it_changes():
    places, store = LastPlaces(), Store()
    store.listed = Watched({0: "sea", 1: "isle"})
    for _ in range(3):
        assert places.of(store, store.listed)["isle"] == 1
    assert store.listed.read == 1
    store.listed[2] = "isle"
    assert [places.of(store, store.listed)["isle"] for _ in range(2)] == [2, 2]
    assert store.listed.read == 2
