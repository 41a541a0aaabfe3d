"""Where words go: results to stdout, remarks to stderr."""

from __future__ import annotations

import io
import sys


def prepare() -> None:
    """Let no character stop the output: what the terminal cannot show is written as its number."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def say(text: str = "") -> None:
    """Write a line of the result."""
    sys.stdout.write(text + "\n")


def remark(text: str) -> None:
    """Write a remark on one line of stderr."""
    sys.stderr.write("clew: " + " ".join(text.split()) + "\n")


def complain(error: Exception) -> None:
    """Say on one line what went wrong."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        remark(f"{error.filename}: {error.strerror}")
    else:
        remark(str(error) or type(error).__name__)


def watched() -> bool:
    """Return whether somebody sees a progress bar."""
    return sys.stderr.isatty()
