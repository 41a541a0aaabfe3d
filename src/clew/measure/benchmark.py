"""Questions with the passages that answer them: a folder of plain files, opened and checked as a whole.

    corpus.jsonl    {"id", "title", "text"}; what is read and embedded is the title, a line end and the text
    queries.jsonl   {"id", "question", "gold_ids", ...}
    triples.jsonl, surface_triples.jsonl        optional: {"passage_id", "triples": [[subject, relation, object], ...]}
    *.npz           optional vectors of `passages` and `queries`, and of `entities` and `facts` (or `surface_entities` ...), whose rows
                    are those of entities.txt and facts.json (or surface_entities.txt ...)
    toklen.json     optional: a token count for every passage, for the reference count under a budget

Each may be gzipped, with `.gz` behind its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from clew.document import Document
from clew.graph import EMPTY
from clew.index.index import Index
from clew.measure.files import (
    found,
    json_of,
    lines_of,
    list_at,
    malformed,
    needed,
    text_at,
    text_of,
)
from clew.measure.stored_vectors import Stored
from clew.read import Triple

FACTS = ("triples", "surface_triples")
Names = Literal["ascii", "as_written"]


@dataclass(frozen=True)
class BenchmarkQuestion:
    """A question, the ids of the passages that answer it, and whatever else its line says (for analysis, never for a method)."""

    id: str
    text: str
    gold: tuple[str, ...]
    more: Mapping[str, Any] = field(default_factory=lambda: EMPTY, compare=False, repr=False)


@dataclass(frozen=True, eq=False)
class Benchmark:
    """A corpus, questions with gold passages, and what else is known of them; see the module for the files.

    Attributes:
        name: of the folder. documents: one per passage, kept whole. questions: each with at least one gold passage.
        facts: triples by passage id, as `Index.from_documents` takes them. embedder: what embeds, or None for the embedded default.
        lengths: a reference token count for every passage id, or empty. notes: what was left out, and how often, in words.
    """

    name: str
    documents: tuple[Document, ...]
    questions: tuple[BenchmarkQuestion, ...]
    facts: Mapping[str, tuple[Triple, ...]]
    embedder: Any = None
    lengths: Mapping[str, int] = field(default_factory=lambda: EMPTY)
    notes: tuple[str, ...] = ()

    @classmethod
    def open(
        cls,
        folder: str | Path,
        *,
        embedder: Any = None,
        vectors: bool | str = True,
        facts: Literal["any", "triples", "surface_triples", "none"] = "any",
        names: Names = "ascii",
    ) -> Benchmark:
        """Return the benchmark in a folder.

        Args:
            embedder: whatever `clew.Embedder.of` takes; it is used instead of vectors that lie in the folder.
            vectors: use the folder's vectors where there are any and no embedder came (a name: that file); False: never. Without
                vectors and embedder the index is made with the embedded default.
            facts: which file of triples is read; "any" is the first of triples and surface_triples that is there.
            names: "ascii" is HippoRAG's normal form of subjects, relations and objects, in which stored vectors are usually kept:
                lower case, everything but a-z, 0-9 and spaces replaced by a space; "as_written" leaves them alone.

        Raises:
            FileNotFoundError: a file that is needed or was asked for by name is not there.
            ValueError: a file is malformed (with file and line), or passages, questions, entities or facts have no vector (with counts).
        """
        if names not in ("ascii", "as_written"):
            raise ValueError(f"names is 'ascii' or 'as_written', got {names!r}")
        folder = Path(folder)
        if not folder.is_dir():
            raise FileNotFoundError(
                f"{folder} is not a folder: wanted one with corpus.jsonl and queries.jsonl in it"
            )
        documents = _documents(needed(folder, "corpus.jsonl"))
        known = {document.id for document in documents}
        questions = _questions(needed(folder, "queries.jsonl"), known)
        which = _which_facts(folder, facts)
        said, notes = (
            ({}, ()) if which is None else _facts(needed(folder, f"{which}.jsonl"), known, names)
        )
        if embedder is None and vectors:
            prefix = "" if which is None else which.removesuffix("triples")
            embedder = _stored(folder, vectors, prefix, documents, questions, said)
        return cls(
            folder.resolve().name,
            documents,
            questions,
            said,
            embedder,
            _lengths(folder, documents),
            notes,
        )

    def __repr__(self) -> str:
        triples = sum(map(len, self.facts.values()))
        return f"Benchmark({self.name!r}: {len(self.documents):,} passages, {len(self.questions):,} questions, {triples:,} triples)"

    def index(
        self,
        *,
        count: Callable[[str], int] | None = None,
        extractor: Any = None,
        progress: bool = False,
    ) -> Index:
        """Return the index of the corpus. Args: `count`, `extractor`, `progress` as in `clew.Index.from_documents`."""
        how = {
            "embedder": self.embedder,
            "facts": self.facts,
            "extractor": extractor,
            "count": count,
            "progress": progress,
        }
        return Index.from_documents(self.documents, **how)


def _documents(path: Path) -> tuple[Document, ...]:
    documents: list[Document] = []
    places: dict[str, str] = {}
    for place, record in lines_of(path):
        id = _new_id(place, record, places)
        title, text = (text_at(place, record, field, empty=True) for field in ("title", "text"))
        if not (title.strip() or text.strip()):
            raise ValueError(f"{place}: the passage {id!r} has neither a title nor a text")
        documents.append(Document(id, f"{title}\n{text}"))
    if not documents:
        raise ValueError(f"{path}: no passages in it")
    return tuple(documents)


def _questions(path: Path, known: set[str]) -> tuple[BenchmarkQuestion, ...]:
    questions: list[BenchmarkQuestion] = []
    places: dict[str, str] = {}
    for place, record in lines_of(path):
        id, text, gold = (
            _new_id(place, record, places),
            text_at(place, record, "question"),
            list_at(place, record, "gold_ids"),
        )
        strange = [one for one in gold if not isinstance(one, str) or one not in known]
        if strange or not gold:
            what = (
                f"the gold passage {strange[0]!r} is not in the corpus"
                if strange
                else "a question needs at least one gold passage"
            )
            raise ValueError(f"{place}: {what}")
        more = {
            key: value for key, value in record.items() if key not in ("id", "question", "gold_ids")
        }
        questions.append(BenchmarkQuestion(id, text, tuple(dict.fromkeys(gold)), more))
    if not questions:
        raise ValueError(f"{path}: no questions in it")
    return tuple(questions)


def _new_id(place: str, record: Mapping[str, Any], places: dict[str, str]) -> str:
    id = text_at(place, record, "id")
    if id in places:
        raise ValueError(f"{place}: the id {id!r} came before, at {places[id]}")
    places[id] = place
    return id


def _which_facts(folder: Path, facts: str) -> str | None:
    if facts not in (*FACTS, "any", "none"):
        raise ValueError(
            f"facts is one of 'any', 'none', {', '.join(map(repr, FACTS))}; got {facts!r}"
        )
    if facts == "any":
        return next((name for name in FACTS if found(folder, f"{name}.jsonl")), None)
    return None if facts == "none" else facts


def _facts(
    path: Path, known: set[str], names: Names
) -> tuple[dict[str, tuple[Triple, ...]], tuple[str, ...]]:
    said: dict[str, tuple[Triple, ...]] = {}
    nameless = 0
    for place, record in lines_of(path):
        passage, kept = text_at(place, record, "passage_id"), []
        if passage not in known:
            raise ValueError(f"{place}: the passage {passage!r} is not in the corpus")
        for triple in list_at(place, record, "triples"):
            if (
                not isinstance(triple, list)
                or len(triple) != 3
                or not all(isinstance(part, str) for part in triple)
            ):
                raise malformed(
                    place, "a triple", "[subject, relation, object], three texts", triple
                )
            subject, relation, object = map(_ascii, triple) if names == "ascii" else triple
            nameless += not (subject.strip() and object.strip())
            if subject.strip() and object.strip():
                kept.append((subject, relation, object))
        said[passage] = (*said.get(passage, ()), *kept)
    what = "no letter or digit a-z, 0-9" if names == "ascii" else "no word"
    note = f"triples left out of {path.name} because a subject or an object has {what}: {nameless}"
    return said, (note,) if nameless else ()


def _ascii(name: str) -> str:
    return re.sub("[^A-Za-z0-9 ]", " ", name.lower()).strip()


def _stored(
    folder: Path,
    vectors: bool | str,
    prefix: str,
    documents: tuple[Document, ...],
    questions: tuple[BenchmarkQuestion, ...],
    said: Mapping[str, tuple[Triple, ...]],
) -> Any:
    paths = sorted(folder.glob("*.npz")) if vectors is True else [folder / str(vectors)]
    if not paths:
        return None
    if len(paths) > 1:
        raise ValueError(
            f"{folder} has {len(paths)} files of vectors ({', '.join(p.name for p in paths)}): say which with vectors='...'"
        )
    if not paths[0].is_file():
        raise FileNotFoundError(f"{paths[0]} is missing: vectors={vectors!r} was asked for")
    triples = list(dict.fromkeys(triple for some in said.values() for triple in some))
    entities, facts = ([], []) if not triples else _named(folder, prefix)
    stored = Stored.of(
        paths[0], [d.text for d in documents], [q.text for q in questions], entities, facts, prefix
    )
    wanted = {
        "names": stored.without(
            dict.fromkeys(name for subject, _, object in triples for name in (subject, object))
        ),
        "facts": stored.without(dict.fromkeys(" ".join(triple) for triple in triples)),
    }
    if any(wanted.values()):
        counts = " and ".join(
            f"{len(missing):,} {what} (for instance {missing[0]!r})"
            for what, missing in wanted.items()
            if missing
        )
        raise ValueError(
            f"{paths[0]} has no vector for {counts}: names={'as_written'!r} or 'ascii', whichever the vectors were made of"
        )
    return stored.embedder()


def _named(folder: Path, prefix: str) -> tuple[list[str], list[list[str]]]:
    """The texts of the rows of the arrays of entities and facts."""
    path = needed(folder, f"{prefix}facts.json")
    facts = json_of(path)
    if not isinstance(facts, list) or not all(
        isinstance(f, list) and len(f) == 3 and all(isinstance(p, str) for p in f) for f in facts
    ):
        raise malformed(
            str(path), "the file", "a list of [subject, relation, object], three texts each", facts
        )
    return text_of(needed(folder, f"{prefix}entities.txt")).removesuffix("\n").split("\n"), facts


def _lengths(folder: Path, documents: tuple[Document, ...]) -> dict[str, int]:
    path = found(folder, "toklen.json")
    if path is None:
        return {}
    lengths = json_of(path)
    if not isinstance(lengths, list) or not all(
        isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in lengths
    ):
        raise malformed(
            str(path), "the file", "a list of token counts, whole numbers of at least 0", lengths
        )
    if len(lengths) != len(documents):
        raise ValueError(f"{path}: {len(lengths):,} token counts for {len(documents):,} passages")
    return {document.id: n for document, n in zip(documents, lengths, strict=True)}
