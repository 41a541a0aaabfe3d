"""Names of prose that has many, as an encyclopaedia has, and symbols of source code everywhere.

Whether there are many is seen by words with a capital within sentences: of each hundred words an
encyclopaedia has eight to twenty, documentation and manual pages one or two, minutes of meetings
four. Where there are few, questions are about something else, and facts about names lead away from
what answers them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from clew.document import Document
from clew.read.extract.extractor import Passage, Triple
from clew.read.extract.symbols import NamesAndSymbols, Symbols
from clew.text.code_languages import is_source_code

MIN_SHARE = 0.07
MAX_DOCUMENTS = 256  # that are looked at
MAX_CHARACTERS = 1_000  # of each, from its beginning
MAX_WORDS = 8_000  # of sentences, after which no further document is looked at
MIN_WORDS = 1_000  # of fewer nothing is said
WORDS_OF_SENTENCE = 8  # in a line; a shorter one is a heading, or a row of a table
GERMAN = frozenset(("der", "die", "das", "und", "ist", "nicht", "eine", "auf", "mit", "sich"))
MAX_GERMAN = 0.06
"""The share of these words from which on a text is German, which writes every noun with a capital:
there capitals say nothing of names. German has some 12 %, Danish 3 %."""

READS_NAMES = NamesAndSymbols()
READS_SYMBOLS = Symbols()


@dataclass(frozen=True)
class NamesWhereMany:
    """Reads source code as `Symbols` does, and prose as `NamesAndSymbols` where it has many names.

    That is where at least `min_share` of the words of sentences are names by their looks: they have
    a capital, and do not begin the sentence. Up to 8,000 words are looked at, in up to 256
    documents. Fewer than a thousand, German, and scripts without capitals say nothing: no names are
    read there.

    An embedder that the caller gives embeds none of these names and facts, which may be ten times
    as many as the passages. The facts of the passages nearest to a question are compared with it by
    clew's own vectors instead. Names that are asked for by `NamesAndSymbols` are embedded.

    Attributes:
        min_share: The share of such words, in [0, 1].

    Example:
        >>> manual = [Document("m", "Press the button until it lights up, and wait. " * 20)] * 20
        >>> people = [Document("p", "It was written by Ben Okri, and by Anna Bell. " * 20)] * 20
        >>> NamesWhereMany().reader(manual) == Symbols()
        True
        >>> NamesWhereMany().reader(people) == NamesAndSymbols()
        True
    """

    min_share: float = MIN_SHARE

    def __post_init__(self) -> None:
        if not 0 <= self.min_share <= 1:
            raise ValueError(f"min_share is a share of words, from 0 to 1; got {self.min_share!r}")

    def triples(self, passages: Sequence[Passage]) -> list[list[Triple]]:
        """Return the triples of every passage. Here the passages are what decides."""
        texts = [Document(one.id, one.text, one.metadata, format=one.format) for one in passages]
        return self.reader(texts).triples(passages)

    def reader(self, documents: Sequence[Document]) -> NamesAndSymbols | Symbols:
        """Return what reads some documents.

        Args:
            documents: All documents of an index.
        """
        return READS_NAMES if share_of_names(documents) >= self.min_share else READS_SYMBOLS

    def reader_of_form(self, form: str | None) -> NamesAndSymbols | Symbols:
        """Return what has read documents that taught something of this form.

        Args:
            form: That of a `Knowledge`; None for none.
        """
        return READS_NAMES if form == READS_NAMES.knowledge_form else READS_SYMBOLS


def share_of_names(documents: Sequence[Document]) -> float:
    """Return the share of the words of sentences that are names by their looks; 0 of too few.

    Args:
        documents: Those of a whole corpus. Some are drawn, always the same.

    Example:
        >>> share_of_names([Document("a", "It was written by Ben Okri in Rome. " * 20)] * 20)
        0.375
        >>> share_of_names([Document("a", "It was written by Ben Okri in Rome.")])
        0.0
    """
    n_words = n_names = n_german = 0
    for place in _drawn(len(documents)):
        if n_words >= MAX_WORDS:
            break
        document = documents[place]
        if document.heading or is_source_code(document.format, document.metadata):
            continue
        for line in document.text[:MAX_CHARACTERS].split("\n"):
            found = line.split()
            if len(found) < WORDS_OF_SENTENCE or 2 * sum(map(str.islower, found)) < len(found):
                continue
            n_words += len(found)
            n_names += sum(map(_is_name_after, pairwise(found)))
            n_german += sum(word in GERMAN for word in found)
    if n_words < MIN_WORDS or n_german > MAX_GERMAN * n_words:
        return 0.0
    return n_names / n_words


def _drawn(n: int) -> Sequence[int]:
    """Return the documents that are looked at: all, or some drawn of all."""
    if n <= MAX_DOCUMENTS:
        return range(n)
    return random.Random(0).sample(range(n), MAX_DOCUMENTS)  # noqa: S311  # the same every time


def _is_name_after(pair: tuple[str, str]) -> bool:
    before, word = pair
    is_name = word.istitle() and word[1:2].islower()  # "I" is none
    return is_name and (before[-1].isalpha() or before[-1] == ",")
