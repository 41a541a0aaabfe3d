"""Prompts within a ceiling of tokens: what does not fit is left out, or cut, and that is said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

CUT = " […]"  # stands where a text is cut, for a model to see


class FittedPrompt(NamedTuple):
    """A prompt, and how much of what it should show it shows.

    Attributes:
        text: the prompt.
        shown: how many parts it shows whole, the most important ones.
        is_cut: whether it shows the most important one alone, cut at its end.
        left_out: what it leaves out, in words; "" for nothing.
    """

    text: str
    shown: int
    is_cut: bool = False
    left_out: str = ""


def fit_prompt(
    build: Callable[[Sequence[str]], str],
    parts: Sequence[str],
    max_tokens: int,
    count: Callable[[str], int],
    what: str = "parts",
    order: Sequence[int] | None = None,
) -> FittedPrompt:
    """Return the prompt with as many parts as fit.

    Where not even the first fits whole, it is cut. Where there is no room for any of it, the prompt
    is that without parts, which may be above `max_tokens`: `Model.ask` refuses it then.

    Args:
        build: parts -> the whole prompt; more parts make a longer prompt.
        parts: what it shows, as it stands there.
        max_tokens: of the whole prompt.
        count: text -> number of tokens.
        what: the parts' name, in the plural.
        order: places in `parts`, the most important first; None for the order of the parts.

    Example:
        >>> fit_prompt(" ".join, ["one", "two", "three"], 2, lambda text: len(text.split()))
        FittedPrompt(text='one two', shown=2, is_cut=False, left_out='1 of 3 parts')
    """
    n, ranked = len(parts), range(len(parts)) if order is None else order

    def with_parts(shown: int) -> str:
        return build([parts[i] for i in sorted(ranked[:shown])])

    shown = _largest(lambda shown: count(with_parts(shown)) <= max_tokens, n)
    if shown == n:
        return FittedPrompt(build(parts), n)
    if shown:
        return FittedPrompt(with_parts(shown), shown, False, f"{n - shown:,} of {n:,} {what}")
    first = parts[ranked[0]]
    beginning = fit_text(first, lambda text: count(build([text])) <= max_tokens)
    if not beginning:
        return FittedPrompt(build([]), 0, False, f"all {n:,} {what}")
    rest = f", and {n - 1:,} of {n:,} {what}" if n > 1 else ""
    left_out = f"{len(first) - len(beginning) + len(CUT):,} of {len(first):,} characters{rest}"
    return FittedPrompt(build([beginning]), 0, True, left_out)


def fit_text(text: str, fits: Callable[[str], bool]) -> str:
    """Return the text, or its longest beginning that fits, with a mark where it is cut.

    It is cut between words where it has any. Where not even a word fits, it is "".

    Args:
        text: the text.
        fits: whether a text fits; of a text that does, every beginning does.

    Example:
        >>> fit_text("one two three", lambda text: len(text) <= 11)
        'one two […]'
    """
    if fits(text):
        return text
    end = _largest(lambda size: fits(text[:size] + CUT), len(text) - 1)
    while end:
        space = max(text.rfind(space, 0, end + 1) for space in " \n\t")
        whole_words = text[: space if space > end // 2 else end].rstrip()
        if whole_words and fits(whole_words + CUT):  # a tokenizer may join what stands at the seam
            return whole_words + CUT
        end = min(end - 1, len(whole_words))
    return ""


def fit_texts(
    build: Callable[[Sequence[str]], str],
    texts: Sequence[str],
    max_tokens: int,
    count: Callable[[str], int],
) -> tuple[str, int]:
    """Return the prompt with all texts, the longest cut to one length where they do not fit.

    For texts that must be treated alike, such as two answers that are compared.

    Args:
        build: texts -> the whole prompt.
        texts: what it shows.
        max_tokens: of the whole prompt.
        count: text -> number of tokens.

    Returns:
        The prompt, and how many of the texts are cut.

    Example:
        >>> fit_texts(" ".join, ["one", "two and far too many"], 4, lambda text: len(text.split()))
        ('one two and […]', 1)
    """
    whole = build(texts)
    if count(whole) <= max_tokens:
        return whole, 0

    def cut(room: int) -> list[str]:
        return [fit_text(text, lambda part: count(part) <= room) for text in texts]

    room = _largest(lambda room: count(build(cut(room))) <= max_tokens, max_tokens)
    shortened = cut(room)
    changed = sum(one != text for one, text in zip(shortened, texts, strict=True))
    return build(shortened), changed


def _largest(holds: Callable[[int], bool], maximum: int) -> int:
    """Return the largest number up to `maximum` for which something holds; 0 where for none.

    It is tried at 1, 2, 4, ... first, so that no try is much larger than the result.
    """
    low, high = 0, 1
    while high <= maximum and holds(high):
        low, high = high, 2 * high
    high = min(high, maximum + 1)
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low
