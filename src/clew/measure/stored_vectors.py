"""Vectors that were computed before and lie beside the texts, as an embedder: it looks them up.

A passage and a question are found by their text; an entity and a fact also by the folded form that the graph merges names by. Where
a name reads like a whole fact, both have the name's vector.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from clew.embedding.embedder import Embedder
from clew.graph import Vectors, freeze
from clew.text.words import fold_case


@dataclass(frozen=True, eq=False)
class Stored:
    """Vectors by text.

    Attributes:
        path: the file they come from. rows: float32 [n, d], unit rows. passages, names, questions: the row of a text, of a folded
            name or fact, of a question.
    """

    path: Path
    rows: Vectors
    passages: Mapping[str, int]
    names: Mapping[str, int]
    questions: Mapping[str, int]

    @classmethod
    def of(
        cls,
        path: Path,
        passages: Sequence[str],
        questions: Sequence[str],
        names: Sequence[str],
        facts: Sequence[Sequence[str]],
        prefix: str = "",
    ) -> Stored:
        """Return the vectors in an `.npz` file, whose arrays have the rows of `passages`, `queries`, `entities` and `facts`.

        Args:
            path: integers need a number `{array}_scale` beside them, floats may have one. prefix: stands before `entities` and `facts`.

        Raises:
            ValueError: the file cannot be read, an array is missing, has another number of rows or another width, or a row is zero.
        """
        said = [" ".join(fact) for fact in facts]
        wanted: list[tuple[str, Sequence[str]]] = [("passages", passages), ("queries", questions)]
        wanted += [
            (f"{prefix}{name}", texts)
            for name, texts in (("entities", names), ("facts", said))
            if texts
        ]
        arrays = _arrays(path, wanted)
        starts = np.cumsum([0, *(len(texts) for _, texts in wanted)])
        place = {name: start for (name, _), start in zip(wanted, starts.tolist(), strict=False)}

        def rows(array: str, texts: Iterable[str]) -> dict[str, int]:
            found: dict[str, int] = {}
            for i, text in enumerate(texts):
                found.setdefault(text, place[array] + i)
            return found

        of_facts = rows(f"{prefix}facts", map(fold_case, said))
        of_names = rows(f"{prefix}entities", map(fold_case, names))
        return cls(
            path,
            freeze(np.concatenate(arrays), np.float32),
            rows("passages", passages),
            of_facts | of_names,
            rows("queries", (question.strip() for question in questions)),
        )

    def embedder(self) -> Embedder:
        """Return the embedder that looks vectors up; a text without one raises ValueError, with the count of all such in the call."""
        return Embedder(f"stored:{self.path.name}", self._texts, self._question)

    def without(self, names: Iterable[str]) -> list[str]:
        """Return those of `names` (or facts, as their three parts joined by spaces) that have no vector."""
        return [name for name in names if fold_case(name) not in self.names]

    def _texts(self, texts: list[str]) -> Vectors:
        rows = [self.passages.get(text, self.names.get(fold_case(text), -1)) for text in texts]
        missing = [text for text, row in zip(texts, rows, strict=True) if row < 0]
        if missing:
            raise ValueError(
                f"{len(missing)} of {len(texts)} texts have no vector in {self.path}, for instance {missing[0][:80]!r}: texts that are not "
                "the benchmark's own want an embedder, or the stored vectors left aside"
            )
        found: Vectors = self.rows[rows]
        return found

    def _question(self, question: str) -> Vectors:
        if question.strip() not in self.questions:
            raise ValueError(
                f"the question {question!r} has no vector in {self.path}: only the benchmark's own questions can be asked"
            )
        found: Vectors = self.rows[self.questions[question.strip()]]
        return found


def _arrays(path: Path, wanted: list[tuple[str, Sequence[str]]]) -> list[Vectors]:
    try:
        with np.load(path, allow_pickle=False) as file:
            stored = {name: file[name] for name in file.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path}: not a file of numpy arrays: {error}") from error
    arrays: list[Vectors] = []
    for name, texts in wanted:
        if name not in stored:
            raise ValueError(
                f"{path}: the array {name!r} is missing; there are {', '.join(stored)}"
            )
        arrays.append(
            _units(
                f"{path}: the array {name!r}", stored[name], stored.get(f"{name}_scale"), len(texts)
            )
        )
        if arrays[-1].shape[1] != arrays[0].shape[1]:
            raise ValueError(
                f"{path}: {name!r} has {arrays[-1].shape[1]} dimensions and {wanted[0][0]!r} has {arrays[0].shape[1]}"
            )
    return arrays


def _units(what: str, array: Any, scale: Any, n: int) -> Vectors:
    if array.ndim != 2 or len(array) != n:
        raise ValueError(
            f"{what} must have one row for each of the {n:,} texts of its file; its shape is {array.shape}"
        )
    if not np.issubdtype(array.dtype, np.floating) and (
        scale is None or not np.issubdtype(array.dtype, np.integer)
    ):
        raise ValueError(
            f"{what} is of {array.dtype}: wanted floats, or integers with a '..._scale' beside them"
        )
    vectors = array.astype(np.float32) * (
        np.float32(1) if scale is None else np.asarray(scale, np.float32)
    )
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    wrong = np.flatnonzero(~(np.isfinite(lengths[:, 0]) & (lengths[:, 0] > 0)))
    if len(wrong):
        raise ValueError(
            f"{what} has {len(wrong)} rows that are zero or not finite; the first is row {wrong[0]}"
        )
    return freeze(vectors / lengths, np.float32)
