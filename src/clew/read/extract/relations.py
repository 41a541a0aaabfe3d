"""Facts from the places of names: what a passage is about, the words before a name, and that name.

"Playboy of Paris is a 1930 comedy directed by Ludwig Berger and starring Maurice Chevalier, Frances
Dee" states, without any grammar: (Playboy of Paris, directed by, Ludwig Berger), (Playboy of Paris,
… and starring, Maurice Chevalier), and the same of Frances Dee: in a list, the relation of the
first name holds for all. No language is known, except for the words inside lists. What follows
another name may be a statement about that one. Such a relation begins with an ellipsis, as a
quotation does that leaves something out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from clew.read.extract.extractor import Triple
from clew.read.extract.word_columns import MARKS
from clew.text.words import IDEOGRAPHS, fold_case

UNKNOWN_RELATION, ELLIPSIS = "mentions", "… "
_GAPS = frozenset((", ", "; "))  # which most members of a list have between them
NO_SENTENCE = -1  # starts where none does
MAX_LIST_GAP = 20  # characters between two names of a list
_ASCII_WORD = re.compile(r"[A-Za-z0-9][\w'\-]*", re.ASCII)
_LIST_SIGNS = re.compile(r"[\s,;/&()+、،・·和與与及]*")


class Mention(NamedTuple):
    """A name in a text: the name, its span, and the place where its sentence starts."""

    name: str
    start: int
    end: int
    sentence: int


def find_facts(
    text: str,
    title: str,
    mentions: Sequence[Mention],
    max_relation_words: int,
    list_words: Collection[str],
) -> Iterator[Triple]:
    """Return (title, words before the name, name), each once.

    Args:
        text: The text of the passage.
        title: What the passage is about; "" for its first name.
        mentions: The names in the order of the text; none overlap.
        max_relation_words: The number of words that a relation may have, the last before the name.
            With 0 every relation is "mentions".
        list_words: Words with their case folded that separate the members of a list, such as "and".

    Example:
        >>> text = "Anna met Ben"
        >>> names = [Mention("Anna", 0, 4, 0), Mention("Ben", 9, 12, 0)]
        >>> list(find_facts(text, "", names, 6, ("and",)))
        [('Anna', 'met', 'Ben')]
    """
    subject = title or (mentions[0].name if mentions else "")
    facts: dict[Triple, None] = {}
    relation, last_end, last_sentence = UNKNOWN_RELATION, 0, NO_SENTENCE
    subject_key, is_subject, was_subject = fold_case(subject), False, False
    longest = len(subject_key)
    for name, start, end, sentence in mentions:
        was_subject = is_subject
        if name.isascii():  # then only what is longer may be the same with fewer spaces
            is_subject = name.lower() == subject_key or (
                len(name) > longest and not name.isalnum() and fold_case(name) == subject_key
            )
        else:
            is_subject = fold_case(name) == subject_key
        same_sentence = last_sentence == sentence
        between = text[last_end if same_sentence else sentence : start]
        last_end, last_sentence = end, sentence
        if same_sentence and between in _GAPS:
            is_listed = True
        else:
            words = _words(between)
            is_listed = (
                same_sentence
                and len(between) < MAX_LIST_GAP
                and _is_list_gap(between, words, list_words)
            )
        if not is_listed:
            if "\n" in between:
                words = _words(between.rpartition("\n")[2])
            if len(words) > max_relation_words:
                words = words[len(words) - max_relation_words :]
            relation = " ".join(words)
            if not relation:
                relation = UNKNOWN_RELATION
            elif same_sentence and not was_subject:
                relation = ELLIPSIS + relation
        if not is_subject:
            facts.setdefault((subject, relation, name))
    return iter(facts)


def _words(text: str) -> list[str]:
    if text.isascii() and text.replace(" ", "").isalnum():  # as most are: words between spaces
        return text.split()
    return _pattern_for(text).findall(text)


def _pattern_for(text: str) -> re.Pattern[str]:
    """Return the quickest pattern that finds the words of a text as `_word` does."""
    return _ASCII_WORD if text.isascii() else _word()


@lru_cache(maxsize=1)
def _word() -> re.Pattern[str]:
    """The pattern of a word of any script; most texts have only letters of ASCII."""
    return re.compile(rf"[{IDEOGRAPHS}]+|[^\W_](?:(?![{IDEOGRAPHS}])[\w'’\-{MARKS}])*")


def _is_list_gap(between: str, words: Sequence[str], list_words: Collection[str]) -> bool:
    """Return whether a short text between two names, of these words, only separates a list."""
    if words and words[0].casefold() not in list_words:  # as most have
        return False
    return all(map(list_words.__contains__, map(str.casefold, words))) and not _LIST_SIGNS.sub(
        "", _pattern_for(between).sub("", between)
    )
