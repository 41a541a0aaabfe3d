"""Documentation with lists of questions and answers: each question is taken out of the text and asked.

What stood as a heading becomes "Question 7", so that the answer stays a section of its own; so do
links to it and labels that spell it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import NamedTuple

from tests.benchmarks.prepare.material import TAGS, Draft, Material, Place, plain
from tests.benchmarks.prepare.words import quotes_along

ASKING = frozenset(
    "how why what when where which who can could i is are do does did should will my".split()  # noqa: SIM905 (a list of words is read as a text)
)
TOGETHER = 3  # neighbouring questions of a file that share a half
HTML_HEADING = re.compile(r"<h([1-6])\b[^>]*>(?P<title>.*?)</h\1>", re.DOTALL)
RST_HEADING = re.compile(
    r"^(?P<title>[^\s=~^\"`*#+.:_-].*?)[ \t]*\n(?P<line>([=\-~^\"'`*#+.:_])\3{2,})[ \t]*$",
    re.MULTILINE,
)
RST_MARKUP = re.compile(
    r":[\w:]+:`[^`]*`|`[^`]*`_*|<[^>]*>|\*\*|\||\n\s*\n|^[ \t]*\.\. .*$|^[ \t]*[:>$].*$",
    re.MULTILINE,
)
RST_LABEL = re.compile(r"^\.\. _([\w -]+):[ \t]*\n\s*\Z", re.MULTILINE)
HEADER_LINK = re.compile(r'<a class="headerlink".*?</a>', re.DOTALL)
HTML_SLUG = re.compile(r"""\bid="([\w-]+)"[^<>]*>\s*(?:<span id="[\w-]+"></span>)*\s*\Z""")


class Heading(NamedTuple):
    """A heading, and where it stands.

    Attributes:
        title: Its text.
        start: Where the title starts in the file.
        end: Where it ends.
        body: Where what follows the heading starts.
        top: Where the heading's own markup starts.
    """

    title: str
    start: int
    end: int
    body: int
    top: int


def prepare(files: Mapping[str, str], is_faq: Callable[[str], bool]) -> Material:
    """Return the files without the questions, and the questions.

    Args:
        files: The documentation in HTML or reStructuredText, by path.
        is_faq: Whether the file of a path is a list of questions and answers.
    """
    texts = dict(files)
    drafts: list[Draft] = []
    gone: dict[str, str] = {}
    for path in [path for path in texts if is_faq(path)]:
        text = texts[path]
        headings = list(_headings(path, text))
        questions = [i for i, heading in enumerate(headings) if is_question(heading.title)]
        for number, i in reversed(list(enumerate(questions, 1))):
            heading = headings[i]
            stop = headings[i + 1].top if i + 1 < len(headings) else len(text)
            quotes = quotes_along(_segments(path, text[heading.body : stop]), every=60)
            places = tuple(Place(path, quote) for quote in quotes)
            drafts.append(Draft(heading.title, places, f"{path} {number // TOGETHER}"))
            name = f"Question {number}"
            written = HEADER_LINK.sub("", text[heading.start : heading.end])
            gone[written] = gone[heading.title] = name
            if slug := _slug(path, text[: heading.top]):
                gone[slug] = f"question-{number}"
            texts[path] = _renamed(path, texts[path], heading, name)
    return Material(_replaced(texts, gone), drafts)


def is_question(title: str) -> bool:
    """Return whether a heading asks: it ends as a question, or starts with a word of one."""
    words = title.lower().split()
    return len(words) >= 4 and (title.endswith("?") or words[0] in ASKING)


def _headings(path: str, text: str) -> Iterator[Heading]:
    if PurePosixPath(path).suffix == ".html":
        for match in HTML_HEADING.finditer(text):
            title = " ".join(plain(path, match["title"]).replace("¶", "").split())
            yield Heading(title, *match.span("title"), match.end(), match.start())
        return
    for match in RST_HEADING.finditer(text):
        if len(match["line"]) >= len(match["title"]) - 1:
            title = re.sub(r":\w+:|[`*]", "", match["title"])
            yield Heading(title, *match.span("title"), match.end(), match.start())


def _segments(path: str, body: str) -> list[str]:
    """Return the stretches of the body that no markup interrupts."""
    if PurePosixPath(path).suffix == ".html":
        return [html.unescape(segment) for segment in TAGS.split(body)]
    return RST_MARKUP.split(body)


def _slug(path: str, before: str) -> str:
    """Return the name that links to the heading use and that may spell it."""
    pattern = HTML_SLUG if PurePosixPath(path).suffix == ".html" else RST_LABEL
    found = pattern.search(before[-400:])
    return found[1] if found and re.search(r"\w[ _-]\w", found[1]) else ""


def _renamed(path: str, text: str, heading: Heading, name: str) -> str:
    if PurePosixPath(path).suffix == ".html":
        return text[: heading.start] + name + text[heading.end :]
    under = text[heading.end : heading.body].strip()
    return f"{text[: heading.start]}{name}\n{under[0] * len(name)}{text[heading.body :]}"


def _replaced(texts: Mapping[str, str], gone: Mapping[str, str]) -> dict[str, str]:
    """Return the texts with what is gone replaced wherever it stands as a whole."""
    longest_first = sorted((old for old in gone if old), key=len, reverse=True)
    replaced = {}
    for path, text in texts.items():
        found = [rf"(?<![^\W_]){re.escape(old)}(?!\w)" for old in longest_first if old in text]
        pattern = re.compile("|".join(found))
        replaced[path] = pattern.sub(lambda match: gone[match[0]], text) if found else text
    return replaced
