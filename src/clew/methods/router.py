"""The router answers a question by one of four presets: by stated rules, or by a language model.

The rules look at the graph first, and then at the words of the question, by a table of cues that
can be replaced. The first rule that holds decides:

| condition | preset |
|---|---|
| nothing links the passages, or no passage nearest to the question is linked | baseline |
| the question has a cue for "whole" | enterprise |
| facts of several relations, and a cue for "relation" or two names of the graph | agentic |
| otherwise | lightweight |
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from clew.algorithms.ranking import top_k
from clew.context import Context
from clew.graph import Floats, Graph, Mask
from clew.items import Step
from clew.model import Model
from clew.text.words import contains_phrase, fold_case, words
from clew.types import BoundMethodPart, Method, Query, Seed, Seeds

PRESETS = ("baseline", "lightweight", "enterprise", "agentic")
# English, German, French, Spanish and Italian, then Chinese, Japanese and Russian.
WHOLE_CUES = (
    "overall,main themes,main topics,summarize,summarise,summary,overview,in general,trends,"
    "insgesamt,überblick,zusammenfassung,fasse zusammen,hauptthemen,im allgemeinen,"
    "dans l'ensemble,résumé,résume,vue d'ensemble,thèmes principaux,en général,"
    "en general,resumen,temas principales,in generale,riassunto,panoramica,"
    "总体,总结,概述,主要主题,全体,要約,概要,傾向,в целом,обзор,основные темы"
)
RELATION_CUES = (
    "related to,relate to,relationship between,relation between,connected to,connection between,"
    "link between,"
    "zusammenhang,verbindung zwischen,beziehung zwischen,hängen zusammen,hat zu tun mit,"
    "lien entre,relation entre,rapport entre,relación entre,conexión entre,relacionado con,"
    "relazione tra,legame tra,有什么关系,之间的关系,联系,関係,связь между,связаны,связан с"
)
CUES = (
    ("whole", tuple(WHOLE_CUES.split(","))),
    ("relation", tuple(RELATION_CUES.split(","))),
)
N_NEAREST = 3  # passages nearest to the question, of which one must be linked
MAX_NAME_WORDS = 8

PROMPT = """Which way of retrieval suits the question?

- baseline: the answer stands in one passage that is like the question
- lightweight: the answer is in passages that are linked to those like the question
- enterprise: the question is about the whole of the documents, their themes, trends or a summary
- agentic: the question is how two or more things are related, over several steps

Question: {question}

Answer with one of these four words alone."""


class Choice(NamedTuple):
    """The preset that was chosen, and the notes that say by whom and why."""

    preset: str
    notes: dict[str, Any]


@dataclass(frozen=True)
class Router:
    """Answer by the preset that suits the question and the graph; the trace says which, and why.

    Attributes:
        baseline: for questions that one passage answers.
        lightweight: for questions that linked passages answer.
        enterprise: for questions on the whole of the documents.
        agentic: for questions on how things are related.
        seed: finds the passages nearest to the question, for the rules.
        cues: pairs of "whole" or "relation" and the words or phrases, in any language, that are
            cues for it.
        asks: let the question's language model choose, where it has one. An answer that names no
            preset leaves the choice to the rules.

    Example:
        >>> from clew import recipes
        >>> graph = Graph.of(["Anna moved to Rome."], vectors=[[1, 0]])
        >>> context = recipes.get("router").on(graph)(Query("Who moved?", np.float32([1, 0])), 50)
        >>> context.trace[0].notes["chosen"], context.trace[0].notes["why"]
        ('baseline', 'nothing links the passages')
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

    @property
    def asks_model(self) -> bool:
        """Whether the question's language model may choose."""
        return self.asks

    def on(self, graph: Graph) -> Callable[[Query, int], Context]:
        """Bind the seed to a graph; each preset is bound when it is first chosen."""
        profile, seed = graph.part(GraphProfilePart()), self.seed.on(graph)

        def answer(query: Query, budget: int) -> Context:
            begin = time.perf_counter()
            preset, notes = self._choose(profile, seed, query)
            step = Step("Router", time.perf_counter() - begin, {"chosen": preset, **notes})
            context = graph.part(BoundMethodPart(self._method(preset)))(query, budget)
            return context.changed(method=repr(self), trace=(step, *context.trace))

        return answer

    def _method(self, preset: str) -> Method:
        methods = (self.baseline, self.lightweight, self.enterprise, self.agentic)
        return dict(zip(PRESETS, methods, strict=True))[preset]

    def _choose(
        self, profile: GraphProfile, seed: Callable[[Query], Seeds], query: Query
    ) -> Choice:
        fallback: dict[str, str] = {}
        if self.asks and query.model is not None:
            model = Model.of(query.model)
            prompt = model.fit(
                lambda shown: PROMPT.format(question="".join(shown)), [query.text], "questions"
            )
            if prompt.left_out:  # its beginning tells what it is about, too
                fallback["not shown to the model"] = f"{prompt.left_out} of the question"
            answer = model.ask(prompt.text, _read_preset)
            if answer.value is not None:
                by_model = {"by": "the language model", "why": "its answer", **fallback}
                return Choice(answer.value, by_model)
            fallback["fallback"] = f"by the rules: {answer.error}"
        names = profile.names_in(query.text)
        cues = {
            kind: [cue for cue in cues if contains_phrase(cue, query.text)]
            for kind, cues in self.cues
        }
        preset, reason = _apply_rules(profile, seed(query).scores, cues, names)
        seen = {
            "linked passages": int(profile.linked.sum()),
            "relations": profile.n_relations,
            "names": names,
            "cues": cues,
        }
        return Choice(preset, {"by": "the rules", "why": reason, "seen": seen, **fallback})


def _apply_rules(
    profile: GraphProfile, scores: Floats, cues: Mapping[str, list[str]], names: list[str]
) -> tuple[str, str]:
    """Return the preset that the rules choose, and the reason."""
    if not profile.linked.any():
        return "baseline", "nothing links the passages"
    nearest = top_k(scores, N_NEAREST)
    nearest = nearest[scores[nearest] > 0]
    if len(nearest) and not profile.linked[nearest].any():
        return "baseline", "none of the passages nearest to the question is linked to another"
    if whole := cues.get("whole"):
        return "enterprise", f"the question is about the whole: it says {whole[0]!r}"
    relation = cues.get("relation")
    if profile.n_relations > 1 and (relation or len(names) > 1):
        asked = f"says {relation[0]!r}" if relation else f"names {names[0]!r} and {names[1]!r}"
        return "agentic", f"facts of {profile.n_relations:,} relations, and the question {asked}"
    return (
        "lightweight",
        "the passages are linked, and the question is neither about the whole nor about a relation",
    )


def _read_preset(text: str) -> str:
    named = [preset for preset in PRESETS if preset in words(text)]
    if len(named) != 1:
        raise ValueError(f"wanted one of {', '.join(PRESETS)}; got {text[:80]!r}")
    return named[0]


@dataclass(frozen=True, eq=False)
class GraphProfile:
    """What the rules look at in a graph.

    Attributes:
        linked: True for content that an edge links beyond its own document, bool [n].
        n_relations: how many relations the facts have.
        names: the entities' names, by their words.
    """

    linked: Mask
    n_relations: int
    names: Mapping[tuple[str, ...], str]

    def names_in(self, text: str) -> list[str]:
        """Return the names that a text mentions, the longest at each place."""
        text_words, begin, names = words(text), 0, dict[str, None]()
        while begin < len(text_words):
            for end in range(min(len(text_words), begin + MAX_NAME_WORDS), begin, -1):
                if (name := self.names.get(tuple(text_words[begin:end]))) is not None:
                    names[name], begin = None, end - 1
                    break
            begin += 1
        return list(names)


@dataclass(frozen=True)
class GraphProfilePart:
    """The part that is the `GraphProfile` of a graph.

    Example:
        >>> graph = Graph.from_triples([("Anna Berg", "moved to", "Rome")])
        >>> graph.part(GraphProfilePart()).names_in("Did Anna Berg see Rome?")
        ['Anna Berg', 'Rome']
    """

    def compute(self, graph: Graph) -> GraphProfile:
        edges, documents = graph.edges, graph.documents
        tails, heads = documents[edges.tails], documents[edges.heads]
        beyond = (tails != heads) | (tails < 0)
        linked = np.zeros(len(graph), np.bool_)
        linked[edges.tails[beyond]] = linked[edges.heads[beyond]] = True
        entities = graph.rows("entity").tolist()
        # The first of two entities with one name remains.
        names = {
            tuple(words(fold_case(graph.texts[row]))): graph.texts[row]
            for row in reversed(entities)
        }
        names.pop((), None)
        n_relations = len(set(graph.facts.relations.codes.tolist()))
        return GraphProfile(linked & graph.content, n_relations, names)
