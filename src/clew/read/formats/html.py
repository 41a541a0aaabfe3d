"""A page of HTML becomes a Markdown text, which is then read as any other; what is not its content is left out.

Left out are scripts, styles, forms, navigation and what is hidden. Where the page marks its main part (`main`, or its one `article`),
that alone is read; else all but the head and foot of the page. Emphasis leaves no mark: nothing is read by it.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from clew.read.formats.markdown_writer import MarkdownWriter

SUFFIXES = (".html", ".htm", ".xhtml")
HEAD = 4096  # bytes in which a page says its encoding
SILENT = frozenset((
    "script", "style", "noscript", "template", "head", "nav", "form", "button", "input", "select", "textarea", "svg", "canvas", "iframe",
    "object", "embed", "audio", "video", "dialog", "menu", "annotation", "rt", "rp",
))  # fmt: skip
AROUND = frozenset(("header", "footer", "aside"))
ROLES = frozenset(
    ("navigation", "search", "menu", "menubar", "toolbar", "alert", "dialog", "tooltip")
)
AROUND_ROLES = frozenset(("banner", "contentinfo", "complementary"))
_DECLARED = re.compile(
    rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w:.-]+)|^\s*<\?xml[^>]+encoding\s*=\s*[\"']([\w:.-]+)",
    re.IGNORECASE,
)
_WIDER = {  # what browsers take for what pages say (the WHATWG encoding standard)
    **dict.fromkeys(("ascii", "iso8859-1"), "windows-1252"),
    "iso8859-9": "windows-1254",
    "tis-620": "windows-874",
    **dict.fromkeys(("gb2312", "gbk"), "gb18030"),
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    **dict.fromkeys(("utf-16", "utf-16-le", "utf-16-be"), "utf-8"),
}


class HtmlPage(NamedTuple):
    """What was read of a page: its title and language, where they are said, its own address, and its text in Markdown."""

    title: str | None
    language: str | None
    url: str | None
    text: str


def decoded(raw: bytes) -> tuple[str, str]:
    """Return the text of a page and its encoding: by its mark, else as it declares, else UTF-8, else what old pages were written in.

    A character that the encoding does not have becomes U+FFFD.
    """
    for mark, name in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ):
        if raw.startswith(mark):
            return raw[len(mark) :].decode(name, "replace"), name
    declared = _DECLARED.search(raw[:HEAD])
    names = [(declared[1] or declared[2]).decode("ascii")] if declared else []
    for name in [*names, "utf-8", "windows-1252"]:
        try:
            known = codecs.lookup(name).name
            known = _WIDER.get(known, known)
            return raw.decode(known), known
        except (UnicodeDecodeError, LookupError):
            continue
    return raw.decode("utf-8" if not declared else "windows-1252", "replace"), "windows-1252"


def page(html: str) -> HtmlPage:
    """Return what is read of a page."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(html)
    base = _attribute(tree.css_first("base[href]"), "href")
    canonical = _attribute(tree.css_first('link[rel="canonical"][href]'), "href")
    said, title = "", None
    for root, strict in _roots(tree):
        writer = MarkdownWriter(base)
        _walk(root, writer, strict)
        said = writer.text()
        if said:
            title = writer.title
            break
    named = tree.css_first("head > title") or tree.css_first("title")
    title = title or " ".join((named.text() if named else "").split()) or None
    language = _attribute(tree.css_first("html"), "lang")
    absolute = (
        canonical
        if canonical and urlsplit(canonical).scheme
        else (urljoin(base, canonical) if base and canonical else None)
    )
    return HtmlPage(title, language, absolute, said)


def _roots(tree: Any) -> Iterator[tuple[Any, int]]:
    """Where to read, and how strictly, until there is text: the main part, the body without what is around it, all of the body."""
    main = tree.css_first("main") or tree.css_first('[role="main"]')
    articles = tree.css("article")
    if main is not None or len(articles) == 1:
        yield main if main is not None else articles[0], 1
    if tree.body is not None:
        yield tree.body, 2
        yield tree.body, 0


def _walk(root: Any, writer: MarkdownWriter, strict: int) -> None:
    """Go through the tree without recursion: pages are nested as deep as their makers forgot to close."""
    node = root
    while True:
        if node.tag == "-text":
            writer.words(node.text_content or "")
        entered = node.tag[0] != "-" and not (node is not root and _silent(node, strict))
        if entered:
            writer.enter(node.tag, node)
            if node.child is not None:
                node = node.child
                continue
            writer.leave(node.tag)
        while node.next is None or node.mem_id == root.mem_id:
            if node.mem_id == root.mem_id:
                return
            node = node.parent
            writer.leave(node.tag)
        node = node.next


def _silent(node: Any, strict: int) -> bool:
    tag = node.tag
    if tag in ("script", "style", "template", "head", "svg") or (strict and tag in SILENT):
        return True
    attributes = node.attributes
    if (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or "display:none" in (attributes.get("style") or "").replace(" ", "")
    ):
        return True
    if tag == "a" and "headerlink" in (attributes.get("class") or ""):
        return True
    role = attributes.get("role") or ""
    if strict and role in ROLES:
        return True
    if strict < 2:
        return False
    return (
        tag in AROUND and not (tag == "header" and node.css_first("h1") is not None)
    ) or role in AROUND_ROLES


def _attribute(node: Any, name: str) -> str | None:
    return (node.attributes.get(name) or "").strip() or None if node is not None else None
