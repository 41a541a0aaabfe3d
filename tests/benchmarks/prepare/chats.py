"""Logs of a chat room with questions on what was written, in the JSON formats of Molweni."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tests.benchmarks.prepare.material import MAX_WORDS, Draft, Material, Place, digest
from tests.benchmarks.prepare.words import WORD

PER_FILE = 10  # conversations of a log
MAX_COMMON = 2  # lines that a further conversation may have in common with those before it


class _Line(NamedTuple):
    """What somebody wrote."""

    speaker: str
    text: str

    @property
    def written(self) -> str:
        return f"<{self.speaker}> {self.text}"


def prepare(questions: str, others: Iterable[str]) -> Material:
    """Return logs, a line for each message and conversations one behind the other, and questions.

    Gold is the line of the answer: up to twelve words of it, the answer in their middle. A question
    that was asked of several conversations is none of any.

    Args:
        questions: The conversations that are asked for, with questions and answers.
        others: Further conversations, which are asked nothing; those that share more than
            `MAX_COMMON` lines with one that is there are left out.
    """
    asked = json.loads(questions)["data"]["dialogues"]
    conversations = [_lines_of(record) for record in asked]
    known = {line for lines in conversations for line in lines}
    for text in others:
        for record in json.loads(text):
            lines = _lines_of(record)
            if sum(line in known for line in lines) <= MAX_COMMON:
                conversations.append(lines)
                known.update(lines)
    order = sorted(
        range(len(conversations)), key=lambda i: digest("chat", *map(str, conversations[i]))
    )
    logs = [order[first : first + PER_FILE] for first in range(0, len(order), PER_FILE)]
    file_of = {i: f"log-{number:03}.txt" for number, log in enumerate(logs) for i in log}
    files = {
        file_of[log[0]]: "".join(f"{line.written}\n" for i in log for line in conversations[i])
        for log in logs
    }
    drafts = [
        Draft(" ".join(question["question"].replace(" ?", "?").split()), tuple(places), file_of[i])
        for i, record in enumerate(asked)
        for question in record["qas"]
        if (places := list(_places(question, record, conversations[i], file_of[i])))
    ]
    return Material(files, drafts)


def _lines_of(record: Mapping[str, Any]) -> tuple[_Line, ...]:
    return tuple(
        _Line(edu["speaker"].strip(), " ".join(edu["text"].split())) for edu in record["edus"]
    )


def _places(
    question: Mapping[str, Any], record: Mapping[str, Any], lines: Sequence[_Line], file: str
) -> Iterator[Place]:
    """Yield the place of each answer; answers are at places of all lines in one."""
    starts, begin = [], 0
    for edu in record["edus"]:
        starts.append(begin)
        begin += len(f"{edu['speaker']}: {edu['text']} ")
    for answer in question["answers"]:
        i = max(k for k, start in enumerate(starts) if start <= answer["answer_start"])
        written, words = lines[i].written, " ".join(answer["text"].split())
        found = written.lower().find(words.lower())
        if found >= 0:
            yield Place(file, _words_around(written, found, found + len(words)))


def _words_around(text: str, start: int, end: int) -> str:
    """Return up to `MAX_WORDS` words of a text, those of text[start:end] in their middle."""
    spans = [match.span() for match in WORD.finditer(text)]
    inside = [i for i, (a, b) in enumerate(spans) if a < end and b > start] or [0]
    room = max(0, MAX_WORDS - len(inside))
    first = max(0, min(inside[0] - room // 2, len(spans) - MAX_WORDS))
    return text[spans[first][0] : spans[min(first + MAX_WORDS, len(spans)) - 1][1]]
