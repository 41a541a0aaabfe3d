"""Where words go: results to stdout, remarks to stderr."""

from __future__ import annotations

import io
import logging
import sys


def prepare() -> None:
    """Let no character stop the output: what the terminal cannot show is written as its number; and pass on what the package logs."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    logger = logging.getLogger("clew")
    logger.setLevel(logging.INFO)
    logger.handlers = [_Remarks()]


def say(text: str = "") -> None:
    """Write a line of the result."""
    sys.stdout.write(text + "\n")


def remark(text: str) -> None:
    """Write a remark on one line of stderr."""
    sys.stderr.write("clew: " + " ".join(text.split()) + "\n")


class _Remarks(logging.Handler):
    """What the package says of its own accord is a remark, too."""

    def emit(self, record: logging.LogRecord) -> None:
        remark(record.getMessage())


def complain(error: Exception) -> None:
    """Say on one line what went wrong."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        remark(f"{error.filename}: {error.strerror}")
    else:
        remark(str(error) or type(error).__name__)


def watched() -> bool:
    """Return whether somebody sees a progress bar."""
    return sys.stderr.isatty()
