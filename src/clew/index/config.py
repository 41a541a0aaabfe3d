"""The configuration of an index: one frozen value with everything that an index is made with.

A new parameter of an index is declared here, once in `IndexConfig` and once in `IndexKeywords`, and
used where it has its effect. Nothing between these two places names it: building, adding, deleting,
filtering, saving, `clew.narrow` and the adapters of frameworks pass the value on whole.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np

from clew import read
from clew.algorithms.nearest.hnsw import HNSW
from clew.cores import usable_cores
from clew.document import Document
from clew.embedding.embedder import Embedder, EmbedderSource
from clew.garbage import collecting_rarely
from clew.graph import EMPTY
from clew.index.options import check_base, check_names, option_names
from clew.link import (
    Contains,
    Fact,
    Hyperlink,
    Mentions,
    Next,
    Shared,
    Similar,
    Synonym,
)
from clew.read import FILES, Extractor, FileReading, Names, NamesWhereMany, Split, Triple
from clew.read.folder_size import folder_size
from clew.read.json_values import check_savable
from clew.read.patterns import EXCLUDE, INCLUDE, FileChoice, checked_patterns
from clew.text.estimate import estimate_tokens
from clew.text.tokens import CounterSource, make_counter
from clew.types import Generate, Link

if TYPE_CHECKING:
    from clew.read.sources import LoadedAndCut

DEFAULT_LINKS: tuple[Link, ...] = (
    Contains(),
    Next(),
    Mentions(),
    Fact(),
    Hyperlink(),
    Shared(),
    Similar(code=False),
    Synonym(),
)

SYNONYM_BY_WORDS = Synonym(0.75, by="words")

LINKS_OF_NAMES: tuple[Link, ...] = tuple(
    SYNONYM_BY_WORDS if isinstance(link, Synonym) else link for link in DEFAULT_LINKS
)
"""The links of an index that is made with `clew.Names()` and the embedded default, and of one whose
names are read without being asked for: names are compared by their words, so that nothing waits for
their vectors, and find as much."""

FACTS = NamesWhereMany()
"""What reads facts unless somebody says otherwise: what source code defines, calls and imports, and
names in prose that has many. In other prose there is nothing that it reads."""

MAX_READING = 2  # processes that read files where nobody has said how many

ExtractorLike = Extractor | Callable[[str], Iterable[Triple]]
"""What reads facts: an object with `triples(passages)`, or a function text -> triples."""


class IndexKeywords(TypedDict, total=False):
    """The fields of `IndexConfig` as keyword arguments, in the forms that callers have them."""

    embedder: EmbedderSource | None
    extractor: ExtractorLike | None
    splitter: Split | None
    links: Sequence[Link]
    canonical: Callable[[str], str] | None
    count: CounterSource
    generators: Sequence[Generate]
    nearest: HNSW | None
    untrusted: bool
    encoding: str | None
    include: str | Sequence[str]
    exclude: str | Sequence[str]
    savable: bool
    max_document: int
    max_line: int
    max_depth: int
    processes: int | Executor | None


@dataclass(frozen=True, eq=False)
class IndexConfig:
    """What an index is made with.

    Callers give it by `IndexConfig.from_keywords`, which takes every form named below.

    Attributes:
        embedder: A callable list[str] -> array [n, d], a LlamaIndex or LangChain embedder, a
            sentence-transformers model, or the name of one. None stands for the embedded default,
            which is fitted on the passages and needs no download.
        extractor: Reads facts out of the passages: a function text -> triples, or an object with
            `triples(passages)`. `clew.NamesWhereMany()`, which is there without being named, reads
            source code, and prose where that has many names, unless facts are given: an embedder of
            the caller's gets no names that are read so, and no facts, but passages alone;
            `clew.Symbols()` reads source code alone; `clew.NamesAndSymbols()` reads all prose, too.
            None of these needs a language model, and `clew.Triples(model)` asks one. Passages that
            it could not read are in `Index.failed`, with the reasons; `Index.add([])` tries them
            again. None reads no facts.
        splitter: Cuts documents into sections, passages and sentences, as `clew.Splitter()` does.
            `clew.SplitFiles()`, which is there without being named, cuts what is read from files
            alone: a text or a document that is handed in stays as its caller cut it. None keeps
            every document whole.
        links: The kinds of edge to make. Where nobody names them, they are `DEFAULT_LINKS`, and
            `LINKS_OF_NAMES` where the embedder is None and the extractor is `clew.Names()`, or
            `clew.NamesWhereMany()` and there are many, whatever the embedder.
        canonical: A function from a text to the text by which it is found, such as `clew.Plain()`,
            for passages and questions alike. What is read stays as it is. None changes nothing.
        count: The tokenizer that budgets are counted with: a function text -> number (or list) of
            tokens, a tokenizer with `encode`, or the name of a tiktoken encoding. None stands for
            clew's own estimate.
        generators: Make texts of what the graph holds, such as `clew.generate.Reports()`.
        nearest: An approximate index of the passages' vectors, such as `clew.HNSW()`, by which
            recipes that seed by similarity find the nearest without measuring all (needs the extra
            `ann`). It is saved with the index. Now and then a near passage is missed, and passages
            beyond the 200 nearest have no similarity. Its `kinds` are those of the nodes in it; a
            recipe that compares other kinds measures them exactly, as does a question with a
            filter. None measures all, exactly.
        untrusted: Whether strangers write the documents. A string in a list is then always a text,
            never the path of a file to read, now and in `Index.add`; a string by itself is refused,
            and files come as a `pathlib.Path`. No source has more than half of a page, unless a
            question says otherwise (`max_share`).
        encoding: The name of the encoding of the files that are read, such as "cp1252". None stands
            for the one that a page, XML or a module of Python declares, for UTF-8, and for what a
            file that is not UTF-8 looks like; `Index.skipped` names it.
        include: Which files below a folder are read, by patterns as in a `.gitignore` there:
            "*.md" matches at any depth, "guide/*.md" and "/notes.md" from the folder on, "drafts/"
            all below a folder; "!" before a pattern takes back what one before it matches. None of
            them reads all. A file that is named itself is read.
        exclude: Which files are left out, by such patterns. `Index.skipped` counts them, and names
            a pattern that matches nothing.
        savable: Whether documents whose metadata a saved index cannot hold are refused before
            anything is embedded. False refuses them in `Index.save`.
        max_document: Characters that a document may have; a longer one is refused.
        max_line: Characters that a line of a document with markup or code may have. A document with
            a longer one is read as plain text, and named in `Index.skipped`.
        max_depth: Containers that a document may be in, one in another; a deeper one is refused.
        processes: How many processes read files, cut texts and find the names of many passages at
            once, where there are megabytes of them; the index is the same whatever the number. The
            others are new interpreters. All end before vectors are made but for one, which counts
            words meanwhile. Or an executor of
            `concurrent.futures`, such as Dask's `client.get_executor(retries=3)` or
            `clew.cluster.RayExecutor()`: its processes also embed, where the embedder is given by
            name or is small, and find the names of many passages. None stands for two processes
            where the splitter and the tokenizer are clew's own and there are two cores.
    """

    embedder: Embedder | None = None
    extractor: ExtractorLike | None = FACTS
    splitter: Split | None = FILES
    links: tuple[Link, ...] = DEFAULT_LINKS
    canonical: Callable[[str], str] | None = None
    count: Callable[[str], int] = estimate_tokens
    generators: tuple[Generate, ...] = ()
    nearest: HNSW | None = None
    untrusted: bool = False
    encoding: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    savable: bool = False
    max_document: int = 20_000_000
    max_line: int = 100_000
    max_depth: int = 100
    processes: int | Executor | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: an executor is none of it."""
        elsewhere = isinstance(self.processes, Executor)
        return {**vars(self), "processes": None} if elsewhere else vars(self)

    @collecting_rarely()
    def load(
        self,
        sources: object,
        known: Mapping[str, FileReading] = EMPTY,
        there: Iterable[Document] = (),
    ) -> read.LoadedDocuments:
        """Return the documents of any sources, checked by the limits.

        Args:
            sources: As in `Index.from_documents`.
            known: What files gave before, by path. Those that have not changed are not opened.
            there: Documents that are in the index. A file that some of them are from keeps its id.

        Raises:
            ValueError: A document is too long, too deep, inside itself, has the id of another, or,
                where it is to be savable, metadata that cannot be saved.

        Example:
            >>> [document.text for document in IndexConfig().load(["The sea."]).documents]
            ['The sea.']
        """
        choice = FileChoice(self.include, self.exclude)
        with self.reading():
            loaded = read.load_documents(
                sources, self.untrusted, self.encoding, known, choice, there
            )
        return self._checked(loaded)

    @collecting_rarely()
    def load_and_cut(self, sources: object, progress: bool = False) -> LoadedAndCut:
        """Return what `load` does, and what documents of files were cut into as they were read.

        Args:
            sources: As in `Index.from_documents`.
            progress: Whether to show a bar of the files that are read.

        Raises:
            ValueError: As in `load`.

        Example:
            >>> IndexConfig().load_and_cut(["The sea."]).cut
            {}
        """
        with self.reading():
            if not (self.untrusted or self.include or self.exclude):
                from clew.processes import start_others  # as all here, where something is read

                start_others(partial(folder_size, sources))
            from clew.read.cut_as_read import cut_as_read  # these load what reads files
            from clew.read.extract.symbols import takes_modules
            from clew.read.sources import LoadedAndCut, load_and_cut

            limits = self.max_document, self.max_line
            takes = isinstance(self.extractor, NamesWhereMany) or takes_modules(self.extractor)
            cut = cut_as_read(self.splitter, self.count, *limits, takes)
            choice = FileChoice(self.include, self.exclude)
            loaded, done = load_and_cut(
                sources, self.untrusted, self.encoding, EMPTY, choice, cut=cut, progress=progress
            )
        return LoadedAndCut(self._checked(loaded), done)

    def reading(
        self, meanwhile: Callable[[], object] | None = None
    ) -> AbstractContextManager[None]:
        """Return the block within which files are read, and texts are cut.

        Args:
            meanwhile: As in `clew.processes.working`.

        Example:
            >>> with IndexConfig().reading():
            ...     loaded = IndexConfig().load(["The sea."])
        """
        from clew.processes import working

        if self.processes is not None:
            return working(self.processes, meanwhile=meanwhile)
        is_own = self.count is estimate_tokens and (
            self.splitter is None or type(self.splitter).__module__.startswith("clew.")
        )
        number = min(MAX_READING, usable_cores()) if is_own else None
        return working(number, is_asked=False, meanwhile=meanwhile)

    def _checked(self, loaded: read.LoadedDocuments) -> read.LoadedDocuments:
        from clew.read.limits import enforce_limits  # it loads what reads files

        if self.savable:
            check_savable(loaded.documents)
        return enforce_limits(loaded, self.max_document, self.max_line, self.max_depth)

    @classmethod
    def from_keywords(
        cls, base: IndexConfig | None = None, /, **keywords: Unpack[IndexKeywords]
    ) -> IndexConfig:
        """Return the configuration that these keywords make.

        Args:
            base: The values that stay where no keyword replaces them. None stands for the defaults,
                links among them that suit what else is given.
            **keywords: Fields of `IndexConfig`.

        Raises:
            TypeError: A keyword is no field, or a value is of a wrong type.
            ValueError: A number is out of range, an encoding or a tokenizer is unknown, or a
                pattern cannot be read.
            ImportError: What the name of a model or a tokenizer needs is not installed.

        Example:
            >>> config = IndexConfig.from_keywords(count=len)
            >>> config.count("four"), config.embedder, len(config.links)
            (4, None, 8)
        """
        check_base(base, cls, "config")
        check_names(keywords, option_names(cls), "an index")
        values: dict[str, Any] = {
            name: CONVERTERS.get(name, _unchanged)(v) for name, v in keywords.items()
        }
        made = replace(base or cls(), **values)
        if base is not None or "links" in values or made.embedder is not None:
            return made
        return replace(made, links=LINKS_OF_NAMES) if type(made.extractor) is Names else made


def _unchanged(value: object) -> object:
    return value


def _embedder(source: object) -> Embedder | None:
    return None if source is None else Embedder.of(source)


def _splitter(splitter: object) -> Split | None:
    if splitter is not None and not callable(splitter):
        raise TypeError(
            "a splitter is `clew.Splitter()` or a function of a document; "
            f"got a {type(splitter).__name__}: split the documents with it first"
        )
    return splitter


def _stages(name: str, example: str, stages: object) -> tuple[object, ...]:
    """Return the links or generators that came, each a value with `on(graph)`."""
    if not isinstance(stages, Iterable) or isinstance(stages, (str, bytes, Mapping)):
        raise TypeError(f"{name} are a list, such as [{example}]; got {stages!r}")
    listed = tuple(stages)
    for stage in listed:
        if isinstance(stage, type) or not callable(getattr(stage, "on", None)):
            raise TypeError(f"{name} are values with on(graph), such as {example}; got {stage!r}")
    return listed


def _canonical(source: object) -> Callable[[str], str] | None:
    return read.make_canonical(source)


def _nearest(nearest: object) -> HNSW | None:
    if nearest is None:
        return None
    if not isinstance(nearest, HNSW):
        raise TypeError(f"nearest is an approximate index, clew.HNSW(), or None; got {nearest!r}")
    return nearest if nearest.kinds is not None else replace(nearest, kinds=("passage",))


def _processes(number: int | Executor | None) -> int | Executor | None:
    is_number = isinstance(number, int) and not isinstance(number, bool) and number >= 1
    if not (is_number or number is None or isinstance(number, Executor)):
        raise ValueError(
            "processes is a whole number of at least 1, an executor of concurrent.futures, such as "
            f"Dask's client.get_executor(), or None; got {number!r}"
        )
    return number


def _ceiling(name: str, least: int, number: Any) -> object:  # noqa: ANN401  # whatever came
    """Return the number of a ceiling; infinity is none."""
    is_number = isinstance(number, (int, float, np.number)) and not isinstance(number, bool)
    if not (is_number and number >= least):
        raise ValueError(f"{name} is a number of at least {least}; got {number!r}")
    return number


def _encoding(name: str | None) -> str | None:
    try:
        return None if name is None else codecs.lookup(name).name
    except LookupError as error:
        raise ValueError(f"encoding is one that Python knows, such as 'cp1252'; {error}") from error


CONVERTERS: dict[str, Callable[..., object]] = {
    "embedder": _embedder,
    "splitter": _splitter,
    "links": partial(_stages, "links", "clew.link.Next()"),
    "canonical": _canonical,
    "count": make_counter,
    "generators": partial(_stages, "generators", "clew.generate.Reports()"),
    "nearest": _nearest,
    "encoding": _encoding,
    INCLUDE: partial(checked_patterns, INCLUDE),
    EXCLUDE: partial(checked_patterns, EXCLUDE),
    "max_document": partial(_ceiling, "max_document", 1),
    "max_line": partial(_ceiling, "max_line", 1),
    "max_depth": partial(_ceiling, "max_depth", 0),
    "processes": _processes,
}
