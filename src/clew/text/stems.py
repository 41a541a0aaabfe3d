"""The stems of words, language by language, and the language that a text is in.

Stems are Snowball's (Porter 2001), by the library PyStemmer. A language is identified from the
sequences of letters in a text, by the library py3langid (Lui and Baldwin 2012).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from clew.text.kept import Kept
from clew.text.spelling import in_one_spelling
from clew.text.words import words, words_of_all

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

# The languages that are stemmed: their ISO 639-1 codes, and the names of Snowball's algorithms.
STEMMERS = {
    "ar": "arabic",
    "hy": "armenian",
    "eu": "basque",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "nl": "dutch",
    "en": "english",
    "eo": "esperanto",
    "et": "estonian",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "de": "german",
    "el": "greek",
    "hi": "hindi",
    "hu": "hungarian",
    "id": "indonesian",
    "ga": "irish",
    "it": "italian",
    "lt": "lithuanian",
    "ne": "nepali",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "es": "spanish",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
KEPT_STEMS = 65_536  # words of a language whose stems are kept
# Languages without a stemmer of their own that would otherwise be taken for one that has.
UNSTEMMED = ("bg", "he", "hr", "is", "ja", "ko", "lv", "mk", "sk", "sl", "th", "uk", "vi", "zh")
EVERY = (*STEMMERS, *UNSTEMMED)
MAX_LETTERS = 1000  # of a text that its language is identified by
MIN_FUNCTION_WORDS = 0.15  # share of English function words above which no other language is tried
FUNCTION_WORDS = frozenset(
    """about and are because been but by can could did does for from had has have how if into is it
    its not of or our should than that the their them then there these they this those to was we
    were what when where which while who why will with would you your""".split()  # noqa: SIM905 (a list of words is read as a text)
)


def identify_language(text: str, languages: Sequence[str] | None = None) -> str:
    """Return the language that a text is in, as its ISO 639-1 code.

    Args:
        text: The text; its first 1000 letters are looked at.
        languages: The codes to choose from, of which "" is never chosen while there are others;
            None for all languages with a stemmer and some others. Where English is among them, a
            text of many English function words is English.

    Returns:
        The code; "" where the text has no letters, or is in a language that is not stemmed.

    Example:
        >>> identify_language("Wann fährt die erste Fähre nach Norden?")
        'de'
        >>> identify_language("Where is it?", ["de", "fr"]), identify_language("42")
        ('de', '')
    """
    return identify_each([text], languages)[0]


def identify_each(
    texts: Iterable[str],
    languages: Sequence[str] | None = None,
    likeliest: Callable[[str, tuple[str, ...]], str] | None = None,
    prepare: Callable[[Sequence[str]], object] | None = None,
) -> list[str]:
    """Return what `identify_language` returns of each text.

    Args:
        texts: The texts.
        languages: As there.
        likeliest: Returns the likeliest language of a text among some; None for
            `likeliest_language`.
        prepare: Called before that with all texts that it may be asked of; None for nothing.

    Example:
        >>> identify_each(["Wann fährt die erste Fähre nach Norden?", "42"])
        ['de', '']
    """
    samples = [text[:MAX_LETTERS] for text in texts]
    among = EVERY if languages is None else tuple(filter(None, languages))
    is_english = [False] * len(samples)
    if "en" in among and len(among) > 1:
        is_english = _are_english(samples)
    if prepare is not None and len(among) > 1:
        doubtful = [one for one, shows in zip(samples, is_english, strict=True) if not shows]
        prepare([one for one in doubtful if (one, among) not in IDENTIFIED])
    return [
        "en" if shows else _identified(sample, among, likeliest or likeliest_language)
        for sample, shows in zip(samples, is_english, strict=True)
    ]


def _identified(
    sample: str, among: tuple[str, ...], likeliest: Callable[[str, tuple[str, ...]], str]
) -> str:
    if not any(map(str.isalpha, sample)):
        return ""
    if len(among) < 2:
        return "".join(among)
    if (known := IDENTIFIED.get((sample, among))) is not None:
        return known
    language = likeliest(sample, among)
    return IDENTIFIED.put((sample, among), language if language in STEMMERS else "")


def likeliest_language(text: str, among: tuple[str, ...]) -> str:
    """Return the likeliest language of a text, with or without a stemmer.

    Args:
        text: The text.
        among: The codes to choose from.

    Example:
        >>> likeliest_language("Wann fährt die erste Fähre?", ("sv", "de"))
        'de'
    """
    ranked = language_identifier().rank(text)
    return next(str(code) for code, _ in ranked if code in among)


def stem_words(unstemmed: Iterable[str], language: str) -> list[str]:
    """Return the stems of words; the words themselves in a language without a stemmer.

    British words have the stems of American ones; see `clew.text.spelling`.

    Args:
        unstemmed: The words, casefolded.
        language: An ISO 639-1 code, or "".

    Example:
        >>> stem_words(["ferries", "harbours"], "en"), stem_words(["ferries"], "")
        (['ferri', 'harbor'], ['ferries'])
    """
    listed = list(unstemmed)
    if language not in STEMMERS:
        return listed
    kept = _kept_stems(language)
    stems = list(map(kept.get, listed))
    if not all(stems):  # which shows quicker than whether None is among them
        missing = [i for i, known in enumerate(stems) if known is None]
        new = [listed[i] for i in missing]
        made = _stemmed(in_one_spelling(new) if language == "en" else new, language)
        kept.put_all(new, made)
        for i, stem in zip(missing, made, strict=True):
            stems[i] = stem
    return cast("list[str]", stems)


def stems_in_each(unstemmed: Sequence[str], languages: Iterable[str]) -> list[tuple[str, ...]]:
    """Return the stems of each word in each of some languages.

    Behind them stands the stem of an English word as it is spelt: an index that was saved before
    there was one spelling for all has that of a British word.

    Args:
        unstemmed: The words, casefolded.
        languages: ISO 639-1 codes, or "".

    Example:
        >>> stems_in_each(["ferries", "harbour"], ["fr", "en"])
        [('ferr', 'ferri', 'ferri'), ('harbour', 'harbor', 'harbour')]
    """
    names = list(languages)
    stems = [stem_words(unstemmed, one) for one in names]
    if "en" in names:
        stems.append(_stemmed(unstemmed, "en"))
    return list(zip(*stems, strict=True))


def _stemmed(unstemmed: Sequence[str], language: str) -> list[str]:
    import Stemmer

    # An object of the library is for one thread; a new one takes microseconds.
    stems: list[str] = Stemmer.Stemmer(STEMMERS[language], 0).stemWords(list(unstemmed))
    return stems


@lru_cache(maxsize=32)
def _kept_stems(language: str) -> Kept[str, str]:  # noqa: ARG001  # the key
    """Return the stems that all questions of this process share."""
    return Kept(KEPT_STEMS)


# A text that is among the candidates of one question is soon among others.
IDENTIFIED = Kept[tuple[str, tuple[str, ...]], str](2048)


ENGLISH = Kept[str, bool](2048)  # whether a text shows that it is English; as above


def _are_english(texts: Sequence[str]) -> list[bool]:
    """Whether enough of the words are English function words; quicker than the identifier."""
    found = list(map(ENGLISH.get, texts))
    missing = [i for i, known in enumerate(found) if known is None]
    if len(missing) == 1:
        found_words: list[Sequence[str]] = [words(texts[missing[0]])]
    else:
        found_words = words_of_all([texts[i] for i in missing])
    for i, own in zip(missing, found_words, strict=True):
        n_function_words = sum(map(FUNCTION_WORDS.__contains__, own))
        is_english = len(own) > 4 and n_function_words > MIN_FUNCTION_WORDS * len(own)
        found[i] = ENGLISH.put(texts[i], is_english)
    return list(map(bool, found))


@lru_cache(maxsize=1)
def language_identifier() -> LanguageIdentifier:
    """Return the library's identifier, that of this process; loading it takes half a second."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE)
