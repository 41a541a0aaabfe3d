"""What a question wants to read, by its words: how one does something, source code, changes."""

from __future__ import annotations

import re

from clew.text.words import fold_case

_HOW_TO = re.compile(r"\bhow (?:do|can|could|should|would|to)\b")
_WANTS = re.compile(r"\b(?:can|could|do|should) i\b")
# A question, or words about a program, or a name as programs have it.
_ASKS = re.compile(
    r"[?_()]|::|\w\.[A-Za-z]|[a-z][A-Z]"
    r"|\b(?i:who|what|where|which|when|why|how|is|are|does|do|can)\b"
    r"|\b(?i:function|class|method|struct|implement\w*|defin\w+)\b"
)
_WHAT_IS = re.compile(
    r"\W*(?:(?:in|from|by|at|on|for|of|to|with) )?(?:who|what|where|which|when|why|how)\b"
)
_ON_CODE = re.compile(
    r"\b(?:functions?|methods?|class(?:es)?|structs?|traits?|implement\w*|source code|internally)\b"
    r"|\b(?:which|what) code\b"
)
_ON_TESTS = re.compile(
    r"(?<![^\W\d_])(?:py|unit|doc|conf?|un)?test|fixture|mock|assert|prueba|тест|测试|テスト"
)
_ON_CHANGES_HOW = re.compile(r"\d\.\d|upgrad|migrat|changelog|release|version")
_ON_CHANGES = re.compile(
    r"\d\.\d|\bnew(?:s|er|est|ly)?\b|\bchang(?:ed|es|elog)|release|version|upgrad|migrat|\bsince\b"
    r"|introduced|deprecat|removed|removal|\badded|\bfixed|\bbugs?\b|\bwhen (?:was|were|did)\b"
    r"|no longer|latest|recent|regression|\bbroke"
)


def asks_how_to(question: str) -> bool:
    """Return whether somebody wants to do something, or names it alone.

    Example:
        >>> asks_how_to("How do I turn the kiln off?"), asks_how_to("kiln temperature")
        (True, True)
        >>> asks_how_to("Which function turns it off?"), asks_how_to("Kiln.turnOff")
        (False, False)
    """
    folded = fold_case(question)
    return bool(_HOW_TO.search(folded) or _WANTS.search(folded)) or not _ASKS.search(question)


def asks_what_is(question: str) -> bool:
    """Return whether a question asks what something is or does, and not how one does it.

    Example:
        >>> asks_what_is("What heats the kiln?"), asks_what_is("How is the kiln heated?")
        (True, True)
        >>> asks_what_is("How do I heat the kiln?"), asks_what_is("Heat what is in the kiln.")
        (False, False)
    """
    return bool(_WHAT_IS.match(fold_case(question))) and not asks_how_to(question)


def asks_for_code(question: str) -> bool:
    """Return whether a question is on how something is written, and not on how it is done.

    Example:
        >>> asks_for_code("Which function heats the kiln?"), asks_for_code("What heats it?")
        (True, False)
        >>> asks_for_code("How do I implement my own kiln?")
        False
    """
    return bool(_ON_CODE.search(fold_case(question))) and not asks_how_to(question)


def asks_for_tests(question: str) -> bool:
    """Return whether a question is on tests that there are, and not on how one tests.

    Example:
        >>> asks_for_tests("What does test_kiln check?"), asks_for_tests("Is 2.1 the latest?")
        (True, False)
        >>> asks_for_tests("How do I test a kiln?")
        False
    """
    folded = fold_case(question)
    return bool(_ON_TESTS.search(folded)) and not _HOW_TO.search(folded)


def asks_for_changes(question: str) -> bool:
    """Return whether a question is on what changed, or names a version.

    Example:
        >>> asks_for_changes("What is new in 3.11?"), asks_for_changes("When was it removed?")
        (True, True)
        >>> asks_for_changes("How do I change the colour of a new window?")
        False
    """
    folded = fold_case(question)
    return bool((_ON_CHANGES_HOW if _HOW_TO.search(folded) else _ON_CHANGES).search(folded))
