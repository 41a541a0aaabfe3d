"""Documents become the nodes of a graph, with the facts said in them; vectors and edges come later."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from clew.document import Document
from clew.graph import EMPTY, Facts, Graph, Labels, Ragged, freeze
from clew.read.extract.extractor import Passage, Triple, extract_triples
from clew.read.formats.markdown import front_title
from clew.read.header_metadata import headers_of
from clew.text.words import fold_case, words


@dataclass(frozen=True)
class Piece:
    """A part of a document: a "section" (its text is the heading), a "passage" or a "sentence".

    `start` and `end` are its place in the document's text; `parent` is the position in the list of pieces of the section or passage
    around it, or None for the document itself; `references` are the link targets written in it.
    """

    kind: str
    text: str
    start: int
    end: int
    parent: int | None = None
    references: tuple[str, ...] = ()


class Split(Protocol):
    """Cuts a document into pieces; a single passage that covers it keeps the document whole."""

    def __call__(self, document: Document) -> Sequence[Piece]: ...


def assemble(
    documents: Sequence[Document],
    pieces: Sequence[Sequence[Piece]],
    facts: Mapping[str, Iterable[Triple]] | None,
    count: Callable[[str], int],
    extractor: Any = None,
) -> Graph:
    """Return the graph of the documents' pieces, the entities and the facts, without vectors and edges.

    A document whose only piece is one passage is that passage and keeps its id; others become a container, with pieces named
    `{id}#{start}-{end}` (sections with `:section` behind it). Facts are read from the passage of their document that names both ends,
    else one end, else from its first; those that an extractor reads are read from the passage it was shown.
    """
    nodes = _Nodes()
    for document, parts in zip(documents, pieces, strict=True):
        nodes.add(document, parts)
    nodes.tie()
    return nodes.graph(
        facts or {}, nodes.extracted(extractor) if extractor is not None else {}, count
    )


def passages_in(documents: Sequence[Document], pieces: Sequence[Sequence[Piece]]) -> list[Passage]:
    """Return the passages that `assemble` would show an extractor."""
    nodes = _Nodes()
    for document, parts in zip(documents, pieces, strict=True):
        nodes.add(document, parts)
    nodes.tie()
    return nodes.passages()


class _Nodes:
    """Columns under construction."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.row: dict[str, int] = {}
        self.of_document: dict[str, list[int]] = {}
        self.ties: list[tuple[int, Document]] = []

    def add(self, document: Document, parts: Sequence[Piece]) -> None:
        whole = len(parts) == 1 and parts[0].kind == "passage"
        shared = {"metadata": document.metadata, "original": document.original}
        if whole or document.heading:
            kind = "section" if document.heading else "passage"
            span = document.span or (0, len(document.text))
            references = document.references or (parts[0].references if parts else ())
            top = self._new(
                document.id,
                kind,
                document.text,
                span,
                references=references,
                vector=document.vector,
                **shared,
            )
            self.of_document[document.id] = [] if document.heading else [top]
            self.ties.append((top, document))
            return
        title = (
            _title(document)
            or (front_title(document.text) if document.format == "markdown" else None)
            or ""
        )
        top = self._new(
            document.id,
            "document",
            title,
            (0, len(document.text)),
            references=document.references,
            **shared,
        )
        self.ties.append((top, document))
        rows: list[int] = []
        previous: dict[str, int] = {}
        for piece in parts:
            name = f"{document.id}#{piece.start}-{piece.end}" + {
                "section": ":section",
                "sentence": ":sentence",
            }.get(piece.kind, "")
            row = self._new(
                name,
                piece.kind,
                piece.text,
                (piece.start, piece.end),
                references=piece.references,
                metadata=document.metadata,
            )
            self.rows[row] |= {
                "document": top,
                "parent": top if piece.parent is None else rows[piece.parent],
                "previous": previous.get(piece.kind, -1),
            }
            previous[piece.kind] = row
            rows.append(row)
        self.of_document[document.id] = [row for row in rows if self.rows[row]["kind"] == "passage"]

    def tie(self) -> None:
        """Resolve what whole documents say of their place: source, container, predecessor."""
        for row, document in self.ties:
            for name, other in (("parent", document.parent), ("previous", document.previous)):
                if other in self.row:
                    self.rows[row][name] = self.row[other]
            if document.source is not None and document.source != document.id:
                if document.source not in self.row:
                    self._new(document.source, "document", _title(document), (0, 0))
                source = self.row[document.source]
                if document.span is not None and self.rows[row]["kind"] != "document":
                    self.rows[row]["document"] = (
                        source  # without a known place, or itself cut, it keeps a text of its own
                    )
                if self.rows[row]["parent"] < 0:
                    self.rows[row]["parent"] = source
                self.of_document.setdefault(document.source, []).extend(
                    self.of_document[document.id]
                )
        self._under_headers()
        for row, node in enumerate(
            self.rows
        ):  # a heading that came as a document has the passages under it
            above = node["parent"] if node["kind"] == "passage" else -1
            while above >= 0:
                if (
                    self.rows[above]["kind"] == "section"
                    and self.rows[above]["id"] in self.of_document
                ):
                    self.of_document[self.rows[above]["id"]].append(row)
                above = self.rows[above]["parent"]

    def _under_headers(self) -> None:
        """Make a section of every heading that stands only in the metadata of a framework's pieces, and put these into them."""
        for row, document in self.ties:
            above = self.rows[row]["parent"]
            if self.rows[row]["kind"] != "passage" or (
                above >= 0 and self.rows[above]["kind"] != "document"
            ):
                continue
            name = document.source or str(document.metadata.get("source") or "")
            for title in headers_of(document.text, document.metadata):
                name = f"{name}#{title}"
                if f"{name}:section" not in self.row:
                    made = self._new(f"{name}:section", "section", title, (0, 0), parent=above)
                    self.rows[made]["document"] = (
                        made if above < 0 else self.rows[above]["document"]
                    )
                above = self.row[f"{name}:section"]
            self.rows[row]["parent"] = above

    def _new(self, id: str, kind: str, text: str, span: tuple[int, int], **more: Any) -> int:
        row = len(self.rows)
        self.rows.append(
            {
                "id": id,
                "kind": kind,
                "text": text,
                "span": span,
                "document": row,
                "parent": -1,
                "previous": -1,
            }
            | more
        )
        if id in self.row:
            raise ValueError(f"every document needs an id of its own: {id!r} came more than once")
        self.row[id] = row
        return row

    def extracted(self, extractor: Any) -> dict[int, list[Triple]]:
        """What an extractor reads, by passage."""
        rows = [row for row, node in enumerate(self.rows) if node["kind"] == "passage"]
        return dict(zip(rows, extract_triples(extractor, self.passages()), strict=True))

    def passages(self) -> list[Passage]:
        """What an extractor is shown."""
        return [self._shown(row) for row, node in enumerate(self.rows) if node["kind"] == "passage"]

    def _shown(self, row: int) -> Passage:
        node = self.rows[row]
        above = self.rows[node["document"]] if node["document"] != row else None
        title = node.get("metadata", EMPTY).get("title") or (
            above["text"] if above and above["kind"] == "document" else ""
        )
        return Passage(node["id"], node["text"], " ".join(str(title).split()))

    def graph(
        self,
        given: Mapping[str, Iterable[Triple]],
        extracted: Mapping[int, Iterable[Triple]],
        count: Callable[[str], int],
    ) -> Graph:
        unknown = [id for id in given if id not in self.of_document]
        if unknown:
            raise ValueError(
                f"facts were given for {len(unknown)} documents that did not come, for instance {unknown[0]!r}"
            )
        triples: dict[Triple, dict[int, None]] = {}
        names: dict[str, str] = {}
        read: dict[str, dict[int, None]] = {}
        sources = [(id, self.of_document[id], said) for id, said in given.items()]
        sources += [(self.rows[row]["id"], [row], said) for row, said in extracted.items()]
        for id, passages, said in sources:
            for triple in said:
                subject, relation, object = _triple(triple, id)
                ends = fold_case(subject), fold_case(object)
                if not passages:
                    raise ValueError(
                        f"facts were given for {id!r}, which has no passage to read them from"
                    )
                if not all(ends):
                    continue
                passage = self._where_said(passages, ends)
                for end, name in zip(ends, (subject, object), strict=True):
                    names.setdefault(end, name)
                    read.setdefault(end, {})[passage] = None
                triples.setdefault((ends[0], " ".join(relation.split()), ends[1]), {})[passage] = (
                    None
                )
        n = len(self.rows)
        entity = {end: n + i for i, end in enumerate(names)}
        columns = {
            name: [row.get(name, default) for row in self.rows]
            for name, default in _DEFAULTS.items()
        }
        m, texts = len(names), columns["text"]
        relations = [relation for _, relation, _ in triples]
        said_texts = tuple(" ".join((names[a], relation, names[b])) for a, relation, b in triples)
        return Graph.of(
            [*texts, *names.values()],
            ids=[*columns["id"], *(f"entity:{end}" for end in names)],
            kinds=[*columns["kind"], *["entity"] * m],
            count=count,
            documents=[*columns["document"], *[-1] * m],
            parents=[*columns["parent"], *[-1] * m],
            previous=[*columns["previous"], *[-1] * m],
            spans=[*columns["span"], *[(0, 0)] * m],
            references=(*columns["references"], *[()] * m),
            metadata=(*columns["metadata"], *[EMPTY] * m),
            originals=(*columns["original"], *[None] * m),
            read_from=Ragged.of([*[()] * n, *read.values()]),
            vectors=_known_vectors(columns["vector"], m),
            facts=Facts(
                said_texts,
                freeze(np.zeros((len(triples), 0)), np.float32),
                freeze([entity[subject] for subject, _, _ in triples], np.int32),
                freeze([entity[object] for _, _, object in triples], np.int32),
                Labels.of(relations),
                Ragged.of(triples.values()),
            ),
        )

    def _where_said(self, passages: list[int], ends: tuple[str, str]) -> int:
        if len(passages) == 1:
            return passages[0]
        spelt = [_spelt(end) for end in ends]
        named = [sum(end in self._words(row) for end in spelt) for row in passages]
        return passages[named.index(max(named))]

    def _words(self, row: int) -> str:
        if "words" not in self.rows[row]:
            self.rows[row]["words"] = _spelt(self.rows[row]["text"])
        return str(self.rows[row]["words"])


_DEFAULTS: dict[str, Any] = {
    "id": "",
    "kind": "",
    "text": "",
    "span": (0, 0),
    "document": -1,
    "parent": -1,
    "previous": -1,
    "references": (),
    "metadata": EMPTY,
    "original": None,
    "vector": None,
}


def _title(document: Document) -> str:
    """What a container is headed by; an id is no title: it is often a row of digits."""
    return str(document.metadata.get("title") or document.metadata.get("file_name") or "")


def _spelt(text: str) -> str:
    """The words of a text, each between spaces, so that "Ur" is not found in "your"."""
    return f" {' '.join(words(text))} "


def _triple(triple: Any, id: str) -> Triple:
    if (
        isinstance(triple, str)
        or len(triple) != 3
        or not all(isinstance(part, str) for part in triple)
    ):
        raise ValueError(
            f"a fact is (subject, relation, object), three strings; document {id!r} has {triple!r}"
        )
    return triple[0], triple[1], triple[2]


def _known_vectors(vectors: list[Any], entities: int) -> Any:
    widths = sorted({len(v) for v in vectors if v is not None})
    if not widths:
        return None
    if len(widths) > 1:
        raise ValueError(
            f"vectors that are given must all have one dimension; got {', '.join(map(str, widths))}"
        )
    width = widths[0]
    return np.array(
        [np.zeros(width) if v is None else v for v in vectors] + [np.zeros(width)] * entities,
        np.float32,
    )
