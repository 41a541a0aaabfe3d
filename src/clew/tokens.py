"""The tokenizer that budgets are counted with: clew's own estimate, one of tiktoken's by name, or the caller's."""

from __future__ import annotations

from collections.abc import Callable, Sized
from dataclasses import dataclass
from typing import Any

from clew.graph import count_words

OWN = "clew-words-1"


@dataclass(frozen=True)
class Tiktoken:
    """A tiktoken encoding as a counter; it is loaded at the first use, so that the counter can be pickled."""

    name: str

    def __call__(self, text: str) -> int:
        return len(_encoding(self.name).encode(text, disallowed_special=()))


@dataclass(frozen=True)
class Tokenizer:
    """The caller's tokenizer as a counter: its answer's size where that is a list of tokens, or the number itself."""

    source: Any

    def __call__(self, text: str) -> int:
        answer = self.source(text) if callable(self.source) else self.source.encode(text)
        return len(answer) if isinstance(answer, Sized) else int(answer)


def counter(source: Any) -> Callable[[str], int]:
    """Return a function text -> number of tokens.

    Args:
        source: None for clew's own estimate; the name of a tiktoken encoding, such as "cl100k_base"; a function that returns a number or
            a list of tokens; or a tokenizer with `encode`.
    """
    if source is None or source is count_words or source == OWN:
        return count_words
    if isinstance(source, (Tiktoken, Tokenizer)):
        return source
    if isinstance(source, str):
        _encoding(source)
        return Tiktoken(source)
    if hasattr(source, "encode") and not isinstance(source, type):
        return Tokenizer(source.encode)
    if callable(source):
        return Tokenizer(source)
    raise TypeError(f"cannot count tokens with a {type(source).__name__}: wanted a function text -> number, a tokenizer or a tiktoken name")


def name_of(count: Callable[[str], int]) -> str:
    """Return the name by which a counter is recorded in a saved index."""
    if count is count_words:
        return OWN
    if isinstance(count, Tiktoken):
        return count.name
    source = count.source if isinstance(count, Tokenizer) else count
    return f"{getattr(source, '__module__', '')}.{getattr(source, '__qualname__', type(source).__qualname__)}"


def _encoding(name: str) -> Any:
    try:
        import tiktoken
    except ImportError as error:
        raise ImportError(f"counting with {name!r} needs tiktoken: pip install tiktoken; or give count= a function") from error
    return tiktoken.get_encoding(name)
