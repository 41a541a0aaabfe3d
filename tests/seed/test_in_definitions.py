"""What defines a term is found first where a question asks for that, and nothing changes where it does not."""

from __future__ import annotations

import numpy as np
import pytest

from clew import Index
from clew.graph import Graph
from clew.seed import BM25, InDefinitions
from clew.types import Query

TEXTS = [
    "Blobs",
    "A blob is what a file holds, as git sees it, whatever the file is called.",
    "blob\n\nThe contents of a file.",
    "Print blob after blob.",
]


def scores(question, seed):
    graph = Graph.of(
        TEXTS, kinds=["section", "passage", "passage", "passage"], parents=[-1, 0, -1, -1]
    )
    return seed.on(graph)(Query(question)).scores


def test_an_entry_and_a_sentence_each_add_what_they_are_given():
    question = "What is a blob?"
    factors = scores(question, InDefinitions(BM25(), entry=2, sentence=1))[1:]
    factors = factors / scores(question, BM25())[1:]
    assert factors == pytest.approx([4, 3, 1])  # the first stands first below a heading, too


@pytest.mark.parametrize("question", ["How is a blob printed?", "blob", "What is a tree?"])
def test_other_questions_and_terms_keep_their_scores(question):
    assert np.array_equal(scores(question, InDefinitions(BM25())), scores(question, BM25()))


def test_only_the_best_are_looked_at():
    question = "What is a blob?"
    before, after = scores(question, BM25()), scores(question, InDefinitions(BM25(), most=1))
    assert (before != after).sum() <= 1


def test_a_glossary_answers_what_a_word_means(tmp_path):
    pages = {
        f"command-{i}.md": f"# Command {i}\n\nThe quay option {i} of the quay command.\n\n"
        "## Use\n\nIt takes a quay, and a second quay."
        for i in range(12)
    }
    pages["glossary.md"] = (
        "# Glossary\n\nharbour\n\nWhere ships are safe.\n\nquay\n\nA wall along the water, where ships "
        "load and unload.\n\nebb\n\nWhen the water falls.\n"
    )
    for name, text in pages.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    index = Index.from_documents(tmp_path)
    assert "A wall along the water" in index.ask("What is a quay?", limit=1).text
    assert "A wall along the water" not in index.ask("quay option", limit=1).text


@pytest.mark.parametrize("wrong", [{"entry": -1}, {"sentence": -0.5}, {"most": 0}])
def test_values_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match="at least"):
        InDefinitions(BM25(), **wrong)
