"""Questions for what something is, and texts that say it.

A term is defined where a line has it alone (a heading, an entry of a glossary, an item "term: ...")
and where a sentence begins "A term is ..." or ends "... called a term". An abbreviation is where it
stands in parentheses behind its long form (Schwartz and Hearst, "A simple algorithm for identifying
abbreviation definitions in biomedical text", PSB 2003).
"""

from __future__ import annotations

import re
from bisect import bisect
from dataclasses import dataclass
from functools import cached_property

MAX_WORDS = 5  # of a term; a longer question asks for more than a definition
MAX_AROUND = 100  # characters on each side of a term that are looked at
MAX_ASIDE = 60  # characters in parentheses between a term and what it is

_QUOTES = "`*_\"'“”‘’«»"
_ARTICLE_WORDS = (
    "a an the der die das den ein eine einen einem einer le la les un une el los las il lo gli uno "
    "o os um uma as de het een"
)
_ARTICLES = frozenset(_ARTICLE_WORDS.split())
_ELIDED = ("l'", "l’", "un'", "un’")

# Where a term means what is asked for: "What does head mean in git?"
_WHERE = r"(?: (?:in|on|for|to|within|under) .+)?"
# What stands before the term in a question, and behind it, where blanks are single.
_ASKED = tuple(
    re.compile(rf"\A{before}(.+){behind}\Z", re.IGNORECASE)
    for before, behind in (
        (r"(?:so,? )?what(?: is| are| was| were|['’]s) (?:meant by )?", ""),
        (r"what do(?:es)? ", rf" (?:mean|stand for|refer to|denote){_WHERE}"),
        (r"what do(?:es)? ", " do"),
        (r"(?:please )?define ", ""),
        (r"(?:what(?: is|['’]s) )?(?:the )?(?:definition|meaning) of ", ""),
        (r"was (?:ist|sind|bedeutet|bedeuten|heißt|heisst|versteht man unter) ", ""),
        (r"qu['’]est[ -]ce qu(?:e |['’])(?:c['’]est qu(?:e |['’]))?", ""),
        (r"qu[ée] (?:es|son|significan?) ", ""),
        (r"(?:che )?cos(?:['’]è|a è|a sono|a significa) ", ""),
        (r"o que (?:é|são|significam?) ", ""),
        (r"wat (?:is|zijn|betekent) ", ""),
        (r"что (?:такое|значит|означает) ", ""),
        (r"什么是", ""),
    )
)
_PRONOUNS = ("it", "this", "that", "these", "those")  # "What does it mean to ..." asks for no term
_ASKED_BEHIND = ("是什么", "是什麼", "とは何ですか", "とは何か", "とは")

_IS_WORDS = (
    "is,are,was,were,mean,means,refers to,refer to,stands for,stand for,denotes,describes,"
    "represents,ist,sind,bedeutet,bezeichnet,est,sont,désigne,es,son,é,são,è,sono,zijn,betekent,"
    "это,является,означает,—"
)
_IS = tuple(_IS_WORDS.split(","))
_IS_JOINED = ("是", "指", "とは", "は")  # between words that no blank divides
_CALLED = ("called", "known as", "termed", "referred to as", "genannt", "называется", "называют")
_SENTENCE_ENDS = ".!?:;(。！？"
# A line that opens or closes a fence of code in Markdown, perhaps behind the mark of an item. A
# line of tildes may as well be that below a heading in reStructuredText.
_FENCE = re.compile(r"^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,})[^`\n]*$", re.MULTILINE)
_MARKS = ' \t>#*+•|_"“”-'


@dataclass(frozen=True)
class DefinitionQuestion:
    """A question for what something is.

    Attributes:
        term: What it is called, without articles and quotes.

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
        text = " ".join(question.split()).strip(" ¿?？!.。")
        for asked in _ASKED:
            if match := asked.match(text):
                return cls._of_words(match[1])
        for behind in _ASKED_BEHIND:
            if text.endswith(behind):
                return cls._of_words(text.removesuffix(behind))
        return None

    @classmethod
    def _of_words(cls, words: str) -> DefinitionQuestion | None:
        words = words.strip(_QUOTES + " ")
        elided = next((one for one in _ELIDED if words.lower().startswith(one)), "")
        words = words[len(elided) :]
        first, blank, others = words.partition(" ")
        if blank and first.lower() in _ARTICLES:
            words = others
        words = words.strip(_QUOTES + " ")
        if not words or words in _PRONOUNS:
            return None
        return cls(words) if words.count(" ") < MAX_WORDS else None

    def is_entry_in(self, text: str) -> bool:
        """Return whether a line has the term alone, above others, or in front of a colon or dash.

        A line in a fence of code is none: what stands behind "key:" there is a value.

        Example:
            >>> DefinitionQuestion("blob").is_entry_in("**blob** - the contents of a file")
            True
        """
        changes = _fence_changes(text)
        for match in self._term.finditer(text):
            if bisect(changes, match.start()) % 2:
                continue
            before, behind = _before(text, match), _behind(text, match)
            if _begins_line(before) and _ends_entry(behind):
                return True
            if _begins_item(before) and _ends_item(behind):
                return True
        return False

    def is_named_by(self, heading: str) -> bool:
        """Return whether a heading is the term, or terms with commas between of which it is one.

        Example:
            >>> DefinitionQuestion("blob").is_named_by("Blobs (git)")
            True
            >>> DefinitionQuestion("blob").is_named_by("object, blob")
            True
        """
        return any(self.is_entry_in(f"{words}\n.") for words in {heading, *heading.split(", ")})

    def is_defined_in(self, text: str) -> bool:
        """Return whether a sentence says what the term is, or what it is short for.

        Example:
            >>> asked = DefinitionQuestion("MSRV")
            >>> asked.is_defined_in("the minimum supported Rust version (MSRV) of a crate")
            True
        """
        for match in self._term.finditer(text):
            before = _before(text, match)
            if _begins_sentence(before) and _says_what_it_is(_behind(text, match)):
                return True
            if before.rstrip().lower().endswith(_CALLED):
                return True
            if text[match.end() : match.end() + 1] in (")", ",", ";") and _is_short_for(
                self.term, _long_form(text, match)
            ):
                return True
        return False

    @cached_property
    def _term(self) -> re.Pattern[str]:
        """The pattern of the term, in the singular and the plural."""
        if re.search(r"[\u3040-\u30ff\u4e00-\u9fff]\Z", self.term):  # no blank divides its words
            return re.compile(re.escape(self.term))
        *first, last = map(re.escape, re.split(r"[\s_-]", self.term))
        singular = re.sub(r"(?<=\w\w)s\Z", "", last)
        words = r"[\s_-]".join([*first, f"{singular}(?:s|es)?"])
        return re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)


def _fence_changes(text: str) -> list[int]:
    """Return where each fence of code starts and ends in turn; one that is cut off has no end."""
    changes, opened = list[int](), ""
    for line in _FENCE.finditer(text) if "```" in text else ():
        if not opened:
            opened = line[1]
            changes.append(line.start())
        elif line[1].startswith(opened):
            opened = ""
            changes.append(line.end())
    return changes


def _before(text: str, match: re.Match[str]) -> str:
    """Return what stands in front of a term, without an article and quotes.

    What is cut off at its begin has a mark there, so that it does not look like a begin.
    """
    start = match.start() - MAX_AROUND
    before = text[: match.start()] if start <= 0 else "…" + text[start : match.start()]
    before = before.rstrip(_QUOTES)
    words = before.rstrip(" \t\n")
    last = re.split(r"\W", words)[-1]
    if last.lower() in _ARTICLES and len(words) < len(before):
        before = words[: -len(last)].rstrip(_QUOTES)
    return before


def _behind(text: str, match: re.Match[str]) -> str:
    """Return what stands behind a term, without quotes and an aside in parentheses."""
    behind = text[match.end() : match.end() + 2 * MAX_AROUND].lstrip(_QUOTES)
    aside = behind.lstrip(" \t")
    if aside[:1] == "(" and (end := aside.find(")", 0, MAX_ASIDE)) > 0:
        behind = aside[end + 1 :].lstrip(_QUOTES)
    return behind


def _begins_sentence(before: str) -> bool:
    stripped = before.rstrip(_MARKS + "\n")
    return not stripped or "\n" in before[len(stripped) :] or stripped[-1] in _SENTENCE_ENDS


def _says_what_it_is(behind: str) -> bool:
    if behind.startswith(_IS_JOINED):
        return True
    behind = behind.removeprefix(",")
    words = behind.lstrip().lower()
    return len(words) < len(behind) and any(
        words.startswith(verb) and not words[len(verb) : len(verb) + 1].isalnum() for verb in _IS
    )


def _begins_line(before: str) -> bool:
    stripped = before.rstrip(' \t>#|:."“”')
    return not stripped or stripped[-1] == "\n"


def _ends_entry(behind: str) -> bool:
    rest = behind.lstrip(" \t")
    is_end = rest[:1] in ("¶", "\n", ":") or (rest[:1] in ("–", "—", "-") and rest[1:2].isspace())
    return bool(rest) and is_end and bool(rest[1:].strip())


def _begins_item(before: str) -> bool:
    """Return whether a mark of an item is in front; "--option" has no blank behind it."""
    mark = before.rstrip(" \t*_`")
    if not mark.endswith(("-", "+", "•")):
        mark = before.rstrip(" \t")
    if not mark.endswith(("-", "+", "•", "*")) or not before[len(mark) :].startswith((" ", "\t")):
        return False
    around = mark[:-1].rstrip(" \t>")
    return not around or around[-1] == "\n"


def _ends_item(behind: str) -> bool:
    rest = behind.lstrip(" \t")
    if rest[:1] == "\n":  # a list of names alone says nothing of them
        inside = rest[1:].lstrip(" \t")
        return len(inside) < len(rest) - 1 and inside[:1] not in ("", "\n", "-", "+", "*", "•")
    return _ends_entry(behind)


def _long_form(text: str, match: re.Match[str]) -> str:
    """Return what stands before the parenthesis that a term begins; empty without one."""
    before = text[max(0, match.start() - MAX_AROUND) : match.start()].rstrip(_QUOTES)
    return before[:-1] if before.endswith("(") else ""


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
