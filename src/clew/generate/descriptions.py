"""A title and a description of every passage, by which DA-RAG finds it among the chunks.

DA-RAG (arXiv 2602.08545, section 3) has a language model write both, and compares the question with
them instead of the passage. Without a model, the title is the passage's heading, else the two
rarest names that it mentions, else its most distinctive words; the description is its most central
sentences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from clew.generate._model import check_positive, one_line, remember_answers, unread
from clew.generate.extracts import distinctive_words, extract
from clew.graph import Generated, Graph, heading_of
from clew.model import AnswerSource, FittedPrompt, Model, ModelSource, parse_json
from clew.usage import NO_USAGE, total_usage

PROMPT = """Give this passage a title and describe what it says, so that it can be found by what \
people ask. Say only what it says, with the
names it uses.

{text}

Answer with JSON alone: {{"title": a title of at most ten words, "description": at most {words} \
words}}"""
N_NAMES, WORDS_PER_TOKEN = 2, 0.7


class Description(NamedTuple):
    """A passage's title and description."""

    title: str
    description: str


@dataclass(frozen=True)
class Descriptions:
    """Describe every passage: `{title}: {description}`, of kind "description".

    The id is `description:{id of the passage}`; the metadata has `title`, `description` and `by`:
    "model" or "extract". Of a passage that is too long for the model's prompts, the model reads the
    beginning, and `unread` says how much it has not read. Where the model's answer cannot be used,
    twice, the description is an extract, and the reason is in `failed`. The recipe `da_rag`
    compares a question with the description of a chunk where there is one.

    Attributes:
        model: whatever `clew.model.Model.of` takes, or None.
        tokens: of a description, about.
        workers: how many prompts are asked at the same time.
        answers: the cache of answers, or the path of its file. None caches them as long as this
            object lives, so that a description is paid for again only when its passage changes.

    Example:
        >>> graph = Graph.of(["Anna moved to Rome by ship. It took a month."])
        >>> Descriptions().on(graph).texts
        ('anna, month, moved: Anna moved to Rome by ship. It took a month.',)
    """

    model: ModelSource | None = field(default=None, hash=False)
    tokens: int = 60
    workers: int = field(default=4, compare=False)
    answers: AnswerSource | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        check_positive(self, ("tokens", "workers"))
        if self.model is not None:
            remember_answers(self, self.model, self.answers)

    def on(self, graph: Graph) -> Generated:
        rows = [
            row
            for row in graph.rows("passage").tolist()
            if not graph.generated[row] and graph.texts[row].strip()
        ]
        by_model: list[Description | None] = [None] * len(rows)
        failed = list[tuple[str, str]]()
        left_out: list[dict[str, str]] = [{} for _ in rows]
        usage = NO_USAGE
        if self.model is not None:
            model = Model.of(self.model, count=graph.count)
            prompts = [self._prompt(model, graph, row) for row in rows]
            answers = model.ask_all(
                [prompt.text for prompt in prompts],
                read_description,
                workers=self.workers,
                label="descriptions",
            )
            left_out = [unread(prompt) for prompt in prompts]
            usage = total_usage(answer.usage for answer in answers)
            by_model = [answer.value for answer in answers]
            failed = [
                (graph.ids[row], answer.error)
                for row, answer in zip(rows, answers, strict=True)
                if answer.value is None
            ]
        names = _rarest_names(graph)
        descriptions = [
            written or Description(title_of(graph, row, names), extract(graph, [row], self.tokens))
            for written, row in zip(by_model, rows, strict=True)
        ]
        return Generated(
            ids=tuple(f"description:{graph.ids[row]}" for row in rows),
            kinds=("description",) * len(rows),
            texts=tuple(
                ": ".join(part for part in description if part) or graph.texts[row]
                for description, row in zip(descriptions, rows, strict=True)
            ),
            read_from=[[row] for row in rows],
            metadata=tuple(
                {**description._asdict(), "by": "extract"}
                if written is None
                else {**description._asdict(), "by": "model", **missing}
                for description, written, missing in zip(
                    descriptions, by_model, left_out, strict=True
                )
            ),
            failed=tuple(failed),
            usage=usage,
        )

    def _prompt(self, model: Model, graph: Graph, row: int) -> FittedPrompt:
        heading = heading_of(graph, row)

        def build(parts: Sequence[str]) -> str:
            words = max(10, int(self.tokens * WORDS_PER_TOKEN))
            return PROMPT.format(text="\n".join(parts), words=words)

        text = graph.texts[row]
        return model.fit(build, [f"{heading}\n{text}" if heading else text], "passages")


def title_of(graph: Graph, row: int, names: Mapping[int, Sequence[int]]) -> str:
    """Return the title of a passage without a model.

    Args:
        graph: the graph.
        row: the passage's.
        names: the entities that each passage mentions, the rarest first.
    """
    if heading := heading_of(graph, row):
        return heading
    if rarest := [graph.texts[entity] for entity in names.get(row, ())[:N_NAMES]]:
        return ", ".join(rarest)
    return ", ".join(distinctive_words(graph, [row], N_NAMES + 1))


def read_description(text: str) -> Description:
    """Return the title and the description in a model's answer.

    Raises:
        ValueError: one of them is missing.
    """
    answer = parse_json(text)
    values = [
        answer.get(name) if isinstance(answer, dict) else None for name in Description._fields
    ]
    for name, value in zip(Description._fields, values, strict=True):
        if not isinstance(value, str) or not value.strip():
            raise ValueError(f"{name!r} must be a text; it is {value!r}")
    return Description(*(one_line(str(value)) for value in values))


def _rarest_names(graph: Graph) -> Mapping[int, list[int]]:
    """Return for every passage the entities that it mentions, those in fewest passages first."""
    entities = graph.rows("entity")
    counts = graph.read_from.lengths[entities]
    names: dict[int, list[int]] = {}
    for entity in entities[np.argsort(counts, kind="stable")].tolist():
        for passage in graph.read_from[entity].tolist():
            names.setdefault(passage, []).append(entity)
    return names
