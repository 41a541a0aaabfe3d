"""Questions on source code: are the callers, definitions and subclasses within the budget?

    python -m tests.benchmarks.code_questions --packages scrapy
    python -m tests.benchmarks.code_questions --packages scrapy networkx --recipes fused hipporag

The packages are read from where they are installed. Questions and gold are made by rule from a
reference that has nothing in common with `clew.Symbols`: every module is imported, its compiled code
is read instruction by instruction, names are looked up in the living modules and classes, and
`__subclasses__` and `__abstractmethods__` are asked. A gold place is a line of a file. The figure of
a question is the share of its gold lines that are in passages that are read within the budget.

"who calls" is asked of functions and classes that are called by name, and of methods whose name one
class alone defines, where there are at most five such lines. Choose on one package, and look at
another one once. `hipporag-mentions` is a recipe without a kind of edge, as in `everyday`.
"""

from __future__ import annotations

import argparse
import dis
import importlib
import importlib.util
import inspect
import json
import random
import sys
import time
import types
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import clew
from clew.cli.source import TOKENS
from clew.measure.paired import Table, build_table
from clew.read import Splitter
from tests.benchmarks.everyday import method_of, pooled

RECIPES = ("fused", "bm25", "hipporag", "budgeted", "agrag")
BUDGETS = (500, 1000)
MAX_GOLD = 5
PER_KIND = {"calls": 80, "defined": 50, "inherits": 40, "implement": 30}
TEMPLATES = {
    "calls": ("Who calls {}?", "Where is {} called?", "Which functions call {}?", "What uses {}?"),
    "defined": ("Where is {} defined?", "Show me the definition of {}", "What is {}?"),
    "inherits": (
        "What inherits from {}?",
        "Which classes are subclasses of {}?",
        "What extends {}?",
    ),
    "implement": (
        "What must I implement to make a {}?",
        "Which methods must a subclass of {} define?",
        "How do I write my own {}?",
    ),
}
Place = tuple[str, int]  # file, and line from 1
Name = tuple[str, str]  # module, and name in it


@dataclass(frozen=True)
class Question:
    """A question, its kind, and the lines that answer it."""

    text: str
    kind: str
    gold: tuple[Place, ...]


class Reference:
    """What the interpreter knows of a package.

    Attributes:
        root: The folder above the package.
        defined: The line of each function and class.
        called: The lines in which each of these is called.
        classes: The classes, by name.
    """

    def __init__(self, package: str) -> None:
        spec = importlib.util.find_spec(package)
        if spec is None or not spec.submodule_search_locations:
            raise ModuleNotFoundError(f"no installed package {package!r}")
        self.package = Path(spec.submodule_search_locations[0])
        self.root = self.package.parent
        self.defined: dict[Name, Place] = {}
        self.classes: dict[Name, type] = {}
        self.called: defaultdict[Name, set[Place]] = defaultdict(set)
        self._by_name: defaultdict[str, set[Place]] = defaultdict(set)  # called as methods
        self.members: Counter[str] = Counter()
        modules = list(self._modules())
        for module, file, code in modules:
            self._define(module, file, code)
        for module, file, code in modules:
            for inner in codes_in(code):
                self._read(module, file, inner)
        for name in self.defined:
            last = name[1].rpartition(".")[2]
            if "." in name[1] and self.members[last] == 1 and is_method_name(last):
                self.called[name] |= self._by_name[last]

    def _modules(self) -> Iterator[tuple[types.ModuleType, str, types.CodeType]]:
        for path in sorted(self.package.rglob("*.py")):
            file = path.relative_to(self.root)
            parts = file.with_suffix("").parts
            dotted = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            if "tests" in parts or parts[-1] == "__main__":
                continue
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    module = importlib.import_module(dotted)
                    code = compile(path.read_text(encoding="utf-8"), file.as_posix(), "exec")
            except BaseException as error:  # noqa: BLE001  # a module may want what is not installed
                print(f"{dotted} is not imported: {type(error).__name__}", file=sys.stderr)
                continue
            yield module, file.as_posix(), code

    def _define(self, module: types.ModuleType, file: str, code: types.CodeType) -> None:
        for inner in codes_in(code):
            name = inner.co_qualname
            if "<" in name:
                continue
            self.defined.setdefault((module.__name__, name), (file, inner.co_firstlineno))
            if "." in name:
                self.members[name.rpartition(".")[2]] += 1
            value = follow(module, name.split("."))
            if isinstance(value, type) and value.__module__ == module.__name__:
                self.classes[module.__name__, name] = value

    def _read(self, module: types.ModuleType, file: str, code: types.CodeType) -> None:
        """Note what the instructions of one function, class body or module call."""
        value: Any = None
        nothing = object()
        before = ""
        for step in dis.get_instructions(code):
            line = step.positions.lineno if step.positions else None
            is_called = before == "PUSH_NULL" or "NULL + " in step.argrepr
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                value = vars(module).get(step.argval, nothing)
            elif step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                is_called = is_called or step.opname == "LOAD_METHOD"
                if is_called and line:
                    self._by_name[step.argval].add((file, line))
                known = isinstance(value, (types.ModuleType, type))
                value = inspect.getattr_static(value, step.argval, nothing) if known else nothing
                is_called = is_called or before == "called"
            elif step.opname == "LOAD_FAST" and step.argval in ("self", "cls"):
                owner = follow(module, code.co_qualname.split(".<locals>")[0].split(".")[:-1])
                value = owner if isinstance(owner, type) else nothing
            elif step.opname not in ("PUSH_NULL", "CACHE", "EXTENDED_ARG"):
                value = nothing
            if is_called and line and (name := name_of(value)) in self.defined:
                self.called[name].add((file, line))
            # PUSH_NULL comes before all names of a chain, which ends with what is called.
            chained = before in ("PUSH_NULL", "called") and step.opname == "LOAD_NAME"
            before = "called" if chained else step.opname

    def questions(self, seed: int) -> list[Question]:
        """Return the questions on the package, drawn and worded by chance."""
        rng = random.Random(seed)
        short = Counter(name.rpartition(".")[2].lower() for _, name in self.defined)
        whole = Counter(name.lower() for _, name in self.defined)
        of_kind: dict[str, list[tuple[Name, list[Place]]]] = {kind: [] for kind in PER_KIND}
        for name, place in self.defined.items():
            if any(part.startswith("__") for part in name[1].split(".")) or "<" in name[1]:
                continue
            of_kind["calls"].append((name, sorted(self.called[name] - {place})))
            of_kind["defined"].append((name, [place]))
            if name in self.classes:
                of_kind["inherits"].append((name, self._subclasses(name)))
                of_kind["implement"].append((name, self._required(name)))
        questions = []
        for kind, found in of_kind.items():
            usable = [(name, gold) for name, gold in found if 0 < len(gold) <= MAX_GOLD]
            for (module, name), gold in rng.sample(usable, min(PER_KIND[kind], len(usable))):
                last = name.rpartition(".")[2]
                written = f"{module}.{name}"
                if whole[name.lower()] == 1:
                    written = name
                if short[last.lower()] == 1 and rng.random() < 0.7:
                    written = last
                elif whole[name.lower()] == 1 and "." in name and rng.random() < 0.3:
                    written = f"{last} of {name.rpartition('.')[0]}"
                questions.append(
                    Question(rng.choice(TEMPLATES[kind]).format(written), kind, tuple(gold))
                )
        return questions

    def _subclasses(self, name: Name) -> list[Place]:
        below = [name_of(cls) for cls in type.__subclasses__(self.classes[name])]
        return sorted(self.defined[one] for one in below if one in self.defined)

    def _required(self, name: Name) -> list[Place]:
        cls = self.classes[name]
        required = set(getattr(cls, "__abstractmethods__", ()))
        required |= {key for key, value in vars(cls).items() if raises_not_implemented(value)}
        own = [name_of(inspect.getattr_static(cls, method, None)) for method in required]
        return sorted({self.defined[one] for one in own if one in self.defined})


def codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield the code of a module, and of all functions and classes in it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from codes_in(inner)


def follow(start: object, names: Sequence[str]) -> object:
    """Return what names lead to, one after the other; None where one leads nowhere."""
    for name in names:
        start = inspect.getattr_static(start, name, None)
    return start


def name_of(value: object) -> Name:
    """Return the module and name that a function or class calls itself by."""
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    if isinstance(value, property):
        value = value.fget
    known = isinstance(value, (type, types.FunctionType))
    return (value.__module__, value.__qualname__) if known else ("", "")


def raises_not_implemented(value: object) -> bool:
    """Return whether a function does nothing but raise NotImplementedError."""
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    if not isinstance(value, types.FunctionType):
        return False
    steps = [s for s in dis.get_instructions(value) if s.opname not in ("RESUME", "CACHE")]
    loaded = [step.argval for step in steps if step.opname == "LOAD_GLOBAL"]
    raised = any(step.opname == "RAISE_VARARGS" for step in steps)
    jumps = any("JUMP" in step.opname for step in steps)
    return raised and not jumps and loaded[:1] == ["NotImplementedError"]


def is_method_name(name: str) -> bool:
    """Return whether a name is hardly that of a method of something else."""
    known = (str, bytes, list, dict, set, tuple, int, float, object, BaseException, type(sys.stdin))
    return "_" in name.strip("_") and not any(hasattr(kind, name) for kind in known)


def share_read(
    context: clew.Context | None, gold: Sequence[Place], lines: dict[str, list[int]]
) -> float:
    """Return the share of lines that are in passages of a context.

    Args:
        context: What is read; None for nothing.
        gold: The lines.
        lines: Where each line of each file begins.
    """
    read = [item for item in context or () if item.kind == "passage"]
    found = 0
    for file, line in gold:
        starts = lines[file]
        place, end = starts[line - 1], starts[line]
        found += any(
            (item.document or item.id) == file
            and (item.span is None or (item.span[0] < end and place < item.span[1]))
            for item in read
        )
    return found / len(gold)


def line_starts(text: str) -> list[int]:
    """Return where each line of a text begins, and its end."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def measure(
    index: clew.Index, recipe: str, questions: Sequence[Question], lines: dict[str, list[int]]
) -> dict[str, list[float]]:
    """Return the figures of every question, of a recipe as `everyday` names them."""
    method = method_of(recipe, "")
    figures: dict[str, list[float]] = {f"in {budget}": [] for budget in BUDGETS}
    for question in questions:
        for budget in BUDGETS:
            try:
                context = index.ask(question.text, recipe=method, budget=budget)
            except clew.BudgetError:
                context = None
            figures[f"in {budget}"].append(share_read(context, question.gold, lines))
    return figures


def compare(package: str, options: argparse.Namespace) -> Table:
    """Print the tables of one package, one for each kind of question, and return that of all."""
    reference = Reference(package)
    questions = reference.questions(options.seed)
    if options.show:
        for question in questions:
            print(json.dumps([question.kind, question.text, question.gold]))
    figures: dict[str, dict[str, list[float]]] = {}
    seconds: dict[str, float] = {}
    # The files are read as they lie below the folder above the package.
    documents = [
        document
        for document in clew.read.load_documents(reference.package).documents
        if document.format == "python"
    ]
    prefix = f"{reference.package.name}/"
    lines = {prefix + document.id: line_starts(document.text) for document in documents}
    documents = [replace(document, id=prefix + document.id) for document in documents]
    extractors = {"": None, " + symbols": clew.Symbols()}
    clew.Index.from_documents(["def warm(): up"])
    for label, extractor in extractors.items():
        started = time.perf_counter()
        index = clew.Index.from_documents(
            documents, splitter=Splitter(tokens=TOKENS), extractor=extractor
        )
        seconds[label] = time.perf_counter() - started
        for recipe in options.recipes:
            figures[f"{recipe}{label}"] = measure(index, recipe, questions, lines)
    size = sum(len(document.text) for document in documents) / 1e6
    baseline = options.recipes[0]
    table = build_table(package, figures, baseline)
    times = ", ".join(f"{size / s:.2f} MB/s{label}" for label, s in seconds.items())
    print(f"## {package}: {len(questions)} questions, {size:.1f} MB; read at {times}\n")
    print(table.to_markdown(intervals=True), flush=True)
    for kind in PER_KIND:
        rows = [i for i, question in enumerate(questions) if question.kind == kind]
        if rows:
            own = {
                method: {name: [values[i] for i in rows] for name, values in of.items()}
                for method, of in figures.items()
            }
            print(f"\n### {package}, {kind}: {len(rows)} questions\n")
            print(build_table(kind, own, baseline).to_markdown(intervals=False), flush=True)
    print()
    return table


SMOKE = "--packages iniconfig --recipes fused hipporag"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--packages", nargs="+", default=["scrapy"], help="installed packages")
    parser.add_argument("--recipes", nargs="+", default=list(RECIPES))
    parser.add_argument("--seed", type=int, default=0, help="of the draw of questions")
    parser.add_argument("--show", action="store_true", help="print the questions and their gold")
    options = parser.parse_args()
    tables = [compare(package, options) for package in options.packages]
    if len(tables) > 1:
        print(f"## All {len(tables)} packages\n")
        print(pooled(tables, by_corpus=False).to_markdown(intervals=True))


if __name__ == "__main__":
    main()
