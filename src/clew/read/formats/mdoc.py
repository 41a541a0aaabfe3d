"""The macros of mdoc(7) that mark words in a line: `.Fl f Ar file` is `-f file`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from clew.read.formats.manual_blocks import link
from clew.read.formats.roff import Argument

_ENCLOSED = {  # up to the end of the line
    "Op": "[]", "Bq": "[]", "Pq": "()", "Aq": "<>", "Brq": "{}", "Dq": "“”", "Sq": "‘’",
    "Qq": '""', "Ql": "‘’",
}  # fmt: skip
_OPENING = {
    "Oo": "[", "Bo": "[", "Po": "(", "Ao": "<", "Bro": "{", "Do": "“", "So": "‘", "Qo": '"',
    "Eo": "",
}  # fmt: skip
_CLOSING = {
    "Oc": "]", "Bc": "]", "Pc": ")", "Ac": ">", "Brc": "}", "Dc": "”", "Sc": "’", "Qc": '"',
    "Ec": "", "Fc": ")",
}  # fmt: skip
_SYSTEMS = {
    "Ux": "UNIX", "Bx": "BSD", "Nx": "NetBSD", "Fx": "FreeBSD", "Ox": "OpenBSD", "Dx": "DragonFly",
    "Bsx": "BSD/OS", "At": "AT&T UNIX",
}  # fmt: skip
_PLAIN = frozenset((
    "Ad", "An", "Ar", "Cd", "Cm", "Dv", "Em", "Er", "Ev", "Fa", "Fd", "Ft", "Ic", "Li", "Lb", "Lk",
    "Ms", "Mt", "No", "Ot", "Pa", "St", "Sx", "Sy", "Tn", "Va", "Vt", "Xo", "Xc", "Ta", "Bt", "Ud",
    "Fr", "Hf", "Es", "En", "Tg",
))  # fmt: skip
_SPECIAL = frozenset(("Ap", "Ex", "Fl", "Fn", "Fo", "In", "Nd", "Nm", "Ns", "Pf", "Rv", "Xr"))
INLINE = frozenset((*_ENCLOSED, *_OPENING, *_CLOSING, *_SYSTEMS, *_PLAIN, *_SPECIAL))
_NEVER_CALLED = frozenset(("Nd", "Ex", "Rv", "In", "Bt", "Ud", "Hf", "Fd", "Cd", "Lb", "St", "Tg"))
_STANDARDS = {"-p1003": "IEEE Std 1003", "-ansiC": "ANSI X3.159", "-isoC": "ISO/IEC 9899"}
_ENDS, _BEGINS = frozenset((".", ",", ":", ";", ")", "]", "?", "!")), frozenset(("(", "["))


class MarkedWords(NamedTuple):
    """Words of a line, and whether they join what is before and behind them without a space."""

    words: str
    joins_before: bool = False
    joins_behind: bool = False


class MdocLine:
    """A line of macros, word by word.

    Args:
        arguments: The words of the line, the macro first.
        decode: An argument -> its words as they are shown.
        name: The name of the page, for `.Nm` without one.
        target: (name, section) -> where a link to another page leads.
    """

    def __init__(
        self,
        arguments: list[Argument],
        decode: Callable[[str], str],
        name: str,
        target: Callable[[str, str], str],
    ) -> None:
        self._arguments = arguments
        self._decode = decode
        self._name = name
        self._target = target
        self._i = 0

    def pieces(self) -> Iterator[MarkedWords]:
        """Yield the words of the line."""
        end = len(self._arguments)
        while end > 1 and self._is_sign(end - 1, _ENDS):
            end -= 1
        closing, prefix = list[str](), ""
        while self._i < end:
            macro = self._macro_at(self._i, end)
            if not macro:
                words = self._decode(self._arguments[self._i].raw)
                if self._is_sign(self._i, _ENDS):
                    yield MarkedWords(words, joins_before=True)
                elif self._is_sign(self._i, _BEGINS):
                    yield MarkedWords(words, joins_behind=True)
                else:
                    yield MarkedWords(prefix + words)
                self._i += 1
                continue
            self._i += 1
            prefix = "-" if macro == "Fl" else ""
            if macro in _ENCLOSED:
                closing.append(_ENCLOSED[macro][1])
                yield MarkedWords(_ENCLOSED[macro][0], joins_behind=True)
            else:
                yield from self._of_macro(macro, end)
        yield from (MarkedWords(sign, joins_before=True) for sign in reversed(closing))
        for i in range(end, len(self._arguments)):
            yield MarkedWords(self._decode(self._arguments[i].raw), joins_before=True)

    def _of_macro(self, macro: str, end: int) -> Iterator[MarkedWords]:
        if macro in _OPENING:
            yield MarkedWords(_OPENING[macro], joins_behind=True)
        elif macro in _CLOSING:
            yield MarkedWords(_CLOSING[macro], joins_before=True)
        elif macro in _SYSTEMS:
            version = self._next() if self._has_words(end) else ""
            name = _SYSTEMS[macro]
            yield MarkedWords(f"{version}{name}" if macro == "Bx" else f"{name} {version}".rstrip())
        elif macro in ("Ns", "Ap"):
            yield MarkedWords("'" if macro == "Ap" else "", joins_before=True, joins_behind=True)
        elif macro in ("Ex", "Rv"):
            yield self._exit(macro, end)
        elif self._has_words(end):
            yield from _WITH_WORDS.get(macro, _nothing)(self, end)
        else:
            yield from self._without_words(macro, end)

    def _without_words(self, macro: str, end: int) -> Iterator[MarkedWords]:
        if macro == "Fl":
            yield MarkedWords("-", joins_behind=bool(self._macro_at(self._i, end)))
        elif macro == "Pf" and self._i < end:
            yield from self._prefix(end)
        elif macro in ("Ar", "Nm"):
            yield MarkedWords("file ..." if macro == "Ar" else self._name)

    def _exit(self, macro: str, end: int) -> MarkedWords:
        names = ", ".join([self._next() for _ in range(end - self._i)][1:]) or self._name
        if macro == "Ex":
            return MarkedWords(
                f"The {names} utility exits 0 on success, and >0 if an error occurs."
            )
        return MarkedWords(
            f"The {names} function returns 0 on success, and -1 with errno on error."
        )

    def _prefix(self, _end: int) -> Iterator[MarkedWords]:
        yield MarkedWords(self._next(), joins_behind=True)

    def _description(self, _end: int) -> Iterator[MarkedWords]:
        yield MarkedWords("—")

    def _page(self, end: int) -> Iterator[MarkedWords]:
        name = self._next()
        if self._has_words(end):
            section = self._next()
            name = link(f"{name}({section})", self._target(name, section))
        yield MarkedWords(name)

    def _address(self, end: int) -> Iterator[MarkedWords]:
        address = self._next()
        yield MarkedWords(link(" ".join(self._all_words(end)) or address, address))

    def _function(self, end: int) -> Iterator[MarkedWords]:
        name = self._next()
        yield MarkedWords(f"{name}({', '.join(self._all_words(end))})")

    def _open_function(self, _end: int) -> Iterator[MarkedWords]:
        yield MarkedWords(f"{self._next()}(", joins_behind=True)

    def _included(self, _end: int) -> Iterator[MarkedWords]:
        yield MarkedWords(f"#include <{self._next()}>")

    def _standard(self, _end: int) -> Iterator[MarkedWords]:
        name = self._next()
        known = (_STANDARDS[key] for key in _STANDARDS if name.startswith(key))
        yield MarkedWords(next(known, name.removeprefix("-")))

    def _all_words(self, end: int) -> list[str]:
        words = []
        while self._has_words(end):
            words.append(self._next())
        return words

    def _next(self) -> str:
        self._i += 1
        return self._decode(self._arguments[self._i - 1].raw)

    def _macro_at(self, i: int, end: int) -> str:
        """Return the macro that an argument calls; the empty text for a word."""
        if i >= end or self._arguments[i].is_quoted:
            return ""
        name = self._arguments[i].raw
        called = name in INLINE and (i == 0 or name not in _NEVER_CALLED)
        return name if called else ""

    def _has_words(self, end: int) -> bool:
        """Return whether a word comes next, and neither a macro nor a sign."""
        i = self._i
        if i >= end or self._macro_at(i, end):
            return False
        return not (self._is_sign(i, _ENDS) or self._is_sign(i, _BEGINS))

    def _is_sign(self, i: int, signs: frozenset[str]) -> bool:
        return not self._arguments[i].is_quoted and self._arguments[i].raw in signs


def _nothing(_line: MdocLine, _end: int) -> Iterator[MarkedWords]:
    return iter(())


_WITH_WORDS: dict[str, Callable[[MdocLine, int], Iterator[MarkedWords]]] = {
    "Pf": MdocLine._prefix,
    "Nd": MdocLine._description,
    "Xr": MdocLine._page,
    "Lk": MdocLine._address,
    "Fn": MdocLine._function,
    "Fo": MdocLine._open_function,
    "In": MdocLine._included,
    "St": MdocLine._standard,
}
