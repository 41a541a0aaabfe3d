"""How the time of a function grows with the length of what it is given."""

from __future__ import annotations

import ast
import gc
import importlib
import pkgutil
import re
import time
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

parser: Any = re._parser  # type: ignore[attr-defined]  # private: the syntax tree of a pattern

MAX_RATIO = 2.3  # of the times at lengths n and 2 n
FLOOR = 0.03  # seconds of processor time; below, a clock says more of the machine than of the code
SHORTEST = 512
REPEATS = 4
SEARCHES = ("search", "finditer", "findall", "sub", "subn", "split")
CHARACTERS = ("a", "A", "0", "_", " ", "\n", "\t", ".", "-", "é", "中", "ก", "\u0301")
FEW_CHARACTERS = ("a", " ", "\n")
ENDS = ("", "!")
MAX_SAMPLES = 12  # of the texts that one part of a pattern matches


class TooSteepError(AssertionError):
    """The time grows faster than the length."""


def processor_seconds(call: Callable[[], object], repeats: int = 1) -> float:
    """Return the least processor time of calls in this thread, without the garbage collector's."""
    best = float("inf")
    gc.disable()
    try:
        for _ in range(repeats):
            begin = time.thread_time()
            call()
            best = min(best, time.thread_time() - begin)
    finally:
        gc.enable()
    return best


def check_linear(
    function: Callable[[str], object], prefix: str, unit: str, end: str, longest: int
) -> None:
    """Raise where the time of a function more than doubles whenever a text doubles.

    Lengths double up to the longest, and it stops at the first that is too steep, so that a
    quadratic function is found before it takes long. What looks steep is measured again, and then
    at twice and four times the length: what grows too fast goes on so, and a single step, as where
    the memory of a search is large enough to be asked of the system each time, does not.

    Args:
        function: takes a text.
        prefix: what the text begins with.
        unit: is repeated behind it.
        end: what the text ends with.
        longest: the length of the longest text.
    """

    def seconds(length: int, repeats: int = 1) -> float:
        text = prefix + unit * max(1, length // len(unit)) + end
        return processor_seconds(lambda: function(text), repeats)

    times: list[float] = []
    length = max(SHORTEST, longest // 64)
    while length <= longest:
        times.append(seconds(length))
        if _is_steep(times):
            times = [seconds(length // part, REPEATS) for part in (4, 2, 1)]
            if _is_steep(times):
                longer = [times[-1], *(seconds(length * part, REPEATS) for part in (2, 4))]
                if _is_steep(longer):
                    raise TooSteepError(
                        f"{length // 4} letters of {prefix!r}, {unit!r} ..., {end!r}, and twice, "
                        "4, 8 and 16 times as many take "
                        f"{', '.join(f'{one:.3f}' for one in (*times, *longer[1:]))} s"
                    )
        length *= 2


def _is_steep(times: list[float]) -> bool:
    """Return whether the last three times grow by more than the ratio at every doubling."""
    if len(times) < 3 or times[-1] < FLOOR:
        return False
    return times[-1] > MAX_RATIO**2 * max(times[-3], FLOOR / 40)


class UsedPattern(NamedTuple):
    """A regular expression in the source, and how it is used.

    Attributes:
        place: the module, and the name or the line.
        pattern: the compiled expression.
        only_matches: whether it is only ever tried at one place of a text.
    """

    place: str
    pattern: re.Pattern[str]
    only_matches: bool

    def run(self, text: str) -> None:
        """Do what the slowest use of the pattern does with a text."""
        subject = text if isinstance(self.pattern.pattern, str) else text.encode()
        if self.only_matches:
            self.pattern.match(subject)
            self.pattern.fullmatch(subject)
        else:
            for _ in self.pattern.finditer(subject):
                pass


def modules_of(*packages: str) -> Iterator[ModuleType]:
    """Yield packages and every module in them, except programs."""
    for name in packages:
        package = importlib.import_module(name)
        yield package
        for found in pkgutil.walk_packages(package.__path__, f"{name}."):
            if not found.name.endswith("__main__"):
                yield importlib.import_module(found.name)


@cache
def used_patterns(*packages: str) -> tuple[UsedPattern, ...]:
    """Return every regular expression that the modules hold, make or write into a call.

    A source is parsed where it names one that a module holds, or has a call of `re`: every process
    of the tests asks for all of them.
    """
    modules = list(modules_of(*packages))
    held = [
        (module.__name__, name, value, pattern)
        for module in modules
        for name, value in vars(module).items()
        for pattern in _patterns_in(value, module.__name__)
    ]
    names = "|".join(sorted({re.escape(name) for _, name, _, _ in held}))
    is_of_interest = re.compile(rf"\b(?:{names})\b|\bre\.")
    trees = {
        module.__name__: ast.parse(source)
        for module in modules
        if module.__file__
        and is_of_interest.search(source := Path(module.__file__).read_text(encoding="utf-8"))
    }
    searched_by = {name: _searched_names(tree) for name, tree in trees.items()}
    searched = set().union(*searched_by.values())
    found: dict[int, UsedPattern] = {}
    for module, name, value, pattern in held:
        uses = searched_by.get(module, searched) if name[0] == "_" else searched
        only = isinstance(value, re.Pattern) and name not in uses
        found.setdefault(id(pattern), UsedPattern(f"{module}.{name}", pattern, only))
    for module, tree in trees.items():
        for line, pattern, only in _patterns_in_calls(tree):
            found.setdefault(id(pattern), UsedPattern(f"{module}:{line}", pattern, only))
    return tuple(found.values())


def _patterns_in(value: object, module: str) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from _patterns_in(one, module)
    elif isinstance(value, dict):
        yield from _patterns_in(list(value.values()), module)
    elif getattr(value, "__module__", "") == module and hasattr(value, "cache_info"):
        types = dict(value.__wrapped__.__annotations__)
        if "Pattern" in str(types.pop("return", "")):  # all that it makes, asked yes or no
            for answers in product((False, True), repeat=len(types)):
                yield value(*answers)


def _searched_names(tree: ast.AST) -> set[str]:
    """Return the names whose attribute `search`, `sub` or the like is taken, or that are handed on.

    Only a name that occurs as `NAME.match` and `NAME.fullmatch` is not among them.
    """
    nodes = list(ast.walk(tree))
    harmless = {
        id(node.value)
        for node in nodes
        if isinstance(node, ast.Attribute) and node.attr not in SEARCHES
    }
    return {
        node.id
        for node in nodes
        if isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Load)
        and id(node) not in harmless
    }


def _patterns_in_calls(tree: ast.AST) -> Iterator[tuple[int, re.Pattern[str], bool]]:
    """Yield the line, pattern and use of every `re.sub("...", ...)` and the like."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.func.attr in (*SEARCHES, "match", "fullmatch", "compile")
            and isinstance(node.args[0], ast.Constant)
        ):
            flags = any("MULTILINE" in ast.dump(one) for one in [*node.args, *node.keywords])
            pattern = re.compile(node.args[0].value, re.MULTILINE if flags else 0)
            if node.func.attr != "compile":
                yield node.lineno, pattern, node.func.attr in ("match", "fullmatch")


def attacks(
    pattern: re.Pattern[str], characters: tuple[str, ...] = CHARACTERS
) -> list[tuple[str, str]]:
    """Return pairs (prefix, unit): the unit, repeated behind the prefix, may take a pattern long.

    For every repetition in the pattern the prefix is what leads there, and the unit what it
    repeats. Every character that the pattern names, and one of each common kind, is a unit too.
    """
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode()
    named = [sign for sign in dict.fromkeys(source) if not sign.isalnum() and not sign.isspace()]
    signs = list(dict.fromkeys([*characters, *(named if len(source) < 2000 else ())]))
    parsed = parser.parse(source, pattern.flags & ~re.UNICODE)
    found = dict.fromkeys(("", sign) for sign in signs)
    for prefix, unit in _repeated(list(parsed), [""], signs):
        found |= dict.fromkeys([(prefix, unit), ("", prefix + unit), ("", prefix)])
    return [(prefix, unit) for prefix, unit in found if unit]


Nodes = list[tuple[Any, Any]]


def _repeated(nodes: Nodes, prefixes: list[str], signs: list[str]) -> Iterator[tuple[str, str]]:
    """Yield what leads to every repetition in a parsed pattern, and what is repeated."""
    for at, (op, argument) in enumerate(nodes):
        for part in _parts(op, argument):
            yield from _repeated(part, prefixes, signs)
        if "REPEAT" in str(op) and argument[1] > 3:
            units = _samples(list(argument[2]), signs)
            yield from ((prefix, unit) for prefix in prefixes for unit in units)
        samples = _samples([nodes[at]], signs)[:MAX_SAMPLES]
        prefixes = [prefix + sample for prefix in prefixes for sample in samples][:MAX_SAMPLES]


def _parts(op: object, argument: Any) -> list[Nodes]:  # a node of the parser
    """Return the sequences within a node."""
    name = str(op)
    if name == "BRANCH":
        return [list(part) for part in argument[1]]
    if name in ("SUBPATTERN", "ASSERT", "ASSERT_NOT"):
        return [list(argument[-1])]
    if name == "ATOMIC_GROUP":
        return [list(argument)]
    return [list(argument[2])] if "REPEAT" in name else []


def _samples(nodes: Nodes, signs: list[str]) -> list[str]:
    """Return short texts that a sequence of nodes matches, but for its assertions."""
    results = [""]
    for op, argument in nodes:
        name = str(op)
        if name == "LITERAL":
            choices = [chr(argument)]
        elif name == "NOT_LITERAL":
            choices = [sign for sign in signs if ord(sign) != argument][:MAX_SAMPLES]
        elif name == "ANY":
            choices = ["a", " "]
        elif name == "IN":
            members = re._compiler.compile(parser.SubPattern(parser.State(), [(op, argument)]))
            choices = [sign for sign in signs if members.match(sign)]
        elif "REPEAT" in name:
            ones = _samples(list(argument[2]), signs)
            choices = [one * max(1, argument[0]) for one in ones] + [""] * (argument[0] == 0)
        elif name in ("AT", "ASSERT", "ASSERT_NOT", "GROUPREF"):
            choices = [""]
        else:
            choices = [one for part in _parts(op, argument) for one in _samples(part, signs)]
        results = [result + choice for result in results for choice in choices or [""]]
        results = list(dict.fromkeys(results))[: 4 * MAX_SAMPLES]
    return results
