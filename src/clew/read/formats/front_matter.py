"""What a text says of itself at its top, of which the title is read.

Front matter is YAML between two lines of `---`, or TOML between two of `+++`. A header is lines of
a name, a colon and a value, up to the first empty line, as at the top of MultiMarkdown, of pages of
Pelican, of PEPs and of mails, or a field list of reStructuredText, whose names begin with a colon.
"""

from __future__ import annotations

import re

from clew.text.spans import trim_span

LINE_END = r"(?:\r\n?|\n)"
FRONT_MATTER = re.compile(
    rf"---[ \t]*{LINE_END}(?=[\w\"'-]+[ \t]*:)(?:[^\r\n]*{LINE_END})*?"
    rf"(?:---|\.\.\.)[ \t]*(?:{LINE_END}|\Z)"
    rf"|\+\+\+[ \t]*{LINE_END}(?=[\w\"'-]+[ \t]*=)(?:[^\r\n]*{LINE_END})*?"
    rf"\+\+\+[ \t]*(?:{LINE_END}|\Z)"
)
_TITLE = re.compile(rf"{LINE_END}title[ \t]*[:=][ \t]*(?![>|])([^\r\n]*)")
_KEY = re.compile(r"[\"']?([\w-]+)[\"']?[ \t]*[:=]")
_FIELD = re.compile(r":?([A-Za-z][\w. -]{0,40}):(?:[ \t]+(.*))?\Z")
_TITLE_FIELDS = ("title", "subject")  # the first one that is there counts
MAX_HEADER_LINES = 60
MAX_TITLE = 200  # characters of one in a header
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


def header_title(text: str) -> str | None:
    r"""Return the title in the header at the top of a text, or None.

    Every line of a header is a field, or goes on with the one above.

    Example:
        >>> header_title("PEP: 12\nTitle: Ebb and\n    flow\nPost-History:\n\nThe tides rise.")
        'Ebb and flow'
        >>> header_title(":title: Tides\n:date: today\n\nThey rise.")
        'Tides'
        >>> header_title("Title: Tides\nThey rise.") is None
        True
    """
    fields, name = dict[str, str](), ""
    for line in text.lstrip("\r\n").split("\n", MAX_HEADER_LINES)[:MAX_HEADER_LINES]:
        if not line.strip():
            break
        if line[0].isspace() and name:
            fields[name] = f"{fields[name]} {line.strip()}"
        elif field := _FIELD.match(line.rstrip()):
            name = field[1].lower()
            fields.setdefault(name, field[2] or "")
        else:
            return None
    titles = [" ".join(fields.get(key, "").split()) for key in _TITLE_FIELDS]
    return next((title for title in titles if 0 < len(title) <= MAX_TITLE), None)


def front_matter_title(text: str) -> str | None:
    """Return the title in the front matter, or None."""
    front = FRONT_MATTER.match(text)
    title = _TITLE.search(front[0]) if front else None
    return (title[1].strip("\"' \t") or None) if title else None
