"""Passages that mostly link: each factor counted from the words that the passage was made of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Index, Splitter
from clew.graph import Graph
from clew.seed import BM25, InOwnWords, in_own_words
from clew.seed.in_own_words import LinkedWordsPart, count_beside_links
from clew.types import Query

OWN = st.lists(st.sampled_from(["ferry", "tide", "ebb.", "`quay`", "(low)", "[x]"]), max_size=9)
LINKS = st.lists(
    st.sampled_from(
        [
            "[the ferry](a/ferry.md)",
            "[#12](https://example.org/ferry_(ship))",
            "`ferry <ferry.rst>`_",
            "https://example.org/ferry?x=1",
        ]
    ),
    max_size=3,
)


DIRECTIVES = st.lists(
    st.sampled_from(
        [
            ".. automodule:: ferry.tide\n   :members:",
            "  .. include:: ../ferry.rst",
            ".. toctree::\n   :maxdepth: 2\n\n   ferry\n   tide/ebb\n",
            "```{toctree}\n:maxdepth: 1\n\nferry\ntide/ebb\n```",
            "~~~{program-output} ferry --help\n~~~",
            ":::{page} ../ferry.md\n:::",
            "::: ferry.Tide\n    options:\n      members: true",
            "* :ref:`ferry`\n* :doc:`the tide\n  and ebb <tide/ebb>`",
        ]
    ),
    max_size=3,
)
SAID = [".. note:: ferry", "```{note}\nferry\n```", "```python\nferry = {}\n```", "a ferry::tide"]
SAID += ["See :ref:`ferry`.", "* :ref:`ferry` and tide", "- :meth:`ferry.sail`"]


@given(OWN, DIRECTIVES)
def test_a_directive_that_puts_something_in_its_place_counts_as_a_link(own, directives):
    text = "\n\n".join([" ".join(own), *directives, "ebb"])
    assert count_beside_links(text) == (len(own) + 1 if directives else None)


@pytest.mark.parametrize("text", SAID)
def test_a_directive_around_a_text_and_code_are_no_links(text):
    assert count_beside_links(text) is None


@given(st.lists(st.tuples(OWN, LINKS), min_size=1, max_size=5), st.integers(1, 8))
def test_a_passage_with_links_has_the_share_of_its_words_beside_them(passages, full):
    graph = Graph.of([" ".join([*own, *links]) for own, links in passages])
    query = Query("the ferry")
    alone = BM25().on(graph)(query).scores
    found = InOwnWords(BM25(), full).on(graph)(query).scores
    for row, (own, links) in enumerate(passages):
        share = min(1, (len(own) + 1) / (full + 1)) if links else 1
        assert found[row] == pytest.approx(alone[row] * share)


def test_what_says_something_comes_before_what_only_links(tmp_path):
    page = """# Unstable

## Quay policy

- [Quay policy](https://example.org/quay-policy)
- [Quay policy, again](https://example.org/quay-policy-2)

## Harbours

The policy of a quay is the rule by which ferries wait there: whoever comes first leaves first, and
a late ferry waits at the northern quay until the others are gone.
"""
    (tmp_path / "page.md").write_text(page + "\n## More\n\nNothing.\n" * 9)
    index = Index.from_documents(tmp_path, splitter=Splitter(tokens=64))
    assert "whoever comes first" in index.ask("what is the quay policy", limit=1).text
    assert (
        "whoever comes first"
        not in index.ask("what is the quay policy", recipe="fused", limit=1).text
    )


def test_too_few_words_to_be_enough_are_refused():
    with pytest.raises(ValueError, match="at least 1; got 0"):
        InOwnWords(BM25(), 0)


def test_the_words_of_many_passages_are_those_of_each(monkeypatch):
    monkeypatch.setattr(in_own_words, "TOGETHER", 700)
    rng = np.random.default_rng(0)
    parts = (
        *("[", "]", "](", "(", ")", "`", "<", ">`_", "https://a.org", "://", "h", ":`", "\n", " "),
        *(
            "[two words](a.md)",
            "`a name <b.rst>`_",
            "see",
            "Ö",
            "8",
            "a-b",
            "\x01",
            "\xa0ö",
            "\x0bin",
        ),
        *(".. automodule:: a.b\n", "\n```{toctree}\nwords of it\n```\n", "\n- :ref:`one\ntwo`\n"),
    )
    texts = [
        "".join(
            part + " " * int(rng.integers(2)) for part in rng.choice(parts, rng.integers(1, 25))
        )
        for _ in range(4_000)
    ]
    for enough in (1, 3, 8):
        found = Graph.of(texts).part(LinkedWordsPart(enough)).tolist()
        one_by_one = [count_beside_links(text, enough=enough) for text in texts]
        assert found == [-1 if count is None else count for count in one_by_one]
        assert {-1, 0, enough} <= set(found)
