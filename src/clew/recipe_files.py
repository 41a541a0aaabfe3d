"""Recipes as files: a method written out as TOML, read back, and changed one parameter at a time.

A table stands for a stage or a method of clew's own: `use` names its class, and the other keys are
its fields. Reading a file makes these and nothing else: no name of it is looked up anywhere but
among the stages, and no code of it runs. "none" stands for None.
"""

from __future__ import annotations

import inspect
import json
import tomllib
import types
import typing
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from clew import methods, order, recipes, seed, select, spread
from clew.algorithms.nearest.hnsw import HNSW
from clew.pipeline import Pipeline
from clew.render import Render
from clew.types import Method

Value = TypeVar("Value")

NONE = "none"
USE = "use"
SUFFIX = ".toml"


def read_recipe(source: str | Path) -> Method:
    """Return the method of a recipe's name, or the one that a file describes.

    Args:
        source: A name of `clew.recipes.names()`, or the path of a file that ends in ".toml".

    Raises:
        ValueError: The name is unknown, the file is no TOML, or it does not describe a method. The
            message says which names and fields there are.
        OSError: The file cannot be read.

    Example:
        >>> read_recipe("dense") is recipes.get("dense")
        True
    """
    if not str(source).endswith(SUFFIX):
        return recipes.get(str(source))
    try:
        raw = Path(source).read_bytes()
        # What Windows PowerShell writes of a program's output, and UTF-8 with its mark.
        encoding = "utf-16" if raw.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig"
        return parse_recipe(raw.decode(encoding))
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from error


def parse_recipe(text: str) -> Method:
    r"""Return the method that a TOML text describes.

    Raises:
        ValueError: It is no TOML, or it does not describe a method.

    Example:
        >>> method = parse_recipe('use = "Pipeline"\nseed = "BM25"\norder = "ByPrize"')
        >>> method.seed
        BM25(k1=1.5, b=0.75, kinds=('passage',), heading_weight=2)
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"it is not TOML: {error}") from error
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    method: Method = _from_table(table, Method, "", None)
    return method


def write_recipe(method: Method, comment: str = "") -> str:
    r"""Return a method as TOML, with all its parameters; `parse_recipe` makes it again.

    Args:
        method: A method of clew's own stages.
        comment: What stands at the top.

    Raises:
        ValueError: It has a stage that is not clew's own.

    Example:
        >>> print("\n".join(write_recipe(recipes.get("bm25")).splitlines()[:7]))
        use = "Pipeline"
        spreads = []
        <BLANKLINE>
        [seed]
        use = "BM25"
        k1 = 1.5
        b = 0.75
    """
    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    return "\n".join([*lines, *_table_lines(method, "")]).strip("\n") + "\n"


def with_settings(value: Value, settings: Iterable[str]) -> Value:
    """Return a copy of a frozen value with other parameters.

    Args:
        value: A method, a stage, or any other frozen dataclass.
        settings: Texts PATH=VALUE. A path goes through fields, joined by dots; a number is the
            place in a tuple. `select` stands for the one of `selects` that has the next field.

    Raises:
        ValueError: A path leads nowhere, or a value is of another kind than its field. The message
            lists what there is.

    Example:
        >>> method = with_settings(recipes.get("agrag"), ["select.variant=sum", "seed.max_facts=3"])
        >>> method.selects[0].variant, method.seed.max_facts
        ('sum', 3)
    """
    for setting in settings:
        path, equals, text = setting.partition("=")
        if not equals or not path:
            raise ValueError(f"a setting is PATH=VALUE, such as select.k=5; got {setting!r}")
        value = _set(value, path.split("."), text, path)
    return value


@cache
def known_classes() -> Mapping[str, type[Any]]:
    """Return the classes that a file may name, by name.

    Example:
        >>> sorted(known_classes())[:3]
        ['BM25', 'BestFirst', 'Blend']
    """
    rooms = (seed, spread, select, order, methods)
    public = [getattr(room, name) for room in rooms for name in room.__all__]
    stages = [one for one in public if inspect.isclass(one) and is_dataclass(one)]
    return {one.__name__: one for one in [*stages, Pipeline, Render, HNSW]}


def _choices(hint: object) -> list[str]:
    """Return the names of the classes that can stand where this is wanted."""
    return sorted(name for name, one in known_classes().items() if _can_be(one, hint))


def _can_be(one: type[Any], hint: Any) -> bool:  # noqa: ANN401  # an annotation of any kind
    if not _is_protocol(hint):
        return one is hint
    if not hasattr(hint, "on"):
        own = [name for name, member in vars(hint).items() if inspect.isfunction(member)]
        wanted = [name for name in own if name == "__call__" or not name.startswith("_")]
        return all(any(name in vars(base) for base in one.__mro__) for name in wanted)
    return hasattr(one, "on") and _asked_with(one) == _asked_with(hint)


def _asked_with(stage: type[Any]) -> object:
    """Return the types that the function of a stage takes: they tell its kind."""
    returned = typing.get_type_hints(stage.on)["return"]
    return (typing.get_args(returned) or (None,))[0]


def _is_protocol(hint: object) -> bool:
    return bool(getattr(hint, "_is_protocol", False))


def _convert(raw: object, hint: Any, path: str, default: object = None) -> Any:  # noqa: ANN401  # by the annotation
    """Return a value of a file as its field wants it; raise ValueError for another kind."""
    origin, arms = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return _convert_union(raw, arms, path, default)
    if origin is tuple:
        return _convert_tuple(raw, arms, path)
    if is_dataclass(hint) or _is_protocol(hint):
        return _from_table(raw, hint, path, default)
    is_number = isinstance(raw, (int, float)) and not isinstance(raw, bool)
    if hint is float and is_number:
        return float(raw)  # type: ignore[arg-type]  # a number, as the line before says
    if hint in (bool, int, str) and type(raw) is hint:
        return raw
    wanted = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
    if hint not in wanted:
        raise ValueError(f"{path} cannot be set from a text")
    raise ValueError(f"{path} is {wanted[hint]}; got {raw!r}")


def _convert_union(raw: object, arms: Sequence[Any], path: str, default: object) -> Any:  # noqa: ANN401  # likewise
    if raw == NONE and type(None) in arms:
        return None
    problems = list[str]()
    for arm in arms:
        if arm is type(None):
            continue
        try:
            return _convert(raw, arm, path, default)
        except ValueError as problem:
            problems.append(str(problem))
    none = f', or "{NONE}"' if type(None) in arms else ""
    raise ValueError(f"{'; or '.join(problems)}{none}")


def _convert_tuple(raw: object, arms: Sequence[Any], path: str) -> tuple[Any, ...]:
    if not isinstance(raw, list):
        raise ValueError(f"{path} is a list in brackets; got {raw!r}")  # noqa: TRY004  # a file's, no argument's
    hints = [arms[0]] * len(raw) if arms[-1:] == (Ellipsis,) else list(arms)
    if len(hints) != len(raw):
        raise ValueError(f"{path} has {len(hints)} entries; got {len(raw)}")
    return tuple(
        _convert(one, hint, f"{path}.{i}")
        for i, (one, hint) in enumerate(zip(raw, hints, strict=True))
    )


def _from_table(raw: object, hint: Any, path: str, default: object) -> Any:  # noqa: ANN401  # of the class that is named
    """Return the stage or method that a table, or a name alone, stands for."""
    table = {USE: raw} if isinstance(raw, str) else raw
    where = path or "the recipe"
    if not isinstance(table, Mapping):
        raise ValueError(f"{where} is a table or a name; got {raw!r}")  # noqa: TRY004  # likewise
    choices = _choices(hint)
    name = table.get(USE, None if default is None else type(default).__name__)
    if name is None and len(choices) == 1:
        name = choices[0]
    if name not in choices:
        got = "there is no `use`" if name is None else f"got {name!r}"
        raise ValueError(f"{where} is one of {', '.join(choices)}; {got}")
    one = known_classes()[name]
    hints = typing.get_type_hints(one)
    own = {field.name: field for field in fields(one) if field.init}
    values = dict[str, Any]()
    base = default if type(default) is one else None
    for key, value in table.items():
        if key == USE:
            continue
        if key not in own:
            raise ValueError(f"{where}: {name} has no {key!r}; it has {_listed(own)}")
        field = own[key]
        inner = getattr(base, key) if base is not None else field.default
        known = inner if is_dataclass(inner) else None
        values[key] = _convert(value, hints[key], f"{path}.{key}".lstrip("."), known)
    missing = [
        key
        for key, field in own.items()
        if base is None
        and key not in values
        and field.default is MISSING
        and field.default_factory is MISSING
    ]
    if missing:
        raise ValueError(f"{where}: {name} needs {_listed(missing)}")
    return _made(one, base, values, where)


def _made(one: type[Any], base: object, values: Mapping[str, Any], where: str) -> Any:  # noqa: ANN401  # of that class
    try:
        return one(**values) if base is None else replace(typing.cast("Any", base), **values)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{where}: {error}") from error


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "no parameters"


def _set(value: Any, steps: Sequence[str], text: str, path: str) -> Any:  # noqa: ANN401  # of the same class
    """Return a copy of a dataclass with one field changed, however deep."""
    if not is_dataclass(value):
        raise ValueError(f"{path}: there is nothing below {type(value).__name__} to set")
    own = [field.name for field in fields(value) if field.init]
    name, rest = steps[0], steps[1:]
    for plural in (f"{name}s", f"{name}es"):
        if name not in own and plural in own:
            name, rest = plural, [_place_in(getattr(value, plural), plural, rest, path), *rest]
    if name not in own:
        raise ValueError(
            f"{path}: {type(value).__name__} has no {steps[0]!r}; it has {_listed(own)}"
        )
    hint, current = typing.get_type_hints(type(value))[name], getattr(value, name)
    if not rest:
        changed = _from_text(text, hint, path)
    elif isinstance(current, tuple):
        changed = _set_in_tuple(current, hint, rest, text, path)
    else:
        changed = _set(current, rest, text, path)
    return _made(type(value), value, {name: changed}, path)


def _place_in(stages: Sequence[object], plural: str, rest: Sequence[str], path: str) -> str:
    """Return the place of the stage that is meant: the only one, or the only with that field."""
    fitting = [
        i for i, one in enumerate(stages) if len(stages) == 1 or (rest and hasattr(one, rest[0]))
    ]
    if len(fitting) != 1:
        there = ", ".join(f"{plural}.{i} is {type(one).__name__}" for i, one in enumerate(stages))
        raise ValueError(f"{path}: name the place, as {plural}.0: {there or 'there are none'}")
    return str(fitting[0])


def _set_in_tuple(
    current: tuple[Any, ...], hint: object, steps: Sequence[str], text: str, path: str
) -> tuple[Any, ...]:
    place, rest = steps[0], steps[1:]
    if not place.isdecimal() or int(place) >= len(current):
        last = len(current) - 1
        raise ValueError(f"{path}: {place!r} is no place; places are 0 to {last}")
    at, arms = int(place), typing.get_args(hint)
    element = arms[0] if arms[-1:] == (Ellipsis,) else arms[at]
    changed = _set(current[at], rest, text, path) if rest else _from_text(text, element, path)
    return (*current[:at], changed, *current[at + 1 :])


def _from_text(text: str, hint: Any, path: str) -> Any:  # noqa: ANN401  # by the annotation
    """Return what a typed text means in this place: a TOML value, or a text without quotes."""
    try:
        value = tomllib.loads(f"value = {text}")
    except (tomllib.TOMLDecodeError, RecursionError):
        value = {}
    if list(value) == ["value"]:  # a text with a line break could have more
        try:
            return _convert(value["value"], hint, path)
        except ValueError as problem:
            if not isinstance(value["value"], str):
                try:
                    return _convert(text, hint, path)
                except ValueError:
                    raise problem from None
            raise
    return _convert(text, hint, path)


def _table_lines(value: Any, path: str) -> list[str]:  # noqa: ANN401  # a stage or a method
    """Return the lines of a table: plain fields first, as TOML wants it, then tables."""
    name = type(value).__name__
    if known_classes().get(name) is not type(value):
        raise ValueError(f"{name} is not clew's own, and a file cannot name it")
    lines, tables = [f'{USE} = "{name}"'], list[str]()
    for field in fields(value):
        one, own = getattr(value, field.name), f"{path}.{field.name}".lstrip(".")
        if is_dataclass(one):
            tables += ["", f"[{own}]", *_table_lines(one, own)]
        elif isinstance(one, tuple) and one and is_dataclass(one[0]):
            for each in one:
                tables += ["", f"[[{own}]]", *_table_lines(each, own)]
        else:
            lines.append(f"{field.name} = {_plain(one)}")
    return lines + tables


def _plain(value: object) -> str:
    """Return a number, text, truth value or tuple of such as TOML."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(_plain, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    text = NONE if value is None else str(value)
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
