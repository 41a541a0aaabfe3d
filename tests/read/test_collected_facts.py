"""Facts that are numbered by arrays are those that a walk from fact to fact numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.read import collected_facts
from clew.read.collected_facts import CollectedFacts, ReadFacts

names = st.sampled_from(["Anna", "ANNA", "Ben", "ben", "Corfu"])
facts = st.lists(st.tuples(names, st.sampled_from(["met", "left"]), names), max_size=6)


@given(st.lists(facts, max_size=5), st.integers(1, 4))
def test_each_entity_and_each_fact_has_the_passages_that_it_comes_in(passages, block):
    collected = CollectedFacts()
    written, named_in, stated_in = dict[str, str](), dict[str, list[int]](), {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(collected_facts, "BLOCK", block)
        for number, own in enumerate(passages):
            both = [name for subject, _, object in own for name in (subject, object)]
            ends, relations = tuple(map(str.lower, both)), tuple(one[1] for one in own)
            collected.add(ReadFacts(ends, tuple(both), relations), number)
            for name in both:
                written.setdefault(name.lower(), name)
                named_in.setdefault(name.lower(), []).append(number)
            for subject, relation, object in own:
                key = subject.lower(), relation, object.lower()
                stated_in.setdefault(key, []).append(number)
    assert list(collected.names.items()) == list(written.items())
    assert [found.tolist() for found in collected.named_in()] == [
        list(dict.fromkeys(own)) for own in named_in.values()
    ]
    made, order = collected.as_facts(first_entity=10), list(written)
    assert made.texts == tuple(f"{written[a]} {r} {written[b]}" for a, r, b in stated_in)
    assert made.subjects.tolist() == [10 + order.index(a) for a, _, _ in stated_in]
    assert made.objects.tolist() == [10 + order.index(b) for _, _, b in stated_in]
    assert list(made.relations) == [r for _, r, _ in stated_in]
    assert [found.tolist() for found in made.read_from] == [
        list(dict.fromkeys(own)) for own in stated_in.values()
    ]
