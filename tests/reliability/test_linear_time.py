"""Every pattern and every parser takes time in proportion to the length of what it reads.

What is tested is found by walking the modules and tables, so that a new pattern or format is tested
too. The texts are made of the pattern itself: for each repetition, what leads to it and what it
repeats, and single signs.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from clew import Document, Plain, Splitter
from clew.cite import citations, quotes
from clew.context import Context
from clew.documentation.fences import language_of
from clew.documentation.markdown import (
    escape_markdown,
    examples_in,
    prose_sentences,
    prose_with_literals,
    safe_markdown,
)
from clew.documentation.markup import markup_to_markdown
from clew.items import Item
from clew.model import parse_json
from clew.read import Names, Passage, Symbols, Terms, keep_whole
from clew.read.extract.symbol_reading import find_symbols
from clew.read.formats import FORMATS, Format, SourceFile, UnreadableFileError
from clew.read.header_metadata import headings_above
from clew.render import STYLES, Render
from clew.text.estimate import cumulative_estimate, estimate_tokens
from clew.text.words import contains_phrase, fold_case, terms, words
from tests.reliability import growth

PACKAGES = ("clew",)
INTEGRATIONS = ("langchain_clew", "llama_index.retrievers.clew", "llama_index.postprocessor.clew")
FLOOR = 0.004  # seconds, at the shortest lengths
SHORT_PATTERN, SHORT, LONG = 4096, 2048, 1_000_000
UNITS = (
    "a", "aB", "a_", "A", "1", " ", "\n", "a ", "A. ", "a\n", "\n\n a", "[", "![", "[a](", "]", "(",
    "<", "<a ", "</a>", "<div>", "<ul><li>", "<code>", "<!--", "`", "``a", "*a", "_a", "> ", "- a\n",
    "# a\n", "{", '{"a":', '"', "'", ",", '"a,', "| a |\n", "|-", "=\n", "a\n=\n", "-", "~~~\n",
    "1. a\n\n", ":a:`", "`a <b>`_ ", "é", "中", "ก", "\u0301", "a;", "def f():\n  a\n", "http://a.b/", "-\n", "\\",
)  # fmt: skip
FEW_UNITS = ("aB", " ", "![", "`", "<ul><li>", "|-", "a\n", "(")


@pytest.mark.parametrize(
    "used", growth.used_patterns(*PACKAGES), ids=lambda used: used.place.removeprefix("clew.")
)
def test_patterns(used: growth.UsedPattern, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "FLOOR", FLOOR)
    attacks = growth.attacks(used.pattern, growth.FEW_CHARACTERS)
    chosen = random.Random(1).sample(attacks, min(len(attacks), 50))
    for prefix, unit in chosen:
        growth.check_linear(used.run, prefix, unit, "!", SHORT_PATTERN)


@pytest.mark.slow
@pytest.mark.parametrize(
    "used", growth.used_patterns(*PACKAGES), ids=lambda used: used.place.removeprefix("clew.")
)
def test_patterns_up_to_a_million_letters(used: growth.UsedPattern) -> None:
    attacks = growth.attacks(used.pattern)
    for prefix, unit in attacks:
        growth.check_linear(used.run, prefix, unit, "!", 16_384)
    for prefix, unit in random.Random(1).sample(attacks, min(len(attacks), 40)):
        growth.check_linear(used.run, prefix, unit, "!", LONG)


@pytest.mark.slow
@pytest.mark.parametrize("package", INTEGRATIONS)
def test_patterns_of_the_integrations(package: str) -> None:
    pytest.importorskip(package)
    for used in growth.used_patterns(package):
        for prefix, unit in growth.attacks(used.pattern):
            growth.check_linear(used.run, prefix, unit, "!", 16_384)


def test_finds_a_quadratic_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "FLOOR", FLOOR)
    used = growth.UsedPattern("here", re.compile(r"[ \t]*\|"), only_matches=False)
    with pytest.raises(growth.TooSteepError):
        growth.check_linear(used.run, "", " ", "!", SHORT_PATTERN)


@pytest.mark.parametrize(
    ("seconds", "is_steep"),
    [
        (lambda n: 1e-6 * n, False),
        (lambda n: 1e-6 * n * (5 if n > 9_000 else 1), False),  # one step
        (lambda n: 1e-8 * n**1.5, True),
        (lambda n: 1e-6 * n + 1e-9 * n**2, True),
        (lambda n: 1e-12 * n**3, True),
    ],
)
def test_what_grows_too_fast_is_no_single_step(seconds, is_steep, monkeypatch):
    monkeypatch.setattr(growth, "processor_seconds", lambda call, repeats=1: call())
    found = False
    try:
        growth.check_linear(lambda text: seconds(len(text)), "", "a", "", LONG)
    except growth.TooSteepError:
        found = True
    assert found == is_steep


def _reader(format: Format, folder: Path) -> Callable[[str], object]:
    file = folder / f"x{(format.suffixes or ('.txt',))[0]}"

    def read(text: str) -> object:
        file.write_bytes(raw := text.encode())
        try:
            return list(format.read(SourceFile(file, file.name, raw)))
        except UnreadableFileError:
            return None

    return read


def _json(text: str) -> object:
    try:
        return parse_json(text)
    except ValueError:
        return None


def _item(text: str) -> Item:
    return Item("a", text, 1.0, "seed", "passage", 5)


def _context(text: str) -> Context:
    return Context((_item(text),), text, 5, None, text[:100], "dense")


def _symbols(text: str, format: str) -> object:
    return Symbols().triples([Passage("a", text, document="a", format=format)])


FUNCTIONS: dict[str, Callable[[str], object]] = {
    "Plain": Plain(),
    "Names": lambda text: Names(years=True).triples([Passage("a", text, text[:200])]),
    "Terms": lambda text: Terms(max_capitals=1).triples([Passage("a", text), Passage("b", text)]),
    "Symbols": lambda text: _symbols(text, "python"),
    **(
        {"Symbols of java": lambda text: _symbols(text, "java")}
        if FORMATS["java"].is_installed()
        else {}
    ),
    "Symbols in prose": lambda text: list(find_symbols(text, {"a": "a"})),
    "sentences": lambda text: Splitter(sentences=True)(Document("a", text)),
    "keep_whole": lambda text: keep_whole(Document("a", text, format="markdown")),
    "words": words,
    "terms": terms,
    "fold_case": fold_case,
    "contains_phrase": lambda text: contains_phrase("a b", text),
    "estimate": estimate_tokens,
    "cumulative_estimate": cumulative_estimate,
    "escape_markdown": escape_markdown,
    "prose_with_literals": prose_with_literals,
    "prose_sentences": lambda text: prose_sentences(text, "text"),
    "examples_in": examples_in,
    "markup_to_markdown": markup_to_markdown,
    "safe_markdown": safe_markdown,
    "language_of": lambda text: language_of(Document("a", text)),
    "headings_above": lambda text: headings_above(text, {"header_path": f"/{text}"}),
    "citations": lambda text: citations(text, [_item(text)]),
    "quotes": lambda text: quotes(_context(text)),
    "parse_json": _json,
    **{f"render {style}": partial(Render(style).entry, number=1) for style in STYLES},
}


def functions(folder: Path) -> dict[str, Callable[[str], object]]:
    """Return every function that reads a text of a stranger, by what it is called."""
    found = dict(FUNCTIONS)
    for name, format in FORMATS.items():
        if not format.is_installed():
            continue
        found[f"read {name}"] = _reader(format, folder)
        if format.outline:
            found[f"split {name}"] = lambda text, name=name: Splitter()(
                Document("a", text, format=name)
            )
        if format.declared_title:
            found[f"title {name}"] = format.declared_title
    return found


NAMES = sorted(functions(Path()))
ALIKE = ("javascript", "typescript", "tsx", "rust", "c", "cpp")  # are read as go and java are


@pytest.mark.parametrize("name", [name for name in NAMES if name.split()[-1] not in ALIKE])
def test_readers(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "FLOOR", 0.03)
    for unit in FEW_UNITS:
        growth.check_linear(functions(tmp_path)[name], "", unit, "", SHORT)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_readers_of_long_texts(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "FLOOR", 0.2)
    for unit in UNITS:
        growth.check_linear(functions(tmp_path)[name], "", unit, "", 65_536)
    for unit in ("a", " ", "a ", "a\n"):
        growth.check_linear(functions(tmp_path)[name], "", unit, "", LONG)


IDENTIFIER = re.compile(  # as the program had it: right, but quadratic
    r"[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+|[A-Za-z]*[a-z][A-Z][A-Za-z0-9]*|[A-Z]{2,}[a-z][A-Za-z0-9]*"
)


def test_identifiers_are_those_of_the_definition() -> None:
    from clew.text.words import CODE_NAME, _identifier_in

    draw = random.Random(3)
    for _ in range(5000):
        text = "".join(draw.choices("aabABZ01__ .é", k=draw.randrange(1, 16)))
        names = [name for run in CODE_NAME.findall(text) if (name := _identifier_in(run))]
        assert names == IDENTIFIER.findall(text), text
