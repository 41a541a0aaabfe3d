"""What refers to what was said before: words that stand for it, and questions that go on with it.

The words are those of thirteen languages.
"""

from __future__ import annotations

from collections.abc import Sequence

from clew.text.function_words import FUNCTION_WORDS_OF, UNINFORMATIVE
from clew.text.words import words

PRONOUNS = frozenset(
    # English, German, Dutch, French, Spanish, Portuguese, Italian
    """he him his she her hers they them their theirs there
    er ihn ihm ihnen ihr ihre sein seine dort hij hem haar zij hun daar
    il ils elle elles lui leur leurs él ella ellos ellas ele ela eles elas lei loro
    он его него ему нему нём она её ее неё ней они их них ним там
    він його йому вона її вони їх там
    αυτός αυτή αυτοί αυτού αυτής του της τους εκεί
    هو هي هم هناك له لها لهم
    वह वे उसका उसकी उसके उन्हें वहाँ
    他 她 它 他们 她们 它们 那里 彼 彼女 彼ら それ そこ""".split()  # noqa: SIM905 (read as a text)
)
WEAK = frozenset(("it", "its", "this", "that", "these", "those"))
"""These stand for nothing as often ("Is it possible to ...?"): so they count in short questions."""

MAX_WORDS_WITH_WEAK = 5
UNSPACED = tuple(sign for sign in PRONOUNS if "\u3000" < sign[0] < "\uffff")


def has_pronoun(question: str) -> bool:
    """Return whether a question has a word that stands for what was named before it.

    Example:
        >>> has_pronoun("Where does she live?"), has_pronoun("What does it cost?")
        (True, True)
        >>> has_pronoun("Is it possible to cancel a running job?"), has_pronoun("他住在哪里？")
        (False, True)
    """
    asked = words(question)
    return _has_strong(question, asked) or _has_weak(asked)


def stands_for_thing(question: str) -> bool:
    """Return whether a question only has pronouns such as "it", for what was asked about.

    Example:
        >>> stands_for_thing("How does it work?"), stands_for_thing("Where does she live?")
        (True, False)
    """
    asked = words(question)
    return _has_weak(asked) and not _has_strong(question, asked)


def _has_strong(question: str, asked: Sequence[str]) -> bool:
    return bool(PRONOUNS.intersection(asked)) or any(sign in question for sign in UNSPACED)


def _has_weak(asked: Sequence[str]) -> bool:
    return len(asked) <= MAX_WORDS_WITH_WEAK and bool(WEAK.intersection(asked))


CONJUNCTIONS = frozenset(
    "and or but und oder aber et ou mais y pero e ma и а но і та και و".split()  # noqa: SIM905 (read as a text)
)
"""A question begins with these that goes on; "en" is not one, which is "in" as often."""
WHAT_ABOUT = (("what", "about"), ("how", "about"), ("was", "ist", "mit"))
MAX_WORDS_GOING_ON = 3
"""More behind such a word are a question of its own, which another before it only hides."""


def goes_on(question: str) -> bool:
    """Return whether a question says too little by itself, and goes on with the one before it.

    Few words stand behind what such a question begins with, or it says nothing by itself.

    Example:
        >>> goes_on("And in winter?"), goes_on("What about the second one?"), goes_on("Why not?")
        (True, True, True)
        >>> goes_on("Who runs the tavern?"), goes_on("And who runs the tavern?")
        (False, False)
    """
    asked = words(question)
    rest = asked[1:] if asked and asked[0] in CONJUNCTIONS else asked
    begun = next((one for one in WHAT_ABOUT if tuple(rest[: len(one)]) == one), ())
    rest = rest[len(begun) :]
    is_begun = len(rest) < len(asked) or question.rstrip("?？ ").endswith("呢")
    return (is_begun and len(rest) <= MAX_WORDS_GOING_ON) or says_nothing(question)


def says_nothing(question: str) -> bool:
    """Return whether a question has function words alone, of one language.

    Example:
        >>> says_nothing("Why not?"), says_nothing("Pourquoi ?"), says_nothing("Why in winter?")
        (True, True, False)
    """
    asked = words(question)
    listed = (UNINFORMATIVE, *FUNCTION_WORDS_OF.values())
    return bool(asked) and any(one.issuperset(asked) for one in listed)
