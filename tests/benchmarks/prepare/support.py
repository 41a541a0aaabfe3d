"""Customers' questions on documentation in Markdown, each with the words of its answer and its document."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping

from clew.measure.quotes import words_of
from tests.benchmarks.prepare.material import Draft, Material, Place, digest
from tests.benchmarks.prepare.words import quotes_along

MARKUP = re.compile(r"\]\([^)]*\)|<[^>]*>|[`*\[\]|\\]|\n\s*\n|\n\s*[+*-] ")
MIN_SHARE = 0.6  # of the answer's words that a block must hold


def prepare(files: Mapping[str, str], questions: str, max_files: int) -> Material:
    """Return the documents of the services asked for, and the questions.

    The collection's answers are not always the words of the document. Gold is the block of the
    document (paragraph, list item, row of a table) that holds most words of the answer, if it holds
    most of them; of equals the one with most words of the question.

    Args:
        files: The documents by path, SERVICE/NAME.md.
        questions: CSV: question, answer, yes or no, document.
        max_files: Documents without gold are drawn up to this number.
    """
    rows = [
        [cell.strip() for cell in row]
        for row in csv.reader(io.StringIO(questions.lstrip("\ufeff")))
    ]
    drafts = [
        Draft(question, tuple(_places(path, files[path], answer, question)), path)
        for question, answer, _, path in (row[:4] for row in rows[1:])
        if path in files
    ]
    wanted = {place.file for draft in drafts for place in draft.places}
    services = {path.split("/")[0] for path in wanted}
    others = [path for path in files if path not in wanted and path.split("/")[0] in services]
    others.sort(key=lambda path: digest("document", path))
    kept = wanted | set(others[: max_files - len(wanted)])
    return Material({path: files[path] for path in sorted(kept)}, drafts)


def _places(path: str, text: str, answer: str, question: str) -> list[Place]:
    wanted, asked = set(words_of(answer).split()), set(words_of(question).split())
    blocks = [block for block in re.split(r"\n\s*\n|\n(?=\s*[+*|-] |\|)", text) if block.strip()]

    def rank(block: str) -> tuple[float, int]:
        words = set(words_of(block).split())
        return len(words & wanted) / max(1, len(wanted)), len(words & asked)

    best = max(blocks, key=rank, default="")
    if not best or rank(best)[0] < MIN_SHARE:
        return []
    segments = [*MARKUP.split(best), best]
    return [Place(path, quote) for quote in quotes_along(segments, every=30)]
