"""The facts about source code that a question asks for, by the symbols that it names and its verb.

"Who calls `cut`?" names a symbol and asks for the facts of one relation that have it as their
object; vectors tell none of this, since one fact about `cut` looks like another. What is found is
read from the passages in which it is written. A graph whose facts define nothing has no symbols,
and then nothing is found.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from clew.graph import Floats, Graph, Mask, Rows, freeze
from clew.seed._test_code import is_test_code

DEFINES, OVERRIDES, REQUIRES, MENTIONS = "defines", "overrides", "requires", "mentions"
MAX_MEANINGS = 5  # symbols that a name in a question may mean; what means more, means none
MAX_WORDS = 6  # of a name that a question has as words: "get meta refresh"
MAX_QUESTION = 2000  # characters in which symbols are looked for
MAX_CUE = 16  # characters before a name by which it is known for one
OTHER_SCORE = 0.2  # of the definition of a symbol of which something else is asked
_NAME = re.compile(r"[^\W\d]\w*+(?:(?:[.#]|::)[^\W\d]\w*+)*+")
_LOOKS_LIKE_CODE = re.compile(r"\w[._]\w|::|^_|[a-z][A-Z]|[A-Z]{2}[a-z]")
_PATH_MARKS = re.compile(r"[.:#]+")
_BEFORE = re.compile(
    r"(?:calls?|uses?|class|function|method|module|extends|overrides?|raises|imports?|implements?)"
    r"\s+[`'\"]?$"
)
_BEHIND = re.compile(r"[`'\"]?\s*(?:\(|class\b|function\b|method\b|module\b)")
_PARENT = re.compile(r"[`'\"]?\s+(?:method\s+)?(?:of|in)\s+(?:(?:the|an?)\s+)?(?:class\s+)?[`'\"]?")
# Behind an indefinite article, or with one behind it, a word is a kind of thing and no name.
_ONE_OF_MANY = re.compile(r"(?:\A|\s)an?\s\Z", re.IGNORECASE)
_OF_ONE_OF_MANY = re.compile(r"\s+(?:function|method)\s+of\s+an?\s", re.IGNORECASE)
# "The language server protocol" is about no `language_server`, as "the cookie jar is" may be about
# a `cookie_jar`: behind an article, a word that goes on makes another thing of the words before.
_ARTICLE = re.compile(r"(?:\A|\s)(?:the|this|that)\s\Z", re.IGNORECASE)
_GOES_ON = re.compile(
    r" (?!(?:am|and|are|at|be|been|by|call(?:ed|s)?|can|cannot|class|defined?|do|does|for|from|"
    r"function|get|gets|has|have|if|implemented|in|into|is|it|method|module|of|on|or|overrid\w+|"
    r"raised?|set|so|that|then|to|used?|was|were|when|where|which|while|with)\b)[^\W\d]{3,}"
)
_PASSIVE = re.compile(r"\b(?:is|are|was|were|be|been|get|gets|being)\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.?!]\s")


class Asked(NamedTuple):
    """What a verb asks for.

    Attributes:
        cue: How the question may word it, the surest wordings first.
        active: The wording that has a symbol before it as its subject: "What does `cut` call?"
        relations: The relations of the facts, the best first.
        as_subject: Whether the symbol is their subject where nothing else tells.
    """

    cue: re.Pattern[str]
    active: re.Pattern[str]
    relations: tuple[str, ...]
    as_subject: bool = False


def _asked(cue: str, active: str, *relations: str, as_subject: bool = False) -> Asked:
    return Asked(
        re.compile(rf"\b(?:{cue})\b", re.IGNORECASE),
        re.compile(rf"\b(?:{active})\b", re.IGNORECASE),
        relations,
        as_subject,
    )


ASKED = (
    _asked(
        r"(?:must|should|to|need|have) (?:\w+ ){0,3}(?:implement|define|override)|must|my own|"
        r"abstract|(?:make|write|create) (?:a|an|my)|requires?|required",
        r"require",
        REQUIRES,
        as_subject=True,
    ),
    _asked(r"overrid\w+", r"override", OVERRIDES),
    _asked(
        r"inherit\w*|sub-?class\w*|extend\w*|deriv\w+|child|children",
        r"inherit|extend|derive",
        "inherits from",
    ),
    _asked(r"rais\w+|throw\w*", r"raise|throw", "raises"),
    _asked(r"decorat\w+", r"decorate", "is decorated by"),
    _asked(r"import\w*", r"import", "imports"),
    _asked(r"call\w*|invok\w+|instantiat\w+", r"call|invoke|instantiate", "calls"),
    _asked(r"us(?:e|es|ed|ing|ages?)", r"use", "calls", "uses"),
    _asked(
        r"defin\w+|declar\w+|implement\w*|where|source of|signature|^what is|^what's|"
        r"what (?:\w+ )?does|how does|purpose of",
        r"define|contain|have",
        DEFINES,
    ),
)


class AskedFacts(NamedTuple):
    """Facts that a question asks for.

    Attributes:
        facts: The facts, best first.
        scores: float64, in (0, 1], the score of each.
    """

    facts: Rows
    scores: Floats

    def passage_scores(self, graph: Graph) -> Floats:
        """Return the score of the best fact that was read from each node."""
        scores = np.zeros(len(graph))
        for fact, score in zip(self.facts.tolist(), self.scores.tolist(), strict=True):
            passages = graph.facts.read_from[fact]
            scores[passages] = np.maximum(scores[passages], score)
        return scores


NO_FACTS = AskedFacts(freeze([], np.int32), freeze([], np.float64))


@dataclass(frozen=True, eq=False)
class SymbolTable:
    """The symbols of a graph.

    Attributes:
        rows_of: Every name of a symbol, with and without the names of what it is in, and the rows
            that it may mean.
        rows_of_words: The same of names that a question may have as words, joined by "_".
        facts_of: The facts of each row, with whether it is the subject.
        relations: The relation of each fact.
        objects: The object of each fact.
    """

    rows_of: Mapping[str, tuple[int, ...]]
    rows_of_words: Mapping[str, tuple[int, ...]]
    facts_of: Mapping[int, list[tuple[int, bool]]]
    relations: tuple[str, ...]
    objects: Rows

    def find(self, question: str) -> AskedFacts:
        """Return the facts that a question asks for; none where it asks nothing of its names.

        A name by itself, or words that happen to be one, are found by the words of passages.
        """
        question = question[:MAX_QUESTION]
        named = list(self._named(question)) if self.rows_of else []
        scores: dict[int, float] = {}
        for start, end, rows in named:
            asked, as_subject = _asked_of(question, start, end)
            for row in rows:
                for fact, score in self._facts(row, asked, as_subject):
                    scores[fact] = max(scores.get(fact, 0.0), score)
        if max(scores.values(), default=0.0) < 1:
            return NO_FACTS
        ranked = sorted(scores, key=lambda fact: (-scores[fact], fact))
        return AskedFacts(
            freeze(ranked, np.int32), freeze([scores[fact] for fact in ranked], np.float64)
        )

    def _facts(
        self, row: int, asked: Asked | None, as_subject: bool
    ) -> Iterator[tuple[int, float]]:
        """Yield the facts about a symbol that are asked for, and its definition."""
        is_found = False
        for fact, is_subject in self.facts_of[row]:
            relation = self.relations[fact]
            if asked is not None and relation in asked.relations and is_subject == as_subject:
                is_found = True
                yield fact, 1.0
            elif relation == DEFINES and not is_subject:
                yield fact, OTHER_SCORE
        if asked is not None and as_subject and not is_found:
            yield from self._facts_of_members(row, asked)

    def _facts_of_members(self, row: int, asked: Asked) -> Iterator[tuple[int, float]]:
        """Yield what the members of a class do, or those of them that other classes define anew.

        A class that requires nothing is made to one's own ends by what others override of it.
        """
        for defined, is_container in self.facts_of[row]:
            if self.relations[defined] != DEFINES or not is_container:
                continue
            for fact, is_subject in self.facts_of[int(self.objects[defined])]:
                relation = self.relations[fact]
                if is_subject and relation in asked.relations:
                    yield fact, 1.0
                elif not is_subject and relation == OVERRIDES and REQUIRES in asked.relations:
                    yield defined, 1.0

    def _named(self, question: str) -> Iterator[tuple[int, int, tuple[int, ...]]]:
        """Yield (start, end, rows) for the symbols that a question names, by place."""
        names = [(match.start(), match.end()) for match in _NAME.finditer(question)]
        i = 0
        while i < len(names):
            behind = self._spaced(question, names, i)
            start, end = names[i][0], names[behind - 1][1]
            if behind > i + 1:
                joined = "_".join(question[a:b].lower() for a, b in names[i:behind])
                yield start, end, self.rows_of_words[joined]
                i = behind
                continue
            inner = self._member(question, names, i)
            if inner:
                yield start, end, inner
                i += 1
                while i < len(names) and not self._meant(question, *names[i]):
                    i += 1
                i += 1
                continue
            if rows := self._meant(question, start, end):
                yield start, end, rows
            i += 1

    def _spaced(self, question: str, names: list[tuple[int, int]], first: int) -> int:
        """Return the position behind the words of a symbol's name, as in "get meta refresh"."""
        start = names[first][0]
        before = question[max(start - MAX_CUE, 0) : start]
        if _ONE_OF_MANY.search(before):
            return first + 1
        for behind in range(min(first + MAX_WORDS, len(names)), first + 1, -1):
            words = names[first:behind]
            gaps = (question[a:b] for (_, a), (b, _) in pairwise(words))
            joined = "_".join(question[a:b].lower() for a, b in words)
            if joined in self.rows_of_words and all(gap == " " for gap in gaps):
                if _ARTICLE.search(before) and _GOES_ON.match(question, words[-1][1]):
                    return first + 1
                return behind
        return first + 1

    def _member(self, question: str, names: list[tuple[int, int]], i: int) -> tuple[int, ...]:
        """Return the rows of "open of Box", a name with that of what it is in behind it."""
        start, end = names[i]
        match = _PARENT.match(question, end)
        outer = _NAME.match(question, match.end()) if match else None
        if outer is None:
            return ()
        owner, name = outer[0].rstrip("."), question[start:end]
        # What is in something else is not meant: "name of the host" is no `name` of a header.
        return self._known(f"{owner}.{name}", fewest=2) or self._defined_by(owner, name)

    def _defined_by(self, owner: str, name: str) -> tuple[int, ...]:
        """Return the rows of what a module defines, whose names do not begin with its own."""
        defined = {
            int(self.objects[fact])
            for row in self._known(owner)
            for fact, is_container in self.facts_of[row]
            if is_container and self.relations[fact] == DEFINES
        }
        rows = tuple(row for row in self.rows_of.get(name, ()) if row in defined)
        return rows if len(rows) <= MAX_MEANINGS else ()

    def _meant(self, question: str, start: int, end: int) -> tuple[int, ...]:
        """Return the rows that a word means, if it looks like a name of code in its place."""
        word = question[start:end]
        if question[max(start - 1, 0) : start] == "`":
            return self._known(word)
        if len(word) == 1:  # "How do I ...": some test defines a class I
            return ()
        is_capital = word[0].isupper() and question[:start].strip() != ""
        if not (
            is_capital
            or _LOOKS_LIKE_CODE.search(word)
            or _BEFORE.search(question[max(start - MAX_CUE, 0) : start])
            or (_BEHIND.match(question, end) and not _OF_ONE_OF_MANY.match(question, end))
        ):
            return ()
        return self._known(word)

    def _known(self, name: str, fewest: int = 1) -> tuple[int, ...]:
        """Return the rows of a name; a symbol may be called by less than its whole path.

        Args:
            name: The name, with the names of what it is in.
            fewest: So many of the last parts of its path are always looked for.
        """
        parts = _PATH_MARKS.split(name)[-MAX_WORDS:]
        for first in range(len(parts) - fewest + 1):
            if rows := self.rows_of.get(".".join(parts[first:]), ()):
                return rows if len(rows) <= MAX_MEANINGS else ()
        return ()

    def is_about_code(self, graph: Graph) -> Mask:
        """Return which facts are of a relation of source code between symbols, or name a symbol.

        That a text under some title names a symbol says nothing of the title.
        """
        if not self.rows_of:  # as of texts without code
            return np.zeros(len(graph.facts), np.bool_)
        of_code = graph.facts.relations.mask(
            DEFINES, *(name for one in ASKED for name in one.relations)
        )
        is_symbol = np.zeros(len(graph), np.bool_)
        is_symbol[list(self.facts_of)] = True
        has_symbol = is_symbol[graph.facts.subjects] | is_symbol[graph.facts.objects]
        names_symbol = graph.facts.relations.mask(MENTIONS) & is_symbol[graph.facts.objects]
        mask: Mask = (of_code & has_symbol) | names_symbol
        return mask


@dataclass(frozen=True)
class SymbolTablePart:
    """The part that computes the `SymbolTable` of a graph.

    Example:
        >>> graph = Graph.from_triples([("kit", "defines", "cut"), ("main", "calls", "cut")])
        >>> graph.part(SymbolTablePart()).find("Who calls cut?").facts
        array([1, 0], dtype=int32)
    """

    def compute(self, graph: Graph) -> SymbolTable:
        facts = graph.facts
        if not facts.relations.has(DEFINES):
            return SymbolTable({}, {}, {}, (), facts.objects)
        relations = tuple(facts.relations)
        defined = {
            row for row, of in zip(facts.objects.tolist(), relations, strict=True) if of == DEFINES
        }
        containers = zip(facts.subjects.tolist(), relations, strict=True)
        symbols = defined | {row for row, of in containers if of == DEFINES}
        of_tests = _defined_in_tests(graph)
        rows_of: defaultdict[str, dict[int, None]] = defaultdict(dict)
        rows_of_words: defaultdict[str, dict[int, None]] = defaultdict(dict)
        for row in sorted(symbols):
            name = graph.texts[row].removesuffix("()")
            begins = (0, *(mark.end() for mark in _PATH_MARKS.finditer(name)))
            for begin in begins:
                rows_of[name[begin:]][row] = None
            as_words = [name[begins[-1] :]]
            if "_" in (last := name.rpartition(".")[2]):
                as_words.append(last.strip("_").lower())
                rows_of[as_words[-1]][row] = None
            # "Where do I set the secret key?" does not ask for a SECRET_KEY of some test.
            if row not in of_tests:
                for words in as_words:
                    rows_of_words[words][row] = None
        facts_of: defaultdict[int, list[tuple[int, bool]]] = defaultdict(list)
        for ends, is_subject in ((facts.subjects, True), (facts.objects, False)):
            for fact, row in enumerate(ends.tolist()):
                if row in symbols:
                    facts_of[row].append((fact, is_subject))
        by_name = {name: tuple(rows) for name, rows in rows_of.items() if name and defined}
        by_words = {name: tuple(rows) for name, rows in rows_of_words.items() if name and defined}
        return SymbolTable(by_name, by_words, facts_of, relations, facts.objects)


def _defined_in_tests(graph: Graph) -> set[int]:
    """Return the symbols that nothing but source code that tests defines."""
    facts = graph.facts
    read_from = facts.read_from
    defining = np.flatnonzero(facts.relations.mask(DEFINES) & (read_from.lengths > 0))
    passages = read_from.values[read_from.starts[defining]]
    documents = graph.documents[passages]
    rows = np.where(documents >= 0, documents, passages)
    owners, own = np.unique(rows, return_inverse=True)
    is_test = np.array([is_test_code(graph.ids[row]) is True for row in owners.tolist()], bool)
    objects, of_tests = facts.objects[defining], is_test[own]
    return {*objects[of_tests].tolist()} - {*objects[~of_tests].tolist()}


def find_asked_facts(graph: Graph) -> Callable[[str], AskedFacts]:
    """Return the function: question -> the facts about source code that it asks for."""
    if not graph.facts.relations.has(DEFINES):
        return lambda _question: NO_FACTS
    return graph.part(SymbolTablePart()).find


def sharpen_by(scores: Floats, likeness: Floats) -> Floats:
    """Return scores, those of the same score ranked by their likeness to the question.

    Args:
        scores: float64 [n], >= 0.
        likeness: float64 [n], >= 0; the highest doubles a score.

    Example:
        >>> sharpen_by(np.array([0.5, 0.5, 0.0]), np.array([2.0, 0.0, 1.0]))
        array([1. , 0.5, 0. ])
    """
    highest = likeness.max(initial=0)
    return scores * (1 + likeness / highest) if highest > 0 else scores


def raise_by(likeness: Floats, scores: Floats) -> Floats:
    """Return the likeness of passages, raised where asked facts were read from them.

    Args:
        likeness: float64 [n], >= 0.
        scores: float64 [n], in [0, 1]; a score of 1 adds twice the highest likeness.

    Example:
        >>> raise_by(np.array([2.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0]))
        array([2., 4., 1.])
    """
    return likeness + 2 * (likeness.max(initial=0) or 1) * scores


def _asked_of(question: str, start: int, end: int) -> tuple[Asked | None, bool]:
    """Return what is asked of the symbol in question[start:end], and whether it is the subject."""
    before, behind = question[:start], question[end:]
    for asked in ASKED:
        if not (asked.cue.search(before) or asked.cue.search(behind)):
            continue
        is_active = asked.active.search(behind) and not _PASSIVE.search(
            _SENTENCE_END.split(before)[-1]
        )
        return asked, asked.as_subject or bool(is_active)
    return None, False
