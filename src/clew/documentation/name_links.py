"""Names in documentation lead to their entries.

A name is looked for where it stands: in its class, then in its module, then among all entries. A
name without a dot means a member of a class only there; elsewhere it could mean anything.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field

from clew.documentation.entries import CodeReference, PublicName
from clew.documentation.markdown import code_and_prose
from clew.documentation.markup import as_literal

_NAME = re.compile(r"[^\W\d]\w*+(?:(?:[.#]|::)[^\W\d]\w*+)*+(?=\(|$)")
_CODE_SPAN = re.compile(r"(`+)([^`\n]+)\1$")
AMBIGUOUS = ""


def module_path(name: str) -> str:
    """Return the path of a module: a name in a package may be called as a module in it is.

    Example:
        >>> module_path("kit.box")
        'kit.box:'
    """
    return f"{name}:"


@dataclass(frozen=True)
class NameLinks:
    """Where names lead to.

    Attributes:
        targets: The address of each entry and module, relative to the pages, by its path.
        by_name: The path that a name means among all; "" where it may mean several.
        paths: The path of each entry by that of its definition, and by every name that passes it
            on.
        modules: The paths of the modules.
    """

    targets: Mapping[str, str]
    by_name: Mapping[str, str]
    paths: Mapping[str, str] = field(default_factory=dict)
    modules: frozenset[str] = frozenset()

    @classmethod
    def of(cls, reference: CodeReference, targets: Mapping[str, str]) -> NameLinks:
        """Return the links to the entries of a reference.

        Args:
            reference: The reference.
            targets: The address of each entry and module, by its path.
        """
        meanings: defaultdict[str, set[str]] = defaultdict(set)
        for module in reference.modules:
            if "." in module.name:
                meanings[module.name].add(module_path(module.name))
            for entry in module.entries:
                for one in entry.walk():
                    for name in _endings(one, 1 if one is entry else 2):
                        meanings[name].add(one.path)
        by_name = {
            name: next(iter(found)) if len(found) == 1 else AMBIGUOUS
            for name, found in meanings.items()
        }
        modules = frozenset(module_path(module.name) for module in reference.modules)
        return cls(targets, by_name, _paths(reference), modules)

    def find(self, name: str, scope: str = "") -> str:
        """Return the path that a name means, or "".

        Args:
            name: A name as it is written, such as "Box", "wood.Box" or "Box.open()".
            scope: The path of the entry or module whose documentation names it.
        """
        match = _NAME.match(name.strip())
        if match is None or (match.end() < len(name) and not name.endswith(")")):
            return ""
        wanted = re.sub("::|#", ".", match[0])
        while scope:
            path = self._path(f"{scope}.{wanted}")
            if path in self.targets and ("." in wanted or path not in self.modules):
                return path
            scope = scope.rpartition(".")[0]
        path = self._path(wanted)
        if path in self.targets and "." in wanted:
            return path
        return self.by_name.get(wanted, "")

    def _path(self, name: str) -> str:
        """Return the path that a whole name means, whoever passes on what it is a member of."""
        if name in self.paths:
            return self.paths[name]
        owner, _, member = name.rpartition(".")  # such as a package that passes on a class
        return self.paths.get(f"{self.paths[owner]}.{member}", "") if owner in self.paths else ""

    def target(self, path: str) -> str:
        """Return the address of what is defined, or documented, under a path; "" if nowhere."""
        return self.targets.get(self.paths.get(path, path), "")

    def link(self, text: str, path: str) -> str:
        """Return a literal that leads to a path, where that is documented."""
        target = self.target(path)
        return f"[{as_literal(text)}]({target})" if target else as_literal(text)

    def module_link(self, name: str, text: str = "") -> str:
        """Return a literal that leads to the page of a module, where it has one."""
        return self.link(text or name, module_path(name))

    def linker(self, scope: str, ignored: Collection[str] = ()) -> Callable[[str, str], str]:
        """Return the function that links literals: (text, what it names) -> Markdown.

        Args:
            scope: The path of what is documented.
            ignored: Names that mean something else there, such as parameters.
        """

        def link(text: str, named: str) -> str:
            path = "" if named in ignored else self.find(named, scope)
            own = ("", scope, module_path(scope))
            return as_literal(text) if path in own else self.link(text, path)

        return link

    def linked(self, text: str, used: Callable[[str], None] = lambda _: None) -> str:
        """Return a Markdown text with links on the names in its literals.

        Args:
            text: The text.
            used: Called with the path of each name that is found.
        """
        parts, depth = list[str](), 0
        for part, is_code in code_and_prose(text):
            span = _CODE_SPAN.match(part) if is_code else None
            if span is None:
                depth = 0 if "\n\n" in part else max(depth + part.count("[") - part.count("]"), 0)
                parts.append(part)
                continue
            path = self.find(span[2]) if depth == 0 else ""
            if path:
                used(path)
            parts.append(self.link(span[2], path) if path else part)
        return "".join(parts)


def _paths(reference: CodeReference) -> dict[str, str]:
    """Return the path of each entry by that of its definition, and by what passes it on."""
    paths = {module.name: module_path(module.name) for module in reference.modules}
    for entry in reference.walk():
        paths[entry.path] = paths[entry.defined_as] = entry.path
    for module in reference.modules:
        for reexport in module.reexports:
            if reexport.defined_as in paths:
                paths.setdefault(f"{module.name}.{reexport.name}", paths[reexport.defined_as])
    return paths


def _endings(entry: PublicName, shortest: int) -> Iterator[str]:
    """Yield the names that an entry may be called by anywhere, of so many parts or more."""
    for path in {entry.path, entry.defined_as}:
        parts = re.split(r"[.:]", path)
        yield from (".".join(parts[-n:]) for n in range(shortest, len(parts) + 1))
