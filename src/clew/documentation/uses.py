"""Who uses what is documented: links between entries, by the facts that clew reads in source code.

A fact of a test or an example is an example of what it calls: the shortest function that calls it,
of those that call the fewest other names.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from clew.document import Document
from clew.documentation.entries import CodeReference, SourcePlace
from clew.documentation.python_modules import module_name_of
from clew.documentation.python_reference import LANGUAGE
from clew.graph import EMPTY
from clew.read.extract.code.code_file import (
    CALLS,
    DECORATED_BY,
    INHERITS,
    OVERRIDES,
    RAISES,
    USES,
    CodeFact,
    CodeFile,
    Symbol,
)
from clew.read.extract.code.python_facts import read_python_facts
from clew.read.extract.code.python_scopes import read_module
from clew.read.extract.code.tagged_code import read_tags
from clew.read.extract.code.tagged_facts import read_tagged_facts
from clew.read.formats.python import parse
from clew.text.code_languages import LANGUAGES

RELATIONS = (CALLS, DECORATED_BY, INHERITS, OVERRIDES, RAISES, USES)
FILE_MARK = ":"  # between the path of a file and a name in it, in languages without modules
MAX_LINES = 14  # of an example


class Use(NamedTuple):
    """A use: the dotted name of the documented user, or "" where that is private, and the place."""

    user: str
    place: SourcePlace


@dataclass(frozen=True)
class Example:
    """Lines of a test or an example, as they are written there."""

    text: str
    place: SourcePlace


@dataclass(frozen=True)
class Uses:
    """How entries are used, by the dotted names of their definitions.

    Attributes:
        used_by: For each entry the documented ones that use it, and the places of private ones.
        see_also: For each entry the documented ones that it uses itself, the rarest first.
        examples: An example of each entry that has one.
    """

    used_by: Mapping[str, tuple[Use, ...]] = field(default_factory=lambda: EMPTY)
    see_also: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: EMPTY)
    examples: Mapping[str, Example] = field(default_factory=lambda: EMPTY)


def find_uses(reference: CodeReference, documents: Iterable[Document]) -> Uses:
    r"""Return how the entries of a reference are used in the documents that it stands for.

    Example:
        >>> from clew.documentation.python_reference import read_python_reference
        >>> text = "def cut(wood): ...\ndef build(wood):\n    cut(wood)"
        >>> documents = [Document("kit.py", text, format="python")]
        >>> found = find_uses(read_python_reference(documents), documents)
        >>> found.used_by["kit.cut"][0].user, found.see_also["kit.build"]
        ('kit.build', ('kit.cut',))
    """
    texts = {one.id: one for one in documents if one.id in reference.documents}
    defined = {entry.defined_as for entry in reference.walk()}
    used_by: defaultdict[str, dict[str, Use]] = defaultdict(dict)
    uses: defaultdict[str, dict[str, None]] = defaultdict(dict)
    calls: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)  # in examples
    for id, fact in _facts(list(texts.values())):
        target = _documented(fact.object, defined)
        if fact.relation not in RELATIONS or not target:
            continue
        line = texts[id].text.count("\n", 0, fact.place) + 1
        if id in reference.examples:
            calls[target].append((id, line))
            continue
        user = _documented(fact.subject, defined)
        if user == target or user.startswith(f"{target}."):
            continue
        own = symbol_name(fact.subject) or id
        used_by[target].setdefault(user or own, Use(user, SourcePlace(id, line, line)))
        if user and not target.startswith(f"{user}."):
            uses[user][target] = None
    return Uses(
        {target: tuple(found.values()) for target, found in used_by.items()},
        {
            user: tuple(sorted(found, key=lambda target: (len(used_by[target]), target)))
            for user, found in uses.items()
        },
        _examples(calls, texts),
    )


def symbol_name(symbol: Symbol) -> str:
    """Return the dotted name of a symbol; one in a language without modules has its file's path.

    Example:
        >>> symbol_name(Symbol("kit.wood", "Box")), symbol_name(Symbol("lib/wood.js", "Box"))
        ('kit.wood.Box', 'lib/wood.js:Box')
    """
    is_path = "/" in symbol.module or symbol.module.endswith(_SUFFIXES)
    return (FILE_MARK if is_path else ".").join(filter(None, symbol))


_SUFFIXES = tuple(suffix for language in LANGUAGES.values() for suffix in language.suffixes)


def _documented(symbol: Symbol, defined: set[str]) -> str:
    """Return the innermost documented entry that a symbol is in, or ""."""
    name = symbol.name
    while name:
        path = symbol_name(Symbol(symbol.module, name))
        if path in defined:
            return path
        name = name.rpartition(".")[0]
    return ""


def _facts(documents: Sequence[Document]) -> Iterator[tuple[str, CodeFact]]:
    """Yield the facts of all files, and the id of the document of each."""
    python = [one for one in documents if one.format == LANGUAGE]
    modules = [
        read_module(
            CodeFile(
                one.id, LANGUAGE, module_name_of(one), one.id.endswith("__init__.py"), one.text
            )
        )
        for one in python
    ]
    for document, facts in zip(python, read_python_facts(modules), strict=True):
        yield from ((document.id, fact) for fact in facts)
    others = [one for one in documents if one.format in LANGUAGES]
    tagged = [read_tags(CodeFile(one.id, one.format, one.id, False, one.text)) for one in others]
    for document, facts in zip(others, read_tagged_facts(tagged), strict=True):
        yield from ((document.id, fact) for fact in facts)


def _examples(
    calls: Mapping[str, Sequence[tuple[str, int]]], texts: Mapping[str, Document]
) -> dict[str, Example]:
    """Return for each name the example that is most about it."""
    functions = {
        id: list(_functions(texts[id]))
        for id in {id for found in calls.values() for id, _ in found}
    }
    names_in: defaultdict[SourcePlace, set[str]] = defaultdict(set)
    places: dict[tuple[str, str, int], SourcePlace] = {}
    for target, found in calls.items():
        for id, line in found:
            inside = [place for place in functions[id] if place.line <= line <= place.end]
            if inside:
                place = min(inside, key=lambda place: place.end - place.line)
                places[target, id, line] = place
                names_in[place].add(target)
    examples: dict[str, Example] = {}
    for target, found in calls.items():
        candidates = [places[target, *one] for one in found if (target, *one) in places]
        if candidates:
            best = min(candidates, key=lambda place: (len(names_in[place]), place.end - place.line))
            lines = texts[best.document].text.splitlines()[best.line - 1 : best.end]
            examples[target] = Example("\n".join(lines), best)
    return examples


def _functions(document: Document) -> Iterator[SourcePlace]:
    """Yield where the short functions and the short outermost statements of a module are."""
    tree = parse(document.text) if document.format == LANGUAGE else ""
    if isinstance(tree, str):
        return
    for node in [*ast.walk(tree)]:
        is_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        if is_function or node in tree.body:
            assert isinstance(node, ast.stmt)
            is_import = isinstance(node, (ast.Import, ast.ImportFrom))
            first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
            end = node.end_lineno or node.lineno
            if end - first < MAX_LINES and not is_import:
                yield SourcePlace(document.id, first, end)
