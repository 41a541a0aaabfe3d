"""Where the words of a page of HTML are in its source: the line, and the anchor above them.

The parser tells no positions. But the elements and words of a page are in its source in the same
order, so each is searched for from where the one before was found. Where a search fails, the
place of the element that the words are in counts.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

# Elements whose start tags are written out wherever they are in a page.
WRITTEN = frozenset((
    "address", "article", "aside", "blockquote", "dd", "details", "div", "dl", "dt", "figure",
    "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "li", "main", "ol", "p", "pre",
    "section", "table", "tr", "ul",
))  # fmt: skip
# Elements whose end tags are written out, and that may hold much which is not read.
_ENDED = frozenset((
    "aside", "button", "dialog", "div", "dl", "footer", "form", "header", "iframe", "menu", "nav",
    "noscript", "object", "ol", "script", "section", "select", "style", "svg", "table",
    "template", "textarea", "ul", "video",
))  # fmt: skip
# Elements that programs write, with an end tag always: they may be larger than all else of a page.
_LARGE = ("script", "style", "svg")
_START_TAGS = {tag: re.compile(rb"<%s(?=[\s/>])" % tag.encode()) for tag in WRITTEN}
_RUN = re.compile(r"\s*([^\s<>&\"'\u00a0\u00ad][^<>&\"'\u00a0\u00ad\t\n\r\f]{0,30})")
_BEHIND_TAGS = re.compile(rb"[^<>]*+>(?:\s*+<[^>]*+>|(?!))*+\s*+")
# The first words of a line, in the text or in an element that begins there.
_PLAIN = re.compile(rb"\s*+(?:<[^>]*+>\s*+|(?!))*+([^<>&\s](?:[^<>&\s]| (?=[^<>&\s])){0,60})")
_BLOCK_TAG = re.compile(
    rb"</?(?:blockquote|br|d[dlt]|div|h[1-6]|li|ol|p|pre|script|style|table|td|ul)(?=[\s/>])"
)
SURE = 8  # bytes of words that are known by themselves for those of the same paragraph
MAX_MARKUP = 8  # bytes of the source for a character of a paragraph
MAX_TRIES = 8  # of words that are in attributes, too
MAX_SPACE = 200  # bytes before the first words of an element
NEAR = 4_000  # bytes in which the words of an element are searched for
FAR = 400_000  # bytes in which the next tag is searched for, beside long runs without one
MAX_LOST = 4  # times the size of a page that searches may read in vain, so that time stays linear


_SPACES = b" \t\n\r\f\v\xc2\xa0"  # with the bytes of a no-break space
_LONG_RUN = re.compile(rb"[^<]{20000,}")  # without a tag, such as a picture that is written out

_BLANK = bytes(byte if byte in b"\n\r" else ord(" ") for byte in range(256))


class Mark(NamedTuple):
    """Where some words are in the source of a page.

    Attributes:
        line: Their line, from 1.
        anchor: The anchor at or above them, or None.
        place: Where they start, in bytes; -1 where they are not found themselves.
    """

    line: int
    anchor: str | None
    place: int = -1


class PageSource:
    r"""The source of a page, which is gone through as the elements and words of the page come by.

    Args:
        html: The source.

    Attributes:
        anchor: The last anchor that came by, or None.

    Example:
        >>> source = PageSource("<h1 id=sea>Sea</h1>\n<p>\nIt is salt.")
        >>> source.enter("h1", "sea")
        >>> source.mark("Sea")
        Mark(line=1, anchor='sea', place=11)
        >>> source.enter("p")
        >>> source.mark("\nIt is salt.")
        Mark(line=3, anchor='sea', place=24)
    """

    def __init__(self, html: str) -> None:
        self.anchor: str | None = None
        line_end = "\n" if "\n" in html else "\r"
        self._line_end = line_end.encode()
        self._written = html.encode("utf-8", "surrogatepass")
        self._raw = _without_comments(self._written.lower())  # in which tags are searched for
        self._place = 0  # behind what was found last
        self._in_tag = True  # whether that is in a tag
        self._words_place = 0  # behind the words that were found last
        self._line, self._counted = 1, 0  # the line at a place
        self._to_lose = MAX_LOST * len(self._raw)
        may_be_far = len(self._raw) > FAR
        runs = [run.span() for run in _LONG_RUN.finditer(self._raw)] if may_be_far else []
        self._run_starts = [start for start, _ in runs]
        self._run_ends = [end for _, end in runs]

    def begin(self, tag: str, role: str | None, anchor: str | None = None) -> None:
        """Go to the element that is read of the page."""
        self.anchor = anchor or None
        needle = b'role="main"' if role == "main" else b"<" + tag.encode()
        self._place = self._words_place = max(0, self._raw.find(needle))

    def enter(self, tag: str, anchor: str | None = None, is_empty: bool = False) -> None:
        """Go to the start tag of the next element, which may be an anchor.

        One without content may have none: parsers make a `p` of an end tag without a start.
        """
        if anchor:
            self.anchor = anchor
            name = anchor.encode("utf-8", "surrogatepass").lower()
            if self._go_to(b' id="%s"' % name) or (
                tag == "a" and self._go_to(b' name="%s"' % name)
            ):
                return
        if not is_empty:
            self._enter_tag(tag)

    def _enter_tag(self, tag: str) -> None:
        if tag in WRITTEN:
            start = _START_TAGS[tag].search(self._raw, self._place, self._reach())
            if start is None:
                self._to_lose -= self._reach() - self._place
            else:
                self._place, self._in_tag = start.end(), True

    def skip(self, tag: str) -> None:
        """Go behind an element that is left out."""
        if tag in _ENDED:
            self._enter_tag(tag)
            self.end(tag)

    def end(self, tag: str) -> None:
        """Go to the next end tag."""
        is_large = tag in _LARGE and self._to_lose > 0
        reach = len(self._raw) if is_large else self._reach()
        found = self._raw.find(b"</" + tag.encode(), self._place, reach)
        if found < 0:
            self._to_lose -= reach - self._place
        else:
            self._place, self._in_tag = found + len("</"), True

    def mark(self, words: str) -> Mark:
        """Go behind some words, and return where they are.

        Args:
            words: The next words of the page, as the parser has them, line ends included.
        """
        first = self._place
        if self._in_tag and (behind := _BEHIND_TAGS.match(self._raw, first)):
            first = behind.end()
        run = _RUN.match(words)
        key = run[1].rstrip().encode("utf-8", "surrogatepass").lower() if run else b""
        if self._raw.startswith(key, first):
            found = first
        elif self._in_tag and self._raw.startswith(b"&", first):  # a sign written as an entity
            found, key = first, b"&"
        else:  # something is left out, or a tag that was none, as in a comment, has led too far
            found = self._find_words(key, first, first + NEAR)
            if found < 0:
                found = self._find_words(key, self._words_place, self._place)
        if found < 0:
            if first > self._words_place + NEAR:  # a tag far behind the one that was meant
                first = self._place = self._words_place
            return Mark(self._line_of(first), self.anchor)
        self._place = self._words_place = found + len(key)
        self._in_tag = False
        return Mark(self._line_of(found), self.anchor, found)

    def lines_within(self, text: str, mark: Mark) -> list[tuple[int, int]]:
        """Return the further lines of the source that a paragraph has.

        Args:
            text: The paragraph as it was written in Markdown.
            mark: Where it starts.

        Returns:
            Pairs (offset in `text`, line), for the lines whose first words are in it as they are
            in the source. Those of a few letters must be there once, or its last.
        """
        limit = mark.place + MAX_MARKUP * len(text)
        if mark.place < 0 or self._written.find(self._line_end, mark.place, limit) < 0:
            return []
        behind = _BLOCK_TAG.search(self._raw, mark.place, limit)
        end = limit if behind is None else behind.start()
        lines, offset, line = list[tuple[int, int]](), 0, mark.line
        for written in self._written[mark.place : end].split(self._line_end)[1:]:
            line += 1
            run = _PLAIN.match(written)
            if run is None:
                continue
            words = run[1].decode("utf-8", "replace")
            if len(run[1]) >= SURE:
                found = text.find(words, offset)
            else:
                found = _find_single(text, words, offset)
            if found >= 0:
                lines.append((found, line))
                offset = found
        return lines

    def _find_words(self, key: bytes, place: int, end: int) -> int:
        """Return where words begin that are the first behind a tag, or -1."""
        end = min(end, place + NEAR)
        for _ in range(MAX_TRIES):
            found = self._raw.find(key, place, end)
            before = self._raw[max(0, found - MAX_SPACE) : max(0, found)].replace(b"&nbsp;", b" ")
            if found < 0 or before.rstrip(_SPACES)[-1:] == b">":
                return found
            place = found + 1
        return -1

    def _go_to(self, needle: bytes) -> bool:
        """Go to the tag that has an attribute, also back to it, and return whether it is found."""
        found = self._raw.find(needle, self._place, self._reach())
        if found < 0:
            self._to_lose -= self._reach() - self._place
            found = self._raw.find(needle, 0, self._place) if self._to_lose > 0 else -1
            self._to_lose -= self._place
        if found >= 0:
            self._place, self._in_tag = found + len(needle), True
            self._words_place = found
        return found >= 0

    def _reach(self) -> int:
        """Return where a search for a tag ends; long runs without one do not count."""
        end = self._place + (FAR if self._to_lose > 0 else NEAR)
        i = bisect_right(self._run_ends, self._place)
        while i < len(self._run_starts) and self._run_starts[i] < end:
            end += self._run_ends[i] - max(self._run_starts[i], self._place)
            i += 1
        return min(end, len(self._raw))

    def _line_of(self, place: int) -> int:
        if place >= self._counted:
            self._line += self._raw.count(self._line_end, self._counted, place)
        else:
            self._line -= self._raw.count(self._line_end, place, self._counted)
        self._counted = place
        return self._line


def _find_single(text: str, words: str, offset: int) -> int:
    """Return where a few letters are by themselves behind an offset: once, or at the end; or -1."""
    found = text.find(words, offset)
    if found >= 0 and text.find(words, found + 1) < 0:
        around = text[max(0, found - 1) : found], text[found + len(words) :][:1]
        return -1 if any(map(str.isalnum, around)) else found
    return len(text) - len(words) if text.endswith(words) else -1


def _without_comments(source: bytes) -> bytes:
    """Return a source with blanks for its comments, which may hold tags and words."""
    parts, behind, place = list[bytes](), 0, 0
    while (start := source.find(b"<!--", place)) >= 0:
        place = start + 1
        if source[max(0, start - 1) : start] in (b"'", b'"'):  # the value of an attribute
            continue
        end = source.find(b"-->", start)
        if end < 0:
            break
        parts += [source[behind:start], source[start : end + 3].translate(_BLANK)]
        behind = place = end + 3
    return b"".join([*parts, source[behind:]])
