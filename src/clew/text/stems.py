"""The stems of words, language by language, and the language that a text is in.

Stems are Snowball's (Porter 2001), by the library PyStemmer. A language is identified from the
sequences of letters in a text, by the library py3langid (Lui and Baldwin 2012).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from clew.text.kept import Kept
from clew.text.words import words

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
            None for all languages with a stemmer and some others.

    Returns:
        The code; "" where the text has no letters, or is in a language that is not stemmed.

    Example:
        >>> identify_language("Wann fährt die erste Fähre nach Norden?")
        'de'
        >>> identify_language("Where is it?", ["de", "fr"]), identify_language("42")
        ('de', '')
    """
    sample = text[:MAX_LETTERS]
    if not any(letter.isalpha() for letter in sample):
        return ""
    if languages is None:
        if _is_english(sample):
            return "en"
        languages = (*STEMMERS, *UNSTEMMED)
    among = tuple(language for language in languages if language)
    if len(among) < 2:
        return "".join(among)
    return _identify_among(sample, among)


@lru_cache(2048)  # a text that is among the candidates of one question is soon among others
def _identify_among(sample: str, among: tuple[str, ...]) -> str:
    language = next(code for code, _ in _identifier().rank(sample) if code in among)
    return language if language in STEMMERS else ""


def stem_words(unstemmed: Iterable[str], language: str) -> list[str]:
    """Return the stems of words; the words themselves in a language without a stemmer.

    Args:
        unstemmed: The words, casefolded.
        language: An ISO 639-1 code, or "".

    Example:
        >>> stem_words(["ferries", "berthing"], "en"), stem_words(["ferries"], "")
        (['ferri', 'berth'], ['ferries'])
    """
    return list(map(make_stemmer(language), unstemmed))


def make_stemmer(language: str) -> Callable[[str], str]:
    """Return the function word -> stem, for one thread; without a stemmer, the word itself.

    Args:
        language: An ISO 639-1 code, or "".

    Example:
        >>> make_stemmer("en")("ferries")
        'ferri'
    """
    if language not in STEMMERS:
        return str
    import Stemmer

    # An object of the library is for one thread; a new one takes microseconds.
    stem: Callable[[str], str] = Stemmer.Stemmer(STEMMERS[language], 0).stemWord
    kept = _kept_stems(language)

    def kept_stem(word: str) -> str:
        known = kept.get(word)
        return kept.put(word, stem(word)) if known is None else known

    return kept_stem


@lru_cache(maxsize=32)
def _kept_stems(language: str) -> Kept[str, str]:  # noqa: ARG001  # the key
    """Return the stems that all questions of this process share."""
    return Kept(KEPT_STEMS)


@lru_cache(2048)  # as above
def _is_english(text: str) -> bool:
    """Whether enough of the words are English function words; quicker than the identifier."""
    found = words(text)
    n_function_words = sum(map(FUNCTION_WORDS.__contains__, found))
    return len(found) > 4 and n_function_words > MIN_FUNCTION_WORDS * len(found)


@lru_cache(maxsize=1)
def _identifier() -> LanguageIdentifier:
    """The library's identifier; loading it takes half a second."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE)
