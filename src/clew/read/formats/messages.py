"""Messages in plain text: each begins a line with who wrote it, as in the log of a chat.

Turns of speech, which are long, are prose: less is found where passages end between turns.
Such a line is `<ann> hello`, `[10:15] <ann> hello` or `3/5/21, 10:15 - Ann Lee: hello`. One that
begins with a name alone is none: minutes and plays have these.
"""

from __future__ import annotations

import re

from clew.read.formats.outline import Block, Share

MIN_MESSAGES = 4
MIN_PER_SPEAKER = 2  # messages, on average: headers of a letter and settings are each named once
LONG = 1 / 4  # of a passage: what is left empty before a message that is not cut
MAX_LONG = 0.02  # of the messages
MIN_SHARE = 0.5  # of the lines that begin a message; others go on with it
# Programs put no-break spaces before "PM", and marks of direction before a line.
_TIME = r"[\[(]?\d[\d:.,/ T\u00a0\u202f-]*+(?:[AaPp]\.?[Mm]\.?)?[\])]?[ \t,-]*+"  # and a date
_NAME = r"[^\s:<>\d][^\s:<>]*(?:[ \t][^\s:<>]+){0,3}"
_MESSAGE = re.compile(
    rf"^[ \t\u200e\u200f]*+"
    rf"(?:(?:{_TIME})?<([^<>\n]{{1,40}})>(?=[ \t]+[^\s<])|{_TIME}({_NAME}):(?=[ \t]|$))",
    re.MULTILINE,
)


def messages_in(text: str, start: int, end: int, share: Share | None = None) -> tuple[Block, ...]:
    r"""Return the messages of a paragraph; none where it is no row of messages.

    Args:
        text: The text.
        start: Where the paragraph starts.
        end: Where it ends.
        share: As `Format.outline` takes it; None where sizes do not matter.

    Example:
        >>> log = "<ann> Is it high tide?\n<bo> Not yet.\n<ann> When?\n<bo> At ten,\nor later."
        >>> [log[block.start : block.end] for block in messages_in(log, 0, len(log))][2:]
        ['<ann> When?', '<bo> At ten,\nor later.']
        >>> messages_in("From: Ann\nTo: Bo\nDate: May\nSubject: Tides", 0, 43)
        ()
    """
    found = list(_MESSAGE.finditer(text, start, end))
    speakers = {match[1] or match[2] for match in found}
    lines = text.count("\n", start, end) + 1
    if len(found) < max(MIN_MESSAGES, MIN_PER_SPEAKER * len(speakers), MIN_SHARE * lines):
        return ()
    starts = [start, *(match.start() for match in found[1:])]
    ends = [*(place - 1 for place in starts[1:]), end]
    spans = list(zip(starts, ends, strict=True))
    if share is not None and sum(share(*span) > LONG for span in spans) > MAX_LONG * len(spans):
        return ()
    return tuple(Block(*span) for span in spans)
