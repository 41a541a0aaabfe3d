"""Front matter: YAML between two lines of `---` at the top of a text; only its title is read."""

from __future__ import annotations

import re

from clew.text.spans import trim_span

LINE_END = r"(?:\r\n?|\n)"
FRONT_MATTER = re.compile(
    rf"---[ \t]*{LINE_END}(?=[\w\"'-]+[ \t]*:)(?:[^\r\n]*{LINE_END})*?"
    rf"(?:---|\.\.\.)[ \t]*(?:{LINE_END}|\Z)"
)
_TITLE = re.compile(rf"{LINE_END}title[ \t]*:[ \t]*(?![>|])([^\r\n]*)")
_KEY = re.compile(r"[\"']?([\w-]+)[\"']?[ \t]*:")
# Keys of front matter that tell programs how to make a page, and readers nothing beside its title.
_SETTINGS = re.compile(
    r"title|layout|weight|order|position|id|slug|permalink|url|template|type|orphan|hide|search|"
    r"icon|redirects?|(?:[a-z]+_)?toc(?:_\w+)?|(?:hide|sidebar|nav|parent|pagination)[_-]?\w*",
    re.IGNORECASE,
)


def front_matter_end(text: str) -> int:
    """Return the place where the front matter ends; 0 where there is none."""
    front = FRONT_MATTER.match(text)
    return front.end() if front else 0


def telling_front_matter(text: str) -> tuple[int, int] | None:
    r"""Return where front matter starts and ends that tells readers something beside the title.

    Example:
        >>> telling_front_matter("---\ntitle: Tides\nauthor: Anna\n---\n# Moon")
        (0, 33)
        >>> telling_front_matter("---\ntitle: Tides\nlayout: page\n---\n# Moon") is None
        True
    """
    front = FRONT_MATTER.match(text)
    keys = map(_KEY.match, front[0].splitlines()[1:-1]) if front else ()
    if front is None or all(key is None or _SETTINGS.fullmatch(key[1]) for key in keys):
        return None
    return trim_span(text, front.start(), front.end())


def front_matter_title(text: str) -> str | None:
    """Return the title in the front matter, or None."""
    front = FRONT_MATTER.match(text)
    title = _TITLE.search(front[0]) if front else None
    return (title[1].strip("\"' \t") or None) if title else None
