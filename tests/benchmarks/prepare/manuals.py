"""Manual pages as plain text, and what people do with a command, from collections of examples."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from tests.benchmarks.prepare.material import Draft, Material, Place
from tests.benchmarks.prepare.words import quotes_along

EXAMPLE = re.compile(r"^- (?P<task>.+?):?\n\n`(?P<command>.+)`$", re.MULTILINE)
CHOICE = re.compile(r"\{\{\[([^]]*)\]\}\}")  # {{[-a|--all]}}
HOLE = re.compile(r"\{\{.*?\}\}")  # {{path/to/file}}
OPTION = re.compile(r"(?<!\S)--?[A-Za-z0-9][\w-]*")
ESCAPES = (
    (
        re.compile(r"\\f(?:\[\w*\]|\(..|.)|\\[&/,|^:%]|\\s[-+]?\d|\\m\[\w*\]|\\[hv]'[^']*'|\\[ud]"),
        "",
    ),
    (re.compile(r"\\\((?:aq|cq|oq|dq|lq|rq|em|en|bu|co|ha|ti)|\\\*\(\w\w|\\\[\w+\]"), "'"),
    (re.compile(r"\\-"), "-"),
    (re.compile(r"\\[e\\]"), "\\\\"),
    (re.compile(r"\\(.)"), r"\1"),
)
HEADINGS = frozenset(("SH", "Sh", "SS", "Ss"))
UNTITLED = frozenset(("Bl", "Bd", "RS", "sp", "IP", "TP", "HP"))
PARAGRAPHS = frozenset(("PP", "Pp", "P", "LP", "It", "D1", "Dl")) | UNTITLED
LITERAL = frozenset(("nf", "EX"))
FILLED = frozenset(("fi", "EE", "Ed"))
FONTS = frozenset(("B", "I", "BR", "IR", "BI", "RB", "IB", "RI"))
IGNORED = frozenset(
    "TH Dd Dt Os RE El Ed Bk Ek nf fi EX EE ie el if de ds nr ad nh hy ft br ne in ti ta so it Sm Rs Re PD UE".split()  # noqa: SIM905 (a list of words is read as a text)
)
MACRO = re.compile(r"[A-Z][a-z0-9]")
CLOSING = frozenset(".,:;)]?!")


def prepare(
    pages: Mapping[str, str], examples: Mapping[str, str], context: Mapping[str, str]
) -> Material:
    """Return one text file a manual page, and the tasks of the examples.

    A task's gold is the paragraph of an option that the example's command uses, in the manual page of
    the command. Examples without an option, or whose options the page does not list, are left out.

    Args:
        pages: The manual pages in roff (man or mdoc macros), by path.
        examples: The pages of examples in Markdown, by name of the command.
        context: What is put before a task, by the first word of the command's name.
    """
    files = {f"{PurePosixPath(path).name}.txt": to_text(text) for path, text in pages.items()}
    by_command = {path.rsplit(".", 2)[0]: path for path in files}
    drafts = [
        Draft(
            context.get(command.split("-")[0], "") + match["task"].replace("`", ""),
            tuple(_places(path, files[path], match["command"])),
            path,
        )
        for command, text in examples.items()
        if (path := by_command.get(command))
        for match in EXAMPLE.finditer(text)
    ]
    return Material(files, [draft for draft in drafts if draft.places])


def to_text(roff: str) -> str:
    """Return a manual page without its macros: headings, and paragraphs between empty lines.

    Lines of a paragraph are joined, except in displays; the head of a list's item has a line of its own.
    """
    name = next(iter(re.findall(r"^\.Nm (\S+)", roff, re.MULTILINE)), "")
    lines, literal, fresh = [""], False, False
    for line in roff.splitlines():
        words = _words(line[1:].strip()) if line.startswith((".", "'")) else []
        macro = words[0] if words else ""
        if macro in LITERAL or (macro == "Bd" and {"-literal", "-unfilled"} & set(words)):
            literal = fresh = True
        elif macro in FILLED:
            literal, fresh = False, True
        if macro in HEADINGS:
            lines += ["", " ".join(words[1:]).upper(), "", ""]
        elif macro in PARAGRAPHS:
            lines += ["", _inline(words[1:], name) if macro not in UNTITLED else ""]
            fresh = bool(lines[-1])
        elif macro in IGNORED or macro.startswith(("\\", "}")) or line in (".", "'"):
            continue
        elif text := _inline(words, name) if words else _unescaped(line):
            if literal or fresh or not lines[-1] or text.startswith(" "):
                lines.append(text)
            else:
                lines[-1] += f"{'' if text[0] in CLOSING else ' '}{text}"
            fresh = False
    text = "\n".join(line.rstrip() for line in lines)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def options_of(command: str) -> set[str]:
    """Return the options of an example's command; -xz gives -x and -z, too."""
    spelled = CHOICE.sub(lambda match: f" {match[1].replace('|', ' ')} ", command)
    options = set(OPTION.findall(HOLE.sub(" ", spelled)))
    letters = {
        f"-{letter}"
        for own in options
        if re.fullmatch(r"-[A-Za-z]{2,4}", own)
        for letter in own[1:]
    }
    return options | letters


def _places(path: str, text: str, command: str) -> Iterator[Place]:
    wanted = options_of(command)
    for entry in re.split(r"\n\n(?=-)", text)[1:]:
        head, *others = entry.split("\n\n")
        listed = set(OPTION.findall(re.sub(r"[,=\[\]]", " ", head.split("\n")[0])))
        if listed & wanted:
            described = head.split("\n", 1)[1] if "\n" in head else "".join(others[:1])
            # A splitter may part an option from what it does, and a short text needs its option.
            segments = (described, f"{head.splitlines()[0]}\n{described}")
            yield from (Place(path, quote) for quote in quotes_along(segments, every=40))


def _words(line: str) -> list[str]:
    return [quoted or bare for quoted, bare in re.findall(r'"([^"]*)"|(\S+)', line)]


def _unescaped(text: str) -> str:
    for pattern, replacement in ESCAPES:
        text = pattern.sub(replacement, text)
    return text


def _inline(tokens: list[str], name: str) -> str:
    """Return the words of a line of macros: options get their hyphen, sections of the manual their brackets."""
    out: list[str] = []
    flag, page = False, False
    for i, token in enumerate(tokens):
        if i == 0 and token in FONTS:
            continue
        if MACRO.fullmatch(token):
            flag, page = token == "Fl", token == "Xr"
            out += [name] if token == "Nm" and len(tokens) == 1 else []
        elif token in CLOSING and out:
            out[-1] += token
        elif page and out and token.isdigit() and tokens[i - 2] == "Xr":
            out[-1] += f"({token})"
        else:
            out.append(("-" if flag else "") + _unescaped(token))
    return " ".join(out)
