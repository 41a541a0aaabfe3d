"""Words that stand for somebody or something that was named before, in thirteen languages."""

from __future__ import annotations

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
    if PRONOUNS.intersection(asked) or any(sign in question for sign in UNSPACED):
        return True
    return len(asked) <= MAX_WORDS_WITH_WEAK and bool(WEAK.intersection(asked))
