"""Passages that end where the subject changes: at exact places, within the limit, and nearer to the true places than without."""

from __future__ import annotations

import csv
import decimal
import heapq
import inspect
import re
import statistics
import tempfile
import textwrap
import threading
import zipfile
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.document import Document
from clew.index.index import Index
from clew.read import Splitter
from clew.text.estimate import estimate_tokens

MOON = [
    "The moon pulls the sea.",
    "The moon makes the tide of the sea.",
    "At full moon the tide is high.",
    "The sea follows the moon.",
]
BREAD = [
    "Bread is made of flour.",
    "Knead flour, water and salt.",
    "The dough of bread must rise.",
    "Bake the bread in an oven.",
]
LAW = [
    "The court heard the case.",
    "A judge of the court asked twice.",
    "The case was put off.",
    "The judge closed the court.",
]
MODULES = (csv, decimal, heapq, statistics, tempfile, textwrap, threading, zipfile)
SENTENCES = st.sampled_from([*MOON, *BREAD, *LAW, "我们走吧。", "...", "नमस्ते।", "word " * 40])


WORDS = ("moon", "sea", "tide"), ("bread", "flour", "oven"), ("court", "judge", "case")


def by_subject(texts):
    """Vectors [n, 4]: how many words of each subject."""
    return np.array(
        [
            [0.1, *(sum(text.lower().count(word) for word in words) for words in WORDS)]
            for text in texts
        ]
    )


def passages(text, **how):
    return [
        piece.text
        for piece in Splitter(semantic=by_subject, **how)(Document("d", text))
        if piece.kind == "passage"
    ]


def test_a_subject_is_a_passage():
    text = " ".join([*MOON, *BREAD, *LAW])
    assert passages(text, tokens=50) == [" ".join(said) for said in (MOON, BREAD, LAW)]


def test_neither_paragraphs_nor_their_absence_hide_a_change():
    text = (
        " ".join(MOON[:2])
        + "\n\n"
        + " ".join([*MOON[2:], *BREAD[:2]])
        + "\n\n"
        + " ".join(BREAD[2:])
    )
    cut = [" ".join(each.split()) for each in passages(text, tokens=50)]
    assert cut == [" ".join(MOON), " ".join(BREAD)]


def test_a_passage_that_must_end_ends_where_least_is_lost():
    text = " ".join([*MOON, *LAW[:2]])
    assert passages(text, tokens=40, breaks=0) == [" ".join(MOON), " ".join(LAW[:2])]


@given(
    st.lists(st.lists(SENTENCES, min_size=1, max_size=8).map(" ".join), max_size=6),
    st.sampled_from(["text", "markdown"]),
    st.integers(1, 60),
    st.sampled_from([estimate_tokens, len]),
    st.booleans(),
    st.sampled_from([0, 0.2, 1]),
)
def test_passages_are_exact_disjoint_small_and_leave_out_no_word(
    parts, format, most, count, said, breaks
):
    text = "\n\n".join(
        f"# {part}" if i % 3 == 0 and format == "markdown" else part for i, part in enumerate(parts)
    )
    pieces = Splitter(most, sentences=said, count=count, semantic=True, breaks=breaks)(
        Document("d", text, format=format)
    )
    kept = sorted((p.start, p.end) for p in pieces if p.kind == "passage")
    assert all(text[p.start : p.end] == p.text for p in pieces if p.kind != "section")
    assert all(a[1] <= b[0] for a, b in pairwise(kept))
    assert all(count(text[a:b]) <= most or len(text[a:b].split()) <= 1 for a, b in kept)
    headings = [p.text for p in pieces if p.kind == "section"]
    left = "".join(
        text[a:b]
        for a, b in zip(
            [0, *(end for _, end in kept)], [*(start for start, _ in kept), len(text)], strict=True
        )
    )
    assert re.findall(r"[^\W_]+", left) == re.findall(r"[^\W_]+", " ".join(headings))


def test_real_texts_run_together_are_told_apart_better_than_by_their_length():
    said = (
        inspect.getdoc(of) or ""
        for module in MODULES
        for _, of in sorted(vars(module).items())
        if callable(of)
    )
    helps = list(dict.fromkeys(" ".join(each.split(">>>")[0].split()) for each in said))
    helps = [each for each in helps if 200 < len(each) < 900]
    text = " ".join(helps)
    ends = set(np.cumsum([len(each) + 1 for each in helps])[:-1].tolist())

    def found(splitter):
        begins = {
            piece.start for piece in splitter(Document("d", text)) if piece.kind == "passage"
        } - {0}
        return len(begins & ends) / len(begins), len(begins)

    plain, many = found(Splitter(60))
    semantic, fewer = found(Splitter(120, semantic=True))
    assert fewer < many
    assert semantic > 1.5 * plain


def test_code_and_tables_are_not_taken_apart():
    code = textwrap.dedent(inspect.getsource(pairwise_of))
    text = f"# One\n\n{' '.join(MOON)}\n\n```python\n{code}```\n\n{' '.join(BREAD)}\n"
    pieces = Splitter(70, semantic=True, breaks=1)(Document("d", text, format="markdown"))
    assert any(code in piece.text for piece in pieces)
    assert sum(piece.kind == "passage" for piece in pieces) > 2


def pairwise_of(rows):
    """What a block of code looks like."""
    before = rows[0]
    for row in rows[1:]:
        yield before, row
        before = row


def test_an_index_cuts_by_its_own_embedder_and_is_saved(tmp_path):
    asked: list[str] = []

    def flat(texts):
        asked.extend(texts)
        return np.array(
            [[1.0, float("moon" in text.lower() or "sea" in text.lower())] for text in texts]
        )

    text = " ".join([*MOON, *BREAD, *LAW])
    index = Index.from_documents([text], embedder=flat, splitter=Splitter(50, semantic=True))
    assert set(MOON) <= set(asked)
    assert " ".join(MOON) in index.graph.texts
    index.save(tmp_path)
    assert Index.load(tmp_path, embedder=flat).splitter == Splitter(50, semantic=True)
    own = Index.from_documents([text], splitter=Splitter(50, semantic=flat))
    assert " ".join(MOON) in own.graph.texts
    own.save(tmp_path / "own")
    with pytest.raises(ValueError, match="splitter"):
        Index.load(tmp_path / "own")
    assert (
        Index.load(tmp_path / "own", splitter=Splitter(50, semantic=flat)).graph.texts
        == own.graph.texts
    )


@pytest.mark.parametrize("breaks", [-0.1, 1.5, True, "many"])
def test_a_share_is_a_share(breaks):
    with pytest.raises(ValueError, match="from 0 to 1"):
        Splitter(semantic=True, breaks=breaks)
