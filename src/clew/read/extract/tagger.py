"""Names by the caller's own tagger: a spaCy pipeline, or any object that is used like one."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from clew.read.extract.extractor import Passage, Triple
from clew.read.extract.names import LIST_WORDS
from clew.read.extract.passage_names import find_passage_title, without_overlaps
from clew.read.extract.relations import Mention, find_facts


class TaggedEntity(Protocol):
    """What is read of an entity: `label_` too with `labels`, and `sent.start_char` where it is."""

    @property
    def text(self) -> str: ...
    @property
    def start_char(self) -> int: ...
    @property
    def end_char(self) -> int: ...


class Tagger(Protocol):
    """Yields for every text an object whose `ents` are the entities in it."""

    def pipe(self, texts: Iterable[str], /) -> Iterable[Any]: ...


@dataclass(frozen=True)
class TaggedEntities:
    """Reads tagged entities, and the words before them, as facts about the title, as `Names` does.

    Attributes:
        nlp: The tagger, such as a spaCy pipeline.
        labels: The kinds of entity to keep, by their `label_`; empty for all.
        max_relation_words: As in `Names`.
        list_words: As in `Names`.

    Example:
        >>> from types import SimpleNamespace as Object
        >>> entity = Object(text="ada", start_char=4, end_char=7)
        >>> nlp = Object(pipe=lambda texts: [Object(ents=[entity]) for text in texts])
        >>> TaggedEntities(nlp).triples([Passage("p", "saw ada", "Ben")])
        [[('Ben', 'saw', 'ada')]]
    """

    nlp: Tagger
    labels: tuple[str, ...] = ()
    max_relation_words: int = 6
    list_words: tuple[str, ...] = LIST_WORDS
    corpus_wide: ClassVar[bool] = False

    def triples(self, passages: Sequence[Passage]) -> list[list[Triple]]:
        """Return (title, words before the name, name) for every passage."""
        if not hasattr(self.nlp, "pipe"):
            kind = type(self.nlp).__name__
            raise TypeError(f"a tagger has pipe(texts), as a spaCy pipeline has; got a {kind}")
        texts = [unicodedata.normalize("NFKC", passage.text) for passage in passages]
        results: list[list[Triple]] = []
        for passage, text, tagged in zip(passages, texts, self.nlp.pipe(texts), strict=True):
            title, start = find_passage_title(text, passage)
            mentions = [
                Mention(
                    entity.text,
                    entity.start_char,
                    entity.end_char,
                    max(start, _sentence_start(entity)),
                )
                for entity in tagged.ents
                if entity.start_char >= start and (not self.labels or entity.label_ in self.labels)
            ]
            facts = find_facts(
                text, title, without_overlaps(mentions), self.max_relation_words, self.list_words
            )
            results.append(list(facts))
        return results


def _sentence_start(entity: TaggedEntity) -> int:
    """Return where the sentence of an entity starts; 0 for a pipeline that finds no sentences."""
    try:
        return int(entity.sent.start_char)  # type: ignore[attr-defined]
    except (AttributeError, ValueError):  # spaCy raises a ValueError
        return 0
