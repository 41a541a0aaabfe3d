r"""The language beneath manual pages: requests, conditions, definitions, and escapes such as `\fB`.

What decides how a page looks on paper is passed over. What decides which words there are is
followed: conditions, strings, registers, and macros that the page defines. Of each there is a
bound, so that the time for a page is in proportion to its length.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from typing import NamedTuple

from clew.read.formats.roff_characters import named_character, numbered_character

MAX_NESTED = 30  # conditions and macros in one line, one in another
MAX_EXPANDED = 400_000  # characters that the strings and macros of a page may add to it
MAX_VALUE = 2_000  # characters of a string, or of the body of a macro
MAX_ARGUMENT = 500  # characters of what is put into the body of a macro
_DEFAULT_STRINGS = {
    "lq": "“", "rq": "”", "Aq": "'", "aq": "'", "R": "®", "Tm": "™", "S": "", 'L"': '"',
    'R"': '"', "C`": '"', "C'": '"', "--": "—", "PI": "π", "C+": "C++", "q": '"', "Lq": "“",
    "Rq": "”", "Pi": "π", "Le": "≤", "Ge": "≥", "Lt": "<", "Gt": ">", "Ne": "≠", "Am": "&",
    "Ba": "|", "Pm": "±", "If": "∞", "Na": "NaN",
}  # fmt: skip
_NAME = r"(?:\[([^\]\n]{0,100})\]|\((..)|([^\[(\n]))"
_ESCAPE = re.compile(
    r"\\(?:"
    rf"(?P<set>[fFmMVYgkO]){_NAME}"
    r"|s(?:\[[^\]\n]{0,20}\]|'[^'\n]{0,20}'|\([+-]?\d\d|[+-]\(?\d{1,2}|[1-3]\d|\d)"
    rf"|\*{_NAME}|n[+-]?{_NAME}|(?:\[(?P<long>[^\]\n]{{1,100}})\]|\((?P<short>..))"
    r"|N'(?P<number>\d{1,7})'|C'(?P<quoted>[^'\n]{1,100})'"
    r"|(?P<shape>[hvxlLDHSRXABwobZ])(?:'(?P<inner>[^'\n]{0,300})'|\"(?P<other>[^\"\n]{0,300})\")"
    r"|z(?=.)|(?P<one>.)|$)"
)
_SAME = {"e": "\\", "E": "\\", "\\": "\\", " ": " ", "~": " ", "0": " ", "t": "\t", "a": " "}
_NOTHING = frozenset("|^&)/,%:{}dcurp!?")
_CONTROL = re.compile(r"[.'][ \t]*([^\s\\]*|\\[{}])[ \t]*(.*)", re.DOTALL)
_COMMENT = re.compile(r'\\["#].*|\\.', re.DOTALL)
_ARGUMENT = re.compile(r'"((?:[^"]|"")*+)"?|((?:\\[\s\S]|[^ \t\\]|\\\Z)++)')
_PLACE = re.compile(r"\\{1,2}\$(?:([1-9])|([*@])|\([0-9]{2})")
_NUMBER_PART = re.compile(r"(-?\d+)[a-z]?|([<>=]=?|[&:+*/-])")
_WORD = re.compile(r"\S*[ \t]*")
_QUOTED = re.compile(r"(['\"\a])([^\n]{0,300}?)\1([^\n]{0,300}?)\1[ \t]*")
_LETTER = re.compile(r"[noetv](?![\w=])[ \t]*")
_KNOWN = re.compile(r"([dr]) ?(\S+)[ \t]*")


class RoffLine(NamedTuple):
    """A line of a page.

    Attributes:
        number: Its number in the source, from 1.
        name: The request or macro that it begins with; "" for a line of text.
        rest: What is behind that, or the whole text, with its escapes.
    """

    number: int
    name: str
    rest: str


class Argument(NamedTuple):
    """An argument of a macro, with its escapes, and whether it is in quotation marks."""

    raw: str
    is_quoted: bool


class Roff:
    r"""A source in roff, line by line.

    Args:
        text: The source.
        known: The names of macros with a meaning that no definition in the source changes.

    Example:
        >>> source = Roff(".ds W moon\n.if t .ignored\nThe \\fB\\*W\\fR.")
        >>> [source.decode(line.rest) for line in source.lines()]
        ['The moon.']
    """

    def __init__(self, text: str, known: Container[str] = ()) -> None:
        self._text = text
        self._macros_known = known
        self._strings = dict(_DEFAULT_STRINGS)
        self._registers = {".g": 1, ".x": 1, ".y": 22}
        self._macros: dict[str, list[str]] = {}
        self._otherwise: list[bool] = []  # whether the `.el` of each open `.ie` is read
        self._left = MAX_EXPANDED
        self._braces = 0  # of a block that is passed over, that are open
        self._body: tuple[str, str, list[str]] | None = None  # name, end and lines of a definition

    def lines(self) -> Iterator[RoffLine]:
        """Yield what there is to write: text, and requests that are not dealt with here."""
        for number, written in _joined_lines(self._text):
            waiting, budget = [written], MAX_NESTED
            while waiting:
                raw = waiting.pop()
                if self._passes_over(raw):
                    continue
                match = _CONTROL.match(raw) if raw[:1] in (".", "'") else None
                if match is None:
                    yield RoffLine(number, "", raw)
                    continue
                name, rest = match[1], match[2]
                if name in self._macros and name not in self._macros_known:
                    if budget > 0:
                        budget -= 1
                        waiting += reversed(self._expanded(name, rest))
                elif name in ("if", "ie", "el", "while"):
                    body = self._conditional(name, rest)
                    if body and budget > 0:
                        budget -= 1
                        waiting.append(body)
                elif not self._defines(name, rest):
                    yield RoffLine(number, name, rest.rstrip())

    def decode(self, raw: str) -> str:
        r"""Return a text as it is shown, without marks of fonts.

        Example:
            >>> Roff("").decode("\\fB\\-\\-create\\fR \\(bu \\s+1x\\e")
            '--create • x\\'
        """
        return _ESCAPE.sub(self._shown, raw) if "\\" in raw else raw

    def words(self, rest: str) -> list[str]:
        """Return the arguments of a macro, as they are shown."""
        return [self.decode(argument.raw) for argument in arguments(rest)]

    def _shown(self, escape: re.Match[str]) -> str:
        if one := escape["one"]:
            return _SAME.get(one, "" if one in _NOTHING else one)
        kind = escape[0][1:2]
        if kind == "*":
            value = self._strings.get(_name_in(escape[0], 2), "")
            self._left -= len(value)
            return value if self._left > 0 else ""
        if kind == "n":
            return str(self._registers.get(_name_in(escape[0], 2).lstrip("+-"), 0))
        if name := escape["long"] or escape["short"] or escape["quoted"]:
            return named_character(name)
        if number := escape["number"]:
            return numbered_character(int(number))
        if kind in "obZ" and kind:
            inner = escape["inner"] or escape["other"] or ""
            return "" if "\\" in inner else inner
        if kind == "h":  # a space forward, or nothing back
            return "" if (escape["inner"] or "-").startswith("-") else " "
        return "0" if kind == "w" else ""

    def _passes_over(self, raw: str) -> bool:
        """Take a line of a block or definition that is not read now, and return whether it is."""
        if self._body is not None:
            name, end, lines = self._body
            if raw[:1] in (".", "'") and raw[1:].strip() == end:
                if name and sum(map(len, lines)) <= MAX_VALUE:
                    self._macros[name] = lines
                self._body = None
            elif len(lines) <= MAX_VALUE:
                lines.append(raw[: MAX_VALUE + 1])
            return True
        if self._braces > 0:
            self._braces += raw.count("\\{") - raw.count("\\}")
            return True
        return False

    def _defines(self, name: str, rest: str) -> bool:
        """Carry out a definition, and return whether it is one, or nothing at all."""
        first, _, value = rest.partition(" ")
        if name in ("de", "de1", "am", "ig"):
            end = rest.split()[name != "ig" :][:1]
            self._body = first if name.startswith("de") else "", end[0] if end else ".", []
        elif name in ("ds", "as"):
            if first not in _DEFAULT_STRINGS:
                value = self.decode(value.lstrip().removeprefix('"').replace("\\\\", "\\"))
                before = self._strings.get(first, "") if name == "as" else ""
                self._strings[first] = (before + value)[:MAX_VALUE]
        elif name == "nr":
            parts = value.split()
            self._registers[first] = _evaluate(self.decode(parts[0])) if parts else 0
        elif name == "rm":
            for one in rest.split():
                self._macros.pop(one, None)
        else:
            return name in ("", "\\}", "\\{", ".")
        return True

    def _conditional(self, name: str, rest: str) -> str:
        """Return the line that a condition leads to, if it is met; else pass over its block."""
        if name == "el":
            is_met = self._otherwise.pop() if self._otherwise else False
        else:
            is_met, rest = self._is_met(rest)
            is_met = is_met and name != "while"
            if name == "ie":
                self._otherwise = [*self._otherwise[-MAX_NESTED:], not is_met]
        if is_met:
            return rest.removeprefix("\\{").lstrip()
        self._braces = max(0, rest.count("\\{") - rest.count("\\}"))
        return ""

    def _is_met(self, rest: str) -> tuple[bool, str]:
        """Return whether the condition at the start of a text is met, and the text behind it."""
        is_negated = rest.startswith("!")
        rest = rest[is_negated:].lstrip()
        if letter := _LETTER.match(rest):
            is_met, rest = rest[0] in "no", rest[letter.end() :]
        elif known := _KNOWN.match(rest):
            table = self._strings if known[1] == "d" else self._registers
            is_met, rest = known[2] in table or known[2] in self._macros, rest[known.end() :]
        elif quoted := _QUOTED.match(rest):
            is_met = self.decode(quoted[2]) == self.decode(quoted[3])
            rest = rest[quoted.end() :]
        else:
            word = _WORD.match(rest)
            end = word.end() if word else 0
            is_met, rest = _evaluate(self.decode(rest[:end])) > 0, rest[end:]
        return is_met != is_negated, rest

    def _expanded(self, name: str, rest: str) -> list[str]:
        """Return the lines of a macro of the page, with its arguments put in."""
        given = [argument.raw[:MAX_ARGUMENT] for argument in arguments(rest[:MAX_VALUE])]

        def argument(place: re.Match[str]) -> str:
            if place[2]:
                return " ".join(given)[:MAX_ARGUMENT]
            number = int(place[1] or 0)
            return given[number - 1] if 0 < number <= len(given) else ""

        lines = []
        for line in self._macros[name]:
            filled = _PLACE.sub(argument, line).replace("\\\\", "\\")
            self._left -= len(filled) + 1
            if self._left < 0:
                return []
            lines.append(filled)
        return lines


def arguments(rest: str) -> Iterator[Argument]:
    r"""Yield the arguments of a macro.

    Example:
        >>> [argument.raw for argument in arguments('"the moon" is\\ far')]
        ['the moon', 'is\\ far']
    """
    for match in _ARGUMENT.finditer(rest):
        if match[2] is None:
            yield Argument(match[1].replace('""', '"'), True)
        else:
            yield Argument(match[2], False)


def _joined_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield (number, line) without comments; lines that end in a backslash go on in the next."""
    parts, first = list[str](), 1
    for number, line in enumerate(text.split("\n"), 1):
        if '\\"' in line or "\\#" in line:
            written, line = line, _COMMENT.sub(_unless_comment, line)
            if line.strip() in ("", ".", "'") and written.strip() and not parts:
                first = number + 1
                continue
        parts.append(line)
        if (len(line) - len(line.rstrip("\\"))) % 2:
            parts[-1] = line[:-1]
            continue
        yield first, "".join(parts)
        parts, first = [], number + 1
    if parts:
        yield first, "".join(parts)


def _unless_comment(match: re.Match[str]) -> str:
    return "" if match[0][1:2] in ('"', "#") else match[0]


def _name_in(escape: str, start: int) -> str:
    return escape[start:].lstrip("+-").strip("[]") if "[" in escape else escape[start:].lstrip("(")


def _evaluate(expression: str) -> int:
    """Return the value of an expression in numbers, from the left to the right, as in roff."""
    value, sign = 0, "+"
    for part in _NUMBER_PART.finditer(expression[:100].replace("(", "").replace(")", "")):
        if part[2]:
            sign = part[2]
            continue
        number = int(part[1])
        value = {
            "+": value + number, "-": value - number, "*": value * number,
            "/": value // number if number else 0, "&": int(value > 0 and number > 0),
            ":": int(value > 0 or number > 0), "<": int(value < number), ">": int(value > number),
            "<=": int(value <= number), ">=": int(value >= number),
        }.get(sign, int(value == number))  # fmt: skip
    return value
