"""Numbers of things that grow without a copy of those that were there."""

from __future__ import annotations

import pickle

from hypothesis import given
from hypothesis import strategies as st

from clew.text.numbering import GrownNumbers

THINGS = st.lists(st.sampled_from("abcdefgh"), max_size=8)


@given(THINGS, st.lists(THINGS, max_size=4))
def test_numbers_that_grew_are_those_of_one_dictionary(first, steps):
    plain = {thing: number for number, thing in enumerate(dict.fromkeys(first))}
    grown, earlier = plain.copy(), []
    for things in steps:
        earlier.append((grown, dict(grown)))
        grown, plain = GrownNumbers(grown), dict(plain)
        for thing in things:
            assert grown.setdefault(thing, len(grown)) == plain.setdefault(thing, len(plain))
    assert list(grown.items()) == list(plain.items())
    assert len(grown) == len(plain)
    assert all((thing in grown) == (thing in plain) for thing in "abcdefghx")
    assert pickle.loads(pickle.dumps(grown)) == plain
    assert all(dict(numbers) == then for numbers, then in earlier), "those before stay as they were"
