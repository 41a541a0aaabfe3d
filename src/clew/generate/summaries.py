"""A summary of every entity that several passages speak of: what is said of it here and there, in one place.

As LightRAG (arXiv 2410.05779) and GraphRAG (arXiv 2404.16130) merge what their extractors say of an entity. Without a language model a
summary is a list of the facts that were read.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clew.generate.extracts import extract, in_order, nearest
from clew.graph import Edges, Generated, Graph
from clew.model import Model, parse_json

NEAR = 60  # passages of which an extract is made
PROMPT = """What follows was read about "{name}" in several places of a collection. Write what it says of "{name}", for someone who has \
not read it: at most {words} words, in the language of the passages, beginning with the name. Say only what stands here.

Facts: {facts}

{passages}

Answer with one JSON object and nothing else: {{"summary": "..."}}"""


@dataclass(frozen=True)
class Summaries:
    """Write a summary of every entity that at least `least` passages speak of, of kind "summary".

    It is named `summary:{entity's name}`, joined to its entity by an edge "about", and read from the passages that speak of that; its
    metadata has `entity`, `passages` and `by`: "model" or "extract". Where the model's answer cannot be used, twice, the summary is an
    extract, and the reason is in `failed`. A question touches summaries by a seed that has "summary" among its `kinds`, and a walk over the
    edges "about" and "mentions" leads from these to the passages.

    Attributes:
        model: anything `clew.model.Model.of` takes, or None. least: passages that must speak of an entity.
        tokens: a summary has at most so many, by the index's counter. reading: tokens of passages that one prompt shows, those nearest to
            the middle of all.
        workers: how many prompts are asked at the same time. answers: where answers are remembered, as an `Answers` or the path of its
            file; None: as long as this object lives, so that a summary is paid for again only when its sources have changed.
    """

    model: Any = field(default=None, hash=False)
    least: int = 3
    tokens: int = 100
    reading: int = 2000
    workers: int = field(default=4, compare=False)
    answers: Any = field(default=None, compare=False)

    def __post_init__(self) -> None:
        for name in ("least", "tokens", "reading", "workers"):
            if getattr(self, name) < 1:
                raise ValueError(
                    f"{name} is a whole number of at least 1; got {getattr(self, name)!r}"
                )
        if self.model is not None:
            object.__setattr__(self, "model", Model.remembering(self.model, self.answers))

    def on(self, graph: Graph) -> Generated:
        entities = [
            row for row in graph.rows("entity").tolist() if len(graph.read_from[row]) >= self.least
        ]
        said = _facts(graph)
        texts, errors = (
            [self._extract(graph, row, said.get(row, [])) for row in entities],
            [""] * len(entities),
        )
        if self.model is not None and entities:
            prompts = [self._prompt(graph, row, said.get(row, [])) for row in entities]
            answers = self.model.ask_all(
                prompts,
                lambda text: self._read(graph, text),
                workers=self.workers,
                what="summaries",
            )
            texts = [
                known if answer.value is None else answer.value
                for known, answer in zip(texts, answers, strict=True)
            ]
            errors = ["" if answer.value is not None else answer.error for answer in answers]
        ids = tuple(f"summary:{graph.texts[row]}" for row in entities)
        by = ["extract" if self.model is None or error else "model" for error in errors]
        return Generated(
            ids=ids,
            kinds=("summary",) * len(entities),
            texts=tuple(texts),
            read_from=[sorted(set(graph.read_from[row].tolist())) for row in entities],
            metadata=tuple(
                {"entity": graph.ids[row], "passages": len(graph.read_from[row]), "by": how}
                for row, how in zip(entities, by, strict=True)
            ),
            edges=Edges.of("about", np.arange(len(graph), len(graph) + len(entities)), entities),
            failed=tuple(
                (id, f"{error}: an extract stands in its place")
                for id, error in zip(ids, errors, strict=True)
                if error
            ),
        )

    def _extract(self, graph: Graph, row: int, facts: list[str]) -> str:
        """The facts that fit, those said most often first; where there are none, the sentences nearest to the middle."""
        taken: list[str] = []
        for fact in facts:
            if graph.count("; ".join([*taken, fact])) <= self.tokens:
                taken.append(fact)
        return (
            "; ".join(taken)
            or extract(graph, nearest(graph, graph.read_from[row].tolist(), NEAR), self.tokens)
            or graph.texts[row]
        )

    def _prompt(self, graph: Graph, row: int, facts: list[str]) -> str:
        shown, left = list[int](), self.reading
        for passage in nearest(graph, graph.read_from[row].tolist(), NEAR):
            if (size := int(graph.tokens[passage])) <= left:
                shown.append(passage)
                left -= size
        passages = "\n\n".join(graph.texts[passage] for passage in in_order(graph, shown))
        known = "; ".join(facts)[: 4 * self.reading] or "none"
        return PROMPT.format(
            name=graph.texts[row], facts=known, passages=passages, words=max(1, self.tokens // 2)
        )

    def _read(self, graph: Graph, text: str) -> str:
        said = parse_json(text)
        summary = said.get("summary") if isinstance(said, dict) else None
        if not isinstance(summary, str) or not summary.strip():
            raise ValueError(
                f'wanted {{"summary": "..."}}, got {json.dumps(said, ensure_ascii=False)[:80]}'
            )
        line = " ".join(summary.split())
        if (size := graph.count(line)) > self.tokens:
            raise ValueError(f"the summary has {size} tokens; at most {self.tokens} are wanted")
        return line


def _facts(graph: Graph) -> dict[int, list[str]]:
    """The facts that every entity has a part in, those read in most passages first."""
    found: dict[int, list[str]] = {}
    order = np.lexsort((np.arange(len(graph.facts)), -graph.facts.read_from.lengths))
    for fact in order.tolist():
        for end in dict.fromkeys((int(graph.facts.subjects[fact]), int(graph.facts.objects[fact]))):
            found.setdefault(end, []).append(graph.facts.texts[fact])
    return found
