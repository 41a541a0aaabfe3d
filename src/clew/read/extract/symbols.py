"""Facts about source code, read by its syntax: what is defined, called, inherited, imported where.

A file is put together again of its passages, so that what stands in one passage is understood by
the imports in another, and names are resolved across all files. Each fact is read from the passage
in which it is written. An entity is called by its name within its file, such as "Box.open", and by
its whole path where several files define that name.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import NamedTuple

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
    CodeFact,
    CodeFile,
    Symbol,
)
from clew.read.extract.code.python_facts import read_python_facts
from clew.read.extract.code.tagged_facts import read_tagged_facts
from clew.read.extract.extractor import Passage, Triple
from clew.read.extract.names import Names
from clew.read.formats.source_code import CODE_FORMATS
from clew.text.words import fold_case

RELATIONS = (
    *(CALLS, DECORATED_BY, DEFINES, IMPORTS, INHERITS),
    *(OVERRIDES, RAISES, REQUIRES, USES),
)
MENTIONS = "mentions"
PATH_MARK = ":"  # between the path of a file and a name in it
# `name`, ``name``, or a name by itself that has dots, underscores or inner capitals.
_CODE_NAME = re.compile(r"`{1,2}~?(?P<quoted>[^\W\d][\w.]*+)(?:\(\))?`|(?P<plain>[^\W\d][\w.]*+)")
_LOOKS_LIKE_CODE = re.compile(r"\w[._]\w|[a-z][A-Z]|[A-Z]{2}[a-z]")


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

    def triples(self, passages: Sequence[Passage]) -> list[list[Triple]]:
        """Return the triples of every passage, each once."""
        results: list[dict[Triple, None]] = [{} for _ in passages]
        files = _files_of(passages)
        facts = _read_facts([file.code for file in files])
        naming = _Naming.of(fact for facts_of_file in facts for fact in facts_of_file)
        for file, facts_of_file in zip(files, facts, strict=True):
            for place, subject, relation, object in facts_of_file:
                if relation in self.relations:
                    triple = naming.names[subject], relation, naming.names[object]
                    results[file.position_at(place)][triple] = None
        if self.mentions and naming.names:
            known = naming.known_names()
            for passage, found in zip(passages, results, strict=True):
                if passage.format not in CODE_FORMATS:
                    around = passage.title or passage.document or passage.id
                    found.update(
                        ((around, MENTIONS, name), None)
                        for name in find_symbols(passage.text, known)
                    )
        return [list(found) for found in results]


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

    def triples(self, passages: Sequence[Passage]) -> list[list[Triple]]:
        """Return the triples of every passage."""
        names, symbols = super().triples(passages), Symbols().triples(passages)
        return [[*of_names, *own] for of_names, own in zip(names, symbols, strict=True)]


def find_symbols(text: str, known: Mapping[str, str | None]) -> Iterator[str]:
    """Yield the known symbols that a text names in quotation marks of code, or by looks.

    Args:
        text: The text.
        known: Names that a text may have, and the symbol that each means; None if it is unclear.

    Example:
        >>> known = {"cut_wood": "cut_wood", "Box": "Box", "box.Box": "Box"}
        >>> list(find_symbols("A Box, a `Box`, and cut_wood()", known))
        ['Box', 'cut_wood']
    """
    for match in _CODE_NAME.finditer(text):
        written = (match["quoted"] or match["plain"]).rstrip(".")
        if match["plain"] and not _LOOKS_LIKE_CODE.search(written):
            continue
        if symbol := known.get(written):
            yield symbol


@dataclass(frozen=True, eq=False)
class _File:
    """A file, and where its passages begin in its text.

    Attributes:
        code: The file.
        begins: Where each passage begins, in order.
        positions: The position of each among all passages.
    """

    code: CodeFile
    begins: list[int]
    positions: list[int]

    def position_at(self, place: int) -> int:
        """Return the position of the passage that a place is in."""
        return self.positions[max(bisect_right(self.begins, place) - 1, 0)]


def _is_small(symbol: Symbol) -> bool:
    return symbol.name.rpartition(".")[2][:1].islower()


def _files_of(passages: Sequence[Passage]) -> list[_File]:
    """Return the files of source code that passages are of, in the order in which they come."""
    positions_of: defaultdict[str, list[int]] = defaultdict(list)
    for position, passage in enumerate(passages):
        if passage.format in CODE_FORMATS:
            positions_of[passage.document or passage.id].append(position)
    return [_join(id, positions, passages) for id, positions in positions_of.items()]


def _join(id: str, positions: list[int], passages: Sequence[Passage]) -> _File:
    """Return the file that passages are of.

    Where its text is not known as a whole, it is put together with line ends for the space between
    the passages.
    """
    positions = sorted(positions, key=lambda position: passages[position].start)
    first = passages[positions[0]]
    if first.whole:
        begins = [passages[position].start for position in positions]
        return _File(_code_file(id, first, first.whole), begins, positions)
    texts, begins = list[str](), list[int]()
    length, end = 0, 0  # of the text that is put together; where that is in the file
    for position in positions:
        passage = passages[position]
        text = passage.text[max(end - passage.start, 0) :]
        if texts and passage.start > end:
            text = "\n" + text
        begins.append(length)
        texts.append(text)
        length, end = length + len(text), max(end, passage.start + len(passage.text))
    return _File(_code_file(id, first, "".join(texts)), begins, positions)


def _code_file(id: str, passage: Passage, text: str) -> CodeFile:
    path = PurePosixPath(id)
    module = _module_of(passage, path)
    return CodeFile(id, passage.format, module, path.stem == "__init__", text)


def _module_of(passage: Passage, path: PurePosixPath) -> str:
    """Return the dotted name of a Python module, or else the path of a file."""
    if module := passage.metadata.get("module"):
        return str(module)
    if passage.format != "python":
        return path.as_posix()
    parts = [part for part in path.with_suffix("").parts if part not in ("/", "..")]
    return ".".join(parts[:-1] if parts[-1:] == ["__init__"] and parts[1:] else parts) or str(path)


def _read_facts(files: Sequence[CodeFile]) -> list[list[CodeFact]]:
    """Return the facts of each file."""
    of_python = read_python_facts([file for file in files if file.format == "python"])
    of_others = read_tagged_facts([file for file in files if file.format != "python"])
    return [next(of_python if file.format == "python" else of_others) for file in files]


class _Naming(NamedTuple):
    """What symbols are called.

    Attributes:
        names: The name of every symbol.
    """

    names: dict[Symbol, str]

    @classmethod
    def of(cls, facts: Iterable[CodeFact]) -> _Naming:
        """Return the names of the symbols in facts: short ones, unless two would be the same."""
        ends = ((fact.subject, fact.object) for fact in facts)
        symbols = dict.fromkeys(symbol for pair in ends for symbol in pair)
        times = Counter(fold_case(symbol.name or symbol.module) for symbol in symbols)
        names: dict[Symbol, str] = {}
        taken: Counter[str] = Counter()
        for symbol in sorted(symbols, key=_is_small):  # a class is called by its bare name
            name = symbol.name or symbol.module
            if symbol.name and symbol.module and times[fold_case(name)] > 1:
                mark = PATH_MARK if "/" in symbol.module else "."
                name = f"{symbol.module}{mark}{symbol.name}"
            taken[fold_case(name)] += 1
            # Names that differ in case alone would be one entity.
            names[symbol] = name + "()" * (taken[fold_case(name)] - 1)
        return cls(names)

    def known_names(self) -> dict[str, str | None]:
        """Return the names by which a text may mean a symbol; None for those that are unclear."""
        known: dict[str, str | None] = {}
        for symbol, name in self.names.items():
            package, last = symbol.module.partition(".")[0], symbol.name.rpartition(".")[2]
            for written in {
                name,
                symbol.name or symbol.module,
                last or symbol.module,
                ".".join(filter(None, symbol)),
                ".".join(filter(None, (package, symbol.name))),
            }:
                known[written] = name if known.get(written, name) == name else None
        return known
