"""The words of a text in any script, and the terms that retrieval counts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from string import ascii_letters
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clew.text.kept import MAX_KEPT_TEXT, Kept
from clew.text.numbering import Numbering

# Sets of characters, for use in a regular expression between brackets.
UNSPACED = (  # Thai, Lao, Burmese, Khmer, Tai: scripts without spaces between words
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\ua9e0-\ua9ff\uaa60-\uaa7f"
)
KANA = "\u3040-\u30ff"
HAN = "\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
IDEOGRAPHS = HAN + KANA

CODE_NAME = re.compile(
    "[A-Za-z0-9]+(?:_[A-Za-z0-9][A-Za-z0-9]*+)*+"
)  # what identifiers are looked for in
ASCII_LETTER = re.compile("[A-Za-z]")
CAMEL_CASE = re.compile("[a-z][A-Z]|[A-Z]{2}[a-z]")
CAMEL_CASE_PART = re.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
ASSIGNED = range(0x40000), range(0xE0000, 0xE1000)  # code points; no others have a meaning
MAX_WORD_LENGTH = 256  # a longer run of letters, such as data, is cut into words of so many
ASCII_WORD = re.compile(f"[A-Za-z0-9]{{1,{MAX_WORD_LENGTH}}}")
# Tables for `str.translate`, of the first 128 signs: what is in no word becomes a space.
SPACE_FOR_OTHERS = "".join(sign if sign.isalnum() else " " for sign in map(chr, range(128)))
SPACE_BUT_UNDERSCORE = "".join(
    sign if sign.isalnum() or sign == "_" else " " for sign in map(chr, range(128))
)
BOUNDARY = "\x01"  # between texts that are looked through together; it is in no word, and no space
RUNS_AND_BOUNDARIES, WORDS_AND_BOUNDARIES = (
    f"{table[:1]}{BOUNDARY}{table[2:]}" for table in (SPACE_BUT_UNDERSCORE, SPACE_FOR_OTHERS)
)
SIMPLE_WORD = re.compile(rf"[^\W_]{{1,{MAX_WORD_LENGTH}}}")  # where no sign is unspaced or a mark
# What is not of the Latin, Greek and Cyrillic scripts, or a sign of punctuation or mathematics. In
# these blocks no sign is unspaced or a mark: most texts are read without the tables of all scripts.
OTHER_SCRIPT = re.compile("[^\0-\u02ff\u0370-\u0482\u048a-\u058f\u2000-\u20cf\u2100-\u2bff]")
LETTER_OR_DIGIT = re.compile(r"[^\W_]")
LETTERS_AND_DIGITS = re.compile(r"[^\W_]+")
# The letters and digits of the scripts that are not other scripts, sign by sign: a set that names
# every sign is looked up in one step, where \W beside an underscore takes several.
_ALL_BELOW = "".join(map(chr, range(0x2C00)))  # where the last of these scripts ends
_OF_THESE_SCRIPTS = OTHER_SCRIPT.sub(" ", _ALL_BELOW)
PLAIN_SIGN = "".join(f"{run[0]}-{run[-1]}" for run in LETTERS_AND_DIGITS.findall(_OF_THESE_SCRIPTS))
PLAIN_LETTER = "".join(f"{run[0]}-{run[-1]}" for run in re.findall(r"[^\W\d_]+", _OF_THESE_SCRIPTS))
PLAIN_WORD = re.compile(f"[{PLAIN_SIGN}]{{1,{MAX_WORD_LENGTH}}}")  # where no script is another
# The marks that stand on letters of these scripts, which "´" has in NFKC, are no reason to make
# the tables of all scripts either.
ACCENTS = "\u0300-\u036f"
OTHER_THAN_ACCENT = re.compile(OTHER_SCRIPT.pattern.replace("]", f"{ACCENTS}]"))
ACCENTED_WORD = re.compile(f"[{PLAIN_SIGN}{ACCENTS}]{{1,{MAX_WORD_LENGTH}}}")
TOGETHER = 32  # texts that are split together: the parts of more would not stay near the processor
TOGETHER_SIGNS = 16_384  # signs of short texts, of which more are split together
MAX_FOLDED_LENGTH = MAX_WORD_LENGTH // 2  # of a word that is short enough when it is folded, too
# Beside these, the words of the folded text are those of the text, each folded.
APART = re.compile(f"[\u0130\u01f0\u023a\u023e\u0390\u03b0]|{OTHER_SCRIPT.pattern}")
ALPHABET = 26  # letters
# The language of a text is identified by its words, and then its terms are counted.
PLAIN_WORDS = Kept[str, tuple[str, ...]](256)
UNSPACED_SIGN = re.compile(f"[{UNSPACED}]")
HIGHER_PLANES = re.compile("[\U00010000-\U0010ffff]")


def fold_case(text: str) -> str:
    """Return the text in a form for comparison: NFKC, casefolded, single spaces.

    Example:
        >>> fold_case("  Straße ") == fold_case("STRASSE")
        True
    """
    return " ".join((text.lower() if text.isascii() else _normalized(text)).split())


def words(text: str) -> list[str]:
    """Return the words of a text, NFKC and casefolded.

    A word is a run of letters, digits and marks; each ideograph and each kana is a word. A run of
    more than 256 is cut into words of so many.

    Example:
        >>> words("The cat's 42nd try")
        ['the', 'cat', 's', '42nd', 'try']
    """
    if text.isascii():  # nothing to normalize, and no table of scripts is needed
        return _ascii_words(text.lower())
    return _split(_normalized(text))


def cased_words(text: str) -> list[str]:
    """Return the words of a text as `words` does, but in the case that they are written in.

    Example:
        >>> cased_words("The cat's 42nd try")
        ['The', 'cat', 's', '42nd', 'try']
    """
    if text.isascii():
        return _ascii_words(text)
    return _split(unicodedata.normalize("NFKC", text))


class FoundWords(NamedTuple):
    """The words of texts, one text after the other, as places among signs.

    Attributes:
        signs: uint8 or uint32, the codes of the signs of the words, spaces between them.
        begins: int64 [m], where each word begins.
        ends: int64 [m], where it ends.
        starts: int64 [n + 1], the number of the first word of each text, and that of all words.
        apart: int64, the numbers of the texts that are not read, ascending, which have no words.
    """

    signs: NDArray[np.unsignedinteger]
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    starts: NDArray[np.int64]
    apart: NDArray[np.int64]

    def all_words(self) -> list[str]:
        """Return the words."""
        return text_of_signs(self.signs).split()

    def words(self, numbers: ArrayLike) -> list[str]:
        """Return the words of some numbers."""
        chosen = np.asarray(numbers, np.int64)
        begins, lengths = self.begins[chosen], self.ends[chosen] - self.begins[chosen]
        ends = np.cumsum(lengths + 1)  # of each word and a space behind it
        signs = np.full(int(ends[-1]) if len(ends) else 0, ord(" "), self.signs.dtype)
        places = np.repeat(begins - (ends - lengths - 1), lengths + 1) + np.arange(len(signs))
        inside = np.ones(len(signs), np.bool_)
        inside[ends - 1] = False
        signs[inside] = self.signs[places[inside]]
        return text_of_signs(signs).split()


def text_of_signs(signs: NDArray[np.unsignedinteger]) -> str:
    """Return the text of signs: one byte each where all are ASCII, else four.

    Example:
        >>> text_of_signs(np.frombuffer(b"sea", np.uint8))
        'sea'
    """
    return signs.tobytes().decode("ascii" if signs.itemsize == 1 else "utf-32-le")


def cased_words_of_all(
    texts: Sequence[str],
) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64]]:
    """Return the words of texts, one text after the other, for those that `find_cased_words` reads.

    Returns:
        What `cased_words` returns of each; int64 [n + 1], where each text starts and ends; and the
        numbers of the texts that are not read, ascending, which have no words here.

    Example:
        >>> words, starts, apart = cased_words_of_all(["The cat", "...", "42nd Öst", "北京"])
        >>> words, starts.tolist(), apart.tolist()
        (['The', 'cat', '42nd', 'Öst'], [0, 2, 2, 4, 4], [3])
    """
    found = find_cased_words(texts)
    return found.all_words(), found.starts, found.apart


def find_cased_words(texts: Sequence[str]) -> FoundWords:
    """Return the words of texts, in the case that they are written in, for those read so quickly.

    A text is not where it has words that are longer, or in a script, of which it is not sure that
    `terms` are its words with their case folded, one by one.

    Example:
        >>> found = find_cased_words(["The cat", "...", "42nd Öst", "北京"])
        >>> found.words([0, 3]), found.starts.tolist(), found.apart.tolist()
        (['The', 'Öst'], [0, 2, 2, 4, 4], [3])
    """
    together = f" {BOUNDARY} ".join(texts)
    signs: NDArray[np.unsignedinteger]
    table: NDArray[np.unsignedinteger]
    if together.isascii():
        signs, table = np.frombuffer(together.encode("ascii"), np.uint8), _ascii_signs_of_words()
    else:
        normalized = [  # as most texts are; many relations begin with "…", which is "..." in NFKC
            text if text.isascii() else _in_nfkc(text.replace("…", "...")) for text in texts
        ]
        together = f" {BOUNDARY} ".join(normalized)
        encoded = together.encode("utf-32-le", "surrogatepass")
        signs, table = np.frombuffer(encoded, "<u4"), _signs_of_words()
    ends = np.flatnonzero(signs == ord(BOUNDARY))
    if len(ends) != max(len(texts) - 1, 0):  # a text has the sign itself
        is_apart = np.fromiter((BOUNDARY in text for text in texts), np.bool_, len(texts))
        found = find_cased_words(
            ["" if bad else text for text, bad in zip(texts, is_apart.tolist(), strict=True)]
        )
        is_apart[found.apart] = True
        return found._replace(apart=np.flatnonzero(is_apart))
    kept = table.take(signs, mode="clip")
    is_sign = np.zeros(len(kept) + 2, np.bool_)
    np.not_equal(kept, ord(" "), out=is_sign[1:-1])
    changes = np.flatnonzero(is_sign[1:] != is_sign[:-1])
    begins, behind = changes[::2], changes[1::2]
    too_long = begins[behind - begins > MAX_FOLDED_LENGTH]
    bad = np.concatenate([np.flatnonzero(kept == 0), too_long])
    is_apart = np.zeros(len(ends) + 1, np.bool_)  # `np.unique` imports masked arrays
    is_apart[np.searchsorted(ends, bad)] = True
    apart = np.flatnonzero(is_apart)
    if len(apart):
        bounds = np.concatenate([[0], ends, [len(kept)]])
        for i in apart.tolist():
            kept[bounds[i] : bounds[i + 1]] = ord(" ")
        is_word = ~is_apart[np.searchsorted(ends, begins)]
        begins, behind = begins[is_word], behind[is_word]
    starts = np.concatenate([[0], np.searchsorted(begins, ends), [len(begins)]])
    return FoundWords(kept, begins, behind, starts[: len(texts) + 1], apart)


def words_of_all(texts: Sequence[str]) -> list[Sequence[str]]:
    """Return what `words` returns of each text; together, most take half the time.

    Example:
        >>> words_of_all(["The cat", "北京"])
        [['the', 'cat'], ['北', '京']]
    """
    found = _plain_words_of_all(texts, keeps=True)
    return [words(text) if own is None else own for text, own in zip(texts, found, strict=True)]


def terms_of_all(texts: Sequence[str]) -> list[Sequence[str]]:
    """Return what `terms` returns of each text; together, most take half the time.

    Example:
        >>> terms_of_all(["read_path reads", "北京"])
        [['read', 'path', 'reads', 'read_path'], ['北', '北京', '京']]
    """
    return [
        terms(text) if own is None else [*own, *_code_terms(text)] if may_name_code else own
        for text, own, may_name_code in zip(
            texts, _plain_words_of_all(texts, keeps=False), _may_name_code(texts), strict=True
        )
    ]


def _plain_words_of_all(texts: Sequence[str], keeps: bool) -> list[Sequence[str] | None]:
    """Return what `words` returns of each text that `cased_words_of_all` reads; else None.

    Args:
        texts: The texts.
        keeps: Whether the words are kept for the next call. Else those that were kept are no
            longer, which saves the garbage collector from looking at them.
    """
    found: list[Sequence[str] | None]
    if keeps:
        found = [None if known is None else list(known) for known in map(PLAIN_WORDS.get, texts)]
    else:
        found = [PLAIN_WORDS.pop(text, None) for text in texts]
    missing = [i for i, known in enumerate(found) if known is None]
    if not missing:
        return found
    cased = find_cased_words([texts[i] for i in missing])
    folded = text_of_signs(cased.signs).casefold().split()
    bounds = cased.starts.tolist()
    others = set(cased.apart.tolist())
    for place, i in enumerate(missing):
        if place not in others:
            own = found[i] = folded[bounds[place] : bounds[place + 1]]
            if keeps and len(texts[i]) <= MAX_KEPT_TEXT:
                PLAIN_WORDS.put(texts[i], tuple(own))
    return found


def _may_name_code(texts: Sequence[str]) -> list[bool]:
    """Return whether there may be a name of code in each text: most have no sign of one."""
    together = BOUNDARY.join(texts).encode("ascii", "replace")
    signs = np.frombuffer(together, np.uint8)
    is_small = (signs - ord("a")) < ALPHABET  # uint8, which wraps around
    is_capital = (signs - ord("A")) < ALPHABET
    hints = signs == ord("_")
    hints[1:] |= is_small[:-1] & is_capital[1:]
    hints[2:] |= is_capital[:-2] & is_capital[1:-1] & is_small[2:]
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)) + 1)
    counts = np.diff(np.searchsorted(np.flatnonzero(hints), ends), prepend=0)
    return list(map(bool, counts.tolist()))


@lru_cache(maxsize=1)
def _ascii_signs_of_words() -> NDArray[np.uint8]:
    """What `_signs_of_words` returns of the first 128 signs, as bytes."""
    return np.frombuffer(SPACE_FOR_OTHERS.encode("ascii"), np.uint8)


@lru_cache(maxsize=1)
def _signs_of_words() -> NDArray[np.uint32]:
    """What each sign stands for in words that are looked for together, by its code.

    That is the sign itself, a space for what is in no word, and 0 for what has rules of its own,
    which all higher signs have, too.
    """
    signs = re.sub(f"[^{PLAIN_SIGN}]", " ", _ALL_BELOW)
    codes = [
        0 if APART.match(sign) else ord(kept) for sign, kept in zip(_ALL_BELOW, signs, strict=True)
    ]
    return np.array([*codes, 0], "<u4")


def _in_nfkc(text: str) -> str:
    """Return a text in NFKC; where it is that already, that shows in a tenth of the time."""
    if text.isascii() or unicodedata.is_normalized("NFKC", text):
        return text
    return unicodedata.normalize("NFKC", text)


def has_content(text: str) -> bool:
    r"""Return whether a text has a letter, a digit or a sign such as an emoji, and not marks alone.

    Example:
        >>> has_content("-----"), has_content("+--+\n|  |"), has_content("* 7"), has_content("🙂")
        (False, False, True, True)
    """
    if LETTER_OR_DIGIT.search(text):
        return True
    return not text.isascii() and any(
        unicodedata.category(sign) == "So" and not "\u2500" <= sign <= "\u259f"  # lines and boxes
        for sign in text
    )


def contains_phrase(cue: str, text: str) -> bool:
    """Return whether the words of the cue stand side by side in the text.

    Example:
        >>> contains_phrase("new york", "In New York, yes.")
        True
        >>> contains_phrase("art", "a party")
        False
    """
    return stand_side_by_side(words(cue), words(text))


def stand_side_by_side(wanted: Sequence[str], present: Sequence[str]) -> bool:
    """Return whether some words stand side by side among others.

    Args:
        wanted: the words; none stand nowhere.
        present: the others, of the same type.

    Example:
        >>> stand_side_by_side(["new", "york"], ["in", "new", "york", "yes"])
        True
    """
    n = len(wanted)
    if not n or wanted[0] not in present:  # as for most
        return False
    return any(present[at : at + n] == wanted for at in range(len(present) - n + 1))


def terms(text: str, identifiers: bool = True) -> list[str]:
    """Return the terms of a text: its words, and in unspaced scripts pairs of neighbouring signs.

    An ideograph is also a term alone. A kana, or a Thai, Lao, Burmese or Khmer sign with its marks,
    is a term alone only if no sign stands beside it.

    Args:
        text: the text.
        identifiers: whether a name of code is also a term as a whole and in its parts:
            `parseXMLFile` as that, "parse", "xml" and "file"; `read_path` as that, "read" and
            "path".

    Example:
        >>> terms("read_path reads")
        ['read', 'path', 'reads', 'read_path']
        >>> terms("北京在")
        ['北', '北京', '京', '京在', '在']
    """
    collected = words(text) if text.isascii() else _words_and_pairs(_normalized(text))
    if identifiers:
        collected.extend(_code_terms(text))
    return collected


def _code_terms(text: str) -> Iterator[str]:
    """Yield the terms of the names of code in a text."""
    runs = _code_runs(text)
    if max(map(len, runs), default=0) > MAX_WORD_LENGTH:
        # Data, or a program without spaces: their words will do.
        runs = [run for run in runs if len(run) <= MAX_WORD_LENGTH]
    return chain.from_iterable(map(_names_and_parts, runs))


def _ascii_words(text: str) -> list[str]:
    """The runs of letters and digits of an ASCII text; a third of the time of an expression."""
    found = text.translate(SPACE_FOR_OTHERS).split()
    if len(text) > MAX_WORD_LENGTH and max(map(len, found), default=0) > MAX_WORD_LENGTH:
        return ASCII_WORD.findall(text)
    return found


def _code_runs(text: str) -> list[str]:
    """The runs of letters, digits and underscores that may hold a name of code.

    A run with small letters alone, or with one capital before them, is none: most are such words.
    """
    if not text.isascii():  # other signs are in no name of code
        text = text.encode("ascii", "replace").decode("ascii")
    return [
        run
        for joined in text.translate(SPACE_BUT_UNDERSCORE).split()
        if "_" in joined or not (joined.islower() or joined.istitle())
        for run in (CODE_NAME.findall(joined) if "_" in joined else (joined,))
    ]


class NumberedRuns(NamedTuple):
    """The runs of letters, digits and underscores of several texts by numbers, if these are plain.

    They may be words, too, which are runs without underscores.

    Attributes:
        numbers: int32 [m], the number of each.
        owners: int32 [m], the text that has it, ascending.
        others: the texts that are not plain, and not read: not ASCII, with a `BOUNDARY`, or with a
            run that is too long.
    """

    numbers: NDArray[np.int32]
    owners: NDArray[np.int32]
    others: list[int]


def number_runs(texts: Sequence[str], number_of: Numbering[str]) -> NumberedRuns:
    """Return the numbers of the runs of plain texts, by which their terms are known.

    Args:
        texts: the texts.
        number_of: numbers the runs, and has the `BOUNDARY` already.

    Example:
        >>> number_of = Numbering({BOUNDARY: 0})
        >>> found = number_runs(["read_path reads.", "北京", "It reads"], number_of)
        >>> found.numbers.tolist(), found.owners.tolist(), found.others
        ([1, 2, 3, 2], [0, 0, 2, 2], [1])
        >>> list(number_of)[1:]
        ['read_path', 'reads', 'It']
    """
    return _number_plain(texts, number_of, RUNS_AND_BOUNDARIES)


def number_words(texts: Sequence[str], number_of: Numbering[str]) -> NumberedRuns:
    """Return the numbers of what `cased_words` returns of plain texts; together, in half the time.

    Args:
        texts: the texts.
        number_of: numbers the words, and has the `BOUNDARY` already.

    Example:
        >>> number_of = Numbering({BOUNDARY: 0})
        >>> found = number_words(["read_path reads.", "北京", "It reads"], number_of)
        >>> found.numbers.tolist(), found.owners.tolist(), found.others
        ([1, 2, 3, 4, 3], [0, 0, 0, 2, 2], [1])
        >>> list(number_of)[1:]
        ['read', 'path', 'reads', 'It']
    """
    return _number_plain(texts, number_of, WORDS_AND_BOUNDARIES)


def _number_plain(texts: Sequence[str], number_of: Numbering[str], table: str) -> NumberedRuns:
    """Return the numbers of the runs of signs that a table for `str.translate` keeps."""
    plain = [i for i, text in enumerate(texts) if text.isascii() and BOUNDARY not in text]
    parts, read = [np.zeros(0, np.int32)], list[int]()
    together = max(TOGETHER, TOGETHER_SIGNS * len(texts) // max(sum(map(len, texts)), 1))
    for start in range(0, len(plain), together):
        some = plain[start : start + together]
        joined = _joined_runs(texts, some, table)
        if _may_be_too_long(joined):
            of_each = (texts[i].translate(table).split() for i in some)
            some = [i for i, own in zip(some, of_each, strict=True) if _are_short(own)]
            joined = _joined_runs(texts, some, table)
        runs = joined.split()  # most have a number: looking for new ones first takes longer
        parts.append(np.fromiter(map(number_of.__getitem__, runs), np.int32, len(runs)))
        read += some
    numbers = np.concatenate(parts)
    ends = np.flatnonzero(numbers == number_of[BOUNDARY])
    owners = np.repeat(np.array(read, np.int32), np.diff(ends, prepend=-1) - 1)
    others = sorted(set(range(len(texts))).difference(read))
    return NumberedRuns(np.delete(numbers, ends), owners, others)


def _joined_runs(texts: Sequence[str], some: Sequence[int], table: str) -> str:
    """Return the runs of some texts between spaces, with a `BOUNDARY` behind those of each."""
    return "".join([f"{texts[i]} {BOUNDARY} " for i in some]).translate(table)


def _are_short(runs: Sequence[str]) -> bool:
    return max(map(len, runs), default=0) <= MAX_WORD_LENGTH


def _may_be_too_long(text: str) -> bool:
    """Return whether a text may have a word that is too long, by every 128th sign or so.

    Such a word fills a stretch of half its length that begins at a multiple of that length.
    """
    half = MAX_WORD_LENGTH // 2
    starts = range(0, len(text) - half + 1, half)
    return any(text.find(" ", start, start + half) < 0 for start in starts)


def terms_of_run(run: str) -> tuple[list[str], list[str]]:
    """Return the words of a run of `number_runs`, and the terms of the names of code in it.

    The terms of a text are the words of all its runs, and then these terms of all of them.

    Example:
        >>> terms_of_run("read_path"), terms_of_run("Reads")
        ((['read', 'path'], ['read_path']), (['reads'], []))
    """
    if "_" not in run:
        is_plain = run.islower() or run.istitle()
        return [run.lower()], [] if is_plain else list(_names_and_parts(run))
    name = run.strip("_")
    if name.islower() and name[0].isalpha() and "__" not in name:  # as most are
        return name.split("_"), [name] if "_" in name else []
    names = chain.from_iterable(map(_names_and_parts, CODE_NAME.findall(run)))
    return run.lower().replace("_", " ").split(), list(names)


@lru_cache(maxsize=1 << 16)
def _names_and_parts(run: str) -> tuple[str, ...]:
    """The terms of the name of code in a run of letters, digits and underscores.

    Names of code are `snake_case` from a letter on, `camelCase` and `HTTPResponse`.
    """
    name = _identifier_in(run)
    whole = (name.lower(),) if "_" in name else ()
    parts = CAMEL_CASE_PART.findall(name) if CAMEL_CASE.search(name) else ()
    return (*whole, *(part.lower() for part in parts))


def _identifier_in(run: str) -> str:
    """The name of code in a run of letters, digits and underscores, or ""."""
    before, underscore, name = run.rpartition("_")
    letter = ASCII_LETTER.search(before) if underscore else None
    if letter:
        return run[letter.start() :]
    hump = CAMEL_CASE.search(name)
    return name[len(name[: hump.start()].rstrip(ascii_letters)) :] if hump else ""


def _normalized(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _words_and_pairs(text: str) -> list[str]:
    """The words of a text, with pairs of neighbours in the place of single unspaced signs."""
    if (pattern := _pattern_without_tables(text)) is not None:
        return pattern.findall(text)
    if not _unspaced_or_mark().search(text):
        return SIMPLE_WORD.findall(text)
    collected: list[str] = []
    previous, previous_end = "", -1  # the sign before, and where it ends, if it was unspaced
    unpaired = False  # whether the sign before is in no term yet
    for match in _sign_pattern(_has_higher_planes(text)).finditer(text):
        sign = match.group()
        if match.lastgroup is None:  # a word
            collected += [previous, sign] if unpaired else [sign]
            previous_end, unpaired = -1, False
            continue
        ideograph = match.lastgroup == "ideograph"
        adjacent = match.start() == previous_end
        if unpaired and not adjacent:
            collected.append(previous)
        if adjacent:
            collected.append(previous + sign)
        if ideograph:
            collected.append(sign)
        unpaired = not ideograph and not adjacent
        previous, previous_end = sign, match.end()
    return collected + ([previous] if unpaired else [])


def _split(text: str) -> list[str]:
    """The words of a normalized text."""
    pattern = _pattern_without_tables(text)
    if pattern is None:
        has_marks = _unspaced_or_mark().search(text)
        pattern = _word_pattern(_has_higher_planes(text)) if has_marks else SIMPLE_WORD
    return pattern.findall(text)


def _pattern_without_tables(text: str) -> re.Pattern[str] | None:
    """Return the pattern of a word in a normalized text; None where it has another script."""
    if not OTHER_SCRIPT.search(text):
        return PLAIN_WORD
    return None if OTHER_THAN_ACCENT.search(text) else ACCENTED_WORD


@lru_cache(maxsize=1)
def _unspaced_or_mark() -> re.Pattern[str]:
    r"""The pattern of a sign that \w may not do justice to; most texts have none.

    Of the higher planes it has all signs: a set with many ranges of them is slow.
    """
    marks = "".join(re.escape(sign) for sign in _marks() if sign <= "\uffff")
    return re.compile(f"[{UNSPACED}{IDEOGRAPHS}{marks}\U00010000-\U0010ffff]")


@lru_cache(maxsize=1)
def _marks() -> tuple[str, ...]:
    """All vowel signs, accents and other marks."""
    others = filter(str.isprintable, LETTERS_AND_DIGITS.sub("", _decoded(_codes())))
    return tuple(sign for sign in others if unicodedata.category(sign)[0] == "M")


def _codes() -> NDArray[np.uint32]:
    """All code points of `ASSIGNED`, ascending."""
    return np.concatenate([np.arange(run.start, run.stop, dtype="<u4") for run in ASSIGNED])


def _decoded(codes: NDArray[np.uint32]) -> str:
    return codes.tobytes().decode("utf-32-le", "surrogatepass")


def _has_higher_planes(text: str) -> bool:
    """Return whether a text has a sign of another plane than the first, as hardly any has."""
    return HIGHER_PLANES.search(text) is not None


@lru_cache(maxsize=2)
def _sign_pattern(has_higher_planes: bool) -> re.Pattern[str]:
    """The pattern of an ideograph, another unspaced sign with its marks, or a word."""
    marks = "".join(filter(UNSPACED_SIGN.match, _marks()))
    return re.compile(
        rf"(?P<ideograph>[{HAN}])|(?P<sign>[{KANA}{UNSPACED}][{marks}]*)|"
        f"{_word_pattern(has_higher_planes).pattern}"
    )


@lru_cache(maxsize=2)
def _word_pattern(has_higher_planes: bool) -> re.Pattern[str]:
    r"""The pattern of a word; in a text of the first plane alone it takes a third of the time.

    Marks (vowel signs of Indic scripts, accents) belong to the word, but Python's \w leaves them
    out. A set of ranges that names every sign is looked up in one step within the first plane; \w
    beside other ranges is tried one after the other.
    """
    codes, ideographs = _codes(), re.compile(f"[{IDEOGRAPHS}]+")
    signs = _decoded(codes)
    codes[np.searchsorted(codes, np.array(list(map(ord, _marks())), "<u4"))] = ord("a")
    first_plane, higher_planes = list[str](), list[str]()
    for run in LETTERS_AND_DIGITS.finditer(_decoded(codes)):  # a mark counts as a letter
        for own in filter(None, ideographs.split(signs[run.start() : run.end()])):
            ranges = first_plane if own[-1] < "\U00010000" else higher_planes
            ranges.append(f"{re.escape(own[0])}-{re.escape(own[-1])}")
    signs = f"[{''.join(first_plane)}]"  # none of them is an ideograph
    if has_higher_planes:
        signs = f"(?:{signs}|[{''.join(higher_planes)}])"
    return re.compile(f"[{IDEOGRAPHS}]|{signs}{{1,{MAX_WORD_LENGTH}}}")
