"""A page in a file, and in a frame of its own inside of another page."""

from __future__ import annotations

from html import escape
from pathlib import Path

from clew.show.drawable import Drawable
from clew.show.page import to_html

FRAME_HEIGHT = 640  # pixels


def write_html(context: Drawable, path: Path) -> str:
    """Write the page of a context to a file, as UTF-8, and return it.

    Half of a surrogate pair, as broken JSON has it, is no text: "?" stands for it in the file.

    Args:
        context: What to show.
        path: The file; what it held before is lost.

    Raises:
        OSError: The file cannot be written; known before the page is made.
    """
    check_writable(path)
    page = to_html(context, folder=path.parent)
    path.write_text(page, encoding="utf-8", errors="replace", newline="\n")
    return page


def framed(page: str, title: str) -> str:
    """Return a page as a frame, whose styles and script touch nothing outside of it.

    Args:
        page: A page of HTML.
        title: What it is, for screen readers.

    Example:
        >>> framed("<p>1 & 2", "Sums")[:48]
        '<iframe title="Sums" sandbox="allow-scripts allo'
    """
    return (
        f'<iframe title="{escape(title)}" sandbox="allow-scripts allow-popups" width="100%" '
        f'height="{FRAME_HEIGHT}" style="border:0" srcdoc="{escape(page)}"></iframe>'
    )


def check_writable(file: Path) -> None:
    """Check that a file can be written, before the work that it is for; it stays as it is.

    Raises:
        OSError: It is a folder, its folder is missing, or writing is not allowed.
    """
    existed = file.exists()
    with file.open("ab"):
        pass
    if not existed:
        file.unlink()
