"""The pieces of few words, without the library that encodes many.

The library takes some ninety milliseconds to load its 61,249 merges of pieces, which is a fifth of
a new process that opens an index and answers one question. What they say is in the numbers of the
pieces, too: any two neighbours that are a piece together are merged, that of the least number
first. Reading the numbers alone takes a tenth.
"""

from __future__ import annotations

import json
import zlib
from itertools import pairwise
from pathlib import Path

CHECKSUM = 0x3FAF5800
"""CRC-32 of the file whose merges are known to say no more than its numbers do."""

NUMBERS = b'"vocab":'  # the object after this has them
MAX_LETTERS = 64  # of a word: the time grows with their square
MARKED = frozenset("<\u2581 ")  # in the library's own marks, such as "<s>", and what begins a word


class FewPieces:
    """Finds the pieces of words as the library does, each some ten times more slowly.

    Attributes:
        numbers: the number of each piece.
    """

    def __init__(self, numbers: dict[str, int]) -> None:
        self.numbers = numbers

    @classmethod
    def of_file(cls, file: str) -> FewPieces | None:
        """Return what finds the pieces; None for a file whose merges may say something else."""
        content = Path(file).read_bytes()
        if zlib.crc32(content) != CHECKSUM:
            return None
        begin = content.index(b"{", content.index(NUMBERS))
        return cls(json.loads(content[begin : content.index(b"\n    }", begin) + 6]))

    def takes(self, word: str) -> bool:
        """Return whether a word is short and of plain letters."""
        return 0 < len(word) <= MAX_LETTERS and MARKED.isdisjoint(word)

    def of(self, begun: str) -> tuple[int, ...]:
        """Return the numbers of the pieces of a word, in turn.

        Args:
            begun: what begins a word, and then one that `takes` allows.
        """
        numbers, pieces = self.numbers, list(begun)
        while found := [
            (numbers[left + right], numbers[left], numbers[right], place)
            for place, (left, right) in enumerate(pairwise(pieces))
            if left + right in numbers and left in numbers and right in numbers
        ]:
            place = min(found)[-1]
            pieces[place : place + 2] = [pieces[place] + pieces[place + 1]]
        return tuple(number for piece in pieces for number in self._numbers_of(piece))

    def _numbers_of(self, piece: str) -> list[int]:
        """Return the number of a piece, or those of the bytes of a letter that is none."""
        number = self.numbers.get(piece)
        if number is not None:
            return [number]
        return [self.numbers[f"<0x{byte:02X}>"] for byte in piece.encode()]
