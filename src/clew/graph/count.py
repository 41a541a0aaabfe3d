"""Clew's own estimate of how many tokens a text has, for when the caller names no tokenizer."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

PIECES = re.compile(r"[A-Za-z]+|[0-9]+|\S")
SPACE, LETTER, DIGIT, SIGN = range(4)
KINDS = np.full(0x3002, SIGN, np.int8)  # by code point; there is no space above
KINDS[[code for code in range(0x3001) if chr(code).isspace()]] = SPACE
KINDS[ord("0") : ord("9") + 1] = DIGIT
KINDS[ord("A") : ord("Z") + 1] = KINDS[ord("a") : ord("z") + 1] = LETTER
SHORT = 6  # an English word of so many letters is mostly one token


def count_words(text: str) -> int:
    """Return an estimate of the number of tokens, without a tokenizer.

    A Latin word of up to six letters is one token, a longer one a token per four letters begun; a number a token per three digits begun;
    every other sign one. On English prose that is some 17 % above OpenAI's cl100k and 25 % above BERT's word pieces: on the safe side.
    """
    tokens = 0
    for piece in PIECES.findall(text):
        size = len(piece)
        if size > 1:
            tokens += -(-size // 3) if piece[0] <= "9" else 1 if size <= SHORT else -(-size // 4)
        else:
            tokens += 1
    return tokens


def measured(text: str, count: Callable[[str], int]) -> Callable[[int, int], int]:
    """Return a function (start, end) -> number of tokens of text[start:end], which counts nothing twice.

    For clew's own estimate the whole text is counted once, and a span is a difference of two sums; any other counter is asked for each
    span, once.
    """
    known: dict[tuple[int, int], int] = {}
    before, joined = _sums(text) if count is count_words else (None, None)

    def tokens(start: int, end: int) -> int:
        if before is not None and joined is not None and not (joined[start] or joined[end]):
            return int(before[end] - before[start])
        if (start, end) not in known:
            known[start, end] = count(text[start:end])
        return known[start, end]

    return tokens


def _sums(text: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """For every place of a text: the tokens that begin before it, and whether it is within a word or number."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    kinds = KINDS[np.minimum(codes, len(KINDS) - 1)]
    begins = np.ones(len(codes), bool)
    begins[1:] = (kinds[1:] != kinds[:-1]) | (kinds[1:] == SIGN)
    starts = np.flatnonzero(begins)
    sizes, kind = np.diff(starts, append=len(codes)), kinds[starts]
    short = (kind == SIGN) | ((kind == LETTER) & (sizes <= SHORT))
    tokens = np.where(kind == SPACE, 0, np.where(short, 1, -(-sizes // np.where(kind == DIGIT, 3, 4))))
    before = np.zeros(len(codes) + 1, np.int64)
    before[starts + 1] = tokens
    joined = np.append(~begins & (kinds != SPACE), False)
    return np.cumsum(before), joined
