"""Names and facts without a language model.

A name is what is written with capitals, or quoted, or the title of a document; see `caseless` for
scripts without capitals. The corpus decides what one passage leaves open: a word that begins a
sentence is a name if it has a capital elsewhere too. Names are kept however rare they are: a name
that only one passage has leads a question to that passage. A fact is the words before a name, as a
statement about the title of the passage; facts are what a question is compared with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew.read.extract.extractor import Passage, Triple
from clew.read.extract.knowledge import NAMES_FORM, Knowledge, PassagesOf
from clew.read.extract.name_rules import Rules

INNER_WORDS = (
    "of", "the", "de", "la", "las", "los", "del", "der", "den", "di", "da", "do", "dos", "das",
    "du", "des", "le", "van", "von", "zu", "bin", "ibn", "al", "el", "af", "av", "y",
)  # fmt: skip
LIST_WORDS = (
    "and", "or", "und", "oder", "et", "ou", "y", "e", "o", "en", "och", "og", "и", "или", "και",
    "ή",
)  # fmt: skip


@dataclass(frozen=True)
class Names:
    """Reads names, and the words before them, as facts about the title of the passage.

    Source code has no names of this kind: it is left to `clew.Symbols`.

    Attributes:
        min_passages: The number of passages that a name must be in, unless it is a title.
        max_relation_words: The number of words that a relation may have; 0 makes every relation
            "mentions".
        max_name_words: The number of words that a name may have.
        inner_words: Small words inside names.
        list_words: Words between the members of a list.
        years: Whether numbers of four digits are names too.

    Example:
        >>> Names().triples([Passage("a", "Anna married Ben in Rome.", "Anna")])
        [[('Anna', 'married', 'Ben'), ('Anna', '… in', 'Rome')]]
    """

    min_passages: int = 1
    max_relation_words: int = 6
    max_name_words: int = 8
    inner_words: tuple[str, ...] = INNER_WORDS
    list_words: tuple[str, ...] = LIST_WORDS
    years: bool = False

    @property
    def knowledge_form(self) -> str:
        """The form of what passages teach; see `LearningExtractor`."""
        return NAMES_FORM

    def triples(self, passages: Sequence[Passage]) -> list[list[Triple]]:
        """Return (title, words before the name, name) for every passage.

        See `clew.read.extract.relations`.
        """
        return self.learn(passages)[0]

    def learn(self, passages: Sequence[Passage]) -> tuple[list[list[Triple]], Knowledge | None]:
        """Return the triples of every passage, and how all passages write their words.

        With `min_passages` above 1 a change has to read everything again: a name may become one, or
        none, in passages that are there.
        """
        triples, known = self._read(passages, None)
        return triples, known.in_order() if self.min_passages <= 1 else None

    def learn_more(
        self, passages: Sequence[Passage], known: Knowledge, passages_of: PassagesOf
    ) -> tuple[list[list[Triple]], Knowledge] | None:
        """Return the triples of passages that came, by how all passages write their words.

        See `LearningExtractor`.
        """
        return self._read(passages, known)

    def forget(self, passages: Sequence[Passage], known: Knowledge) -> Knowledge | None:
        """Return what is known without some passages; see `LearningExtractor`."""
        from clew.read.extract.name_reading import forget_passages

        return forget_passages(passages, known)

    def names(self, passages: Sequence[Passage]) -> list[list[str]]:
        """Return the names in every passage, each once, as they are written there first."""
        from clew.read.extract.name_reading import find_names

        return find_names(passages, self._rules, self.min_passages)

    @property
    def _rules(self) -> Rules:
        inner_words, list_words = frozenset(self.inner_words), frozenset(self.list_words)
        return Rules(
            self.max_relation_words, self.max_name_words, inner_words, list_words, self.years
        )

    def _read(
        self, passages: Sequence[Passage], before: Knowledge | None
    ) -> tuple[list[list[Triple]], Knowledge]:
        # What reads is loaded where something is read: a question needs only this class.
        from clew.read.extract.name_reading import read_names

        return read_names(passages, before, self._rules, self.min_passages)
