"""Passages of source code, of tests and of release notes count less beside documents that explain.

A repository is documents, source code and tests. A question in words has these in names and
comments of the code as often as in what answers, and in shorter passages: code is cut by functions.
Tests name everything and explain nothing, so they come last, unless the question is on tests. What
a changelog says in a line of everything that there is, the documentation explains. Who wants to do
something with a program reads how it is used; how it is written is the matter of other questions.
A score of a document that is known before any question is its prior, or static quality (Manning,
Raghavan and Schütze, "Introduction to Information Retrieval", 2008, section 7.1.4).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

import numpy as np

from clew.graph import Graph
from clew.seed._kinds_of_files import Kind, best_rows, kinds_of
from clew.seed._wanted import asks_for_changes, asks_for_code, asks_for_tests, asks_how_to
from clew.seed.in_own_words import InOwnWords
from clew.text.code_languages import CODE_SUFFIXES, FILE_SUFFIXES_OF_CODE
from clew.types import Query, Seed, Seeds

_FILE_IN_QUESTION = re.compile(r"\w(\.[a-z]{1,4})\b")


@dataclass(frozen=True)
class InProse:
    """Score by another seed, and lower what stands in source code, in tests or in release notes.

    Which that is, the path of the file says. Where no other document stands among the best, source
    code and release notes keep their scores; tests do where all code is theirs or the question is
    on tests, release notes where it is on versions or on what changed. Where it is on functions or
    on how something is implemented, documents are lowered and source code is not. A question that
    names a file of source code has the scores of the other seed.

    Attributes:
        seed: the other seed.
        code_share: of its score that a passage of source code keeps, in [0, 1]; one of a document
            where the question is on source code.
        test_share: the same of source code that tests.
        how_to_share: the most that either keeps where somebody wants to do something, in [0, 1].
        notes_share: what a passage of release notes or of a changelog keeps, in [0, 1].

    Example:
        >>> from clew import Graph, Query
        >>> from clew.seed import BM25
        >>> paths = ("docs/kiln.md", "src/kiln.py", "tests/test_kiln.py")
        >>> graph = Graph.of(["heat(kiln)"] * 3, metadata=[{"path": path} for path in paths])
        >>> find_seeds = InProse(BM25()).on(graph)
        >>> find_seeds(Query("What does heat a kiln?")).scores.round(3).tolist()
        [0.107, 0.096, 0.069]
        >>> find_seeds(Query("How do I heat a kiln?")).scores.round(3).tolist()
        [0.107, 0.075, 0.069]
    """

    seed: Seed = InOwnWords()
    code_share: float = 0.9
    test_share: float = 0.65
    how_to_share: float = 0.7
    notes_share: float = 0.7

    def __post_init__(self) -> None:
        shares = (
            f"{name}={value!r}"
            for name in ("code_share", "test_share", "how_to_share", "notes_share")
            if not 0 <= (value := getattr(self, name)) <= 1
        )
        if wrong := ", ".join(shares):
            raise ValueError(
                f"a share is what a passage keeps of its score, from 0 to 1; got {wrong}"
            )

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        find_alone = self.seed.on(graph)

        def find_seeds(query: Query) -> Seeds:
            seeds = find_alone(query)
            if _names_a_file_of_code(query.text):
                return seeds
            best = best_rows(seeds)
            kinds = kinds_of(graph, best)
            share = self._shares(set(kinds), query.text)
            shares = np.array([share[kind] for kind in kinds])
            if (shares == 1).all():
                return seeds
            scores = np.array(seeds.scores, dtype=np.float64)
            scores[best] *= shares
            return replace(seeds, scores=scores)

        return find_seeds

    def _shares(self, kinds: AbstractSet[Kind], question: str) -> Mapping[Kind, float]:
        """Return what each kind keeps where some kinds are among the best."""
        of_code = of_documents = 1.0
        if not kinds.isdisjoint(("document", "notes")):
            if asks_for_code(question):
                of_documents = self.code_share if "code" in kinds else 1.0
            else:
                most = self.how_to_share if asks_how_to(question) else 1.0
                of_code = min(self.code_share, most)
        # Where all code tests, this may be the name of a folder that holds the whole program.
        is_test_lower = {"code", "test"} <= kinds and not asks_for_tests(question)
        are_notes_lower = "document" in kinds and not asks_for_changes(question)
        return {
            "document": of_documents,
            "code": of_code,
            "test": min(self.test_share, of_code) if is_test_lower else of_code,
            "notes": min(self.notes_share if are_notes_lower else 1.0, of_documents),
        }


def _names_a_file_of_code(question: str) -> bool:
    found = _FILE_IN_QUESTION.findall(question.lower())
    # Of one letter are abbreviations, too: "U.S." names no file of assembly.
    return any(
        suffix in (FILE_SUFFIXES_OF_CODE if len(suffix) > 2 else CODE_SUFFIXES) for suffix in found
    )
