"""The distributions of this repository, read from their own files, in the order in which they are released."""

from __future__ import annotations

import ast
import graphlib
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@cache
def project(folder: Path) -> dict[str, Any]:
    """Return what the `pyproject.toml` of a folder says."""
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))


def _folders() -> dict[str, Path]:
    found = [ROOT, *(path.parent for path in (ROOT / "integrations").glob("*/pyproject.toml"))]
    by_name = {project(folder)["project"]["name"]: folder for folder in found}
    needs = {
        name: sorted(by_name.keys() & {one.name for one in requirements(folder)})
        for name, folder in sorted(by_name.items())
    }
    return {name: by_name[name] for name in graphlib.TopologicalSorter(needs).static_order()}


def requirements(folder: Path) -> list[Requirement]:
    """Return what the distribution of a folder needs to run."""
    return [Requirement(one) for one in project(folder)["project"]["dependencies"]]


FOLDERS = _folders()  # each after those that it needs


def modules(folder: Path) -> dict[str, Path]:
    """Return the modules that the distribution of a folder brings, each with its file."""
    wheel = project(folder)["tool"]["hatch"]["build"]["targets"]["wheel"]
    tops = [folder / one for one in wheel.get("packages") or wheel["include"]]
    return {
        ".".join(path.relative_to(top.parent).with_suffix("").parts).removesuffix(".__init__"): path
        for top in tops
        for path in sorted(top.rglob("*.py"))
    }


def public_names(file: Path) -> set[str]:
    """Return the `__all__` of a module, without running it."""
    for statement in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
            return set(ast.literal_eval(statement.value))
    raise AssertionError(f"{file} has no __all__")


def imported_modules(file: Path) -> set[str]:
    """Return the modules that a file imports, wherever it does."""
    found = set()
    for statement in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(statement, ast.Import):
            found |= {one.name for one in statement.names}
        elif isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
            found.add(statement.module)
    return found


def brought_by(wanted: Iterable[Requirement]) -> set[str]:
    """Return the names of all distributions that an installer brings for these, as far as they are installed here."""
    waiting, seen = list(wanted), set()
    while waiting:
        one = waiting.pop()
        for extra in {"", *one.extras}:
            if (key := (canonicalize_name(one.name), extra)) in seen:
                continue
            seen.add(key)
            waiting += [
                need
                for need in _needs(key[0])
                if need.marker is None or need.marker.evaluate({"extra": extra})
            ]
    return {name for name, _ in seen}


def _needs(name: str) -> list[Requirement]:
    if name in FOLDERS:
        return requirements(FOLDERS[name])
    try:
        return [Requirement(one) for one in metadata.requires(name) or []]
    except metadata.PackageNotFoundError:  # for another system or version of Python
        return []
