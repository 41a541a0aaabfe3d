"""What stands around a passage counts where a corpus shows that it is about the same."""

from __future__ import annotations

import random

import pytest

import clew
from clew import Document, Index, Splitter
from clew.seed.bm25 import InvertedIndexPart
from clew.seed.in_documents import DocumentWordsPart
from clew.seed.in_neighbours import PassageSequencePart
from clew.sharded.index_store import figures_of
from clew.sharded.joined import join_corpora
from clew.sharded.numbering import ShardNumbers

SUBJECTS = [[f"{kind}{i}" for kind in ("rope", "tide", "mast", "keel")] for i in range(40)]
PIECES = 6


def sections(subjects: list[list[list[str]]]) -> list[Document]:
    """Documents of sections, each with the words of its subject and words of its own."""
    draw = random.Random(7)
    return [
        Document(
            f"d{i}.md",
            "\n\n".join(
                f"# Part {j}\n\n"
                + " ".join([*subject, *(f"w{draw.randrange(900)}" for _ in range(12))])
                for j, subject in enumerate(document)
            ),
        )
        for i, document in enumerate(subjects)
    ]


def of_one_subject() -> list[Document]:
    return sections([[subject] * PIECES for subject in SUBJECTS])


def of_any_subjects() -> list[Document]:
    draw = random.Random(3)
    every = [subject for subject in SUBJECTS for _ in range(PIECES)]
    draw.shuffle(every)
    return sections([every[i : i + PIECES] for i in range(0, len(every), PIECES)])


def cohesion_of(documents: list[Document]) -> tuple[float, float]:
    index = Index.from_documents(documents, splitter=Splitter(tokens=64), extractor=None)
    graph = index.graph
    cohesion = graph.part(DocumentWordsPart()).cohesion
    assert graph.part(PassageSequencePart()).cohesion == cohesion
    return cohesion.neighbours, cohesion.documents


def test_documents_of_one_subject_count_and_those_of_any_do_not():
    assert cohesion_of(of_one_subject()) == (1.0, 1.0)
    assert cohesion_of(of_any_subjects()) == (0.0, 0.0)


def test_a_small_corpus_shows_nothing_and_counts_as_most_do():
    assert cohesion_of(of_any_subjects()[:4]) == (1.0, 1.0)


def test_few_long_documents_show_nothing_and_count_as_most_do():
    subjects = [SUBJECTS[i] for i in range(3) for _ in range(40)]
    assert cohesion_of(sections([subjects[i : i + 40] for i in (0, 40, 80)])) == (1.0, 1.0)


def test_passages_of_few_words_show_nothing_and_count_as_most_do():
    lines = [
        Document(f"d{i}.md", "\n\n".join(f"# P{i}{j}\n\n" + "ok " * 60 for j in range(6)))
        for i in range(40)
    ]
    assert cohesion_of(lines) == (1.0, 1.0)


@pytest.mark.parametrize("recipe", ["hipporag", "budgeted", "kurisu"])
def test_unrelated_neighbours_change_no_score(recipe):
    documents = of_any_subjects()
    together = Index.from_documents(documents, splitter=Splitter(tokens=64), extractor=None)
    graph = together.graph
    alone = together_scores(graph, clew.seed.InNeighbours(clew.seed.InDocuments(clew.seed.BM25())))
    assert alone == together_scores(graph, clew.seed.BM25())
    assert together.ask("Where is rope7 beside w12?", recipe=recipe)


def together_scores(graph, seed):
    return seed.on(graph)(clew.Query("Where is rope7 beside w12?")).scores.tolist()


def test_a_document_that_goes_leaves_what_the_others_show():
    documents = of_one_subject()
    index = Index.from_documents(documents, splitter=Splitter(tokens=64), extractor=None)
    less = index.delete([documents[3].id])
    rebuilt = Index.from_documents(
        [one for one in documents if one.id != documents[3].id],
        splitter=Splitter(tokens=64),
        extractor=None,
    )
    found = [one.graph.part(DocumentWordsPart()).cohesion for one in (less, rebuilt)]
    assert found[0] == found[1]


def test_shards_have_the_mean_of_theirs_by_their_passages():
    parts = [
        Index.from_documents(documents, splitter=Splitter(tokens=64), extractor=None)
        for documents in (of_one_subject(), of_any_subjects()[:20])
    ]
    corpora = [figures_of(part, i) for i, part in enumerate(parts)]
    sizes = [len(part.graph.part(InvertedIndexPart()).rows) for part in parts]
    joined = join_corpora(corpora, ShardNumbers.of(corpora))
    assert joined.cohesion.documents == pytest.approx(sizes[0] / sum(sizes))
