"""Changes of an index: documents come and go, and the result equals an index built of what is left.

A large index is changed in place (`in_place`). Otherwise everything is built again of the
documents, except what is known already: the vector of a text, and the triples of a passage that the
extractor reads by itself.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import compress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from clew.document import Document
from clew.embedding.embedded_texts import rows_to_embed, texts_embedded_as, texts_to_embed
from clew.garbage import collecting_rarely
from clew.graph import Mask, Vectors, distinct, row_mask, take_vectors, texts_at
from clew.index.build import KnownResults, build_graph, generate_texts
from clew.index.chains import with_whole_chains
from clew.index.config import IndexConfig
from clew.index.contents import Failures, IndexContents
from clew.index.given_facts import (
    FactsOf,
    collect_facts,
    facts_after,
    facts_left,
    facts_of_sources_after,
    whole_sources,
)
from clew.index.in_place import (
    exchanged_in_place,
    with_documents_in_place,
    without_documents_in_place,
)
from clew.index.labels import without_label
from clew.index.question import Where
from clew.read import Triple, load_documents
from clew.usage import metered

MAX_SHOWN = 3  # of what was left out, where that is all there was
FROM_A_GRAPH = "this index was made of a graph: change the graph, and make an index of that"

NAN = object()
"""In the place of a number that is equal to nothing."""

UNIT_TOLERANCE = 1e-3  # of the square of a vector's length, as a graph has it

Contents = TypeVar("Contents", bound=IndexContents)


@collecting_rarely()
def rebuild(
    index: Contents,
    documents: tuple[Document, ...],
    facts: Mapping[str, Sequence[Triple]],
    *,
    ask_models: bool = True,
    progress: bool = False,
    added: bool = False,
    known: KnownResults | None = None,
) -> Contents:
    """Return the index of these documents and facts, made as the given one was.

    Args:
        index: The index before the change.
        documents: What the next index holds.
        facts: Triples by document id.
        ask_models: Whether the extractor may ask a language model about passages that are new.
        progress: Whether to show bars on stderr.
        added: Whether documents were added alone, so that a generator may update its texts.
        known: The pieces of documents, the counts of texts and the vectors that are known; None
            for the vectors that the index holds.

    Raises:
        ValueError: The index was made of a graph.
    """
    if not index.documents:
        raise ValueError(FROM_A_GRAPH)
    known = replace(
        known or KnownResults(vectors=known_vectors(index)),
        triples=index.extracted,
        unread=None if ask_models else dict(index.failed),
    )
    with metered(index.config.count) as meter:
        built = build_graph(documents, facts, index.config, known, progress)
        graph, failed = generate_texts(
            built.graph,
            built.embedder,
            index.generators,
            known.vectors,
            progress,
            before=index.graph if added else None,
        )
    learned = index.learned
    if learned:  # else no edges are looked for: those that are deferred would be made
        graph, learned = learned.on(graph)
    return replace(
        index,
        graph=graph,
        documents=documents,
        facts=facts,
        fitted_embedder=built.embedder if index.fitted else None,
        extracted=built.extracted,
        knowledge=built.knowledge,
        failed=(*built.failed, *failed),
        learned=learned,
        usage=index.usage + meter.usage,
        changed=0,
        saved_as=None,
    )


class NoDocumentsError(ValueError):
    """There is nothing to index.

    Attributes:
        skipped: (source, reason) for everything that was left out.

    Example:
        >>> print(NoDocumentsError([("logo.png", "binary")]))
        no documents came: an index needs at least one with text; left out: logo.png: binary
    """

    def __init__(self, skipped: Sequence[tuple[str, str]]) -> None:
        self.skipped = tuple(skipped)
        shown = "; ".join(f"{source}: {reason}" for source, reason in skipped[:MAX_SHOWN])
        more = f"; and {len(skipped) - MAX_SHOWN:,} more" if len(skipped) > MAX_SHOWN else ""
        rest = f"; left out: {shown}{more}" if skipped else ""
        super().__init__(f"no documents came: an index needs at least one with text{rest}")


def with_patterns(
    index: Contents, include: str | Sequence[str] | None, exclude: str | Sequence[str] | None
) -> Contents:
    """Return the index that reads other files from now on; None keeps what it has.

    Raises:
        TypeError, ValueError: What is given is no pattern; see `clew.read.patterns`.
    """
    config = IndexConfig.from_keywords(
        index.config,
        include=index.config.include if include is None else include,
        exclude=index.config.exclude if exclude is None else exclude,
    )
    now, before = (config.include, config.exclude), (index.config.include, index.config.exclude)
    return index if now == before else replace(index, config=config)


def with_documents(
    index: Contents,
    documents: object,
    facts: Mapping[str, Iterable[Triple]] | None = None,
    progress: bool = False,
) -> Contents:
    """Return the index with more documents; see `Index.add`."""
    loaded, skipped, files = index.config.load(documents, there=index.documents)
    now_skipped = _skipped_after(index, documents, loaded, skipped)
    unplaced = without_label(index.documents, loaded)
    loaded = [unplaced.get(one.id, one) for one in loaded]
    added_facts: FactsOf = collect_facts(loaded, facts, index.document_of)
    in_place = None
    if not any(one.id in unplaced for one in index.documents):
        in_place = with_documents_in_place(index, tuple(loaded), added_facts, progress)
    if in_place is not None:
        return in_place.replaced(skipped=now_skipped, files={**index.files, **files})
    sources = [
        document if document.original is None else document.original
        for document in (*index.documents, *loaded)
    ]
    read = load_documents(sources).documents
    together = tuple(unplaced.get(one.id, one) for one in read)
    more = {id: [*index.facts.get(id, ()), *triples] for id, triples in added_facts.items()}
    changed = rebuild(index, together, {**index.facts, **more}, progress=progress, added=True)
    return replace(changed, skipped=now_skipped, files={**index.files, **files})


def without_documents(
    index: Contents, ids: str | Iterable[str] | None = None, where: Where | None = None
) -> Contents:
    """Return the index without some documents; see `Index.delete`."""
    if (ids is None) == (where is None):
        raise TypeError("name what is deleted by ids or by where=, and not by both")
    if not index.documents:
        raise ValueError(FROM_A_GRAPH)
    if where is not None:
        is_gone = index.metadata_values.allowed(where).tolist()
        deleted = {one.id for one in compress(index.documents, is_gone)}
        if not deleted:
            return index
    else:
        deleted = {ids} if isinstance(ids, str) else set(ids or ())
    unknown = deleted - {document.id for document in index.documents}
    if unknown:
        raise ValueError(
            f"{len(unknown)} of the ids to delete are not in the index, "
            f"for instance {min(unknown)!r}"
        )
    documents = tuple(document for document in index.documents if document.id not in deleted)
    if not documents:
        raise ValueError("deleting these would leave an index without documents")
    files = {
        path: reading
        for path, reading in index.files.items()
        if not any(document.id in deleted for document in reading.documents)
    }
    in_place = without_documents_in_place(index, deleted)
    if in_place is not None:
        return in_place.replaced(files=files)
    facts = facts_left(index.facts, documents)
    return rebuild(replace(index, files=files), documents, facts, ask_models=False)


def with_replaced(
    index: Contents,
    documents: object,
    facts: Mapping[str, Iterable[Triple]] | None = None,
    progress: bool = False,
    others_go: bool = False,
) -> Contents:
    """Return the index with these documents in place of those with their ids; see `Index.upsert`.

    Args:
        index: The index before.
        documents: What comes.
        facts: Triples by document id; None keeps those of texts that have not changed.
        progress: Whether to show bars on stderr.
        others_go: Whether all other documents are deleted; see `Index.sync`.

    Raises:
        ValueError: The index was made of a graph, or no document would be left.
    """
    if not index.documents:
        raise ValueError(FROM_A_GRAPH)
    staying = () if others_go else index.documents
    loaded, skipped, files = index.config.load(documents, index.files, staying)
    if others_go and not loaded:
        raise NoDocumentsError(skipped)
    new_facts: FactsOf = facts_after(index, loaded, facts, others_go=others_go)
    there = index.document_of
    loaded, new_facts = _with_unplaced(index, staying, loaded, new_facts)
    index, fresh = _fresh_among(index, loaded, new_facts)
    gone = {document.id for document in fresh if document.id in there}
    if others_go:
        gone |= there.keys() - {document.id for document in loaded}
    if others_go:
        now_skipped, now_files = tuple(skipped), files
    else:
        now_skipped = _skipped_after(index, documents, loaded, skipped)
        now_files = {**index.files, **files}
    if others_go and (index.skipped != now_skipped or index.files != now_files):
        index = index.replaced(skipped=now_skipped, files=now_files)
    settled = set[str]() if facts is None else whole_sources(loaded, staying)
    changed = _with_fresh(index, gone, fresh, new_facts, settled, progress)
    if others_go or (changed is index and index.skipped == now_skipped):
        return changed
    return changed.replaced(skipped=now_skipped, files=now_files)


def _skipped_after(
    index: IndexContents,
    sources: object,
    loaded: Sequence[Document],
    skipped: Sequence[tuple[str, str]],
) -> Failures:
    """Return what an index leaves out, once more has come: of what came again, what is so now.

    Args:
        index: The index before.
        sources: What came: all that was left out below a folder is looked at again with it.
        loaded: What was read of it.
        skipped: What was left out of it.
    """
    again = {_file_of(name) for name, _ in skipped}
    for document in loaded:
        again |= {document.id, str(document.metadata.get("path", document.id))}
    alone = sources if isinstance(sources, (list, tuple)) else [sources]
    folders = tuple(f"{_whole(one).rstrip('/')}/" for one in alone if isinstance(one, (str, Path)))
    stay = [
        (name, reason)
        for name, reason in index.skipped
        if not {name, _file_of(name)} & again and not _whole(name).startswith(folders)
    ]
    return (*stay, *skipped)


def _whole(path: str | Path) -> str:
    """Return a path as it is from the root, so that `.` and `docs/..` are one folder."""
    return Path(os.path.normpath(Path(path).absolute())).as_posix()


def _file_of(name: str) -> str:
    """Return the file of a row that was left out, such as `rows.jsonl#2`; else the name itself."""
    file, _, row = name.rpartition("#")
    return file if row.isdecimal() else name


def _fresh_among(
    index: Contents, loaded: Sequence[Document], facts: FactsOf
) -> tuple[Contents, list[Document]]:
    """Return the index with texts that are elsewhere in their files, and what is not there yet.

    Args:
        index: The index before.
        loaded: What came.
        facts: Triples by document id, of what came.
    """
    there, fresh, moved = index.document_of, list[Document](), dict[str, Document]()
    for document in loaded:
        before, id = there.get(document.id), document.id
        if (
            before is None
            or index.facts.get(id, []) != facts.get(id, [])
            or _has_other_vector(index, before, document)
        ):
            fresh.append(document)
        elif not _are_same(before, document):
            same = replace(before, source_map=document.source_map)
            if _are_same(same, document) and _targets_of(before) == _targets_of(document):
                moved[id] = same
            else:
                fresh.append(document)
    if moved:
        index = replace(index, documents=tuple(moved.get(d.id, d) for d in index.documents))
    return index, fresh


def _are_same(one: Document, other: Document) -> bool:
    """Return whether two documents say the same, also where their metadata have arrays or NaN.

    An array is compared value by value, and NaN is equal to nothing, itself included.
    """
    with suppress(ValueError):  # the answer of an array has no truth value
        if one == other:
            return True
    first, second = (replace(each, metadata=_comparable(each.metadata)) for each in (one, other))
    return first == second


def _comparable(value: Any) -> Any:  # noqa: ANN401  # whatever metadata hold
    if isinstance(value, np.ndarray):
        return _comparable(value.tolist())
    if isinstance(value, float) and value != value:
        return NAN
    if isinstance(value, (list, tuple)):
        return [type(value), *map(_comparable, value)]
    if isinstance(value, Mapping):
        return {key: _comparable(inner) for key, inner in value.items()}
    return value


def _targets_of(document: Document) -> tuple[tuple[str, ...], bytes]:
    """Return what addresses lead to in a document, and where; links depend on it."""
    source = document.source_map
    return ((), b"") if source is None else (source.targets, source.target_places.tobytes())


def _has_other_vector(index: IndexContents, before: Document, document: Document) -> bool:
    """Return whether a document came with another vector than its text has in the index.

    One without a vector says nothing of it. That of a document that was cut is not used, nor is any
    where the embedder is fitted; there, one that is wrong counts, so that a build refuses it.

    Args:
        index: The index.
        before: The document in the index.
        document: The document of that id which came.
    """
    if document.vector is None:
        return False
    row, given = index.graph.find_row(document.id), np.asarray(document.vector, np.float32)
    if row is None or index.graph.kinds[row] == "document":
        return False
    if index.fitted:
        return given.ndim != 1 or not abs(float(given @ given) - 1) < UNIT_TOLERANCE
    known = index.graph.vectors[row] if before.vector is None else before.vector
    return not np.array_equal(np.asarray(known, np.float32), given)


def _with_fresh(
    index: Contents,
    gone: Collection[str],
    fresh: Sequence[Document],
    facts: FactsOf,
    settled: Collection[str],
    progress: bool,
) -> Contents:
    """Return the index without what goes, and with what is fresh.

    Args:
        index: The index before.
        gone: The ids of the documents that go.
        fresh: The documents that come.
        facts: Triples by document id, of what came.
        settled: What has pieces alone and no other facts than these.
        progress: Whether to show bars on stderr.
    """

    def together() -> tuple[Document, ...]:
        return (*(one for one in index.documents if one.id not in gone), *fresh)

    of_sources = None
    if index.facts or facts:
        of_sources = facts_of_sources_after(index, together(), facts, settled=settled)
    if not fresh and not gone and of_sources is None:
        return index
    fresh_facts = {one.id: facts[one.id] for one in fresh if one.id in facts}
    changed = None
    if of_sources is None:
        changed = _with_fresh_in_place(index, gone, fresh, fresh_facts, progress)
    if changed is None:
        stay = {id: said for id, said in index.facts.items() if id not in gone}
        if of_sources is not None:
            ids = index.document_of.keys()
            stay = {id: said for id, said in stay.items() if id in ids} | of_sources
        changed = rebuild(index, together(), {**stay, **fresh_facts}, progress=progress)
    return changed


def _with_fresh_in_place(
    index: Contents,
    gone: Collection[str],
    fresh: Sequence[Document],
    facts: FactsOf,
    progress: bool,
) -> Contents | None:
    """Return the index without what goes and with what is fresh; None where it is built whole."""
    changed = exchanged_in_place(index, gone, tuple(fresh), facts, progress)
    # What comes again is embedded and read again: that costs nothing by the embedded default alone.
    if changed is not None or not index.fitted or index.extracted or not index.related_documents:
        return changed
    more_gone, more_fresh = with_whole_chains(index, gone, fresh)
    again = more_gone - {*gone}
    if not again:
        return None
    kept = {id: index.facts[id] for id in again if id in index.facts}
    return exchanged_in_place(index, more_gone, tuple(more_fresh), {**kept, **facts}, progress)


def _with_unplaced(
    index: IndexContents,
    staying: Sequence[Document],
    loaded: Sequence[Document],
    facts: FactsOf,
) -> tuple[list[Document], FactsOf]:
    """Return what came without labels for sources, and behind it what loses its source thereby.

    Args:
        index: The index before.
        staying: Its documents that stay, and may be replaced by what came.
        loaded: What came.
        facts: Triples by document id, of what came.
    """
    ids = {document.id for document in loaded}
    changed = without_label([one for one in staying if one.id not in ids], loaded)
    came = [changed.pop(document.id, document) for document in loaded]
    kept = {id: index.facts[id] for id in changed if id in index.facts}
    return [*came, *changed.values()], {**facts, **kept}


def known_vectors(index: IndexContents, stays: Mask | None = None) -> dict[str, Vectors]:
    """Return the vectors that need not be made again, by text; a fitted embedder keeps none.

    Args:
        index: The index before.
        stays: bool [nodes], the nodes whose vectors are wanted, with those of what was read from
            them and of generated texts; None for all.
    """
    if index.fitted:
        return {}
    graph, known = index.graph, dict[str, Vectors]()
    with_own_vector = {document.id for document in index.documents if document.vector is not None}
    instead = texts_embedded_as(index.documents)
    rows, facts = rows_to_embed(graph), graph.facts
    fact_texts, fact_vectors = facts.texts, facts.vectors
    if index.has_bare_names:  # what has no vector may have the text of a passage
        rows = rows[~graph.kinds.mask("entity")[rows]]
    vectors: Iterable[Vectors] = (graph.vectors[row] for row in rows.tolist())
    if stays is not None:
        is_wanted = stays | graph.generated | row_mask(graph.read_from.owners_of(stays), len(graph))
        rows = rows[is_wanted[rows]]
        vectors = take_vectors(graph.vectors, rows)
        some = distinct(facts.read_from.owners_of(stays))
        fact_texts = tuple(texts_at(fact_texts, some.tolist()))
        fact_vectors = take_vectors(fact_vectors, some)
    texts = texts_to_embed(graph, rows.tolist(), instead)
    for row, text, vector in zip(rows.tolist(), texts, vectors, strict=True):
        if graph.ids[row] not in with_own_vector:
            known[text] = vector
    if index.has_bare_names:
        return known
    return known | dict(zip(fact_texts, fact_vectors, strict=True))
