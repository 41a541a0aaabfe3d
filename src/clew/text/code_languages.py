"""The languages of source code that are read, and their grammars."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any, NamedTuple

from clew.text.metadata_text import text_under


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
HINT = "pip install 'clew[code]'"  # how to install the grammars
PYTHON_SUFFIXES = (".py", ".pyi", ".pyw")
CODE_FORMATS = frozenset(("python", *LANGUAGES))  # the formats of source code
CODE_SUFFIXES = frozenset(
    (*PYTHON_SUFFIXES, *chain.from_iterable(one.suffixes for one in LANGUAGES.values()))
)
# Files of source code, also in languages that no grammar here reads: they are no documents.
_UNREAD = (
    "rb php cs fs vb kt kts scala groovy swift m mm dart lua pl pm r jl hs ml mli ex exs "
    "erl clj cljs scm rkt lisp el zig nim d v sv vhd asm s sh bash zsh fish ps1 bat cmd "
    "vim awk tcl sql proto cu vue svelte css scss less"
)
FILE_SUFFIXES_OF_CODE = CODE_SUFFIXES | {f".{suffix}" for suffix in _UNREAD.split()}
FILE_NAME_KEYS = ("file_name", "file_path", "path", "source")  # metadata of loaders and frameworks


def is_source_code(format: str, metadata: Mapping[str, Any]) -> bool:
    """Return whether a text is source code, by its format or by the file that its metadata names.

    A piece of a file that a framework has cut is "text" where pieces cannot be outlined.

    Example:
        >>> is_source_code("python", {}), is_source_code("text", {"source": "src/a.rs"})
        (True, True)
        >>> is_source_code("text", {"source": "a.txt"}), is_source_code("markdown", {"path": "a.c"})
        (False, False)
    """
    if format != "text":
        return format in CODE_FORMATS
    for key in FILE_NAME_KEYS if metadata else ():  # of every document: a generator takes longer
        name = text_under(metadata, key)
        if name and name[name.rfind(".") :].lower() in CODE_SUFFIXES:
            return True
    return False
