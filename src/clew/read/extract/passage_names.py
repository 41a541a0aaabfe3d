"""The names and facts of one passage, by what the corpus says of the words of this passage.

Nothing else of the corpus counts.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from clew.read.extract.caseless import (
    MIN_JOINED,
    blank_unspaced,
    caseless_words,
    find_spaced_mentions,
    find_unspaced_mentions,
    keys_of_pairs,
)
from clew.read.extract.extractor import Passage, Triple
from clew.read.extract.joined_texts import JoinedTexts, PlacedWords, plain_blocks
from clew.read.extract.mentions import (
    FirstWords,
    KeptShortWords,
    Run,
    ShortWords,
    TitleWords,
    find_quoted,
    find_runs,
    find_short_words,
    first_words,
    without_possessive,
)
from clew.read.extract.name_rules import Rules
from clew.read.extract.relations import Mention, find_facts
from clew.read.extract.word_columns import TextWords, Word, find_columns
from clew.read.formats.front_matter import front_matter_end, front_matter_title
from clew.text.kept import MAX_KEPT_TEXT, Kept
from clew.text.numbering import SharedNumbering
from clew.text.words import fold_case

NOTHING = frozenset[str]()  # one for all: the garbage collector looks at each that is kept
MAX_TITLE_LENGTH = 100  # characters of a first line that is taken for a title
YEAR_DIGITS = 4
_IN_BRACKETS = re.compile(r"(?<!\s)\s*+\([^()]*\)$")


class NormalizedPassage(NamedTuple):
    """The text of a passage in NFKC, its title without brackets, and the place behind its title."""

    text: str
    title: str
    start: int


class CountedWords(NamedTuple):
    """The words of a passage that are counted.

    No count depends on another, nor on other passages: a word behind a full stop is not counted,
    whether the stop ends a sentence or not. So counts can be added, and taken away.

    Attributes:
        capital: Words within sentences that have a capital, as often as they come.
        small: Words within sentences that have none.
        caseless: Words in scripts without capitals, each once.
        pairs: Two of these together, each once.
    """

    capital: tuple[str, ...]
    small: tuple[str, ...]
    caseless: frozenset[str]
    pairs: frozenset[str]


class CountedNumbers(NamedTuple):
    """The words of a passage that are counted, by their numbers.

    The garbage collector looks at whatever a new tuple of texts holds, but not into an array.

    Attributes:
        numbering: What numbers the words.
        capital: int32, `CountedWords.capital`.
        small: int32, `CountedWords.small`.
        decided: int32, `Written.decided`.
    """

    numbering: SharedNumbering[str]
    capital: NDArray[np.int32]
    small: NDArray[np.int32]
    decided: NDArray[np.int32]

    @classmethod
    def of_all(
        cls, numbering: SharedNumbering[str], placed: Sequence[PlacedWords]
    ) -> list[CountedNumbers]:
        """Return the numbers of the words of passages, of which several may be joined.

        Args:
            numbering: What numbers them.
            placed: The words of each.
        """
        columns = {id(one.words.columns): one.words.columns for one in placed}
        every = {key: numbering.array_of(own.keys) for key, own in columns.items()}
        numbers = [every[id(one.words.columns)] for one in placed]
        return [
            cls(numbering, own[one.capital], own[one.small], own[one.decided])
            for one, own in zip(placed, numbers, strict=True)
        ]

    def words(self, numbers: NDArray[np.int32]) -> tuple[str, ...]:
        """Return the words of some numbers."""
        return tuple(map(self.numbering.things.__getitem__, numbers.tolist()))


class Written(NamedTuple):
    """How the words of a passage are written.

    Tuples of texts are no sets, as the garbage collector looks at these again and again.

    Attributes:
        abbreviations: Its words whose full stop ends no sentence.
        numbered: The words that are counted in scripts with capitals, by their numbers; of passages
            that are read together, by those of one numbering.
        caseless: `CountedWords.caseless`.
        pairs: `CountedWords.pairs`.
        starts: The first two words of what may be the title of another passage, a space between.
        in_order: All words, each behind a space: a title that is not in there is not in the text.
    """

    abbreviations: frozenset[str]
    numbered: CountedNumbers
    caseless: frozenset[str]
    pairs: frozenset[str]
    starts: tuple[str, ...]
    in_order: str

    @property
    def counted(self) -> CountedWords:
        """The words that are counted."""
        own = self.numbered
        capital, small = own.words(own.capital), own.words(own.small)
        return CountedWords(capital, small, self.caseless, self.pairs)

    @property
    def decided(self) -> tuple[str, ...]:
        """Words that the corpus decides on.

        These are those with a capital, and those behind the full stop of an abbreviation.
        """
        return self.numbered.words(self.numbered.decided)


class Evidence(NamedTuple):
    """What the corpus says of the words of one passage, of which others may be there, too.

    Attributes:
        abbreviations: Those whose full stop ends no sentence.
        mostly_small: Those that are mostly written small.
        capital: Those that have a capital within some sentence, and are not mostly written small.
        titles: Those that are a title by themselves.
        title_words: Titles of several words that may be here, by the first two.
        unspaced_titles: Titles in scripts without spaces, by the first two letters.
        spaced_names: Those without capitals that are names.
        joined: Two of these that come together again elsewhere.
    """

    abbreviations: frozenset[str]
    mostly_small: AbstractSet[str]
    capital: AbstractSet[str]
    titles: AbstractSet[str]
    title_words: tuple[tuple[tuple[str, ...], tuple[tuple[str, ...], ...]], ...]
    unspaced_titles: tuple[tuple[str, tuple[str, ...]], ...]
    spaced_names: frozenset[str]
    joined: frozenset[str]


class KeptWords:
    """The words of passages, found once for each.

    Those of the last passages are kept, and what is known of how more passages write theirs.
    """

    def __init__(self, most_words: int, most_written: int) -> None:
        self._words = Kept[tuple[str, int, frozenset[str]], TextWords](most_words)
        self._written = Kept[tuple[str, int, frozenset[str]], Written](most_written)
        self._numbering = SharedNumbering[str]()
        self._short = Kept[str, KeptShortWords](most_written)

    def written(
        self, passages: Sequence[NormalizedPassage], abbreviations: frozenset[str]
    ) -> tuple[list[Written], list[TextWords | None]]:
        """Return how the words of passages are written.

        Args:
            passages: The passages.
            abbreviations: Those of the corpus.

        Returns:
            That, and the words of those of the passages of which it was not known.
        """
        numbering = self._numbering
        if len(numbering.numbers) > MAX_NUMBERED:
            self._numbering = numbering = SharedNumbering()
        own = [NOTHING] * len(passages)
        if abbreviations:
            short = self.short_of([passage.text for passage in passages])
            own = [abbreviations.intersection(one.stopped) or NOTHING for one in short]
        keys = [(one.text, one.start, some) for one, some in zip(passages, own, strict=True)]
        written = list(map(self._written.get, keys))
        missing = [
            i
            for i, known in enumerate(written)
            if known is None or known.numbered.numbering is not numbering
        ]
        words: list[TextWords | None] = [None] * len(passages)
        of_missing = place_words([passages[i] for i in missing], [own[i] for i in missing])
        numbered = CountedNumbers.of_all(numbering, of_missing)
        for i, placed, numbers in zip(missing, of_missing, numbered, strict=True):
            words[i] = placed.words
            made = written[i] = _written(placed, own[i], numbers)
            if _is_kept(passages[i]):
                self._words.put(keys[i], placed.words)
                self._written.put(keys[i], made)
        return cast("list[Written]", written), words

    def of(self, passage: NormalizedPassage, abbreviations: frozenset[str]) -> TextWords:
        """Return the words of a passage behind its title.

        Args:
            passage: The passage.
            abbreviations: Its own.
        """
        key = passage.text, passage.start, abbreviations
        if (known := self._words.get(key)) is not None:
            return known
        words = find_passage_words(passage, abbreviations)
        return self._words.put(key, words) if _is_kept(passage) else words

    def short_of(self, texts: Sequence[str]) -> list[KeptShortWords]:
        """Return the short words of each text.

        Others than those before a full stop are no abbreviations of its own, whatever other texts
        say.
        """
        short = list(map(self._short.get, texts))
        missing = [i for i, known in enumerate(short) if known is None]
        found = _find_kept_short([texts[i] for i in missing])
        for i, words in zip(missing, found, strict=True):
            short[i] = words
            if len(texts[i]) <= MAX_KEPT_TEXT:
                self._short.put(texts[i], words)
        return cast("list[KeptShortWords]", short)


JOINED = Kept[tuple[str, ...], JoinedTexts](1)
"""The texts that were joined last: of the same ones first the short words are found, then all."""
MOST_WRITTEN = 4_096
MAX_NUMBERED = 65_536  # about so many words have numbers; then all is forgotten
WORDS = KeptWords(1_024, MOST_WRITTEN)


def facts_of_mentions(
    text: str, title: str, mentions: Sequence[Mention], rules: Rules
) -> tuple[Triple, ...]:
    """Return the facts of a passage whose names are known.

    Args:
        text: The text that the names are in.
        title: The title of the passage.
        mentions: The names.
        rules: What is a relation.
    """
    return tuple(find_facts(text, title, mentions, rules.max_relation_words, rules.list_words))


def find_evident_runs(words: TextWords, evidence: Evidence, rules: Rules) -> list[Run]:
    """Return what may be a name in a passage; of what the corpus says, titles alone count.

    Args:
        words: Its words, behind its title.
        evidence: What the corpus says of them.
        rules: What is a name.
    """
    titles = dict(evidence.title_words)
    return find_passage_runs(words, titles, first_words(titles), rules)


def find_mentions(
    passage: NormalizedPassage,
    words: TextWords,
    runs: Sequence[Run],
    evidence: Evidence,
    rules: Rules,
) -> list[Mention]:
    """Return what is a name in a passage; names may overlap.

    Args:
        passage: The passage.
        words: Its words, behind its title.
        runs: What `find_evident_runs` returns.
        evidence: What the corpus says of them.
        rules: What is a name.
    """
    caseless = caseless_words(words) if evidence.spaced_names else []
    return choose_mentions(passage, words, runs, caseless, evidence, rules)


def find_passage_words(passage: NormalizedPassage, abbreviations: Collection[str]) -> TextWords:
    """Return the words of a passage behind its title.

    Args:
        passage: The passage.
        abbreviations: Its words whose full stop ends no sentence.

    Example:
        >>> find_passage_words(NormalizedPassage("Moon. It is far.", "Moon", 4), ()).keys
        ['it', 'is', 'far']
    """
    columns = find_columns(blank_unspaced(passage.text), abbreviations).as_kept()
    return TextWords.from_place(passage.text, columns, passage.start)


def find_words(
    passages: Sequence[NormalizedPassage], abbreviations: Sequence[Collection[str]]
) -> list[tuple[TextWords, CountedWords]]:
    """Return the words of passages behind their titles, and those that are counted.

    Args:
        passages: The passages.
        abbreviations: Of each, the words whose full stop ends no sentence.

    Example:
        >>> passages = [NormalizedPassage(text, "", 0) for text in ("Then Anna left.", "人々")]
        >>> [(words.keys, counted.capital) for words, counted in find_words(passages, [(), ()])]
        [(['then', 'anna', 'left'], ('anna',)), ([], ())]
    """
    found = list[tuple[TextWords, CountedWords]]()
    for one in place_words(passages, abbreviations):
        key_of = one.words.columns.keys.__getitem__
        capital, small = map(key_of, one.capital.tolist()), map(key_of, one.small.tolist())
        counted = CountedWords(tuple(capital), tuple(small), *_caseless_of(one))
        found.append((one.words, counted))
    return found


def place_words(
    passages: Sequence[NormalizedPassage], abbreviations: Sequence[Collection[str]]
) -> list[PlacedWords]:
    """Return the words of passages behind their titles, and the numbers of those that are counted.

    Args:
        passages: As in `find_words`.
        abbreviations: As there.
    """
    found = dict[int, PlacedWords]()
    for some in plain_blocks([passage.text for passage in passages]):
        joined = _join(tuple([passages[i].text for i in some]))
        each = joined.words([passages[i].start for i in some], [abbreviations[i] for i in some])
        found.update(zip(some, each, strict=True))
    for i, passage in enumerate(passages):
        if i not in found:
            found[i] = place_alone(find_passage_words(passage, abbreviations[i]))
    return [found[i] for i in range(len(passages))]


def find_all_short(texts: Sequence[str]) -> list[ShortWords]:
    """Return what `find_short_words` returns of each text."""
    found = dict[int, ShortWords]()
    for some in plain_blocks(texts):
        short = _join(tuple([texts[i] for i in some])).short_words()
        found.update(zip(some, short, strict=True))
    return [found[i] if i in found else find_short_words(text) for i, text in enumerate(texts)]


def _find_kept_short(texts: Sequence[str]) -> list[KeptShortWords]:
    """Return the short words of each text as they are kept."""
    found = dict[int, KeptShortWords]()
    for some in plain_blocks(texts):
        short = _join(tuple([texts[i] for i in some])).kept_short_words()
        found.update(zip(some, short, strict=True))
    return [
        found[i] if i in found else KeptShortWords.of(find_short_words(text))
        for i, text in enumerate(texts)
    ]


def _join(texts: tuple[str, ...]) -> JoinedTexts:
    """Return the joined texts; those whose short words are found have theirs found next."""
    known = JOINED.get(texts)
    return JOINED.put(texts, JoinedTexts.of(texts)) if known is None else known


def find_passage_runs(
    words: TextWords, titles: TitleWords, firsts: FirstWords, rules: Rules
) -> list[Run]:
    """Return what may be a name in a passage, whatever the corpus says of its words.

    Args:
        words: Its words.
        titles: The words of titles by their first two, the longest title first.
        firsts: The second words of these titles, by the first.
        rules: What is a name.
    """
    runs = list(find_runs(words, titles, firsts, rules.inner_words, rules.max_name_words))
    if rules.years:
        numbers = range(words.first, words.end)
        years = [i for i in numbers if _is_year(words.columns.keys[i])]
        runs += [(i, i + 1, True) for i in years]
    return runs


def choose_mentions(
    passage: NormalizedPassage,
    words: TextWords,
    runs: Sequence[Run],
    caseless: Sequence[Word],
    evidence: Evidence,
    rules: Rules,
) -> list[Mention]:
    """Return what is a name in a passage, by what the corpus says; names may overlap.

    Args:
        passage: The passage.
        words: The words that the runs consist of.
        runs: What `find_passage_runs` returns.
        caseless: What `caseless_words` returns.
        evidence: What the corpus says; its `abbreviations` and `title_words` are in `runs` already.
        rules: What is a name.
    """
    mentions = _mentions_of_runs(words, runs, evidence, rules)
    mentions += _quoted_mentions(passage, words, runs)
    text, start = passage.text, words.start
    if text.isascii():
        return mentions
    pairs = dict.fromkeys(evidence.joined, MIN_JOINED)
    if not words.is_plain:
        mentions += [
            Mention(name, first + start, end + start, sentence + start)
            for name, first, end, sentence in find_unspaced_mentions(
                text, passage.start, dict(evidence.unspaced_titles)
            )
        ]
    mentions += find_spaced_mentions(words.text, caseless, evidence.spaced_names, pairs)
    return mentions


def find_passage_title(text: str, passage: Passage) -> tuple[str, int]:
    r"""Return the title of a passage, and the place where the rest of its text begins.

    Without a title of its own, a passage has that of its front matter, else its first line, if that
    is short and is followed by more.

    Args:
        text: The text of the passage in NFKC.
        passage: The passage.

    Example:
        >>> text = "# Moon\nIt is far."
        >>> find_passage_title(text, Passage("a", text))
        ('Moon', 6)
    """
    if passage.title.strip():
        return " ".join(unicodedata.normalize("NFKC", passage.title).split()), 0
    start = front_matter_end(text)
    if declared := front_matter_title(text):
        return " ".join(declared.split()), start
    first, line_end, rest = text[start:].partition("\n")
    title = " ".join(first.strip("#*=_- \t\r").split())
    is_title = (
        line_end
        and rest.strip()
        and 0 < len(title) <= MAX_TITLE_LENGTH
        and not title.endswith((".", "。", ":", ","))
    )
    return (title, start + len(first)) if is_title else ("", start)


def normalize(passage: Passage) -> NormalizedPassage:
    """Return a passage as names are looked for in it."""
    text = unicodedata.normalize("NFKC", passage.text)
    title, start = find_passage_title(text, passage)
    return NormalizedPassage(text, _IN_BRACKETS.sub("", title), start)


def without_overlaps(mentions: Iterable[Mention]) -> list[Mention]:
    """Return mentions in the order of the text, without those that overlap.

    The earlier of two stays; the longer, if both begin at one place.

    Example:
        >>> pair = [Mention("York", 4, 8, 0), Mention("New York", 0, 8, 0)]
        >>> [mention.name for mention in without_overlaps(pair)]
        ['New York']
    """
    mentions = list(mentions)
    if all(one.end <= other.start for one, other in pairwise(mentions)):
        return mentions
    separate: list[Mention] = []
    for mention in sorted(mentions, key=lambda mention: (mention.start, -mention.end)):
        if not separate or mention.start >= separate[-1].end:
            separate.append(mention)
    return separate


def _is_kept(passage: NormalizedPassage) -> bool:
    return len(passage.text) <= MAX_KEPT_TEXT


def place_alone(words: TextWords) -> PlacedWords:
    """Return the words of a passage, and the numbers of those that are counted.

    Args:
        words: All.

    Example:
        >>> words = find_passage_words(NormalizedPassage("Then Anna left. Ben came.", "", 0), ())
        >>> [numbers.tolist() for numbers in place_alone(words)[1:4]]
        [[1], [2, 4], [0, 1, 3]]
    """
    columns, numbers = words.columns, range(words.first, words.end)
    begins, capitals, behind_stop = columns.begins, columns.capitals, columns.behind_stop
    within = [i for i in numbers if not (begins[i] or behind_stop[i])]
    chosen = (
        [i for i in within if capitals[i]],
        [i for i in within if not capitals[i]],
        [i for i in numbers if capitals[i] or (behind_stop[i] and not begins[i])],
    )
    capital, small, decided = [np.array(one, np.int64) for one in chosen]
    return PlacedWords(words, capital, small, decided, bool(caseless_words(words)))


def _caseless_of(placed: PlacedWords) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words in scripts without capitals, and two of these together."""
    caseless = caseless_words(placed.words) if placed.has_caseless else []
    if not caseless:
        return NOTHING, NOTHING
    return frozenset([word.key for word in caseless]), frozenset(keys_of_pairs(caseless))


def _written(
    placed: PlacedWords, abbreviations: frozenset[str], numbered: CountedNumbers
) -> Written:
    words = placed.words
    keys, first, end = words.columns.keys, words.first, words.end
    own, last = keys[first:end], end - 1
    in_order = f" {' '.join(own)}" if own else ""
    seconds = own  # without the ending of a possessive, of which most texts have none
    if "'" in in_order or "’" in in_order:
        seconds = [word if word.isalnum() else without_possessive(word) for word in own]
    starts = tuple([f"{keys[i]} {seconds[i + 1 - first]}" for i in words.openings if i < last])
    return Written(
        abbreviations,
        numbered,
        *_caseless_of(placed),
        starts,
        in_order,
    )


def _single(word: str, key: str) -> str:
    """Return the name that a word with a capital is by itself, with its case folded."""
    return key if word.isascii() and "'" not in word else fold_case(without_possessive(word))


def _is_year(key: str) -> bool:
    return len(key) == YEAR_DIGITS and key.isdigit()


def _mentions_of_runs(
    words: TextWords, runs: Sequence[Run], evidence: Evidence, rules: Rules
) -> list[Mention]:
    """Return the names in runs of capitalised words."""
    text, (starts, ends, keys, begins, _, sentences, *_) = words.text, words.columns
    small, titles = evidence.mostly_small, evidence.titles
    mentions: list[Mention] = []
    inner_words = rules.inner_words
    for run in runs:
        first, end, is_title = run
        place, behind, key = starts[first], ends[end - 1], keys[first]
        word = text[place:behind]
        is_doubtful = not is_title and (begins[first] or key in inner_words)
        if end - first == 1:  # as half of them are
            if is_doubtful:
                if not _is_name_alone(words, first, word, evidence, inner_words):
                    continue
            elif not is_title and key in small and _single(word, key) not in titles:
                continue
        elif is_doubtful or (not is_title and ". " in word):
            parts = _cut_at_openings(words, run, evidence, rules)
            mentions += filter(None, [_mention_of_part(words, part, evidence) for part in parts])
            continue
        name = without_possessive(word) if "'" in word or "’" in word else word
        mentions.append(Mention(name, place, behind, sentences[first]))
    return mentions


def _is_name_alone(
    words: TextWords, i: int, word: str, evidence: Evidence, inner_words: Collection[str]
) -> bool:
    """Return whether a word is a name that begins a sentence, or is a small word inside names."""
    key, begins = words.columns.keys[i], words.columns.begins[i]
    if key in inner_words and not words.columns.capitals[i]:
        return False
    if not begins:
        return key not in evidence.mostly_small or _single(word, key) in evidence.titles
    # Most are asked for in this one set: what the corpus says of each is kept with the facts.
    return key in evidence.capital or (
        _single(word, key) in evidence.titles
        and key not in inner_words
        and key not in evidence.mostly_small
    )


def _mention_of_part(words: TextWords, part: tuple[int, int], evidence: Evidence) -> Mention | None:
    """Return the name that a part of a run is; None if it is a word that only begins a sentence."""
    (first, end), columns = part, words.columns
    place, behind = columns.starts[first], columns.ends[end - 1]
    word = words.text[place:behind]
    if end - first == 1:
        key = columns.keys[first]
        if columns.begins[first]:
            is_name = key in evidence.capital
        else:
            is_name = key not in evidence.mostly_small
        if not is_name and _single(word, key) not in evidence.titles:
            return None
    return Mention(without_possessive(word), place, behind, columns.sentences[first])


def _quoted_mentions(
    passage: NormalizedPassage, words: TextWords, runs: Sequence[Run]
) -> Iterator[Mention]:
    """Yield what is quoted; its sentence is that of the last run before it."""
    sentences = None
    for start, end, name in find_quoted(passage.text, passage.start):
        if sentences is None:
            sentences = sorted([words.columns.sentences[first] for first, _, _ in runs])
        place = start + words.start
        before = bisect_right(sentences, place)
        sentence = sentences[before - 1] if before else passage.start + words.start
        yield Mention(name, place, end + words.start, sentence)


def _cut_at_openings(
    words: TextWords, run: Run, evidence: Evidence, rules: Rules
) -> tuple[tuple[int, int], ...]:
    """Return the parts of a run between words that have a capital only for their place.

    Such a word comes first, or behind a full stop, and is mostly written small elsewhere. A part is
    the number of its first word and the number behind its last.
    """
    (begin, end, _), small = run, evidence.mostly_small
    parts: list[tuple[int, int]] = []
    first = begin
    text, (starts, ends, keys, begins, capitals, *_) = words.text, words.columns
    for i in range(begin, end):
        key = keys[i]
        opens = begins[i] or (i > begin and text[ends[i - 1] : starts[i]] == ". ")
        if opens and key in small:
            if i > first:
                parts.append((first, i))
            first = i + 1
        elif (
            i == first
            and key in rules.inner_words
            and (not capitals[i] or (begins[i] and key not in evidence.capital))
        ):
            first = i + 1
    if first < end:
        parts.append((first, end))
    return tuple(parts)
