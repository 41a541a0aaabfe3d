"""Passages that have what a question writes together, such as a version, or puts between quotes.

The parts of "3.0.0", "config.py" or "192.168.0.1" are common: every list of changes has a 3 and
zeros. Together they are rare, and often the whole point. No index of them is kept: those of a
question are looked for in the passages that have all the parts (a phrase query; Manning, Raghavan
and Schütze, "Introduction to Information Retrieval", 2008, section 2.4).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.ranking import top_k
from clew.graph import Floats, Graph, Mask, Rows, canonical_text, texts_at, titles_of
from clew.graph.sources import SourcesPart
from clew.seed.blend import best_of
from clew.seed.bm25 import InvertedIndex, InvertedIndexPart
from clew.seed.in_prose import InProse
from clew.text.words import fold_case, terms
from clew.types import Query, Seed, Seeds

MAX_PHRASES = 8  # of one question
MAX_LOOKED_THROUGH = 1_000  # passages with all parts, those first that another seed scores highest
IN_TEXT = 0.3  # of what a phrase in the heading or in the file's name counts
FILE_SHARE = 0.5  # of the best score, which the passages of a file have at least
_BETWEEN = re.compile(r"[\s'\"`()\[\]{}<>,;«»“”„…]+")
_MARKS = ".:!?"  # which a sentence puts behind a word
# A version, an address or a date; an amount of money or a share is an ordinary number.
_NUMBER = re.compile(r"v?([0-9]+(?:\.[0-9]+)+(?:[a-z]+[0-9]*)?|[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?)")
_FILE_NAME = re.compile(r"[^\W_][\w./-]*\.[a-z][a-z0-9]{0,9}")
MAX_NAME = 256  # signs
# A drive before the path of a file, and a line behind it.
_AROUND_PATH = re.compile(r"\A[a-z]:(?=/)|(?::[0-9]{1,7}){1,2}\Z")
MIN_WORDS = 2  # in small letters, which words between quotation marks have that are no title
MIN_LETTERS = 4  # of these
# Typographic marks stand mostly around names.
_QUOTED = re.compile(r"[\"`]([^\"`\n]{1,200})[\"`]")


@dataclass(frozen=True)
class InPhrases:
    """Score by another seed, and higher what has the phrases of the question.

    A phrase is a version, an address or a date in digits, the name of a file, which all passages of
    that file have, or words between straight quotation marks that are no title. A passage with it
    in its heading has its score multiplied by 1 and a share of `gain`, which is the more, the rarer
    the phrase is. With it in the text alone the share is three tenths of that, unless it stands
    between quotation marks. What is in a file that is named has half of the best score at least.

    Attributes:
        seed: the other seed.
        gain: the most that a phrase adds to the factor 1, >= 0.

    Example:
        >>> from clew import Graph, Query
        >>> from clew.seed import BM25
        >>> graph = Graph.of(["Version 2.0.3", "Version 3.0.0 has 2 new signs"])
        >>> BM25().on(graph)(Query("Is it new in 3.0.0?")).scores.round(2).tolist()
        [0.26, 0.49]
        >>> InPhrases(BM25()).on(graph)(Query("Is it new in 3.0.0?")).scores.round(2).tolist()
        [0.26, 0.79]
    """

    seed: Seed = InProse()
    gain: float = 2.0

    def __post_init__(self) -> None:
        if not self.gain >= 0:
            raise ValueError(
                f"gain is what a phrase adds to the factor 1, at least 0; got {self.gain!r}"
            )

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        find_alone = self.seed.on(graph)

        def find_seeds(query: Query) -> Seeds:
            seeds = find_alone(query)
            phrases = phrases_of(canonical_text(graph, query.text))
            if not phrases:  # as most questions
                return seeds
            scores = np.array(seeds.scores, dtype=np.float64)
            index = graph.part(InvertedIndexPart())
            for phrase in phrases:
                weights, is_named = _weights(graph, index, phrase, seeds.scores)
                scores *= 1 + self.gain * weights
                least = FILE_SHARE * best_of(seeds.scores)
                scores[is_named] = np.maximum(scores[is_named], least)
            return replace(seeds, scores=scores)

        return find_seeds


class Phrase(NamedTuple):
    """What a question writes together.

    Attributes:
        text: It, folded.
        in_text: What it counts in a text, beside 1 in a heading.
    """

    text: str
    in_text: float = IN_TEXT


def phrases_of(question: str) -> list[Phrase]:
    """Return the numbers, names of files and quoted words of a question, folded, each once.

    A number is a version, an address or a date. A word that looks like the name of a file may be a
    name of code.

    Example:
        >>> question = 'Is config.py new in v3.0.0 of 2024-05-17? "No  such file", 12 or $4.50.'
        >>> found = phrases_of(question)
        >>> [phrase.text for phrase in found]
        ['no such file', 'config.py', '3.0.0', '2024-05-17']
    """
    folded = fold_case(question)
    quoted = [fold_case(text) for text in _QUOTED.findall(question) if not _is_name(text)]
    found = {text: Phrase(text, in_text=1.0) for text in quoted}
    for written in _BETWEEN.split(folded):
        path = written.replace("\\", "/").strip(_MARKS)[-MAX_NAME:]
        text = _AROUND_PATH.sub("", path).lstrip("/.")
        if number := _NUMBER.fullmatch(text):
            found.setdefault(number[1], Phrase(number[1]))
        elif _FILE_NAME.fullmatch(text):
            found.setdefault(text, Phrase(text))
    return list(found.values())[:MAX_PHRASES]


def _is_name(text: str) -> bool:
    """Return whether what stands between quotation marks is a title or a word, found by its words.

    Example:
        >>> _is_name("Wonderland by Night"), _is_name("Working outside of the context")
        (True, False)
    """
    lower = [word for word in text.split() if word.islower() and len(word) >= MIN_LETTERS]
    return len(lower) < MIN_WORDS


def pattern_of(text: str) -> re.Pattern[str]:
    """Return the pattern of a phrase in folded texts; version 2.0 is 2.0.0, too.

    Example:
        >>> pattern = pattern_of("2.0")
        >>> texts = ("2.0", "In 2.0.0.", "v2.0", "2.0.3", "1.2.0", "2.01", "12.0")
        >>> [bool(pattern.search(text)) for text in texts]
        [True, True, True, False, False, False, False]
    """
    if not text[0].isdigit():
        before, behind = (
            side if sign.isalnum() else ""
            for side, sign in ((r"(?<![^\W_])", text[0]), (r"(?![^\W_])", text[-1]))
        )
        return re.compile(f"{before}{re.escape(text)}{behind}")
    end = r"(?:\.0)*+(?![^\W_])(?!\.[0-9])"
    return re.compile(rf"(?<![0-9])(?<![0-9][.:/-]){re.escape(text)}{end}")


def _weights(
    graph: Graph, index: InvertedIndex, phrase: Phrase, scores: Floats
) -> tuple[Floats, Mask]:
    """Return how much a phrase counts in each node, in [0, 1], and which are of a file so named."""
    weights, is_named = np.zeros(len(graph)), _is_in_file(graph, phrase.text)
    is_name = phrase.in_text < 1 and not phrase.text[0].isdigit()
    if is_name and not is_named.any():  # of code, or "e.g."
        return weights, is_named
    rows = index.rows[_places_with_parts(index, phrase.text)]
    if len(rows) > MAX_LOOKED_THROUGH:
        rows = np.sort(rows[top_k(scores[rows], MAX_LOOKED_THROUGH)])
    weights[rows] = _shares(graph, rows, phrase)
    found = int(np.count_nonzero(weights))
    weights *= index.postings.idf(found) / index.postings.idf(1)
    weights[is_named] = 1  # however many mention the file
    return weights, is_named


def _is_in_file(graph: Graph, name: str) -> Mask:
    """Return which passages were read from the file of a name, or of a path like it.

    Of a path the last two parts must be those of the file at least: that of a traceback begins with
    folders of another machine. Where several files are like it, those that share most are meant.
    """
    parts = name.split("/")
    if not _FILE_NAME.fullmatch(name):
        return np.zeros(len(graph), np.bool_)
    sources = graph.part(SourcesPart())
    shared = dict[int, int]()
    for number, path in enumerate(sources.names):
        folded = path.lower() if path.isascii() else fold_case(path)
        if folded.endswith(parts[-1]):
            shared[number] = _common_end(parts, folded.replace("\\", "/").split("/"))
    most = max(shared.values(), default=0)
    is_enough = most >= min(2, len(parts))
    numbers = [number for number, n in shared.items() if is_enough and n == most]
    mask: Mask = np.isin(sources.of_nodes, numbers) & graph.kinds.mask("passage")
    return mask


def _common_end(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many parts two paths share at their ends."""
    pairs = zip(reversed(one), reversed(other), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _places_with_parts(index: InvertedIndex, text: str) -> NDArray[np.int64]:
    """Return the nodes of an index, by their places in it, that have all parts of a phrase."""
    having = np.ones(len(index.rows), np.bool_)
    parts = index.numbers_of(terms(text))
    if text[0].isdigit():  # a version may have a "v" before it
        parts[0] |= index.numbers_of(terms(f"v{text}"))[0]
    for numbers in parts:
        has_part = np.zeros(len(index.rows), np.bool_)
        for number in numbers:
            has_part[index.postings.texts_with(number)] = True
        having &= has_part
    return np.flatnonzero(having)


def _shares(graph: Graph, rows: Rows, phrase: Phrase) -> list[float]:
    """Return 1 for a node with a phrase in its heading, less in its text, and else 0."""
    pattern, part = pattern_of(phrase.text), max(phrase.text.split(), key=len)

    def has(text: str) -> bool:
        text = canonical_text(graph, text)
        if text.isascii() and part not in text.lower():  # as most; to fold them takes longer
            return False
        return pattern.search(fold_case(text)) is not None

    titled = dict[int, bool]()  # what stands in one container has one heading
    shares = list[float]()
    containers, texts = graph.parents[rows].tolist(), texts_at(graph.texts, rows.tolist())
    for row, container, text in zip(rows.tolist(), containers, texts, strict=True):
        if container not in titled:
            titled[container] = has("\n".join(titles_of(graph, row)))
        shares.append(1.0 if titled[container] else phrase.in_text * has(text))
    return shares
