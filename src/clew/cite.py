"""Citations in an answer, and, without a language model, an answer made of quotes.

Quotes are a greedy cover of the question's words, each word counted once, by its rarity and length.
A greedy cover is at least 1 - 1/e of the best one (Nemhauser et al. 1978). A sentence counts by the
square root of its item's prize too.

A question in a text says what the sentences behind it are about, as a heading does: they cover what
it covers, and it is not quoted unless nothing else is. So a list of questions and answers, a forum
or a chat is not quoted with the question that was asked. Nor is a line quoted that only repeats
words of its headings, such as a signature, unless nothing else is there.

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
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from clew.algorithms.ranking import best_row, exceeds, reaches
from clew.context import Context
from clew.items import Item
from clew.relevance import MIN_WORDS
from clew.seed._likely_languages import function_words_in, identify_languages_of
from clew.seed.bm25 import InvertedIndexPart
from clew.seed.languages import LanguagesPart
from clew.seed.phrases import pattern_of, phrases_of
from clew.text.asking import covers_of_answers, is_question, questions_in
from clew.text.definitions import DefinitionQuestion
from clew.text.function_words import UNINFORMATIVE
from clew.text.pronouns import says_nothing
from clew.text.question_words import (
    STEM,
    QuestionWords,
    WordsByStem,
    covered_words,
    matching_words,
    weigh_by_covers,
    weigh_words,
    words_by_stem,
)
from clew.text.quotable import quotable
from clew.text.spans import Span
from clew.text.words import fold_case, words

if TYPE_CHECKING:
    from clew.index.index import Index

MIN_SINGLE_COVER, MIN_COVER = 1 / 3, 1 / 2  # of what a question asks for
SURE_RELEVANCE = 0.8  # no question without an answer had as much, of 24 that this leaves unsaid
MIN_GAIN = 0.05  # of what a question asks for, that a further sentence covers
MAX_ASKED = 5  # questions in one; more are a text that was pasted
MIN_TEXTS = 10  # in fewer texts no word is known to be common, and any shared word will do
_BETWEEN = ",;，；、،؛"  # numbers, as commas and semicolons are written in several scripts
_END_OF_QUOTE = re.compile(r"\[(\d+)\]$", re.MULTILINE)
_CODE = re.compile(r"```.*?```|`[^`\n]++`", re.DOTALL)  # in Markdown, as models write it
_CITATION = re.compile(rf"[\[【［]\^?(\d{{1,4}}(?:\s*[-–{_BETWEEN}]\s*\d{{1,4}})*)[\]】］]")


class Sentence(NamedTuple):
    """A sentence that can be quoted.

    Attributes:
        number: Its item's number, from 1.
        item: Its item.
        text: What is quoted.
        is_question: Whether it asks something itself.
        lead: What of it leads in a list; "" where it leads in none.
        span: Its place in the text of its item.
    """

    number: int
    item: Item
    text: str
    is_question: bool
    lead: str = ""
    span: Span = (0, 0)


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
        text: an answer with `[1]`, `[2, 5]` or `[1-3]` in it, also with the brackets and commas of
            other scripts. Numbers of no item are left out, and so are those in code in
            Markdown, such as the index of a list. Of quotes, see `quote_sources`.
        items: a context rendered by `Render(style="numbered")`, or items in the order of their
            numbers, from 1.

    Example:
        >>> items = [Item(name, "text", 1.0, "seed", "passage", 1) for name in ("a", "b", "c")]
        >>> [item.id for item in citations("So it is [3], as is said [1, 7].", items).values()]
        ['c', 'a']
    """
    return _numbered(_cited_numbers(text), items)


def quote_sources(text: str, items: Iterable[Item]) -> dict[int, Item]:
    """Return the items that quotes are of, by number, in the order of their first quote.

    The number of an item stands at the end of a line. Numbers in brackets before it are the text's
    own, such as those of its notes, and cite no item.

    Args:
        text: what `quotes` returned.
        items: the context that the quotes are of.

    Example:
        >>> items = [Item(name, "text", 1.0, "seed", "passage", 1) for name in ("a", "b", "c")]
        >>> [item.id for item in quote_sources("Ben built it.[3] [1]", items).values()]
        ['a']
    """
    return _numbered(map(int, _END_OF_QUOTE.findall(text)), items)


def without_citations(text: str) -> str:
    """Return an answer without the numbers that cite, for a reader with other passages.

    Example:
        >>> without_citations("Ben [1] lives on Corfu [2][5]: `sys.argv[1]` says so.")
        'Ben lives on Corfu: `sys.argv[1]` says so.'
    """
    kept, end = list[str](), 0
    for mark in _marks(text):
        kept.append(text[end : mark.start()].rstrip(" "))
        end = mark.end()
    return "".join([*kept, text[end:]])


def quotes(context: Context, max_quotes: int = 3, index: Index | None = None) -> str:
    """Return the sentences of a context that answer its question best, a line each, in order.

    Behind each sentence stands the number of its item. A row of a table or of a CSV file counts as
    a sentence. The answer needs no model, and says nothing that is not in the context. It is empty
    where one sentence covers less than a third, and the quotes together less than half, of what the
    question asks for, unless the context is surely relevant. Where several questions are asked in
    one, and this holds of all together, those that have an answer are answered.

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
    if found := _quotes_of(context, max_quotes, index):
        return found
    # Of several questions in one, some may have an answer; the relevance is that of all.
    asked = questions_in(context.question)
    if not 1 < len(asked) <= MAX_ASKED or any(map(says_nothing, asked)):
        return ""
    found_for = (
        _quotes_of(context.changed(question=one, relevance=None), max_quotes, index)
        for one in asked
    )
    lines = dict.fromkeys(line for found in found_for for line in found.splitlines())
    return "\n".join([*lines][:max_quotes])


def _quotes_of(context: Context, max_quotes: int, index: Index | None) -> str:
    """Return the quotes that answer a question as a whole."""
    candidates = [
        Sentence(
            *(number, item, piece.text, is_question(piece, context.question)),
            *(piece.lead if piece.is_list else "", (piece.start, piece.end)),
        )
        for number, item in enumerate(context, 1)
        for piece in quotable(item.text, item.metadata, item.heading)
    ]
    candidates = [one for one in candidates if not _repeats_heading(one)] or candidates
    by_stem = _informative(context, index)
    # Of a list with what leads it in, this covers: an item is a sentence of its own, too.
    texts = [f"{one.item.heading} {one.lead or one.text}" for one in candidates]
    covers = [covered_words(text, by_stem) for text in texts]
    counts = _passage_counts(by_stem, index)
    question = weigh_words(by_stem, *counts) if counts else weigh_by_covers(by_stem, covers)
    question, covers = _with_codes(context.question, question, texts, covers)
    is_sure = _is_surely_relevant(context, index)
    chosen = _best_answers(candidates, covers, question, max_quotes, is_sure)
    if not chosen:  # a question may be all that there is
        chosen = _greedy_cover(candidates, covers, covers, question, max_quotes)
        if not is_sure and _covers_too_little(question, covers, chosen):
            return ""
    said = [(" ".join(candidates[i].text.split()), candidates[i].number) for i in sorted(chosen)]
    return "\n".join(f"{text} [{number}]" for text, number in said)


def _with_codes(
    asked: str, question: QuestionWords, texts: Sequence[str], covers: Sequence[frozenset[str]]
) -> tuple[QuestionWords, list[frozenset[str]]]:
    """Return the words of a question and what texts cover, with its codes, versions and dates.

    One that a text has counts as much as all words together.
    """
    patterns = {
        phrase.text: pattern_of(phrase)
        for phrase in phrases_of(asked)
        if phrase.is_code or phrase.text[0].isdigit()
    }
    folded = [fold_case(text) for text in texts] if patterns else []
    having = {
        phrase: {i for i, text in enumerate(folded) if pattern.search(text)}
        for phrase, pattern in patterns.items()
    }
    found = [phrase for phrase, places in having.items() if places]
    weights = {**question.weights, **dict.fromkeys(found, sum(question.weights.values()))}
    with_codes = [
        cover | {phrase for phrase in found if i in having[phrase]}
        for i, cover in enumerate(covers)
    ]
    return question._replace(weights=weights), with_codes


def _repeats_heading(sentence: Sentence) -> bool:
    """Return whether a sentence has no word but those of its headings, as a signature below one."""
    return set(words(sentence.text)) <= set(words(sentence.item.heading))


def _informative(context: Context, index: Index | None) -> WordsByStem:
    """Return a question's words without function words, or all where there are no others.

    It is in English, or in a language of the index, or else of the context. Of a question for what
    something is, these are the words of that.
    """
    asked = DefinitionQuestion.of(context.question)
    by_stem = words_by_stem(asked.term if asked else context.question)
    if index is None:
        languages = identify_languages_of([item.text for item in context])
    else:
        languages = [*index.graph.part(LanguagesPart()).names]
    left_out = UNINFORMATIVE | function_words_in(context.question, languages)
    kept = {
        stem: [word for word in of_stem if word not in left_out]
        for stem, of_stem in by_stem.items()
    }
    return {stem: of_stem for stem, of_stem in kept.items() if of_stem} or by_stem


def _best_answers(
    candidates: Sequence[Sentence],
    covers: Sequence[frozenset[str]],
    question: QuestionWords,
    max_quotes: int,
    is_sure: bool,
) -> list[int]:
    """Return the places of the best sentences that are no questions; none if they say too little.

    Each covers what the questions before it cover, too, from the last sentence that is none on.
    """
    pieces = ((one.number, one.is_question) for one in candidates)
    own, with_asked = covers_of_answers(pieces, covers)
    chosen = _greedy_cover(candidates, with_asked, own, question, max_quotes)
    is_too_little = not is_sure and _covers_too_little(question, with_asked, chosen)
    return [] if is_too_little else chosen


def _greedy_cover(
    candidates: Sequence[Sentence],
    covers: Sequence[frozenset[str]],
    own: Sequence[frozenset[str]],
    question: QuestionWords,
    max_quotes: int,
) -> list[int]:
    """Return the places of the sentences that cover most, each by what it adds.

    Of equal ones that comes first whose own words, and not those of a question before it, add most.
    """
    chosen: list[int] = []
    covered, whole = frozenset[str](), sum(question.weights.values())
    while len(chosen) < max_quotes:
        gains = [
            question.weight_of(cover - covered) * math.sqrt(one.item.score)
            for cover, one in zip(covers, candidates, strict=True)
        ]
        for i, one in enumerate(candidates):  # what is quoted in a list, or the list of an item
            if any(_overlap(one, candidates[k]) for k in chosen):
                gains[i] = 0.0
        if not gains or not exceeds(max(gains), 0.0, max(gains)):
            break
        highest = max(gains)
        equals = [i for i, gain in enumerate(gains) if reaches(gain, highest, highest)]
        best = best_row({i: question.weight_of(own[i] - covered) for i in equals})
        if chosen and question.weight_of(covers[best] - covered) < MIN_GAIN * whole:
            break
        chosen.append(best)
        covered |= covers[best]
    return chosen


def _is_surely_relevant(context: Context, index: Index | None) -> bool:
    """Return whether a context answers, be it in other words, by its relevance in a large index."""
    if index is None or context.relevance is None or context.relevance < SURE_RELEVANCE:
        return False
    inverted = index.graph.part(InvertedIndexPart())
    return bool(inverted.postings.lengths.sum() >= MIN_WORDS)


def _overlap(one: Sentence, other: Sentence) -> bool:
    """Return whether two sentences share a part of their text."""
    is_same_text = one.number == other.number
    return is_same_text and one.span[0] < other.span[1] and other.span[0] < one.span[1]


def _covers_too_little(
    question: QuestionWords, covers: Sequence[frozenset[str]], chosen: Sequence[int]
) -> bool:
    if question.n_texts < MIN_TEXTS:
        return False
    whole = sum(question.weights.values())
    single = max((question.weight_of(cover) for cover in covers), default=0.0)
    together = question.weight_of(frozenset().union(*(covers[i] for i in chosen)))
    return single < MIN_SINGLE_COVER * whole and together < MIN_COVER * whole


def _passage_counts(by_stem: WordsByStem, index: Index | None) -> tuple[dict[str, int], int] | None:
    """Return how many passages have each word, and how many there are; None without passages."""
    inverted = index and index.graph.part(InvertedIndexPart())
    if not inverted or not inverted.stems:
        return None
    passages: dict[str, set[int]] = {word: set() for words in by_stem.values() for word in words}
    for other in {form for forms in inverted.forms for form in forms if form[:STEM] in by_stem}:
        for word in matching_words([other], by_stem):
            passages[word].update(inverted.rows_with(other))
    return {word: len(having) for word, having in passages.items()}, len(inverted.rows)


def _numbered(numbers: Iterable[int], items: Iterable[Item]) -> dict[int, Item]:
    """Return the items with some numbers, each once, in the order of these."""
    numbered = dict(enumerate(items, 1))
    known = dict.fromkeys(numbers)
    return {number: numbered[number] for number in known if number in numbered}


def _cited_numbers(text: str) -> Iterator[int]:
    for mark in _marks(text):
        yield from _numbers_in(mark[1])


def _marks(text: str) -> Iterator[re.Match[str]]:
    """Yield the citations in a text; in code, brackets are an index or a list."""
    return _CITATION.finditer(_CODE.sub(_blank, text))


def _blank(code: re.Match[str]) -> str:
    """Return white space as long as a piece of code; a citation that is written as code stays."""
    is_citation = not _CITATION.sub("", code[0]).strip("` ")
    return code[0] if is_citation else " " * len(code[0])


def _numbers_in(marks: str) -> Iterator[int]:
    for part in re.split(f"[{_BETWEEN}]", marks):
        first, *last = (int(number) for number in re.split(r"[-–]", part))
        yield from range(first, min(last[-1], first + 100) + 1) if last else [first]
