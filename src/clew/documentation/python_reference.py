"""The public names of Python modules, read by griffe from their text: nothing is imported or run.

Public is what `__all__` lists; without it, what is defined in a module and has no leading
underscore, and what a package takes over from its own modules. What a private module defines and a
public one passes on is documented in the public one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from clew.document import Document
from clew.documentation.docstrings import parse_docstring
from clew.documentation.entries import (
    Base,
    CodeReference,
    DocSection,
    DocumentedModule,
    Kind,
    PublicName,
    Reexport,
    SourcePlace,
)
from clew.documentation.python_modules import PythonModules
from clew.documentation.signatures import (
    attribute_signature,
    class_signature,
    parameter_names,
    signature_of,
)

if TYPE_CHECKING:
    import griffe

LANGUAGE = "python"
EXAMPLE_FOLDERS = frozenset(
    ("test", "tests", "testing", "example", "examples", "benchmarks", "docs", "doc")
)
EXAMPLE_FILE = re.compile(r"test_.*|.*_test|conftest|setup|noxfile|tasks")
_DOC_COMMENT = re.compile(r"^[ \t]*#:[ ]?(.*)$")


def read_python_reference(documents: Sequence[Document]) -> CodeReference:
    r"""Return the public names of the Python modules among documents.

    Args:
        documents: Documents; those in other formats are left out.

    Raises:
        GriffeMissingError: griffe is not installed.

    Example:
        >>> text = "def cut(wood):\n    return _saw(wood)\n\ndef _saw(wood): ..."
        >>> found = read_python_reference([Document("kit.py", text, format="python")])
        >>> [entry.signatures for entry in found.walk()]
        [('def cut(wood)',)]
    """
    own = [document for document in documents if document.format == LANGUAGE]
    if not own:
        return CodeReference((), frozenset())
    modules = PythonModules.load(own)
    examples = frozenset(one.id for one in own if is_example(one.id))
    if len(examples) == len(own):  # a folder of tests is what is to be documented
        examples = frozenset()
    documented = [name for name in modules.texts if modules.texts[name].id not in examples]
    reference = _References(modules, documented)
    return CodeReference(
        tuple(reference.modules()),
        frozenset(one.id for one in own) - {id for id, _ in modules.failed},
        examples,
        tuple(modules.failed),
    )


def is_example(id: str) -> bool:
    """Return whether a file is a test or an example, by its path.

    Example:
        >>> is_example("tests/test_wood.py"), is_example("kit/wood.py")
        (True, False)
    """
    path = PurePosixPath(id.replace("\\", "/"))
    folders = {part.lower() for part in path.parts[:-1]}
    return bool(folders & EXAMPLE_FOLDERS) or EXAMPLE_FILE.fullmatch(path.stem) is not None


class _References:
    """What is public, and where each name is documented."""

    def __init__(self, modules: PythonModules, documented: Sequence[str]) -> None:
        self.found = modules
        self.names = documented
        self.public = [name for name in documented if not _is_private_path(name)]
        # Where each definition is documented: in its own module if that is public, or else in the
        # first public module with the shortest name that passes it on.
        self.home: dict[str, str] = {}
        own = {name: list(self._own_names(name)) for name in self.public}
        passed = {name: list(self._passed_on(name)) for name in self.public}
        for name, members in own.items():
            for member in members:
                self.home[f"{name}.{member}"] = f"{name}.{member}"
        for name in sorted(passed, key=lambda name: (name.count("."), name)):
            for member, target in passed[name]:
                self.home.setdefault(target.path, f"{name}.{member}")
        self.passed = passed
        self.foreign = {name: list(self._foreign_names(name)) for name in self.public}

    def modules(self) -> Iterator[DocumentedModule]:
        packages = {name.rpartition(".")[0] for name in self.public}
        for name in sorted({*self.public, *self._packages()}):
            module = self._module(name)
            if module.entries or module.reexports or module.docs or name in packages:
                yield module

    def _packages(self) -> Iterator[str]:
        """Yield the packages around public modules that have no text of their own."""
        for name in self.public:
            parts = name.split(".")
            yield from (".".join(parts[:n]) for n in range(1, len(parts)))

    def _module(self, name: str) -> DocumentedModule:
        module, text = self.found.module(name), self.found.texts.get(name)
        if module is None or text is None:
            return DocumentedModule(name, LANGUAGE, (), None)
        entries, reexports = list[PublicName](), list[Reexport]()
        for member in self._own_names(name):
            entries.append(self._entry(self.found.own_member(name, member), f"{name}.{member}"))
        for member, target in self.passed.get(name, ()):
            if self.home.get(target.path) == f"{name}.{member}":
                entries.append(self._entry(target, f"{name}.{member}"))
            else:
                reexports.append(Reexport(member, target.path))
        reexports += [Reexport(*pair) for pair in self.foreign.get(name, ())]
        docs = parse_docstring(module.docstring)
        place = SourcePlace(text.id, 1, max(text.text.count("\n"), 1))
        return DocumentedModule(name, LANGUAGE, docs, place, tuple(entries), tuple(reexports))

    def _own_names(self, name: str) -> Iterator[str]:
        module = self.found.module(name)
        if module is None:
            return
        exports = _exports(module)
        for member, value in self.found.own_members(name):
            if value.is_alias or value.is_module or member == "__all__":
                continue
            if member in exports if exports is not None else not member.startswith("_"):
                yield member

    def _passed_on(self, name: str) -> Iterator[tuple[str, griffe.Object]]:
        """Yield the names that a module passes on, and what they are, but for modules."""
        module = self.found.module(name)
        if module is None:
            return
        exports = _exports(module)
        for member, value in self.found.own_members(name):
            if not value.is_alias:
                continue
            is_public = member in exports if exports is not None else _is_passed_on(value, module)
            target = self.found.find(value.target_path) if is_public else None
            if target is not None and not target.is_module and self._is_documented(target):
                yield member, target

    def _foreign_names(self, name: str) -> Iterator[tuple[str, str]]:
        """Yield the names that a module lists and takes from elsewhere, and where from."""
        module = self.found.module(name)
        for member in sorted(_exports(module) or ()) if module is not None else ():
            value = self.found.own_member(name, member)
            if value is None:  # made when it is asked for, by the module's `__getattr__`
                below = [path for path in self.home if path.startswith(f"{name}.")]
                found = [path for path in below if path.rpartition(".")[2] == member]
                yield member, found[0] if len(found) == 1 else ""
            elif value.is_alias:
                target = self.found.find(value.target_path)
                if target is None or target.is_module or not self._is_documented(target):
                    yield member, value.target_path

    def _is_documented(self, target: griffe.Object) -> bool:
        return target.module.path in self.found.texts

    def _entry(self, found: Any, path: str) -> PublicName:  # noqa: ANN401  # an object of griffe
        if found.is_class:
            return self._class(found, path)
        text = self.found.texts[found.module.path]
        common = {"name": path.rpartition(".")[2], "path": path, "defined_as": found.path}
        common |= {"language": LANGUAGE, "place": _place(found, text)}
        docs = parse_docstring(found.docstring)
        in_class = found.parent is not None and found.parent.is_class
        if found.is_function:
            kind: Kind = "method" if in_class else "function"
            written = [signature_of(one) for one in found.overloads or [found]]
            return PublicName(
                kind=kind,
                signatures=tuple(written),
                docs=docs,
                parameters=parameter_names(found),
                **common,
            )
        if "property" in getattr(found, "labels", ()):
            annotation = "" if found.annotation is None else f": {found.annotation}"
            return PublicName(
                kind="property", signatures=(f"{found.name}{annotation}",), docs=docs, **common
            )
        kind = "type" if getattr(found, "is_type_alias", False) else "attribute"
        written = [
            f"type {found.name} = {found.value}" if kind == "type" else attribute_signature(found)
        ]
        docs = docs or _comment_above(found, text) or self._same_as(found)
        return PublicName(kind=kind, signatures=tuple(written), docs=docs, **common)

    def _same_as(self, attribute: Any) -> tuple[DocSection, ...]:  # noqa: ANN401  # of griffe
        """Return what describes another name for a documented class or function."""
        target = self._target(attribute.value)
        if target is None or not (target.is_class or target.is_function):
            return ()
        return (DocSection(text=f"The same as :py:obj:`~{target.path}`."),)

    def _class(self, found: griffe.Class, path: str) -> PublicName:
        text = self.found.texts[found.module.path]
        members, also = list[PublicName](), list[tuple[str, SourcePlace]]()
        listed = {
            item.name
            for part in parse_docstring(found.docstring)
            for item in part.items
            if part.title == "Attributes"
        }
        for name, member in found.members.items():
            if member.is_alias or member.is_module or name == "__init__":
                continue
            is_special = name.startswith("__") and name.endswith("__")
            if is_special and member.is_function and not member.docstring:
                also.append((name, _place(member, text)))
            if (name.startswith("_") and not is_special) or (is_special and not member.docstring):
                continue
            if "instance-attribute" in member.labels and name in listed and not member.docstring:
                continue  # the documentation of the class tells of it
            entry = self._entry(member, f"{path}.{name}")
            members.append(entry if entry.docs else self._with_inherited_docs(entry, found))
        init = self._init(found)
        docs = parse_docstring(found.docstring)
        own_init = found.members.get("__init__")
        if own_init is not None and not own_init.is_alias and own_init.docstring is not None:
            docs += parse_docstring(own_init.docstring)
        return PublicName(
            name=path.rpartition(".")[2],
            kind="class",
            path=path,
            defined_as=found.path,
            signatures=tuple(class_signature(found, init)),
            language=LANGUAGE,
            docs=docs,
            place=_place(found, text),
            bases=tuple(self._base(base) for base in found.bases),
            members=tuple(members),
            inherited=tuple(self._inherited(found)),
            parameters=() if init is None else parameter_names(init),
            also=tuple(also),
        )

    def _with_inherited_docs(self, entry: PublicName, of: griffe.Class) -> PublicName:
        """Return a member with the documentation of what it overrides, as `help` shows it."""
        for base in self._ancestors(of):
            member = base.members.get(entry.name)
            if member is not None and not member.is_alias and member.docstring is not None:
                return replace(entry, docs=parse_docstring(member.docstring))
        return entry

    def _init(self, found: griffe.Class) -> griffe.Function | None:
        """Return what makes an object of a class: its own `__init__`, or that of a known base."""
        for one in (found, *self._ancestors(found)):
            init = one.members.get("__init__")
            if init is not None and not init.is_alias and init.is_function:
                return init  # type: ignore[return-value]  # a function
        return None

    def _base(self, base: Any) -> Base:  # noqa: ANN401  # an expression of griffe
        target = self._target(base)
        return Base(str(base), "" if target is None else target.path)

    def _target(self, base: Any) -> griffe.Object | None:  # noqa: ANN401  # an expression of griffe
        expression = getattr(base, "left", base)  # of a generic class
        import griffe

        try:
            path = getattr(expression, "canonical_path", "")
        except (griffe.GriffeError, LookupError, RecursionError):  # names that mean each other
            return None
        return self.found.find(path) if path else None

    def _ancestors(self, found: griffe.Class) -> Iterator[griffe.Class]:
        """Yield the known bases of a class, and their bases, each once, the nearest first."""
        waiting, seen = [found], {found.path}
        for one in waiting:
            if one is not found:
                yield one
            for base in one.bases:
                target = self._target(base)
                if target is not None and target.is_class and target.path not in seen:
                    seen.add(target.path)
                    waiting.append(target)  # type: ignore[arg-type]  # a class

    def _inherited(self, found: griffe.Class) -> Iterator[tuple[str, tuple[str, ...]]]:
        seen = set(found.members)
        for base in self._ancestors(found):
            names = tuple(
                name
                for name, member in base.members.items()
                if name not in seen and not name.startswith("_") and not member.is_alias
            )
            seen.update(names)
            if names:
                yield base.path, names


def _exports(module: Any) -> frozenset[str] | None:  # noqa: ANN401  # a module of griffe
    """Return what `__all__` lists; None without it."""
    if module.exports is None:
        return None
    return frozenset(name for name in module.exports if isinstance(name, str))


def _is_passed_on(alias: Any, module: Any) -> bool:  # noqa: ANN401  # of griffe
    """Return whether a module without `__all__` passes on a name that it imports.

    It does what it imports by `*`, and a package what it takes over from its own modules.
    """
    if alias.name.startswith("_"):
        return False
    target = alias.target_path
    is_own = target.partition(".")[0] == module.path.partition(".")[0]
    is_renamed = target.rpartition(".")[2] != alias.name
    return alias.wildcard_imported or (module.is_init_module and is_own and not is_renamed)


def _is_private_path(name: str) -> bool:
    return any(part.startswith("_") and part != "__main__" for part in name.split("."))


def _place(found: Any, text: Document) -> SourcePlace:  # noqa: ANN401  # an object of griffe
    line = found.lineno or 1
    decorators: Iterable[Any] = getattr(found, "decorators", ()) or ()
    first = min([line, *(one.lineno for one in decorators if one.lineno)])
    return SourcePlace(text.id, first, max(found.endlineno or line, first))


def _comment_above(found: Any, text: Document) -> tuple[DocSection, ...]:  # noqa: ANN401
    """Return the comment that documents an attribute, as Sphinx reads it: lines of `#:`."""
    lines, line = text.text.splitlines(), (found.lineno or 1) - 2
    comment = list[str]()
    while 0 <= line < len(lines) and (match := _DOC_COMMENT.match(lines[line])):
        comment.insert(0, match[1])
        line -= 1
    return (DocSection(text="\n".join(comment)),) if comment else ()
