"""Everything that a caller may hand in becomes documents.

Sources are texts, files, folders, `clew.Document` values, and objects of LangChain and LlamaIndex.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from clew.document import Document
from clew.graph import EMPTY
from clew.progress import progress_bar
from clew.read.file_ids import Found, with_ids_of_their_own
from clew.read.file_reading import FileReading, FileToRead, ListedFiles
from clew.read.graph_documents import facts_of_graph_document, is_graph_document
from clew.read.langchain_documents import (
    from_langchain_document,
    is_langchain_document,
    without_shared_sources,
)
from clew.read.llama_index_nodes import from_node, is_node, relate_nodes, unwrap_node
from clew.read.patterns import FileChoice
from clew.read.pieces import CutAtOnce, CutDocument

MAX_PATH_LENGTH = 250  # a longer string is a text
KNOWN_SOURCES = (
    "texts, paths, clew.Document, LlamaIndex nodes and documents, "
    "LangChain documents and graph documents"
)


MAX_NAMED = 6  # documents of a cycle that a message names

TEXT_ID = "text-"  # what the id of a text without one begins with


class CyclicParentsError(ValueError):
    """Documents are inside each other.

    Attributes:
        cycle: Their ids, each before that of its parent; the last is the first again.
    """

    def __init__(self, cycle: Sequence[str]) -> None:
        self.cycle = tuple(cycle)
        ids = [repr(id) for id in cycle]
        if len(ids) > MAX_NAMED:
            ids = [*ids[: MAX_NAMED - 2], f"… {len(ids) - MAX_NAMED + 1} more …", ids[-1]]
        super().__init__(
            "a document must not be inside itself, over its parents; these are: "
            f"{' in '.join(ids)}; leave the parent of one of them out"
        )


class LoadedDocuments(NamedTuple):
    """What came of the sources.

    Attributes:
        documents: The documents that were read.
        skipped: (source, reason) for everything that was not.
        files: What each file gave, by its path. Files that have to be read again in any case are
            left out.
    """

    documents: list[Document]
    skipped: list[tuple[str, str]]
    files: Mapping[str, FileReading] = EMPTY


class LoadedAndCut(NamedTuple):
    """What came of the sources, and what documents were cut into as they were read, by id."""

    loaded: LoadedDocuments
    cut: Mapping[str, CutDocument]


def load_documents(
    sources: object,
    untrusted: bool = False,
    encoding: str | None = None,
    known: Mapping[str, FileReading] = EMPTY,
    choice: FileChoice | None = None,
    there: Iterable[Document] = (),
) -> LoadedDocuments:
    """Return the documents of any sources.

    A string by itself is a path, unless it is plainly a text (it has a line end, or more than 250
    characters). A string among others is a text, unless it names a file or folder that exists. A
    text that comes again without an id of its own is left out.

    Args:
        sources: A path to a file or folder, or an iterable of texts, paths, values of `Document`,
            LlamaIndex nodes, LangChain documents and graph documents. The facts that came with a
            node or graph document become the document's facts.
        untrusted: Whether a string among others is always a text, and a string by itself is
            refused, so that nobody who writes a text can have a file read.
        encoding: The encoding of files that are read; None to find it out.
        known: What files gave before, by path. Those that have not changed since are not opened.
        choice: Which files below folders are read; None for all. A file that is named is read.
        there: Documents that are in an index. A file that some of them are from keeps its id.

    Raises:
        FileNotFoundError: A path leads nowhere.
        ValueError: Two documents have one id, or a document is, over its parents, inside itself.
        TypeError: A source is of another kind, or a string by itself where strangers write.

    Example:
        >>> [document.text for document in load_documents(["The moon is far."]).documents]
        ['The moon is far.']
    """
    return load_and_cut(sources, untrusted, encoding, known, choice, there=there).loaded


def load_and_cut(  # noqa: PLR0913  # the options of one call, each named by its caller
    sources: object,
    untrusted: bool = False,
    encoding: str | None = None,
    known: Mapping[str, FileReading] = EMPTY,
    choice: FileChoice | None = None,
    *,
    there: Iterable[Document] = (),
    cut: CutAtOnce | None = None,
    progress: bool = False,
) -> LoadedAndCut:
    """Return what `load_documents` does, and what documents of files were cut into.

    Args:
        sources: As in `load_documents`.
        untrusted: As there.
        encoding: As there.
        known: As there.
        choice: As there.
        there: As there.
        cut: What cuts the documents of files as they are read; None leaves that for later.
        progress: Whether to show a bar of the files that are read.

    Example:
        >>> load_and_cut(["The moon is far."]).cut
        {}
    """
    found = list(_find_all(sources, untrusted, encoding, choice))
    found = with_ids_of_their_own(found, there)
    files = [one for one in found if isinstance(one, FileToRead)]
    readings, done = _read(files, known, cut, progress) if files else ([], {})
    loaded = _in_places(found, readings)
    documents = _merge_repeated_facts(_without_repeated_texts(loaded))
    documents = without_shared_sources(relate_nodes(documents))
    _check_ids(documents)
    _check_parents(documents)
    return LoadedAndCut(LoadedDocuments(documents, loaded.skipped, loaded.files), done)


def list_files(
    sources: object,
    untrusted: bool = False,
    encoding: str | None = None,
    choice: FileChoice | None = None,
) -> ListedFiles | None:
    """Return the files of any sources with the ids that `load_documents` gives them, all unread.

    What is returned is a source, too. A part of the files is read under the ids that they have
    among all.

    Args:
        sources: As in `load_documents`, but for an iterator, which could not be read afterwards.
        untrusted: As there.
        encoding: As there.
        choice: As there.

    Returns:
        The files, or None where some of the sources are no files.

    Raises:
        FileNotFoundError, TypeError: As there.

    Example:
        >>> list_files(["The moon is far."]) is None
        True
    """
    found = list[Found]()
    for one in _find_all(sources, untrusted, encoding, choice):
        if isinstance(one, Document):
            return None
        found.append(one)
    found = with_ids_of_their_own(found, ())
    files = tuple(one for one in found if isinstance(one, FileToRead))
    left_out = (one for one in found if not isinstance(one, (Document, FileToRead)))
    return ListedFiles(files, tuple(left_out))


def _find_all(
    sources: object, untrusted: bool, encoding: str | None, choice: FileChoice | None
) -> Iterator[Found]:
    """Yield the documents and files of all sources, and what is skipped."""
    if isinstance(sources, ListedFiles):
        yield from sources.files
        yield from sources.skipped
        return
    if untrusted and isinstance(sources, str):
        raise TypeError(
            "of untrusted documents a string by itself may be a text or a path; "
            f"give [text] for a text, or pathlib.Path(...) for files; got {sources[:40]!r}"
        )
    for source in _as_list(sources):
        if untrusted and isinstance(source, str):
            yield Document(text_id(source), source)
        elif isinstance(source, Document):  # as all candidates are by then
            yield source
        else:
            yield from _find_in(source, encoding, choice)
    if choice is not None:
        yield from choice.remarks()


def _read(
    files: Sequence[FileToRead],
    known: Mapping[str, FileReading],
    cut: CutAtOnce | None,
    progress: bool,
) -> tuple[list[FileReading], dict[str, CutDocument]]:
    """Return what files give, and what their documents were cut into; see `load_and_cut`."""
    from clew.read.known_files import read_files  # which loads what reads any file

    with progress_bar(shown=progress, label="reading", unit="file", total=len(files)) as bar:
        return read_files(files, known, cut, bar.update)


def load_single(source: object) -> Document | None:
    """Return the document of a text or of a framework's object by itself; None if it has no text.

    What other documents tell about it is left to `load_documents`, which takes the results. A
    string is a text.

    Raises:
        TypeError: The source is of another kind, or a path.

    Example:
        >>> load_single("The moon is far.").text
        'The moon is far.'
    """
    if isinstance(source, Path):
        raise TypeError(f"wanted a text or a document; got the path {str(source)!r}")
    found: Found
    if isinstance(source, str):
        found = Document(text_id(source), source)
    elif isinstance(source, Document):
        found = source
    elif is_langchain_document(source):  # most are
        found = _with_id(from_langchain_document(source))
    else:
        found = next(_find_in(source))
    return found if isinstance(found, Document) and not _is_blank(found.text) else None


def text_id(text: str, metadata: Mapping[str, Any] | None = None) -> str:
    """Return the id of a text that came without one: a hash of the text and its metadata.

    Example:
        >>> text_id("The moon is far.")
        'text-84745e118afc'
    """
    content = text if not metadata else f"{text}\0{_stable_repr(metadata)}"
    return (
        f"{TEXT_ID}{blake2b(content.encode('utf-8', 'surrogatepass'), digest_size=6).hexdigest()}"
    )


def _as_list(sources: object) -> Iterable[object]:
    """Return the sources one by one, a single one in a list."""
    if isinstance(sources, str):
        if _may_be_path(sources) and not _exists(sources):
            raise FileNotFoundError(
                f"there is no file or folder {sources!r}; "
                f"if this is a text, give a list of texts: [{sources!r}]"
            )
        return [sources]
    if isinstance(sources, (Path, Document)) or is_node(unwrap_node(sources)):
        return [sources]
    if is_langchain_document(sources) or is_graph_document(sources):
        return [sources]
    kind = type(sources).__name__
    if is_table(sources):  # it would be the names of its columns
        raise TypeError(
            f"documents are {KNOWN_SOURCES}, one or a list of them; got a {kind}: make a "
            "clew.Document of each row, or give the column of the texts"
        )
    if isinstance(sources, Iterable) and not isinstance(sources, (bytes, Mapping)):
        return sources
    raise TypeError(f"documents are {KNOWN_SOURCES}, one or a list of them; got a {kind}")


def is_table(sources: object) -> bool:
    """Return whether this is a table of pandas or alike, in which Python sees names of columns.

    Example:
        >>> is_table(["The sea."])
        False
    """
    return hasattr(sources, "columns") and hasattr(sources, "iterrows")


def _find_in(
    source: object, encoding: str | None = None, choice: FileChoice | None = None
) -> Iterator[Found]:
    """Yield the documents and files of a source, and what is skipped, in the order of reading."""
    if isinstance(source, Document):
        yield source
    elif isinstance(source, Path):
        yield from _find_files(source, encoding, choice)
    elif isinstance(source, str):
        if _may_be_path(source) and _exists(source):
            yield from _find_files(Path(source), encoding, choice)
        else:
            yield Document(text_id(source), source)
    elif is_langchain_document(source):
        yield _unless_empty(_with_id(from_langchain_document(source)), source)
    elif is_node(node := unwrap_node(source)):
        yield _unless_empty(from_node(node), node)
    elif is_graph_document(source):
        document = _with_id(from_langchain_document(source.source))
        facts = facts_of_graph_document(source)
        yield _unless_empty(replace(document, facts=tuple(facts)), source)
    else:
        raise TypeError(f"cannot read a {type(source).__name__}; known are {KNOWN_SOURCES}")


def _find_files(path: Path, encoding: str | None, choice: FileChoice | None) -> Iterator[Found]:
    from clew.read.files import files_at

    skipped: list[tuple[str, str]] = []
    files = files_at(path, skipped, choice)
    yield from skipped
    yield from (FileToRead(file, id, encoding) for file, id in files)


def _in_places(found: Sequence[Found], readings: Sequence[FileReading]) -> LoadedDocuments:
    """Return the documents, with those of the files in their places."""
    of_files = iter(readings)
    documents, skipped = list[Document](), list[tuple[str, str]]()
    for one in found:
        if isinstance(one, Document):
            documents.append(one)
        elif isinstance(one, FileToRead):
            reading = next(of_files)
            documents += reading.documents
            skipped += reading.skipped
        else:
            skipped.append(one)
    lasting = {reading.path: reading for reading in readings if reading.look}
    return LoadedDocuments(documents, skipped, lasting)


def _with_id(document: Document) -> Document:
    if document.id:
        return document
    return replace(document, id=text_id(document.text, document.metadata))


def _unless_empty(document: Document, source: object) -> Document | tuple[str, str]:
    """Return a document, or why it is skipped: a framework's loaders also give blank pages."""
    if not _is_blank(document.text):
        return document
    return document.id, f"this {type(source).__name__} has no text"


def _is_blank(text: str) -> bool:
    return not text or text.isspace()


def _without_repeated_texts(loaded: LoadedDocuments) -> list[Document]:
    """Return the documents without texts that come again under the same metadata and no own id."""
    seen: set[str] = set()
    documents: list[Document] = []
    for document in loaded.documents:
        has_own_id = not document.id.startswith(TEXT_ID) or document.id not in (
            text_id(document.text),
            text_id(document.text, document.metadata),
        )
        if has_own_id or document.facts or document.id not in seen:
            documents.append(document)
            seen.add(document.id)
        else:
            loaded.skipped.append((document.id, "this text came already"))
    return documents


def _merge_repeated_facts(documents: Sequence[Document]) -> list[Document]:
    """Return the documents with those merged that are one text, read for facts several times."""
    if not any(document.facts for document in documents):  # as mostly
        return list(documents)
    position: dict[tuple[str, str], int] = {}
    merged: list[Document] = []
    for document in documents:
        key = document.id, document.text
        if document.facts and key in position:
            first = merged[position[key]]
            both = (*first.facts, *document.facts)  # lists, too, where they are of a file of JSON
            facts = dict.fromkeys(tuple(one) if isinstance(one, list) else one for one in both)
            merged[position[key]] = replace(first, facts=tuple(facts))
            continue
        if document.facts:
            position[key] = len(merged)
        merged.append(document)
    return merged


def _check_parents(documents: Sequence[Document]) -> None:
    """Raise where documents are inside each other: a walk up from one would never end."""
    if not any(document.parent or document.source for document in documents):  # as candidates
        return
    ids = {document.id for document in documents}
    above: dict[str, str | None] = {
        document.id: document.parent
        if document.parent in ids
        else document.source  # a document is no container of itself
        if document.source != document.id
        else None
        for document in documents
    }
    outside: set[str] = set()  # documents above which there is an end
    for document in documents:
        path: dict[str, None] = {}
        here: str | None = document.id
        while here in above and here not in outside and here not in path:
            path[here] = None
            here = above[here]
        if here in path:
            walked = list(path)
            raise CyclicParentsError([*walked[walked.index(str(here)) :], str(here)])
        outside.update(path)


def _stable_repr(value: object) -> str:
    """Return a repr that is the same in every run: without hash order and memory addresses."""
    if isinstance(value, Mapping):
        items = (f"{_stable_repr(key)}:{_stable_repr(item)}" for key, item in value.items())
        return "{" + ",".join(sorted(items)) + "}"
    if isinstance(value, (set, frozenset)):
        return "{" + ",".join(sorted(map(_stable_repr, value))) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(_stable_repr, value)) + "]"
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))


def _may_be_path(text: str) -> bool:
    one_line = not any(character in text for character in "\n\r\0")
    return one_line and bool(text.strip()) and len(text) <= MAX_PATH_LENGTH


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):  # a name that the file system cannot have
        return False


def _check_ids(documents: Sequence[Document]) -> None:
    times = Counter(document.id for document in documents)
    repeated = [id for id, count in times.items() if count > 1]
    if repeated:
        same = [document for document in documents if document.id == repeated[0]]
        equal = "the same text, " if len({document.text for document in same}) == 1 else ""
        raise ValueError(
            f"every document needs an id of its own: {len(repeated)} ids came more than once, "
            f"for instance {repeated[0]!r}, {len(same)} times ({equal}{same[0].text[:60]!r}); "
            f"leave the repeats out, or give clew.Document(id=…, text=…)"
        )
