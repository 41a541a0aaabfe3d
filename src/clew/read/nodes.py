"""Documents -> nodes and facts: sources loaded, texts cut, facts read, and all put together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from clew.document import Document
from clew.graph import EMPTY, Graph
from clew.processes import count_others, map_items
from clew.progress import progress_bar
from clew.read.assembly import assemble, passages_to_extract
from clew.read.extract.extractor import Passage, Triple
from clew.read.known_pieces import CutBefore
from clew.read.patterns import EXCLUDE, INCLUDE, FileChoice, checked_patterns
from clew.read.pieces import Piece, Split, checked_pieces
from clew.read.sources import load_documents
from clew.read.split.files import FILES, SplitFiles, is_of_file
from clew.read.split.splitter import Splitter
from clew.read.split.whole import keep_whole
from clew.text.tokens import make_counter

if TYPE_CHECKING:  # what asks a model is loaded by who gives one
    from clew.read.extract.language_model import ExtractionEstimate, Triples


def read_nodes(
    documents: Sequence[Document],
    *,
    splitter: Split | CutBefore | None = None,
    facts: Mapping[str, Iterable[Triple]] | None = None,
    extractor: object = None,
    count: Callable[[str], int],
    embedder: object = None,
    progress: bool = False,
) -> Graph:
    """Return the nodes and facts of the documents, without vectors and edges.

    Args:
        documents: The documents, as `load_documents` returns them.
        splitter: Cuts documents into sections, passages and sentences; None keeps each whole.
        facts: Triples (subject, relation, object) by document id.
        extractor: Reads more facts in the passages, see `Extractor`; None reads none.
        count: The tokenizer, text -> number of tokens.
        embedder: What a semantic splitter compares sentences by, unless it has its own.
        progress: Whether to show a bar.

    Example:
        >>> graph = read_nodes([Document("moon", "The moon is far.")], count=len)
        >>> list(graph.ids), list(graph.kinds)
        (['moon'], ['passage'])
    """
    cut_before = splitter.pieces if isinstance(splitter, CutBefore) else EMPTY
    shown = progress and any(document.id not in cut_before for document in documents)
    bar = progress_bar(shown=shown, label="reading", unit="document", total=len(documents))
    with bar:
        pieces = _cut(documents, splitter, count, embedder, bar.update)
    return assemble(documents, pieces, facts, count, extractor)


def read_passages(
    sources: object,
    *,
    splitter: Split | None = FILES,
    count: object = None,
    include: str | Sequence[str] = (),
    exclude: str | Sequence[str] = (),
) -> list[Passage]:
    """Return the passages that an extractor is shown.

    Args:
        sources: The documents, as in `Index.from_documents`.
        splitter: As in `Index.from_documents`.
        count: As in `Index.from_documents`.
        include: As in `Index.from_documents`.
        exclude: As in `Index.from_documents`.

    Example:
        >>> [passage.text for passage in read_passages(["The moon is far."])]
        ['The moon is far.']
    """
    choice = FileChoice(checked_patterns(INCLUDE, include), checked_patterns(EXCLUDE, exclude))
    documents = load_documents(sources, choice=choice).documents
    return passages_to_extract(documents, _cut(documents, splitter, make_counter(count)))


def estimate_extraction(
    sources: object,
    extractor: Triples,
    *,
    splitter: Split | None = FILES,
    count: object = None,
    include: str | Sequence[str] = (),
    exclude: str | Sequence[str] = (),
) -> ExtractionEstimate:
    """Return how often `Index.from_documents` would call a model, and with how many tokens.

    The model is not called. Answers that are known already are not counted.

    Args:
        sources: The documents, as in `Index.from_documents`.
        extractor: What would read them.
        splitter: As in `Index.from_documents`.
        count: As in `Index.from_documents`.
        include: As in `Index.from_documents`.
        exclude: As in `Index.from_documents`.

    Example:
        >>> from clew.read import Triples
        >>> estimate_extraction(["The moon is far."], Triples(lambda prompt: "{}")).calls
        1
    """
    passages = read_passages(
        sources, splitter=splitter, count=count, include=include, exclude=exclude
    )
    return extractor.estimate(passages)


def _cut(
    documents: Sequence[Document],
    splitter: Split | CutBefore | None,
    count: Callable[[str], int],
    embedder: object = None,
    update: Callable[[int], object] = lambda _: None,
) -> list[Sequence[Piece]]:
    """Return the pieces of every document."""
    known: Mapping[str, Sequence[Piece]] = EMPTY
    if isinstance(splitter, CutBefore):
        known, splitter = splitter.pieces, splitter.splitter
    cut: Split = splitter or keep_whole
    if isinstance(cut, SplitFiles):
        whole = {one.id: keep_whole(one) for one in documents if not is_of_file(one)}
        known, cut = {**whole, **known}, Splitter(cut.tokens)
    if isinstance(cut, Splitter):
        semantic = cut.semantic
        if semantic is True and embedder is not None:
            semantic = embedder
        cut = replace(cut, count=cut.count or count, semantic=semantic)
    if cut is keep_whole or (type(cut) is Splitter and cut.semantic is False):
        uncut = [document for document in documents if document.id not in known]
        sizes = [len(document.text) for document in uncut]
        texts = uncut
        if cut is not keep_whole or count_others(sizes):
            texts = [_without_others_objects(document) for document in uncut]
        fresh = iter(map_items(partial(_pieces_of, cut), texts, sizes=sizes, update=update))
        update(len(documents) - len(uncut))
        return [known[d.id] if d.id in known else next(fresh) for d in documents]
    # What a caller has made, or what loads a model, works in this process alone.
    work = partial(_pieces_of if type(cut) is Splitter else _checked_pieces_of, cut)
    return map_items(work, documents, sizes=[0] * len(documents), update=update)


def _pieces_of(cut: Split, document: Document) -> Sequence[Piece]:
    return keep_whole(document) if document.heading else cut(document)


def _checked_pieces_of(cut: Split, document: Document) -> Sequence[Piece]:
    return keep_whole(document) if document.heading else checked_pieces(cut(document), document)


def _without_others_objects(document: Document) -> Document:
    """Return what clew's own splitters look at, which any process can be sent."""
    language = document.metadata.get("language")
    metadata = {} if language is None else {"language": str(language)}
    return Document(
        document.id, document.text, metadata, heading=document.heading, format=document.format
    )
