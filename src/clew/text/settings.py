"""What settings are in: sections in brackets, keys above what is indented below them, lists.

INI, TOML, YAML, printed JSON and XML, and much that looks like them, are trees of entries. An entry
says little without what it is in: `timeout = 5` is that of a section.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from clew.text.entries import entries_in

MAX_DEPTH = 40  # of entries in one another; what is deeper is not told apart
SAMPLE = 20_000  # characters by which a long text is known
_OPENING = ":{[(="  # behind a key
_REMARKS = re.compile(r"(?:[ \t]*(?:#|;|//|--(?!-))[^\n]*\n)+")
_SECTION = re.compile(r"\[{1,2}([^\[\]\n]+)\]{1,2}[ \t]*(?:[#;].*)?$", re.MULTILINE)
_DOCUMENT = re.compile(r"---(?: |$)", re.MULTILINE)
_ITEM = re.compile(r"-[ \t]+")
_TAG = re.compile(r"<([\w.:-]+)(?:[ \t][^<>]*)?(?<!/)>$")
_STAMP = re.compile(r"[\[(]?\d{1,4}[-/.:]\d|[A-Z][a-z][a-z] [ \d]\d \d\d:")  # of an entry of a log
_CLOSES = re.compile(r"[\]})]+[,;]?$|</[^<>\n]+>$", re.MULTILINE)


class Setting(NamedTuple):
    """An entry, and what is in it.

    Attributes:
        start: Where it starts, with a remark right above it.
        own: Where its first line starts.
        stop: Where it ends, without what is in it.
        end: Where what is in it ends.
        name: What an entry that has others in it is called, without signs around it; "" for others.
        children: What is in it, in order.
        is_section: Whether it is a section in brackets, which no other has the name of.
    """

    start: int
    own: int
    stop: int
    end: int
    name: str = ""
    children: tuple[Setting, ...] = ()
    is_section: bool = False


class _Line(NamedTuple):
    """An entry, how deep it is, and the name under which others may be in it; None for none."""

    start: int
    own: int
    stop: int
    indent: float
    name: str | None
    is_section: bool


def settings_in(text: str, start: int, end: int) -> list[Setting]:
    r"""Return the outermost entries in `text[start:end]`; [] where none is in another.

    Example:
        >>> text = "[sea]\nhigh = 10\nlow = 4\n[sky]\nhigh = 9\nlow = 2"
        >>> [(one.name, len(one.children)) for one in settings_in(text, 0, len(text))]
        [('sea', 2), ('sky', 2)]
        >>> settings_in("high = 10\nlow = 4\nspring = 12", 0, 31)
        []
    """
    if end - start > SAMPLE:
        sample = text.rfind("\n", start, start + SAMPLE)
        if sample <= start or not settings_in(text, start, sample):
            return []
    lines = [_line(text, *span) for span in entries_in(text, start, end)]
    found, _ = _nested(text, lines, 0, -2, 0)
    return found if any(one.children for one in found) else []


def _line(text: str, start: int, stop: int) -> _Line:
    remark = _REMARKS.match(text, start, stop)
    own = remark.end() if remark else start
    own += len(text[own:stop]) - len(text[own:stop].lstrip(" \t"))
    first = text[own:stop].split("\n", 1)[0]
    indent = float(own - (text.rfind("\n", 0, own) + 1))
    if section := _SECTION.match(first):  # what is below it is in it, though not indented
        is_one = not first.startswith("[[")
        return _Line(start, own, stop, indent - 1, section[1].strip(), is_one)
    if _DOCUMENT.match(first):
        return _Line(start, own, stop, indent - 1, "", False)
    item = _ITEM.match(first)
    return _Line(start, own, stop, indent + (0.5 if item else 0), _name(first), False)


def _name(line: str) -> str | None:
    """Return the name of an entry that others may be in, by its line; None for none."""
    if tag := _TAG.match(line):
        return tag[1]
    if _STAMP.match(line):
        return None
    item = _ITEM.match(line)
    key = line[item.end() if item else 0 :].partition(" #")[0].rstrip()
    before, _, last = key.rpartition(" ")
    if last[:1] in ("&", "!", "|", ">"):  # an anchor or a kind of value in YAML
        key = before.rstrip()
    if not item and not key.endswith(tuple(_OPENING)):
        return None
    key = key.rstrip(f"{_OPENING} \t")
    is_quoted = key[:1] in ("'", '"') and key[1:].find(key[0]) == len(key) - 2
    return key[1:-1] if is_quoted else key


def _nested(
    text: str, lines: Sequence[_Line], first: int, indent: float, depth: int
) -> tuple[list[Setting], int]:
    """Return the entries from the first on that are deeper than an indent, and the place behind."""
    found, i = list[Setting](), first
    while i < len(lines) and lines[i].indent > indent:
        line, i = lines[i], i + 1
        stop, children = line.stop, list[Setting]()
        is_above = i < len(lines) and lines[i].indent > line.indent
        if is_above and line.name is not None and depth < MAX_DEPTH:
            children, i = _nested(text, lines, i, line.indent, depth + 1)
        while i < len(lines) and lines[i].indent > line.indent:  # it goes on there
            stop, i = lines[i].stop, i + 1
        end = children[-1].end if children else stop
        if found and not children and _CLOSES.match(text, line.own, stop):
            found[-1] = found[-1]._replace(end=end)
            continue
        name = (line.name or "") if children else ""
        found.append(
            Setting(line.start, line.own, stop, end, name, tuple(children), line.is_section)
        )
    return found, i
