"""A benchmark folder made of the files that MuSiQue, HotpotQA and 2WikiMultihopQA are published as.

Every question there comes with passages that answer it and others that do not. The corpus is all of them together, so that a question
has to find its own among the rest, as in HippoRAG's experiments (Gutierrez et al., arXiv 2405.14831).

    MuSiQue (Trivedi et al., TACL 2022)             musique_ans_v1.0_{train,dev}.jsonl
    HotpotQA (Yang et al., EMNLP 2018)              hotpot_{train_v1.1,dev_distractor_v1}.json
    2WikiMultihopQA (Ho et al., COLING 2020)        {train,dev}.json
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from clew.measure.files import is_lines, json_of, lines_of, list_at, malformed, text_at, write_lines


@dataclass(frozen=True)
class Prepared:
    """What was written: the folder, the kind of file it was made of ("musique", "hotpotqa" or "2wikimultihopqa"), and counts.

    `skipped` counts questions that cannot be used: those MuSiQue marks as unanswerable.
    """

    folder: Path
    kind: str
    passages: int
    questions: int
    skipped: int = 0


class _Asked(NamedTuple):
    """A question, its passages (title, text), and the positions among them of those that answer it."""

    id: str
    question: str
    passages: list[tuple[str, str]]
    gold: list[int]
    more: dict[str, Any]


def prepare(
    source: str | Path, out: str | Path, *, limit: int | None = None, seed: int = 0
) -> Prepared:
    """Write the benchmark folder `out`: corpus.jsonl.gz, queries.jsonl.gz and meta.json. The same call writes the same bytes.

    Args:
        source: the downloaded file, plain or gzipped; its fields tell which of the three it is.
        out: a folder that does not hold a benchmark yet; it is made. limit: so many questions, drawn by `seed`, in the file's order;
            None for all. The corpus is pooled from the chosen questions alone, each passage (title and text) once.

    Raises:
        FileNotFoundError, FileExistsError: `source` is not there; `out` holds one of the files already.
        ValueError: the file is none of the three, or a record is malformed or without marks (a test split), with its place.
    """
    source, out = Path(source), Path(out)
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
        raise ValueError(f"limit is a whole number of at least 1, or None; got {limit!r}")
    if not source.is_file():
        raise FileNotFoundError(f"{source} is missing: give the downloaded file")
    there = [
        name
        for name in ("corpus.jsonl", "corpus.jsonl.gz", "queries.jsonl", "queries.jsonl.gz")
        if (out / name).exists()
    ]
    if there:
        raise FileExistsError(f"{out} already has {there[0]}: give a new folder")
    records = list(_records(source))
    kind = _kind(source, records)
    usable = [(place, record) for place, record in records if record.get("answerable") is not False]
    skipped = len(records) - len(usable)
    if not usable:
        raise ValueError(f"{source}: none of its {len(records):,} questions is answerable")
    if limit is not None and limit < len(usable):
        usable = [usable[i] for i in sorted(random.Random(seed).sample(range(len(usable)), limit))]  # noqa: S311  # a sample, no secret
    asked = [
        (_musique if kind == "musique" else _hotpot)(place, record, kind)
        for place, record in usable
    ]
    corpus, queries = _pooled(kind, asked)
    done = Prepared(out, kind, len(corpus), len(queries), skipped)
    out.mkdir(parents=True, exist_ok=True)
    write_lines(out / "corpus.jsonl.gz", corpus)
    write_lines(out / "queries.jsonl.gz", queries)
    meta = {
        "kind": kind,
        "source": source.name,
        "passages": done.passages,
        "questions": done.questions,
        "skipped": done.skipped,
    }
    (out / "meta.json").write_text(
        json.dumps(meta | {"limit": limit, "seed": seed}, indent=1) + "\n", encoding="utf-8"
    )
    return done


def _records(source: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if is_lines(source):
        yield from lines_of(source)
        return
    records = json_of(source)
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise malformed(
            str(source), "the file", "a list of objects {...}, one per question", records
        )
    yield from ((f"{source}, record {i}", record) for i, record in enumerate(records, 1))


def _kind(source: Path, records: list[tuple[str, Mapping[str, Any]]]) -> str:
    fields = set(records[0][1]) if records else set()
    if {"paragraphs", "question"} <= fields:
        return "musique"
    if {"context", "question", "_id"} <= fields:
        return (
            "2wikimultihopqa"
            if fields & {"evidences", "entity_ids", "evidences_id"}
            else "hotpotqa"
        )
    said = (
        f"its first record has {', '.join(sorted(fields))}"
        if fields
        else "there is no record in it"
    )
    raise ValueError(
        f"{source}: neither MuSiQue (paragraphs, question, ...), HotpotQA (_id, context, supporting_facts, ...) nor 2WikiMultihopQA "
        f"(the same with evidences): {said}"
    )


def _musique(place: str, record: Mapping[str, Any], kind: str) -> _Asked:
    passages, gold, at = [], [], {}
    for i, paragraph in enumerate(list_at(place, record, "paragraphs")):
        where = f"{place}, paragraph {i}"
        if not isinstance(paragraph, dict) or not isinstance(paragraph.get("is_supporting"), bool):
            raise malformed(
                where, "a paragraph", "an object with 'is_supporting', true or false", paragraph
            )
        at[paragraph.get("idx")] = i
        texts = [
            text_at(where, paragraph, field, empty=True).strip()
            for field in ("title", "paragraph_text")
        ]
        passages.append((texts[0], texts[1]))
        gold += [i] if paragraph["is_supporting"] else []
    steps = [step for step in record.get("question_decomposition") or [] if isinstance(step, dict)]
    order = [
        at[step["paragraph_support_idx"]]
        for step in steps
        if step.get("paragraph_support_idx") in at
    ]
    more = _kept(record, ("answer", "answer_aliases")) | {
        "hops": len(steps) or len(gold),
        "gold_order": order,
    }
    more |= {
        "decomposition": [{"q": step.get("question"), "a": step.get("answer")} for step in steps]
    }
    return _asked(place, text_at(place, record, "id"), record, passages, gold, more)


def _hotpot(place: str, record: Mapping[str, Any], kind: str) -> _Asked:
    passages = []
    for i, part in enumerate(list_at(place, record, "context")):
        well = (
            isinstance(part, list)
            and len(part) == 2
            and isinstance(part[0], str)
            and isinstance(part[1], list)
        )
        if not well or not all(isinstance(sentence, str) for sentence in part[1]):
            raise malformed(place, f"context {i}", "[title, [sentence, ...]]", part)
        passages.append((part[0].strip(), _joined(part[1])))
    titles = [title for title, _ in passages]
    marked = list_at(place, record, "supporting_facts")
    if not all(
        isinstance(mark, list) and len(mark) == 2 and isinstance(mark[0], str) for mark in marked
    ):
        raise malformed(
            place, "'supporting_facts'", "a list of [title, number of the sentence]", marked
        )
    wanted = list(dict.fromkeys(title.strip() for title, _ in marked))
    absent = [title for title in wanted if title not in titles]
    if absent:
        raise ValueError(
            f"{place}: the supporting passage {absent[0]!r} is not in the context; take the file of the distractor setting"
        )
    gold = [i for title in wanted for i, other in enumerate(titles) if other == title]
    return _asked(
        place,
        text_at(place, record, "_id"),
        record,
        passages,
        gold,
        _kept(record, ("answer", "type", "level", "evidences")),
    )


def _asked(
    place: str,
    id: str,
    record: Mapping[str, Any],
    passages: list[tuple[str, str]],
    gold: list[int],
    more: dict[str, Any],
) -> _Asked:
    if not all(title or text for title, text in passages):
        raise ValueError(f"{place}: one of its passages has neither a title nor a text")
    if not gold:
        raise ValueError(
            f"{place}: no passage is marked as supporting; a test split has no marks, take train or dev"
        )
    return _Asked(id, text_at(place, record, "question"), passages, gold, more)


def _joined(sentences: Iterable[str]) -> str:
    """Sentences as running text: HotpotQA's bring the space before them along, 2WikiMultihopQA's do not."""
    text = ""
    for sentence in sentences:
        text += (
            sentence if not text or text[-1].isspace() or sentence[:1].isspace() else f" {sentence}"
        )
    return text.strip()


def _kept(record: Mapping[str, Any], fields: tuple[str, ...]) -> dict[str, Any]:
    return {field: record[field] for field in fields if field in record}


def _pooled(kind: str, asked: list[_Asked]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The passages of all questions, each once, in order of appearance, and the questions with the ids of theirs."""
    ids: dict[tuple[str, str], str] = {}
    queries = []
    for one in asked:
        own = [ids.setdefault(passage, f"{kind}-{len(ids):06d}") for passage in one.passages]
        gold = list(dict.fromkeys(own[i] for i in one.gold))
        more = one.more | (
            {"gold_order": [own[i] for i in one.more["gold_order"]]}
            if "gold_order" in one.more
            else {}
        )
        queries.append({"id": one.id, "question": one.question, "gold_ids": gold} | more)
    return [{"id": id, "title": title, "text": text} for (title, text), id in ids.items()], queries
