"""An estimate of the number of tokens of a text, without a tokenizer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

PIECE = re.compile(r"[A-Za-z]+|[0-9]+|\S")
MAX_WHOLE_WORD = 6  # letters; an English word of at most so many is mostly one token
LETTERS_PER_TOKEN = 4
DIGITS_PER_TOKEN = 3
BATCH = 200_000  # characters that are estimated at once

SPACE, LETTER, DIGIT, OTHER = range(4)
SPACES = list(filter(str.isspace, map(chr, range(0x3001))))  # there is none at higher code points
CLASS_OF_CODE = np.full(0x3002, OTHER, np.int8)
CLASS_OF_CODE[[*map(ord, SPACES)]] = SPACE
CLASS_OF_CODE[ord("0") : ord("9") + 1] = DIGIT
CLASS_OF_CODE[ord("A") : ord("Z") + 1] = LETTER
CLASS_OF_CODE[ord("a") : ord("z") + 1] = LETTER
ASCII_CLASSES = CLASS_OF_CODE[:256].tobytes()

WORD_BYTES = bytes(code for code in range(128) if CLASS_OF_CODE[code] != OTHER)
ONLY_LETTERS, ONLY_DIGITS = (
    bytes(code if code < 128 and CLASS_OF_CODE[code] == kind else ord(" ") for code in range(256))
    for kind in (LETTER, DIGIT)
)
OTHER_SPACES = [space for space in SPACES if not space.isascii()]
N_KNOWN = 64  # sizes of pieces whose tokens are in tables
TOKENS_OF_WORD, TOKENS_OF_NUMBER = (
    [1 if size <= whole else -(-size // per_token) for size in range(N_KNOWN)]
    for whole, per_token in ((MAX_WHOLE_WORD, LETTERS_PER_TOKEN), (1, DIGITS_PER_TOKEN))
)
TOKENS_OF_PIECE = np.zeros((4, N_KNOWN), np.int64)  # by its kind and size; white space counts 0
TOKENS_OF_PIECE[LETTER], TOKENS_OF_PIECE[DIGIT] = TOKENS_OF_WORD, TOKENS_OF_NUMBER
TOKENS_OF_PIECE[OTHER] = 1


def estimate_tokens(text: str) -> int:
    """Return an estimate of the number of tokens of a text, in linear time.

    A Latin word of up to six letters counts 1, a longer one 1 per four letters begun. A number
    counts 1 per three digits begun, any other character that is not white space 1. On English prose
    the estimate is about 17 % above OpenAI's cl100k and 25 % above BERT's word pieces, so that a
    budget in estimated tokens errs on the safe side.

    Example:
        >>> estimate_tokens("short words")
        2
        >>> estimate_tokens("internationalisation, 1234567")
        9
    """
    # What is not ASCII becomes "?", which counts 1 as well, and white space among it is taken off.
    raw = text.encode("ascii", "replace")
    tokens = len(raw.translate(None, WORD_BYTES))
    if not text.isascii():
        tokens -= sum(map(text.count, OTHER_SPACES))
    words, numbers = raw.translate(ONLY_LETTERS).split(), raw.translate(ONLY_DIGITS).split()
    try:
        tokens += sum(map(TOKENS_OF_WORD.__getitem__, map(len, words)))
        return tokens + sum(map(TOKENS_OF_NUMBER.__getitem__, map(len, numbers)))
    except IndexError:  # a very long one
        return sum(_tokens_of_piece(piece) for piece in PIECE.findall(text))


def _tokens_of_piece(piece: str) -> int:
    if len(piece) == 1:
        return 1
    if piece[0] > "9" and len(piece) <= MAX_WHOLE_WORD:
        return 1
    return _tokens_of_long(len(piece), is_number=piece[0] <= "9")


def _tokens_of_long(size: int, is_number: bool) -> int:
    return -(-size // (DIGITS_PER_TOKEN if is_number else LETTERS_PER_TOKEN))


def estimate_each(texts: Sequence[str]) -> list[int]:
    r"""Return the estimate of every text; of many texts in half the time.

    Example:
        >>> estimate_each(["short words", "", "internationalisation, 1234567"])
        [2, 0, 9]
    """
    estimates: list[int] = []
    first, size = 0, 0
    for behind, text in enumerate(texts, 1):
        size += len(text) + 1
        if size >= BATCH or behind == len(texts):
            some = texts[first:behind]
            pieces = _find_pieces("\n".join([*some, ""]))
            ends = np.cumsum([0, *(len(one) + 1 for one in some)])  # behind spaces: in no word
            sums = np.append(0, np.cumsum(pieces.tokens))
            estimates += np.diff(sums[pieces.starts.searchsorted(ends)]).tolist()
            first, size = behind, 0
    return estimates


def cumulative_estimate(text: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the running sum of the estimate, and where it says nothing, in linear time.

    `sums[b] - sums[a]` is `estimate_tokens(text[a:b])`, unless `a` or `b` is inside a word or a
    number.

    Returns:
        Two arrays of `len(text) + 1` entries: `sums`, the tokens that begin before each place, and
        `inside`, True where a place is inside a word or number.

    Example:
        >>> sums, inside = cumulative_estimate("a bc!")
        >>> sums
        array([0, 1, 1, 2, 2, 3])
        >>> inside
        array([False, False, False,  True, False, False])
    """
    classes, begins, starts, tokens = _find_pieces(text)
    sums = np.zeros(len(classes) + 1, np.int64)
    sums[starts + 1] = tokens
    inside = np.zeros(len(classes) + 1, np.bool_)
    np.greater(classes != SPACE, begins, out=inside[:-1])
    return np.cumsum(sums), inside


class _Pieces(NamedTuple):
    """What tokens are counted of: words, numbers, other signs, and runs of white space.

    Attributes:
        classes: int8 [signs], the kind of each sign.
        begins: bool [signs], whether a piece begins there.
        starts: int64 [pieces], where each begins.
        tokens: int64 [pieces], what each counts.
    """

    classes: NDArray[np.int8]
    begins: NDArray[np.bool_]
    starts: NDArray[np.int64]
    tokens: NDArray[np.int64]


def _find_pieces(text: str) -> _Pieces:
    classes: NDArray[np.int8]
    if text.isascii():
        classes = np.frombuffer(text.encode("ascii").translate(ASCII_CLASSES), np.int8)
    else:
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
        classes = CLASS_OF_CODE[np.minimum(codes, len(CLASS_OF_CODE) - 1)]
    begins = np.ones(len(classes), np.bool_)  # whether a piece, or a run of white space, begins
    np.not_equal(classes[1:], classes[:-1], out=begins[1:])
    begins |= classes == OTHER
    starts = np.flatnonzero(begins)
    sizes = np.diff(starts, append=len(classes))
    kinds = classes[starts].astype(np.int64)
    # What a piece counts is looked up in a fraction of the time of a division.
    tokens = TOKENS_OF_PIECE.take(kinds * N_KNOWN + np.minimum(sizes, N_KNOWN - 1))
    for i in np.flatnonzero((sizes >= N_KNOWN) & (kinds != SPACE)).tolist():
        tokens[i] = _tokens_of_long(int(sizes[i]), is_number=kinds[i] == DIGIT)
    return _Pieces(classes, begins, starts, tokens)
