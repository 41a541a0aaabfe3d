"""Facts about source code, read by its syntax: what is defined, called, inherited, imported where.

A file is put together again of its passages, so that what stands in one passage is understood by
the imports in another, and names are resolved across all files. Each fact is read from the passage
in which it is written. An entity is called by its name within its file, such as "Box.open", and by
its whole path where several files define that name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard

from clew.graph import EMPTY
from clew.read.extract.code.code_file import (
    CALLS,
    DECORATED_BY,
    DEFINES,
    IMPORTS,
    INHERITS,
    OVERRIDES,
    RAISES,
    REQUIRES,
    USES,
)
from clew.read.extract.extractor import Passage, Triple
from clew.read.extract.knowledge import NAMES_FORM, SYMBOLS_FORM, Knowledge, PassagesOf
from clew.read.extract.names import Names

if TYPE_CHECKING:
    from clew.read.extract.code.python_scopes import Module

RELATIONS = (
    *(CALLS, DECORATED_BY, DEFINES, IMPORTS, INHERITS),
    *(OVERRIDES, RAISES, REQUIRES, USES),
)


@dataclass(frozen=True)
class Symbols:
    """Reads what source code defines, calls, inherits from, imports and raises.

    Python is read by its own parser, the other languages of the extra `code` by their grammars. A
    text in another format is joined to the symbols that it names.

    Attributes:
        relations: The relations that are read.
        mentions: Whether the symbols that other texts name are read there.

    Example:
        >>> text = "def cut(): ..."
        >>> Symbols().triples([Passage("a", text, document="kit/wood.py", format="python")])
        [[('kit.wood', 'defines', 'cut')]]
    """

    relations: tuple[str, ...] = RELATIONS
    mentions: bool = True

    def __post_init__(self) -> None:
        if unknown := sorted(set(self.relations) - set(RELATIONS)):
            raise ValueError(
                f"the relations of code are {', '.join(RELATIONS)}; got {', '.join(unknown)}"
            )

    @property
    def knowledge_form(self) -> str:
        """The form of what files teach; see `LearningExtractor`."""
        return SYMBOLS_FORM

    def triples(self, passages: Sequence[Passage]) -> list[list[Triple]]:
        """Return the triples of every passage, each once."""
        return self.learn(passages)[0]

    def learn(
        self, passages: Sequence[Passage], modules: Mapping[str, Module] = EMPTY
    ) -> tuple[list[list[Triple]], Knowledge | None]:
        """Return the triples of every passage, and what all files define.

        Args:
            passages: The passages.
            modules: Scopes that are read already, by the ids of their documents.
        """
        # What reads is loaded where something is read: a question needs only this class.
        from clew.read.extract.symbol_reading import read_symbols

        return read_symbols(passages, self.relations, self.mentions, modules)

    def learn_more(
        self, passages: Sequence[Passage], known: Knowledge, passages_of: PassagesOf
    ) -> tuple[list[list[Triple]], Knowledge] | None:
        """Return the triples of passages that came, and what all files define then.

        Of the other files those are parsed again that the new ones lead to. A symbol keeps its
        name; a new one whose short name is taken has its long name. See `LearningExtractor`.
        """
        from clew.read.extract.symbol_reading import Others, read_more_symbols

        others = Others(known, passages_of)
        return read_more_symbols(passages, others, self.relations, self.mentions)

    def forget(self, passages: Sequence[Passage], known: Knowledge) -> Knowledge | None:
        """Return what is known without the files of some passages; see `LearningExtractor`."""
        from clew.read.extract.symbol_reading import forget_files

        return forget_files(passages, known)


@dataclass(frozen=True)
class NamesAndSymbols(Names):
    """Reads prose as `Names` does and source code as `Symbols` does.

    Example:
        >>> passages = [
        ...     Passage("a", "def cut_wood(): ...", document="wood.py", format="python"),
        ...     Passage("b", "Ann uses cut_wood.", "Guide"),
        ... ]
        >>> for triples in NamesAndSymbols().triples(passages):
        ...     print(triples)
        [('wood', 'defines', 'cut_wood')]
        [('Guide', 'mentions', 'cut_wood')]
    """

    @property
    def knowledge_form(self) -> str:
        """The form of what passages teach; see `LearningExtractor`."""
        return f"{super().knowledge_form}, {SYMBOLS_FORM}"

    def triples(self, passages: Sequence[Passage]) -> list[list[Triple]]:
        """Return the triples of every passage."""
        return self.learn(passages)[0]

    def learn(
        self, passages: Sequence[Passage], modules: Mapping[str, Module] = EMPTY
    ) -> tuple[list[list[Triple]], Knowledge | None]:
        """Return the triples of every passage, and what all teach; see `LearningExtractor`.

        Args:
            passages: The passages.
            modules: As in `Symbols.learn`.
        """
        names, known = super().learn(passages)
        symbols, known_code = Symbols().learn(passages, modules)
        return _joined(names, symbols), self._together(known, known_code)

    def learn_more(
        self, passages: Sequence[Passage], known: Knowledge, passages_of: PassagesOf
    ) -> tuple[list[list[Triple]], Knowledge] | None:
        """Return the triples of passages that came, by what all teach; see `LearningExtractor`."""
        names = super().learn_more(passages, known.part(NAMES_FORM), passages_of)
        symbols = Symbols().learn_more(passages, known.part(SYMBOLS_FORM), passages_of)
        if names is None or symbols is None:
            return None
        together = self._together(names[1], symbols[1])
        assert together is not None, "both have learnt"
        return _joined(names[0], symbols[0]), together

    def forget(self, passages: Sequence[Passage], known: Knowledge) -> Knowledge | None:
        """Return what is known without some passages; see `LearningExtractor`."""
        names = super().forget(passages, known.part(NAMES_FORM))
        return self._together(names, Symbols().forget(passages, known.part(SYMBOLS_FORM)))

    def _together(self, *parts: Knowledge | None) -> Knowledge | None:
        known = [part for part in parts if part is not None]
        return Knowledge.joined(self.knowledge_form, known) if len(known) == len(parts) else None


def takes_modules(extractor: object) -> TypeGuard[Symbols | NamesAndSymbols]:
    """Return whether an extractor takes the scopes of modules that were read with the documents.

    One of the caller's own that is made of these may read them in another way.

    Example:
        >>> takes_modules(Symbols()), takes_modules(Names())
        (True, False)
    """
    return type(extractor) in (Symbols, NamesAndSymbols)


def _joined(
    names: Sequence[Sequence[Triple]], symbols: Sequence[Sequence[Triple]]
) -> list[list[Triple]]:
    return [[*of_names, *own] for of_names, own in zip(names, symbols, strict=True)]
