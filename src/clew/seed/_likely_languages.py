"""The languages of many texts at once, as the identifier of `clew.text.stems` finds that of each.

The identifier is a multinomial naive Bayes classifier over sequences of bytes, which an automaton
finds (Lui and Baldwin 2012). The library walks through a text byte by byte in Python; here the walk
is a compiled loop, and no other languages are scored than those to choose from.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.kernels.automaton import found_by_automaton
from clew.graph import offsets_of
from clew.seed._identifier_model import identifier_model
from clew.text.function_words import function_words_of
from clew.text.kept import Kept
from clew.text.stems import FUNCTION_WORDS, identify_each


def identify_languages_of(
    texts: Sequence[str], languages: Sequence[str] | None = None
) -> list[str]:
    """Return what `clew.text.stems.identify_language` returns of each text.

    Args:
        texts: The texts.
        languages: As there.

    Example:
        >>> identify_languages_of(["Wann fährt die erste Fähre nach Norden?", "42"])
        ['de', '']
    """
    return identify_each(texts, languages, find_likeliest, _find_features)


def likely_language(text: str, languages: Sequence[str] | None = None) -> str:
    """Return what `clew.text.stems.identify_language` returns, by a model that is read at once.

    Args:
        text: The text.
        languages: As there.

    Example:
        >>> likely_language("Wann fährt die erste Fähre nach Norden?", ["en", "de"])
        'de'
    """
    return identify_languages_of([text], languages)[0]


def function_words_in(question: str, languages: Sequence[str]) -> frozenset[str]:
    """Return the function words of a question's own language, without those of English.

    Args:
        question: The text of the question.
        languages: Those of the corpus, of which the question has one, or else is in English.

    Example:
        >>> sorted(function_words_in("Wie finde ich was?", ["de"]) & {"ich", "was", "wie"})
        ['ich', 'wie']
        >>> function_words_in("How do I find the way?", ["de"])
        frozenset()
    """
    own = likely_language(question, [*dict.fromkeys([*languages, "en"])])
    return function_words_of(own) - FUNCTION_WORDS


def find_likeliest(text: str, among: tuple[str, ...]) -> str:
    """Return the likeliest language of a text; as `clew.text.stems.likeliest_language` does.

    Args:
        text: The text.
        among: The codes to choose from.

    Example:
        >>> find_likeliest("Wann fährt die erste Fähre?", ("sv", "de"))
        'de'
    """
    found = _features(text)
    choice = _choice_among(among)
    if not len(found.features):
        return choice.codes[0]
    weights = choice.weights.take(found.features, axis=0).astype(np.float32)
    return choice.codes[int((found.counts @ weights + choice.priors).argmax())]


class _Features(NamedTuple):
    """What the library's model looks at in a text.

    Attributes:
        features: int32 [m], what is found in it, each once, ascending.
        counts: float32 [m], the logarithm of one more than how often each comes.
    """

    features: NDArray[np.int32]
    counts: NDArray[np.float32]


MAX_FEATURES = 256
FEATURES = Kept[str, _Features](MAX_FEATURES)
"""A text is often looked at twice: among all languages, and among those of its corpus."""


def _features(text: str) -> _Features:
    known = FEATURES.get(text)
    return _features_of_each([text])[0] if known is None else known


def _find_features(texts: Sequence[str]) -> None:
    """Find the features of texts together, before `find_likeliest` looks for those of each."""
    if missing := [text for text in dict.fromkeys(texts) if text not in FEATURES]:
        _features_of_each(missing[:MAX_FEATURES])


def _features_of_each(texts: Sequence[str]) -> list[_Features]:
    """Return the features of texts, which are kept."""
    every = [
        unicodedata.normalize("NFC", text.lower() if text.isupper() else text).encode(
            "utf-8", "surrogatepass"
        )
        for text in texts
    ]
    model, starts = identifier_model(), offsets_of(list(map(len, every)))
    letters = np.frombuffer(b"".join(every), np.uint8)
    found, counts = found_by_automaton(model.blocks, model.moves, model.outputs, letters, starts)
    bounds = zip(starts[:-1].tolist(), counts.tolist(), strict=True)
    return [
        FEATURES.put(text, _counted(found[start : start + n]))
        for text, (start, n) in zip(texts, bounds, strict=True)
    ]


def _counted(found: NDArray[np.int32]) -> _Features:
    """Return the features of a text as they come in it, of which some come several times."""
    if not len(found):
        return _Features(found, np.zeros(0, np.float32))
    found = np.sort(found)
    is_last = np.ones(len(found), np.bool_)
    np.not_equal(found[1:], found[:-1], out=is_last[:-1])
    ends = np.flatnonzero(is_last)
    counts = ends.astype(np.float32)
    counts[0] += 1
    counts[1:] -= ends[:-1]
    return _Features(found[ends], np.log1p(counts))


class _Choice(NamedTuple):
    """What the library's model knows of some languages.

    Attributes:
        codes: The language of each class; one that is written in two scripts has two.
        weights: float16 [features, classes].
        priors: float32 [classes].
    """

    codes: tuple[str, ...]
    weights: NDArray[np.float16]
    priors: NDArray[np.float32]


@lru_cache(maxsize=32)  # the languages of candidates differ from question to question
def _choice_among(among: tuple[str, ...]) -> _Choice:
    model = identifier_model()
    every = model.codes.tolist()
    chosen = [i for i, code in enumerate(every) if code in among]
    weights = np.ascontiguousarray(model.weights[:, chosen])
    return _Choice(tuple(every[i] for i in chosen), weights, model.priors[chosen])
