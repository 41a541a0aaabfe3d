"""What a reasoning model writes before its answer, which is no part of the answer.

Such a model thinks between two marks. Many servers take the thoughts away; where none does, or one
is asked for them, they stand in the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

OPEN, CLOSE = "<think>", "</think>"


def without_thoughts(answer: str) -> str:
    """Return a model's answer without the thoughts before it.

    A model whose prompt ends with the first mark writes the second one alone, on a line of its own.
    An answer that ends within the thoughts is empty.

    Example:
        >>> without_thoughts("<think>Ben, says [1].</think> He lives on Corfu.")
        'He lives on Corfu.'
    """
    before, mark, after = answer.partition(CLOSE)
    is_open = before.lstrip().startswith(OPEN)
    if not mark:
        return "" if is_open else answer
    is_alone = before.endswith("\n") and after[:1] in ("", "\n", "\r") and OPEN not in before
    return after.lstrip() if is_open or is_alone else answer


def pieces_without_thoughts(pieces: Iterable[str]) -> Iterator[str]:
    r"""Yield the pieces of an answer without the thoughts before it, which begin with their mark.

    Example:
        >>> list(pieces_without_thoughts(["<th", "ink>Ben?", "</think>\n\n", "On ", "Corfu."]))
        ['On ', 'Corfu.']
    """
    coming, begin = iter(pieces), ""
    for piece in coming:
        begin += piece
        start = begin.lstrip()[: len(OPEN)]
        if start == OPEN or not OPEN.startswith(start):
            break
    if not begin.lstrip().startswith(OPEN):
        yield from chain([begin] if begin else [], coming)
        return
    end = ""
    for piece in chain([begin], coming):
        before, mark, end = (end + piece).partition(CLOSE)
        if mark:
            break
        end = before[-len(CLOSE) :]  # a mark may come in two pieces
    else:
        return
    for piece in chain([end], coming):
        if first := piece.lstrip():
            yield first
            break
    yield from coming
