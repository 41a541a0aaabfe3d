"""A page of Markdown as a page of HTML that needs nothing else: no network, and no script.

Markdown is read strictly: of HTML in it only what the pages themselves are made with is kept, each
by its exact form, and everything else is shown as it is written. Links lead to pages, to files and
to addresses of the schemes that documentation may have.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote

from clew.documentation.markdown import SCHEMES
from clew.show.escaping import escaped
from clew.show.page import digest

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

PageFormat = Literal["markdown", "html"]
MARK = "<!-- made by clew document: written anew each time -->"
_OWN_HTML = re.compile(
    r'<a id="[^"<>&]*">|</a>|<details><summary>[\d,]+ passages are in no section</summary>'
    r"|</details>"
)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")


def to_html_page(markdown: str, pages: Collection[str], title: str = "") -> str:
    r"""Return a page of HTML.

    Args:
        markdown: The page, without the mark of its making.
        pages: The names of all pages of the site, which end in ".md": links to them lead to the
            same names in ".html".
        title: The title of the window; by default the page's first heading.

    Example:
        >>> page = to_html_page("# Oars\n\nOf <b>ash</b>, see [sails](sails.md).", ["sails.md"])
        >>> '<p>Of &lt;b&gt;ash&lt;/b&gt;, see <a href="sails.html">sails</a>.</p>' in page
        True
    """
    parser = _parser()
    tokens = parser.parse(markdown)
    for token in tokens:
        for one in (token, *(token.children or ())):
            _retarget(one, pages)
    heading = next((tokens[i + 1].content for i, t in enumerate(tokens) if t.tag == "h1"), "")
    body = parser.renderer.render(tokens, parser.options, {})
    body = body.replace("<pre>", '<pre tabindex="0">')  # a long line is scrolled by keys, too
    return html_page(title or heading.replace("`", "").replace("\\", ""), f"<main>\n{body}</main>")


def html_page(title: str, body: str, script: str = "", data: str = "") -> str:
    """Return a page with a policy that allows nothing but its own style and script.

    Args:
        title: The title of the window.
        body: HTML that is safe.
        script: The script; "" for none.
        data: JSON that the script reads; it is not run.
    """
    style = asset("site.css")
    scripts = f"; script-src '{digest(script)}'" if script else ""
    policy = (
        f"default-src 'none'; style-src '{digest(style)}'{scripts}; base-uri 'none'; "
        "form-action 'none'"
    )
    held = f'<script type="application/json" id="data">{_in_script(data)}</script>' if data else ""
    run = f"<script>{script}</script>" if script else ""
    return (
        f'{MARK}\n<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="referrer" content="no-referrer">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escaped(title)}</title><style>{style}</style></head>\n"
        f"<body>{body}{held}{run}</body></html>\n"
    )


@cache
def asset(name: str) -> str:
    """Return a style or a script of this package."""
    return files("clew.documentation").joinpath(name).read_text(encoding="utf-8")


def _in_script(data: str) -> str:
    """Return JSON that cannot end the element that it stands in."""
    return data.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    parser.validateLink = _is_allowed  # type: ignore[method-assign, assignment]  # a stricter rule
    parser.add_render_rule("html_block", _own_html)
    parser.add_render_rule("html_inline", _own_html)
    parser.add_render_rule("image", _picture)
    return parser


def _is_allowed(address: str) -> bool:
    scheme = _SCHEME.match(re.sub(r"[\x00-\x20\x7f-\xa0]", "", address))
    return scheme is None or scheme[1].lower() in SCHEMES


def _own_html(_self: object, tokens: list[Token], i: int, _options: object, _env: object) -> str:
    """Return the HTML that the pages are made with; other HTML as it is written."""
    parts, begin, content = list[str](), 0, tokens[i].content
    for match in _OWN_HTML.finditer(content):
        parts += [escaped(content[begin : match.start()]), match[0]]
        begin = match.end()
    return "".join([*parts, escaped(content[begin:])])


def _retarget(token: Token, pages: Collection[str]) -> None:
    """Let a link to a page in Markdown lead to the page in HTML."""
    target = token.attrGet("href")
    if isinstance(target, str):
        name, mark, anchor = target.partition("#")
        if unquote(name) in pages:  # the parser has written what is not ASCII in percents
            token.attrSet("href", f"{name.removesuffix('.md')}.html{mark}{anchor}")


def _picture(_self: object, tokens: list[Token], i: int, _options: object, _env: object) -> str:
    """Return a link to a picture, which the policy of the page would not load."""
    address = str(tokens[i].attrGet("src") or "")
    return f'<a href="{escaped(address)}">{escaped(tokens[i].content or address)}</a>'
