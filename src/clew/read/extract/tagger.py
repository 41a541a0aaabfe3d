"""Names by a tagger that the caller has: a spaCy pipeline, or whatever is called like one."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from clew.read.extract.extractor import Passage, Triple
from clew.read.extract.names import LISTS, apart, title_of
from clew.read.extract.relations import Mention, facts_of


@dataclass(frozen=True)
class Tagged:
    """Reads the entities that `nlp` tags, and what is said before them, as facts about the passage's title, as `Names` does.

    Attributes:
        nlp: has `pipe(texts)`, which gives for each an object with `ents`, each with `text`, `start_char` and `end_char`.
        labels: the kinds of entity to keep, by their `label_`; empty for all. relation, lists: as in `Names`.
    """

    nlp: Any
    labels: tuple[str, ...] = ()
    relation: int = 6
    lists: tuple[str, ...] = LISTS
    corpus_wide: ClassVar[bool] = False

    def triples(self, passages: Sequence[Passage]) -> list[list[Triple]]:
        """Return (title, words before the name, name) for every passage."""
        if not hasattr(self.nlp, "pipe"):
            raise TypeError(
                f"a tagger has pipe(texts), as a spaCy pipeline has; got a {type(self.nlp).__name__}"
            )
        texts = [unicodedata.normalize("NFKC", passage.text) for passage in passages]
        titles = [title_of(text, passage) for text, passage in zip(texts, passages, strict=True)]
        found: list[list[Triple]] = []
        for text, (title, start), tagged in zip(texts, titles, self.nlp.pipe(texts), strict=True):
            kept = [
                one
                for one in tagged.ents
                if one.start_char >= start and (not self.labels or one.label_ in self.labels)
            ]
            mentions = [
                Mention(one.text, one.start_char, one.end_char, max(start, _sentence(one)))
                for one in kept
            ]
            found.append(list(facts_of(text, title, apart(mentions), self.relation, self.lists)))
        return found


def _sentence(entity: Any) -> int:
    """Where the sentence of an entity starts; a pipeline that cuts no sentences says so by a ValueError."""
    try:
        return int(entity.sent.start_char)
    except (AttributeError, ValueError):
        return 0
