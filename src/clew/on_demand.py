"""Names and functions whose modules are loaded when they are asked for.

A new process loads what it uses, and no more.

Making a hundred classes takes a tenth of a second, and a question needs a third of all there are.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any


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


class FunctionOnDemand:
    """A function of a module that its first call loads.

    Args:
        module: The name of the module.
        name: The name of the function there.
        keywords: What it is given by name with every call.

    Example:
        >>> shorten = FunctionOnDemand("textwrap", "shorten", width=12)
        >>> shorten("The sea is salt."), shorten.__module__
        ('The [...]', 'textwrap')
    """

    def __init__(self, module: str, name: str, **keywords: object) -> None:
        self.__module__, self.__name__, self.keywords = module, name, keywords

    def __call__(self, *arguments: object, **keywords: object) -> Any:  # noqa: ANN401  # whatever it returns
        is_begun = self.__module__ in sys.modules  # and another thread may be in the middle of it
        home = (import_module if is_begun else _imported)(self.__module__)
        return getattr(home, self.__name__)(*arguments, **self.keywords, **keywords)

    def __repr__(self) -> str:
        given = "".join(f", {key}={value!r}" for key, value in self.keywords.items())
        return f"<{self.__module__}.{self.__name__}{given}>"


def _imported(name: str) -> ModuleType:
    """Import a module; what comes with it stays, so that it is not looked through for garbage."""
    from clew.garbage import collecting_rarely  # which `import clew` alone does not need

    with collecting_rarely():
        return import_module(name)
