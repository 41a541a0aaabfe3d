"""Facts about programs in the languages of the extra `code`, by names.

A name is looked for in its own file, then in the files that it imports, then in those of its own
folder, then in all files of its language. Where it is defined more than once at the first of these
that has it, it is left out. What is called on an object is a method of the class around it, where
the object is `this` or `self`, or of the class that the object is named after, or else the only one
of that name, where the name is distinctive.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import PurePosixPath
from typing import NamedTuple

from clew.read.extract.code.code_file import (
    DEFINES,
    INHERITS,
    REQUIRES,
    CodeFact,
    Symbol,
    is_distinctive,
)
from clew.read.extract.code.tagged_code import NamedReference, TaggedFile

FAMILIES = {"typescript": "javascript", "tsx": "javascript", "cpp": "c"}  # read one another's files
OWN_OBJECTS = ("this", "self", "Self", "super")
FRONT_FILES = ("index", "mod", "lib", "main")  # that stand for the folder that they are in
MAX_MEANINGS = 64  # definitions of a name that a reference is compared with
TYPE_NAME = re.compile(r"[A-Z]\w*[a-z]")
FREE_CAPITALS = ("go", "c")  # in which a capital is no sign of a type
# In these a plain name is of its own file, or imported.
IMPORTING = ("javascript",)


class NamedDefinition(NamedTuple):
    """A definition that a name may mean."""

    file: TaggedFile
    name: str

    @property
    def symbol(self) -> Symbol:
        """What it is."""
        return Symbol(self.file.file.module, self.name)

    @property
    def container(self) -> str:
        """The last name of what it is in, or ""."""
        return self.name.rpartition(".")[0].rpartition(".")[2]


def read_tagged_facts(
    tagged: Sequence[TaggedFile], before: Sequence[TaggedFile] = ()
) -> Iterator[list[CodeFact]]:
    r"""Yield the facts of each file.

    Args:
        tagged: The files.
        before: Others that they may name.

    Example:
        >>> text = "int cut(int a) { return a; }\nint build() { return cut(1); }"
        >>> from clew.read.extract.code.code_file import CodeFile
        >>> from clew.read.extract.code.tagged_code import read_tags
        >>> file = read_tags(CodeFile("a.c", "c", "a.c", False, text))
        >>> for fact in next(read_tagged_facts([file])):
        ...     print(fact.subject.name, fact.relation, fact.object.name)
         defines cut
         defines build
        build calls cut
    """
    corpora: dict[str, _Names] = {}
    for one in (*before, *tagged):
        corpora.setdefault(_family(one), _Names()).add(one)
    for one in tagged:
        yield list(_facts_of(one, corpora[_family(one)]))


@dataclass(frozen=True, eq=False)
class _Names:
    """The definitions of the files of one language, by their last names."""

    candidates: defaultdict[str, list[NamedDefinition]] = field(
        default_factory=lambda: defaultdict(list)
    )
    own: defaultdict[tuple[str, str], list[NamedDefinition]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def find(self, name: str, file: TaggedFile) -> list[NamedDefinition]:
        """Return what a name may mean in a file: of what many files define, only what it defines.

        Otherwise the time would grow with the square of the number of files.
        """
        candidates = self.candidates.get(name, [])
        if len(candidates) <= MAX_MEANINGS:
            return candidates
        return self.own.get((file.file.id, name), [])

    def add(self, file: TaggedFile) -> None:
        """Add what a file defines, each name once."""
        for name in dict.fromkeys(definition.name for definition in file.definitions):
            last = name.rpartition(".")[2]
            self.candidates[last].append(NamedDefinition(file, name))
            self.own[file.file.id, last].append(NamedDefinition(file, name))

    def resolve(self, reference: NamedReference, file: TaggedFile) -> Symbol | None:
        """Return what a reference means, or None where that is unclear."""
        candidates = self.find(reference.name, file)
        if not candidates:
            return None
        if not reference.receiver:
            return self._plain(candidates, reference.scope, file)
        on = reference.receiver.strip("()&*$ ").replace("::", ".").replace("->", ".")
        last = on.rpartition(".")[2]
        if on in OWN_OBJECTS:
            own = reference.scope.rpartition(".")[0].rpartition(".")[2]
            members = [c for c in candidates if own and c.container == own]
            return _nearest(members, file) if members else _only_member(candidates, reference)
        named = [c for c in candidates if last in (c.container, _package(c))]
        if named:
            return _nearest(named, file)
        if reference.relation == INHERITS:  # in a namespace
            return self._plain(candidates, reference.scope, file)
        if on == last and TYPE_NAME.match(on) and file.file.format not in FREE_CAPITALS:
            return None  # of a type that has no such member, or is defined elsewhere
        return _only_member(candidates, reference)

    def _plain(
        self, candidates: Sequence[NamedDefinition], scope: str, file: TaggedFile
    ) -> Symbol | None:
        around = scope.split(".")
        visible = [c for c in candidates if not c.container or c.container in around]
        if _family(file) in IMPORTING:
            is_named = candidates[0].name.rpartition(".")[2] in file.imported
            visible = [c for c in visible if c.file is file or (is_named and _is_imported(c, file))]
        return _nearest(visible, file)


def _facts_of(file: TaggedFile, names: _Names) -> Iterator[CodeFact]:
    module = file.file.module
    own = {definition.name for definition in file.definitions}

    def container(name: str) -> Symbol:
        """Return what a definition is in: a symbol of this file or of another, or the file."""
        around = name.rpartition(".")[0]
        if not around or around in own:
            return Symbol(module, around)
        last = around.rpartition(".")[2]
        # A constructor has the name of its class, and contains nothing.
        candidates = [c for c in names.find(last, file) if c.container != last]
        return _nearest(candidates, file) or Symbol(module, "")

    for definition in file.definitions:
        place, symbol = file.places(definition.place), Symbol(module, definition.name)
        around = container(definition.name)
        if around != symbol:
            yield CodeFact(place, around, DEFINES, symbol)
            if definition.is_required and around.name:
                yield CodeFact(place, around, REQUIRES, symbol)
    for reference in file.references:
        target = names.resolve(reference, file)
        scope = reference.scope
        subject = Symbol(module, scope) if scope in own or not scope else container(f"{scope}.")
        is_clear = target is not None and target != subject
        if target is not None and is_clear and (subject.name or reference.relation != INHERITS):
            yield CodeFact(file.places(reference.place), subject, reference.relation, target)


def _only_member(candidates: Sequence[NamedDefinition], reference: NamedReference) -> Symbol | None:
    """Return the only definition of a distinctive name, if it is a member of something."""
    is_only = len(candidates) == 1 and candidates[0].container and is_distinctive(reference.name)
    return candidates[0].symbol if is_only else None


def _nearest(candidates: Sequence[NamedDefinition], file: TaggedFile) -> Symbol | None:
    """Return the nearest by path of the first group that has any, unless two are as near.

    The groups are the file's own, those that it imports, those of its folder, and all.
    """
    folder = PurePosixPath(file.file.id).parent
    groups = (
        [c for c in candidates if c.file is file],
        [c for c in candidates if _is_imported(c, file)],
        [c for c in candidates if PurePosixPath(c.file.file.id).parent == folder],
        candidates,
    )
    first = next((group for group in groups if group), [])
    shared = [_common_folders(c.file.file.id, file.file.id) for c in first]
    nearest = [c for c, n in zip(first, shared, strict=True) if n == max(shared)]
    return nearest[0].symbol if len(nearest) == 1 else None


def _common_folders(path: str, other: str) -> int:
    """Return how many folders two paths begin with together."""
    pairs = zip(PurePosixPath(path).parts[:-1], PurePosixPath(other).parts[:-1], strict=False)
    return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))


def _is_imported(candidate: NamedDefinition, file: TaggedFile) -> bool:
    """Return whether a file's imports name the file of a candidate, or its folder."""
    path = PurePosixPath(candidate.file.file.id)
    stem = path.parent.name if path.stem in FRONT_FILES else path.stem
    return candidate.file is not file and bool(stem) and stem.split(".")[0] in file.imported


def _package(candidate: NamedDefinition) -> str:
    """Return the name of the folder, or file, that a function outside of classes is called by."""
    path = PurePosixPath(candidate.file.file.id)
    if candidate.container:
        return candidate.container
    return path.parent.name if candidate.file.file.format == "go" else path.stem


def _family(file: TaggedFile) -> str:
    return FAMILIES.get(file.file.format, file.file.format)
