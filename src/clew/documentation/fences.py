"""The language in whose fence a text is shown: that of its file's name, or of its looks.

Code and data stand in a fence, prose does not.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from clew.document import Document

PROSE = ("text", "markdown", "html", "rst", "pdf")
MIN_LINES = 3  # of a text whose looks are judged
MIN_SHARE = 0.5  # of its lines that look like code or data
MAX_LETTERS = 20_000  # of a text that are looked at

FILE_NAME_KEYS = ("file_name", "path", "file_path", "source")  # of metadata, the first that is set

_LANGUAGE_OF_SUFFIX = {
    **dict.fromkeys(("bash", "sh", "zsh", "ksh", "fish"), "sh"),
    **dict.fromkeys(("cc", "cxx", "hpp", "hh", "hxx"), "cpp"),
    **dict.fromkeys(("js", "mjs", "cjs"), "javascript"),
    **dict.fromkeys(("ts", "mts", "cts"), "typescript"),
    **dict.fromkeys(("cfg", "conf", "properties", "env"), "ini"),
    **dict.fromkeys(("py", "pyi", "pyw"), "python"),
    **dict.fromkeys(("pl", "pm"), "perl"),
    **dict.fromkeys(("ex", "exs"), "elixir"),
    **dict.fromkeys(("log", "m"), ""),
    "h": "c", "rs": "rust", "rb": "ruby", "hs": "haskell", "ml": "ocaml", "erl": "erlang",
    "clj": "clojure", "jl": "julia", "yml": "yaml", "ndjson": "jsonl", "ps1": "powershell",
    "el": "lisp", "pyx": "cython", "s": "asm",
}  # fmt: skip
_LANGUAGE_SUFFIXES = frozenset((  # suffixes that are the names of their languages
    "asm", "bat", "c", "cmake", "cpp", "cs", "css", "csv", "dart", "diff", "elm", "f90", "fs",
    "go", "gradle", "graphql", "groovy", "ini", "java", "json", "json5", "jsonl", "jsx", "kt",
    "less", "lisp", "lua", "nix", "patch", "php", "proto", "r", "scala", "scm", "scss", "sql",
    "svg", "swift", "tcl", "tex", "tf", "toml", "tsv", "tsx", "v", "vb", "vhdl", "vim", "vue",
    "wat", "xml", "yaml", "zig",
))  # fmt: skip
_LANGUAGE_OF_FILE = {
    "makefile": "make",
    "dockerfile": "dockerfile",
    "jenkinsfile": "groovy",
    "gemfile": "ruby",
    "rakefile": "ruby",
}
_CODE_LINE = re.compile(
    r".*[;{}]$"
    r"|.*\)\s*:$"
    r"|[\])},;]+$"
    r"|(?://|/\*|#!|#include\b|<\?|</?\w[^>]*>$).*"
    r"|[\w.\[\]\"']+\s*(?:[-+*/|&:]?=|:=|=>)\s*\S.*"
)


def language_of(document: Document | None) -> str:
    """Return the format of prose (one of `PROSE`) or the language of code and data.

    Args:
        document: A document; None stands for plain text.

    Returns:
        The name; "" for code or data in an unknown language.

    Example:
        >>> language_of(Document("1", "SELECT 1", {"file_name": "orders.sql"}))
        'sql'
    """
    if document is None:
        return "text"
    if document.format == "record":
        return ""
    if document.format != "text":
        return document.format
    names = (str(document.metadata.get(key) or "") for key in FILE_NAME_KEYS)
    name = next((name for name in names if name), "")
    file = PurePath(name.replace("\\", "/").lower())
    suffix = file.suffix[1:]
    by_suffix = suffix if suffix in _LANGUAGE_SUFFIXES else _LANGUAGE_OF_SUFFIX.get(suffix)
    language = _LANGUAGE_OF_FILE.get(file.name, by_suffix)
    if language is not None:
        return language
    return "" if _looks_like_code(document.text) else "text"


def _looks_like_code(text: str) -> bool:
    lines = [line.strip() for line in text[:MAX_LETTERS].splitlines() if line.strip()]
    code = sum(_CODE_LINE.fullmatch(line) is not None for line in lines)
    return len(lines) >= MIN_LINES and code >= MIN_SHARE * len(lines)
