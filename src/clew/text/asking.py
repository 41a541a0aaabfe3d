"""Questions in a text: which pieces ask something, and what they say of the pieces behind them.

A question says what the sentences behind it are about, as a heading does. So of a list of questions
and answers, a forum or a chat, the answer is found, and not the question that was asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from clew.text.quotable import Quotable, without_speaker
from clew.text.words import words

MAX_ENDING = 40  # signs at the end of a sentence that tell a question
_CLOSING = r"[)\]\"'’”»*_\s]*+"
# A question mark behind a word; closing signs may stand around it. One in code, or before a full
# stop, is what the sentence tells of.
_ASKING = re.compile(rf"[^\W_]{_CLOSING}[?？؟][!?？؟]*+{_CLOSING}\Z")

# Behind a question mark, or before "and" with a question word, another question begins.
_NEXT = re.compile(
    r"(?<=[?？؟])\s++|(?<=？)|(?<!\s)[,;]?\s++(?:"
    r"and(?=\s+(?:who|whom|whose|what|when|where|which|why|how)\b)|"
    r"und(?=\s+(?:wer|wen|wem|was|wann|wo|welche[mnrs]?|warum|wie)\b)|"
    r"et(?=\s+(?:qui|que|quoi|quand|où|quels?|quelles?|pourquoi|comment)\b)|"
    r"y(?=\s+(?:quién|quiénes|qué|cuándo|dónde|cuál|cuáles|cómo)\b)|"
    r"и(?=\s+(?:кто|что|когда|где|как|почему|какой|какая|какое|какие)\b)"
    r")\s++",
    re.IGNORECASE,
)

Covers = list[frozenset[str]]
"""The words of a question that each of some pieces has."""


def is_question(piece: Quotable, asked: str) -> bool:
    """Return whether a piece asks something: by its last sign, or as it begins with what was asked.

    Args:
        piece: The piece of a text.
        asked: The question that was asked.

    Example:
        >>> is_question(Quotable(0, 10, "Who sails?"), ""), is_question(Quotable(0, 5, "Sail."), "")
        (True, False)
    """
    if piece.is_row:
        return False
    if _asks(piece.text):
        return True
    message = without_speaker(piece.lead or piece.text)
    return message[-1:].isalnum() and _asks(asked) and words(message) == words(asked)


def questions_in(text: str) -> list[str]:
    """Return the questions that are asked in one.

    Example:
        >>> questions_in("Who sails, and when does he leave? Why?")
        ['Who sails', 'when does he leave?', 'Why?']
        >>> questions_in("Who sails and rows?")
        ['Who sails and rows?']
    """
    return [one for one in _NEXT.split(text) if one.strip()]


def covers_of_answers(
    pieces: Iterable[tuple[int, bool]], covers: Sequence[frozenset[str]]
) -> tuple[Covers, Covers]:
    """Return what pieces cover that ask nothing, alone and with the questions before them.

    What asks covers nothing. What does not covers what the last questions before it in the same
    text cover, too.

    Args:
        pieces: The number of the text that each piece is of, and whether it asks something.
        covers: The words that each piece has.

    Example:
        >>> covers = [frozenset(one.split()) for one in ("who sails", "anna sails", "ben")]
        >>> _, whole = covers_of_answers([(1, True), (1, False), (2, False)], covers)
        >>> [sorted(one) for one in whole]
        [[], ['anna', 'sails', 'who'], ['ben']]
    """
    nothing = frozenset[str]()
    own, with_asked = list(covers), list(covers)
    asked, before = nothing, (0, False)
    for i, (number, asks) in enumerate(pieces):
        if before[0] != number:
            asked, before = nothing, (number, False)
        if asks:
            asked = covers[i] | (asked if before[1] else nothing)
            own[i] = with_asked[i] = nothing
        else:
            with_asked[i] |= asked
        before = (number, asks)
    return own, with_asked


def _asks(text: str) -> bool:
    """Return whether a text ends as a question does.

    Example:
        >>> _asks("**Who sails?**"), _asks("To search backward, type `?`."), _asks("The key is (?)")
        (True, False, False)
    """
    return _ASKING.search(text[-MAX_ENDING:]) is not None
