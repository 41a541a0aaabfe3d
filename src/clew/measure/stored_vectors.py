"""Vectors that were computed before and stand beside the texts, as an embedder that looks them up.

A passage and a question are found by their text; an entity and a fact also by the folded form by
which the graph merges names. A name that reads like a whole fact has the same vector as the fact.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.embedding.embedder import Embedder
from clew.graph import Vectors, freeze
from clew.text.words import fold_case

MAX_SHOWN = 80  # characters of a text in an error


class StoredTexts(NamedTuple):
    """The texts whose vectors are stored, in the order of the rows.

    Attributes:
        passages: The passages.
        questions: The questions.
        names: The entities.
        facts: The facts, each with subject, relation and object.
    """

    passages: Sequence[str]
    questions: Sequence[str]
    names: Sequence[str] = ()
    facts: Sequence[Sequence[str]] = ()


@dataclass(frozen=True, eq=False)
class StoredVectors:
    """Vectors by text.

    Attributes:
        path: The file that they come from.
        rows: float32 [n, d], unit rows.
        passages: The row of each text.
        names: The row of each folded name or fact.
        questions: The row of each question.
    """

    path: Path
    rows: Vectors
    passages: Mapping[str, int]
    names: Mapping[str, int]
    questions: Mapping[str, int]

    @classmethod
    def read(cls, path: Path, texts: StoredTexts, prefix: str = "") -> StoredVectors:
        """Return the vectors in an `.npz` file.

        Its arrays `passages`, `queries`, `entities` and `facts` have a row for each text. Integers
        need a number `{array}_scale` beside them, floats may have one.

        Args:
            path: The file.
            texts: The texts of the rows.
            prefix: Stands before `entities` and `facts`.

        Raises:
            ValueError: The file cannot be read, an array is missing or has another number of rows
                or another width, or a row is zero.
        """
        facts = [" ".join(fact) for fact in texts.facts]
        wanted: dict[str, Sequence[str]] = {"passages": texts.passages, "queries": texts.questions}
        if texts.names:
            wanted[f"{prefix}entities"] = texts.names
        if facts:
            wanted[f"{prefix}facts"] = facts
        arrays = _read_arrays(path, wanted)
        starts = np.cumsum([0, *(len(own) for own in wanted.values())]).tolist()
        start_of = dict(zip(wanted, starts, strict=False))

        def rows(array: str, keys: Iterable[str]) -> dict[str, int]:
            first_row: dict[str, int] = {}
            for i, key in enumerate(keys):
                first_row.setdefault(key, start_of[array] + i)
            return first_row

        fact_rows = rows(f"{prefix}facts", map(fold_case, facts))
        name_rows = rows(f"{prefix}entities", map(fold_case, texts.names))
        return cls(
            path,
            freeze(np.concatenate(arrays), np.float32),
            rows("passages", texts.passages),
            fact_rows | name_rows,
            rows("queries", (question.strip() for question in texts.questions)),
        )

    def embedder(self) -> Embedder:
        """Return the embedder that looks vectors up.

        It raises ValueError for texts without a vector, and says how many of the call there are.
        """
        return Embedder(f"stored:{self.path.name}", self._embed_texts, self._embed_question)

    def missing(self, names: Iterable[str]) -> list[str]:
        """Return the names that have no vector.

        Args:
            names: Names, or facts as their three parts joined by spaces.
        """
        return [name for name in names if fold_case(name) not in self.names]

    def _embed_texts(self, texts: list[str]) -> Vectors:
        rows = [self.passages.get(text, self.names.get(fold_case(text), -1)) for text in texts]
        missing = [text for text, row in zip(texts, rows, strict=True) if row < 0]
        if missing:
            raise ValueError(
                f"{len(missing)} of {len(texts)} texts have no vector in {self.path}, for instance "
                f"{missing[0][:MAX_SHOWN]!r}: texts that are not the benchmark's own need an "
                "embedder; give one, or ignore the stored vectors"
            )
        vectors: Vectors = self.rows[rows]
        return vectors

    def _embed_question(self, question: str) -> Vectors:
        if question.strip() not in self.questions:
            raise ValueError(
                f"the question {question!r} has no vector in {self.path}: only the benchmark's own "
                "questions can be asked"
            )
        vector: Vectors = self.rows[self.questions[question.strip()]]
        return vector


def _read_arrays(path: Path, wanted: Mapping[str, Sequence[str]]) -> list[Vectors]:
    try:
        with np.load(path, allow_pickle=False) as file:
            stored = {name: file[name] for name in file.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path}: not a file of numpy arrays: {error}") from error
    first = next(iter(wanted))
    arrays: list[Vectors] = []
    for name, texts in wanted.items():
        if name not in stored:
            raise ValueError(
                f"{path}: the array {name!r} is missing; there are {', '.join(stored)}"
            )
        what = f"{path}: the array {name!r}"
        vectors = _unit_rows(what, stored[name], stored.get(f"{name}_scale"), len(texts))
        arrays.append(vectors)
        if vectors.shape[1] != arrays[0].shape[1]:
            raise ValueError(
                f"{path}: {name!r} has {vectors.shape[1]} dimensions and {first!r} has "
                f"{arrays[0].shape[1]}"
            )
    return arrays


def _unit_rows(
    what: str, array: NDArray[np.generic], scale: NDArray[np.generic] | None, n: int
) -> Vectors:
    if array.ndim != 2 or len(array) != n:
        raise ValueError(
            f"{what} must have one row for each of the {n:,} texts of its file; its shape is "
            f"{array.shape}"
        )
    is_float = np.issubdtype(array.dtype, np.floating)
    is_scaled = scale is not None and np.issubdtype(array.dtype, np.integer)
    if not is_float and not is_scaled:
        raise ValueError(
            f"{what} is of {array.dtype}: wanted floats, or integers with a '..._scale' beside them"
        )
    factor = np.float32(1) if scale is None else np.asarray(scale, np.float32)
    vectors = array.astype(np.float32) * factor
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    wrong = np.flatnonzero(~(np.isfinite(lengths[:, 0]) & (lengths[:, 0] > 0)))
    if len(wrong):
        raise ValueError(
            f"{what} has {len(wrong)} rows that are zero or not finite; the first is row {wrong[0]}"
        )
    return freeze(vectors / lengths, np.float32)
