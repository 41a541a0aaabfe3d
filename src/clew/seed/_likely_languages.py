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
from clew.graph import freeze
from clew.text.stems import identify_each, language_identifier


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
    return identify_each(texts, languages, find_likeliest)


def find_likeliest(text: str, among: tuple[str, ...]) -> str:
    """Return the likeliest language of a text; as `clew.text.stems.likeliest_language` does.

    Args:
        text: The text.
        among: The codes to choose from.

    Example:
        >>> find_likeliest("Wann fährt die erste Fähre?", ("sv", "de"))
        'de'
    """
    letters = unicodedata.normalize("NFC", text.lower() if text.isupper() else text)
    encoded = np.frombuffer(letters.encode("utf-8", "surrogatepass"), np.uint8)
    found = found_by_automaton(*_automaton(), encoded)
    choice = _choice_among(among)
    if not len(found):
        return choice.codes[0]
    found.sort()
    is_first = np.append(True, found[1:] != found[:-1])
    counts = np.diff(np.append(np.flatnonzero(is_first), len(found))).astype(np.float32)
    features = found[is_first]
    weights = choice.weights.take(features, axis=0).astype(np.float32)
    return choice.codes[int((np.log1p(counts) @ weights + choice.priors).argmax())]


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


@lru_cache(maxsize=1)
def _automaton() -> tuple[NDArray[np.uint16], NDArray[np.uint32], NDArray[np.int32]]:
    """Return the automaton of the library's model, as `found_by_automaton` takes it."""
    model = language_identifier()
    return (  # frozen: as plain Python, a loop keeps a copy of every array that it may change
        freeze(model.tk_row, np.uint16),
        freeze(model.tk_nextmove, np.uint32),
        freeze(model.tk_output, np.int32),
    )


@lru_cache(maxsize=4)  # 9 MB for all languages
def _choice_among(among: tuple[str, ...]) -> _Choice:
    model = language_identifier()
    chosen = [i for i, code in enumerate(model.nb_classes) if code in among]
    weights = np.ascontiguousarray(model.nb_ptc[:, chosen], np.float16)
    return _Choice(tuple(model.nb_classes[i] for i in chosen), weights, model.nb_pc[chosen])
