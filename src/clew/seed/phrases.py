"""What a question writes together, and the passages that have it.

No index of such phrases is kept: those of a question are looked for in the passages that have all
the parts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.ranking import top_k
from clew.graph import Floats, Graph, Mask, Rows, canonical_text, texts_at, titles_of
from clew.graph.sources import SourcesPart
from clew.seed._symbols import DEFINES
from clew.seed.bm25 import InvertedIndex, InvertedIndexPart
from clew.text.words import fold_case, terms

MAX_PHRASES = 8  # of one question
MAX_LOOKED_THROUGH = 1_000  # passages with all parts, those first that another seed scores highest
IN_TEXT = 0.3  # of what a phrase in the heading or in the file's name counts
_BETWEEN = re.compile(r"[\s'\"`()\[\]{}<>,;«»“”„…]+")
_MARKS = ".:!?"  # which a sentence puts behind a word
# A version, an address or a date; an amount of money or a share is an ordinary number.
_NUMBER = re.compile(r"v?([0-9]+(?:\.[0-9]+)+(?:[a-z]+[0-9]*)?|[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?)")
_SIGNED_LETTER = re.compile(r"[a-z](?:\+\+|#)")  # C++, C#
_FILE_NAME = re.compile(r"[^\W_][\w./-]*\.[a-z][a-z0-9]{0,9}")
MAX_NAME = 256  # signs
FEW = 3  # passages with a code, of which more make it count less, by the square of their number
RARE = 0.5  # what a code counts in a passage that is surely about it
# Signs of ASCII alone: Japanese has no space behind them.
_CODE = re.compile(
    r"(?<![A-Za-z0-9_À-ɏ-])(?:--)?[A-Za-z0-9_]+(?:[-+./:@#=~%]+[A-Za-z0-9_]+)*(?![A-Za-z0-9_À-ɏ])"
)
_LETTER, _DIGITS = re.compile("[A-Za-z]"), re.compile("[0-9]")
_MEASURE = re.compile(r"[0-9.]+[A-Za-z]{1,3}")  # 10mb, 2nd, 1990s
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*", re.ASCII)
MIN_SIGNS = 4  # of a code of letters and digits: "S3" and "F32" stand anywhere
MIN_DIGITS = 6  # of a code without letters, which has one of these signs, too
_JOINS = re.compile("[-+/:@#=~_]")
_OPTION_OR_ADDRESS = re.compile(r"\A--[A-Za-z]|[A-Za-z0-9]@[A-Za-z0-9]")
_IN_PROGRAMS = re.compile(r"\A[a-z]+[A-Z]|[A-Za-z0-9]_+[A-Za-z0-9]")
# A drive before the path of a file, and a line behind it.
_AROUND_PATH = re.compile(r"\A[a-z]:(?=/)|(?::[0-9]{1,7}){1,2}\Z")
MIN_WORDS = 2  # in small letters, which words between quotation marks have that are no title
MIN_LETTERS = 4  # of these
# Typographic marks stand mostly around names.
_QUOTED = re.compile(r"[\"`]([^\"`\n]{1,200})[\"`]")


class Phrase(NamedTuple):
    """What a question writes together.

    Attributes:
        text: It, folded.
        in_text: What it counts in a text, beside 1 in a heading.
        is_code: Whether it is a code, which counts where few have it.
        is_of_program: Whether it may be a name of a program, as symbols are.
    """

    text: str
    in_text: float = IN_TEXT
    is_code: bool = False
    is_of_program: bool = False


def phrases_of(question: str) -> list[Phrase]:
    """Return the numbers, names of files and quoted words of a question, folded, each once.

    A number is a version, an address or a date. A word that looks like the name of a file may be a
    name of code. C++ and C# are phrases, too: as words both are a C.

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
        elif _SIGNED_LETTER.fullmatch(text):
            found.setdefault(text, Phrase(text, in_text=1.0))
        elif _FILE_NAME.fullmatch(text):
            found.setdefault(text, Phrase(text))
    for written in _codes_in(question):
        text = fold_case(written)
        of_program = not _is_code(written) or _IDENTIFIER.fullmatch(written) is not None
        found.setdefault(text, Phrase(text, 1.0, is_code=True, is_of_program=of_program))
    return list(found.values())[:MAX_PHRASES]


def _codes_in(question: str) -> list[str]:
    """Return the codes of a question, and the names of programs.

    Example:
        >>> _codes_in("Does --assume-no fix CVE-2017-8393 (8990/tcp) in get_beta of 4.5 or 10mb?")
        ['--assume-no', 'CVE-2017-8393', '8990/tcp', 'get_beta']
    """
    written = (match.group() for match in _CODE.finditer(question))
    return [one for one in written if _is_code(one) or _IN_PROGRAMS.search(one)]


def _is_code(written: str) -> bool:
    if _NUMBER.fullmatch(written):  # a version, with a letter before it perhaps
        return False
    if _OPTION_OR_ADDRESS.search(written):
        return True
    has_letter, digits = _LETTER.search(written), len(_DIGITS.findall(written))
    if has_letter and digits:
        return len(written) >= MIN_SIGNS and not _MEASURE.fullmatch(written)
    return digits >= MIN_DIGITS and _JOINS.search(written) is not None


def has_rare_code(graph: Graph, question: str) -> Mask | None:
    """Return which nodes have a code of the question that few have; None where it has no code.

    Args:
        graph: The graph.
        question: The question, in the graph's own writing.
    """
    codes = [phrase for phrase in phrases_of(question) if phrase.is_code]
    if not codes:
        return None
    found = np.zeros(len(graph), np.bool_)
    for code in codes:
        found |= weigh_phrase(graph, code, np.zeros(len(graph)))[0] >= RARE
    return found


def _is_name(text: str) -> bool:
    """Return whether what stands between quotation marks is a title or a word, found by its words.

    Example:
        >>> _is_name("Wonderland by Night"), _is_name("Working outside of the context")
        (True, False)
    """
    lower = [word for word in text.split() if word.islower() and len(word) >= MIN_LETTERS]
    return len(lower) < MIN_WORDS


def pattern_of(phrase: Phrase) -> re.Pattern[str]:
    """Return the pattern of a phrase in folded texts; version 2.0 is 2.0.0, too.

    Example:
        >>> pattern = pattern_of(Phrase("2.0"))
        >>> texts = ("2.0", "In 2.0.0.", "v2.0", "2.0.3", "1.2.0", "2.01", "12.0")
        >>> [bool(pattern.search(text)) for text in texts]
        [True, True, True, False, False, False, False]
    """
    text = phrase.text
    if phrase.is_code:
        return re.compile(rf"(?<![a-z0-9_]){re.escape(text)}(?![a-z0-9_]|-[a-z0-9])")
    if not text[0].isdigit():
        before, behind = (
            side if sign.isalnum() else ""
            for side, sign in ((r"(?<![^\W_])", text[0]), (r"(?![^\W_])", text[-1]))
        )
        return re.compile(f"{before}{re.escape(text)}{behind}")
    end = r"(?:\.0)*+(?![^\W_])(?!\.[0-9])"
    return re.compile(rf"(?<![0-9])(?<![0-9][.:/-]){re.escape(text)}{end}")


def weigh_phrase(graph: Graph, phrase: Phrase, scores: Floats) -> tuple[Floats, Mask]:
    """Return how much a phrase counts in each node, in [0, 1], and which are of a file so named.

    Args:
        graph: The graph.
        phrase: The phrase.
        scores: float64 [nodes], by which some are looked at where many have all parts.
    """
    index: InvertedIndex = graph.part(InvertedIndexPart())
    weights, is_named = np.zeros(len(graph)), _is_in_file(graph, phrase.text)
    if phrase.is_of_program and graph.facts.relations.has(DEFINES):
        return weights, is_named  # symbols tell which passages of code a name leads to
    is_name = phrase.in_text < 1 and not phrase.text[0].isdigit()  # of a file
    if is_name and not is_named.any():  # of code, or "e.g."
        return weights, is_named
    rows = index.rows[_places_with_parts(index, phrase.text)]
    if len(rows) > MAX_LOOKED_THROUGH:
        rows = np.sort(rows[top_k(scores[rows], MAX_LOOKED_THROUGH)])
    weights[rows] = _shares(graph, rows, phrase)
    found = int(np.count_nonzero(weights))
    if phrase.is_code:
        weights *= min(1.0, (FEW / max(found, 1)) ** 2)
    else:
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
    pattern, part = pattern_of(phrase), max(phrase.text.split(), key=len)

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
