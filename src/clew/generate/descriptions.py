"""A title and a description of every passage, kept in the graph, by which it is found among the chunks of DA-RAG.

DA-RAG (arXiv 2602.08545, section 3) has a language model write both, and compares the question with them in the place of the passage.
Without one, the title is the heading that the passage stands under, else the two rarest names it mentions, else its most telling words;
and the description its sentences that are nearest to the middle of its words.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clew.generate.extracts import extract, telling
from clew.graph import Generated, Graph, heading_of
from clew.model import Model, parse_json

PROMPT = """Give this passage a title and describe what it says, so that it can be found by what people ask. Say only what it says, with the
names it uses.

{heading}{text}

Answer with JSON alone: {{"title": a title of at most ten words, "description": at most {words} words}}"""
NAMES, WORDS_PER_TOKEN = 2, 0.7


@dataclass(frozen=True)
class Descriptions:
    """Describe every passage: `{title}: {description}`, of kind "description", named `description:{id of the passage}`.

    The metadata has `title`, `description` and `by`: "model" or "extract". Where the model's answer cannot be used, twice, it is an
    extract, and the reason is in `failed`. The recipe `da_rag` compares a question with the description of a chunk where there is one.

    Attributes:
        model: anything `clew.model.Model.of` takes, or None. tokens: a description has about so many. workers: prompts asked at a time.
        answers: where answers are remembered, as an `Answers` or the path of its file; None: as long as this object lives, so that a
            description is paid for again only when its passage has changed.
    """

    model: Any = field(default=None, hash=False)
    tokens: int = 60
    workers: int = field(default=4, compare=False)
    answers: Any = field(default=None, compare=False)

    def __post_init__(self) -> None:
        for name in ("tokens", "workers"):
            if getattr(self, name) < 1:
                raise ValueError(
                    f"{name} is a whole number of at least 1; got {getattr(self, name)!r}"
                )
        if self.model is not None:
            object.__setattr__(self, "model", Model.remembering(self.model, self.answers))

    def on(self, graph: Graph) -> Generated:
        rows = [
            row
            for row in graph.rows("passage").tolist()
            if not graph.generated[row] and graph.texts[row].strip()
        ]
        said: list[tuple[str, str] | None] = [None] * len(rows)
        failed = list[tuple[str, str]]()
        if self.model is not None:
            prompts = [self._prompt(graph, row) for row in rows]
            answers = self.model.ask_all(
                prompts, described, workers=self.workers, what="descriptions"
            )
            said = [answer.value for answer in answers]
            failed = [
                (graph.ids[row], answer.error)
                for row, answer in zip(rows, answers, strict=True)
                if answer.value is None
            ]
        mentioned = _rarest(graph)
        both = [
            one or (title_of(graph, row, mentioned), extract(graph, [row], self.tokens))
            for one, row in zip(said, rows, strict=True)
        ]
        return Generated(
            ids=tuple(f"description:{graph.ids[row]}" for row in rows),
            kinds=("description",) * len(rows),
            texts=tuple(
                ": ".join(part for part in pair if part) or graph.texts[row]
                for pair, row in zip(both, rows, strict=True)
            ),
            read_from=[[row] for row in rows],
            metadata=tuple(
                {"title": title, "description": text, "by": "extract" if one is None else "model"}
                for (title, text), one in zip(both, said, strict=True)
            ),
            failed=tuple(failed),
        )

    def _prompt(self, graph: Graph, row: int) -> str:
        heading = heading_of(graph, row)
        words = max(10, int(self.tokens * WORDS_PER_TOKEN))
        return PROMPT.format(
            heading=f"{heading}\n" if heading else "", text=graph.texts[row], words=words
        )


def title_of(graph: Graph, row: int, mentioned: dict[int, list[int]]) -> str:
    """Return the title of a passage without a model: its heading, else its rarest names, else its most telling words."""
    if heading := heading_of(graph, row):
        return heading
    if names := [graph.texts[entity] for entity in mentioned.get(row, ())[:NAMES]]:
        return ", ".join(names)
    return ", ".join(telling(graph, [row], NAMES + 1))


def described(text: str) -> tuple[str, str]:
    """Return the title and the description in a model's answer; raise ValueError where one is missing."""
    came = parse_json(text)
    found = (
        [came.get(name) for name in ("title", "description")]
        if isinstance(came, dict)
        else [None, None]
    )
    for name, value in zip(("title", "description"), found, strict=True):
        if not isinstance(value, str) or not value.strip():
            raise ValueError(f"{name!r} must be a text; it is {value!r}")
    return " ".join(str(found[0]).split()), " ".join(str(found[1]).split())


def _rarest(graph: Graph) -> dict[int, list[int]]:
    """For every passage the entities it mentions, those in fewest passages first."""
    entities = graph.rows("entity")
    times = graph.read_from.lengths
    found: dict[int, list[int]] = {}
    for entity in entities[np.argsort(times[entities], kind="stable")].tolist():
        for passage in graph.read_from[entity].tolist():
            found.setdefault(passage, []).append(entity)
    return found
