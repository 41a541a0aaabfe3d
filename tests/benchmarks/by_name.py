"""Questions that name a version, a file, a symbol or a code: is what they name read first?

    python -m tests.benchmarks.by_name FOLDER...

A folder is the source of a program as its author packs it, with a list of changes:
`pip download --no-binary :all: --no-deps click==8.1.8 && tar xzf click-8.1.8.tar.gz`. It is indexed as
`clew index FOLDER` does it. Questions and gold are made by rule, without clew: headings of versions and the lines
up to the next one, by their letters; files whose name no other file has; functions and classes that are
defined once, by Python's own parser; codes that stand once in all texts, such as CVE-2017-8393, 8990/tcp, an ISBN, an e-mail
address or the option of a command. A question is hit at k if one of the k first passages by score begins among the gold lines,
or has the code.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import clew
from tests.benchmarks.everyday import method_of

SMOKE = "{folder} --questions 2 --recipes bm25"
TEMPLATES = {
    "version": ("What changed in version {}?", "What is new in {}?", "When was {} released?"),
    "file": ("What is in {}?", "What does {} do?", "{}"),
    "symbol": ("What does {} do?", "What arguments does {} take?", "How does {} work?"),
    "code": ("What is said about {}?", "What is {}?", "Where is {} mentioned?", "{}"),
}
SYMBOL = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
TEXTS = (".txt", ".md", ".rst", ".log", ".1", ".8")
CODE = re.compile(r"(?<![\w-])(?:--)?[A-Za-z0-9]+(?:[-/:@_.][A-Za-z0-9]+)*(?![\w-])")
CUTS = (1, 3, 10)
VERSION = re.compile(r"^(?:\W*)(?:version\s+|v)?(\d+\.\d+(?:\.\d+)*)\b[^.\n]{0,60}$", re.IGNORECASE)
UNDERLINE = re.compile(r"^([-=~^\"'*+#])\1{2,}\s*$")
CHANGES = re.compile(r"(?:changes|changelog|history|news|releases?)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Question:
    """A question, its kind, what it names, and the lines of the file that answer it, from 1."""

    text: str
    kind: str
    name: str
    file: str
    lines: range


def questions_on(folder: Path, most: int) -> list[Question]:
    """Return up to so many questions of each kind, drawn and worded by chance."""
    rng, found = random.Random(0), list[Question]()
    by_kind = {
        "version": versions_in,
        "file": files_in,
        "symbol": symbols_in,
        "code": codes_in,
    }
    for kind, find in by_kind.items():
        named = sorted(find(folder), key=lambda one: (one[0], one[1]))
        for name, file, lines in rng.sample(named, min(most, len(named))):
            text = rng.choice(TEMPLATES[kind]).format(name)
            found.append(Question(text, kind, name, file, lines))
    return found


def versions_in(folder: Path) -> Iterator[tuple[str, str, range]]:
    """Yield (version, file, lines) for the headings of versions in the list of changes."""
    for path in sorted(folder.rglob("*")):
        if not CHANGES.match(path.name) or path.suffix not in (".md", ".rst", ".txt"):
            continue
        lines = path.read_text("utf-8").splitlines()
        starts = [
            (i, match[1])
            for i, line in enumerate(lines)
            if (match := VERSION.match(line)) and _is_heading(lines, i)
        ]
        often = Counter(version for _, version in starts)
        ends = [i for i, _ in starts[1:]] + [len(lines)] * bool(starts)
        for (start, version), end in zip(starts, ends, strict=True):
            if often[version] == 1 and any(line.strip() for line in lines[start + 2 : end]):
                yield version, path.relative_to(folder).as_posix(), range(start + 1, end + 1)


def _is_heading(lines: Sequence[str], i: int) -> bool:
    below = lines[i + 1] if i + 1 < len(lines) else ""
    return lines[i].startswith("#") or UNDERLINE.match(below) is not None


def files_in(folder: Path) -> Iterator[tuple[str, str, range]]:
    """Yield (name, file, lines) for the files of code and prose whose name no other file has."""
    paths = [path for path in folder.rglob("*") if path.suffix in (".py", ".md", ".rst")]
    often = Counter(path.name for path in paths)
    for path in paths:
        n = path.read_text("utf-8").count("\n") + 1
        if often[path.name] == 1 and n > 10:
            yield path.name, path.relative_to(folder).as_posix(), range(1, n + 1)


def symbols_in(folder: Path) -> Iterator[tuple[str, str, range]]:
    """Yield (name, file, lines) for functions and classes that are defined once, tests left out."""
    defined: defaultdict[str, list[tuple[str, range]]] = defaultdict(list)
    for path in folder.rglob("*.py"):
        file = path.relative_to(folder).as_posix()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
                defined[node.name].append((file, range(first, (node.end_lineno or first) + 1)))
    for name, places in defined.items():
        file, lines = places[0]
        looks_like_code = "_" in name or re.search(r"[a-z][A-Z]", name)
        if len(places) == 1 and looks_like_code and name[0] != "_" and "test" not in file:
            yield name, file, lines


def codes_in(folder: Path) -> Iterator[tuple[str, str, range]]:
    """Yield (code, file, lines) for what looks like a code and stands once in all texts."""
    places: dict[str, tuple[str, range]] = {}
    often: Counter[str] = Counter()
    for path in folder.rglob("*"):
        if path.suffix not in TEXTS:
            continue
        file = path.relative_to(folder).as_posix()
        for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1):
            for written in CODE.findall(line):
                often[written.lower()] += 1
                places[written] = file, range(number, number + 1)
    for code, (file, lines) in places.items():
        if often[code.lower()] == 1 and looks_like_a_code(code):
            yield code, file, lines


def looks_like_a_code(written: str) -> bool:
    """Return whether it has letters and digits, or many digits and a sign, or is an option or an address."""
    letters, digits = (sum(map(test, written)) for test in (str.isalpha, str.isdigit))
    if len(written) < 5 or written.replace(".", "").isdigit() or VERSION.match(written):
        return False
    if SYMBOL.fullmatch(written):  # which is defined elsewhere
        return False
    has_sign = any(sign in written for sign in "-/:")
    return bool((letters and digits) or (digits >= 6 and has_sign) or written[:2] == "--" or "@" in written)  # fmt: skip


def measure(
    index: clew.Index, folder: Path, questions: Sequence[Question], recipe: str
) -> dict[str, list[int]]:
    """Return the place of the first passage that answers each question, from 1; 0 for none."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    method = method_of(recipe, "")
    for question in questions:
        items = index.ask(question.text, recipe=method, limit=max(CUTS)).items
        ranked = sorted(items, key=lambda item: -item.score)
        hits = [i for i, item in enumerate(ranked, 1) if answers(item, folder, question)]
        if question.kind == "code":
            hits = [i for i, item in enumerate(ranked, 1) if question.name in item.text]
        places[question.kind].append(hits[0] if hits else 0)
    return places


def answers(item: clew.Item, folder: Path, question: Question) -> bool:
    """Return whether a passage begins among the gold lines."""
    if item.document != question.file or item.span is None:
        return False
    before = (folder / question.file).read_text("utf-8")[: item.span[0]]
    return before.count("\n") + 1 in question.lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", metavar="FOLDER", type=Path, nargs="+")
    parser.add_argument("--questions", type=int, default=60, help="of each kind and folder")
    parser.add_argument("--recipes", nargs="+", default=["hipporag", "fused", "bm25"])
    options = parser.parse_args()
    for folder in options.folders:
        if not folder.is_dir():
            raise FileNotFoundError(f"{folder} is no folder")
    together: dict[str, defaultdict[str, list[int]]] = {
        recipe: defaultdict(list) for recipe in options.recipes
    }
    for folder in options.folders:
        index = clew.Index.from_documents([folder])
        questions = questions_on(folder, options.questions)
        for recipe, of_all in together.items():
            for kind, places in measure(index, folder, questions, recipe).items():
                of_all[kind] += places
    print("| questions | recipe | " + " | ".join(f"hit@{k}" for k in CUTS) + " |")
    print("|---|---|" + "---|" * len(CUTS))
    for kind in TEMPLATES:
        for recipe, of_all in together.items():
            if n := len(of_all[kind]):
                hits = (sum(0 < place <= k for place in of_all[kind]) / n for k in CUTS)
                figures = " | ".join(f"{hit:.3f}" for hit in hits)
                print(f"| {n}, {kind} | `{recipe}` | {figures} |")


if __name__ == "__main__":
    main()
