"""The public names of clew and its adapters, and under which one each thing is documented."""

from __future__ import annotations

import importlib.util
import inspect
import pkgutil
from functools import cache
from pathlib import Path

import clew

ADAPTERS = ("langchain_clew", "llama_index.retrievers.clew", "llama_index.postprocessor.clew")
ALSO = ("clew.recipes", "clew.cite", "clew.conversation", "clew.types", "clew.usage")
"""Modules that do not say what is public: all that they define is, unless it begins with "_"."""

CONSTANTS = (bool, bytes, float, int, str, tuple, type(None))


@cache
def modules() -> tuple[str, ...]:
    """Return the modules with public names, those first by which a thing is rather documented."""
    walked = [each.name for each in pkgutil.walk_packages(clew.__path__, "clew.")]
    found = [name for name in walked if "._" not in name and "\n__all__ = " in source_of(name)]
    found.sort(key=lambda name: (name == "clew.adapters", name.count(".")))
    return ("clew", *ALSO, *found, *ADAPTERS)


def source_of(module: str) -> str:
    """Return the text of a module, which is not imported: it may need what is not installed."""
    spec = importlib.util.find_spec(module)
    assert spec is not None, module
    assert spec.origin is not None, module
    return Path(spec.origin).read_text(encoding="utf-8")


@cache
def names_of(module: str) -> tuple[tuple[str, object], ...]:
    """Return the public names of a module with what they stand for."""
    found = importlib.import_module(module)
    if hasattr(found, "__all__"):
        return tuple((name, getattr(found, name)) for name in found.__all__)
    return tuple(
        (name, value)
        for name, value in vars(found).items()
        if not name.startswith("_")
        and (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__ == module
    )


@cache
def homes() -> dict[int, tuple[str, str]]:
    """Return where each thing is documented, by its identity: module and name.

    A number or a text is documented wherever it is public.
    """
    found: dict[int, tuple[str, str]] = {}
    for module in modules():
        for name, value in names_of(module):
            if not isinstance(value, CONSTANTS):
                found.setdefault(id(value), (module, name))
    return found
