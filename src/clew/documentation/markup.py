"""The markup of docstrings as Markdown: reStructuredText, Markdown, or a mixture of both.

Sessions, literal blocks and fenced blocks stay as they are written, each in a fence. Names in
literals and roles are given to the caller, who links them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from textwrap import dedent

from clew.documentation.markdown import fence_for, safe_markdown

Link = Callable[[str, str], str]  # (the text of a literal, what it names) -> Markdown
MAX_NESTING = 8  # of lists and directives; deeper ones are shown as they are written

_DIRECTIVE = re.compile(r"\.\. ([\w:.-]+)::(?: +(.*))?$")
_COMMENT = re.compile(r"\.\.(?: (?!\[)|$)")
_TARGET = re.compile(r"\.\. _([^:]+):(?: +(\S+))?$")
_FIELD = re.compile(r":(\w+)(?: +([^:\s][^:]*))?:(?: +(\S.*))?$")
_BULLET = re.compile(r"(?:[-*+•]|\d{1,3}[.)]|#\.) +")
_UNDERLINE = re.compile(r"([=\-~^\"'#*+])\1{2,}$")
_TABLE = re.compile(r"\+[-=+]{3,}\+$|={2,}(?: +={2,})+$")
_FENCE = re.compile(r"(`{3,}|~{3,})")
_CODE = re.compile(
    r"(?:[$>%] |from \w|import \w|@\w|(?:async )?def |class \w|(?:with|for|if|while|try)\b.*:$"
    r"|[\w.]+\(|[\w.\[\], ]+ [-+*/|&]?= |<\w|[{\[(]|\w+:$)"
)
_OPTION = re.compile(r":[\w-]+:")
_INLINE = re.compile(
    r"(?::[a-zA-Z][\w.+-]*)*:(?P<of>[a-zA-Z][\w.+-]*):`(?P<role>[^`]+)`"  # :py:meth:`title <a.b>`
    r"|(?P<fence>`{2,})(?P<literal>.+?)(?<!`)(?P=fence)(?!`)"
    r"|`(?P<text>[^`<]+?) ?<(?P<url>[^`<> ]+)>`_{1,2}"
    r"|`(?P<phrase>[^`]+)`__?(?!\w)"
    r"|`(?P<code>[^`]+)`"
    r"|\[`(?P<intra>[^`]+)`\](?![(\[])"  # of Rust
    r"|(?P<link>!?\[[^\[\]]*\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\))"
    r"|\[(?P<titled>[^\[\]]+)\]\[(?P<titled_target>[\w.]*)\]"
    r"|(?P<strong>\*\*(?=\S)[^*]+?(?<=\S)\*\*(?!\w))"
    r"|(?P<emphasis>(?<![\w*])\*(?=[^\s*])[^*]+?(?<=[^\s*])\*(?![\w*]))"
    r"|(?P<address>https?://[^\s<>`]+)"
    r"|(?<![\w`])(?P<reference>[A-Za-z]\w{0,80}(?:[-.]\w{1,80}){0,8})_(?![\w`])",
    re.DOTALL,
)
_JOINED = re.compile(r"(?<=[`*])\\(?: |(?=\w))|\\ (?=[`*:])")  # :class:`Box`\es
_SPECIAL = re.compile(
    r"([*|])|(?<!\w)(_+)(?=\w)|(?<=\w)(_+)(?!\w)|(&)(?=#?\w+;)|([\[\]])(?=[\[(:])"
)
_LINE_MARK = re.compile(
    r"^([ \t]*+)(#{1,6}(?=\s|$)|[-+=~](?=\s|$)|[-=]{2,}$|\d+(?=[.)]\s)|>)", re.MULTILINE
)
_TITLED = re.compile(r"(.*?) *<([^<>]+)>$", re.DOTALL)
_TO_NAME = re.compile(  # [title](crate::wood::Box) of Rust, and [title](#method.open) of its pages
    r"\[([^\[\]]*)\]\((?:(?P<anchor>#)|(?=\w+::))(?P<target>[\w:.-]+)(?:\(\))?\)"
)
_RUST_LIBRARY = ("std", "core", "alloc")
VERSIONS = {
    "versionadded": "New in version",
    "version-added": "New in version",
    "versionchanged": "Changed in version",
    "version-changed": "Changed in version",
    "versionremoved": "Removed in version",
    "deprecated": "Deprecated since version",
    "version-deprecated": "Deprecated since version",
}
PROSE_ROLES = ("abbr", "doc", "download", "guilabel", "numref", "ref", "sub", "sup", "term")
CODE_DIRECTIVES = (
    *("code-block", "code", "sourcecode", "highlight", "parsed-literal", "testcode"),
    *("doctest", "testsetup", "click:example", "click:run", "ipython", "math"),
)


def markup_to_markdown(text: str, link: Link | None = None) -> str:
    r"""Return a docstring as Markdown without HTML; no word of it is lost.

    Args:
        text: The docstring, without the indentation of its code.
        link: Returns the Markdown of a literal, given its text and what it names. None for plain
            literals.

    Example:
        >>> print(markup_to_markdown("See :class:`~wood.Box`::\n\n    Box(1)"))
        See `Box`:
        <BLANKLINE>
        ```
        Box(1)
        ```
    """
    blocks = _Blocks(text, link or (lambda text, _: as_literal(text)))
    return safe_markdown("\n\n".join(blocks.blocks(text.split("\n"), 0)))


def as_literal(text: str) -> str:
    """Return a text on one line as a literal of Markdown."""
    text = " ".join(text.split())
    marks = "`"
    while marks in text:
        marks += "`"
    padding = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{marks}{padding}{text}{padding}{marks}"


class _Blocks:
    """The blocks of one docstring, and the addresses that it names."""

    def __init__(self, text: str, link: Link) -> None:
        self.link = link
        found = (_TARGET.match(line.strip()) for line in text.split("\n"))
        self.addresses = {one[1].strip("`").lower(): one[2] or "" for one in found if one}

    def blocks(self, lines: Sequence[str], depth: int) -> Iterator[str]:
        """Yield the blocks of lines as Markdown."""
        if depth > MAX_NESTING:
            yield fenced("\n".join(lines))
            return
        i, level = 0, min((_indent(line) for line in lines if line.strip()), default=0)
        while i < len(lines):
            if not lines[i].strip():
                i += 1
                continue
            if _indent(lines[i]) > level and not _is_block(lines, i):
                end, found = self._indented(lines, i, depth)
            else:
                end, found = self._block(lines, i, depth)
            yield from found
            i = max(end, i + 1)

    def _block(self, lines: Sequence[str], i: int, depth: int) -> tuple[int, list[str]]:
        """Return where the block that begins in a line ends, and its Markdown."""
        stripped = lines[i].strip()
        if opening := _FENCE.match(stripped):
            end = _closing_fence(lines, i, opening[1])
            return end, [dedent("\n".join(lines[i:end]))]
        if stripped.startswith(">>>"):
            end = next((k for k in range(i, len(lines)) if not lines[k].strip()), len(lines))
            return end, [fenced(_dedented(lines[i:end]), "pycon")]
        if stripped.startswith(".."):
            return self._explicit(lines, i, depth)
        if _TABLE.match(stripped):
            end = next((k for k in range(i, len(lines)) if not lines[k].strip()), len(lines))
            return end, [fenced(_dedented(lines[i:end]))]
        if _FIELD.match(stripped):
            return self._field(lines, i, depth)
        if _BULLET.match(stripped):
            return self._item(lines, i, depth)
        if i + 1 < len(lines) and _is_underlined(stripped, lines[i + 1]):
            return i + 2, [f"**{self.inline(stripped)}**"]
        return self._paragraph(lines, i, depth)

    def _paragraph(self, lines: Sequence[str], i: int, depth: int) -> tuple[int, list[str]]:
        end = i + 1
        while end < len(lines) and lines[end].strip() and not _starts_block(lines, end):
            deeper = _indent(lines[end]) > _indent(lines[i])
            if deeper and lines[end - 1].rstrip().endswith(":"):
                break
            end += 1
        text = "\n".join(line.strip() for line in lines[i:end])
        follows = next((k for k in range(end, len(lines)) if lines[k].strip()), len(lines))
        is_deeper = follows < len(lines) and _indent(lines[follows]) > _indent(lines[i])
        if text.endswith("::") and is_deeper:
            stop = _end_of_indented(lines, follows, _indent(lines[i]))
            text = text[:-2].rstrip() + ("" if text == "::" else ":")
            code = fenced(_dedented(lines[follows:stop]))
            return stop, [self.inline(text), code] if text else [code]
        if is_deeper and follows == end:  # what follows without an empty line
            stop = _end_of_indented(lines, end, _indent(lines[i]))
            return stop, self._titled(text, lines[end:stop], depth)
        return end, [self.inline(text)]

    def _titled(self, title: str, lines: Sequence[str], depth: int) -> list[str]:
        """Return a line that ends in a colon, and the indented lines beneath it."""
        inner = self._quoted(lines, depth)
        if inner[0].startswith("```") or "\n" in title:
            return [self.inline(title), *inner]
        blocks = list(self.blocks(_dedented(lines).split("\n"), depth + 1))
        if not depth:
            return [f"**{self.inline(title)}**", *blocks]
        return ["\n\n".join([f"- {self.inline(title)}", *blocks]).replace("\n", "\n  ")]

    def _indented(self, lines: Sequence[str], i: int, depth: int) -> tuple[int, list[str]]:
        end = _end_of_indented(lines, i, _indent(lines[i]) - 1)
        return end, self._quoted(lines[i:end], depth)

    def _quoted(self, lines: Sequence[str], depth: int) -> list[str]:
        """Return an indented block: code in a fence, lists as they are, and prose as a quote."""
        own = _dedented(lines).split("\n")
        first = own[0].strip()
        if _CODE.match(first) and not _BULLET.match(first) and not first.startswith(">>>"):
            return [fenced("\n".join(own))]
        inner = "\n\n".join(self.blocks(own, depth + 1))
        if _BULLET.match(first) or first.startswith((">>>", "..", "`")) or _FIELD.match(first):
            return [inner]
        return ["\n".join(f"> {line}".rstrip() for line in inner.split("\n"))]

    def _item(self, lines: Sequence[str], i: int, depth: int) -> tuple[int, list[str]]:
        """Return the items of a list from one on, as one block."""
        items, level = list[str](), _indent(lines[i])
        while i < len(lines):
            bullet = _BULLET.match(lines[i].strip())
            if bullet is None or _indent(lines[i]) != level:
                break
            end = _end_of_indented(lines, i + 1, level)
            while end < len(lines) and lines[end].strip() and not _starts_block(lines, end):
                if end > i and not lines[end - 1].strip():
                    break
                end += 1  # a line that goes on without indentation
            first = lines[i].strip()[len(bullet[0]) :].strip()
            body = [first, *dedent("\n".join(lines[i + 1 : end])).split("\n")]
            mark = bullet[0].strip().replace("•", "-").replace("#.", "1.")
            inner = "\n\n".join(self.blocks(body, depth + 1))
            pad = " " * (len(mark) + 1)
            items.append(f"{mark} " + inner.replace("\n", f"\n{pad}").replace(f"\n{pad}\n", "\n\n"))
            i = next((k for k in range(end, len(lines)) if lines[k].strip()), len(lines))
        return end, ["\n".join(items)]

    def _field(self, lines: Sequence[str], i: int, depth: int) -> tuple[int, list[str]]:
        """Return the fields of reStructuredText from one on, as a list."""
        items = list[str]()
        while i < len(lines) and (field := _FIELD.match(lines[i].strip())):
            end = _end_of_indented(lines, i + 1, _indent(lines[i]))
            body = [field[3] or "", *_dedented(lines[i + 1 : end]).split("\n")]
            words = (field[2] or "").split()
            kind = (
                "" if field[1] in ("param", "parameter", "arg", "argument") and words else field[1]
            )
            of = (
                f"`{words[-1]}`" + (f" (`{' '.join(words[:-1])}`)" if words[1:] else "")
                if words
                else ""
            )
            head = " ".join(filter(None, [f"*{kind}*" if kind else "", of]))
            inner = "\n\n".join(self.blocks(body, depth + 1))
            items.append(f"- {head}: " + inner.replace("\n", "\n  "))
            i = next((k for k in range(end, len(lines)) if lines[k].strip()), len(lines))
        return end, ["\n".join(items)]

    def _explicit(self, lines: Sequence[str], i: int, depth: int) -> tuple[int, list[str]]:
        """Return a directive; a comment or a target says nothing."""
        stripped = lines[i].strip()
        end = _end_of_indented(lines, i + 1, _indent(lines[i]))
        directive = _DIRECTIVE.match(stripped)
        if directive is None:
            if _TARGET.match(stripped):
                return end, []
            if _COMMENT.match(stripped):
                body = [stripped[2:].strip(), *_dedented(lines[i + 1 : end]).split("\n")]
                return end, ["\n\n".join(self.blocks(body, depth + 1))]
            return self._paragraph(lines, i, depth)
        name, argument = directive[1], (directive[2] or "").strip()
        body = _dedented(lines[i + 1 : end]).split("\n")
        if name in CODE_DIRECTIVES:
            while body and (not body[0].strip() or _OPTION.match(body[0].strip())):
                body = body[1:]
            code = "\n".join(body).rstrip()
            return end, [fenced(code, argument if argument.isalnum() else "")] if code else []
        if name in VERSIONS:
            version, _, rest = argument.partition(" ")
            head = f"*{VERSIONS[name]} {self.inline(version)}.*"
            inner = "\n\n".join(self.blocks([rest, *body], depth + 1))
            return end, [
                f"{head} {inner}".rstrip()
                if not inner.startswith(("`", "-"))
                else f"{head}\n\n{inner}"
            ]
        inner = "\n\n".join(self.blocks([argument, *body], depth + 1))
        head = f"**{self.inline(name.replace('-', ' ').capitalize())}:**"
        quoted = f"{head}\n\n{inner}" if inner.startswith(("`", "-")) else f"{head} {inner}"
        return end, ["\n".join(f"> {line}".rstrip() for line in quoted.split("\n"))]

    def inline(self, text: str) -> str:
        """Return a paragraph as Markdown."""
        parts, begin = list[str](), 0
        text = _JOINED.sub("", text)
        for match in _INLINE.finditer(text):
            parts += [_plain(text[begin : match.start()]), self._marked(match)]
            begin = match.end()
        parts.append(_plain(text[begin:]))
        return _LINE_MARK.sub(r"\1\\\2", "".join(parts)).replace("\\1\\", "\\")

    def _marked(self, match: re.Match[str]) -> str:
        kind = match.lastgroup
        found = {name: value for name, value in match.groupdict().items() if value is not None}
        if kind == "role":
            return self._role(found["of"], found["role"])
        if kind == "literal":
            return self.link(found["literal"], found["literal"])
        if kind in ("code", "intra"):
            return self.link(found[kind], found[kind])
        if kind == "url":
            return f"[{_plain(found['text'])}]({found['url']})"
        if kind in ("phrase", "reference"):
            words = found[kind]
            address = self.addresses.get(words.lower())
            if address:
                return f"[{_plain(words)}]({address})"
            return _plain(match[0]) if kind == "reference" else self.link(words, words)
        if kind == "titled_target":
            target = found["titled_target"] or found["titled"]
            return self.link(found["titled"].strip("`"), target.strip("`"))
        to_name = _TO_NAME.fullmatch(match[0])
        return match[0] if to_name is None else self._to_name(to_name)

    def _to_name(self, match: re.Match[str]) -> str:
        """Return the title of a link to a name, with a link to where that is documented, if any."""
        title, target = match[1], match["target"]
        parts = [target.rpartition(".")[2]] if match["anchor"] else target.split("::")
        if parts[0] not in _RUST_LIBRARY:
            while len(parts) > 1 and (parts[0] == "Self" or parts[0].islower()):  # modules
                parts = parts[1:]
            linked = self.link(title.strip("`"), ".".join(parts))
            if linked.startswith("["):
                return linked
        return title if "`" in title else _plain(title)

    def _role(self, name: str, content: str) -> str:
        content = " ".join(content.split())
        titled = _TITLED.match(content)
        title, target = (titled[1], titled[2]) if titled else (content, content)
        if not titled and title[:1] == "~":
            title = title.rpartition(".")[2].lstrip("~")
        if name in ("pep", "rfc"):
            return _plain(f"{name.upper()} {title}")
        if name in PROSE_ROLES:
            return _plain(title)
        return self.link(title.lstrip("!."), target.lstrip("~!."))


def fenced(code: str, language: str = "") -> str:
    r"""Return code in a fence that it does not contain.

    Example:
        >>> fenced("1 + 1", "python")
        '```python\n1 + 1\n```'
    """
    fence = fence_for(code)
    return f"{fence}{language}\n{code}\n{fence}"


def _plain(text: str) -> str:
    """Return prose without accidental marks."""

    def mark(match: re.Match[str]) -> str:
        if match[4]:
            return "&amp;"
        return "".join(f"\\{sign}" for sign in match[0])

    return _SPECIAL.sub(mark, text)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _dedented(lines: Sequence[str]) -> str:
    return (
        dedent("\n".join(lines)).strip("\n").rstrip(" \t\n") if any(map(str.strip, lines)) else ""
    )


def _closing_fence(lines: Sequence[str], i: int, fence: str) -> int:
    for k in range(i + 1, len(lines)):
        if lines[k].strip().startswith(fence) and not lines[k].strip().strip(fence[0]):
            return k + 1
    return len(lines)


def _end_of_indented(lines: Sequence[str], i: int, level: int) -> int:
    """Return where the lines end that are indented by more than a level, from one on."""
    end = i
    for k in range(i, len(lines)):
        if lines[k].strip():
            if _indent(lines[k]) <= level:
                break
            end = k + 1
    return end


def _is_block(lines: Sequence[str], i: int) -> bool:
    """Return whether a line begins a block that is what it is at any indentation."""
    return (
        lines[i].strip().startswith("..")
        or _TABLE.match(lines[i].strip()) is not None
        or (_starts_block(lines, i) or _BULLET.match(lines[i].strip()) is not None)
    )


def _is_underlined(title: str, line: str) -> bool:
    mark = _UNDERLINE.match(line.strip())
    return mark is not None and len(line.strip()) >= min(len(title), 3) and not _BULLET.match(title)


def _starts_block(lines: Sequence[str], i: int) -> bool:
    stripped = lines[i].strip()
    return (
        stripped.startswith((">>>", "```", "~~~"))
        or _DIRECTIVE.match(stripped) is not None
        or _FIELD.match(stripped) is not None
        or (_BULLET.match(stripped) is not None and not stripped[0].isdigit())
        or (i + 1 < len(lines) and _is_underlined(stripped, lines[i + 1]))
    )
