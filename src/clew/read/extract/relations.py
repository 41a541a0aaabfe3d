"""Facts from where names stand: what a passage is about, the words before a name, and that name.

"Playboy of Paris is a 1930 comedy directed by Ludwig Berger and starring Maurice Chevalier, Frances Dee" says, without any grammar:
(Playboy of Paris, directed by, Ludwig Berger), (Playboy of Paris, … and starring, Maurice Chevalier), (the same, Frances Dee): in a list,
what was said of the first is said of all. No language is known, but for the words that stand in lists. What follows another name may be
said of that one: such a relation begins with an ellipsis, as a quotation does that leaves something out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from clew.read.extract.extractor import Triple
from clew.read.extract.mentions import MARKS
from clew.text.words import IDEOGRAPHS, fold_case

PLAIN, ELLIPSIS = "mentions", "… "
WORD = re.compile(rf"[{IDEOGRAPHS}]+|[^\W_](?:(?![{IDEOGRAPHS}])[\w'’\-{MARKS}])*")
ASCII_WORD = re.compile(r"[A-Za-z0-9][\w'\-]*", re.ASCII)
SIGNS = re.compile(r"[\s,;/&()+、،・·和與与及]*")


class Mention(NamedTuple):
    """A name as a text has it: its span there, and the place where its sentence starts."""

    name: str
    start: int
    end: int
    sentence: int


def facts_of(
    text: str, title: str, mentions: Sequence[Mention], most: int, lists: Collection[str]
) -> Iterator[Triple]:
    """Yield (title, words before the name, name), each once; without a title the first name stands for it.

    Args:
        mentions: in the order of the text, none overlapping. most: words of a relation, the last before the name; 0 for none but
            "mentions". lists: casefolded words between the members of a list, such as "and".
    """
    about = title or (mentions[0].name if mentions else "")
    seen: dict[Triple, None] = {}
    relation, before = PLAIN, None
    for mention in mentions:
        inside = before is not None and before.sentence == mention.sentence
        between = text[
            before.end if before is not None and inside else mention.sentence : mention.start
        ]
        if not (inside and _lists(between, lists)):
            said = _words(between.rpartition("\n")[2])
            words = " ".join(said[max(0, len(said) - most) :])
            of_another = (
                before is not None and inside and fold_case(before.name) != fold_case(about)
            )
            relation = (ELLIPSIS + words if of_another else words) if words else PLAIN
        if fold_case(mention.name) != fold_case(about):
            seen.setdefault((about, relation, mention.name))
        before = mention
    yield from seen


def _words(text: str) -> list[str]:
    return (ASCII_WORD if text.isascii() else WORD).findall(text)


def _lists(between: str, lists: Collection[str]) -> bool:
    """Whether what stands between two names only lists them."""
    return (
        len(between) < 20
        and all(word.casefold() in lists for word in _words(between))
        and not SIGNS.sub("", WORD.sub("", between))
    )
