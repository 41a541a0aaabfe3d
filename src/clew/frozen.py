"""Frozen dataclasses that are made in a third of the time; they do what those of Python do.

Python writes six functions for such a class as text and compiles each, .4 ms in all. A first
question over a saved index needs 150 classes, and a tenth of the time until its answer went into
that. Here `__init__` alone is written so: the others are closures, which nobody compiles.

`dataclass` is for the modules that a first question loads; readers and type checkers take it for
that of Python. It is that one for every class that is not frozen, has slots or an order, or
inherits from another dataclass.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls: type | None = None, /, **options: bool) -> object:
        """Return a class as a dataclass, or what makes one; see `dataclasses.dataclass`."""

        def make(cls: type) -> type:
            if options.get("frozen") and _is_plain(cls, options):
                return _frozen(cls, options)
            return dataclasses.dataclass(**options)(cls)

        return make if cls is None else make(cls)


class _Factory:
    """Stands for a value that is made anew for each object."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()
_PLAIN = {"frozen", "eq", "repr"}  # the options that a class may be made with here


def _is_plain(cls: type, options: dict[str, bool]) -> bool:
    return _PLAIN.issuperset(options) and not hasattr(cls, "__dataclass_fields__")


def _frozen(cls: type, options: dict[str, bool]) -> type:
    """Return a class with its fields as Python finds them, and methods that are made here."""
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False)(cls)
    fields = dataclasses.fields(made)
    parameters: Any = made.__dict__["__dataclass_params__"]
    parameters.init, parameters.frozen = True, True
    parameters.repr, parameters.eq = options.get("repr", True), options.get("eq", True)
    methods: dict[str, Callable[..., Any]] = {"__init__": _initializer(made, fields)}
    if parameters.repr:
        methods["__repr__"] = _describer([one.name for one in fields if one.repr])
    if parameters.eq:
        methods["__eq__"] = _comparer(_values_of([one.name for one in fields if one.compare]))
        if "__hash__" not in cls.__dict__ or (
            "__eq__" in cls.__dict__ and cls.__dict__["__hash__"] is None  # as Python sets it
        ):
            methods["__hash__"] = _hasher(
                _values_of(
                    [one.name for one in fields if (one.compare if one.hash is None else one.hash)]
                )
            )
    methods["__setattr__"], methods["__delattr__"] = _refusers(made, {one.name for one in fields})
    for name, method in methods.items():
        if name == "__hash__" or name not in cls.__dict__:
            method.__name__, method.__qualname__ = name, f"{cls.__qualname__}.{name}"
            method.__module__ = cls.__module__
            setattr(made, name, method)
    return cast("type", made)


def _initializer(cls: type, fields: tuple[dataclasses.Field[Any], ...]) -> Callable[..., None]:
    """Return `__init__`, which is compiled: Python has no other way to a signature."""
    names: dict[str, Any] = {"_set": object.__setattr__, "_FACTORY": _FACTORY}
    in_place, by_name, body = list[str](), list[str](), list[str]()
    for field in fields:
        name, value = field.name, field.name
        if field.default_factory is not dataclasses.MISSING:
            names[f"_make_{name}"] = field.default_factory
            default = "=_FACTORY"
            value = f"_make_{name}() if {name} is _FACTORY else {name}"
            if not field.init:
                value = f"_make_{name}()"
        elif field.default is not dataclasses.MISSING:
            names[f"_default_{name}"] = field.default
            default = f"=_default_{name}"
        else:
            default = ""
        if field.init:
            (by_name if field.kw_only else in_place).append(f"{name}{default}")
        elif field.default_factory is dataclasses.MISSING:
            continue
        body.append(f"  _set(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        body.append("  self.__post_init__()")
    parameters = ", ".join(["self", *in_place, *(["*", *by_name] if by_name else [])])
    text = "\n".join(
        [
            f"def create({', '.join(names)}):",
            f" def __init__({parameters}):",
            *(body or ["  pass"]),
            " return __init__",
        ]
    )
    created = dict[str, Any]()
    home = sys.modules.get(cls.__module__)  # whose names the annotations mean
    exec(text, vars(home) if home else {}, created)  # noqa: S102 - as `dataclasses` does
    made: Callable[..., None] = created["create"](**names)
    made.__annotations__ = {one.name: one.type for one in fields if one.init} | {"return": None}
    return made


def _values_of(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return a function of an object to the values of these attributes."""
    if len(names) > 1:
        return attrgetter(*names)
    if not names:
        return lambda _: ()
    get = attrgetter(*names)
    return lambda one: (get(one),)


def _describer(names: list[str]) -> Callable[[Any], str]:
    @recursive_repr()
    def describe(self: object) -> str:
        values = ", ".join([f"{name}={getattr(self, name)!r}" for name in names])
        return f"{self.__class__.__qualname__}({values})"

    return describe


def _comparer(values_of: Callable[[Any], tuple[Any, ...]]) -> Callable[[object, object], object]:
    def is_equal(self: object, other: object) -> object:
        if other.__class__ is self.__class__:
            return values_of(self) == values_of(other)
        return NotImplemented

    return is_equal


def _hasher(values_of: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any], int]:
    def number(self: object) -> int:
        return hash(values_of(self))

    return number


def _refusers(
    cls: type[object], names: set[str]
) -> tuple[Callable[..., None], Callable[..., None]]:
    """Return what refuses to set an attribute, and to delete one."""

    def refuse_to_set(self: object, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)  # type: ignore[misc]  # of any class

    def refuse_to_delete(self: object, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)  # type: ignore[misc]  # as above

    return refuse_to_set, refuse_to_delete
