"""The entries of what is written by programs or for them: logs, settings, calendars, contacts.

Each begins a line: with a time, a key and a sign behind it, a mark, or a word alone. What is
indented below one goes on with it, and a remark belongs to the entry in the next line.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence

from clew.text.spans import Span, lines

MIN_ENTRIES = 3
MIN_SHARE = 0.8  # of the lines that begin something, but for remarks
MAX_REMARKS = 0.9  # of the lines
MAX_RECORD = (
    600  # characters of an event, a contact or an entry with its remark, which is one entry
)
_RECORD = re.compile(r"BEGIN:(VEVENT|VTODO|VJOURNAL|VCARD)")  # of iCalendar and vCard
_REMARK = re.compile(r"#|;|//|--")
# A word with a colon and a space behind it is a key where it is in lower case: others speak so.
_ENTRY = re.compile(
    r"(?:[\w./-]+ )?[\[(]?\d{1,4}[-/.:]\d{1,2}[-/.:\d]|[A-Z][a-z][a-z] [ \d]\d \d\d:\d|\[[A-Z]+\]"
    r"|(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL|OK)\b"
    r"|(?:- +)?[\"']?[\w$@.-][\w$@./-]*[\"']?(?:[ \t]*=|(?:;[^\s:=;]{1,40})*[=:](?=\S|$))"
    r"|(?:- +)?[\"']?[a-z_$@][\w$@./-]*[\"']?: |(?:- +)?\S{1,80}:$"
    r"|[^\t\n]{1,60}\t+\S"  # columns
    r"|\[[^\]\n]*\]$|[{}\]\[][,;]?$|<[^\n]*>$"
)
_WORD = re.compile(r"(?![#;]|//)[!-~]+$")  # alone in its line


def entries_in(text: str, start: int, end: int) -> list[Span]:
    r"""Return the entries in `text[start:end]`, and remarks on none; [] for other texts.

    Example:
        >>> settings = "[db]\nhost = sea\nport = 54,\n  55\nsize = 7"
        >>> [settings[slice(*span)] for span in entries_in(settings, 0, len(settings))][1:3]
        ['host = sea', 'port = 54,\n  55']
        >>> entries_in("Ann went\nto sea.\nNote: it\nwas late.", 0, 35)
        []
    """
    spans, entries, indent = list[Span](), 0, None
    remarks = set[int]()  # places in `spans`
    for begin, stop in lines(text, start, end):
        own = begin - (text.rfind("\n", 0, begin) + 1)
        is_deeper = indent is not None and own > indent
        is_entry = bool(
            _ENTRY.match(text, begin, stop) or (not is_deeper and _WORD.match(text, begin, stop))
        )
        is_remark = not is_entry and bool(_REMARK.match(text, begin, stop))
        if spans and is_deeper and not is_entry and not is_remark:
            spans[-1] = (spans[-1][0], stop)
            continue
        if is_remark:
            remarks.add(len(spans))
        spans.append((begin, stop))
        entries += is_entry
        indent = own if is_entry else indent
    enough = max(MIN_ENTRIES, MIN_SHARE * (len(spans) - len(remarks)))
    if entries < enough or len(remarks) > MAX_REMARKS * len(spans):
        return []
    return list(_with_whole_records(text, _with_remarks(text, spans, remarks)))


def _with_remarks(text: str, spans: Sequence[Span], remarks: Container[int]) -> list[Span]:
    """Return the entries with the remarks right above them, and other remarks by themselves."""
    found = list[Span]()
    first = 0  # of the remarks right above
    for i, (start, end) in enumerate(spans):
        if i and text.count("\n", spans[i - 1][1], start) > 1:
            first = i
        if i in remarks:
            found.append((start, end))
            continue
        begin = spans[first][0]
        if first < i and end - begin <= MAX_RECORD:
            found[first - i :] = []
            start = begin
        found.append((start, end))
        first = i + 1
    return found


def _with_whole_records(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    """Yield the entries; those of an event or a contact that is not long are one."""
    i = 0
    while i < len(spans):
        start, end = spans[i]
        behind = i + 1
        if begin := _RECORD.fullmatch(text, start, end):
            last = f"END:{begin[1]}"
            for j in range(i + 1, len(spans)):
                if spans[j][1] - start > MAX_RECORD:
                    break
                if text[slice(*spans[j])] == last:
                    end, behind = spans[j][1], j + 1
                    break
        yield start, end
        i = behind
