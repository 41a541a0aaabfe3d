"""The facts that a caller gives beside documents, and those that documents bring along.

A fact is said by a text. So where none are given at all, the facts of a document stay as long as
its text does, and go with it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeVar, cast

from clew.document import Document
from clew.index.contents import IndexContents
from clew.read import Triple
from clew.read.assembly import check_owners

FactsOf = Mapping[str, Sequence[Triple]]
"""Triples by the id of a document."""

Triples = TypeVar("Triples", bound=Sequence[Triple])


def collect_facts(
    documents: Sequence[Document],
    facts: Mapping[str, Iterable[Triple]] | None,
    there: Collection[str] = (),
) -> dict[str, list[Triple]]:
    """Return the facts that the caller gave and those that the documents brought, by document id.

    Args:
        documents: What came.
        facts: Triples by document id.
        there: As in `checked_facts`.

    Raises:
        TypeError, ValueError: As in `checked_facts`.

    Example:
        >>> document = Document("a", "The sea.", facts=[("sea", "is", "wide")])
        >>> collect_facts([document], {"a": [["sea", "is", "deep"]]})
        {'a': [('sea', 'is', 'deep'), ('sea', 'is', 'wide')]}
    """
    collected = checked_facts(documents, facts, there)
    for document in documents:
        if document.facts:
            own = _as_triples(document.id, document.facts)
            collected[document.id] = [*collected.get(document.id, ()), *own]
    return collected


def checked_facts(
    documents: Sequence[Document],
    facts: Mapping[str, Iterable[Triple]] | None,
    there: Collection[str] = (),
) -> dict[str, list[Triple]]:
    """Return the facts that the caller gave, as tuples, where all are of what came.

    What documents say that they are pieces of, by their `source`, may have facts, too.

    Args:
        documents: What came.
        facts: Triples by document id; None for none.
        there: The ids of documents that are in the index already; of these, only facts of what
            came again are taken.

    Raises:
        TypeError: The facts are no mapping, or those of a document are no triples.
        ValueError: Facts were given for a document that did not come.

    Example:
        >>> checked_facts([Document("a", "The sea.")], {"a": [["sea", "is", "deep"]]})
        {'a': [('sea', 'is', 'deep')]}
    """
    if facts is not None and not isinstance(facts, Mapping):
        raise TypeError(
            "facts are triples by document id, {id: [(subject, relation, object)]}; "
            f"got a {type(facts).__name__}"
        )
    checked = {id: _as_triples(id, triples) for id, triples in (facts or {}).items()}
    if checked:
        came = {document.id for document in documents}
        check_owners(checked, came | (owners_of_facts(documents) - set(there)))
    return checked


def facts_after(
    index: IndexContents,
    came: Sequence[Document],
    facts: Mapping[str, Iterable[Triple]] | None,
    *,
    others_go: bool = False,
) -> dict[str, list[Triple]]:
    """Return the facts of what came to an index, in the place of what has the same ids there.

    Args:
        index: The index before.
        came: What came.
        facts: Triples by document id, which say all; or None, where what was given for a document
            stays if its text is the same, and what it brought is replaced.
        others_go: Whether all else goes: then what has pieces alone among what came may have been a
            document.

    Raises:
        TypeError, ValueError: As in `checked_facts`.

    Example:
        >>> there = Document("a", "The sea is deep.")
        >>> index = IndexContents(None, None, (there,), {"a": [("sea", "is", "deep")]})
        >>> facts_after(index, [there], None), facts_after(index, [Document("a", "Low.")], None)
        ({'a': [('sea', 'is', 'deep')]}, {})
    """
    there = index.document_of
    collected = collect_facts(came, facts, () if others_go else there)
    if facts is not None or not index.facts:
        return collected
    for document in came:
        known, before = index.facts.get(document.id), there.get(document.id)
        if not known or before is None or before.text != document.text:
            continue
        given, own = _without_brought(known, before), collected.get(document.id, [])
        if not before.facts and own and given[-len(own) :] == own:
            own = []  # an index that an earlier version saved does not say what a document brought
        if given:
            collected[document.id] = [*given, *own]
    return collected


def owners_of_facts(documents: Iterable[Document]) -> set[str]:
    """Return the ids that facts may be given for: of documents, and of what they are pieces of.

    Example:
        >>> sorted(owners_of_facts([Document("a-1", "The sea.", source="a")]))
        ['a', 'a-1']
    """
    ids = set[str]()
    for document in documents:
        ids.add(document.id)
        if document.source is not None:
            ids.add(document.source)
    return ids


def whole_sources(came: Iterable[Document], staying: Iterable[Document]) -> set[str]:
    """Return the sources of which all pieces came, so that what is given says all of them.

    Args:
        came: What came.
        staying: What is in the index and stays, where nothing of the same id came.

    Example:
        >>> page = Document("p1", "The sea is deep.", source="book")
        >>> other = Document("p2", "The sea is wide.", source="book")
        >>> whole_sources([page], [page]), whole_sources([page], [page, other])
        ({'book'}, set())
    """
    pieces = {document.id: document.source for document in came}
    others = {document.source for document in staying if document.id not in pieces}
    return {source for source in pieces.values() if source is not None} - others


def facts_left(
    facts: Mapping[str, Triples], documents: Iterable[Document]
) -> Mapping[str, Triples]:
    """Return the facts of what is left; those of a source go with the last of its pieces.

    Args:
        facts: Triples by document id.
        documents: What is left.

    Example:
        >>> facts_left({"a": [], "b": []}, [Document("b", "The sea.")])
        {'b': []}
    """
    if not facts:
        return facts
    owners = owners_of_facts(documents)
    return {id: triples for id, triples in facts.items() if id in owners}


def facts_of_sources_after(
    index: IndexContents,
    documents: Sequence[Document],
    facts: FactsOf,
    *,
    settled: Collection[str] = (),
) -> dict[str, Sequence[Triple]] | None:
    """Return the facts of what is no document itself, but has pieces that are; None if they stay.

    Args:
        index: The index before.
        documents: Those of the next index.
        facts: Triples by document id, of what came.
        settled: The ids that have no others, as `whole_sources` returns them.

    Example:
        >>> page = Document("page", "The sea is deep.", source="book")
        >>> index, said = IndexContents(None, None, (page,)), {"book": [("sea", "is", "deep")]}
        >>> facts_of_sources_after(index, [page], said) == said
        True
    """
    if not index.facts and not facts:
        return None
    before = {id: said for id, said in index.facts.items() if id not in index.document_of}
    ids = {document.id for document in documents}
    new = {id: said for id, said in facts.items() if id not in ids}
    stay = {id: said for id, said in before.items() if id not in settled}
    after = dict(facts_left({**stay, **new}, documents))
    return None if after == before else after


def changed_facts(before: IndexContents, after: IndexContents) -> tuple[str, ...]:
    """Return the ids of documents that are in two indexes, with other facts that came with them.

    Args:
        before: An index.
        after: What a change has made of it.

    Example:
        >>> there = (Document("a", "The sea is deep."),)
        >>> before = IndexContents(None, None, there, {"a": [("sea", "is", "deep")]})
        >>> changed_facts(before, IndexContents(None, None, there))
        ('a',)
    """
    if before.facts is after.facts:
        return ()
    ids = before.facts.keys() | after.facts.keys()
    return tuple(
        id
        for id in after.document_of
        if id in ids
        and id in before.document_of
        and list(before.facts.get(id, ())) != list(after.facts.get(id, ()))
    )


def _without_brought(known: Sequence[Triple], before: Document) -> list[Triple]:
    """Return facts of a document without those that it brought along, which come last."""
    brought = _as_triples(before.id, before.facts)
    listed = _as_triples(before.id, known)  # an older index that was pickled has lists
    is_known = bool(brought) and listed[-len(brought) :] == brought
    return listed[: -len(brought)] if is_known else listed


def _as_triples(id: str, triples: object) -> list[Triple]:
    """Return triples as tuples, as they are again when they are loaded.

    Raises:
        TypeError: They are no triples.
    """
    if isinstance(triples, (str, bytes, Mapping)) or not isinstance(triples, Iterable):
        raise TypeError(
            "the facts of a document are a list of triples, [(subject, relation, object)]; "
            f"document {id!r} has {triples!r}"
        )
    listed = list(triples)
    if set(map(type, listed)) <= {tuple}:
        return listed
    return [
        cast("Triple", tuple(one))
        if isinstance(one, Sequence) and not isinstance(one, str)
        else one
        for one in listed
    ]
