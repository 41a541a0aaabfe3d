"""The outline of a CommonMark text: its headings, its blocks, and the links written in it, each with its place.

markdown-it-py says in which line a block begins; here it reaches up to the next one. So headings, blocks and the front matter (YAML
between two lines of `---` at the top, of which only the title is read) together leave out nothing but space.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

from clew.read.formats.outline import Block, Heading, Outline
from clew.text.spans import trim_span

_END = r"(?:\r\n?|\n)"
_FRONT = re.compile(
    rf"---[ \t]*{_END}(?=[\w\"'-]+[ \t]*:)(?:[^\r\n]*{_END})*?(?:---|\.\.\.)[ \t]*(?:{_END}|\Z)"
)
_TITLE = re.compile(rf"{_END}title[ \t]*:[ \t]*(?![>|])([^\r\n]*)")
_LINE_END = re.compile(_END)
_LINES = ("fence", "code_block", "table_open", "html_block")


def outline(text: str) -> Outline:
    """Return what a Markdown text consists of."""
    tokens, starts, first = _parsed(text)
    begins: list[tuple[int, int]] = [
        (first, -1)
    ]  # line, token; -1 for what no token tells of, such as the targets of references
    for i, token in enumerate(tokens):
        if token.level == 0 and token.nesting >= 0 and token.map:
            begins.append((token.map[0], i))
            if token.type == "heading_open":
                begins.append((token.map[1], -1))
    parts: list[Heading | Block] = []
    for (line, i), (stop, following) in zip(
        begins, [*begins[1:], (len(starts) - 1, len(tokens))], strict=True
    ):
        start, end = trim_span(text, starts[line], starts[stop])
        if start == end:
            continue
        kind = tokens[i].type if i >= 0 else "paragraph_open"
        if kind == "heading_open":
            parts.append(Heading(int(tokens[i].tag[1]), _words(tokens[i + 1]), start, end))
        elif kind.endswith("_list_open"):
            inside = tokens[i : following if following >= 0 else None]
            lines = [
                token.map[0]
                for token in inside
                if token.type == "list_item_open" and token.level == 1
            ]
            items = (
                trim_span(text, starts[a], starts[b])
                for a, b in zip(lines, [*lines[1:], stop], strict=True)
            )
            parts.append(Block(start, end, "list", tuple(Block(a, b) for a, b in items if a < b)))
        else:
            parts.append(Block(start, end, "lines" if kind in _LINES else "prose"))
    return Outline(tuple(parts), tuple(_links(text, tokens, starts)))


def title_of(text: str) -> str | None:
    """Return the title in the front matter, else the first heading, else None."""
    if title := front_title(text):
        return title
    tokens, _, _ = _parsed(text, inline=False)
    for token, inside in pairwise(tokens):
        if token.type == "heading_open" and token.level == 0 and inside.content.strip():
            return _words(_parser().parseInline(inside.content)[0])
    return None


def front_matter(text: str) -> int:
    """Return where the front matter ends; 0 where there is none."""
    front = _FRONT.match(text)
    return front.end() if front else 0


def front_title(text: str) -> str | None:
    """Return the title that the front matter gives, if any."""
    front = _FRONT.match(text)
    said = _TITLE.search(front[0]) if front else None
    return (said[1].strip("\"' \t") or None) if said else None


def links_of(text: str) -> tuple[str, ...]:
    """Return the link targets written in a Markdown text, each once."""
    if "](" not in text and "]:" not in text and "<" not in text:
        return ()
    tokens, starts, _ = _parsed(text)
    return tuple(dict.fromkeys(target for _, target in _links(text, tokens, starts)))


def _parsed(text: str, inline: bool = True) -> tuple[Sequence[Any], list[int], int]:
    """The tokens, where every line starts (and the text ends), and the first line behind the front matter."""
    front = _FRONT.match(text)
    first = len(_LINE_END.findall(front[0])) if front else 0
    body = "\n" * first + text[front.end() :] if front else text
    starts = [0, *(end.end() for end in _LINE_END.finditer(text)), len(text)]
    return _parser(inline).parse(body), starts, first


@lru_cache(maxsize=2)
def _parser(inline: bool = True) -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table").disable([] if inline else ["inline"])


def _words(inline: Any) -> str:
    """What is read of a heading, without marks."""
    said = (
        " " if child.type.endswith("break") else child.content
        for child in inline.children or ()
        if child.type != "html_inline"
    )
    return " ".join("".join(said).split())


def _links(text: str, tokens: Sequence[Any], starts: list[int]) -> Iterator[tuple[int, str]]:
    """The parser tells the lines of a paragraph and the order of its links: the place of each is where its words are found next."""
    at, stop = 0, len(text)
    for token in tokens:
        if token.map:
            at, stop = max(at, starts[token.map[0]]), starts[token.map[1]]
        for link, inside in pairwise(token.children or ()):
            if link.type == "link_open" and (target := link.attrGet("href")):
                found = text.find(
                    ("<" if link.markup == "autolink" else "[") + inside.content, at, stop
                )
                at = found if found >= 0 else trim_span(text, min(at, stop), stop)[0]
                yield at, str(target)
                at += 1
