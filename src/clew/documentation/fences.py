"""The language in whose fence a text is shown: that of code and data, by the name of its file or by its looks; prose has none."""

from __future__ import annotations

import re
from pathlib import PurePath

from clew.document import Document

PROSE = ("text", "markdown", "html", "rst", "pdf")
LEAST, SHARE = (
    3,
    0.5,
)  # lines that looks can be told by, and the share of them that looks like code or data

_SUFFIXES = {
    **dict.fromkeys(("bash", "sh", "zsh", "ksh", "fish"), "sh"),
    **dict.fromkeys(("cc", "cxx", "hpp", "hh", "hxx"), "cpp"),
    **dict.fromkeys(("js", "mjs", "cjs"), "javascript"),
    **dict.fromkeys(("ts", "mts", "cts"), "typescript"),
    **dict.fromkeys(("cfg", "conf", "properties", "env"), "ini"),
    **dict.fromkeys(("py", "pyi", "pyw"), "python"),
    **dict.fromkeys(("pl", "pm"), "perl"),
    **dict.fromkeys(("ex", "exs"), "elixir"),
    **dict.fromkeys(("log", "m"), ""),
    "h": "c", "rs": "rust", "rb": "ruby", "hs": "haskell", "ml": "ocaml", "erl": "erlang", "clj": "clojure", "jl": "julia",
    "yml": "yaml", "ndjson": "jsonl", "ps1": "powershell", "el": "lisp", "pyx": "cython", "s": "asm",
}  # fmt: skip
_SELF = frozenset((  # suffixes that are names of their language
    "asm", "bat", "c", "cmake", "cpp", "cs", "css", "csv", "dart", "diff", "elm", "f90", "fs", "go", "gradle", "graphql", "groovy", "ini",
    "java", "json", "json5", "jsonl", "jsx", "kt", "less", "lisp", "lua", "nix", "patch", "php", "proto", "r", "scala", "scm", "scss",
    "sql", "svg", "swift", "tcl", "tex", "tf", "toml", "tsv", "tsx", "v", "vb", "vhdl", "vim", "vue", "wat", "xml", "yaml", "zig",
))  # fmt: skip
_NAMES = {
    "makefile": "make",
    "dockerfile": "dockerfile",
    "jenkinsfile": "groovy",
    "gemfile": "ruby",
    "rakefile": "ruby",
}
_CODE = re.compile(
    r".*[;{}]$|.*\)\s*:$|[\])},;]+$|(?://|/\*|#!|#include\b|<\?|</?\w[^>]*>$).*|[\w.\[\]\"']+\s*(?:[-+*/|&:]?=|:=|=>)\s*\S.*"
)


def written_in(document: Document | None) -> str:
    """Return how a document is written: one of `PROSE`, or the language of its fence, "" where that is not known."""
    if document is None:
        return "text"
    if document.format == "record":
        return ""
    if document.format != "text":
        return document.format
    given = next(
        (
            name
            for key in ("file_name", "path", "file_path", "source")
            if (name := str(document.metadata.get(key) or ""))
        ),
        "",
    )
    file = PurePath(given.replace("\\", "/").lower())
    suffix = file.suffix[1:]
    found = _NAMES.get(file.name, suffix if suffix in _SELF else _SUFFIXES.get(suffix))
    if found is not None:
        return found
    return "" if _looks(document.text) else "text"


def _looks(text: str) -> bool:
    lines = [line.strip() for line in text[:20_000].splitlines() if line.strip()]
    return len(lines) >= LEAST and sum(
        _CODE.fullmatch(line) is not None for line in lines
    ) >= SHARE * len(lines)
