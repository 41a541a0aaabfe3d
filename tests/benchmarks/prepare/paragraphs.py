"""Questions on paragraphs, each answered by words of one, in the JSON format of SQuAD."""

from __future__ import annotations

import json

from tests.benchmarks.prepare.material import MAX_WORDS, Draft, Material, Place, digest
from tests.benchmarks.prepare.words import quote_around

MIN_LETTERS = 10  # of a quote where spaces do not part the words
LEFT_OUT = 6  # every so many-th article is no file: nothing answers its questions


def prepare(
    text: str, share: tuple[int, int] = (0, 1), *, spaced: bool = True, per_half: int = 60
) -> tuple[Material, list[Draft]]:
    """Return one text file an article with its questions, and the questions of articles left out.

    Args:
        text: The JSON.
        share: (i, n) keeps the i-th of n parts of the questions, so that translations of one set
            share no question.
        spaced: Whether spaces part the words. If not, a quote is what stands between two marks.
        per_half: At most so many questions a half.
    """
    files: dict[str, str] = {}
    drafts: list[Draft] = []
    left_out: list[Draft] = []
    for number, article in enumerate(json.loads(text)["data"]):
        path = f"article-{number + 1:02}.txt"
        paragraphs = article["paragraphs"]
        kept = number % LEFT_OUT != LEFT_OUT - 1
        if kept:
            files[path] = "\n\n".join(" ".join(p["context"].split()) for p in paragraphs) + "\n"
        for paragraph in paragraphs:
            for question in paragraph["qas"]:
                if int(digest(question["id"])[:8], 16) % share[1] != share[0]:
                    continue
                quotes = _quotes(paragraph["context"], question["answers"][0], spaced=spaced)
                places = tuple(Place(path, quote) for quote in quotes)
                draft = Draft(question["question"].strip(), places, f"article {number}")
                (drafts if kept else left_out).append(draft)
    return Material(files, drafts, 5 if spaced else 1, per_half), left_out


def _quotes(context: str, answer: dict[str, object], *, spaced: bool) -> list[str]:
    """Return a wide and a narrow quote around the answer: a splitter may cut the wide one."""
    start = int(str(answer["answer_start"]))
    end = start + len(str(answer["text"]))
    if spaced:
        return [quote_around(context, start, end, words) for words in (8, 5)]
    quotes = (quote_around(context, start, end, words) for words in range(1, MAX_WORDS))
    return [next((quote for quote in quotes if len(quote) >= MIN_LETTERS), "")]
