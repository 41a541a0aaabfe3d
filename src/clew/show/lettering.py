"""How wide a text is about, and where it is cut into lines: SVG breaks no lines by itself."""

from __future__ import annotations

import unicodedata

WIDE = frozenset("WF")  # of `unicodedata.east_asian_width`: as wide as they are high


def width_of(text: str, size: float) -> float:
    """Return about how many pixels a text is wide in letters of `size` pixels.

    Example:
        >>> width_of("harbour", 12), width_of("港", 12)
        (46.2, 12.0)
    """
    wide = sum(unicodedata.east_asian_width(sign) in WIDE for sign in text)
    return round(size * (wide + 0.55 * (len(text) - wide)), 1)


def wrapped(text: str, pixels: float, size: float, max_lines: int) -> list[str]:
    """Return the text in lines of at most so many pixels; the last ends with "…" if it is cut.

    Lines are broken between words, and within a word only where it is longer than a line.

    Example:
        >>> wrapped("Oars are of ash, sails of flax.", 60, 12, 2)
        ['Oars are', 'of ash,…']
    """
    rest = " ".join(text.split())
    lines: list[str] = []
    while rest:
        if width_of(rest, size) <= pixels:
            return [*lines, rest]
        is_last = len(lines) == max_lines - 1
        cut = _fitting(rest, pixels - (size if is_last else 0), size)
        head, rest = rest[:cut].rstrip(), rest[cut:].lstrip()
        if is_last:
            return [*lines, f"{head}…"]
        lines.append(head)
    return lines


def _fitting(text: str, pixels: float, size: float) -> int:
    """Return how many signs fit, up to the end of a word unless a word is longer than a line."""
    end, used = 0, 0.0
    while end < len(text) and used + width_of(text[end], size) <= pixels:
        used += width_of(text[end], size)
        end += 1
    end = max(end, 1)
    at_word = text.rfind(" ", 0, end + 1)
    next_word = text[at_word + 1 :].partition(" ")[0]
    is_long = width_of(next_word, size) > pixels
    return end if at_word <= 0 or is_long else at_word
