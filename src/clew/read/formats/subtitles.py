"""Subtitles and transcripts, SubRip and WebVTT, become what is said and when.

They show a few words at a time, in cues, each under the time at which it is shown. Here cues are
joined to paragraphs, under the time of the first one, as far as one speaker goes on without a
pause. Numbers, settings, comments and markup of the formats are left out.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from clew.document import Document
from clew.read.formats.source_file import SourceFile
from clew.source_map import LineStart, SourceMap

PAUSE = 2.0  # seconds without a word, which end a paragraph
LONG = 600  # characters from which on the end of a sentence ends a paragraph
MIN_NAMED = 0.5  # of the cues: names before colons are speakers where so many have one
MIN_ROLLING = 1 / 3  # of the cues: captions roll where so many have the line before and a new one
_TIME = r"(?:(\d+):)?(\d\d?):(\d\d)(?:[.,](\d{1,3}))?"
_TIMES = re.compile(rf"[ \t]*{_TIME}[ \t]*-->[ \t]*{_TIME}(?:[ \t].*)?")
_VOICE = re.compile(r"<v(?:\.[^\s<>]*+)?[ \t]++([^<>]++)>")
_MARKUP = re.compile(r"</?[A-Za-z][^<>]*>|<[\d:.]+>|\{\\[^{}]*\}")
_SPEAKER = re.compile(r"([^\W\d_][\w.'\u2019 -]{0,40}):[ \t]+(?=\S)")
_LEFT_OUT = re.compile(r"(?:WEBVTT|NOTE|STYLE|REGION)\b")
_SENTENCE_END = re.compile(r"[.?!\u3002\uff1f\uff01][\"'\u201d\u2019)]*\Z")


class _Line(NamedTuple):
    """Words that are said: their line in the file, who says them, if that is known, and when."""

    words: str
    line: int
    speaker: str
    start: float
    end: float


def read(file: SourceFile) -> Iterator[Document]:
    """Yield what is said as one document; a file without cues is read as text, which is reported.

    Yields:
        The document. Its paragraphs begin with the time, such as `[1:02:03]`, and with the name of
        who speaks, where the file has names.
    """
    text = file.text()
    lines = _said_lines(text)
    if not lines:
        file.report("read as text: it has no cues")
        yield file.document(text)
        return
    paragraphs, starts, place = list[str](), list[LineStart](), 0
    for several in _paragraphs(lines):
        written = f"[{_clock(several[0].start)}] "
        written += f"{several[0].speaker}: " if several[0].speaker else ""
        starts.append(LineStart(place, several[0].line))
        for i, line in enumerate(several):
            written += " " if i else ""
            starts.append(LineStart(place + len(written) if i else place, line.line))
            written += line.words
        paragraphs.append(written)
        place += len(written) + len("\n\n")
    document = file.document("\n\n".join(paragraphs), read_as="subtitles")
    yield replace(document, source_map=SourceMap.of(file.id, starts))


def _said_lines(text: str) -> list[_Line]:
    """Return the lines of all cues, with the speakers that the file names."""
    cues = list(_cues(text))
    if _roll(cues):
        cues = [cues[0], *(cue[_repeated(last, cue) :] for last, cue in pairwise(cues))]
    lines = [line for cue in cues for line in cue]
    heads = [cue[0] for cue in cues if cue]
    named = [_SPEAKER.match(head.words) for head in heads]
    if sum(found is not None for found in named) < max(2, MIN_NAMED * len(heads)):
        return lines
    speakers = {head.line: found for head, found in zip(heads, named, strict=True) if found}
    return [
        line._replace(speaker=found[1], words=line.words[found.end() :])
        if (found := speakers.get(line.line))
        else line
        for line in lines
    ]


def _cues(text: str) -> Iterator[list[_Line]]:
    """Yield the lines of each cue, without markup."""
    times: re.Match[str] | None = None
    cue, is_left_out, is_after_empty = list[_Line](), False, True
    lines = text.split("\n")
    for number, (line, below) in enumerate(zip(lines, [*lines[1:], ""], strict=True), 1):
        if found := _TIMES.fullmatch(line):
            if cue:
                yield cue
            times, cue, is_left_out = found, [], False
        elif not line.strip():
            is_left_out = False
        elif is_after_empty and _LEFT_OUT.match(line):
            is_left_out = True
        elif times and not is_left_out and not _TIMES.fullmatch(below):  # as a cue's name is
            voice = _VOICE.search(line)
            speaker = " ".join(html.unescape(voice[1]).split()) if voice else ""
            words = " ".join(html.unescape(_MARKUP.sub("", line)).split())
            if words:
                cue.append(_Line(words, number, speaker, *_seconds(times)))
        is_after_empty = not line.strip()
    if cue:
        yield cue


def _seconds(times: re.Match[str]) -> tuple[float, float]:
    """Return when a cue is shown first and last, in seconds."""
    groups = [int(group or 0) for group in times.groups()]
    start, end = (
        3600 * hours + 60 * minutes + seconds + thousandths / 1000
        for hours, minutes, seconds, thousandths in (groups[:4], groups[4:])
    )
    return start, end


def _roll(cues: Sequence[Sequence[_Line]]) -> bool:
    """Return whether a line stays while the next one comes, as in captions that a program makes."""
    repeats = sum(0 < _repeated(last, cue) < len(cue) for last, cue in pairwise(cues))
    return repeats >= max(2, MIN_ROLLING * len(cues))


def _repeated(last: Sequence[_Line], cue: Sequence[_Line]) -> int:
    """Return how many lines at the begin of a cue are the last ones of the cue before."""
    before, now = ([line.words for line in lines] for lines in (last, cue))
    sizes = range(min(len(before), len(now)), 0, -1)
    return next((n for n in sizes if before[-n:] == now[:n]), 0)


def _paragraphs(lines: Sequence[_Line]) -> Iterator[list[_Line]]:
    """Yield the lines of each paragraph."""
    several, size = [lines[0]], len(lines[0].words)
    for last, line in pairwise(lines):
        is_other = bool(line.speaker) and line.speaker != several[0].speaker
        is_long = size >= LONG and _SENTENCE_END.search(last.words) is not None
        if is_other or is_long or line.start - last.end >= PAUSE:
            yield several
            several, size = [line._replace(speaker=line.speaker or several[0].speaker)], 0
        else:
            several.append(line)
        size += len(line.words)
    yield several


def _clock(seconds: float) -> str:
    """Return a time as players show it."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
