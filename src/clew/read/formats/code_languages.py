"""The languages of source code that are read, and their grammars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Language(NamedTuple):
    """A language: the module of its grammar, the function in it, and the suffixes of its files."""

    module: str
    function: str
    suffixes: tuple[str, ...]


LANGUAGES: Mapping[str, Language] = {
    "javascript": Language("tree_sitter_javascript", "language", (".js", ".mjs", ".cjs", ".jsx")),
    "typescript": Language(
        "tree_sitter_typescript", "language_typescript", (".ts", ".mts", ".cts")
    ),
    "tsx": Language("tree_sitter_typescript", "language_tsx", (".tsx",)),
    "java": Language("tree_sitter_java", "language", (".java",)),
    "go": Language("tree_sitter_go", "language", (".go",)),
    "rust": Language("tree_sitter_rust", "language", (".rs",)),
    "c": Language("tree_sitter_c", "language", (".c", ".h")),
    "cpp": Language("tree_sitter_cpp", "language", (".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx")),
}
CODE_FORMATS = frozenset(("python", *LANGUAGES))  # the formats of source code
