"""Text as Markdown: escaped, in a fence, or as it is; and the sentences and examples in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import dedent
from urllib.parse import unquote

from clew.documentation.fences import PROSE
from clew.text.spans import sentences

MIN_SENTENCE = 20  # characters; a sentence of a summary is longer
SENTENCE_ENDS = ".!?。！？।؟"

_DOCSTRING = re.compile(r'("""|\'\'\')(.+?)(?:\1|\Z)', re.DOTALL)
# A group that fails behind a repetition ends with `|(?!)`: Python 3.11.0 to 3.11.4 would else take
# what a possessive group has tried in vain.
_SESSION = re.compile(r"^[ \t]*>>> .*+(?:\n[ \t]*+[^ \t\n].*+|(?!))*+", re.MULTILINE)
SCHEMES = ("http", "https", "mailto", "ftp", "ftps")  # of links that documentation may have

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,40}):")
_UNSEEN = re.compile(r"[\x00-\x20\x7f-\xa0\u200b-\u200f]")
_BACKTICKS = re.compile(r"`+")
_TAG = re.compile(r"(?<!\\)<(?=[A-Za-z/!?])(?!https?://|mailto:)")
_ADDRESSED = re.compile(  # up to the scheme of a link, or of an address that links name
    r"(?:\]\(|^ {0,3}\[[^\[\]\n]{1,200}\]:)[ \t]*<?([A-Za-z][A-Za-z0-9+.-]{0,40}):", re.MULTILINE
)
_FENCE = re.compile(r"`{3,}|~{3,}")
_LITERAL = re.compile(  # with the role that reStructuredText may put before it
    r"(?::\w+(?::\w+)?:)?``?([^`\n]+)``?"
)
_CODE_SIGN = re.compile(r"[{}=;]|[\w)\]]\(|\[\(|-->")  # beside literals
_ITEM = re.compile(r"\n(?=[ \t]*\n)|(?:^|\n)[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+")
_RST_LINK = re.compile(  # `title <address>`_ and :ref:`title <label>`
    r"`([^`<]*?) ?<[^`>]*>`_{1,2}|:(?:doc|ref|term|pep):`([^`<]*?)(?: ?<[^`>]*>)?`"
)
_PICTURE = re.compile(r"!\[[^\[\]]*\]\([^()]*\)")
_EMPHASIS = re.compile(r"\*\*([^*\n]{1,500})\*\*|(?<![\w*])\*([^*\n ][^*\n]{0,500})\*(?![\w*])")
_ADDRESS = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)")
_MARKUP = re.compile(r"([\\`*_<>\[\]#|])")


def escape_markdown(text: str) -> str:
    r"""Return the text without meaning as Markdown.

    Example:
        >>> print(escape_markdown("a *b*"))
        a \*b\*
    """
    return _MARKUP.sub(r"\\\1", text)


def one_line(text: str) -> str:
    """Return the text on one line, without meaning as Markdown."""
    return escape_markdown(" ".join(text.split()))


def prose_with_literals(text: str) -> str:
    r"""Return the text without meaning as Markdown, but for its literals.

    The literals of reStructuredText and Markdown become literals in single backticks.

    Example:
        >>> print(prose_with_literals("``load`` takes *args"))
        `load` takes \*args
    """
    parts = _LITERAL.split(text)
    return "".join(f"`{part}`" if i % 2 else escape_markdown(part) for i, part in enumerate(parts))


def as_markdown(text: str, language: str) -> str:
    """Return the text as Markdown.

    Args:
        text: The text.
        language: What `fences.language_of` returns: Markdown stays as it is, other prose is
            escaped, code and data stand in a fence.
    """
    if language == "markdown":
        return text
    if language in PROSE:
        return escape_markdown(text.strip("\n"))
    code = _dedent(text)
    fence = fence_for(text)
    return f"{fence}{language}\n{code}\n{fence}"


def fence_for(text: str) -> str:
    """Return a fence that the text does not contain."""
    return "`" * max(3, 1 + max((len(run) for run in _BACKTICKS.findall(text)), default=0))


def safe_markdown(text: str) -> str:
    r"""Return a Markdown text that holds no HTML, and no link that runs a program.

    What would be a tag is shown as it is written, and so is a link that leads anywhere but to a
    page, a file or an address for letters. Where something is still either, the whole text is.

    Example:
        >>> print(safe_markdown("*Here*: <b>bold</b>"))
        *Here*: &lt;b>bold&lt;/b>
    """
    if _is_safe(text):
        return text
    parts = list(code_and_prose(text))
    without_tags = "".join(part if is_code else _TAG.sub("&lt;", part) for part, is_code in parts)
    if _is_safe(without_tags):
        return without_tags
    plain = "".join(part if is_code else _without_links(part) for part, is_code in parts)
    return plain if _is_safe(plain) else escape_markdown(text)


def _without_links(prose: str) -> str:
    """Return prose with what would be a tag, or a link that may not be, as it is written."""

    def mark(match: re.Match[str]) -> str:
        if match[1].lower() in SCHEMES:
            return match[0]
        return (
            match[0].replace("](", "]\\(", 1)
            if match[0][0] == "]"
            else match[0].replace("[", "\\[", 1)
        )

    return _ADDRESSED.sub(mark, _TAG.sub("&lt;", prose))


def code_and_prose(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a Markdown text, and whether each is code, as far as its signs tell."""
    fence, prose = "", list[str]()
    for line in text.splitlines(keepends=True):
        opening = _FENCE.match(line.lstrip(" "))
        if not fence and opening:
            yield from _code_spans("".join(prose))
            fence, prose = opening[0], []
            yield line, True
        elif fence:
            if line.lstrip(" ").startswith(fence):
                fence = ""
            yield line, True
        elif line.strip():
            prose.append(line)
        else:  # no span of code reaches over an empty line
            yield from _code_spans("".join(prose))
            prose = []
            yield line, False
    yield from _code_spans("".join(prose))


def _code_spans(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a paragraph, and whether each is a span of code.

    A span reaches from some backticks to the next run of as many.
    """
    runs = list(_BACKTICKS.finditer(text))
    places: dict[int, list[int]] = {}  # by length, the last place first
    for i in range(len(runs) - 1, -1, -1):
        places.setdefault(len(runs[i][0]), []).append(i)
    i, begin = 0, 0
    while i < len(runs):
        same = places[len(runs[i][0])]
        while same and same[-1] <= i:
            same.pop()
        if same:
            yield text[begin : runs[i].start()], False
            i, start = same[-1], runs[i].start()
            begin = runs[i].end()
            yield text[start:begin], True
        i += 1
    yield text[begin:], False


def _is_safe(text: str) -> bool:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    parser.validateLink = lambda _url: True  # type: ignore[method-assign, assignment]  # it is looked at below
    for block in parser.parse(text):
        for token in (block, *(block.children or ())):
            if token.type in ("html_block", "html_inline"):
                return False
            target = str(token.attrGet("href") or token.attrGet("src") or "")
            scheme = _SCHEME.match(_UNSEEN.sub("", unquote(target)))
            if scheme and scheme[1].lower() not in SCHEMES:
                return False
    return True


def examples_in(text: str) -> list[str]:
    r"""Return the Python sessions and the fenced code blocks in a text.

    Example:
        >>> examples_in("Try it:\n\n    >>> 1 + 1\n    2\n")
        ['>>> 1 + 1\n2']
    """
    sessions = [_dedent(match.group(0)) for match in _SESSION.finditer(text)]
    return sessions + list(_fenced_blocks(text))


def prose_sentences(text: str, language: str) -> list[str]:
    """Return the whole sentences of the prose in a text, each on one line.

    Args:
        text: The text.
        language: What `fences.language_of` returns; of code, the documentation strings are prose.
    """
    if language == "markdown":
        passages = _ITEM.split(_prose_of_markdown(text))
    elif language in PROSE:
        passages = [_RST_LINK.sub(r"\1\2", text) if language == "rst" else text]
    else:
        passages = [match.group(2) for match in _DOCSTRING.finditer(text)]
    result = list[str]()
    for passage in passages:
        for start, end in sentences(passage, 0, len(passage), "en"):
            sentence = " ".join(passage[start:end].split())
            is_whole = len(sentence) > MIN_SENTENCE and sentence[-1:] in SENTENCE_ENDS
            is_code = language in PROSE and _CODE_SIGN.search(_LITERAL.sub("", sentence))
            if is_whole and ">>>" not in sentence and not is_code:
                result.append(sentence)
    return result


def _prose_of_markdown(text: str) -> str:
    """Return a Markdown text without code blocks, tables, pictures, addresses and emphasis."""
    parts = (
        "\n\n" if is_code and (part[:1] in " ~" or part.startswith("```") or "\n" in part) else part
        for part, is_code in code_and_prose(text)
    )
    lines = (
        line for line in "".join(parts).split("\n") if not line.lstrip().startswith(("|", "#"))
    )
    plain = _ADDRESS.sub(r"\1", _PICTURE.sub("", "\n".join(lines)))
    return _EMPHASIS.sub(r"\1\2", plain)


def _fenced_blocks(text: str) -> Iterator[str]:
    """Yield what stands between two fences; one that is not closed holds the rest and no block."""
    fence, inside = "", list[str]()
    for line in text.split("\n"):
        if fence and line.startswith(fence):
            yield "\n".join(inside).rstrip()
            fence, inside = "", []
        elif fence:
            inside.append(line)
        elif opening := _FENCE.match(line):
            fence = opening[0]


def _dedent(text: str) -> str:
    """The text moved to the left as a whole.

    A session that starts at its first sign, without the space before it, keeps its first line.
    """
    lines = text.strip("\n").split("\n")
    if len(lines) > 1 and lines[0].startswith(">>>"):
        return "\n".join([lines[0], dedent("\n".join(lines[1:]))])
    return dedent("\n".join(lines))
