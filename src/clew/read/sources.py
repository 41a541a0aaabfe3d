"""Whatever the caller has becomes documents: texts, files, folders, and the objects of the two frameworks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from clew.document import Document
from clew.read.files import read_path
from clew.read.graph_documents import facts_of_graph, is_graph
from clew.read.langchain_documents import agreeing, from_chunk, is_chunk
from clew.read.llama_index_nodes import from_node, is_node, related, unwrapped

LONGEST_PATH = 250  # a longer string is a text
KNOWN = "texts, paths, clew.Document, LlamaIndex nodes and documents, LangChain documents and graph documents"


class LoadedDocuments(NamedTuple):
    """The documents that were read, and the sources that were not, each with the reason."""

    documents: list[Document]
    skipped: list[tuple[str, str]]


def load_documents(sources: Any) -> LoadedDocuments:
    """Return the documents behind what the caller has.

    Args:
        sources: a path to a file or folder, or an iterable of texts, paths, `clew.Document`s, LlamaIndex nodes, LangChain documents and
            graph documents; facts that came with a node or a graph document are the document's. A text that comes again without an id
            of its own is left out.
            A string by itself is a path, unless it is plainly a text (it has a line end, or more than 250 characters); a string
            among others is a text, unless it names a file or folder that exists.

    Raises:
        FileNotFoundError: a path that leads nowhere. ValueError: two documents with one id. TypeError: something of another kind.
    """
    alone = (
        isinstance(sources, (str, Path, Document))
        or is_node(unwrapped(sources))
        or is_chunk(sources)
        or is_graph(sources)
    )
    if isinstance(sources, (bytes, Mapping)) or not (alone or isinstance(sources, Iterable)):
        raise TypeError(
            f"documents are {KNOWN}, one or a list of them; got a {type(sources).__name__}"
        )
    found = LoadedDocuments([], [])
    if isinstance(sources, str) and _may_be_path(sources) and not _exists(sources):
        raise FileNotFoundError(
            f"there is no file or folder {sources!r}; if this is a text, give a list of texts: [{sources!r}]"
        )
    for source in [sources] if alone else sources:
        _add(source, found)
    documents = agreeing(related(_told_once(_once(found))))
    _distinct(documents)
    return LoadedDocuments(documents, found.skipped)


def _add(source: Any, found: LoadedDocuments) -> None:
    node = unwrapped(source)
    if isinstance(source, Document):
        found.documents.append(source)
    elif isinstance(source, Path) or (
        isinstance(source, str) and _may_be_path(source) and _exists(source)
    ):
        read_path(Path(source), found.documents, found.skipped)
    elif isinstance(source, str):
        found.documents.append(Document(text_id(source), source))
    elif is_node(node):
        _keep(from_node(node), node, found)
    elif is_chunk(source) or is_graph(source):
        chunk, facts = (source.source, facts_of_graph(source)) if is_graph(source) else (source, ())
        document = replace(from_chunk(chunk), facts=facts)
        _keep(
            document
            if document.id
            else replace(document, id=text_id(chunk.page_content, chunk.metadata)),
            source,
            found,
        )
    else:
        raise TypeError(f"cannot read a {type(source).__name__}; known are {KNOWN}")


def _keep(document: Document, source: Any, found: LoadedDocuments) -> None:
    """A framework's loaders give empty pages and pictures among the texts: these are no fault of the caller's."""
    if document.text.strip():
        found.documents.append(document)
    else:
        found.skipped.append((document.id, f"this {type(source).__name__} has no text"))


def _once(found: LoadedDocuments) -> list[Document]:
    """A text that comes again without an id of its own, under the same metadata, is no other document."""
    seen, once = set[str](), list[Document]()
    for document in found.documents:
        own = document.id != text_id(document.text) and document.id != text_id(
            document.text, document.metadata
        )
        if own or document.facts or document.id not in seen:
            once.append(document)
            seen.add(document.id)
        else:
            found.skipped.append((document.id, "this text came already"))
    return once


def _told_once(documents: list[Document]) -> list[Document]:
    """One text may have been read for facts several times: it comes once, with all of them."""
    place: dict[tuple[str, str], int] = {}
    once: list[Document] = []
    for document in documents:
        key = document.id, document.text
        if document.facts and key in place:
            known = once[place[key]]
            once[place[key]] = replace(
                known, facts=tuple(dict.fromkeys((*known.facts, *document.facts)))
            )
            continue
        if document.facts:
            place[key] = len(once)
        once.append(document)
    return once


def text_id(text: str, metadata: Mapping[str, Any] | None = None) -> str:
    """Return the id of a text that came without one: the same for the same text and metadata, whatever comes beside it."""
    known = text if not metadata else f"{text}\0{_stable(metadata)}"
    return f"text-{blake2b(known.encode('utf-8', 'surrogatepass'), digest_size=6).hexdigest()}"


def _stable(value: Any) -> str:
    """The same writing in every run: no hash order, no memory address."""
    if isinstance(value, Mapping):
        return (
            "{"
            + ",".join(sorted(f"{_stable(key)}:{_stable(of)}" for key, of in value.items()))
            + "}"
        )
    if isinstance(value, (set, frozenset)):
        return "{" + ",".join(sorted(map(_stable, value))) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(_stable, value)) + "]"
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))


def _may_be_path(text: str) -> bool:
    return (
        bool(text.strip())
        and len(text) <= LONGEST_PATH
        and not any(sign in text for sign in "\n\r\0")
    )


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):  # a name the file system cannot have
        return False


def _distinct(documents: list[Document]) -> None:
    twice = [
        id for id, times in Counter(document.id for document in documents).items() if times > 1
    ]
    if twice:
        same = [document for document in documents if document.id == twice[0]]
        equal = "the same text, " if len({document.text for document in same}) == 1 else ""
        raise ValueError(
            f"every document needs an id of its own: {len(twice)} ids came more than once, for instance {twice[0]!r}, {len(same)} times "
            f"({equal}{same[0].text[:60]!r}); leave the repeats out, or give clew.Document(id=…, text=…)"
        )
