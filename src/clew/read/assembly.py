"""Documents become the nodes and facts of a graph; vectors and edges come later."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from clew.document import Document
from clew.graph import EMPTY, Graph, Ragged, Vectors, freeze, seal
from clew.graph.link_targets import ANCHOR
from clew.read.collected_facts import CollectedFacts, ReadFacts
from clew.read.extract.cached_extractor import CachedExtractor
from clew.read.extract.extractor import Passage, Triple, extract_triples
from clew.read.formats.table import find_declared_title
from clew.read.header_metadata import headings_above
from clew.read.pieces import Piece, covers
from clew.text.estimate import estimate_tokens
from clew.text.kept import Kept
from clew.text.metadata_text import text_under
from clew.text.tokens import count_listed
from clew.text.words import fold_case, words

ID_ENDINGS = {"section": ":section", "sentence": ":sentence"}  # of the ids of pieces, by kind
NO_ROW = -1
MAX_KEPT_SOURCES = 256  # with facts, such as candidates, of which it is kept how they are collected
PREPARED = Kept[tuple[Triple, ...], ReadFacts](2_048)


def assemble(
    documents: Sequence[Document],
    pieces: Sequence[Sequence[Piece]],
    facts: Mapping[str, Iterable[Triple]] | None,
    count: Callable[[str], int],
    extractor: object = None,
) -> Graph:
    """Return the graph of the pieces, the entities and the facts, without vectors and edges.

    A document whose only piece is one passage is that passage, and keeps its id. Any other becomes
    a container with pieces named `{id}#{start}-{end}`; sections end in `:section`, sentences in
    `:sentence`.

    Args:
        documents: The documents.
        pieces: The pieces of every document.
        facts: Triples by document id. A triple is read from the first passage of its document that
            names both ends, else one end, else from the first passage.
        count: The tokenizer, text -> number of tokens.
        extractor: Reads more triples, each from the passage that it was shown; see `Extractor`.

    Raises:
        ValueError: An id is repeated, or facts have no document, no passage or not three parts.

    Example:
        >>> document = Document("moon", "Moon rules Sea.")
        >>> piece = Piece("passage", document.text, 0, 15)
        >>> facts = {"moon": [("Moon", "rules", "Sea")]}
        >>> assemble([document], [[piece]], facts, count=len).ids
        ('moon', 'entity:moon', 'entity:sea')
    """
    nodes = _collect_nodes(documents, pieces)
    tokens, triples = None, dict[int, list[Triple]]()
    own = extractor if isinstance(extractor, CachedExtractor) else None
    if own is not None and not own.is_divided:
        tokens = _show_passages(nodes, own, count)
    if extractor is not None:
        triples = nodes.extract(extractor)
    if own is not None and own.is_divided:  # others read until now
        tokens = _show_passages(nodes, own, count)
    read = _collect_facts(nodes, facts or {}, triples)
    del triples  # they are gone when the graph is built
    return _build_graph(nodes.nodes, read, count, tokens)


def _show_passages(
    nodes: _Nodes, extractor: CachedExtractor, count: Callable[[str], int]
) -> NDArray[np.int32] | None:
    """Call what an extractor has with the graph of the pieces, and return the tokens of these."""
    if extractor.before is None:
        return None
    alone = _build_graph(nodes.nodes, CollectedFacts(), count)
    extractor.before(alone)
    return alone.tokens


def check_owners(facts: Iterable[str], owners: Container[str]) -> None:
    """Check that facts are given for what came.

    Args:
        facts: The ids that facts are given for.
        owners: The ids of what came.

    Raises:
        ValueError: Some did not.

    Example:
        >>> check_owners(["a"], {"a", "b"})
    """
    unknown = [id for id in facts if id not in owners]
    if unknown:
        raise ValueError(
            f"facts were given for {len(unknown)} documents that did not come, "
            f"for instance {unknown[0]!r}"
        )


def passages_to_extract(
    documents: Sequence[Document], pieces: Sequence[Sequence[Piece]]
) -> list[Passage]:
    """Return the passages that `assemble` would show an extractor."""
    return _collect_nodes(documents, pieces).passages()


def passages_of_rows(
    graph: Graph, rows: Sequence[int], documents: Mapping[str, Document]
) -> list[Passage]:
    """Return passages of a graph as `assemble` showed them to an extractor.

    Args:
        graph: The graph.
        rows: The rows of passages.
        documents: The documents that the graph was made of, by their ids.

    Example:
        >>> document = Document("moon", "Moon rules Sea.")
        >>> graph = assemble([document], [[Piece("passage", document.text, 0, 15)]], None, len)
        >>> passages_of_rows(graph, [0], {"moon": document})[0].text
        'Moon rules Sea.'
    """
    passages: list[Passage] = []
    for row in rows:
        container = int(graph.documents[row])
        around = documents.get(graph.ids[container])
        own = documents.get(graph.ids[row], around)
        is_titled = graph.kinds[container] == "document"
        passages.append(
            Passage(
                graph.ids[row],
                graph.texts[row],
                _shown_title(graph.metadata[row], graph.texts[container] if is_titled else ""),
                graph.ids[container],
                0 if container == row else int(graph.spans[row, 0]),
                "text" if own is None else own.format,
                graph.metadata[row],
                "" if around is None else around.text,
            )
        )
    return passages


@dataclass(slots=True)
class _Node:
    """A row of the graph under construction; other rows are named by their number."""

    id: str
    kind: str
    text: str
    span: tuple[int, int]
    document: int
    parent: int = NO_ROW
    previous: int = NO_ROW
    references: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = EMPTY
    format: str = "text"
    original: object = None
    vector: Vectors | None = None
    tokens: int | None = None  # by clew's estimate, where they are known already


class _Nodes:
    """The rows of the graph under construction, without entities.

    Attributes:
        nodes: The rows.
        row_of: The row of every id.
        passages_of: The rows of the passages of every document, by its id.
    """

    def __init__(self) -> None:
        self.nodes: list[_Node] = []
        self.row_of: dict[str, int] = {}
        self.passages_of: dict[str, list[int]] = {}
        self._documents: list[tuple[int, Document]] = []
        self._spelt: dict[int, str] = {}
        self._text_of_row: dict[int, str] = {}  # of documents

    def add(self, document: Document, pieces: Sequence[Piece]) -> None:
        """Add the rows of a document."""
        is_one = len(pieces) == 1 and pieces[0].kind == "passage"
        is_whole = is_one and (document.heading or covers(pieces[0], document))
        if is_whole or document.heading:
            row = self._add_whole(document, pieces)
            self.passages_of[document.id] = [] if document.heading else [row]
        else:
            row = self._add_container(document)
            self.passages_of[document.id] = self._add_pieces(document, row, pieces)
        self._documents.append((row, document))
        self._text_of_row[row] = document.text

    def relate_documents(self) -> None:
        """Resolve what documents tell of their place: source, container and predecessor."""
        for row, document in self._documents:
            node = self.nodes[row]
            if document.parent in self.row_of:
                node.parent = self.row_of[document.parent]
            if document.previous in self.row_of:
                node.previous = self.row_of[document.previous]
            if document.source is not None and document.source != document.id:
                self._put_into_source(row, document, document.source)
        self._add_sections_of_metadata()
        self._count_passages_below_headings()

    def extract(self, extractor: object) -> dict[int, list[Triple]]:
        """Return the triples that an extractor reads, by the row of the passage."""
        rows = [row for row, node in enumerate(self.nodes) if node.kind == "passage"]
        return dict(zip(rows, extract_triples(extractor, self.passages()), strict=True))

    def passages(self) -> list[Passage]:
        """Return what an extractor is shown."""
        return [self._passage(node) for node in self.nodes if node.kind == "passage"]

    def choose_passage(self, rows: Sequence[int], ends: Sequence[str]) -> int:
        """Return the first of the passages that names most of the two ends of a fact."""
        if len(rows) == 1:
            return rows[0]
        spelt = [_spell(end) for end in ends]
        named = [sum(end in self._spelt_text(row) for end in spelt) for row in rows]
        return rows[named.index(max(named))]

    def _append(self, node: _Node) -> int:
        row = len(self.nodes)
        if node.id in self.row_of:
            raise ValueError(
                f"every document needs an id of its own: {node.id!r} came more than once"
            )
        self.nodes.append(node)
        self.row_of[node.id] = row
        return row

    def _next_row(self) -> int:
        return len(self.nodes)

    def _add_whole(self, document: Document, pieces: Sequence[Piece]) -> int:
        is_piece = len(pieces) == 1 and pieces[0].text == document.text
        return self._append(
            _Node(
                document.id,
                "section" if document.heading else "passage",
                document.text,
                document.span or (0, len(document.text)),
                document=self._next_row(),
                references=_references_of_whole(document, pieces),
                metadata=document.metadata,
                format=document.format,
                original=document.original,
                vector=document.vector,
                tokens=pieces[0].tokens if is_piece else None,
            )
        )

    def _add_container(self, document: Document) -> int:
        declared = _title(document) or find_declared_title(document.text, document.format)
        return self._append(
            _Node(
                document.id,
                "document",
                declared or "",
                (0, len(document.text)),
                document=self._next_row(),
                references=document.references,
                metadata=document.metadata,
                original=document.original,
            )
        )

    def _add_pieces(self, document: Document, top: int, pieces: Sequence[Piece]) -> list[int]:
        """Add the pieces of a container, and return the rows of its passages."""
        rows: list[int] = []
        last_of_kind: dict[str, int] = {}
        anchors = _anchors_in(document, pieces)
        for i, piece in enumerate(pieces):
            ending = ID_ENDINGS.get(piece.kind, "")
            row = self._append(
                _Node(
                    f"{document.id}#{piece.start}-{piece.end}{ending}",
                    piece.kind,
                    piece.text,
                    (piece.start, piece.end),
                    document=top,
                    parent=top if piece.parent is None else rows[piece.parent],
                    previous=last_of_kind.get(piece.kind, NO_ROW),
                    references=_joined(piece.references, anchors.get(i, ())),
                    metadata=document.metadata,
                    format=document.format,
                    tokens=piece.tokens,
                )
            )
            last_of_kind[piece.kind] = row
            rows.append(row)
        return [row for row in rows if self.nodes[row].kind == "passage"]

    def _put_into_source(self, row: int, document: Document, source_id: str) -> None:
        if source_id not in self.row_of:
            title = _title(document)
            self._append(_Node(source_id, "document", title, (0, 0), document=self._next_row()))
        source, node = self.row_of[source_id], self.nodes[row]
        if document.span is not None and node.kind != "document":
            # Without a known place, or cut itself, it keeps a text of its own.
            node.document = source
        if node.parent == NO_ROW:
            node.parent = source
        self.passages_of.setdefault(source_id, []).extend(self.passages_of[document.id])

    def _add_sections_of_metadata(self) -> None:
        """Put pieces under the headings that only a framework's metadata names."""
        for row, document in self._documents:
            above = self.nodes[row].parent
            in_section = above != NO_ROW and self.nodes[above].kind != "document"
            if self.nodes[row].kind != "passage" or in_section:
                continue
            name = document.source or text_under(document.metadata, "source")
            for heading in headings_above(document.text, document.metadata):
                name = f"{name}#{heading}"
                above = self._section(f"{name}:section", heading, above)
            self.nodes[row].parent = above

    def _section(self, id: str, heading: str, above: int) -> int:
        if id not in self.row_of:
            top = self._next_row() if above == NO_ROW else self.nodes[above].document
            self._append(_Node(id, "section", heading, (0, 0), document=top, parent=above))
        return self.row_of[id]

    def _count_passages_below_headings(self) -> None:
        """Give a heading that came as a document the passages below it."""
        for row, node in enumerate(self.nodes):
            above = node.parent if node.kind == "passage" else NO_ROW
            while above != NO_ROW:
                container = self.nodes[above]
                if container.kind == "section" and container.id in self.passages_of:
                    self.passages_of[container.id].append(row)
                above = container.parent

    def _passage(self, node: _Node) -> Passage:
        container = self.nodes[node.document]
        return Passage(
            node.id,
            node.text,
            _shown_title(node.metadata, container.text if container.kind == "document" else ""),
            container.id,
            0 if container is node else node.span[0],
            node.format,
            node.metadata,
            self._text_of_row.get(node.document, ""),
        )

    def _spelt_text(self, row: int) -> str:
        if row not in self._spelt:
            self._spelt[row] = _spell(self.nodes[row].text)
        return self._spelt[row]


def _references_of_whole(document: Document, pieces: Sequence[Piece]) -> tuple[str, ...]:
    """Return the links of a document that is one node, and what an address may lead to in it."""
    links = document.references or (pieces[0].references if pieces else ())
    targets = () if document.source_map is None else document.source_map.targets
    return _joined(links, [f"{ANCHOR}{name}" for name in targets])


def _anchors_in(document: Document, pieces: Sequence[Piece]) -> dict[int, list[str]]:
    """Return what an address may lead to in each piece: a section by its heading, or a passage.

    Args:
        document: The document.
        pieces: Its pieces, by place.
    """
    anchors: dict[int, list[str]] = {}
    if document.source_map is None or not document.source_map.targets:
        return anchors
    known = [i for i, piece in enumerate(pieces) if piece.kind in ("section", "passage")]
    starts = [pieces[i].start for i in known]
    source = document.source_map
    for place, name in zip(source.target_places.tolist(), source.targets, strict=True):
        if known:
            i = known[max(0, bisect_right(starts, place) - 1)]
            anchors.setdefault(i, []).append(f"{ANCHOR}{name}")
    return anchors


def _joined(links: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*links, *more))) if more else tuple(links)


def _collect_nodes(documents: Sequence[Document], pieces: Sequence[Sequence[Piece]]) -> _Nodes:
    nodes = _Nodes()
    for document, parts in zip(documents, pieces, strict=True):
        nodes.add(document, parts)
    nodes.relate_documents()
    return nodes


def _collect_facts(
    nodes: _Nodes,
    facts: Mapping[str, Iterable[Triple]],
    extracted: Mapping[int, Iterable[Triple]],
) -> CollectedFacts:
    check_owners(facts, nodes.passages_of)
    sources = [(id, nodes.passages_of[id], triples) for id, triples in facts.items()]
    sources += [(nodes.nodes[row].id, [row], triples) for row, triples in extracted.items()]
    read, folded, spaced = CollectedFacts(), _Known(fold_case), _Known(_with_single_spaces)
    keeps = len(sources) <= MAX_KEPT_SOURCES
    for id, passages, triples in sources:
        listed = tuple(triples)
        prepared = _prepared(listed, id, folded, spaced, keeps)
        if listed and not passages:
            raise ValueError(f"facts were given for {id!r}, which has no passage to read them from")
        if len(passages) == 1:
            read.add(prepared, passages[0])
            continue
        for fact in prepared.each():
            read.add(fact, nodes.choose_passage(passages, fact.ends))
    return read


def _prepared(
    listed: tuple[Triple, ...], id: str, folded: _Known, spaced: _Known, keeps: bool
) -> ReadFacts:
    """Return the triples of a document as they are collected, without those with a blank end.

    Args:
        listed: The triples.
        id: The document.
        folded: Folds the case of names.
        spaced: Writes relations with single spaces.
        keeps: Whether what is made of them is kept; it is not where one is no tuple.
    """
    try:
        known = PREPARED.get(listed) if keeps else None
    except TypeError:  # one is a list
        known = None
    if known is not None:
        return known
    are_tuples = set(map(type, listed)) <= _TUPLES
    keeps = keeps and are_tuples
    prepared = _prepared_at_once(listed, folded, spaced) if are_tuples and listed else None
    if prepared is not None:
        return PREPARED.put(listed, prepared) if keeps else prepared
    ends, names, relations = list[str](), list[str](), list[str]()
    for triple in listed:
        subject, relation, object = _check_triple(triple, id)
        first, second = folded[subject], folded[object]
        if first and second:
            ends += (first, second)
            names += (subject, object)
            relations.append(spaced[relation])
    prepared = ReadFacts(tuple(ends), tuple(names), tuple(relations))
    return PREPARED.put(listed, prepared) if keeps else prepared


def _prepared_at_once(
    listed: tuple[Triple, ...], folded: _Known, spaced: _Known
) -> ReadFacts | None:
    """Return what `_prepared` does of tuples; None where one is no fact of three plain strings.

    Args:
        listed: The triples, at least one.
        folded: As there.
        spaced: As there.
    """
    parts = tuple(chain.from_iterable(listed))
    if set(map(len, listed)) != {3} or set(map(type, parts)) != {str}:
        return None
    names = [""] * (2 * len(listed))
    names[::2], names[1::2] = parts[::3], parts[2::3]
    ends = list(map(folded.__getitem__, names))
    relations = list(map(spaced.__getitem__, parts[1::3]))
    if not all(ends):  # as hardly ever
        kept = [i for i in range(len(listed)) if ends[2 * i] and ends[2 * i + 1]]
        places = [place for i in kept for place in (2 * i, 2 * i + 1)]
        ends, names = [ends[place] for place in places], [names[place] for place in places]
        relations = [relations[i] for i in kept]
    return ReadFacts(tuple(ends), tuple(names), tuple(relations))


_TUPLES = {tuple}


class _Known(dict[str, str]):
    """What a function makes of names and relations; most come several times."""

    def __init__(self, function: Callable[[str], str]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, text: str) -> str:
        made = self[text] = self._function(text)
        return made


def _with_single_spaces(text: str) -> str:
    if "  " not in text and text.isprintable() and text == text.strip():
        return text  # as most are: no white space can be printed but a space
    return " ".join(text.split())


def _build_graph(
    nodes: Sequence[_Node],
    read: CollectedFacts,
    count: Callable[[str], int],
    tokens: NDArray[np.int32] | None = None,
) -> Graph:
    """Return the graph of the nodes, the entities behind them, and the facts.

    Args:
        nodes: The nodes.
        read: The entities and the facts.
        count: The tokenizer, text -> number of tokens.
        tokens: Of the nodes, where they are counted already; None to count them.
    """
    n, entities, names = len(nodes), len(read.names), read.names
    of_nodes = _tokens_of(nodes, count) if tokens is None else tokens
    of_entities = count_listed(list(names.values()), count)
    rows = np.full((3, n + entities), NO_ROW, np.int32)
    rows[:, :n] = [
        [node.document for node in nodes],
        [node.parent for node in nodes],
        [node.previous for node in nodes],
    ]
    spans = np.zeros((n + entities, 2), np.int32)
    if n:
        spans[:n] = [node.span for node in nodes]
    documents, parents, previous = map(seal, rows)
    return Graph.of(
        [*(node.text for node in nodes), *names.values()],
        ids=[*(node.id for node in nodes), *(f"entity:{end}" for end in names)],
        kinds=[*(node.kind for node in nodes), *["entity"] * entities],
        count=count,
        tokens=freeze(np.append(of_nodes, of_entities), np.int32),
        documents=documents,
        parents=parents,
        previous=previous,
        spans=seal(spans),
        references=(*(node.references for node in nodes), *[()] * entities),
        metadata=(*(node.metadata for node in nodes), *[EMPTY] * entities),
        originals=(*(node.original for node in nodes), *[None] * entities),
        read_from=Ragged.join([Ragged.empty(n), read.named_in()]),
        vectors=_known_vectors([node.vector for node in nodes], entities),
        facts=read.as_facts(first_entity=n),
    )


def _tokens_of(nodes: Sequence[_Node], count: Callable[[str], int]) -> list[int]:
    """Return the tokens of nodes; those that were estimated when they were cut, are not again."""
    found = [node.tokens if count is estimate_tokens else None for node in nodes]
    missing = [i for i, known in enumerate(found) if known is None]
    counted = count_listed([nodes[i].text for i in missing], count)
    for i, own in zip(missing, counted, strict=True):
        found[i] = own
    return cast("list[int]", found)


def _shown_title(metadata: Mapping[str, Any], above: str) -> str:
    """Return the title that an extractor is shown: a passage's own, or that of its document."""
    return " ".join((text_under(metadata, "title") or above).split())


def _title(document: Document) -> str:
    """Return the title of a container; an id is no title, since it is often a row of digits."""
    return text_under(document.metadata, "title") or text_under(document.metadata, "file_name")


def _spell(text: str) -> str:
    """Return the words of a text, each between spaces, so that "Ur" is not found in "your"."""
    return f" {' '.join(words(text))} "


def _check_triple(triple: Triple, id: str) -> Triple:
    is_row = type(triple) is tuple or (
        isinstance(triple, Collection) and not isinstance(triple, (str, Mapping, AbstractSet))
    )  # a dictionary would be the fact that its keys make, a set one in any order
    if is_row and len(triple) == 3:
        subject, relation, object = triple
        if type(subject) is type(relation) is type(object) is str or (
            isinstance(subject, str) and isinstance(relation, str) and isinstance(object, str)
        ):
            return subject, relation, object
    raise ValueError(
        f"a fact is (subject, relation, object), three strings; document {id!r} has {triple!r}"
    )


def _known_vectors(vectors: Sequence[Vectors | None], entities: int) -> Vectors | None:
    """Return the known vectors as one array, zero where none is known; None if none is known."""
    widths = sorted({len(vector) for vector in vectors if vector is not None})
    if not widths:
        return None
    if len(widths) > 1:
        raise ValueError(
            f"vectors that are given must all have one dimension; got {', '.join(map(str, widths))}"
        )
    array = np.zeros((len(vectors) + entities, widths[0]), np.float32)
    for row, vector in enumerate(vectors):
        if vector is not None:
            array[row] = vector
    return array
