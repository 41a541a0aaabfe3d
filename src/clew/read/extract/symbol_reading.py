"""How `clew.Symbols` reads files of source code, and the symbols that other texts name."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, NamedTuple, TypeVar

from clew.graph import EMPTY
from clew.read.extract.code.code_file import CodeFact, CodeFile, Symbol
from clew.read.extract.code.known_code import (
    PYTHON,
    KnownCode,
    Naming,
    ReadFile,
    code_knowledge,
    without_files,
)
from clew.read.extract.code.python_facts import KnownModules, read_python_facts
from clew.read.extract.code.python_scopes import Module, read_module
from clew.read.extract.code.tagged_code import TaggedFile, read_tags
from clew.read.extract.code.tagged_facts import read_tagged_facts
from clew.read.extract.extractor import Passage, Triple
from clew.read.extract.knowledge import Knowledge, PassagesOf
from clew.text.code_languages import CODE_FORMATS
from clew.text.kept import MAX_KEPT_TEXT, Kept

MENTIONS = "mentions"
MODULES = Kept[CodeFile, Module](256)
TAGGED = Kept[CodeFile, TaggedFile](1_024)
CODE_NAMES = Kept[str, Sequence[str]](2_048)  # that texts in other formats write
Parsed = TypeVar("Parsed", Module, TaggedFile)
# `name`, ``name``, or a name by itself that has dots, underscores or inner capitals.
_CODE_NAME = re.compile(r"`{1,2}~?(?P<quoted>[^\W\d][\w.]*+)(?:\(\))?`|(?P<plain>[^\W\d][\w.]*+)")
_LOOKS_LIKE_CODE = re.compile(r"\w[._]\w|[a-z][A-Z]|[A-Z]{2}[a-z]")


class Others(NamedTuple):
    """What other passages have taught, and what returns the passages of their documents."""

    known: Knowledge
    passages_of: PassagesOf


def read_symbols(
    passages: Sequence[Passage],
    relations: Collection[str],
    mentions: bool,
    modules: Mapping[str, Module] = EMPTY,
) -> tuple[list[list[Triple]], Knowledge | None]:
    """Return the triples of every passage, and what all files define.

    Args:
        passages: The passages.
        relations: As in `clew.Symbols`.
        mentions: Likewise.
        modules: Scopes that are read already, by the ids of their documents.
    """
    files = _read_files(_files_of(passages), modules)
    if not files:  # so no text can mean a symbol
        return [[] for _ in passages], code_knowledge((), (), {})
    facts = _read_facts(files)
    naming = Naming({}).grown(facts)
    known = naming.known_names() if mentions else {}
    triples = _triples(passages, _Facts(files, facts, naming.names), relations, known)
    return triples, code_knowledge(files, facts, naming.names)


def read_more_symbols(
    passages: Sequence[Passage], others: Others, relations: Collection[str], mentions: bool
) -> tuple[list[list[Triple]], Knowledge] | None:
    """Return the triples of passages that came, and what all files define then.

    Args:
        passages: The passages.
        others: Those that are known.
        relations: As in `clew.Symbols`.
        mentions: Likewise.
    """
    before = KnownCode(others.known)
    files = _read_files(_files_of(passages))
    if any(file.code.id in before.files for file in files):
        return None  # a file of which a part is there has to be put together of all its parts

    def read(document: str) -> Module:
        [file] = _files_of(others.passages_of([document]))
        return read_module(file.code)

    facts = _read_facts(files, before.modules(read), before.tagged()) if files else []
    naming = before.naming.grown(facts)
    prose = [passage.text for passage in passages if mentions and _is_prose(passage)]
    written = [found for text in prose for found in _written(text)]
    known = naming.known_names(written) if written else {}
    triples = _triples(passages, _Facts(files, facts, naming.names), relations, known)
    more = code_knowledge(files, facts, naming.names)
    return None if more is None else (triples, others.known.grown(more))


def forget_files(passages: Sequence[Passage], known: Knowledge) -> Knowledge | None:
    """Return what is known without the files of some passages."""
    files = _read_files(_files_of(passages))
    gone = code_knowledge(files, [[] for _ in files], {})
    return None if gone is None else without_files(known, gone)


class _Facts(NamedTuple):
    """Files, the facts of each, and what their symbols are called."""

    files: Sequence[ReadFile]
    facts: Sequence[Sequence[CodeFact]]
    names: Mapping[Symbol, str]


def _triples(
    passages: Sequence[Passage],
    read: _Facts,
    relations: Collection[str],
    known: Mapping[str, str | None],
) -> list[list[Triple]]:
    results: list[dict[Triple, None]] = [{} for _ in passages]
    for file, facts_of_file in zip(read.files, read.facts, strict=True):
        for place, subject, relation, object in facts_of_file:
            if relation in relations:
                triple = read.names[subject], relation, read.names[object]
                results[file.position_at(place)][triple] = None
    for passage, found in zip(passages, results, strict=True):
        if known and _is_prose(passage):
            around = passage.title or passage.document or passage.id
            found.update(
                ((around, MENTIONS, name), None) for name in find_symbols(passage.text, known)
            )
    return [list(found) for found in results]


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
    for written in _written(text):
        if symbol := known.get(written):
            yield symbol


def _written(text: str) -> Sequence[str]:
    """Return what a text writes in quotation marks of code, or what looks like code."""
    if (known := CODE_NAMES.get(text)) is not None:
        return known
    found = list[str]()
    for quoted, plain in _CODE_NAME.findall(text):
        written = (quoted or plain).rstrip(".")
        if quoted or _LOOKS_LIKE_CODE.search(written):
            found.append(written)
    return CODE_NAMES.put(text, found) if len(text) <= MAX_KEPT_TEXT else found


def _is_prose(passage: Passage) -> bool:
    return passage.format not in CODE_FORMATS


def _files_of(passages: Sequence[Passage]) -> list[ReadFile]:
    """Return the files of source code that passages are of, in the order in which they come."""
    positions_of: defaultdict[str, list[int]] = defaultdict(list)
    for position, passage in enumerate(passages):
        if passage.format in CODE_FORMATS:
            positions_of[passage.document or passage.id].append(position)
    return [_join(id, positions, passages) for id, positions in positions_of.items()]


def _join(id: str, positions: list[int], passages: Sequence[Passage]) -> ReadFile:
    """Return the file that passages are of.

    Where its text is not known as a whole, it is put together with line ends for the space between
    the passages.
    """
    positions = sorted(positions, key=lambda position: passages[position].start)
    first = passages[positions[0]]
    if first.whole:
        begins = [passages[position].start for position in positions]
        return ReadFile(code_file(id, first.format, first.metadata, first.whole), begins, positions)
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
    code = code_file(id, first.format, first.metadata, "".join(texts))
    return ReadFile(code, begins, positions)


def code_file(id: str, format: str, metadata: Mapping[str, Any], text: str) -> CodeFile:
    """Return a file of source code.

    Args:
        id: The id of its document.
        format: Its format.
        metadata: Its metadata, in which its module may be named.
        text: Its text.

    Example:
        >>> code_file("kit/wood.py", "python", {}, "")
        CodeFile(id='kit/wood.py', format='python', module='kit.wood', is_package=False, text='')
    """
    path = PurePosixPath(id)
    module = _module_of(format, metadata, path)
    return CodeFile(id, format, module, path.stem == "__init__", text)


def _module_of(format: str, metadata: Mapping[str, Any], path: PurePosixPath) -> str:
    """Return the dotted name of a Python module, or else the path of a file."""
    if module := metadata.get("module"):
        return str(module)
    if format != "python":
        return path.as_posix()
    parts = [part for part in path.with_suffix("").parts if part not in ("/", "..")]
    return ".".join(parts[:-1] if parts[-1:] == ["__init__"] and parts[1:] else parts) or str(path)


def _read_files(files: Sequence[ReadFile], modules: Mapping[str, Module] = EMPTY) -> list[ReadFile]:
    """Return files with what their parsers find in them, unless that is known."""

    def module_of(code: CodeFile) -> Module:
        known = modules.get(code.id)
        return known if known is not None and known.file == code else read_module(code)

    return [
        replace(file, module=_kept(MODULES, module_of, file.code))
        if file.code.format == PYTHON
        else replace(file, tagged=_kept(TAGGED, read_tags, file.code))
        for file in files
    ]


def _kept(
    kept: Kept[CodeFile, Parsed], read: Callable[[CodeFile], Parsed], file: CodeFile
) -> Parsed:
    """Return what a parser finds in a file, which nothing changes afterwards."""
    if (known := kept.get(file)) is not None:
        return known
    found = read(file)
    return kept.put(file, found) if len(file.text) <= MAX_KEPT_TEXT else found


def _read_facts(
    files: Sequence[ReadFile],
    modules: KnownModules | None = None,
    tagged: Sequence[TaggedFile] = (),
) -> list[list[CodeFact]]:
    """Return the facts of each file.

    Args:
        files: The files.
        modules: Other modules in Python that they may name.
        tagged: Other files in other languages.
    """
    of_python = read_python_facts([f.module for f in files if f.module is not None], modules)
    of_others = read_tagged_facts([f.tagged for f in files if f.tagged is not None], tagged)
    return [next(of_others if file.module is None else of_python) for file in files]
