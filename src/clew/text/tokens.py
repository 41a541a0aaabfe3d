"""Token counters: clew's own estimate, a tiktoken encoding, or the caller's tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Sized
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Protocol, SupportsInt, cast

from clew.text.estimate import cumulative_estimate, estimate_each, estimate_tokens
from clew.text.kept import MAX_KEPT_TEXT, Kept

if TYPE_CHECKING:
    import tiktoken

__all__ = [
    "ESTIMATE_NAME",
    "CounterSource",
    "Tiktoken",
    "Tokenizer",
    "counter_name",
    "estimate_tokens",
    "make_counter",
    "span_counter",
]

ESTIMATE_NAME = "clew-words-1"  # the name of `estimate_tokens` in a saved index
MAX_KEPT_TEXTS = 2_048  # that are counted together, and whose estimates are kept
MAX_NAME = 200  # letters of a text of which there may be many, such as names
NAME_ESTIMATES = Kept[str, int](32_768)
ESTIMATES = Kept[str, int](2_048)  # of longer texts


class HasEncode(Protocol):
    """A tokenizer object, such as one of tiktoken or of Hugging Face."""

    def encode(self, text: str, /) -> Sized | SupportsInt:
        """Return the tokens of the text."""
        ...


CounterSource = str | HasEncode | Callable[[str], Sized | SupportsInt] | None


@dataclass(frozen=True)
class Tiktoken:
    """A tiktoken encoding as a counter. It is loaded when it is used, so it can be pickled.

    Attributes:
        name: the name of the encoding, such as "cl100k_base".
    """

    name: str

    def __call__(self, text: str) -> int:
        return len(_encoding(self.name).encode(text, disallowed_special=()))


@dataclass(frozen=True)
class Tokenizer:
    """The caller's tokenizer as a counter.

    Attributes:
        source: a function that returns a number or a list of tokens.

    Example:
        >>> Tokenizer(str.split)("two words")
        2
    """

    source: Callable[[str], Sized | SupportsInt]

    def __call__(self, text: str) -> int:
        tokens = self.source(text)
        if type(tokens) is int:
            return tokens
        return len(tokens) if type(tokens) is list else _number_of(tokens)


def _number_of(tokens: object) -> int:
    """Return the number that a tokenizer returns, or how many tokens it lists.

    Raises:
        TypeError: It is neither. A mapping would count by its keys, an array of rows by these.
    """
    dimensions = getattr(tokens, "ndim", 1)
    if isinstance(tokens, Sized) and not isinstance(tokens, (str, Mapping)):
        if dimensions == 1:
            return len(tokens)
    elif isinstance(tokens, SupportsInt):
        return int(tokens)
    if dimensions == 0:
        return int(cast("SupportsInt", tokens))
    many = f" of {dimensions} dimensions" if dimensions > 1 else ""
    raise TypeError(
        "a tokenizer returns the number of tokens of a text, or a list of them; "
        f"got a {type(tokens).__name__}{many}"
    )


def make_counter(source: object, *, fetch: bool = True) -> Callable[[str], int]:
    """Return a function text -> number of tokens.

    Args:
        source: None for clew's own estimate; the name of a tiktoken encoding, such as
            "cl100k_base"; a function that returns a number or a list of tokens; or a tokenizer with
            `encode`.
        fetch: whether a table that is not on this machine may be fetched from the network.

    Raises:
        TypeError: none of these came.
        ValueError: no encoding has this name, or its table is not here and must not be fetched.
        ImportError: a name came and tiktoken is not installed.

    Example:
        >>> make_counter(None)("Anna knows Ben.")
        4
        >>> make_counter(len)("Anna")
        4
    """
    if source is None or source is estimate_tokens or source == ESTIMATE_NAME:
        return estimate_tokens
    if isinstance(source, (Tiktoken, Tokenizer)):
        return source
    if isinstance(source, str):
        if fetch:
            _encoding(source)
        else:
            _encoding_on_this_machine(source)
        return Tiktoken(source)
    if isinstance(source, type) and hasattr(source, "encode"):
        name = source.__name__
        raise TypeError(f"the tokenizer is the class {name}; give an object of it, as {name}(...)")
    if hasattr(source, "encode"):
        return Tokenizer(source.encode)
    if callable(source):
        return Tokenizer(source)
    raise TypeError(
        f"cannot count tokens with a {type(source).__name__}: "
        "wanted a function text -> number, a tokenizer or a tiktoken name"
    )


def counter_name(count: Callable[[str], int]) -> str:
    """Return the name by which a counter is recorded in a saved index.

    Example:
        >>> counter_name(estimate_tokens), counter_name(make_counter(len))
        ('clew-words-1', 'builtins.len')
    """
    if count is estimate_tokens:
        return ESTIMATE_NAME
    if isinstance(count, Tiktoken):
        return count.name
    source = count.source if isinstance(count, Tokenizer) else count
    name = getattr(source, "__qualname__", type(source).__qualname__)
    return f"{getattr(source, '__module__', '')}.{name}"


def count_each(texts: Sequence[str], count: Callable[[str], int]) -> list[int]:
    """Return the number of tokens of every text.

    Example:
        >>> count_each(["one two", "three"], estimate_tokens)
        [2, 1]
    """
    if count is not estimate_tokens:
        return [count(text) for text in texts]
    return _kept_estimates(texts) if len(texts) <= MAX_KEPT_TEXTS else estimate_each(texts)


def count_listed(texts: Sequence[str], count: Callable[[str], int]) -> list[int]:
    r"""Return the number of tokens of every text as an entry of a list, "- ...\n".

    Example:
        >>> count_listed(["one two", "three"], estimate_tokens)
        [3, 2]
    """
    if count is not estimate_tokens:
        return [count(f"- {text}\n") for text in texts]
    return [1 + tokens for tokens in count_each(texts, count)]  # between spaces all adds up


def _kept_estimates(texts: Sequence[str]) -> list[int]:
    """Return what `estimate_each` returns, of few texts, which soon come again."""
    found = list(map(NAME_ESTIMATES.get, texts))  # most are names
    unnamed = [i for i, known in enumerate(found) if known is None]
    for i in unnamed:
        found[i] = ESTIMATES.get(texts[i])
    missing = [i for i in unnamed if found[i] is None]
    if missing:
        new = [texts[i] for i in missing]
        estimates = estimate_each(new)
        for i, estimate in zip(missing, estimates, strict=True):
            found[i] = estimate
        sizes = list(map(len, new))
        for kept, least, most in (
            (NAME_ESTIMATES, 0, MAX_NAME),
            (ESTIMATES, MAX_NAME + 1, MAX_KEPT_TEXT),
        ):
            chosen = [least <= size <= most for size in sizes]
            kept.put_all(compress(new, chosen), compress(estimates, chosen))
    return cast("list[int]", found)


def span_counter(text: str, count: Callable[[str], int]) -> Callable[[int, int], int]:
    """Return a function (start, end) -> number of tokens of `text[start:end]`.

    With clew's estimate, the whole text is counted once and a span is a difference of two sums. Any
    other counter is called once per span.

    Example:
        >>> span_counter("one two three", estimate_tokens)(4, 13)
        2
    """
    counted: dict[tuple[int, int], int] = {}
    sums: Sequence[int] = ()
    inside: bytes | None = None
    if count is estimate_tokens:
        arrays = cumulative_estimate(text)
        # Single places of these are looked up in a third of the time.
        sums, inside = memoryview(arrays[0].data), arrays[1].tobytes()

    def tokens(start: int, end: int) -> int:
        if inside is not None and not (inside[start] or inside[end]):
            return sums[end] - sums[start]
        if (start, end) not in counted:
            counted[start, end] = count(text[start:end])
        return counted[start, end]

    return tokens


def _encoding(name: str) -> tiktoken.Encoding:
    try:
        import tiktoken
    except ImportError as error:
        raise ImportError(
            f"counting with {name!r} needs tiktoken: pip install tiktoken; "
            "or give count= a function"
        ) from error
    return tiktoken.get_encoding(name)


_IS_OFFLINE: ContextVar[bool] = ContextVar("is_offline", default=False)


def _encoding_on_this_machine(name: str) -> None:
    """Load an encoding without the network.

    Raises:
        ValueError: no encoding has this name, or its table is not on this machine.
    """
    try:
        import tiktoken.load
    except ImportError:
        _encoding(name)  # says what to install
    if tiktoken.load.read_file is not _read_file_unless_offline:
        _READ_FILE.append(tiktoken.load.read_file)
        tiktoken.load.read_file = _read_file_unless_offline
    token = _IS_OFFLINE.set(True)
    try:
        _encoding(name)
    except _OfflineError as error:
        raise ValueError(
            f"tokens are counted with tiktoken's {name!r}, whose table is not on this machine, and "
            f"nothing is fetched unasked: fetch it first, as tiktoken.get_encoding({name!r}) does"
        ) from error
    finally:
        _IS_OFFLINE.reset(token)


class _OfflineError(Exception):
    """A table would have to be fetched."""


_READ_FILE: list[Callable[[str], bytes]] = []


def _read_file_unless_offline(blobpath: str) -> bytes:
    """Stand in for tiktoken's own function, which it calls for a table that is not in its cache.

    Only the thread that wants no network is refused it.
    """
    if _IS_OFFLINE.get() and "://" in blobpath:
        raise _OfflineError(blobpath)
    return _READ_FILE[-1](blobpath)
