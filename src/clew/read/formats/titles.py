"""Which heading of a text is its title, and which are those of parts that stand side by side."""

from __future__ import annotations

import re
from collections.abc import Sequence

MAX_BEFORE_NUMBER = 24  # characters of "Version" and the like
MIN_ROW = 2
NAMES = ("readme", "index", "_index")  # of files that say nothing of what is in them
_NUMBERED = re.compile(rf"([^\d\n]{{0,{MAX_BEFORE_NUMBER}}})\d")


def tells_subject(stem: str) -> bool:
    """Return whether the name of a file, without its suffix, may be the title of its text.

    Example:
        >>> tells_subject("Raised beds"), tells_subject("README")
        (True, False)
    """
    return stem.lower() not in NAMES


def find_title_heading(
    headings: Sequence[tuple[int, str]], *, is_below_text: bool = False, is_named: bool = True
) -> int | None:
    r"""Return the place of the heading that is the title of the whole text, or None.

    A heading that is one of a row, such as the versions of a changelog, is the title of its part
    alone. So is one below the first level that has others of its level, or stands below text: who
    begins so takes the name of the file for the title, as programs for notes and wikis do.

    Args:
        headings: The level and the words of each, by place; the outermost level is 1.
        is_below_text: Whether words stand above the first one.
        is_named: Whether the name of the file may be the title. If it says nothing, the first
            heading is the title, but for one of a row.

    Example:
        >>> find_title_heading([(1, "Tides"), (2, "Ebb"), (2, "Flow")])
        0
        >>> find_title_heading([(1, "Version 2.1"), (2, "Fixed"), (1, "Version 2.0")])
        >>> find_title_heading([(2, "Ebb"), (2, "Flow")])
    """
    if not headings:
        return None
    outermost = min(level for level, _ in headings)
    own = [i for i, (level, _) in enumerate(headings) if level == outermost]
    if len(own) == 1 and (outermost == 1 or (own[0] == 0 and not is_below_text)):
        return own[0]
    may_be_title = own[0] == 0 if outermost == 1 and is_named else not is_named
    return 0 if may_be_title and not _is_row([headings[i][1] for i in own]) else None


def _is_row(titles: Sequence[str]) -> bool:
    """Return whether the first one is one of several that differ by a number, as most do."""
    before = [found[1].lower() if (found := _NUMBERED.match(title)) else None for title in titles]
    alike = before.count(before[0])
    return before[0] is not None and alike >= MIN_ROW and 2 * alike >= len(titles)
