"""A page of HTML becomes a Markdown text, which is then read as any other Markdown.

Scripts, styles, forms, navigation and hidden elements are left out, but for a form that is around
most of the page, as ASP.NET writes one. Where the page marks its main part (`main`, or its one
`article`, unless most is said beside it), only that part is read; otherwise the whole body without
its header, footer and asides. Emphasis leaves no mark, since nothing reads it. A page that forwards
its readers to another one and has little more to say is not read: the other one is. Of the front
matter of a page that a generator of sites reads (Jekyll, Hugo) the title is read, where the page
has none.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin, urlsplit

from clew.document import Document
from clew.read.formats.declared_encoding import (
    DECLARATION_BYTES,
    known_encoding,
    wider_encoding,
)
from clew.read.formats.front_matter import front_matter_end, front_matter_title
from clew.read.formats.source_file import SourceFile, UnreadableFileError
from clew.source_map import LineStart, SourceMap

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

    from clew.read.formats.markdown_writer import MarkdownWriter

MAX_FORWARDING_WORDS = 60  # of a page that has nothing to say but where it forwards to
XML_SUFFIX = ".xhtml"  # of pages that browsers read as XML
NEVER_READ = ("script", "style", "template", "head", "svg")
NO_CONTENT = frozenset((
    "annotation", "audio", "button", "canvas", "dialog", "embed", "form", "iframe", "input", "menu",
    "nav", "noscript", "object", "rp", "rt", "select", "textarea", "video", *NEVER_READ,
))  # fmt: skip
NO_CONTENT_ROLES = frozenset(
    ("navigation", "search", "menu", "menubar", "toolbar", "alert", "dialog", "tooltip")
)
SURROUNDINGS = frozenset(("header", "footer", "aside"))
SURROUNDING_ROLES = frozenset(("banner", "contentinfo", "complementary"))
OTHER_PROSE = "body p:not(nav p, header p, footer p, aside p, article p)"
MIN_SHARE = 0.5  # of the paragraphs beside it, which an article has that is the main part
PROSE = "p, table, ul, ol, h1, h2, h3, h4, h5, h6"  # of which a form around a page has some
_DECLARED = re.compile(
    rb"<meta[^<>]+charset\s*+=\s*+[\"']?+\s*+([\w:.-]+)|^\s*<\?xml[^>]+encoding\s*=\s*[\"']([\w:.-]+)",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[^\r\n]+")
# An element of XML without content, which an element of HTML without a void name is not.
_EMPTY_TAG = re.compile(
    r"<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)\b)"
    r"([a-z][\w:.-]*+)((?:\s[^<>]*?)?)/>",
    re.IGNORECASE,
)
# Code whose words are coloured and nothing else: a page about programs consists of them.
_COLOURED = re.compile(r"<pre[^<>]*+>(?:[^<]++|</?span(?: class=\"[\w -]*+\")?>|(?!))*+</pre>\s*+")
# Between the names of a page and of its site in a title, and between these the other way round.
_BEHIND_PAGE = re.compile(r"\s[-–—|/·•»]\s|\s?[|—·•»]\s?")
_BEFORE_PAGE = re.compile(rf"(?:{_BEHIND_PAGE.pattern}|:\s)\Z")
# What browsers read of `<meta http-equiv="refresh" content="0; url=tides.html">`.
_FORWARDED = re.compile(
    r"\s*+[\d.]++\s*+[;,]\s*+(?:url\s*+=\s*+|(?!))?+[\"']?+([^\"'\s]++)", re.IGNORECASE
)
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class HtmlPage(NamedTuple):
    """What is read of a page.

    Attributes:
        title: The first heading of level 1, else the title in the head or the front matter,
            without what the first heading of another level repeats, or None.
        language: The declared language, or None.
        url: The page's own address, or None.
        text: The content in Markdown.
        lines: Where the lines of the source begin in `text`.
        anchors: Pairs (place in `text`, anchor of the page).
        forwards_to: The address of the page that the browser opens in its place, or None.
        targets: Pairs (place in `text`, name) of all that an address may lead to.
        is_headed: Whether the text has a heading.
    """

    title: str | None
    language: str | None
    url: str | None
    text: str
    lines: Sequence[LineStart] = ()
    anchors: Sequence[tuple[int, str]] = ()
    forwards_to: str | None = None
    targets: Sequence[tuple[int, str]] = ()
    is_headed: bool = True


class _Strictness(IntEnum):
    """How much beside scripts and hidden elements is left out."""

    EVERYTHING = 0  # nothing more
    CONTENT = 1  # forms, navigation and the like
    MAIN = 2  # these, and the header, footer and asides of the page


def read(file: SourceFile) -> Iterator[Document]:
    """Yield the page as one Markdown document."""
    if file.encoding is None:
        text, encoding = decode(file.raw)
    else:
        text, encoding = file.raw.decode(file.encoding, "replace"), file.encoding
    if "\0" in text:
        raise UnreadableFileError("binary")
    file.report_lost(file.raw, text, encoding)
    if file.path.suffix.lower() == XML_SUFFIX:
        text = _EMPTY_TAG.sub(r"<\1\2></\1>", text)  # or a `<title/>` would be all that follows
    page = parse_page(text)
    if not page.text:
        raise UnreadableFileError("a page without text")
    if _only_forwards(page, file.path.name):
        raise UnreadableFileError(f"a page that forwards to {page.forwards_to}")
    page = _under_its_title(page)
    declared = {"language": page.language, "url": page.url}
    metadata = {key: value for key, value in declared.items() if value}
    source_map = SourceMap.of(file.id, page.lines, page.anchors, targets=page.targets)
    document = file.document(page.text, "markdown", title=page.title, **metadata, read_as="html")
    yield replace(document, source_map=source_map)


def decode(raw: bytes) -> tuple[str, str]:
    """Return the text of a page, and its encoding.

    The encoding is that of its byte order mark, else the declared one, else UTF-8, else
    windows-1252, in which old pages are written. A byte that the encoding does not have becomes
    U+FFFD.

    Example:
        >>> decode("<p>Olympia in Élis".encode("latin-1"))
        ('<p>Olympia in Élis', 'cp1252')
    """
    for mark, name in _BYTE_ORDER_MARKS:
        if raw.startswith(mark):
            return raw[len(mark) :].decode(name, "replace"), name
    declared = _DECLARED.search(raw[:DECLARATION_BYTES])
    names = [(declared[1] or declared[2]).decode("ascii")] if declared else []
    for name in [*names, "utf-8", "cp1252"]:
        encoding = wider_encoding(known_encoding(name) or "utf-8")
        try:
            return raw.decode(encoding), encoding
        except UnicodeError:
            continue
    encoding = "cp1252" if declared else "utf-8"
    return raw.decode(encoding, "replace"), encoding


def parse_page(html: str) -> HtmlPage:
    r"""Return what is read of a page.

    Example:
        >>> parse_page("<nav>Home</nav><h1>Tides</h1><p>See <a href=moon.md>the moon</a>.").text
        '# Tides\n\nSee [the moon](moon.md).'
    """
    from selectolax.lexbor import LexborHTMLParser

    # Most folders have no pages: what writes them is loaded where there are some.
    from clew.read.formats.markdown_writer import MarkdownWriter
    from clew.read.formats.page_source import PageSource

    front = html[: front_matter_end(html)]
    html = _WORDS.sub("", front) + html[len(front) :]  # so that lines stay where they are
    tree = LexborHTMLParser(html)
    base = _attribute(tree.css_first("base[href]"), "href")
    text, lines, anchors = "", list[LineStart](), list[tuple[int, str]]()
    targets = list[tuple[int, str]]()
    title, first_heading = None, None
    for root, strictness in _roots(tree):
        writer = MarkdownWriter(base, PageSource(html))
        _write_tree(root, writer, strictness)
        text = writer.text()
        if text:
            title, first_heading = writer.title, writer.first_heading
            lines, anchors = writer.places()
            targets = writer.targets()
            break
    in_head = tree.css_first("head > title") or tree.css_first("title")
    head_title = " ".join((in_head.text() if in_head else "").split())
    head_title = head_title or front_matter_title(front) or ""
    title = title or title_beside_heading(head_title, first_heading or "") or None
    language = _attribute(tree.css_first("html"), "lang")
    url = _own_address(tree, base)
    forwards_to = _forwarding_address(tree)
    is_headed = first_heading is not None
    return HtmlPage(title, language, url, text, lines, anchors, forwards_to, targets, is_headed)


def title_beside_heading(title: str, heading: str) -> str:
    """Return the title of a page whose text begins with a heading, so that nothing comes twice.

    The title in the head of a page often has the heading in it, and the name of the site: "Tides -
    The Sea", "Tides | The Sea", "The Sea: Tides".

    Args:
        title: The title in the head, in one line.
        heading: The first heading, in one line.

    Returns:
        The heading where the title begins with it and goes on behind a separator; what is before
        the separator where the title ends with it; else the title.

    Example:
        >>> title_beside_heading("Tides — The Sea 3.1 documentation", "Tides")
        'Tides'
        >>> title_beside_heading("The Sea: Tides", "Tides")
        'The Sea'
        >>> title_beside_heading("Tides-and-winds", "Tides")
        'Tides-and-winds'
    """
    size = len(heading)
    if not heading or len(title) <= size:
        return title
    if title[:size].lower() == heading.lower() and _BEHIND_PAGE.match(title, size):
        return heading
    if title[-size:].lower() == heading.lower():
        separator = _BEFORE_PAGE.search(title[:-size])
        return title[: separator.start()] or heading if separator else title
    return title


def _own_address(tree: LexborHTMLParser, base: str | None) -> str | None:
    canonical = _attribute(tree.css_first('link[rel="canonical"][href]'), "href")
    try:
        if canonical and urlsplit(canonical).scheme:
            return canonical
        return urljoin(base, canonical) if base and canonical else None
    except ValueError:  # an address that is none
        return None


def _forwarding_address(tree: LexborHTMLParser) -> str | None:
    for node in tree.css("meta[http-equiv][content]"):
        if (_attribute(node, "http-equiv") or "").lower() == "refresh":
            found = _FORWARDED.match(_attribute(node, "content") or "")
            return found[1] if found else None
    return None


def _under_its_title(page: HtmlPage) -> HtmlPage:
    """Return a page whose title is in its head alone with it as a heading, so that it is found."""
    if page.is_headed or not page.title or page.title.lower() in page.text.lower():
        return page
    heading = f"# {page.title}\n\n"
    behind = len(heading)
    return page._replace(
        text=heading + page.text,
        lines=[line._replace(place=line.place + behind) for line in page.lines],
        anchors=[(place + behind, name) for place, name in page.anchors],
        targets=[(place + behind, name) for place, name in page.targets],
    )


def _only_forwards(page: HtmlPage, name: str) -> bool:
    """Return whether a page, in a file of this name, has readers go to another one, and no more."""
    try:
        path = urlsplit(page.forwards_to or "").path
    except ValueError:  # an address that is none
        return False
    is_another = bool(path) and path.rpartition("/")[2] != name
    return is_another and len(page.text.split()) <= MAX_FORWARDING_WORDS


def _roots(tree: LexborHTMLParser) -> Iterator[tuple[LexborNode, _Strictness]]:
    """Yield the elements to read, until one of them has text: the main part, then the body."""
    main = tree.css_first("main") or tree.css_first('[role="main"]')
    articles = tree.css("article")
    if main is None and len(articles) == 1 and _is_main_part(articles[0], tree):
        main = articles[0]
    if main is not None:
        yield main, _Strictness.CONTENT
    if tree.body is not None:
        yield tree.body, _Strictness.MAIN
        yield tree.body, _Strictness.EVERYTHING


def _write_tree(root: LexborNode, writer: MarkdownWriter, strictness: _Strictness) -> None:
    """Write a tree without recursion: a page is as deep as the tags that nobody closed."""
    from clew.read.formats.page_source import WRITTEN

    node, source, kept_form = root, writer.source, _form_around(root)
    source.begin(root.tag or "", root.attributes.get("role"), root.attributes.get("id"))
    while True:
        tag = node.tag or "-"
        if tag == "-text":
            writer.write_words(node.text_content or "")
        elif not tag.startswith("-"):
            attributes = node.attributes
            is_kept = node.mem_id in (root.mem_id, kept_form)
            if not is_kept and _is_left_out(node, attributes, strictness):
                source.skip(tag)
                writer.leave_out(tag)
            else:
                child = node.child
                anchor = _anchor(tag, attributes) if attributes else None
                if (anchor or tag in WRITTEN) and node is not root:
                    source.enter(tag, anchor, is_empty=child is None)
                writer.enter(tag, node, anchor)
                if child is not None and not (tag == "pre" and _write_coloured(node, writer)):
                    node = child
                    continue
                writer.leave(tag)
        while node.next is None or node.mem_id == root.mem_id:
            if node.mem_id == root.mem_id or node.parent is None:
                return
            node = node.parent
            writer.leave(node.tag or "")
        node = node.next


def _is_main_part(article: LexborNode, tree: LexborHTMLParser) -> bool:
    """Return whether the only article of a page has a fair share of what the page says.

    Paragraphs beside it count, and no links: of many pages these are the most.
    """
    others = sum(len(paragraph.text(strip=True)) for paragraph in tree.css(OTHER_PROSE))
    return _size(article) >= MIN_SHARE * others


def _form_around(root: LexborNode) -> int | None:
    """Return the number of the form that most words of an element are in; None without one."""
    forms = root.css("form")
    if not forms:
        return None
    sizes = [_size(form) for form in forms]
    largest = max(range(len(forms)), key=sizes.__getitem__)
    is_most = 2 * sizes[largest] > _size(root)
    return forms[largest].mem_id if is_most and forms[largest].css_first(PROSE) else None


def _size(node: LexborNode) -> int:
    """Return how many signs of text an element has."""
    written = sum(len(inner.text(strip=True)) for inner in node.css("script, style"))
    return len(node.text(strip=True)) - written


def _write_coloured(pre: LexborNode, writer: MarkdownWriter) -> bool:
    """Write the words of an element of code, and return whether it has nothing else."""
    if not _COLOURED.fullmatch(pre.html or ""):
        return False
    for words in pre.text(separator="\0").split("\0"):
        writer.write_words(words)
    return True


def _anchor(tag: str, attributes: Mapping[str, str | None]) -> str | None:
    """Return the name by which an address leads to an element, or None."""
    return attributes.get("id") or (attributes.get("name") if tag == "a" else None)


def _is_left_out(
    node: LexborNode, attributes: Mapping[str, str | None], strictness: _Strictness
) -> bool:
    tag = node.tag
    if tag in NEVER_READ:
        return True
    role = ""
    if attributes:
        if _is_hidden(attributes):
            return True
        if tag == "a" and "headerlink" in (attributes.get("class") or ""):
            return True
        role = attributes.get("role") or ""
    if strictness >= _Strictness.CONTENT and (tag in NO_CONTENT or role in NO_CONTENT_ROLES):
        return True
    if strictness < _Strictness.MAIN:
        return False
    if tag == "header" and node.css_first("h1") is not None:
        return role in SURROUNDING_ROLES
    return tag in SURROUNDINGS or role in SURROUNDING_ROLES


def _is_hidden(attributes: Mapping[str, str | None]) -> bool:
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or "display:none" in (attributes.get("style") or "").replace(" ", "")
    )


def _attribute(node: LexborNode | None, name: str) -> str | None:
    return (node.attributes.get(name) or "").strip() or None if node is not None else None
