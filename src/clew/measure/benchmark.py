"""Questions with the passages that answer them: a folder of plain files, checked as a whole.

    corpus.jsonl    {"id", "title", "text"}; what is read and embedded is the title, a line end
                    and the text
    queries.jsonl   {"id", "question", "gold_ids", ...}
    triples.jsonl, surface_triples.jsonl
                    optional: {"passage_id", "triples": [[subject, relation, object], ...]}
    *.npz           optional vectors of `passages` and `queries`, and of `entities` and `facts`
                    (or `surface_entities` ...), whose rows are those of entities.txt and
                    facts.json (or surface_entities.txt ...)
    toklen.json     optional: a token count for every passage, for the reference count under a
                    budget

Each may be gzipped, with `.gz` behind its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from clew.document import Document
from clew.embedding.embedder import Embedder, EmbedderSource
from clew.graph import EMPTY
from clew.index.config import ExtractorLike
from clew.index.index import Index
from clew.measure.files import (
    find_file,
    list_field,
    malformed,
    read_json,
    read_lines,
    read_text,
    require_file,
    text_field,
)
from clew.measure.stored_vectors import StoredTexts, StoredVectors
from clew.read import Triple

TRIPLE_FILES = ("triples", "surface_triples")
FactFile = Literal["any", "triples", "surface_triples", "none"]
NameForm = Literal["ascii", "as_written"]


@dataclass(frozen=True)
class BenchmarkQuestion:
    """A question, and the passages that answer it.

    Attributes:
        id: Its id.
        text: The question.
        gold: The ids of the passages that answer it, at least one.
        extra: What else its line says: for analysis, never for a method.
    """

    id: str
    text: str
    gold: tuple[str, ...]
    extra: Mapping[str, Any] = field(default_factory=lambda: EMPTY, compare=False, repr=False)


@dataclass(frozen=True, eq=False)
class Benchmark:
    """A corpus, and questions with gold passages; see the module for the files.

    Attributes:
        name: The name of the folder.
        documents: One for each passage, kept whole.
        questions: The questions.
        facts: Triples by passage id, as `Index.from_documents` takes them.
        embedder: What embeds the texts, as `Index.from_documents` takes it; None for the embedded
            default.
        reference_tokens: A reference token count for every passage id, or empty.
        notes: What was left out and how often, in words.

    Example:
        >>> from clew import Document
        >>> oars = Document("oars", "Oars are of ash.")
        >>> question = BenchmarkQuestion("1", "Of what are oars?", ("oars",))
        >>> Benchmark("boats", (oars,), (question,), facts={})
        Benchmark('boats': 1 passages, 1 questions, 0 triples)
    """

    name: str
    documents: tuple[Document, ...]
    questions: tuple[BenchmarkQuestion, ...]
    facts: Mapping[str, tuple[Triple, ...]]
    embedder: EmbedderSource | None = None
    reference_tokens: Mapping[str, int] = field(default_factory=lambda: EMPTY)
    notes: tuple[str, ...] = ()

    @classmethod
    def open(
        cls,
        folder: str | Path,
        *,
        embedder: EmbedderSource | None = None,
        vectors: bool | str = True,
        facts: FactFile = "any",
        names: NameForm = "ascii",
    ) -> Benchmark:
        """Return the benchmark in a folder.

        Args:
            folder: The folder.
            embedder: Whatever `clew.Embedder.of` takes; it is used instead of the folder's vectors.
            vectors: Whether the folder's vectors are used where there are any and no embedder is
                given; a name for one of several files. Without vectors and embedder the index has
                the embedded default.
            facts: Which file of triples is read; "any" for the first of triples and
                surface_triples that is there.
            names: "ascii" for HippoRAG's normal form of subjects, relations and objects, of which
                stored vectors are usually made: lower case, with a space in place of everything
                but a-z, 0-9 and spaces. "as_written" leaves them as they are.

        Raises:
            FileNotFoundError: A file that is needed or was asked for by name is not there.
            ValueError: A file is malformed (with file and line); or passages, questions, entities
                or facts have no vector (with counts).
        """
        if names not in ("ascii", "as_written"):
            raise ValueError(f"names is 'ascii' or 'as_written', got {names!r}")
        folder = Path(folder)
        if not folder.is_dir():
            raise FileNotFoundError(
                f"{folder} is not a folder: wanted one with corpus.jsonl and queries.jsonl in it"
            )
        documents = _read_documents(require_file(folder, "corpus.jsonl"))
        ids = {document.id for document in documents}
        questions = _read_questions(require_file(folder, "queries.jsonl"), ids)
        file = _triple_file(folder, facts)
        triples: dict[str, tuple[Triple, ...]] = {}
        notes: tuple[str, ...] = ()
        if file is not None:
            triples, notes = _read_triples(require_file(folder, f"{file}.jsonl"), ids, names)
        if embedder is None and vectors:
            path = _vector_file(folder, vectors)
            if path is not None:
                prefix = "" if file is None else file.removesuffix("triples")
                embedder = _stored_embedder(path, prefix, documents, questions, triples)
        return cls(
            folder.resolve().name,
            documents,
            questions,
            triples,
            embedder,
            _read_lengths(folder, documents),
            notes,
        )

    def __repr__(self) -> str:
        triples = sum(map(len, self.facts.values()))
        return (
            f"Benchmark({self.name!r}: {len(self.documents):,} passages, "
            f"{len(self.questions):,} questions, {triples:,} triples)"
        )

    def index(
        self,
        *,
        count: Callable[[str], int] | None = None,
        extractor: ExtractorLike | None = None,
        progress: bool = False,
    ) -> Index:
        """Return the index of the corpus.

        Args:
            count: As in `clew.Index.from_documents`.
            extractor: As in `clew.Index.from_documents`.
            progress: As in `clew.Index.from_documents`.
        """
        return Index.from_documents(
            self.documents,
            embedder=self.embedder,
            facts=self.facts,
            extractor=extractor,
            count=count,
            progress=progress,
        )


def _read_documents(path: Path) -> tuple[Document, ...]:
    documents: list[Document] = []
    places: dict[str, str] = {}
    for place, record in read_lines(path):
        id = _new_id(place, record, places)
        title = text_field(place, record, "title", empty=True)
        text = text_field(place, record, "text", empty=True)
        if not (title.strip() or text.strip()):
            raise ValueError(f"{place}: the passage {id!r} has neither a title nor a text")
        documents.append(Document(id, f"{title}\n{text}"))
    if not documents:
        raise ValueError(f"{path}: no passages in it")
    return tuple(documents)


def _read_questions(path: Path, passage_ids: set[str]) -> tuple[BenchmarkQuestion, ...]:
    questions: list[BenchmarkQuestion] = []
    places: dict[str, str] = {}
    for place, record in read_lines(path):
        id = _new_id(place, record, places)
        text = text_field(place, record, "question")
        gold = list_field(place, record, "gold_ids")
        unknown = [one for one in gold if not isinstance(one, str) or one not in passage_ids]
        if unknown:
            raise ValueError(f"{place}: the gold passage {unknown[0]!r} is not in the corpus")
        if not gold:
            raise ValueError(f"{place}: a question needs at least one gold passage")
        fields = ("id", "question", "gold_ids")
        extra = {key: value for key, value in record.items() if key not in fields}
        questions.append(BenchmarkQuestion(id, text, tuple(dict.fromkeys(gold)), extra))
    if not questions:
        raise ValueError(f"{path}: no questions in it")
    return tuple(questions)


def _new_id(place: str, record: Mapping[str, Any], places: dict[str, str]) -> str:
    id = text_field(place, record, "id")
    if id in places:
        raise ValueError(f"{place}: the id {id!r} came before, at {places[id]}")
    places[id] = place
    return id


def _triple_file(folder: Path, facts: str) -> str | None:
    if facts not in (*TRIPLE_FILES, "any", "none"):
        raise ValueError(
            f"facts is one of 'any', 'none', {', '.join(map(repr, TRIPLE_FILES))}; got {facts!r}"
        )
    if facts == "any":
        return next((name for name in TRIPLE_FILES if find_file(folder, f"{name}.jsonl")), None)
    return None if facts == "none" else facts


def _read_triples(
    path: Path, passage_ids: set[str], names: NameForm
) -> tuple[dict[str, tuple[Triple, ...]], tuple[str, ...]]:
    """The triples by passage id, and a note on those that were left out."""
    by_passage: dict[str, tuple[Triple, ...]] = {}
    left_out = 0
    for place, record in read_lines(path):
        passage = text_field(place, record, "passage_id")
        if passage not in passage_ids:
            raise ValueError(f"{place}: the passage {passage!r} is not in the corpus")
        own: list[Triple] = []
        for value in list_field(place, record, "triples"):
            if not _is_triple(value):
                wanted = "[subject, relation, object], three texts"
                raise malformed(place, "a triple", wanted, value)
            subject, relation, object = map(_ascii, value) if names == "ascii" else value
            if subject.strip() and object.strip():
                own.append((subject, relation, object))
            else:
                left_out += 1
        by_passage[passage] = (*by_passage.get(passage, ()), *own)
    if not left_out:
        return by_passage, ()
    reason = "no letter or digit a-z, 0-9" if names == "ascii" else "no word"
    note = (
        f"triples left out of {path.name} because a subject or an object has {reason}: {left_out}"
    )
    return by_passage, (note,)


def _is_triple(value: object) -> bool:
    return (
        isinstance(value, list) and len(value) == 3 and all(isinstance(part, str) for part in value)
    )


def _ascii(name: str) -> str:
    return re.sub("[^A-Za-z0-9 ]", " ", name.lower()).strip()


def _vector_file(folder: Path, vectors: bool | str) -> Path | None:
    paths = sorted(folder.glob("*.npz")) if vectors is True else [folder / str(vectors)]
    if not paths:
        return None
    if len(paths) > 1:
        names = ", ".join(path.name for path in paths)
        raise ValueError(
            f"{folder} has {len(paths)} files of vectors ({names}): say which with vectors='...'"
        )
    if not paths[0].is_file():
        raise FileNotFoundError(f"{paths[0]} is missing: vectors={vectors!r} was asked for")
    return paths[0]


def _stored_embedder(
    path: Path,
    prefix: str,
    documents: Sequence[Document],
    questions: Sequence[BenchmarkQuestion],
    facts: Mapping[str, tuple[Triple, ...]],
) -> Embedder:
    """The embedder that looks up stored vectors; every name and fact must have one."""
    triples = list(dict.fromkeys(triple for own in facts.values() for triple in own))
    stored_names, stored_facts = _named_rows(path.parent, prefix) if triples else ([], [])
    texts = StoredTexts(
        [document.text for document in documents],
        [question.text for question in questions],
        stored_names,
        stored_facts,
    )
    stored = StoredVectors.read(path, texts, prefix)
    names = (name for subject, _, object in triples for name in (subject, object))
    missing = {
        "names": stored.missing(dict.fromkeys(names)),
        "facts": stored.missing(dict.fromkeys(" ".join(triple) for triple in triples)),
    }
    if any(missing.values()):
        counts = " and ".join(
            f"{len(texts):,} {kind} (for instance {texts[0]!r})"
            for kind, texts in missing.items()
            if texts
        )
        raise ValueError(
            f"{path} has no vector for {counts}: names='as_written' or 'ascii', whichever the "
            "vectors were made of"
        )
    return stored.embedder()


def _named_rows(folder: Path, prefix: str) -> tuple[list[str], list[list[str]]]:
    """The texts of the rows of the arrays of entities and facts."""
    path = require_file(folder, f"{prefix}facts.json")
    facts = read_json(path)
    if not isinstance(facts, list) or not all(_is_triple(fact) for fact in facts):
        wanted = "a list of [subject, relation, object], three texts each"
        raise malformed(str(path), "the file", wanted, facts)
    entities = read_text(require_file(folder, f"{prefix}entities.txt"))
    return entities.removesuffix("\n").split("\n"), facts


def _read_lengths(folder: Path, documents: Sequence[Document]) -> dict[str, int]:
    path = find_file(folder, "toklen.json")
    if path is None:
        return {}
    lengths = read_json(path)
    if not isinstance(lengths, list) or not all(
        isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in lengths
    ):
        wanted = "a list of token counts, whole numbers of at least 0"
        raise malformed(str(path), "the file", wanted, lengths)
    if len(lengths) != len(documents):
        raise ValueError(f"{path}: {len(lengths):,} token counts for {len(documents):,} passages")
    return {document.id: n for document, n in zip(documents, lengths, strict=True)}
