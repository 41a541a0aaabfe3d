"""The macros of man(7) and mdoc(7), each as what it does to the blocks of a page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from clew.read.formats.manual_blocks import ManualBlocks, link
from clew.read.formats.manual_table import ManualTable
from clew.read.formats.mdoc import INLINE, MdocLine
from clew.read.formats.roff import Roff, RoffLine, arguments
from clew.source_map import LineStart

# Requests that place or shape what is written, or speak to the formatter alone.
_REQUESTS = """
    AS AT BE BS Bk DT Dd Dt EN EQ Ek HS IX LINKSTYLE LO LP1 Os PD PE PS Sm TH Tg UC UN VE VS ]1
    ad af ai aln als am1 as1 asciify backtrace blm box boxa bp break brp c2 cc ce cf cflags ch
    char chop class close cn color composite continue cp cs cu da de dei di do ds dt ec ecr ecs
    el em eo ev evc ex fam fc fchar fcolor fi fl fp fschar fspecial ft ftr fzoom gcolor hc hcode
    hla hlm hpf hpfa hpfcode hw hx hy hym hys in it itc kern lc lf lg linetabs ll ls lsm lt mark
    mc mk mso na ne nh nm nn nop nr nroff ns nx open opena os output pc pev pi pl pm pn pnr po
    ps psbb ptr pvs rchar rd return rfschar rhang rj rm rn rnn rr rs rt schar shc shift sizes so
    spreadwarn ss sty substring sv sy ta tc ti tkf tl tm tm1 tmc tr trf trin trnt troff uf ul
    unformat vpt vs warn warnscale wh write writec writem zY zZ }1
"""
IGNORED = frozenset(_REQUESTS.split())
ALTERNATING = frozenset(("BI", "BR", "IB", "IR", "RB", "RI"))
CODE, CODE_ENDS = ("nf", "EX", "Vb", "CS", "DS", "Ds", "Vx"), ("fi", "EE", "Ve", "CE", "DE", "De")
PAGE = re.compile(r"(?<![\w(\[/.:+-])([A-Za-z0-9_][\w.:+-]*+)\((\d[a-z]{0,3}|n)\)")
_LITERAL = ("-literal", "-unfilled")
_NO_TAG = ("-bullet", "-dash", "-hyphen", "-enum", "-item")
_BULLETS = frozenset(("•", "*", "-", "o", "·", "+", "—", "–", "−", "∙", "‣", "◦", "⋅", "◊", "→"))


class ManualMacros:
    """A page that is written line by line.

    Args:
        source: Its source.
        target: (name, section) -> where a link to another page leads.
    """

    def __init__(self, source: Roff, target: Callable[[str, str], str]) -> None:
        self._source = source
        self._target = target
        self._blocks = ManualBlocks()
        self._table: ManualTable | None = None
        self._name = ""  # of the page, in mdoc
        self._section = ""
        self._heading = 0  # the level of a heading whose words are in the next line
        self._tag = False  # whether the next words are the tag of an item
        self._in_head = False  # whether the head of an item goes on in further lines, in mdoc
        self._joins_all = False  # whether words come without spaces, in mdoc
        self._joins_next = False
        self._address: tuple[str, list[str]] | None = None  # of an open link, and its words
        self._lists: list[tuple[str, int]] = []  # in mdoc: the kind of each, and its items so far
        self._displays: list[bool] = []  # in mdoc: whether each is of code

    def convert(self) -> tuple[str, list[LineStart]]:
        """Return the page in Markdown, and where the lines of its source begin there."""
        for line in self._source.lines():
            if self._table is not None:
                self._in_table(line)
            elif line.name:
                self._macro(line)
            else:
                self._text(line)
        self._close_link(0, "")
        if self._table is not None:
            self._blocks.table(self._table.rows())
        self._blocks.end_paragraph()
        return self._blocks.text(), list(self._blocks.starts())

    def _in_table(self, line: RoffLine) -> None:
        assert self._table is not None
        if line.name == "TE":
            self._blocks.table(self._table.rows())
            self._table = None
        elif not line.name:
            self._table.add(self._source.decode(line.rest), line.number)
        elif line.name == "T&":
            self._table.begin_format()
        elif line.name not in IGNORED and line.name not in _ACTIONS:
            words = "".join if line.name in ALTERNATING else " ".join
            self._table.add(words(self._source.words(line.rest)), line.number)

    def _text(self, line: RoffLine) -> None:
        raw = line.rest
        if self._blocks.in_code:
            self._blocks.words(self._source.decode(raw), line.number)
            return
        if not raw.strip():
            self._blocks.end_paragraph()
            return
        mark = self._source.decode(raw).strip() if raw.startswith("\\h'-") else ""
        if mark in _BULLETS or mark.rstrip(".").isdecimal():  # as DocBook writes the items of lists
            self._blocks.begin_item(mark)
            return
        if raw[0] in " \t" and not self._tag:
            self._blocks.break_line()
        if self._joins_next:
            self._blocks.glue, self._joins_next = True, False
        self._say(self._source.decode(raw), line.number)
        self._blocks.glue = raw.rstrip().endswith("\\c")

    def _say(self, words: str, number: int) -> None:
        """Write the words of a line, wherever words go now."""
        if self._address is not None:
            self._address[1].append(words)
            return
        if self._heading:
            self._begin_section(self._heading, words, number)
            return
        if not self._blocks.in_code and "\0" not in words:
            words = PAGE.sub(self._page_link, words) if self._section == "SEE ALSO" else words
        self._blocks.words(words, number)
        self._after_tag(words)

    def _after_tag(self, words: str) -> None:
        if self._tag and words.strip():
            self._tag = False
            self._blocks.break_line()

    def _page_link(self, page: re.Match[str]) -> str:
        return link(page[0], self._target(page[1], page[2]))

    def _begin_section(self, level: int, words: str, number: int) -> None:
        self._heading, self._tag = 0, False
        if level == 1:
            self._section = " ".join(words.split()).upper()
        self._blocks.heading(level, words, number)

    def _macro(self, line: RoffLine) -> None:
        name = line.name
        if action := _ACTIONS.get(name):
            action(self, line)
        elif name in INLINE or (name.startswith("%") and len(name) == len("%A")):
            self._mdoc_line(line)
        elif name in ALTERNATING:
            self._words("".join(self._source.words(line.rest)), line)
        elif name not in IGNORED and not name.startswith(("\\", ".")):
            self._words(" ".join(self._source.words(line.rest)), line)

    def _words(self, words: str, line: RoffLine) -> None:
        if words:
            self._say(words, line.number)
            self._blocks.glue = line.rest.endswith("\\c")

    def _mdoc_line(self, line: RoffLine, first: str = "") -> None:
        """Write a line of macros of mdoc."""
        name = first or line.name
        if self._section == "SYNOPSIS" and name in ("Nm", "Ft", "In", "Fd", "Vt", "Cd"):
            self._blocks.break_line()
        if name == "Nm" and not self._name:
            self._name = next(iter(self._source.words(line.rest)), "")
        given = list(arguments(line.rest if first or name[0] == "%" else f"{name} {line.rest}"))
        was_in_head = self._in_head
        self._in_head = (self._in_head or any(one.raw == "Xo" for one in given)) and not any(
            one.raw == "Xc" for one in given
        )
        joins, words = self._joins_next, list[str]()
        for piece in MdocLine(given, self._source.decode, self._name, self._target).pieces():
            if piece.words:
                if words and not (joins or piece.joins_before):
                    words.append(" ")
                elif not words:
                    self._blocks.glue = joins or piece.joins_before
                words.append(piece.words)
            joins = piece.joins_behind or self._joins_all or (joins and not piece.words)
        self._joins_next = joins
        if words:
            tag, self._tag = self._tag, False
            self._say("".join(words), line.number)
            self._tag = tag
        if not self._in_head:
            self._after_tag("end" if was_in_head else "".join(words))

    def _title(self, line: RoffLine) -> None:
        self._begin_section(1 if line.name in ("SH", "Sh") else 2, "", line.number)
        self._close_link(line.number, "")
        words = " ".join(self._source.words(line.rest))
        self._lists.clear()
        self._displays.clear()
        self._joins_next = False
        level = 1 if line.name in ("SH", "Sh") else 2
        if words.strip():
            self._begin_section(level, words, line.number)
        else:
            self._heading = level

    def _paragraph(self, line: RoffLine) -> None:
        self._tag = False
        if self._blocks.in_code:
            self._blocks.words("", line.number)
        elif line.name in ("Pp", "Lp", "sp", "Sp"):
            self._blocks.end_paragraph()
        else:
            self._blocks.end_item()
        if line.name in ("SY", "YS"):
            self._words(" ".join(self._source.words(line.rest)), line)

    def _break(self, line: RoffLine) -> None:
        if not self._blocks.in_code and not self._tag:
            self._blocks.break_line()

    def _tagged(self, line: RoffLine) -> None:
        """Begin an item whose tag is in the next line."""
        if line.name == "TQ":
            self._blocks.break_line()
        else:
            self._blocks.begin_item()
        self._tag = line.name != "HP"

    def _indented(self, line: RoffLine) -> None:
        """Begin an item whose tag is an argument, or a paragraph of the item before."""
        self._tag = False
        tag = next(iter(self._source.words(line.rest)), "").strip()
        if not tag:
            self._blocks.end_code()
            self._blocks.end_paragraph()
            return
        self._blocks.begin_item(tag)
        if tag not in _BULLETS and not tag.rstrip(".)").isdecimal():
            self._say(tag, line.number)
            self._blocks.break_line()
        elif tag[-1:] not in _BULLETS and tag[-1:] not in (".", ")"):
            self._say(tag, line.number)

    def _argument_item(self, line: RoffLine) -> None:
        """Begin an item for an argument of a function, in the pages of Tcl."""
        self._blocks.begin_item()
        self._say(" ".join(self._source.words(line.rest)), line.number)
        self._blocks.break_line()

    def _enter(self, line: RoffLine) -> None:
        self._blocks.enter_level()

    def _leave(self, line: RoffLine) -> None:
        self._blocks.leave_level()

    def _begin_code(self, line: RoffLine) -> None:
        self._tag = False
        if not self._blocks.in_code:
            self._blocks.begin_code()

    def _end_code(self, line: RoffLine) -> None:
        self._blocks.end_code()

    def _code_line(self, line: RoffLine) -> None:
        in_code = self._blocks.in_code
        if not in_code:
            self._blocks.begin_code()
        self._mdoc_line(line, "No") if line.rest else None
        if not in_code:
            self._blocks.end_code()

    def _option(self, line: RoffLine) -> None:
        self._words(f"[{' '.join(self._source.words(line.rest))}]", line)

    def _reference(self, line: RoffLine) -> None:
        """Write the link to a page, in man(7)."""
        name, section, *behind = [*self._source.words(line.rest), "", ""][:3]
        words = f"{name}({section})" if section else name
        self._blocks.words(link(words, self._target(name, section)) + "".join(behind), line.number)
        self._after_tag(words)

    def _open_link(self, line: RoffLine) -> None:
        self._close_link(line.number, "")
        address, words, behind = [*self._source.words(line.rest), "", "", ""][:3]
        self._address = (address, [words] if words else [])
        if line.name in ("URL", "MTO"):
            self._close_link(line.number, behind)

    def _end_link(self, line: RoffLine) -> None:
        self._close_link(line.number, "".join(self._source.words(line.rest)[:1]))

    def _close_link(self, number: int, behind: str) -> None:
        if self._address is None:
            return
        address, words = self._address
        self._address = None
        shown = " ".join(" ".join(words).split())
        if "@" in address and ":" not in address:  # a letter leads to no document
            written = f"{shown} <{address}>" if shown else address
        else:
            written = link(shown or address, address)
        if self._heading or self._blocks.in_code:
            written = shown or address
        if written:
            self._blocks.words(written + behind, number)
            self._after_tag(written)

    def _begin_table(self, line: RoffLine) -> None:
        self._table = ManualTable()

    def _begin_list(self, line: RoffLine) -> None:
        kinds = [one.raw for one in arguments(line.rest)]
        kind = next((one for one in kinds if one in _NO_TAG), kinds[0] if kinds else "")
        if self._lists:
            self._blocks.enter_level()
        else:
            self._blocks.end_item()
        self._lists.append((kind, 0))

    def _end_list(self, line: RoffLine) -> None:
        if self._lists:
            self._lists.pop()
        if self._lists:
            self._blocks.leave_level()
        else:
            self._blocks.end_item()
        self._tag = self._joins_next = False

    def _item(self, line: RoffLine) -> None:
        kind, count = self._lists.pop() if self._lists else ("", 0)
        self._lists.append((kind, count + 1))
        self._joins_next = False
        self._blocks.begin_item(f"{count + 1}." if kind == "-enum" else "")
        self._tag = kind not in _NO_TAG and bool(line.rest)
        if line.rest:
            given = line.rest.replace("\t", " ") if kind == "-column" else line.rest
            self._mdoc_line(RoffLine(line.number, line.name, given), "It")

    def _begin_display(self, line: RoffLine) -> None:
        is_code = any(one.raw in _LITERAL for one in arguments(line.rest))
        self._displays.append(is_code and not self._blocks.in_code)
        if self._displays[-1]:
            self._blocks.begin_code()
        else:
            self._blocks.end_paragraph()

    def _end_display(self, line: RoffLine) -> None:
        if self._displays and self._displays.pop():
            self._blocks.end_code()
        else:
            self._blocks.end_paragraph()
        self._joins_next = False

    def _spacing(self, line: RoffLine) -> None:
        on = line.rest.strip() == "on" or (not line.rest and self._joins_all)
        self._joins_all, self._joins_next = not on, False


def _macros(names: str) -> Iterator[str]:
    return iter(names.split())


_ACTIONS: dict[str, Callable[[ManualMacros, RoffLine], None]] = {
    name: action
    for names, action in (
        ("SH SS Sh Ss", ManualMacros._title),
        ("PP P LP Pp Lp sp Sp SY YS Rs Re", ManualMacros._paragraph),
        ("br ti in ce", ManualMacros._break),
        ("TP TQ HP", ManualMacros._tagged),
        ("IP", ManualMacros._indented),
        ("AP", ManualMacros._argument_item),
        ("RS", ManualMacros._enter),
        ("RE", ManualMacros._leave),
        (" ".join(CODE), ManualMacros._begin_code),
        (" ".join(CODE_ENDS), ManualMacros._end_code),
        ("Dl D1", ManualMacros._code_line),
        ("OP", ManualMacros._option),
        ("MR", ManualMacros._reference),
        ("UR MT URL MTO", ManualMacros._open_link),
        ("UE ME", ManualMacros._end_link),
        ("TS", ManualMacros._begin_table),
        ("Bl", ManualMacros._begin_list),
        ("El", ManualMacros._end_list),
        ("It", ManualMacros._item),
        ("Bd", ManualMacros._begin_display),
        ("Ed", ManualMacros._end_display),
        ("Sm", ManualMacros._spacing),
    )
    for name in _macros(names)
}
KNOWN = frozenset((*_ACTIONS, *ALTERNATING, *INLINE, "TH", "Dd", "Dt", "Os", "B", "I", "SM", "SB"))
