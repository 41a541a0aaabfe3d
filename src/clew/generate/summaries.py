"""A summary of every entity that several passages mention, in one place.

LightRAG (arXiv 2410.05779) and GraphRAG (arXiv 2404.16130) merge in this way what their extractors
read of an entity. Without a language model a summary is a list of the facts that were read.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from clew.generate._model import (
    check_positive,
    extract_reason,
    first_that_fit,
    one_line,
    remember_answers,
    unread,
)
from clew.generate.extracts import extract, in_document_order, most_central
from clew.graph import Edges, Generated, Graph
from clew.model import AnswerSource, FittedPrompt, Model, ModelSource, parse_json
from clew.usage import NO_USAGE, total_usage

MAX_PASSAGES = 60  # of which an extract is made
PROMPT = """What follows was read about "{name}" in several places of a collection. Write what it \
says of "{name}", for someone who has \
not read it: at most {words} words, in the language of the passages, beginning with the name. \
Say only what stands here.

Facts: {facts}

{passages}

Answer with one JSON object and nothing else: {{"summary": "..."}}"""


@dataclass(frozen=True)
class Summaries:
    """Write a summary, of kind "summary", of every entity that enough passages mention.

    The id is `summary:{name of the entity}`. An edge "about" joins the summary to its entity, and
    it is read from the passages that mention the entity. The metadata has `entity`, `passages`,
    `by`: "model" or "extract", and in `unread` what the model has not read, if anything. Where the
    model's answer cannot be used, twice, the summary is an extract, and the reason is in `failed`.
    A question touches summaries by a seed that has "summary" among its `kinds`; the edges "about"
    and "mentions" lead from them to the passages. The recipe `da_rag_paper` compares entities by
    them, and a language model that `da_rag` or `da_rag_paper` asks reads them.

    Attributes:
        model: whatever `clew.model.Model.of` takes, or None.
        min_passages: how many passages must mention an entity.
        tokens: the most tokens of a summary, by the index's counter.
        prompt_tokens: tokens of passages in one prompt, the most central ones.
        workers: how many prompts are asked at the same time.
        answers: the cache of answers, or the path of its file. None caches them as long as this
            object lives, so that a summary is paid for again only when its sources change.

    Example:
        >>> graph = Graph.from_triples([("Anna", "moved to", "Rome")])
        >>> len(Summaries().on(graph))  # no passage mentions them
        0
    """

    model: ModelSource | None = field(default=None, hash=False)
    min_passages: int = 3
    tokens: int = 100
    prompt_tokens: int = 2000
    workers: int = field(default=4, compare=False)
    answers: AnswerSource | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        check_positive(self, ("min_passages", "tokens", "prompt_tokens", "workers"))
        if self.model is not None:
            remember_answers(self, self.model, self.answers)

    def on(self, graph: Graph) -> Generated:
        entities = [
            row
            for row in graph.rows("entity").tolist()
            if len(graph.read_from[row]) >= self.min_passages
        ]
        facts = _facts_by_entity(graph)
        texts = [self._extract(graph, row, facts.get(row, [])) for row in entities]
        errors = [""] * len(entities)
        left_out: list[dict[str, str]] = [{} for _ in entities]
        usage = NO_USAGE
        if self.model is not None and entities:
            model = Model.of(self.model, count=graph.count)
            prompts = [self._prompt(model, graph, row, facts.get(row, [])) for row in entities]
            left_out = [unread(prompt) for prompt in prompts]
            answers = model.ask_all(
                [prompt.text for prompt in prompts],
                lambda text: self._read(graph, text),
                workers=self.workers,
                label="summaries",
            )
            texts = [
                known if answer.value is None else answer.value
                for known, answer in zip(texts, answers, strict=True)
            ]
            errors = ["" if answer.value is not None else answer.error for answer in answers]
            usage = total_usage(answer.usage for answer in answers)
        ids = tuple(f"summary:{graph.texts[row]}" for row in entities)
        by = ["extract" if self.model is None or error else "model" for error in errors]
        first = len(graph)
        return Generated(
            ids=ids,
            kinds=("summary",) * len(entities),
            texts=tuple(texts),
            read_from=[sorted(set(graph.read_from[row].tolist())) for row in entities],
            metadata=tuple(
                {"entity": graph.ids[row], "passages": len(graph.read_from[row]), "by": writer}
                | (missing if writer == "model" else {})
                for row, writer, missing in zip(entities, by, left_out, strict=True)
            ),
            edges=Edges.of("about", np.arange(first, first + len(entities)), entities),
            failed=tuple(
                (id, extract_reason(error)) for id, error in zip(ids, errors, strict=True) if error
            ),
            usage=usage,
        )

    def _extract(self, graph: Graph, row: int, facts: Sequence[str]) -> str:
        """Return the facts that fit, the most stated first, else the most central sentences."""
        chosen: list[str] = []
        for fact in facts:
            if graph.count("; ".join([*chosen, fact])) <= self.tokens:
                chosen.append(fact)
        if listed := "; ".join(chosen):
            return listed
        passages = most_central(graph, graph.read_from[row].tolist(), MAX_PASSAGES)
        return extract(graph, passages, self.tokens) or graph.texts[row]

    def _prompt(self, model: Model, graph: Graph, row: int, facts: Sequence[str]) -> FittedPrompt:
        """Return the prompt: facts in at most half of the room, then the most central passages."""
        central = most_central(graph, graph.read_from[row].tolist(), MAX_PASSAGES)
        most, ranked = self.prompt_tokens, in_document_order(graph, central)
        room = min(most, model.max_prompt_tokens // 2)
        stated = model.fit("; ".join, facts, "facts", max_tokens=room)
        fitting = first_that_fit(graph, central, most)
        shown = in_document_order(graph, fitting) or ranked[:1]  # one that is too long is cut

        def build(texts: Sequence[str]) -> str:
            return PROMPT.format(
                name=graph.texts[row],
                facts=stated.text or "none",
                passages="\n\n".join(texts),
                words=max(1, self.tokens // 2),
            )

        texts = [graph.texts[one] for one in shown]
        prompt = model.fit(build, texts, max_tokens=model.tokens(build([])) + most)
        passages = len(graph.read_from[row])
        left_out = [stated.left_out] if stated.left_out else []
        if prompt.is_cut:
            left_out.append(prompt.left_out)
        if prompt.shown < passages:
            left_out.append(f"{passages - prompt.shown:,} of {passages:,} passages")
        return prompt._replace(left_out=", ".join(left_out))

    def _read(self, graph: Graph, text: str) -> str:
        """Return the summary in a model's answer; raise ValueError where there is none."""
        answer = parse_json(text)
        summary = answer.get("summary") if isinstance(answer, dict) else None
        if not isinstance(summary, str) or not summary.strip():
            shown = json.dumps(answer, ensure_ascii=False)[:80]
            raise ValueError(f'wanted {{"summary": "..."}}, got {shown}')
        line = one_line(summary)
        if (size := graph.count(line)) > self.tokens:
            raise ValueError(f"the summary has {size} tokens; at most {self.tokens} are wanted")
        return line


def _facts_by_entity(graph: Graph) -> dict[int, list[str]]:
    """Return the facts that each entity has a part in, those read in most passages first."""
    facts: dict[int, list[str]] = {}
    order = np.lexsort((np.arange(len(graph.facts)), -graph.facts.read_from.lengths))
    for fact in order.tolist():
        ends = int(graph.facts.subjects[fact]), int(graph.facts.objects[fact])
        for entity in dict.fromkeys(ends):
            facts.setdefault(entity, []).append(graph.facts.texts[fact])
    return facts
