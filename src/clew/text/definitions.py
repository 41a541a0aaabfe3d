"""Questions for what something is, and passages that say it.

A term is defined where a line has it alone (a heading, an entry of a glossary, an item "term: ...")
and where a sentence begins "A term is ..." or ends "... called a term". An abbreviation is where it
stands in parentheses behind its long form (Schwartz and Hearst, "A simple algorithm for identifying
abbreviation definitions in biomedical text", PSB 2003).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

MAX_LONG_FORM = 100  # characters in front of an abbreviation in which its long form is
MAX_WORDS = 5  # of a term; a longer question asks for more than a definition
_ARTICLES = (
    r"(?:an?|the|une?|le|la|les|l['’]|el|los|las|una|der|die|das|den|ein|eine|einen|einem|einer"
    r"|il|lo|i|gli|un['’]|o|os|um|uma|de|het|een)"
)
_ARTICLE = rf"(?:{_ARTICLES}\s+|l['’]|un['’])?"
_ASKED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:so,?\s+)?what(?:\s+(?:is|are|was|were)|['’]s)\s+(?:meant\s+by\s+)?{_ARTICLE}(.+)",
        rf"what\s+do(?:es)?\s+{_ARTICLE}(.+?)\s+(?:mean|stand\s+for|refer\s+to|denote)",
        rf"(?:please\s+)?define\s+{_ARTICLE}(.+)",
        rf"(?:what(?:\s+is|['’]s)\s+)?(?:the\s+)?(?:definition|meaning)\s+of\s+{_ARTICLE}(.+)",
        rf"was\s+(?:ist|sind|bedeute[nt]|hei(?:ß|ss)t|versteht\s+man\s+unter)\s+{_ARTICLE}(.+)",
        rf"qu['’]est[\s-]ce\s+qu(?:e|['’])\s*(?:c['’]est\s+qu(?:e|['’])\s*)?{_ARTICLE}(.+)",
        rf"(?:¿\s*)?qu[ée]\s+(?:es|son|significan?)\s+{_ARTICLE}(.+)",
        rf"(?:che\s+)?cos(?:['’]è|a\s+(?:è|sono|significa))\s+{_ARTICLE}(.+)",
        rf"o\s+que\s+(?:é|são|significam?)\s+{_ARTICLE}(.+)",
        rf"wat\s+(?:is|zijn|betekent)\s+{_ARTICLE}(.+)",
        r"что\s+(?:такое|значит|означает)\s+(.+)",
        r"什么是(.+)",
        r"(.+?)(?:是什么|是什麼|とは何ですか|とは何か|とは)",
    )
)
_OPEN, _CLOSE = r"[`*_\"“”‘«]*", r"[`*_\"“”’»]*"
_ASIDE = rf"(?:[ \t]*\([^()\n]{{1,60}}\))?{_CLOSE}"
_IS = re.compile(
    rf"{_CLOSE}{_ASIDE}(?:,?\s+(?:is|are|was|were|means?|refers?\s+to|stands?\s+for|denotes?"
    r"|describes?|represents?|ist|sind|bedeutet|bezeichnet|est|sont|désigne|es|son|é|são|è|sono|это"
    r"|является|означает|zijn|betekent|—)(?!\w)|\s*(?:是|指|とは|は))",
    re.IGNORECASE,
)
_SENTENCE_BEGINS = re.compile(
    rf"(?:^|[.!?:;(\n。！？])[\s>#*+•|_\"“”-]*{_ARTICLE}{_OPEN}\Z", re.IGNORECASE
)
_CALLED = re.compile(
    rf"\b(?:called|known\s+as|termed|referred\s+to\s+as|genannt|называ\w+)\s+{_ARTICLE}{_OPEN}\Z",
    re.IGNORECASE,
)
_LINE_BEGINS = re.compile(rf"(?:\A|\n)[ \t>#|`_\"“”:.]*(?:\*\*)?{_ARTICLE}{_OPEN}\Z", re.IGNORECASE)
_LINE_ENDS = re.compile(rf"{_CLOSE}{_ASIDE}[ \t]*(?:¶|\n|:|[–—-]\s)\s*\S")
# In a list the mark has a space behind it ("--commit" is no term), and a term alone says nothing.
_ITEM_BEGINS = re.compile(rf"(?:\A|\n)[ \t>]*[*+•-][ \t]+{_ARTICLE}{_OPEN}\Z", re.IGNORECASE)
_ITEM_ENDS = re.compile(rf"{_CLOSE}{_ASIDE}[ \t]*(?::|[–—-]\s|\n[ \t]+[^\s*+•-])")
_MAX_BEFORE = 60  # characters in front of a term that are looked at


@dataclass(frozen=True)
class DefinitionQuestion:
    """A question for what something is.

    Attributes:
        term: What it is called, without articles and marks.

    Example:
        >>> asked = DefinitionQuestion.of("What is a bare repository?")
        >>> asked.term
        'bare repository'
        >>> asked.is_defined_in("They cloned it. A bare repository is one without files.")
        True
        >>> asked.is_defined_in("They made a bare repository.")
        False
        >>> DefinitionQuestion.of("How do I make a bare repository?") is None
        True
    """

    term: str

    @classmethod
    def of(cls, question: str) -> DefinitionQuestion | None:
        """Return what a question asks the meaning of; None where it asks something else."""
        text = question.strip(" \t\n¿?？!.。")
        for asked in _ASKED:
            if match := asked.fullmatch(text):
                term = match[1].strip(" \"'“”‘’«»`*_")
                if term and len(term.split()) <= MAX_WORDS:
                    return cls(" ".join(term.split()))
        return None

    def is_entry_in(self, text: str) -> bool:
        """Return whether a line has the term alone, above others, or in front of a colon or dash.

        Example:
            >>> DefinitionQuestion("blob").is_entry_in("**blob** - the contents of a file")
            True
        """
        for match in self._term.finditer(text):
            for ends, begins in ((_LINE_ENDS, _LINE_BEGINS), (_ITEM_ENDS, _ITEM_BEGINS)):
                if ends.match(text, match.end()) and begins.search(_before(text, match)):
                    return True
        return False

    def is_named_by(self, heading: str) -> bool:
        """Return whether a heading is the term.

        Example:
            >>> DefinitionQuestion("blob").is_named_by("Blobs (git)")
            True
        """
        return self.is_entry_in(f"{heading}\n.")

    def is_defined_in(self, text: str) -> bool:
        """Return whether a sentence says what the term is, or what it is short for.

        Example:
            >>> asked = DefinitionQuestion("MSRV")
            >>> asked.is_defined_in("the minimum supported Rust version (MSRV) of a crate")
            True
        """
        for match in self._term.finditer(text):
            before = _before(text, match)
            if _IS.match(text, match.end()) and _SENTENCE_BEGINS.search(before):
                return True
            if _CALLED.search(before):
                return True
            if before[-1:] == "(" and text[match.end() : match.end() + 1] in (")", ",", ";"):
                long_form = text[max(0, match.start() - MAX_LONG_FORM) : match.start() - 1]
                if _is_short_for(self.term, long_form):
                    return True
        return False

    @cached_property
    def _term(self) -> re.Pattern[str]:
        """The pattern of the term, in the singular and the plural."""
        *first, last = map(re.escape, re.split(r"[\s_-]+", self.term))
        singular = re.sub(r"(?<=\w\w)s$", "", last)
        words = r"[\s_-]+".join([*first, f"{singular}(?:s|es)?"])
        if re.search(
            r"[\u3040-\u30ff\u4e00-\u9fff]$", self.term
        ):  # words without spaces between them
            return re.compile(re.escape(self.term))
        return re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)


def _before(text: str, match: re.Match[str]) -> str:
    """Return what stands in front of a match; as the begin of a text only where it is one."""
    start = match.start() - _MAX_BEFORE
    return text[: match.start()] if start <= 0 else "…" + text[start : match.start()]


def _is_short_for(term: str, before: str) -> bool:
    """Return whether the last words of a text spell an abbreviation (Schwartz and Hearst).

    Example:
        >>> _is_short_for("MSRV", "the minimum supported Rust version ")
        True
        >>> _is_short_for("MSRV", "the oldest compiler ")
        False
    """
    letters = [letter for letter in term.lower() if letter.isalnum()]
    if len(letters) < 2 or term.islower():
        return False
    place, text = len(before), before.lower()
    for number, letter in enumerate(reversed(letters), 1):
        is_first = number == len(letters)
        place -= 1
        while place >= 0 and (
            text[place] != letter or (is_first and place > 0 and text[place - 1].isalnum())
        ):
            place -= 1
        if place < 0:
            return False
    return len(before[place:].split()) <= 2 * len(letters) + 1
