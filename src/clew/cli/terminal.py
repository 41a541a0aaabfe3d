"""Where the command's words go: results to stdout, remarks to stderr."""

from __future__ import annotations

import io
import logging
import os
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path

from clew.show.json_text import to_json

DIRECTION_MARKS = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"

LARGER_BUDGET = (
    "give a larger --budget, or, where files are read, smaller passages with --tokens below it"
)


def prepare_output() -> None:
    """Prepare both streams, and print what the package logs as remarks.

    A character that the terminal cannot show is written as its number, so that none stops the
    output. What is written to a stream that is closed (`>&-`) goes nowhere, as `print` has it.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    logger = logging.getLogger("clew")
    logger.setLevel(logging.INFO)
    logger.handlers = [_RemarkHandler()]


def show_controls(text: str) -> str:
    r"""Return a text with the characters that steer a terminal written as their numbers.

    Such are escape sequences, which can move the cursor, change what was printed, or set the title
    of the window, and the marks that turn the direction of what follows. Line ends and tabs stay.

    Example:
        >>> print(show_controls("\x1b[2Jgone"))
        \u001b[2Jgone
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(sign) for sign in text)


def _shown(sign: str) -> str:
    steers = unicodedata.category(sign) == "Cc" or sign in DIRECTION_MARKS
    return f"\\u{ord(sign):04x}" if steers and sign not in "\n\t" else sign  # as JSON writes it


def print_result(text: str = "") -> None:
    """Write a line of the result to stdout."""
    sys.stdout.write(show_controls(text) + "\n")


def print_json(content: object, *, indent: int | None = None) -> None:
    """Write a value to stdout as JSON, which has a form of its own for what stdout cannot show."""
    print_result(to_json(content, indent=indent, ascii_only=not _writes_utf8()))


def print_toml(text: str) -> None:
    """Write TOML to stdout, which is read as UTF-8: with escapes where stdout is anything else."""
    print_result(text if _writes_utf8() else _in_ascii(text, toml_escape))


def print_mermaid(text: str) -> None:
    """Write Mermaid to stdout, with numbered entities where stdout is not UTF-8."""
    print_result(text if _writes_utf8() else _in_ascii(text, "#{};".format))


def toml_escape(number: int) -> str:
    r"""Return a character of a text of TOML by its number.

    Example:
        >>> print(toml_escape(252), toml_escape(0x1F600))
        \u00fc \U0001f600
    """
    return f"\\u{number:04x}" if number < 1 << 16 else f"\\U{number:08x}"


def _writes_utf8() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


def _in_ascii(text: str, escape: Callable[[int], str]) -> str:
    return "".join(sign if sign.isascii() else escape(ord(sign)) for sign in text)


def print_piece(text: str) -> None:
    """Write a piece of the result to stdout, to be read at once."""
    sys.stdout.write(show_controls(text))
    sys.stdout.flush()


def print_remark(text: str) -> None:
    """Write a remark on one line of stderr."""
    sys.stderr.write("clew: " + show_controls(" ".join(text.split())) + "\n")


def print_error(error: Exception) -> None:
    """Write on one line of stderr what went wrong."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        print_remark(f"{error.filename}: {error.strerror}")
    elif isinstance(error, OSError) and error.strerror:  # without the number before it
        print_remark(error.strerror)
    else:
        print_remark(str(error) or type(error).__name__)


def counted(number: int, one: str, more: str = "") -> str:
    """Return a number with what it counts.

    Args:
        number: The number.
        one: What a single one is called.
        more: What several are called; "" for `one` and an "s".

    Example:
        >>> counted(1, "file"), counted(1200, "entity", "entities")
        ('1 file', '1,200 entities')
    """
    return f"{number:,} {one if number == 1 else more or f'{one}s'}"


def shows_progress() -> bool:
    """Return whether a progress bar on stderr would be seen."""
    return sys.stderr.isatty()


class _RemarkHandler(logging.Handler):
    """Prints what the package logs."""

    def emit(self, record: logging.LogRecord) -> None:
        too_large = getattr(record, "too_large", None)
        if too_large is None:
            print_remark(record.getMessage())
        else:  # what is said to callers of the library is no advice here
            print_remark(f"{too_large}; {LARGER_BUDGET}")
