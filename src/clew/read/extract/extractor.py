"""An extractor reads facts in passages.

One that looks at each text by itself is a plain function. One that needs all passages has a method
`triples`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Protocol, cast

from clew.graph import EMPTY

Triple = tuple[str, str, str]
NOT_READ = "it was not read before, and a filter or a deletion asks no language model"


@dataclass(frozen=True)
class Passage:
    """What an extractor reads.

    Attributes:
        id: The id of the passage.
        text: Its text.
        title: The title that it is under, or "".
        document: The id of the document that it is in, or "" where there is none around it.
        start: Where it begins in the text of that document.
        format: The name of the format that it is written in, such as "text" or "python".
        metadata: The metadata of its document.
        whole: The text of that document, or "" where it is not known as a whole.
    """

    id: str
    text: str
    title: str = ""
    document: str = ""
    start: int = 0
    format: str = "text"
    metadata: Mapping[str, Any] = field(default_factory=lambda: EMPTY, compare=False)
    whole: str = field(default="", compare=False, repr=False)

    @property
    def key(self) -> str:
        """A hash of title and text, by which the facts of the passage are kept."""
        content = f"{self.title}\0{self.text}".encode("utf-8", "surrogatepass")
        return blake2b(content, digest_size=16).hexdigest()


@dataclass(frozen=True)
class IncompleteTriples:
    """The triples of a passage that were read until something failed.

    Attributes:
        triples: What was read.
        error: What failed.

    Example:
        >>> list(IncompleteTriples((("Anna", "met", "Ben"),), "no answer"))
        [('Anna', 'met', 'Ben')]
    """

    triples: tuple[Triple, ...]
    error: str

    def __iter__(self) -> Iterator[Triple]:
        return iter(self.triples)


class Extractor(Protocol):
    """Reads facts in all passages together, so that one passage can explain another.

    An extractor that reads every passage by itself has `corpus_wide = False`. Then each passage is
    read once, and its facts are kept in the index. One that asks a language model has it as its
    `model`. `triples` may take `progress`, whether to show a bar.
    """

    def triples(self, passages: Sequence[Passage]) -> Sequence[Iterable[Triple]]:
        """Return the triples of every passage, in their order.

        Args:
            passages: The passages. For one that cannot be read, `IncompleteTriples` are returned.
        """
        ...


def is_corpus_wide(extractor: object) -> bool:
    """Return whether the facts that an extractor reads in one passage depend on the others.

    Example:
        >>> is_corpus_wide(lambda text: [])
        False
    """
    return bool(getattr(extractor, "corpus_wide", hasattr(extractor, "triples")))


def extract_triples(extractor: object, passages: Sequence[Passage]) -> list[list[Triple]]:
    """Return the triples of every passage.

    Args:
        extractor: An `Extractor`, or a function text -> triples, which is called once for every
            passage.
        passages: The passages.

    Raises:
        TypeError: `extractor` is neither.
        ValueError: It returns triples for another number of passages.
        RuntimeError: The function fails; the message names the passage, the cause is its exception.

    Example:
        >>> extract_triples(lambda text: [(text, "is", "short")], [Passage("a", "Anna")])
        [[('Anna', 'is', 'short')]]
    """
    return [list(result) for result in run_extractor(extractor, passages, progress=False)]


def run_extractor(
    extractor: object, passages: Sequence[Passage], progress: bool
) -> list[Iterable[Triple]]:
    """Return what an extractor reads in every passage, `IncompleteTriples` too.

    Args:
        extractor: As in `extract_triples`.
        passages: The passages.
        progress: Whether to show a bar, where the extractor can.

    Raises:
        TypeError: `extractor` is neither an `Extractor` nor a function.
        ValueError: It returns triples for another number of passages.
        RuntimeError: The function fails.

    Example:
        >>> run_extractor(lambda text: [(text, "is", "short")], [Passage("a", "Anna")], False)
        [[('Anna', 'is', 'short')]]
    """
    if isinstance(extractor, type):
        name = extractor.__name__
        raise TypeError(f"the extractor is the class {name}; give an object of it, as {name}()")
    triples = getattr(extractor, "triples", None)
    if triples is not None:
        shows_bar = progress and "progress" in inspect.signature(triples).parameters
        results = triples(passages, progress=True) if shows_bar else triples(passages)
        return check_triples(results, passages)
    if not callable(extractor):
        raise TypeError(
            f"cannot extract with a {type(extractor).__name__}: wanted a function text -> "
            "[(subject, relation, object), ...], or an object with triples(passages), "
            "such as clew.Names() or clew.Triples(model)"
        )
    function = cast("Callable[[str], Iterable[Triple]]", extractor)
    return [_call(function, passage) for passage in passages]


def check_triples(
    results: Sequence[Iterable[Triple]], passages: Sequence[Passage]
) -> list[Iterable[Triple]]:
    """Return what an extractor read in passages, as lists.

    Raises:
        ValueError: It is for another number of passages.

    Example:
        >>> check_triples([iter([("Anna", "met", "Ben")])], [Passage("a", "Anna met Ben.")])
        [[('Anna', 'met', 'Ben')]]
    """
    listed = [_listed(result) for result in results]
    if len(listed) != len(passages):
        raise ValueError(
            f"the extractor gave triples for {len(listed):,} of {len(passages):,} passages; "
            "wanted a list for each"
        )
    return listed


def _listed(result: Iterable[Triple]) -> Iterable[Triple]:
    return result if isinstance(result, IncompleteTriples) else list(result)


def _call(extractor: Callable[[str], Iterable[Triple]], passage: Passage) -> list[Triple]:
    try:
        return list(extractor(passage.text))
    except Exception as error:
        raise RuntimeError(
            f"the extractor failed on the passage {passage.id!r}: {type(error).__name__}: {error}"
        ) from error
