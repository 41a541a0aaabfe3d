"""What a preparer makes, and the rules of drawing and checking that hold for every set."""

from __future__ import annotations

import hashlib
import html
import json
import re
from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from clew.measure.quotes import words_of

MAX_WORDS = 12  # of a quote
MIN_WORDS = 5  # of a quote and of a question, in languages that part words by spaces
UNANSWERABLE = 10  # questions of another set, in each half
TAGS = re.compile(r"<(?:script|style)\b.*?</(?:script|style)>|<!--.*?-->|<[^>]*>", re.DOTALL)


class Place(NamedTuple):
    """Where an answer is.

    Attributes:
        file: The path in the folder.
        quote: At most `MAX_WORDS` of its words.
    """

    file: str
    quote: str


@dataclass(frozen=True)
class Draft:
    """A question, before the rules.

    Attributes:
        question: What is asked.
        places: The places that answer it; alternatives.
        group: What decides its half: the file of its gold, or more where gold is in many files.
    """

    question: str
    places: tuple[Place, ...]
    group: str


@dataclass(frozen=True)
class Material:
    """A folder and drafts of its questions.

    Attributes:
        files: The texts by path.
        drafts: The drafts, in any order.
        min_words: Of a quote and of a question.
        per_half: At most so many questions are kept in each half.
    """

    files: Mapping[str, str]
    drafts: Sequence[Draft]
    min_words: int = MIN_WORDS
    per_half: int = 60


def digest(*parts: str) -> str:
    """Return a text that only depends on the parts, and sorts as if drawn by chance."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def half_of(group: str) -> str:
    """Return the half of all questions of a group."""
    return "tune" if int(digest("half", group)[:8], 16) % 2 else "held"


def in_drawn_order(drafts: Iterable[Draft], name: str) -> list[Draft]:
    """Return the drafts in an order that depends on the set's name and the questions alone."""
    return sorted(drafts, key=lambda draft: digest(name, draft.question, draft.group))


def drawn(drafts: Iterable[Draft], name: str, per_half: int) -> list[Draft]:
    """Return the first drafts of each half in drawn order."""
    counts: Counter[str] = Counter()
    kept = []
    for draft in in_drawn_order(drafts, name):
        half = half_of(draft.group)
        counts[half] += 1
        if counts[half] <= per_half:
            kept.append(draft)
    return kept


def plain(path: str, text: str) -> str:
    """Return the text without the markup of HTML, if that is its format."""
    if PurePosixPath(path).suffix != ".html":
        return text
    return html.unescape(TAGS.sub(" ", text))


class Folder:
    """The words of all files in one text, to find quotes in."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.paths = list(files)
        texts = [f" {words_of(plain(path, text))} " for path, text in files.items()]
        self.text = "\n".join(texts)
        self.starts = [0]
        for text in texts[:-1]:
            self.starts.append(self.starts[-1] + len(text) + 1)

    def holders(self, quote: str) -> set[str]:
        """Return the files that hold the words of the quote."""
        wanted = f" {words_of(quote)} "
        found, start = set(), self.text.find(wanted)
        while start >= 0:
            row = bisect(self.starts, start) - 1
            found.add(self.paths[row])
            if row + 1 == len(self.starts):
                break
            start = self.text.find(wanted, self.starts[row + 1])
        return found


def checked(material: Material, name: str) -> tuple[list[Draft], Counter[str]]:
    """Return the drafts that pass the rules, in drawn order, and how many fell for what.

    A quote has at least `min_words` and at most `MAX_WORDS` words, all of which stand in its file,
    and stands in no file without gold of the question. A question has at least `min_words` words,
    is asked once, and keeps a place. Each half ends at `per_half` questions.
    """
    folder = Folder(material.files)
    asked = Counter(words_of(draft.question) for draft in material.drafts)
    fallen: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    kept = []
    for draft in in_drawn_order(material.drafts, name):
        half = half_of(draft.group)
        words = words_of(draft.question)
        if len(words.split()) < material.min_words:
            fallen["questions of few words"] += 1
        elif asked[words] > 1:
            fallen["questions asked twice"] += 1
        elif counts[half] == material.per_half:
            fallen["beyond the number wanted"] += 1
        elif places := tuple(_good_places(draft, folder, material.min_words, fallen)):
            counts[half] += 1
            kept.append(Draft(draft.question, places, draft.group))
        else:
            fallen["questions without a place"] += 1
    return kept, fallen


def _good_places(
    draft: Draft, folder: Folder, min_words: int, fallen: Counter[str]
) -> Iterator[Place]:
    files = {place.file for place in draft.places}
    for place in dict.fromkeys(draft.places):
        holders = folder.holders(place.quote)
        if not min_words <= len(words_of(place.quote).split()) <= MAX_WORDS:
            fallen["quotes too short or long"] += 1
        elif place.file not in holders:
            fallen["quotes that are not in their file"] += 1
        elif holders - files:
            fallen["quotes of other files, too"] += 1
        else:
            yield place


def write(
    name: str, material: Material, foreign: Sequence[Draft], folder: Path, questions: Path
) -> Counter[str]:
    """Write the files into the folder and the questions beside it.

    Args:
        name: Of the set.
        material: What is written.
        foreign: Drafts of another set; the first are asked here, and nothing answers them.
        folder: Where the files go.
        questions: The file of the questions.

    Returns:
        What fell, counted by reason.
    """
    kept, fallen = checked(material, name)
    write_files(material.files, folder)
    others = in_drawn_order(foreign, f"{name} unanswerable")[: 2 * UNANSWERABLE]
    records = answered_records(name, kept) + [
        {
            "id": f"{name}-none-{i:03}",
            "question": draft.question,
            "gold": [],
            "half": ("tune", "held")[i % 2],
            "answerable": False,
        }
        for i, draft in enumerate(others)
    ]
    write_questions(questions, records)
    return fallen


def write_files(files: Mapping[str, str], folder: Path) -> None:
    """Write texts into a folder."""
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8", newline="")


def answered_records(name: str, drafts: Iterable[Draft]) -> list[dict[str, object]]:
    """Return what a file of questions has of drafts that something answers."""
    return [
        {
            "id": f"{name}-{i:03}",
            "question": draft.question,
            "gold": [place._asdict() for place in draft.places],
            "half": half_of(draft.group),
            "answerable": True,
        }
        for i, draft in enumerate(drafts)
    ]


def write_questions(path: Path, records: Iterable[Mapping[str, object]]) -> None:
    """Write a file of questions."""
    lines = [json.dumps(record, ensure_ascii=False) for record in records]
    path.write_text("\n".join(lines) + "\n" if lines else "", "utf-8")
