"""Passages of source code, and of tests above all, count less beside documents that explain.

A repository is documents, source code and tests. A question in words has these in names and
comments of the code as often as in what answers, and in shorter passages: code is cut by functions.
Tests name everything and explain nothing, so they come last, unless the question is on tests.
A score of a document that is known before any question is its prior, or static quality (Manning,
Raghavan and Schütze, "Introduction to Information Retrieval", 2008, section 7.1.4).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from clew.algorithms.ranking import top_k
from clew.graph import Graph, Rows
from clew.seed._test_code import is_test_code
from clew.seed.in_own_words import InOwnWords
from clew.text.code_languages import CODE_SUFFIXES, FILE_NAME_KEYS
from clew.text.words import fold_case
from clew.types import Query, Seed, Seeds

MOST = 100  # of the best passages, which are looked at
_FILE_IN_QUESTION = re.compile(r"\w(\.[a-z]{1,4})\b")
_FILE = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}\Z")
_ASKED = re.compile(
    r"(?<![^\W\d_])(?:py|unit|doc|conf?|un)?test|fixture|mock|assert|prueba|тест|测试|テスト"
)
_HOW_TO = re.compile(r"\bhow (?:do|can|could|should|would|to)\b")


@dataclass(frozen=True)
class InProse:
    """Score by another seed, and lower what stands in source code, or in that of tests.

    Which that is, the path of the file says. Where no document stands among the best, source code
    keeps its score, and tests do where all code is theirs or the question is on tests. A question
    that names a file of source code has the scores of the other seed.

    Attributes:
        seed: the other seed.
        code_share: of its score that a passage of source code keeps, in [0, 1].
        test_share: the same of source code that tests.

    Example:
        >>> from clew import Graph, Query
        >>> from clew.seed import BM25
        >>> paths = ("docs/kiln.md", "src/kiln.py", "tests/test_kiln.py")
        >>> graph = Graph.of(["heat(kiln)"] * 3, metadata=[{"path": path} for path in paths])
        >>> find_seeds = InProse(BM25()).on(graph)
        >>> find_seeds(Query("heat a kiln")).scores.round(3).tolist()
        [0.107, 0.096, 0.069]
        >>> find_seeds(Query("Which test does heat a kiln?")).scores.round(3).tolist()
        [0.107, 0.096, 0.096]
    """

    seed: Seed = InOwnWords()
    code_share: float = 0.9
    test_share: float = 0.65

    def __post_init__(self) -> None:
        if not (0 <= self.code_share <= 1 and 0 <= self.test_share <= 1):
            raise ValueError(
                "code_share and test_share are what a passage of source code and of a test keep "
                f"of their score, from 0 to 1; got {self.code_share!r} and {self.test_share!r}"
            )

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        find_alone = self.seed.on(graph)

        def find_seeds(query: Query) -> Seeds:
            seeds = find_alone(query)
            if _names_a_file_of_code(query.text):
                return seeds
            best = top_k(seeds.scores, MOST).astype(np.int32)
            best = best[np.asarray(seeds.scores)[best] > 0]
            kinds = _kinds_of_code(graph, best)
            of_code = self.code_share if None in kinds else 1.0
            # Where all code tests, this may be the name of a folder that holds the whole program.
            is_test_lower = True in kinds and False in kinds and not asks_for_tests(query.text)
            of_tests = self.test_share if is_test_lower else of_code
            share = {None: 1.0, False: of_code, True: of_tests}
            shares = np.array([share[kind] for kind in kinds])
            if (shares == 1).all():
                return seeds
            scores = np.array(seeds.scores, dtype=np.float64)
            scores[best] *= shares
            return replace(seeds, scores=scores)

        return find_seeds


def asks_for_tests(question: str) -> bool:
    """Return whether a question is on tests that there are, and not on how one tests.

    Example:
        >>> asks_for_tests("What does test_kiln check?"), asks_for_tests("Is 2.1 the latest?")
        (True, False)
        >>> asks_for_tests("How do I test a kiln?")
        False
    """
    folded = fold_case(question)
    return bool(_ASKED.search(folded)) and not _HOW_TO.search(folded)


def _names_a_file_of_code(question: str) -> bool:
    found = _FILE_IN_QUESTION.findall(question.lower())
    return any(suffix in CODE_SUFFIXES for suffix in found)


def _kinds_of_code(graph: Graph, rows: Rows) -> list[bool | None]:
    """Return whether each row is of source code that tests; None for what is no code."""
    documents = graph.documents[rows]
    owners = np.where(documents >= 0, documents, rows).tolist()
    known = {owner: _is_of_test(graph, owner) for owner in dict.fromkeys(owners)}
    return [known[owner] for owner in owners]


def _is_of_test(graph: Graph, row: int) -> bool | None:
    """Return whether a document is source code that tests; None for what is no code.

    Its id is asked first: of a folder that was read, that is the path below the folder.
    """
    id = graph.ids[row]
    if _FILE.search(id):
        return is_test_code(id)
    metadata = graph.metadata[row]
    names = [metadata.get(key) for key in FILE_NAME_KEYS] if metadata else []
    known = [is_test_code(name) for name in names if isinstance(name, str)]
    return True if True in known else False if False in known else None
