"""Python modules as griffe reads them, from their text alone, and what their names lead to."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from clew.document import Document
from clew.read.formats.python import parse

if TYPE_CHECKING:
    import griffe

HINT = "pip install 'clew[document]'"
MAX_PATH = 1000  # characters of a dotted name
MAX_STEPS = 25  # of a chain of names that are passed on; also against circles


class GriffeMissingError(ImportError):
    """griffe is not installed."""


def module_name_of(document: Document) -> str:
    """Return the dotted name of a module."""
    if name := document.metadata.get("module"):
        return str(name)
    parts = [
        part for part in PurePosixPath(document.id).with_suffix("").parts if part not in ("/", "..")
    ]
    return (
        ".".join(parts[:-1] if parts[-1:] == ["__init__"] and parts[1:] else parts) or document.id
    )


@dataclass
class PythonModules:
    """All modules, as griffe reads them.

    Attributes:
        collection: The outermost modules and packages.
        texts: The document of each module, by its dotted name.
        failed: What could not be read, each with the reason.
        shadowing: What a package defines under the name of one of its modules, by its dotted name.
    """

    collection: griffe.ModulesCollection
    texts: dict[str, Document] = field(default_factory=dict)
    failed: list[tuple[str, str]] = field(default_factory=list)
    shadowing: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def load(cls, documents: Sequence[Document]) -> PythonModules:
        try:
            import griffe
        except ImportError as error:
            raise GriffeMissingError(
                f"its files are shown as passages; a reference needs griffe: {HINT}"
            ) from error
        with griffe.logger.disable():  # it logs what it cannot follow, such as other packages
            return cls._read(documents)

    @classmethod
    def _read(cls, documents: Sequence[Document]) -> PythonModules:
        import griffe

        modules = cls(griffe.ModulesCollection())
        extensions = griffe.load_extensions()
        lines = griffe.LinesCollection()
        named = {module_name_of(one): one for one in documents if not one.id.endswith(".pyi")}
        for one in documents:
            named.setdefault(module_name_of(one), one)
        for name in sorted(named, key=lambda name: (name.count("."), name)):
            parent = modules._parent(name)
            try:
                made = griffe.visit(
                    name if parent is None else name.rpartition(".")[2],
                    Path(named[name].id),
                    _without_redefinitions(named[name].text),
                    extensions=extensions,
                    parent=parent,
                    lines_collection=lines,
                    modules_collection=modules.collection,
                )
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                reason = f"not Python of this version ({type(error).__name__}: {error})"
                modules.failed.append((named[name].id, reason))
                continue
            modules._place(made, parent, named[name])
        modules._expand(extensions)
        return modules

    def _parent(self, name: str) -> griffe.Module | None:
        """Return the package around a module; one without a text of its own is made."""
        import griffe

        parent: griffe.Module | None = None
        for part in name.split(".")[:-1]:
            members = self.collection.members if parent is None else parent.members
            if part not in members or members[part].is_alias or not members[part].is_module:
                members[part] = griffe.Module(
                    part,
                    filepath=Path("__init__.py"),
                    parent=parent,
                    modules_collection=self.collection,
                )
            parent = members[part]  # type: ignore[assignment]  # checked just above
        return parent

    def _place(self, made: griffe.Module, parent: griffe.Module | None, text: Document) -> None:
        members: Any = self.collection.members if parent is None else parent.members
        before = members.get(made.name)
        if before is not None and not before.is_alias and not before.is_module:
            self.shadowing[before.path] = before
        members[made.name] = made
        made.parent = parent
        self.texts[made.path] = text

    def _expand(self, extensions: griffe.Extensions) -> None:
        import griffe

        loader = griffe.GriffeLoader(
            extensions=extensions, modules_collection=self.collection, allow_inspection=False
        )
        for module in list(self.collection.members.values()):
            try:
                loader.expand_exports(module)
                loader.expand_wildcards(module, external=False)
                extensions.call("on_package", pkg=module, loader=loader)
            except (
                griffe.GriffeError,
                RecursionError,
                LookupError,
                TypeError,
                AttributeError,
            ) as error:
                self.failed.append(
                    (module.path, f"names that it passes on are left out: {error!r}")
                )

    def find(self, path: str) -> Any:  # noqa: ANN401  # a module, class, function or attribute
        """Return what a dotted name leads to, through whatever passes it on; None if unknown."""
        for _ in range(MAX_STEPS):
            found = self._member(path)
            if found is None or not found.is_alias:
                return found
            path = found.target_path
        return None

    def module(self, name: str) -> Any:  # noqa: ANN401  # a module, or None
        """Return a module by its dotted name; None where there is none."""
        here: Any = self.collection
        for part in name.split("."):
            here = here.members.get(part)
            if here is None or here.is_alias or not here.is_module:
                return None
        return here

    def own_member(self, module: str, name: str) -> Any:  # noqa: ANN401  # an object or an alias
        """Return what a module defines, takes over or contains under a name."""
        return self.shadowing.get(f"{module}.{name}") or self.module(module).members.get(name)

    def own_members(self, module: str) -> Iterator[tuple[str, Any]]:
        """Yield the names in a module, and what is defined or taken over under each."""
        for name in list(self.module(module).members):
            yield name, self.own_member(module, name)

    def _member(self, path: str, steps: int = 0) -> Any:  # noqa: ANN401  # an object or an alias
        if path in self.shadowing:
            return self.shadowing[path]
        here: Any = self.collection
        for i, part in enumerate(parts := path.split(".")):
            if part not in here.members:
                return None
            here = here.members[part]
            if here.is_alias and i < len(parts) - 1:
                rest = ".".join(parts[i + 1 :])
                is_circle = steps >= MAX_STEPS or len(path) > MAX_PATH
                return None if is_circle else self._member(f"{here.target_path}.{rest}", steps + 1)
        return here


def _without_redefinitions(text: str) -> str:
    r"""Return a module without statements such as `Box = decorated(Box)`, all else in its line.

    Example:
        >>> _without_redefinitions("class Box: ...\nBox = repr(Box)\na = 1\n")
        'class Box: ...\n\na = 1\n'
    """
    tree = parse(text)
    if isinstance(tree, str):
        return text  # griffe says what is wrong with it
    lines, defined = text.split("\n"), set[str]()
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            defined.add(node.name)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            used = {one.id for one in ast.walk(node.value) if isinstance(one, ast.Name)}
            if name in defined & used:
                end = node.end_lineno or node.lineno
                lines[node.lineno - 1 : end] = [""] * (end - node.lineno + 1)
    return "\n".join(lines)
