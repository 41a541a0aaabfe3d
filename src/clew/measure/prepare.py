"""A benchmark folder made of the files that MuSiQue, HotpotQA and 2WikiMultihopQA are published as.

Every question there comes with passages that answer it and others that do not. The corpus is all of
them together, so that a question has to find its own among the rest, as in HippoRAG's experiments
(Gutierrez et al., arXiv 2405.14831).

    MuSiQue (Trivedi et al., TACL 2022)             musique_ans_v1.0_{train,dev}.jsonl
    HotpotQA (Yang et al., EMNLP 2018)              hotpot_{train_v1.1,dev_distractor_v1}.json
    2WikiMultihopQA (Ho et al., COLING 2020)        {train,dev}.json
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from clew.measure.files import (
    is_json_lines,
    list_field,
    malformed,
    read_json,
    read_lines,
    text_field,
    write_lines,
)

BENCHMARK_FILES = ("corpus.jsonl", "corpus.jsonl.gz", "queries.jsonl", "queries.jsonl.gz")


@dataclass(frozen=True)
class Prepared:
    """What was written.

    Attributes:
        folder: The folder.
        kind: The kind of file it was made of: "musique", "hotpotqa" or "2wikimultihopqa".
        passages: The number of passages.
        questions: The number of questions.
        skipped: The number of questions that cannot be used: those that MuSiQue marks as
            unanswerable.
    """

    folder: Path
    kind: str
    passages: int
    questions: int
    skipped: int = 0


class _Question(NamedTuple):
    """One question of a published file.

    Attributes:
        id: Its id.
        text: The question.
        passages: Title and text of each of its passages.
        gold: The positions among them of those that answer it.
        extra: What else is written of it. Its `gold_order`, if it has one, are positions among the
            passages, in the order of the question's steps.
    """

    id: str
    text: str
    passages: list[tuple[str, str]]
    gold: list[int]
    extra: dict[str, Any]


def prepare(
    source: str | Path, out: str | Path, *, limit: int | None = None, seed: int = 0
) -> Prepared:
    """Write a benchmark folder: corpus.jsonl.gz, queries.jsonl.gz and meta.json.

    The same call writes the same bytes.

    Args:
        source: The downloaded file, plain or gzipped; its fields tell which of the three it is.
        out: The folder, which must not have a benchmark in it yet.
        limit: How many questions are drawn, in the file's order; None for all. The corpus has the
            passages of the drawn questions alone, each (title and text) once.
        seed: Of the draw.

    Raises:
        FileNotFoundError: `source` is not there.
        FileExistsError: `out` has one of the files already.
        ValueError: The file is none of the three, or a record is malformed or without marks (a
            test split), with its place.
    """
    source, out = Path(source), Path(out)
    _check_arguments(source, out, limit)
    records = list(_read_records(source))
    kind = _kind_of(source, records)
    usable = [(place, record) for place, record in records if record.get("answerable") is not False]
    if not usable:
        raise ValueError(f"{source}: none of its {len(records):,} questions is answerable")
    skipped = len(records) - len(usable)
    if limit is not None and limit < len(usable):
        rng = random.Random(seed)  # noqa: S311  # a sample, no secret
        usable = [usable[i] for i in sorted(rng.sample(range(len(usable)), limit))]
    parse = _parse_musique if kind == "musique" else _parse_hotpot
    corpus, queries = _pool(kind, [parse(place, record) for place, record in usable])
    prepared = Prepared(out, kind, len(corpus), len(queries), skipped)
    meta = {
        "kind": kind,
        "source": source.name,
        "passages": prepared.passages,
        "questions": prepared.questions,
        "skipped": prepared.skipped,
        "limit": limit,
        "seed": seed,
    }
    out.mkdir(parents=True, exist_ok=True)
    write_lines(out / "corpus.jsonl.gz", corpus)
    write_lines(out / "queries.jsonl.gz", queries)
    (out / "meta.json").write_text(json.dumps(meta, indent=1) + "\n", encoding="utf-8")
    return prepared


def _check_arguments(source: Path, out: Path, limit: int | None) -> None:
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
        raise ValueError(f"limit is a whole number of at least 1, or None; got {limit!r}")
    if not source.is_file():
        raise FileNotFoundError(f"{source} is missing: give the downloaded file")
    present = [name for name in BENCHMARK_FILES if (out / name).exists()]
    if present:
        raise FileExistsError(f"{out} already has {present[0]}: give a new folder")


def _read_records(source: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The place and the object of every question."""
    if is_json_lines(source):
        yield from read_lines(source)
        return
    records = read_json(source)
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        wanted = "a list of objects {...}, one per question"
        raise malformed(str(source), "the file", wanted, records)
    yield from ((f"{source}, record {i}", record) for i, record in enumerate(records, 1))


def _kind_of(source: Path, records: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    fields = set(records[0][1]) if records else set()
    if {"paragraphs", "question"} <= fields:
        return "musique"
    if {"context", "question", "_id"} <= fields:
        two_wiki = fields & {"evidences", "entity_ids", "evidences_id"}
        return "2wikimultihopqa" if two_wiki else "hotpotqa"
    found = "there is no record in it"
    if fields:
        found = f"its first record has {', '.join(sorted(fields))}"
    raise ValueError(
        f"{source}: neither MuSiQue (paragraphs, question, ...), HotpotQA (_id, context, "
        "supporting_facts, ...) nor 2WikiMultihopQA (the same with evidences): "
        f"{found}"
    )


def _parse_musique(place: str, record: Mapping[str, Any]) -> _Question:
    passages: list[tuple[str, str]] = []
    gold: list[int] = []
    position: dict[object, int] = {}
    for i, paragraph in enumerate(list_field(place, record, "paragraphs")):
        where = f"{place}, paragraph {i}"
        if not isinstance(paragraph, dict) or not isinstance(paragraph.get("is_supporting"), bool):
            wanted = "an object with 'is_supporting', true or false"
            raise malformed(where, "a paragraph", wanted, paragraph)
        position[paragraph.get("idx")] = i
        title = text_field(where, paragraph, "title", empty=True).strip()
        text = text_field(where, paragraph, "paragraph_text", empty=True).strip()
        passages.append((title, text))
        if paragraph["is_supporting"]:
            gold.append(i)
    steps = [step for step in record.get("question_decomposition") or [] if isinstance(step, dict)]
    support = [step.get("paragraph_support_idx") for step in steps]
    extra = _selected(record, ("answer", "answer_aliases"))
    extra |= {
        "hops": len(steps) or len(gold),
        "gold_order": [position[idx] for idx in support if idx in position],
        "decomposition": [{"q": step.get("question"), "a": step.get("answer")} for step in steps],
    }
    id = text_field(place, record, "id")
    return _checked_question(place, id, record, passages, gold, extra)


def _parse_hotpot(place: str, record: Mapping[str, Any]) -> _Question:
    passages: list[tuple[str, str]] = []
    for i, part in enumerate(list_field(place, record, "context")):
        if not _is_titled_sentences(part):
            raise malformed(place, f"context {i}", "[title, [sentence, ...]]", part)
        passages.append((part[0].strip(), _join_sentences(part[1])))
    marks = list_field(place, record, "supporting_facts")
    if not all(
        isinstance(mark, list) and len(mark) == 2 and isinstance(mark[0], str) for mark in marks
    ):
        wanted = "a list of [title, number of the sentence]"
        raise malformed(place, "'supporting_facts'", wanted, marks)
    titles = [title for title, _ in passages]
    gold_titles = list(dict.fromkeys(title.strip() for title, _ in marks))
    for title in gold_titles:
        if title not in titles:
            raise ValueError(
                f"{place}: the supporting passage {title!r} is not in the context; take the file "
                "of the distractor setting"
            )
    gold = [
        i for gold_title in gold_titles for i, title in enumerate(titles) if title == gold_title
    ]
    extra = _selected(record, ("answer", "type", "level", "evidences"))
    id = text_field(place, record, "_id")
    return _checked_question(place, id, record, passages, gold, extra)


def _is_titled_sentences(part: object) -> bool:
    return (
        isinstance(part, list)
        and len(part) == 2
        and isinstance(part[0], str)
        and isinstance(part[1], list)
        and all(isinstance(sentence, str) for sentence in part[1])
    )


def _checked_question(
    place: str,
    id: str,
    record: Mapping[str, Any],
    passages: list[tuple[str, str]],
    gold: list[int],
    extra: dict[str, Any],
) -> _Question:
    if not all(title or text for title, text in passages):
        raise ValueError(f"{place}: one of its passages has neither a title nor a text")
    if not gold:
        raise ValueError(
            f"{place}: no passage is marked as supporting; a test split has no marks, take train "
            "or dev"
        )
    return _Question(id, text_field(place, record, "question"), passages, gold, extra)


def _join_sentences(sentences: Iterable[str]) -> str:
    """Sentences as running text.

    HotpotQA's begin with the space before them, 2WikiMultihopQA's do not.
    """
    text = ""
    for sentence in sentences:
        needs_space = text and not text[-1].isspace() and not sentence[:1].isspace()
        text += f" {sentence}" if needs_space else sentence
    return text.strip()


def _selected(record: Mapping[str, Any], fields: tuple[str, ...]) -> dict[str, Any]:
    return {field: record[field] for field in fields if field in record}


def _pool(
    kind: str, questions: Sequence[_Question]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The passages of all questions, each once, and the questions with the ids of theirs.

    Passages are numbered in the order in which they first appear.
    """
    id_of: dict[tuple[str, str], str] = {}
    queries = []
    for question in questions:
        ids = [
            id_of.setdefault(passage, f"{kind}-{len(id_of):06d}") for passage in question.passages
        ]
        query: dict[str, Any] = {
            "id": question.id,
            "question": question.text,
            "gold_ids": list(dict.fromkeys(ids[i] for i in question.gold)),
        }
        query |= question.extra
        if "gold_order" in query:
            query["gold_order"] = [ids[i] for i in query["gold_order"]]
        queries.append(query)
    corpus = [{"id": id, "title": title, "text": text} for (title, text), id in id_of.items()]
    return corpus, queries
