"""Transcripts of meetings with queries on parts of them, in the JSON format of QMSum."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import PurePosixPath

from tests.benchmarks.prepare.material import Draft, Material, Place
from tests.benchmarks.prepare.words import quotes_along

MAX_TURNS = 30  # of a query's gold: longer ones ask for a summary of half the meeting


def prepare(texts: Mapping[str, str]) -> Material:
    """Return one text file a meeting, a line a turn, and its specific queries.

    The beginning of each turn that the query's answer was written from is gold, and further words of long ones.
    """
    files: dict[str, str] = {}
    drafts: list[Draft] = []
    for path, text in texts.items():
        meeting = json.loads(text)
        name = f"{PurePosixPath(path).stem}.txt"
        turns = [
            f"{turn['speaker']}: {' '.join(turn['content'].split())}"
            for turn in meeting["meeting_transcripts"]
        ]
        files[name] = "\n".join(turns) + "\n"
        for query in meeting["specific_query_list"]:
            spans = [(int(low), int(high)) for low, high in query["relevant_text_span"]]
            gold = [turn for low, high in spans for turn in turns[low : high + 1]]
            if 0 < len(gold) <= MAX_TURNS:
                quotes = quotes_along(gold, every=60, min_words=8)
                places = tuple(Place(name, quote) for quote in quotes)
                drafts.append(Draft(" ".join(query["query"].split()), places, name))
    return Material(files, drafts)
