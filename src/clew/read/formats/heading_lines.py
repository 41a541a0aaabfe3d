"""AsciiDoc, Org and LaTeX: markup of which the headings, what is verbatim, and links are read.

A heading is a line with a mark of its level. In a listing, which has a line at its begin and one at
its end, nothing is a heading. All other marks stay as they are written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from clew.document import Document
from clew.read.formats.outline import Block, Heading, Outline, Share
from clew.read.formats.plain_text import blocks_in
from clew.read.formats.source_file import SourceFile
from clew.read.formats.titles import find_title_heading
from clew.text.spans import lines

MAX_DIFFERENCE = 2  # signs between the lengths of a heading and of the line below
_BRACES = r"\{((?:[^{}\n]|\{[^{}\n]*\})*)\}"
_TEX_COMMAND = re.compile(r"\\(?:label|footnote)\{[^{}]*\}|\\[A-Za-z]+\*?|[{}~\\]")
_ORG_TAGS = re.compile(r"(?<![ \t])[ \t]+:[\w@#%:]+:[ \t]*$")


@dataclass(frozen=True)
class Markup:
    """How a markup writes what is read of it.

    Attributes:
        heading: A heading at the start of a line; its groups are the mark of its level, and its
            words. What stands behind it in the line is text.
        levels: The level of each mark; None where it is the number of the mark's signs.
        left_out: What of the words of a heading is none.
        listing: The first line of a listing; the group is what its last line has, too.
        listing_end: The last line, with the group.
        title: Where the title of the whole is declared.
        link: A link; the group is its target.
        underlines: The sign of each level that a heading may be underlined with instead.
    """

    heading: re.Pattern[str]
    levels: tuple[str, ...] | None
    left_out: re.Pattern[str] | None
    listing: re.Pattern[str]
    listing_end: str
    title: re.Pattern[str] | None
    link: re.Pattern[str]
    underlines: str = ""

    def read(self, file: SourceFile, name: str) -> Document:
        """Return the file as one document under its title, in the format of this name."""
        text = file.text()
        return file.document(text, name, title=self.find_title(text))

    def find_title(self, text: str) -> str | None:
        """Return the declared title, else the heading that is the title, else None."""
        declared = self.title and self.title.search(text)
        if declared and (words := self._words(declared[1])):
            return words
        headings = [part for part in self.parts(text) if isinstance(part, Heading)]
        place = find_title_heading([(one.level, one.text) for one in headings])
        return None if place is None else headings[place].text

    def parts(self, text: str, share: Share | None = None) -> Iterator[Heading | Block]:
        """Yield the headings and the blocks of a text, by place."""
        begin, ending, opened = 0, "", 0
        above = 0, 0  # the line above
        for start, stop in lines(text, 0, len(text)):
            line = text[text.rfind("\n", 0, start) + 1 : stop]  # a heading is not indented
            if ending:
                if line.strip().lower() == ending:
                    yield Block(opened, stop, "lines")
                    begin, ending = stop, ""
            elif level := self._underlined(text, above, start, stop):
                yield from blocks_in(text, begin, above[0], share)
                yield Heading(level, text[slice(*above)], above[0], stop)
                begin = stop
            elif listing := self.listing.fullmatch(line.strip()):
                yield from blocks_in(text, begin, start, share)
                opened, ending = start, self.listing_end.format(listing[1]).lower()
                begin = start
            elif (heading := self.heading.match(line)) and (words := self._words(heading[2])):
                yield from blocks_in(text, begin, start, share)
                begin = start + heading.end()
                yield Heading(self._level(heading[1]), words, start, begin)
            above = (start, stop) if begin <= start else (stop, stop)
        yield from blocks_in(text, begin, len(text), share)

    def outline(self, text: str, share: Share | None = None) -> Outline:
        """Return the headings, blocks and links of a text."""
        links = tuple((found.start(), found[1]) for found in self.link.finditer(text))
        return Outline(tuple(self.parts(text, share)), links)

    def _underlined(self, text: str, above: tuple[int, int], start: int, stop: int) -> int:
        """Return the level of a heading of two lines, the one above and this one; 0 for others."""
        sign, words = text[start], text[slice(*above)]
        is_line = sign in self.underlines and text[start:stop] == sign * (stop - start)
        is_title = bool(words) and words[0].isalnum() and text[above[1] : start] == "\n"
        is_as_long = abs(len(words) - (stop - start)) <= MAX_DIFFERENCE
        return 1 + self.underlines.index(sign) if is_line and is_title and is_as_long else 0

    def _level(self, mark: str) -> int:
        return len(mark) if self.levels is None else 1 + self.levels.index(mark)

    def _words(self, written: str) -> str:
        return " ".join((self.left_out.sub("", written) if self.left_out else written).split())


_TEX_LEVELS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph")
MARKUPS = {
    "asciidoc": Markup(
        heading=re.compile(r"(={1,6}) +(\S.*)"),
        levels=None,
        left_out=None,
        listing=re.compile(r"((?:-{4,}|\.{4,}|\+{4,}|/{4,})$|```).*"),
        listing_end="{0}",
        title=None,
        link=re.compile(r"(?:xref|link|include):{1,2}([^\s\[\]]{1,250}+)\["),
        underlines="=-~^+",
    ),
    "org": Markup(
        heading=re.compile(r"(\*+) +(\S.*)"),
        levels=None,
        left_out=_ORG_TAGS,
        listing=re.compile(r"#\+begin_(\w+).*", re.IGNORECASE),
        listing_end="#+end_{0}",
        title=re.compile(r"^#\+title:[ \t]*(\S.*)", re.IGNORECASE | re.MULTILINE),
        link=re.compile(r"\[\[(?:file:)?([^\[\]\n]+)\]"),
    ),
    "latex": Markup(
        heading=re.compile(
            rf"\\({'|'.join(_TEX_LEVELS)})\*?(?:\[[^\]\n]*\])?{_BRACES}"
            r"(?:[ \t]*+(?:\\label\{[^{}\n]*\}|%.*))*+"
        ),
        levels=_TEX_LEVELS,
        left_out=_TEX_COMMAND,
        listing=re.compile(r"\\begin\{(verbatim|lstlisting|minted|comment)\*?\}.*"),
        listing_end="\\end{{{0}}}",
        title=re.compile(rf"^[ \t]*\\title(?:\[[^\]\n]*\])?{_BRACES}", re.MULTILINE),
        link=re.compile(r"\\(?:input|include|subfile)\{([^{}\n]+)\}"),
    ),
}


def read(file: SourceFile, markup: str) -> Iterator[Document]:
    """Yield the file as one document, in the markup of this name."""
    yield MARKUPS[markup].read(file, markup)


def outline(text: str, share: Share | None = None, *, markup: str) -> Outline:
    """Return the headings, blocks and links of a text in the markup of this name."""
    return MARKUPS[markup].outline(text, share)
