"""The outline of source code in other languages, by their tree-sitter grammars (the extra `code`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from clew.read.formats.outline import Outline
from clew.read.formats.statements import Statement, headed_by, parts_of

# the module of a grammar, and the function in it
LANGUAGES = {
    "javascript": ("tree_sitter_javascript", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "java": ("tree_sitter_java", "language"),
    "go": ("tree_sitter_go", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "c": ("tree_sitter_c", "language"),
    "cpp": ("tree_sitter_cpp", "language"),
}
SUFFIXES = {
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), "javascript"),
    **dict.fromkeys((".ts", ".mts", ".cts"), "typescript"),
    ".tsx": "tsx",
    ".java": "java",
    ".go": "go",
    ".rs": "rust",
    **dict.fromkeys((".c", ".h"), "c"),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx"), "cpp"),
}
HINT = "pip install 'clew[code]'"
DEFINITIONS = frozenset((
    "function_declaration", "generator_function_declaration", "class_declaration", "abstract_class_declaration", "method_definition",
    "interface_declaration", "enum_declaration", "record_declaration", "method_declaration", "constructor_declaration",
    "annotation_type_declaration", "internal_module", "module", "type_declaration", "function_item", "struct_item", "enum_item",
    "union_item", "trait_item", "impl_item", "mod_item", "macro_definition", "function_definition", "class_specifier",
    "struct_specifier", "namespace_definition",
))  # fmt: skip
FUNCTIONS = (
    "arrow_function",
    "function_expression",
    "generator_function",
    "class",
)  # what a name may be declared to be
COMMENTS = ("comment", "line_comment", "block_comment")
DEEPEST = 60  # levels of nesting that are looked at; minified code has hundreds


def available(language: str) -> bool:
    """Whether what this language needs is installed."""
    return find_spec("tree_sitter") is not None and find_spec(LANGUAGES[language][0]) is not None


def outline(text: str, language: str, share: Callable[[int, int], float]) -> Outline:
    """Return what a program consists of, and the files that it imports by their paths.

    Raises:
        ImportError: the language's grammar is not installed.
    """
    raw = text.encode("utf-8", "surrogatepass")
    root = _parser(language).parse(raw).root_node
    place = _places(text, raw)
    statements = tuple(_statement(node, raw, place, 0) for node in _within(root))
    return Outline(tuple(parts_of(text, statements, share)), tuple(_imports(root, raw, place)))


@lru_cache
def _parser(language: str) -> Any:
    name, function = LANGUAGES[language]
    try:
        from tree_sitter import Language, Parser

        grammar = Language(getattr(import_module(name), function)())
    except ImportError as error:
        raise ImportError(f"to read {language} by its syntax: {HINT}") from error
    return Parser(grammar)


def _statement(node: Any, raw: bytes, place: Callable[[int], int], depth: int) -> Statement:
    defined = _defined(node)
    body = (defined or node).child_by_field_name("body")
    inside: tuple[Statement, ...] = ()
    if depth < DEEPEST:
        if body is not None:
            inside = tuple(_statement(child, raw, place, depth + 1) for child in _within(body))
        elif defined is None:
            inside = tuple(
                _statement(child, raw, place, depth + 1)
                for child in _within(node)
                if child.child_count
            )
    heading = None
    if defined is not None:
        behind = (
            body.start_byte
            if body is not None
            else min(node.end_byte, raw.find(b"\n", node.start_byte) % (len(raw) + 1))
        )
        heading = headed_by(
            raw[node.start_byte : behind]
            .decode("utf-8", "replace")
            .rstrip(" \t\r\n{;:")
            .removesuffix("=>")
        )
    return Statement(place(node.start_byte), place(node.end_byte), heading or None, inside)


def _defined(node: Any) -> Any:
    """What a statement defines, through what may stand around it: an export, a template, a declaration of one name."""
    for _ in range(3):
        if node.type in DEFINITIONS:
            named = node.type == "impl_item" or any(
                node.child_by_field_name(f) is not None for f in ("name", "declarator", "body")
            )
            return (
                node
                if named
                and (
                    node.child_by_field_name("body") is not None
                    or "struct_specifier" not in node.type
                )
                else None
            )
        if node.type in FUNCTIONS:
            return node
        if node.type not in (
            "export_statement",
            "template_declaration",
            "lexical_declaration",
            "variable_declaration",
            "variable_declarator",
        ):
            return None
        inner = node.child_by_field_name("declaration") or node.child_by_field_name("value")
        node = inner or next(
            (child for child in reversed(node.named_children) if child.type not in COMMENTS), None
        )
        if node is None:
            return None
    return node if node.type in FUNCTIONS else None


def _within(node: Any) -> list[Any]:
    return [
        child
        for child in node.named_children
        if child.type not in COMMENTS and child.end_byte > child.start_byte
    ]


def _imports(root: Any, raw: bytes, place: Callable[[int], int]) -> Iterator[tuple[int, str]]:
    """Files named by their paths, relative to the one that names them."""
    for node in root.named_children:
        named = node.child_by_field_name("source") or (
            node.child_by_field_name("path") if node.type == "preproc_include" else None
        )
        if named is not None:
            yield (
                place(node.start_byte),
                raw[named.start_byte : named.end_byte].decode("utf-8", "replace").strip("\"'`<>"),
            )


def _places(text: str, raw: bytes) -> Callable[[int], int]:
    """From a place in the bytes to that in the text."""
    if text.isascii():
        return lambda at: at
    starts = [0]
    for sign in text:
        code = ord(sign)
        starts.append(
            starts[-1] + (1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4)
        )
    of = {at: i for i, at in enumerate(starts)}
    return lambda at: of[at]
