"""Packages whose names are loaded when they are asked for: a new process loads what it uses.

Making a hundred classes takes a tenth of a second, and a question needs a third of all there are.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType


def load_on_demand(
    package: str, modules: Mapping[str, str], rooms: tuple[str, ...] = ()
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the `__getattr__` and the `__dir__` of a package that loads its names on demand.

    The package imports the same names where `typing.TYPE_CHECKING` is true, for type checkers. No
    name is that of a module in the package: whichever was loaded last would hide the other.

    Args:
        package: The name of the package, its `__name__`.
        modules: The names that each module of the package gives, with spaces between, by the
            module's name below the package.
        rooms: The names of modules that are loaded on demand themselves.

    Example:
        >>> load, names = load_on_demand("clew.seed", {"bm25": "BM25", "dense": "Dense"})
        >>> load("BM25")
        <class 'clew.seed.bm25.BM25'>
        >>> {"BM25", "Dense"} <= set(names())
        True
    """
    homes = {name: f"{package}.{home}" for home, names in modules.items() for name in names.split()}

    def load(name: str) -> object:
        if name in rooms:
            return _imported(f"{package}.{name}")
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(_imported(homes[name]), name)
        setattr(sys.modules[package], name, value)  # found without this from now on
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes, *rooms})

    return load, names


def _imported(name: str) -> ModuleType:
    """Import a module; what comes with it stays, so that it is not looked through for garbage."""
    from clew.garbage import collecting_rarely  # which `import clew` alone does not need

    with collecting_rarely():
        return import_module(name)
