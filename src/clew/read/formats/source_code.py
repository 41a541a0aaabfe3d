"""The outline of source code other than Python, by tree-sitter grammars (the extra `code`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple, Protocol

from clew.document import Document
from clew.read.formats.outline import Block, Outline, Share
from clew.read.formats.source_file import SourceFile
from clew.read.formats.statements import Statement, outline_parts, shorten_signature
from clew.text.code_languages import HINT, LANGUAGES
from clew.text.spans import paragraphs

DEFINITIONS = frozenset((
    "abstract_class_declaration", "annotation_type_declaration", "class_declaration",
    "class_specifier", "constructor_declaration", "enum_declaration", "enum_item",
    "function_declaration", "function_definition", "function_item",
    "generator_function_declaration", "impl_item", "interface_declaration", "internal_module",
    "macro_definition", "method_declaration", "method_definition", "mod_item", "module",
    "namespace_definition", "record_declaration", "struct_item", "struct_specifier", "trait_item",
    "type_declaration", "union_item",
))  # fmt: skip
VALUES = ("arrow_function", "function_expression", "generator_function", "class")  # with a name
WRAPPERS = (
    "export_statement",
    "template_declaration",
    "lexical_declaration",
    "variable_declaration",
    "variable_declarator",
)
COMMENTS = ("comment", "line_comment", "block_comment")
# What begins a line in C++ and not in C.
_CPP = re.compile(
    r"^[ \t]*(?:class[ \t]+(?:\w+[ \t]+)?\w+[ \t]*(?:final[ \t]*)?(?:\{|:(?!:))|template[ \t]*<"
    r"|namespace(?:[ \t]+[\w:]+)?\s*\{|(?:public|protected|private)[ \t]*:)",
    re.MULTILINE,
)
# A macro before the name of a class, as libraries mark what they export; the grammar knows none.
_EXPORTED = re.compile(
    rb"^([ \t]*(?:class|struct)[ \t]+)[A-Z][A-Z0-9_]*_[A-Z0-9_]+"
    rb"(?=[ \t]+\w+[ \t]*(?:final[ \t]*)?[:{;])",
    re.MULTILINE,
)
# A parser reports each 100 of its steps. Code takes 1 report for 30 to 60 bytes; where it makes no
# sense of a text, the parser tries ever more readings of it, in time that grows with a power of the
# length.
REPORTS_PER_BYTE, MIN_REPORTS = 0.2, 1000
CHUNK = 65536  # bytes that the parser is given at once
MAX_DEPTH = 60  # levels of nesting that are looked at; minified code has hundreds


class SyntaxNode(Protocol):
    """What is used of a node of tree-sitter, which is no dependency of clew."""

    @property
    def type(self) -> str: ...
    @property
    def start_byte(self) -> int: ...
    @property
    def end_byte(self) -> int: ...
    @property
    def child_count(self) -> int: ...
    @property
    def named_children(self) -> Sequence[SyntaxNode]: ...
    def child_by_field_name(self, name: str, /) -> SyntaxNode | None: ...


def read(file: SourceFile, language: str) -> Iterator[Document]:
    """Yield the file as one document; one that the parser makes no sense of is read as text.

    A file `.h` is read as C++ where it is written in it.
    """
    text = file.text()
    if language == "c" and file.path.suffix.lower() == ".h" and _is_cpp(text):
        language = "cpp"
    if parse_source(text.encode("utf-8", "surrogatepass"), language) is None:
        file.report(f"read as text: the parser for {language} makes no sense of it")
        yield file.document(text)
        return
    yield file.document(text, language, title=file.id)


def _is_cpp(text: str) -> bool:
    """Return whether a header is one of C++ that can be read, by what C does not have.

    Example:
        >>> _is_cpp("class Tide : public Sea {};"), _is_cpp("struct tide { int n; };")
        (True, False)
    """
    return bool(_CPP.search(text)) and find_spec(LANGUAGES["cpp"].module) is not None


def outline(text: str, share: Share, *, language: str) -> Outline:
    """Return the headings, blocks and links of a program; its links are the files it imports.

    Args:
        text: The program.
        share: (start, end) -> the share of a passage that text[start:end] fills.
        language: A key of `LANGUAGES`.

    Raises:
        ImportError: The grammar of the language is not installed.
    """
    raw = text.encode("utf-8", "surrogatepass")
    program = _Program(raw, byte_places(text))
    root = parse_source(raw, language)
    if root is None:
        return Outline(tuple(Block(start, end, "lines") for start, end in paragraphs(text)))
    statements = tuple(program.statement(node, 0) for node in _named_children(root))
    parts = outline_parts(text, statements, share)
    return Outline(tuple(parts), tuple(program.imported_files(root)))


def parse_source(raw: bytes, language: str) -> SyntaxNode | None:
    """Return the root of the syntax tree; None where that takes more steps than code does.

    Args:
        raw: The program.
        language: A key of `LANGUAGES`.

    Raises:
        ImportError: The grammar of the language is not installed.
    """
    if language == "cpp":
        raw = _EXPORTED.sub(_blank, raw)
    parser, reports = _new_parser(language), 0
    max_reports = MIN_REPORTS + REPORTS_PER_BYTE * len(raw)

    def is_too_long(_offset: int, _has_error: bool = False) -> bool:
        nonlocal reports
        reports += 1
        return reports > max_reports

    def chunk_at(offset: int, _point: object) -> bytes:
        return raw[offset : offset + CHUNK]

    try:
        root: SyntaxNode = parser.parse(chunk_at, progress_callback=is_too_long).root_node
    except ValueError:  # the parse was stopped
        return None
    return root


def _blank(match: re.Match[bytes]) -> bytes:
    return match[1] + b" " * (match.end() - match.end(1))


@lru_cache
def find_grammar(language: str) -> Any:  # noqa: ANN401  # tree-sitter may be missing
    """Return the grammar of a language, as tree-sitter has it.

    Args:
        language: A key of `LANGUAGES`.

    Raises:
        ImportError: It is not installed.
    """
    grammar = LANGUAGES[language]
    try:
        import tree_sitter

        source = getattr(import_module(grammar.module), grammar.function)()
    except ImportError as error:
        raise ImportError(f"to read {language} by its syntax: {HINT}") from error
    return tree_sitter.Language(source)


def _new_parser(language: str) -> Any:  # noqa: ANN401  # tree-sitter may be missing
    """Return a parser that no other thread has: it asks for its text, and others run meanwhile."""
    grammar = find_grammar(language)
    import tree_sitter

    return tree_sitter.Parser(grammar)


class _Program(NamedTuple):
    """A program's bytes, and place: offset in the bytes -> place in the text."""

    raw: bytes
    place: Callable[[int], int]

    def statement(self, node: SyntaxNode, depth: int) -> Statement:
        definition = _definition_in(node)
        body = (definition or node).child_by_field_name("body")
        children: tuple[Statement, ...] = ()
        if depth < MAX_DEPTH:
            if body is not None:
                inner = _named_children(body)
            elif definition is None:
                inner = [child for child in _named_children(node) if child.child_count]
            else:
                inner = []
            children = tuple(self.statement(child, depth + 1) for child in inner)
        heading = None if definition is None else self._heading(node, body)
        return Statement(self.place(node.start_byte), self.place(node.end_byte), heading, children)

    def _heading(self, node: SyntaxNode, body: SyntaxNode | None) -> str | None:
        """Return the signature of a definition: its text up to its body, or its first line."""
        if body is not None:
            end = body.start_byte
        else:
            line_end = self.raw.find(b"\n", node.start_byte)
            end = node.end_byte if line_end < 0 else min(node.end_byte, line_end)
        signature = self.raw[node.start_byte : end].decode("utf-8", "replace")
        return shorten_signature(signature.rstrip(" \t\r\n{;:").removesuffix("=>")) or None

    def imported_files(self, root: SyntaxNode) -> Iterator[tuple[int, str]]:
        """Yield (place, path) of the files that the program imports by their paths."""
        for node in root.named_children:
            target = node.child_by_field_name("source")
            if target is None and node.type == "preproc_include":
                target = node.child_by_field_name("path")
            if target is not None:
                path = self.raw[target.start_byte : target.end_byte].decode("utf-8", "replace")
                yield self.place(node.start_byte), path.strip("\"'`<>")


def _definition_in(node: SyntaxNode) -> SyntaxNode | None:
    """Return what a statement defines, or None.

    A definition may be wrapped: in an export, a template, or a declaration of one name.
    """
    for _ in range(3):
        if node.type in DEFINITIONS:
            return node if _is_whole_definition(node) else None
        if node.type in VALUES:
            return node
        if node.type not in WRAPPERS:
            return None
        inner = node.child_by_field_name("declaration") or node.child_by_field_name("value")
        if inner is None:
            children = (c for c in reversed(node.named_children) if c.type not in COMMENTS)
            inner = next(children, None)
        if inner is None:
            return None
        node = inner
    return node if node.type in VALUES else None


def _is_whole_definition(node: SyntaxNode) -> bool:
    has_body = node.child_by_field_name("body") is not None
    named = (
        has_body
        or node.type == "impl_item"
        or node.child_by_field_name("name") is not None
        or node.child_by_field_name("declarator") is not None
    )
    return named and (has_body or "struct_specifier" not in node.type)


def _named_children(node: SyntaxNode) -> list[SyntaxNode]:
    return [
        child
        for child in node.named_children
        if child.type not in COMMENTS and child.end_byte > child.start_byte
    ]


def byte_places(text: str) -> Callable[[int], int]:
    """Return the function: offset in the bytes of a text -> place in the text.

    Example:
        >>> byte_places("é = 1")(2)
        1
    """
    if text.isascii():
        return lambda offset: offset
    places = {0: 0}
    offset = 0
    for i, character in enumerate(text, 1):
        code = ord(character)
        offset += 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4
        places[offset] = i
    return lambda offset: places[offset]
