"""A search page: one file with an inverted index in it, which asks no server and no network."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from clew.documentation.site_html import PageFormat, asset, html_page
from clew.show.escaping import escaped

SEARCH_FILE = "search.html"
MAX_TEXT = 160  # characters that a result shows
NAME_WEIGHT, PART_WEIGHT, TEXT_WEIGHT = 12, 6, 1  # of a word in a name, of a part of it, in a text
MAX_WEIGHT = 6  # of a word that is often in one text
_WORD = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_A-Za-z]+")


class Found(NamedTuple):
    """Something that can be searched for.

    Attributes:
        title: Its name or title.
        target: Where it is.
        kind: What it is.
        text: What is written on it.
        signature: How it is used; "" where it is not code.
    """

    title: str
    target: str
    kind: str
    text: str = ""
    signature: str = ""


def search_page(title: str, found: Sequence[Found], format: PageFormat) -> str:
    """Return the search page as HTML.

    Args:
        title: The title of the documentation.
        found: What can be searched for.
        format: The format of the pages that its links lead to.

    Example:
        >>> page = search_page("Boats", [Found("Oars", "1-oars.md#1-oars", "section")], "html")
        >>> '"1-oars.html#1-oars"' in page
        True
    """
    results = [
        [one.title, _in_format(one.target, format), one.kind, _beginning(one)] for one in found
    ]
    data = json.dumps(
        {"results": results, "words": inverted_index(found)},
        ensure_ascii=False,
        separators=(",", ":"),
    )
    first = _in_format("index.md", format)
    body = (
        f'<main><p><a href="{first}">Contents</a></p>\n<h1>{escaped(title)}: search</h1>\n'
        '<p><label for="query">Words or the beginning of a name</label><br>'
        '<input id="query" type="search" autocomplete="off" spellcheck="false" autofocus></p>\n'
        '<p id="count" role="status" aria-live="polite"></p><ol id="results"></ol>\n'
        "<noscript><p>The search is a script on this page, which is not allowed to run here. The "
        f'<a href="{first}">contents</a> list everything.</p></noscript></main>'
    )
    return html_page(f"{title}: search", body, asset("search.js"), data)


def inverted_index(found: Iterable[Found]) -> dict[str, list[int]]:
    """Return for each word the numbers of what it is in, each followed by its weight there."""
    weights: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for i, one in enumerate(found):
        own = weights_of(one)
        for word, weight in own.items():
            weights[word][i] = weight
    return {
        word: [number for pair in weights[word].items() for number in pair]
        for word in sorted(weights)
    }


def weights_of(found: Found) -> dict[str, int]:
    """Return the words of a result, and the weight of each."""
    weights: defaultdict[str, int] = defaultdict(int)
    for word in _WORD.findall(found.text):
        weights[word.lower()] += TEXT_WEIGHT
    weights = defaultdict(int, {word: min(count, MAX_WEIGHT) for word, count in weights.items()})
    last = _WORD.findall(found.title)[-1:]
    for word in _WORD.findall(found.title):
        weights[word.lower()] += NAME_WEIGHT if [word] == last else PART_WEIGHT
        for part in _PART.findall(word):
            if part != word:
                weights[part.lower()] += PART_WEIGHT if [word] == last else TEXT_WEIGHT
    return dict(weights)


def _beginning(found: Found) -> str:
    """Return what a result shows of itself: its signature on one line, or how its text begins."""
    text = " ".join((found.signature or found.text).split())
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1].rstrip() + "…"


def _in_format(target: str, format: PageFormat) -> str:
    name, mark, anchor = target.partition("#")
    return target if format == "markdown" else f"{name.removesuffix('.md')}.html{mark}{anchor}"
