"""Static vectors of the pieces that words consist of, from the package WordLlama.

They are 32,000 pieces of a byte-pair encoding with 256 dimensions, distilled from the embeddings of
language models (Miller, https://github.com/dleemiller/WordLlama, MIT licence). The package carries
them: nothing is downloaded. Only its files are read; importing it takes most of a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from clew.graph import Vectors, freeze

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PACKAGE = "wordllama"
WEIGHTS = "weights/l2_supercat_256.safetensors"
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
PIECES, DIMENSIONS = 32_000, 256
MAX_KEPT = 200_000  # words whose pieces are kept, some 40 MB
TOGETHER = 4096  # words whose pieces are read at once


class MissingVectorsError(ImportError):
    """The package, or its weights, are not installed."""


@lru_cache(maxsize=1)
def piece_vectors() -> Vectors:
    """Return the vector of every piece: float32 [32000, 256].

    Raises:
        MissingVectorsError: the package, or its weights, are not there.

    Example:
        >>> piece_vectors().shape
        (32000, 256)
    """
    from safetensors.numpy import load_file

    (vectors,) = load_file(_file(WEIGHTS)).values()
    if vectors.shape != (PIECES, DIMENSIONS):
        raise MissingVectorsError(
            f"the weights of {PACKAGE} have shape {vectors.shape}, not ({PIECES}, {DIMENSIONS}): "
            f"install {PACKAGE}>=0.4,<0.5"
        )
    return freeze(vectors, np.float32)


class PieceNumbers(dict[str, tuple[int, ...]]):
    """The pieces of each word, as rows of `piece_vectors`, computed when a word is first asked for.

    Case counts: names are other pieces than common words.

    Example:
        >>> numbers = PieceNumbers()
        >>> numbers["ferry"] == numbers["ferry"], numbers["ferry"] == numbers["Ferry"]
        (True, False)
    """

    def __missing__(self, word: str) -> tuple[int, ...]:
        pieces = tuple(_tokenizer().encode(word, add_special_tokens=False).ids)
        if len(self) < MAX_KEPT:
            self[word] = pieces
        return pieces

    def of_all(self, words: Sequence[str]) -> list[tuple[int, ...]]:
        """Return the pieces of words; those that are new are read together, in a third of the time.

        Example:
            >>> numbers = PieceNumbers()
            >>> numbers.of_all(["ferry", "Corfu"]) == [numbers["ferry"], PieceNumbers()["Corfu"]]
            True
        """
        found = list(map(self.get, words))
        new = [place for place, pieces in enumerate(found) if pieces is None]
        for first in range(0, len(new), TOGETHER):
            places = new[first : first + TOGETHER]
            some = [words[place] for place in places]
            read = _tokenizer().encode(some, is_pretokenized=True, add_special_tokens=False)
            pieces_of: list[list[int]] = [[] for _ in some]
            owners = cast("list[int]", read.word_ids)  # none is a special token
            for piece, owner in zip(read.ids, owners, strict=True):
                pieces_of[owner].append(piece)
            for place, word, pieces in zip(places, some, map(tuple, pieces_of), strict=True):
                found[place] = pieces
                if len(self) < MAX_KEPT:
                    self[word] = pieces
        return cast("list[tuple[int, ...]]", found)


@lru_cache(maxsize=1)
def piece_numbers() -> PieceNumbers:
    """Return the pieces of words that all embedders of this process share.

    Example:
        >>> piece_numbers() is piece_numbers()
        True
    """
    return PieceNumbers()


@lru_cache(maxsize=1)
def _tokenizer() -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(_file(TOKENIZER))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def load() -> None:
    """Load the vectors and what finds the pieces of words, before they are needed."""
    piece_vectors()
    load_pieces()


def load_pieces() -> None:
    """Load what finds the pieces of words, before it is needed."""
    _tokenizer()


def _file(name: str) -> str:
    """The path of a file of the package, without importing it."""
    spec = find_spec(PACKAGE)
    folders = [Path(folder) for folder in (spec and spec.submodule_search_locations) or ()]
    for folder in folders:
        if (folder / name).is_file():
            return str(folder / name)
    raise MissingVectorsError(
        f"{PACKAGE}/{name} is missing: install {PACKAGE}>=0.4,<0.5, which carries it, or give an "
        "embedder"
    )
