"""Which documents have which values of their metadata, so that a filter asks only a few of them."""

from __future__ import annotations

import weakref
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from clew.document import Document
from clew.graph import Mask, offsets_of, row_mask, seal
from clew.index.question import HASHED, Where, metadata_test, plain_answers, wanted_values

Test = Callable[[Mapping[str, object]], bool]


class MetadataValues:
    """The documents by the values of their metadata, of each key once a filter names it.

    What no document has a value of is looked for again.

    Args:
        documents: The documents, whose metadata do not change.

    Example:
        >>> documents = [Document("a", "The sea.", {"year": 1}), Document("b", "An island.")]
        >>> MetadataValues(documents).allowed({"year": [1, 2]}).tolist()
        [True, False]
    """

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents
        self._by_key: dict[str, _Values] = {}
        self._last: tuple[weakref.ref[object], Mask] | None = None

    def allowed(self, where: Where, asked: Mask | None = None) -> Mask:
        """Return which documents a filter allows, as `metadata_test` says: bool [documents].

        A test that says what it wants is not asked twice in turn: retrievers of frameworks filter
        several times for one question.

        Args:
            where: The filter.
            asked: bool [documents], those that a function is asked about; the others are forbidden.
                None for all.

        Raises:
            TypeError: The filter is neither a mapping nor a function.
        """
        if asked is not None or not hasattr(where, "wanted"):
            return self._found(where, asked)
        last = self._last  # another thread may filter otherwise meanwhile
        if last is not None and last[0]() is where:
            return last[1]
        found = self._found(where, None)
        with suppress(TypeError):  # of what cannot be referred to so
            self._last = weakref.ref(where), found
        return found

    def _found(self, where: Where, asked: Mask | None) -> Mask:
        test, n = metadata_test(where), len(self._documents)
        may_be = np.ones(n, np.bool_) if asked is None else asked.copy()
        # By the values of all keys; a function may want more than it says, and decides itself.
        is_decided = not callable(where)
        wanted = getattr(where, "wanted", {}) if callable(where) else where
        to_ask = np.zeros(n, np.bool_)
        for key, values in wanted_values(wanted).items():
            if not values or not HASHED.issuperset(map(type, values)):
                is_decided = False
                continue
            of_key = self._values(key)
            to_ask[of_key.others] = True
            found = row_mask(of_key.rows_with(values), n)
            found[of_key.others] = True
            may_be &= found
        if callable(where) and hasattr(where, "parts"):
            test = self._forbid_by_value(where.parts, may_be)
        rows = np.flatnonzero(may_be & to_ask if is_decided else may_be)
        may_be[rows] = self._tested(test, rows)[rows]
        return seal(may_be)

    def _forbid_by_value(self, parts: Sequence[tuple[str | None, Test]], may_be: Mask) -> Test:
        """Forbid what parts of a test forbid by a value, and return the test that is left to ask.

        Args:
            parts: The parts, as `clew.index.question.Where` has them.
            may_be: bool [documents], those that the others may allow; it is changed.
        """
        left = list[Test]()
        for key, test in parts:
            if key is None:
                left.append(test)
                continue
            of_key, n = self._values(key), len(may_be)
            if len(of_key.codes) >= np.count_nonzero(may_be):  # most values are of one document
                left.append(test)
                continue
            found = self._tested(test, of_key.others)
            found[of_key.rows] = of_key.tested(key, test)
            if len(of_key.rows) + len(of_key.others) < n:
                lacks = ~(row_mask(of_key.rows, n) | row_mask(of_key.others, n))
                [found[lacks]] = plain_answers([test({})])
            may_be &= found
        return lambda metadata: all(test(metadata) for test in left)

    def _tested(self, test: Test, rows: NDArray[np.int64]) -> Mask:
        """Return which of some documents a test allows: bool [documents]."""
        allowed = np.zeros(len(self._documents), np.bool_)
        documents = self._documents
        allowed[rows] = plain_answers([test(documents[row].metadata) for row in rows.tolist()])
        return allowed

    def _values(self, key: str) -> _Values:
        values = self._by_key.get(key)
        if values is None:
            values = _Values.of(key, [document.metadata for document in self._documents])
            if values.codes or len(values.others):  # else strangers' filters would fill the memory
                self._by_key[key] = values
        return values


@dataclass(frozen=True, eq=False)
class _Values:
    """The documents by the values that they have for one key.

    Attributes:
        codes: The number of each value.
        starts: int64 [values + 1], where the documents of each number begin.
        rows: int32, the documents with a value, those of one value after the other.
        others: int64, the documents whose value is of another type, such as a list.
    """

    codes: Mapping[object, int]
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    others: NDArray[np.int64]

    @classmethod
    def of(cls, key: str, metadata: Sequence[Mapping[str, object]]) -> _Values:
        """Return the documents by their values for a key; those without it are left out."""
        having = [(row, one[key]) for row, one in enumerate(metadata) if key in one]
        hashed = [type(value) in HASHED for _, value in having]
        rows = np.fromiter(map(itemgetter(0), having), np.int32, len(having))
        is_hashed = np.array(hashed, np.bool_)
        code_of: defaultdict[object, int] = defaultdict(count().__next__)
        own = (value for (_, value), known in zip(having, hashed, strict=True) if known)
        codes = np.fromiter(map(code_of.__getitem__, own), np.int32, int(is_hashed.sum()))
        ordered = rows[is_hashed][np.argsort(codes, kind="stable")]
        starts = offsets_of(np.bincount(codes, minlength=len(code_of)))
        return cls(dict(code_of), starts, ordered, rows[~is_hashed].astype(np.int64))

    def tested(self, key: str, test: Test) -> Mask:
        """Return what a test says of the value that each row has for the key: bool [rows]."""
        found = plain_answers([test({key: value}) for value in self.codes])
        return np.repeat(np.array(found, np.bool_), np.diff(self.starts))

    def rows_with(self, values: Sequence[object]) -> NDArray[np.int32]:
        """Return the documents that have one of some values."""
        codes = {code for value in values if (code := self.codes.get(value)) is not None}
        found = [self.rows[self.starts[code] : self.starts[code + 1]] for code in codes]
        return np.concatenate([self.rows[:0], *found])
