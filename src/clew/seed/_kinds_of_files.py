"""What kind of file the best passages stand in: documents, release notes, source code, tests."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.ranking import top_k
from clew.graph import Graph, Rows
from clew.seed._release_notes import is_release_notes
from clew.seed._test_code import is_test_code, is_test_data
from clew.text.code_languages import FILE_NAME_KEYS
from clew.types import Seeds

Kind = Literal["document", "notes", "code", "test"]
KINDS: tuple[Kind, ...] = get_args(Kind)
MOST = 100  # of the best passages, which are looked at
_FILE = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}\Z")
_MAY_BE_OTHER = re.compile(r"[./\\]|(?i:change|release|version|what|history|news)")
"""What the name of anything but a document has: most names are ids without any of that."""


def best_rows(seeds: Seeds) -> Rows:
    """Return the rows of the best passages with a score above 0, at most `MOST`, best first."""
    scores = np.asarray(seeds.scores)
    best = top_k(scores, MOST).astype(np.int32)
    return best[scores[best] > 0]


def kinds_of(graph: Graph, rows: Rows) -> list[Kind]:
    """Return what kind of file each row stands in, by the file's path."""
    documents = graph.documents[rows]
    owners = np.where(documents >= 0, documents, rows)
    known = graph.part(_KnownKindsPart())
    for owner in set(owners[known[owners] == 0].tolist()):
        known[owner] = 1 + KINDS.index(_kind(graph, owner))
    return [KINDS[number - 1] for number in known[owners].tolist()]


@dataclass(frozen=True)
class _KnownKindsPart:
    """The part that remembers the kinds of files: of each row 1 + its place in `KINDS`, int8 [n].

    It is 0 of a row that no question has asked for: most files are never among the best.
    """

    def compute(self, graph: Graph) -> NDArray[np.int8]:
        return np.zeros(len(graph), np.int8)


def _kind(graph: Graph, row: int) -> Kind:
    """Return what kind of file a row is.

    Its id is asked first: of a folder that was read, that is the path below the folder.
    """
    names = [graph.ids[row]]
    if not _FILE.search(names[0]):
        metadata = graph.metadata[row]
        named = [metadata.get(key) for key in FILE_NAME_KEYS] if metadata else []
        names = [name for name in named if isinstance(name, str)] or names
    if not any(map(_MAY_BE_OTHER.search, names)):
        return "document"
    if any(map(is_test_data, names)):
        return "test"
    known = {is_test_code(name) for name in names}
    if known != {None}:
        return "test" if True in known else "code"
    return "notes" if any(map(is_release_notes, names)) else "document"
