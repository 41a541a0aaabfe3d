"""The libraries that clew is compared with. Those that are not installed are left out, with a note."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, TypeVar

Rival = TypeVar("Rival")
PACKAGES = {
    "Stemmer": "PyStemmer",
    "faiss": "faiss-cpu",
    "graphblas": "python-graphblas",
    "graspologic_native": "graspologic-native",
    "langchain_core": "langchain-core",
    "ot": "POT",
    "sknetwork": "scikit-network",
}


class MissingError(ImportError):
    """A library is not installed."""


def require(name: str) -> Any:
    """Return a module; raise `MissingError`, which says how to install it."""
    try:
        return import_module(name)
    except ImportError as error:
        package = name.split(".")[0]
        raise MissingError(f"pip install {PACKAGES.get(package, package)}") from error


def build_installed(builders: Mapping[str, Callable[[], Rival]]) -> dict[str, Rival]:
    """Return the rivals that can be built; standard error says why the others cannot."""
    built: dict[str, Rival] = {}
    for name, build in builders.items():
        try:
            built[name] = build()
        except MissingError as error:
            sys.stderr.write(f"{name} is not compared: it is not installed ({error})\n")
    return built
