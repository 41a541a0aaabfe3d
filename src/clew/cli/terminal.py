"""Where the command's words go: results to stdout, remarks to stderr."""

from __future__ import annotations

import io
import logging
import sys


def prepare_output() -> None:
    """Prepare both streams, and print what the package logs as remarks.

    A character that the terminal cannot show is written as its number, so that none stops the
    output.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    logger = logging.getLogger("clew")
    logger.setLevel(logging.INFO)
    logger.handlers = [_RemarkHandler()]


def print_result(text: str = "") -> None:
    """Write a line of the result to stdout."""
    sys.stdout.write(text + "\n")


def print_remark(text: str) -> None:
    """Write a remark on one line of stderr."""
    sys.stderr.write("clew: " + " ".join(text.split()) + "\n")


def print_error(error: Exception) -> None:
    """Write on one line of stderr what went wrong."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        print_remark(f"{error.filename}: {error.strerror}")
    else:
        print_remark(str(error) or type(error).__name__)


def shows_progress() -> bool:
    """Return whether a progress bar on stderr would be seen."""
    return sys.stderr.isatty()


class _RemarkHandler(logging.Handler):
    """Prints what the package logs."""

    def emit(self, record: logging.LogRecord) -> None:
        print_remark(record.getMessage())
