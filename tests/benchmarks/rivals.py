"""What clew is compared with: libraries that may be there or not, and those that are not are left out with a word."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, TypeVar

Made = TypeVar("Made")
PACKAGES = {
    "faiss": "faiss-cpu",
    "graphblas": "python-graphblas",
    "ot": "POT",
    "sknetwork": "scikit-network",
}
PACKAGES |= {"graspologic_native": "graspologic-native", "langchain_core": "langchain-core"}


class MissingError(ImportError):
    """A library is not installed."""


def wanted(name: str) -> Any:
    """Return a module; raise `MissingError`, which says how to install it."""
    try:
        return import_module(name)
    except ImportError as error:
        package = name.split(".")[0]
        raise MissingError(f"pip install {PACKAGES.get(package, package)}") from error


def there(makers: Mapping[str, Callable[[], Made]]) -> dict[str, Made]:
    """Return what can be made; of what cannot, standard error says why."""
    made: dict[str, Made] = {}
    for name, make in makers.items():
        try:
            made[name] = make()
        except MissingError as error:
            sys.stderr.write(f"{name} is not compared: it is not installed ({error})\n")
    return made
