"""Citations in an answer, and, without a language model, an answer made of quotes.

Quotes are a greedy cover of the question's words, each word counted once, by its rarity and length.
A greedy cover is at least 1 - 1/e of the best one (Nemhauser et al. 1978). A sentence counts by the
square root of its item's prize too.

Nothing is quoted unless one sentence covers a third, or the quotes together half, of what the
question asks for. A word counts more the fewer passages have it and the longer it is: common words
are short in every language (Zipf 1935). The length helps where a folder is too small to count in,
and where a word of the question stands nowhere.

Of the answers that stand in contexts of 600 tokens (without facts, by the embedded default), three
quotes contain 0.83 on 71 questions of HotpotQA and 0.57 on 35 of MuSiQue, where 4 questions get no
answer.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from clew.algorithms.ranking import best_row, exceeds
from clew.context import Context
from clew.items import Item
from clew.seed.bm25 import InvertedIndexPart
from clew.text.spans import lines, paragraphs, sentences
from clew.text.words import terms

if TYPE_CHECKING:
    from clew.index.index import Index

MIN_SINGLE_COVER, MIN_COVER = 1 / 3, 1 / 2  # of what a question asks for
MIN_TEXTS = 10  # in fewer texts no word is known to be common, and any shared word will do
STEM = 4  # letters that two forms of a word have in common
MAX_LETTERS = 300  # of a quote; what has no such sentences is no prose, and is quoted by its lines
IDEOGRAPH = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_CITATION = re.compile(r"[\[【]\^?(\d{1,4}(?:\s*[-–,;]\s*\d{1,4})*)[\]】]")


class Sentence(NamedTuple):
    """A sentence that can be quoted: its item's number, from 1, its item, and its text."""

    number: int
    item: Item
    text: str


class QuestionWords(NamedTuple):
    """The words of a question.

    Attributes:
        by_stem: the words by their first letters.
        weights: how much each word counts.
        n_texts: how many texts the rarity of words was counted in.
    """

    by_stem: Mapping[str, Sequence[str]]
    weights: Mapping[str, float]
    n_texts: int

    def weight_of(self, words: Iterable[str]) -> float:
        """Return the sum of the words' weights, in an order that does not depend on theirs."""
        return sum(sorted(self.weights[word] for word in words))


DEPRECATED = {"cited": "citations", "quoted": "quotes"}
"""What names of version 0.1 are called now; they work, with a warning, until version 0.3."""


def __getattr__(name: str) -> object:
    """Return what a deprecated name stands for, with a warning."""
    if name not in DEPRECATED:
        raise AttributeError(f"module 'clew.cite' has no attribute {name!r}")
    new = DEPRECATED[name]
    warnings.warn(f"clew.cite.{name} is now clew.cite.{new}", DeprecationWarning, stacklevel=2)
    function: object = globals()[new]
    return function


def citations(text: str, items: Iterable[Item]) -> dict[int, Item]:
    """Return the items that a text cites, by number, in the order of their first citation.

    Args:
        text: an answer with `[1]`, `[2, 5]` or `[1-3]` in it. Numbers of no item are left out.
        items: a context rendered by `Render(style="numbered")`, or items in the order of their
            numbers, from 1.

    Example:
        >>> items = [Item(name, "text", 1.0, "seed", "passage", 1) for name in ("a", "b", "c")]
        >>> [item.id for item in citations("So it is [3], as is said [1, 7].", items).values()]
        ['c', 'a']
    """
    numbered = dict(enumerate(items, 1))
    numbers = dict.fromkeys(_cited_numbers(text))
    return {number: numbered[number] for number in numbers if number in numbered}


def quotes(context: Context, max_quotes: int = 3, index: Index | None = None) -> str:
    """Return the sentences of a context that answer its question best, a line each, in order.

    Behind each sentence stands the number of its item. A row of a table or of a CSV file counts as
    a sentence. The answer needs no model, and says nothing that is not in the context. It is empty
    where one sentence covers less than a third, and the quotes together less than half, of what the
    question asks for.

    Args:
        context: the answer to a question.
        max_quotes: the most sentences.
        index: what the context was made of. How common a word is, is then counted in all its
            passages, else in the sentences of the context.

    Example:
        >>> import clew
        >>> index = clew.Index.from_documents(["Ben lives on Corfu. It rains.", "Anna left."])
        >>> quotes(index.ask("Where does Ben live?", recipe="bm25"))
        'Ben lives on Corfu. [1]'
    """
    candidates = [
        Sentence(number, item, text)
        for number, item in enumerate(context, 1)
        for text in _quotable(item)
    ]
    asked = sorted(set(terms(context.question)))
    by_stem = {
        word[:STEM]: [other for other in asked if other[:STEM] == word[:STEM]] for word in asked
    }
    covers = [
        _question_words(terms(f"{one.item.heading} {one.text}"), by_stem) for one in candidates
    ]
    question = _weighted_words(asked, by_stem, covers, index)
    chosen = _greedy_cover(candidates, covers, question, max_quotes)
    if _covers_too_little(question, covers, chosen):
        return ""
    texts = [(" ".join(candidates[i].text.split()), candidates[i].number) for i in sorted(chosen)]
    return "\n".join(f"{text} [{number}]" for text, number in texts)


def _weighted_words(
    asked: Sequence[str],
    by_stem: Mapping[str, Sequence[str]],
    covers: Sequence[frozenset[str]],
    index: Index | None,
) -> QuestionWords:
    """Return the question's words, their rarity counted in the index or in the sentences."""
    counts, n_texts = _passage_counts(by_stem, index) or (
        {word: sum(word in cover for cover in covers) for word in asked},
        len(covers),
    )
    weights = {
        word: _letters(word) * math.log((n_texts + 1) / (count + 0.5))
        for word, count in counts.items()
    }
    return QuestionWords(by_stem, weights, n_texts)


def _greedy_cover(
    candidates: Sequence[Sentence],
    covers: Sequence[frozenset[str]],
    question: QuestionWords,
    max_quotes: int,
) -> list[int]:
    """Return the places of the sentences that cover most, each by what it adds."""
    chosen: list[int] = []
    covered = frozenset[str]()
    while len(chosen) < max_quotes:
        gains = [
            question.weight_of(cover - covered) * math.sqrt(one.item.score)
            for cover, one in zip(covers, candidates, strict=True)
        ]
        if not gains or not exceeds(max(gains), 0.0, max(gains)):
            break
        chosen.append(best_row(dict(enumerate(gains))))
        covered |= covers[chosen[-1]]
    return chosen


def _covers_too_little(
    question: QuestionWords, covers: Sequence[frozenset[str]], chosen: Sequence[int]
) -> bool:
    if question.n_texts < MIN_TEXTS:
        return False
    whole = sum(question.weights.values())
    single = max((question.weight_of(cover) for cover in covers), default=0.0)
    together = question.weight_of(frozenset().union(*(covers[i] for i in chosen)))
    return single < MIN_SINGLE_COVER * whole and together < MIN_COVER * whole


def _question_words(
    text_words: Iterable[str], by_stem: Mapping[str, Sequence[str]]
) -> frozenset[str]:
    """Return the words of a question that a text has, in this form or another."""
    return frozenset(
        word
        for other in text_words
        for word in by_stem.get(other[:STEM], ())
        if word == other or _is_same_word(word, other)
    )


def _is_same_word(one: str, other: str) -> bool:
    """Return whether two words share four letters and differ in their last two at most.

    Such are "cost" and "costs", "маяк" and "маяка".
    """
    shared = max(STEM, max(len(one), len(other)) - 2)
    return min(len(one), len(other)) >= shared and one[:shared] == other[:shared]


def _letters(word: str) -> int:
    """Return the number of letters of a word; an ideograph stands for two."""
    return sum(2 if IDEOGRAPH.match(sign) else 1 for sign in word)


def _passage_counts(
    by_stem: Mapping[str, Sequence[str]], index: Index | None
) -> tuple[dict[str, int], int] | None:
    """Return how many passages have each word, and how many there are; None without passages."""
    inverted = index and index.graph.part(InvertedIndexPart())
    if not inverted or not inverted.stems:
        return None
    passages: dict[str, set[int]] = {word: set() for words in by_stem.values() for word in words}
    for other in {form for forms in inverted.forms for form in forms if form[:STEM] in by_stem}:
        for word in _question_words([other], by_stem):
            passages[word].update(inverted.rows_with(other))
    return {word: len(having) for word, having in passages.items()}, len(inverted.rows)


def _cited_numbers(text: str) -> Iterator[int]:
    for marks in _CITATION.findall(text):
        for part in re.split(r"[,;]", marks):
            first, *last = (int(number) for number in re.split(r"[-–]", part))
            yield from range(first, min(last[-1], first + 100) + 1) if last else [first]


def _quotable(item: Item) -> Iterator[str]:
    """Yield an item's sentences, the lines of what is no prose, and the rows of its tables."""
    text = item.text
    for begin, end in paragraphs(text):
        for _, run in groupby(lines(text, begin, end), lambda span: text[span[0]] == "|"):
            spans = list(run)
            rows = _table_rows([text[start:stop] for start, stop in spans], item.metadata)
            yield from rows or _sentences(text, spans[0][0], spans[-1][1])


def _table_rows(texts: list[str], columns: Mapping[str, Any]) -> list[str]:
    """Return the rows of a table, each value behind the name of its column; none for no table.

    Lines of `column: value` are one row. Otherwise the lines of a table have equally many values,
    with the same sign between two.
    """
    if columns and all(line.partition(":")[0] in columns for line in texts):
        whole = ", ".join(texts)
        return [whole] if len(whole) <= MAX_LETTERS else texts
    for sign in "|\t,;":
        cells = [_cells(line, sign) for line in texts]
        in_prose = sign in ",;" and any(f"{sign} " in line for line in texts)
        equally_many = len(cells) > 1 and len({len(row) for row in cells}) == 1
        if equally_many and len(cells[0]) > 1 and not in_prose:
            return _named_rows(cells, sign)
    return []


def _cells(line: str, sign: str) -> list[str]:
    stripped = line.strip("| " if sign == "|" else " ")
    return [cell.strip() for cell in stripped.split(sign)]


def _named_rows(cells: list[list[str]], sign: str) -> list[str]:
    is_rule = [set("".join(row)) <= set("-: ") for row in cells]
    has_header = is_rule[1] or sign != "|"  # a piece of a long table may have no header
    names = cells[0] if has_header else [""] * len(cells[0])
    body = [
        row for row, rule in zip(cells[has_header:], is_rule[has_header:], strict=True) if not rule
    ]
    return [
        ", ".join(
            f"{name}: {cell}" if name else cell
            for name, cell in zip(names, row, strict=True)
            if cell
        )
        for row in body
    ]


def _sentences(text: str, start: int, end: int) -> Iterator[str]:
    for begin, stop in sentences(text, start, end, "en"):
        spans = [(begin, stop)] if stop - begin <= MAX_LETTERS else lines(text, begin, stop)
        yield from (text[a:b] for a, b in spans)
