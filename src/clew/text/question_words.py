"""The words of a question, and which of them a text has in this form or another.

A word counts more the fewer texts have it and the longer it is: common words are short in every
language (Zipf 1935).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from clew.text.words import terms

STEM = 4  # letters that two forms of a word have in common
IDEOGRAPH = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")

WordsByStem = Mapping[str, Sequence[str]]  # the words of a question by their first letters


class QuestionWords(NamedTuple):
    """The words of a question.

    Attributes:
        by_stem: the words by their first letters.
        weights: how much each word counts.
        n_texts: how many texts the rarity of words was counted in.
    """

    by_stem: WordsByStem
    weights: Mapping[str, float]
    n_texts: int

    def weight_of(self, words: Iterable[str]) -> float:
        """Return the sum of the words' weights, in an order that does not depend on theirs."""
        return sum(sorted(self.weights[word] for word in words))


def words_by_stem(question: str) -> WordsByStem:
    """Return the words of a question by their first letters, each list in order.

    Example:
        >>> words_by_stem("Who sails the sailing boat?")["sail"]
        ['sailing', 'sails']
    """
    by_stem: dict[str, list[str]] = {}
    for word in sorted(set(terms(question))):
        by_stem.setdefault(word[:STEM], []).append(word)
    return by_stem


def covered_words(text: str, by_stem: WordsByStem) -> frozenset[str]:
    """Return the words of a question that a text has, in this form or another.

    Example:
        >>> sorted(covered_words("It costs two coins.", words_by_stem("What is the cost?")))
        ['cost']
    """
    return matching_words(terms(text), by_stem)


def matching_words(text_words: Iterable[str], by_stem: WordsByStem) -> frozenset[str]:
    """Return the words of a question that are among some words, in this form or another."""
    return frozenset(
        word
        for other in text_words
        for word in by_stem.get(other[:STEM], ())
        if word == other or _is_same_word(word, other)
    )


def weigh_words(by_stem: WordsByStem, counts: Mapping[str, int], n_texts: int) -> QuestionWords:
    """Return a question's words with their weights.

    Args:
        by_stem: The words by their first letters.
        counts: How many texts have each word.
        n_texts: How many texts there are.
    """
    weights = {
        word: _letters(word) * math.log((n_texts + 1) / (count + 0.5))
        for word, count in counts.items()
    }
    return QuestionWords(by_stem, weights, n_texts)


def weigh_by_covers(by_stem: WordsByStem, covers: Sequence[frozenset[str]]) -> QuestionWords:
    """Return a question's words, their rarity counted in the words that each text covers."""
    asked = sorted(word for words in by_stem.values() for word in words)
    counts = {word: sum(word in cover for cover in covers) for word in asked}
    return weigh_words(by_stem, counts, len(covers))


def _is_same_word(one: str, other: str) -> bool:
    """Return whether two words share four letters and differ in their last two at most.

    Such are "cost" and "costs", "маяк" and "маяка". Those that differ in a digit are not the same.

    Example:
        >>> _is_same_word("route66", "route66s"), _is_same_word("route66", "route61")
        (True, False)
    """
    shared = max(STEM, max(len(one), len(other)) - 2)
    if min(len(one), len(other)) < shared or one[:shared] != other[:shared]:
        return False
    tails = zip_longest(one[shared:], other[shared:], fillvalue="")
    return not any(a != b and (a.isdigit() or b.isdigit()) for a, b in tails)


def _letters(word: str) -> int:
    """Return the number of letters of a word; an ideograph stands for two."""
    return sum(2 if IDEOGRAPH.match(sign) else 1 for sign in word)
