"""Questions for what something is, by sentences that people write."""

from __future__ import annotations

import pytest

from clew.text.definitions import DefinitionQuestion


@pytest.mark.parametrize(
    ("question", "term"),
    [
        ("What is a bare repository?", "bare repository"),
        ("what's an “index”", "index"),
        ("So, what are `decorators`?", "decorators"),
        ("What does MSRV stand for?", "MSRV"),
        ("What is meant by idempotent?", "idempotent"),
        ("What does nofail mean in fstab?", "nofail"),
        ("What does the term head refer to in a bare repository?", "term head"),
        ("What does a mean in R mean?", "mean in R"),
        ("What does IT stand for within the company?", "IT"),
        ("What does task_always_eager do?", "task_always_eager"),
        ("what does the fan do", "fan"),
        ("define blob", "blob"),
        ("the meaning of head ref", "head ref"),
        ("Was ist ein Baum?", "Baum"),
        ("Qu’est-ce que c’est qu’un arbre ?", "arbre"),
        ("¿Qué es un árbol?", "árbol"),
        ("Cos'è un albero?", "albero"),
        ("O que é uma árvore?", "árvore"),
        ("Wat is een boom?", "boom"),
        ("Что такое дерево?", "дерево"),
        ("什么是树？", "树"),
        ("木とは何ですか？", "木"),
    ],
)
def test_the_term_that_is_asked_for(question, term):
    assert DefinitionQuestion.of(question).term == term


@pytest.mark.parametrize(
    "question",
    [
        "How do I make a bare repository?",
        "Which option is it?",
        "What is the option by which git says what it would have done?",
        "What does it mean to be bare?",
        "What does this mean for a repository?",
        "What does head mean when it is detached?",
        "What does it do?",
        "What does git do when a merge fails?",
        "What?",
        "",
    ],
)
def test_other_questions_ask_for_no_term(question):
    assert DefinitionQuestion.of(question) is None


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ("bare repository", "Clone it. A bare repository is one without files."),
        ("bare repository", "Bare repository (git) means one without files."),
        ("blob", "Such contents are called a *blob*."),
        ("refspec", 'A "refspec" is used by fetch.'),
        ("MSRV", "the minimum supported Rust version (MSRV) of a crate"),
        ("KEP", "A Kubernetes Enhancement Proposal (KEP), by which"),
        ("Baum", "Es gilt: Ein Baum ist ein Graph."),
        ("树", "他说。树是一种图。"),
    ],
)
def test_what_says_what_a_term_is(term, text):
    assert DefinitionQuestion(term).is_defined_in(text)


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ("blob", "They wrote a blob into it."),
        ("blob", "A blobfish is a fish."),
        ("tree", "The last commit of a tree is shown."),
        ("MSRV", "the oldest compiler (MSRV) of a crate"),
        ("head", "The bridgehead is where they land."),
    ],
)
def test_what_only_uses_a_term(term, text):
    assert not DefinitionQuestion(term).is_defined_in(text)


@pytest.mark.parametrize(
    ("term", "text", "is_entry"),
    [
        ("blob", "blob\n\nThe contents of a file.", True),
        ("blob object", "Blob objects (git)\n    The contents of a file.", True),
        ("blob", "- **blob**: the contents of a file", True),
        ("blob", "`blob` - the contents of a file", True),
        ("blob", "* blob\n  the contents of a file", True),
        ("blob", "* blob\n* tree\n* commit", False),
        ("blob", "--blob\n\nPrint the blob.", False),
        ("blob", "It has the name of a\nblob", False),
        ("blob", "blobs are kept\nhere", False),
        ("blob", "Set it:\n\n```yaml\nblob: 7\n```\n\nIt is large.", False),
        ("blob", "- ```\n  blob: 7\n  ```", False),
        ("blob", "Blobs\n~~~~~\n\nblob: the contents of a file", True),
        ("blob", "````\n```\nblob: 7\n```\n````", False),
        ("blob", "It goes on:\n\n```\nblob: 7\n", False),
        ("blob", "```yaml\nblob: 7\n```\n\nblob: the contents of a file", True),
        ("blob", "Write ```x``` and\n```y```\n\nblob: the contents of a file", True),
    ],
)
def test_a_line_with_the_term_alone_is_an_entry_where_something_stands_behind_it(
    term, text, is_entry
):
    assert DefinitionQuestion(term).is_entry_in(text) is is_entry


def test_a_long_text_takes_linear_time():
    text = "blob ( * " * 200_000
    assert not DefinitionQuestion("blob").is_defined_in(text)
    assert not DefinitionQuestion("blob").is_entry_in("blob" + " " * 500_000 + "x")
    assert not DefinitionQuestion("blob").is_entry_in("```\nblob: 1\n```\n\n" * 20_000)
