"""Which of four presets answers a question: by stated rules, or by the caller's language model.

The rules look at the graph first, and only then at the words of the question, by a table of cues that anyone can put another in place of.
The first that holds decides:

| what is seen | preset |
|---|---|
| nothing links the passages, or none of those nearest to the question is linked to another | baseline |
| the question says a cue for what holds of the whole | enterprise |
| facts of several relations, and the question says a cue for how things are related, or names two things of the graph | agentic |
| anything else | lightweight |
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clew.algorithms.ranking import top_k
from clew.context import Context, Step
from clew.graph import Floats, Graph, Mask
from clew.model import Model
from clew.text.words import contains_phrase, fold_case, words
from clew.types import Method, Query, Seed, Seeds

PRESETS = ("baseline", "lightweight", "enterprise", "agentic")
CUES = (
    (
        "whole",
        (
            *(
                "overall",
                "main themes",
                "main topics",
                "summarize",
                "summarise",
                "summary",
                "overview",
                "in general",
                "trends",
            ),
            *(
                "insgesamt",
                "überblick",
                "zusammenfassung",
                "fasse zusammen",
                "hauptthemen",
                "im allgemeinen",
            ),
            *(
                "dans l'ensemble",
                "résumé",
                "résume",
                "vue d'ensemble",
                "thèmes principaux",
                "en général",
            ),
            *(
                "en general",
                "resumen",
                "temas principales",
                "in generale",
                "riassunto",
                "panoramica",
            ),
            *(
                "总体",
                "总结",
                "概述",
                "主要主题",
                "全体",
                "要約",
                "概要",
                "傾向",
                "в целом",
                "обзор",
                "основные темы",
            ),
        ),
    ),
    (
        "relation",
        (
            *(
                "related to",
                "relate to",
                "relationship between",
                "relation between",
                "connected to",
                "connection between",
                "link between",
            ),
            *(
                "zusammenhang",
                "verbindung zwischen",
                "beziehung zwischen",
                "hängen zusammen",
                "hat zu tun mit",
            ),
            *(
                "lien entre",
                "relation entre",
                "rapport entre",
                "relación entre",
                "conexión entre",
                "relacionado con",
            ),
            *(
                "relazione tra",
                "legame tra",
                "有什么关系",
                "之间的关系",
                "联系",
                "関係",
                "связь между",
                "связаны",
                "связан с",
            ),
        ),
    ),
)
NEAREST = 3  # passages that are asked whether they are linked
LONGEST = 8  # words of a name

PROMPT = """Which way of retrieval suits the question?

- baseline: the answer stands in one passage that is like the question
- lightweight: the answer is in passages that are linked to those like the question
- enterprise: the question is about the whole of the documents, their themes, trends or a summary
- agentic: the question is how two or more things are related, over several steps

Question: {question}

Answer with one of these four words alone."""


@dataclass(frozen=True)
class Router:
    """Answer by the preset that the question and the graph want; the trace begins with which, by whom, and why.

    Attributes:
        baseline, lightweight, enterprise, agentic: the methods to choose among.
        seed: what finds the passages nearest to the question, for the rules.
        cues: pairs of "whole" or "relation" and the words, or several, in any language, that are heard as such.
        asks: let the question's language model choose, where it has one; an answer of no use leaves it to the rules.
    """

    baseline: Method
    lightweight: Method
    enterprise: Method
    agentic: Method
    seed: Seed
    cues: tuple[tuple[str, tuple[str, ...]], ...] = CUES
    asks: bool = True

    def __post_init__(self) -> None:
        unknown = [name for name, _ in self.cues if name not in ("whole", "relation")]
        if unknown:
            raise ValueError(f"cues are for 'whole' and 'relation'; got {unknown[0]!r}")

    def on(self, graph: Graph) -> Callable[[Query, int], Context]:
        """Bind the presets to a graph, each when it is first chosen."""
        shape, touch = graph.part(_Shape()), self.seed.on(graph)
        bound: dict[str, Callable[[Query, int], Context]] = {}

        def answer(query: Query, budget: int) -> Context:
            begun = time.perf_counter()
            name, notes = self._chosen(graph, shape, touch, query)
            step = Step("Router", time.perf_counter() - begun, {"chosen": name, **notes})
            if name not in bound:
                bound[name] = getattr(self, name).on(graph)
            context = bound[name](query, budget)
            return replace(context, method=repr(self), trace=(step, *context.trace))

        return answer

    def _chosen(
        self, graph: Graph, shape: _Seen, touch: Callable[[Query], Seeds], query: Query
    ) -> tuple[str, dict[str, Any]]:
        notes: dict[str, Any] = {}
        if self.asks and query.model is not None:
            found = Model.of(query.model).ask(PROMPT.format(question=query.text), _read)
            if found.value is not None:
                return found.value, {"by": "the language model", "why": "its answer"}
            notes["fallback"] = f"by the rules: {found.error}"
        name, why, seen = self._ruled(graph, shape, touch(query).scores, query)
        return name, {"by": "the rules", "why": why, "seen": seen, **notes}

    def _ruled(
        self, graph: Graph, shape: _Seen, weights: Floats, query: Query
    ) -> tuple[str, str, dict[str, Any]]:
        nearest = top_k(weights, NEAREST)
        nearest = nearest[weights[nearest] > 0]
        heard = {
            kind: [cue for cue in cues if contains_phrase(cue, query.text)]
            for kind, cues in self.cues
        }
        names = shape.named(query.text)
        seen = {
            "linked passages": int(shape.linked.sum()),
            "relations": shape.relations,
            "names": names,
            "cues": heard,
        }
        if not shape.linked.any():
            return "baseline", "nothing links the passages", seen
        if len(nearest) and not shape.linked[nearest].any():
            return (
                "baseline",
                "none of the passages nearest to the question is linked to another",
                seen,
            )
        if heard.get("whole"):
            return (
                "enterprise",
                f"the question is about the whole: it says {heard['whole'][0]!r}",
                seen,
            )
        if shape.relations > 1 and (heard.get("relation") or len(names) > 1):
            asked = (
                f"says {heard['relation'][0]!r}"
                if heard.get("relation")
                else f"names {names[0]!r} and {names[1]!r}"
            )
            return (
                "agentic",
                f"facts of {shape.relations:,} relations, and the question {asked}",
                seen,
            )
        return (
            "lightweight",
            "the passages are linked, and the question is neither about the whole nor about a relation",
            seen,
        )


def _read(text: str) -> str:
    found = [name for name in PRESETS if name in words(text)]
    if len(found) != 1:
        raise ValueError(f"wanted one of {', '.join(PRESETS)}; got {text[:80]!r}")
    return found[0]


@dataclass(frozen=True, eq=False)
class _Seen:
    """What the rules look at in a graph: which nodes are linked beyond their own document, how many relations, which names it has."""

    linked: Mask
    relations: int
    names: Mapping[tuple[str, ...], str]

    def named(self, text: str) -> list[str]:
        """The names that a text says, the longest at each place."""
        said, at, found = words(text), 0, dict[str, None]()
        while at < len(said):
            for end in range(min(len(said), at + LONGEST), at, -1):
                if (name := self.names.get(tuple(said[at:end]))) is not None:
                    found[name], at = None, end - 1
                    break
            at += 1
        return list(found)


@dataclass(frozen=True)
class _Shape:
    """The part that looks at a graph."""

    def compute(self, graph: Graph) -> _Seen:
        edges, documents = graph.edges, graph.documents
        other = (documents[edges.tails] != documents[edges.heads]) | (documents[edges.tails] < 0)
        linked = np.zeros(len(graph), np.bool_)
        linked[edges.tails[other]] = linked[edges.heads[other]] = True
        entities = graph.rows("entity").tolist()
        names = {
            tuple(words(fold_case(graph.texts[row]))): graph.texts[row]
            for row in reversed(entities)
        }
        names.pop((), None)
        return _Seen(linked & graph.content, len(set(graph.facts.relations.codes.tolist())), names)
