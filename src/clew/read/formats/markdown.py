"""The outline of a CommonMark text: its headings, its blocks, and its links, each with its place.

markdown-it-py tells the line where a block begins. Here a block reaches up to the next one, so that
headings, blocks and the front matter together leave out nothing but space. Front matter is YAML
between two lines of `---` at the top of the text, or TOML between two of `+++`; what tells a reader
something beside the title is a passage. Comments of HTML, which no reader of the page sees, are
left out as a file is read.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice, pairwise, zip_longest
from typing import TYPE_CHECKING, NamedTuple

from clew.document import Document
from clew.graph.link_targets import NOTE
from clew.read.formats.front_matter import (
    FRONT_MATTER,
    LINE_END,
    front_matter_title,
    header_title,
    telling_front_matter,
)
from clew.read.formats.outline import Block, Close, Heading, Outline, Share
from clew.read.formats.source_file import SourceFile, UnreadableFileError
from clew.read.formats.titles import find_title_heading, tells_subject
from clew.source_map import SourceMap, starts_of_lines
from clew.text.spans import COLUMNS, trim_span
from clew.text.words import has_content

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token

_LINE_END = re.compile(LINE_END)
# Definitions of references to places of the same page, such as Rust's RFCs have below headings.
_OWN_ANCHORS = re.compile(r"(?:\[[^\]\n]+\]:[ \t]*#\S*\s*)+")
_CLOSE = re.compile(r"<!-- end of h([1-6]) -->")  # as `MarkdownWriter` ends the sections of a level
# Behind a backslash nothing begins, and what is between runs of as many ticks is code.
_TICKS = re.compile(r"`+")
_SIGNS = re.compile(r"\\.|`+|<!--", re.DOTALL)
_NO_COMMENTS_IN = re.compile(r"<(?:script|style|textarea)\b", re.IGNORECASE)
_NO_SPACE_BEFORE = ("", *" \t.,;:!?)")
# What makes a list, a heading or a rule of the line when nothing else is in it.
_ONLY_MARKS = re.compile(r"[ \t>]*(?:(?:[-*+=]|\d{1,9}[.)])[ \t>]*)+")
_UNDERLINE = re.compile(r"[ \t>]*(?:-+|=+)[ \t]*(?:\n|\Z)")
_LABEL = re.compile(r"\([^()\s]{1,256}\)=")
_PICTURE = re.compile(r"\[?!\[[^\[\]\n]*\][(\[][^)\]\n]*[)\]](?:\][(\[][^)\]\n]*[)\]])?|<[^<>\n]*>")
# A link to a note, as programs for notes write it: `[[Moon]]`, `[[Moon#Seas|the seas]]`.
_NOTE = re.compile(r"\[\[([^\[\]|\n]{1,250})(?:\|[^\[\]\n]*)?\]\]")
_LINE_BLOCKS = ("fence", "code_block", "table_open", "html_block")  # cut between lines
_NO_TOKEN = -1

MAX_COLUMNS = 200  # characters of the names of columns that are a heading
MAX_BRACKETS = 4
"""Brackets in brackets, of links and images, that are looked into. A bracket that opens is looked
into again for each of those around it, so brackets without an end take this many times as long."""


class _ParsedText(NamedTuple):
    """The tokens of a text, the place where every line starts, and the line after front matter."""

    tokens: Sequence[Token]
    line_starts: list[int]  # with the end of the text behind the last one
    first_line: int


class _Comment(NamedTuple):
    """Where a comment starts and ends, and whether it begins a block, and so ends a paragraph."""

    start: int
    end: int
    begins_block: bool


def read(file: SourceFile) -> Iterator[Document]:
    """Yield the file as one document under its own title."""
    yield read_text(file, file.text())


def read_text(file: SourceFile, text: str) -> Document:
    """Return the document of a file in Markdown.

    Args:
        file: The file.
        text: The text of the file.

    Raises:
        UnreadableFileError: It has comments alone.
    """
    shown, lines = leave_out_comments(text)
    if not shown.strip():
        raise UnreadableFileError("nothing but comments")
    document = file.document(
        shown, "markdown", title=find_title(shown, tells_subject(file.path.stem))
    )
    if shown == text:
        return document
    return replace(document, source_map=SourceMap.of(file.id, starts_of_lines(shown, lines)))


def leave_out_comments(text: str) -> tuple[str, Sequence[int]]:
    r"""Return a Markdown text without comments of HTML, and the line of the text for each of its.

    What is in code is no comment, nor what has no end. The marks by which clew ends the sections
    of a page that it has read stay, and so does a comment without which its line, or the line
    above, would become a heading.

    Args:
        text: The text, with line ends as "\n".

    Example:
        >>> leave_out_comments("# Moon\n\n<!-- TODO\nask -->\nIt is far <!-- how? -->.\n")
        ('# Moon\n\nIt is far.\n', [1, 2, 5, 6])
    """
    comments = list(_without_harm(text, _comments(text))) if "<!--" in text else []
    if not comments:
        return text, range(1, text.count("\n") + 2)
    shown, numbers, place, i = list[str](), list[int](), 0, 0
    is_after_comment = False  # alone in its line
    for number, line in enumerate(text.split("\n"), 1):
        end = place + len(line)
        rest, begin, begins_block, is_cut = "", place, False, False
        while i < len(comments) and comments[i].start < end:
            comment = comments[i]
            before = text[begin : max(begin, comment.start)]
            rest = _joined(rest, before) if begin > place else before
            begin, is_cut = min(comment.end, end), True
            begins_block |= comment.begins_block
            if comment.end > end:
                break
            i += 1
        rest = _joined(rest, text[begin:end]) if is_cut else line
        place = end + 1
        is_empty = not rest.strip(" \t>")
        is_below_empty = not shown or not shown[-1].strip(" \t>")
        if is_empty and (is_cut or is_after_comment):
            is_after_comment = True
            # One empty line stays where paragraphs would join, or one become a heading above "---".
            if is_below_empty or (is_cut and not begins_block):
                continue
        else:
            is_after_comment = False
        shown.append(rest.rstrip() if is_cut else rest)
        numbers.append(number)
    return "\n".join(shown), numbers


def _without_harm(text: str, comments: Sequence[_Comment]) -> Iterator[_Comment]:
    """Yield the comments without which the lines that they are in stay what they are."""
    i = 0
    while i < len(comments):
        begin = text.rfind("\n", 0, comments[i].start) + 1
        rest, place, first = list[str](), begin, i
        while i < len(comments) and (i == first or "\n" not in text[place : comments[i].start]):
            start, end, _ = comments[i]
            rest += [text[place:start], "\n" * text.count("\n", start, end)]
            place = end
            i += 1
        end = text.find("\n", place)
        end = end if end >= 0 else len(text)
        lines = "".join([*rest, text[place:end]]).split("\n")
        before = rest[0]
        becomes_heading = (
            (not before.strip(" \t>") or _ONLY_MARKS.fullmatch(before))
            and lines[-1].strip(" \t>")
            and _UNDERLINE.match(text, end + 1)
        )
        if not becomes_heading and not any(map(_ONLY_MARKS.fullmatch, lines)):
            yield from comments[first:i]


def _joined(before: str, behind: str) -> str:
    """Return what stands before and behind a comment, with the space on one side of it."""
    if not before.strip(" \t>"):
        return before + behind.lstrip(" \t")
    return (before.rstrip(" \t") if behind[:1] in _NO_SPACE_BEFORE else before) + behind


def _comments(text: str) -> list[_Comment]:
    """Return the comments of a text, by place, but for the marks that end sections."""
    parsed = _parse(text, inline=False)
    starts = parsed.line_starts
    found = list[_Comment]()
    written: dict[tuple[int, int], list[str]] = {}  # the comments in the words of these lines
    for token in parsed.tokens:
        opening = token.content.find("<!--")
        if not token.map or opening < 0 or token.content.find("-->", opening) < 0:
            continue
        first, behind = token.map
        if token.type == "html_block" and not _NO_COMMENTS_IN.match(token.content.lstrip()):
            begins_block = token.content.lstrip().startswith("<!--")
            end = starts[behind]
            place = text.find("<!--", starts[first], end)
            while place >= 0 and (closed := _comment_end(text, place, end)):
                found.append(_Comment(place, closed, begins_block))
                place = text.find("<!--", closed, end)
        elif token.type == "inline":
            written.setdefault((first, behind), []).extend(
                child.content
                for child in _parser().parseInline(token.content)[0].children or ()
                if child.type == "html_inline" and child.content.startswith("<!--")
            )
    for (first, behind), contents in written.items():
        spans = list(islice(_written_comments(text, starts[first], starts[behind]), len(contents)))
        # The parser tells no places within lines. Where it finds others, all of them stay.
        if [_own_lines(text[slice(*span)]) for span in spans] == list(map(_own_lines, contents)):
            found += [_Comment(*span, False) for span in spans]
    return sorted(one for one in found if not _CLOSE.fullmatch(text, one.start, one.end))


def _written_comments(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield where each comment in the lines of a paragraph starts and ends, if it does."""
    ticks: dict[int, list[int]] = {}  # where runs of so many begin
    for run in _TICKS.finditer(text, start, end):
        ticks.setdefault(len(run[0]), []).append(run.start())
    place = start
    while sign := _SIGNS.search(text, place, end):
        place = sign.end()
        if sign[0] == "<!--":
            closed = _comment_end(text, sign.start(), end)
            if not closed:
                return
            yield sign.start(), closed
            place = closed
        elif sign[0][0] == "`":
            alike = ticks.get(len(sign[0]), [])
            following = bisect_left(alike, place)
            if following < len(alike):
                place = alike[following] + len(sign[0])


def _comment_end(text: str, start: int, end: int) -> int:
    """Return where the comment that starts at a place ends; 0 where it does not before the end."""
    for short in ("<!-->", "<!--->"):
        if text.startswith(short, start, end):
            return start + len(short)
    closing = text.find("-->", start + len("<!--"), end)
    return closing + len("-->") if closing >= 0 else 0


def _own_lines(comment: str) -> list[str]:
    """Return the lines of a comment without what the paragraph or quote around puts before them."""
    return [line.strip(" \t>") for line in comment.split("\n")]


def outline(text: str, share: Share | None = None) -> Outline:  # noqa: ARG001  # sizes do not matter
    r"""Return the headings, blocks and links of a Markdown text.

    Example:
        >>> [type(part).__name__ for part in outline("# Moon\n\nIt is far.").parts]
        ['Heading', 'Block']
    """
    parsed = _parse(text)
    tokens, starts, _ = parsed
    begins = _block_begins(parsed)
    ends = [*begins[1:], (len(starts) - 1, len(tokens))]
    parts: list[Heading | Block | Close] = []
    if front := telling_front_matter(text):
        parts.append(Block(*front, "front matter"))
    for (line, i), (end_line, next_token) in zip(begins, ends, strict=True):
        start, end = trim_span(text, starts[line], starts[end_line])
        if start == end:
            continue
        before = parts[-1] if parts else None
        if (
            i == _NO_TOKEN
            and isinstance(before, Heading)
            and _OWN_ANCHORS.fullmatch(text, start, end)
        ):
            parts[-1] = before._replace(end=end)
            continue
        kind = tokens[i].type if i != _NO_TOKEN else "paragraph_open"
        if kind == "html_block" and (end_mark := _CLOSE.fullmatch(text, start, end)):
            parts.append(Close(int(end_mark[1])))
            continue
        if kind == "heading_open":
            first = start
            while parts and isinstance(label := parts[-1], Block) and _is_label(text, label):
                first = label.start
                parts.pop()
            level, words = int(tokens[i].tag[1]), _heading_words(tokens[i + 1])
            parts.append(Heading(level, words, first, end, start if first < start else None))
        elif kind.endswith("_list_open"):
            inside = tokens[i : None if next_token == _NO_TOKEN else next_token]
            items = _list_items(text, inside, starts, end_line)
            parts.append(Block(start, end, "list", items))
        elif kind == "table_open":
            parts.append(Block(start, end, "lines", title=_columns(tokens, i)))
        else:
            parts.append(Block(start, end, "lines" if kind in _LINE_BLOCKS else "prose"))
    return Outline(tuple(parts), tuple(_links(text, parsed)))


def _is_label(text: str, block: Block) -> bool:
    """Return whether a block is labels of MyST, which belong to the heading below."""
    own = text[block.start : block.end].split("\n")
    return all(_LABEL.fullmatch(line.strip()) for line in own if line.strip())


def find_title(text: str, is_named: bool = True) -> str | None:
    r"""Return the title in front matter or a header, else the heading that is it, else None.

    Args:
        text: The text.
        is_named: Whether the name of the file may be the title where no heading is.

    Example:
        >>> find_title("---\ntitle: Tides\n---\n# Moon"), find_title("# Moon"), find_title("Moon")
        ('Tides', 'Moon', None)
    """
    if title := front_matter_title(text) or header_title(text):
        return title
    headings, is_below_text = list[tuple[int, str]](), False
    for token, inside in pairwise(_parse(text, inline=False).tokens):
        if not inside.content.strip():
            continue
        if token.type == "heading_open" and token.level == 0:
            headings.append((int(token.tag[1]), inside.content))
        elif inside.type == "inline" and not headings:
            is_below_text |= has_content(_PICTURE.sub("", inside.content))
    place = find_title_heading(headings, is_below_text=is_below_text, is_named=is_named)
    return None if place is None else _heading_words(_parser().parseInline(headings[place][1])[0])


def find_links(text: str) -> tuple[str, ...]:
    """Return the link targets of a Markdown text, each once."""
    if not any(mark in text for mark in ("](", "]:", "<", "[[")):
        return ()
    return tuple(dict.fromkeys(target for _, target in _links(text, _parse(text))))


def _parse(text: str, inline: bool = True) -> _ParsedText:
    """Parse a text without its front matter, whose lines stay there as empty ones."""
    front = FRONT_MATTER.match(text)
    first_line = len(_LINE_END.findall(front[0])) if front else 0
    body = "\n" * first_line + text[front.end() :] if front else text
    line_starts = [0, *(end.end() for end in _LINE_END.finditer(text)), len(text)]
    return _ParsedText(_parser(inline).parse(body), line_starts, first_line)


@lru_cache(maxsize=2)
def _parser(inline: bool = True) -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table").disable([] if inline else ["inline"])
    words = MarkdownIt("commonmark", {"maxNesting": MAX_BRACKETS})

    def parse_words(state: StateCore) -> None:
        for token in state.tokens:
            if token.type == "inline" and token.children is not None:
                words.inline.parse(token.content, words, state.env, token.children)

    parser.core.ruler.at("inline", parse_words)
    for each in (parser, words):
        for ruler in (each.core.ruler, each.block.ruler, each.inline.ruler, each.inline.ruler2):
            ruler.getRules()  # it lists them at the first call, and other threads may see half
    return parser


def _block_begins(parsed: _ParsedText) -> list[tuple[int, int]]:
    """Return (line, position of the token) for every block.

    The position is `_NO_TOKEN` for text without a token, such as the definitions of references.
    """
    begins = [(parsed.first_line, _NO_TOKEN)]
    for i, token in enumerate(parsed.tokens):
        if token.level == 0 and token.nesting >= 0 and token.map:
            begins.append((token.map[0], i))
            if token.type == "heading_open":
                begins.append((token.map[1], _NO_TOKEN))
    return begins


def _list_items(
    text: str, tokens: Sequence[Token], starts: list[int], end_line: int
) -> tuple[Block, ...]:
    lines = [
        token.map[0]
        for token in tokens
        if token.type == "list_item_open" and token.level == 1 and token.map
    ]
    spans = (
        trim_span(text, starts[first], starts[behind])
        for first, behind in zip(lines, [*lines[1:], end_line], strict=True)
    )
    return tuple(Block(start, end) for start, end in spans if start < end)


def _columns(tokens: Sequence[Token], table: int) -> str:
    """Return the names of the columns of a table, or "" where they are none or very long."""
    names = list[str]()
    for token in islice(tokens, table, None):
        if token.type == "thead_close":
            break
        if token.type == "inline":
            names.append(_heading_words(token))
    written = COLUMNS.join(names)
    return written if any(names) and len(written) <= MAX_COLUMNS else ""


def _heading_words(inline: Token) -> str:
    """Return the text of a heading without its markup."""
    words = (
        " " if child.type.endswith("break") else child.content
        for child in inline.children or ()
        if child.type != "html_inline"
    )
    return " ".join("".join(words).split())


def _links(text: str, parsed: _ParsedText) -> Iterator[tuple[int, str]]:
    """Yield (place, target) of every link.

    The parser tells the lines of a paragraph and the order of its links. A link is at the place
    where its words come next.
    """
    starts = parsed.line_starts
    place, end = 0, len(text)
    for token in parsed.tokens:
        if token.map:
            place, end = max(place, starts[token.map[0]]), starts[token.map[1]]
        children = token.children or []
        for link, inside in zip_longest(children, children[1:]):
            found = list[tuple[str, str]]()  # what it begins with, and its target
            if link.type == "link_open" and inside and (target := link.attrGet("href")):
                mark = "<" if link.markup == "autolink" else "["
                found = [(mark + inside.content, str(target))]
            elif link.type == "text" and "[[" in link.content:
                notes = _NOTE.finditer(link.content)
                found = [(f"[[{note[1]}", f"{NOTE}{note[1].strip()}") for note in notes]
            for beginning, target in found:
                match = text.find(beginning, place, end)
                place = match if match >= 0 else trim_span(text, min(place, end), end)[0]
                yield place, target
                place += 1
