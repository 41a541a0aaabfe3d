"""Source code whose functions are looked for by what their documentation said, before it was removed.

A function's question is the first sentence of its documentation. The documentation of the functions asked for, and of others
of the same name in the same file, is taken out of the source; all other documentation stays.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from clew.measure.quotes import words_of
from tests.benchmarks.prepare.material import Draft, Material, Place, digest, drawn, in_drawn_order
from tests.benchmarks.prepare.words import quotes_along

BLOCK = r"/\*\*?(?P<text>(?:[^*]|\*(?!/))*)\*/[ \t]*\n"
PATTERNS = {  # doc: the comment's lines, head: the declaration up to its brace, by suffix
    ".java": rf"^(?P<doc>[ \t]*{BLOCK})(?:[ \t]*@[^\n]*\n)*"
    r"(?P<head>[ \t]*[\w<][^;{}=\n]*?\b(?P<name>\w+)\([^;{}]*\{)",
    ".js": rf"^(?P<doc>[ \t]*{BLOCK})"
    r"(?P<head>[ \t]*(?:(?:export|default|async|static) )*(?:function\*? )?(?P<name>[\w$]+)"
    r"\([^;]*?\)[ \t]*\{$)",
    ".go": r"^(?P<doc>(?://[^\n]*\n)+)(?P<head>func (?:\([^)]*\) )?(?P<name>\w+)[^\n]*\{$)",
    ".rs": r"^(?P<doc>(?:[ \t]*///[^\n]*\n)+)(?:[ \t]*#\[[^\n]*\n)*"
    r"(?P<head>[ \t]*(?:pub(?:\([^)]*\))? )?(?:const |unsafe |async )*fn (?P<name>\w+)[^;{}]*\{)",
    ".c": rf"^(?P<doc>{BLOCK})(?P<head>[A-Za-z_][\w \t*]*?\b(?P<name>\w+)\([^;{{}}]*\)\s*\{{)",
}
FUNCTIONS = {suffix: re.compile(pattern, re.MULTILINE) for suffix, pattern in PATTERNS.items()}
LEADER = re.compile(r"^[ \t]*(?:/\*\*?|///?|\*(?!/))?[ \t]?", re.MULTILINE)
INLINE = re.compile(r"\{@\w+\s+([^}]*)\}|<[^>\n]*>|\*/|[`*]|:\w+:(?=`)")
PARAGRAPH_END = re.compile(r"\n\s*\n|\n\s*(?:@|[-=]{3,}|Parameters\b|Args\b|:param)")
SENTENCE_END = re.compile(r"(?<!e\.g)(?<!i\.e)[.!?](?=\s|$)")
KEYWORDS = frozenset(("if", "for", "while", "switch", "catch", "return", "constructor"))
MAX_WORDS = 40  # of a sentence
PER_HALF = 50  # questions
PER_FILE = 4  # questions
MAX_HOMES = 2  # files that document a function of one name: others implement what many share


@dataclass(frozen=True)
class Function:
    """A documented function.

    Attributes:
        path: Its file.
        name: Its name.
        doc: From where to where its documentation stands in the file, in characters.
        sentence: The first sentence of it.
        code: Its source without the documentation.
    """

    path: str
    name: str
    doc: tuple[int, int]
    sentence: str
    code: str


def prepare(files: Mapping[str, str], name: str, per_half: int = PER_HALF) -> Material:
    """Return the files without the documentation of the functions that are asked for.

    Args:
        files: The sources by path.
        name: Of the set.
        per_half: So many questions a half.
    """
    functions = [own for path, text in files.items() for own in _functions(path, text)]
    homes = Counter(name for _, name in {(own.path, own.name) for own in functions})
    asked = Counter(words_of(own.sentence) for own in functions)
    drafts = {
        Draft(own.sentence, tuple(_places(own, functions)), own.path): own
        for own in functions
        if _says_enough(own) and asked[words_of(own.sentence)] == 1 and homes[own.name] <= MAX_HOMES
    }
    seen: Counter[str] = Counter()
    spread = []
    for draft in in_drawn_order(drafts, name):
        seen[draft.group] += 1
        if seen[draft.group] <= PER_FILE and draft.places:
            spread.append(draft)
    chosen = drawn(spread, name, per_half + per_half // 4)  # some fall later
    gone = {(drafts[draft].path, drafts[draft].name) for draft in chosen}
    cuts: dict[str, list[tuple[int, int]]] = {}
    for own in functions:
        if (own.path, own.name) in gone:
            cuts.setdefault(own.path, []).append(own.doc)
    texts = {path: _without(text, cuts.get(path, [])) for path, text in files.items()}
    return Material(texts, chosen, per_half=per_half)


def prepare_queries(
    codes: str, queries: Iterable[str], others: int, per_file: int = 25
) -> Material:
    """Return modules of Python functions, and queries of a search engine that people judged to want one.

    Args:
        codes: JSON: numbers by function.
        queries: JSON each: records with `doc` (the query), `retrieval_idx` (the function's number).
        others: So many functions that no query wants are in the folder, too.
        per_file: Functions of a module.
    """
    numbers: dict[str, int] = json.loads(codes)
    by_number = {number: code for code, number in numbers.items()}
    records = [record for text in queries for record in json.loads(text)]
    wanted = {record["retrieval_idx"] for record in records}
    rest = sorted(set(by_number) - wanted, key=lambda number: digest("function", str(number)))
    kept = sorted(wanted | set(rest[:others]))
    file_of = {number: f"functions_{i // per_file + 1:03}.py" for i, number in enumerate(kept)}
    files: dict[str, str] = {}
    for number, path in file_of.items():
        files[path] = f"{files[path]}\n\n" if path in files else ""
        files[path] += f"{by_number[number].strip()}\n"
    drafts = [
        Draft(
            record["doc"],
            tuple(
                Place(file_of[number], quote)
                for quote in quotes_along([by_number[number]], every=40)
            ),
            file_of[number],
        )
        for record in records
        for number in [record["retrieval_idx"]]
    ]
    return Material(files, drafts, min_words=4)


def first_sentence(comment: str, name: str) -> str:
    """Return the first sentence of a comment without its marks and without the name that it starts with."""
    text = f"\n{LEADER.sub('', comment).strip()}\n\n"
    text = PARAGRAPH_END.split(text, maxsplit=1)[0]
    text = " ".join(INLINE.sub(lambda match: match[1] or " ", text).split())
    text = SENTENCE_END.split(text, maxsplit=1)[0]
    text = re.sub(rf"^{re.escape(name)}(?:\(\))?\W*\s", "", text)
    return "" if text.endswith(":") else text.strip(" -–")


def _says_enough(own: Function) -> bool:
    """Return whether the sentence is one to ask with: of some words, and without the function's name.

    A name that is a common word may stand in it.
    """
    words = len(own.sentence.split())
    is_identifier = "_" in own.name.strip("_") or any(letter.isupper() for letter in own.name[1:])
    names_itself = is_identifier and own.name.lower() in own.sentence.lower()
    is_remark = own.sentence.startswith(("TODO", "Deprecated", "See "))
    return 5 <= words <= MAX_WORDS and not names_itself and not is_remark


def _places(own: Function, functions: Iterable[Function]) -> Iterator[Place]:
    """Yield the places of the function and of those that bear its name in its file."""
    for other in functions:
        if (other.path, other.name) == (own.path, own.name):
            yield from (Place(own.path, quote) for quote in quotes_along([other.code], every=40))


def _functions(path: str, text: str) -> Iterator[Function]:
    suffix = PurePosixPath(path).suffix
    find = _python_functions if suffix == ".py" else _matched_functions
    return find(path, text)


def _matched_functions(path: str, text: str) -> Iterator[Function]:
    for match in FUNCTIONS[PurePosixPath(path).suffix].finditer(text):
        if (name := match["name"]) in KEYWORDS:
            continue
        head = match["head"]
        indent = head[: len(head) - len(head.lstrip())]
        end = re.compile(rf"^{indent}\}}", re.MULTILINE).search(text, match.end("head"))
        code = text[match.start("head") : end.start() if end else match.end("head")]
        yield Function(path, name, match.span("doc"), first_sentence(match["doc"], name), code)


def _python_functions(path: str, text: str) -> Iterator[Function]:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or len(node.body) < 2:
            continue
        first = node.body[0]
        if (doc := ast.get_docstring(node)) is None or first.end_lineno is None:
            continue
        span = starts[first.lineno - 1], starts[first.end_lineno]
        head, body = (
            text[starts[node.lineno - 1] : span[0]],
            text[span[1] : starts[node.end_lineno or 0]],
        )
        yield Function(path, node.name, span, first_sentence(doc, node.name), head + body)


def _without(text: str, cuts: list[tuple[int, int]]) -> str:
    for start, end in sorted(cuts, reverse=True):
        text = text[:start] + text[end:]
    return text
