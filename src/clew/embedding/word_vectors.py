"""Static vectors of the pieces that words consist of, from the package WordLlama.

They are 32,000 pieces of a byte-pair encoding with 256 dimensions, distilled from the embeddings of
language models (Miller, https://github.com/dleemiller/WordLlama, MIT licence). The package carries
them: nothing is downloaded. Only its files are read; importing it takes most of a second.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clew.embedding.few_pieces import FewPieces
from clew.graph import Vectors, freeze

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PACKAGE = "wordllama"
WEIGHTS = "weights/l2_supercat_256.safetensors"
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
PIECES, DIMENSIONS = 32_000, 256
MAX_HEADER = 1 << 16  # bytes of the file of vectors before them
MAX_KEPT = 200_000  # words whose pieces are kept, some 40 MB
MAX_FEW = 512  # words whose pieces are found before the library that finds those of many is loaded
WORD_BEGIN = "\u2581"  # in the place of the space before a word


class MissingVectorsError(ImportError):
    """The package, or its weights, are not installed."""


@lru_cache(maxsize=1)
def stored_vectors() -> NDArray[np.floating]:
    """Return the vector of every piece as the package has them: float16 [32000, 256].

    A build needs some thousands of them and a question a few, so they are widened when they are
    used.

    Raises:
        MissingVectorsError: the package, or its weights, are not there.

    Example:
        >>> stored_vectors().shape
        (32000, 256)
    """
    file = _file(WEIGHTS)
    mapped = _mapped(file)
    if mapped is not None:
        return mapped
    from safetensors.numpy import load_file

    (vectors,) = load_file(file).values()
    if vectors.shape != (PIECES, DIMENSIONS):
        raise MissingVectorsError(
            f"the weights of {PACKAGE} have shape {vectors.shape}, not ({PIECES}, {DIMENSIONS}): "
            f"install {PACKAGE}>=0.4,<0.5"
        )
    vectors.setflags(write=False)
    return vectors


def _mapped(file: str) -> NDArray[np.float16] | None:
    """Return the vectors as a file of the format Safetensors has them; None for any other table.

    A question reads some of them, and copying all takes a fiftieth of the time until its answer.
    """
    with Path(file).open("rb") as stream:
        size = int.from_bytes(stream.read(8), "little")
        header = stream.read(min(size, MAX_HEADER))
        begin, end = stream.tell(), stream.seek(0, os.SEEK_END)
    if end - begin != 2 * PIECES * DIMENSIONS:
        return None
    (tensor,) = (one for name, one in json.loads(header).items() if name != "__metadata__")
    if tensor["dtype"] != "F16" or tensor["shape"] != [PIECES, DIMENSIONS]:
        return None
    return np.memmap(file, "<f2", "r", begin, (PIECES, DIMENSIONS)).view(np.ndarray)


@lru_cache(maxsize=1)
def piece_vectors() -> Vectors:
    """Return the vector of every piece, for what goes through all of them: float32 [32000, 256].

    Raises:
        MissingVectorsError: the package, or its weights, are not there.

    Example:
        >>> piece_vectors().shape
        (32000, 256)
    """
    return freeze(stored_vectors(), np.float32)


class PieceNumbers(dict[str, tuple[int, ...]]):
    """The pieces of each word, as rows of `piece_vectors`, computed when a word is first asked for.

    Case counts: names are other pieces than common words.

    Example:
        >>> numbers = PieceNumbers()
        >>> numbers["ferry"] == numbers["ferry"], numbers["ferry"] == numbers["Ferry"]
        (True, False)
    """

    def __missing__(self, word: str) -> tuple[int, ...]:
        pieces = _few_pieces_of(word) if len(self) < MAX_FEW else None
        if pieces is None:
            pieces = _pieces_of(word)
        if len(self) < MAX_KEPT:
            self[word] = pieces
        return pieces

    def of_all(self, words: Sequence[str]) -> list[tuple[int, ...]]:
        """Return the pieces of words.

        Example:
            >>> numbers = PieceNumbers()
            >>> numbers.of_all(["ferry", "Corfu"]) == [numbers["ferry"], PieceNumbers()["Corfu"]]
            True
        """
        return list(map(self.__getitem__, words))


def _few_pieces_of(word: str) -> tuple[int, ...] | None:
    """Return the pieces of a word, as a question has few; None where the library tells them."""
    if _tokenizer.cache_info().currsize:
        return None
    few = _few_pieces()
    return few.of(f"{WORD_BEGIN}{word}") if few is not None and few.takes(word) else None


def _pieces_of(word: str) -> tuple[int, ...]:
    """Return the pieces of a word.

    Of letters and digits the encoding itself tells them, in half the time. What else the tokenizer
    does is to write what begins a word in front of it, and to find its own marks, such as "<s>".
    """
    if word.isalnum():
        return tuple([piece.id for piece in _encoding().tokenize(f"{WORD_BEGIN}{word}")])
    return tuple(_tokenizer().encode(word, add_special_tokens=False).ids)


@lru_cache(maxsize=1)
def piece_numbers() -> PieceNumbers:
    """Return the pieces of words that all embedders of this process share.

    Example:
        >>> piece_numbers() is piece_numbers()
        True
    """
    return PieceNumbers()


@lru_cache(maxsize=1)
def _few_pieces() -> FewPieces | None:
    return FewPieces.of_file(_file(TOKENIZER))


@lru_cache(maxsize=1)
def _tokenizer() -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(_file(TOKENIZER))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    _few_pieces.cache_clear()  # from now on nobody asks them
    return tokenizer


@lru_cache(maxsize=1)
def _encoding() -> Any:  # noqa: ANN401  # of a package whose models have no types
    return _tokenizer().model


def load() -> None:
    """Load the vectors and what finds the pieces of words, before they are needed."""
    stored_vectors()
    load_pieces()


def load_pieces() -> None:
    """Load what finds the pieces of words, before it is needed."""
    _encoding()


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
