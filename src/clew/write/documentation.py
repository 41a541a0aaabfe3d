"""Documentation out of a corpus: questions on every branch, clusters of them, a section for each cluster (Kurisu-G2, appendix D).

    hierarchy -> questions per branch -> clusters -> a pivot question each -> context -> section -> merged, cross-referenced, listed

Every step that asks a language model has a stated way without one: see `questions`, `sections`; the pivot question is then the one in the
middle of its cluster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from clew.embed import embed_all
from clew.graph import NOTHING, Graph, Vectors
from clew.graph.headings import titles_of
from clew.index import Index
from clew.model import Model, json_in
from clew.pipeline import BudgetError
from clew.recipes import DEFAULT
from clew.stage import Method
from clew.write.branches import Branch, branches, short
from clew.write.clusters import By, Clusters, clustered
from clew.write.questions import READ, Question, questions
from clew.write.sections import Section, extract, introduction, written_by

SAME = 0.9  # cosine of two sections that say the same
RELATED = 3  # the most cross-references of a section


@dataclass(frozen=True, eq=False)
class Documentation:
    """Sections in the order of the corpus, and how they came about.

    `questions` and `clusters` are what they are made of; `introductions` what each document begins with, by its title; `uncovered` the ids
    of the passages that no section has read, and `places` where these stand; `failed` what a language model could not do, with the
    reasons. `save` writes it as a folder of Markdown.
    """

    title: str
    sections: tuple[Section, ...]
    questions: tuple[Question, ...]
    clusters: Clusters
    uncovered: tuple[str, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    introductions: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    places: tuple[str, ...] = ()

    def save(self, path: str | Path) -> list[Path]:
        """Write index.md, a page per document and the map of questions to a folder; return the files. See `clew.write.pages.save`."""
        from clew.write.pages import save

        return save(self, path)


@dataclass(frozen=True)
class Estimate:
    """What a language model would be asked: so many calls, with at most so many tokens in all of them, by the index's counter."""

    calls: int
    tokens: int


def estimate(index: Index, *, budget: int = 1500, sections: int | None = None, each: int = 3) -> Estimate:
    """Return what `document` would ask of a model, without asking: answers and second attempts are not counted."""
    found = branches(index.graph)
    k = max(2, int(np.sqrt(each * len(found)))) if sections is None else sections
    return Estimate(len(found) + 2 * k, len(found) * READ + k * (budget + 500))


def document(
    index: Index,
    *,
    title: str = "Documentation",
    model: Any = None,
    recipe: str | Method = DEFAULT,
    budget: int = 1500,
    sections: int | None = None,
    cover: float = 0.8,
    each: int = 3,
    by: By = "words",
    workers: int = 4,
    progress: bool = False,
) -> Documentation:
    """Return the documentation of what an index holds.

    Args:
        index: best of documents with sections. model: whatever `clew.model.Model.of` takes, or None. recipe, budget: how the context of
            each section is had. sections: how many clusters of questions; None for the number that parts them best.
        cover: the share of the passages that the sections are to read, 0 to 1: the questions on branches that were left out are clustered
            again and have sections of their own, for as long as that brings new passages. 0 for one round, as in the paper.
        each: questions per branch that a model is asked for. by: what makes questions alike; see `clew.write.clusters`.

    Raises:
        ValueError: an index of nothing to read, numbers out of their range.
    """
    if not 0 <= cover <= 1:
        raise ValueError(f"cover is a share from 0 to 1; got {cover!r}")
    found = branches(index.graph)
    if not found:
        raise ValueError("there is nothing to document: the index has no passages")
    writer = None if model is None else Model.of(model)
    asked, failed = questions(index.graph, found, writer, each=each, workers=workers, progress=progress)
    work = _Work(index, found, asked, writer, recipe, budget, by, list(failed), progress)
    groups = work.clusters(asked, sections)
    made = work.sections(asked, groups)
    left = sum(len(branch.rows) for branch in found)
    while len(read := _read_by(made)) < cover * left:
        rest = [
            one for one in asked if sum(index.graph.ids[row] in read for row in found[one.branch].rows) * 2 < len(found[one.branch].rows)
        ]
        more = work.sections(rest, work.clusters(rest, None)) if rest else []
        if not _read_by(more) - read:
            break
        made += more
    merged = _merged(made, work.embed)
    titles = list(dict.fromkeys(" ".join(branch.titles[0].split()) for branch in found))
    place = {id: number for number, id in enumerate(index.graph.ids)}
    merged.sort(key=lambda section: (titles.index(section.page), min(place.get(id, len(place)) for id, _ in section.sources)))
    missed = tuple(index.graph.ids[row] for branch in found for row in branch.rows if index.graph.ids[row] not in _read_by(merged))
    begun, places = _introductions(index, found), tuple(_place(index.graph, id) for id in missed)
    return Documentation(
        title, tuple(_related(_once(merged, found, index.graph))), asked, groups, missed, tuple(work.failed), begun, places
    )


@dataclass(frozen=True, eq=False)
class _Work:
    """One documentation under way: what all its steps share."""

    index: Index
    found: tuple[Branch, ...]
    asked: tuple[Question, ...]
    model: Model | None
    recipe: str | Method
    budget: int
    by: By
    failed: list[tuple[str, str]]
    progress: bool

    def embed(self, texts: list[str]) -> Vectors:
        return embed_all(self.index.embedder, texts, width=self.index.graph.vectors.shape[1])

    def clusters(self, asked: Sequence[Question], k: int | None) -> Clusters:
        return clustered(self.embed([one.text for one in asked]).astype(np.float64), self.index.graph, by=self.by, k=k)

    def sections(self, asked: Sequence[Question], groups: Clusters) -> list[Section]:
        from tqdm import tqdm

        made = []
        for cluster in tqdm(range(len(groups)), desc="sections", unit="section", disable=not self.progress):
            members = [asked[i] for i in np.flatnonzero(groups.labels == cluster).tolist()]
            section = self.section(asked[int(groups.pivots[cluster])], members)
            made += [] if section is None else [section]
        return made

    def section(self, pivot: Question, members: Sequence[Question]) -> Section | None:
        question, problem = (pivot.text, "") if self.model is None else _pivot(self.model, pivot, members)
        if problem:
            self.failed.append((f"the pivot question of {pivot.text!r} and {len(members) - 1} more", problem))
        try:
            context = self.index.ask(question, recipe=self.recipe, budget=self.budget, model=self.model)
        except BudgetError as error:
            self.failed.append((f"the section on {question!r}", str(error)))
            return None
        documents = {one.id: one for one in self.index.documents}
        section = extract(context, self.found[pivot.branch], documents, self.embed, pivot.branch)
        if self.model is None:
            return section
        section, problem = written_by(self.model, section, context)
        if problem:
            self.failed.append((f"the section on {question!r}", problem))
        return section


def _read_by(made: Sequence[Section]) -> set[str]:
    return {id for section in made for id, _ in section.sources}


def _pivot(model: Model, pivot: Question, members: Sequence[Question]) -> tuple[str, str]:
    """One question for all of a cluster, and ""; or the one in its middle and why the model's could not be used."""
    if len(members) == 1:
        return pivot.text, ""

    def read(answer: str) -> str:
        said = json_in(answer)
        if not isinstance(said, dict) or not isinstance(said.get("question"), str) or not said["question"].strip():
            raise ValueError('wanted a JSON object with "question"')
        return " ".join(said["question"].split())

    listed = "\n".join(f"- {one.text}" for one in members)
    prompt = f"These questions belong together:\n\n{listed}\n\nWrite the one question that stands for all of them, in their language. "
    answer = model.ask(prompt + 'Answer with a JSON object {"question": "..."} and nothing else.', read)
    return (pivot.text, answer.error) if answer.value is None else (answer.value, "")


def _merged(made: Sequence[Section], embed: Any) -> list[Section]:
    """Of sections that say the same the first stays, and takes over the other's question."""
    kept, vectors = list[Section](), list[Any]()
    for section, vector in zip(made, embed([section.text() for section in made]) if made else [], strict=True):
        near = [i for i, other in enumerate(vectors) if float(other @ vector) > SAME]
        if near:
            first = kept[near[0]]
            kept[near[0]] = replace(first, also=(*first.also, section.question))
        else:
            kept.append(section)
            vectors.append(vector)
    return kept


def _once(made: Sequence[Section], found: Sequence[Branch], graph: Graph) -> list[Section]:
    """Each passage told by one section: by that on its own branch, else by the first that has it; the others say where.

    What a language model wrote stays as it is. An extract that is left with nothing of its own goes, its question to the one that tells it.
    """
    own = [{graph.ids[row] for row in found[section.branch].rows} for section in made]
    told: dict[str, int] = {}
    for wanted in (True, False):
        for i, section in enumerate(made):
            for id, _ in section.sources:
                if not section.written and (id in own[i]) >= wanted:
                    told.setdefault(id, i)
    kept, gone = list[int](), dict[int, int]()
    for i, section in enumerate(made):
        elsewhere = [told.get(id, i) for id, _ in section.sources]
        if section.written or i in elsewhere:
            kept.append(i)
        else:
            gone[i] = elsewhere[0]
    number = {i: at for at, i in enumerate(kept)}
    once = []
    for i in kept:
        section, parts = made[i], list[Any]()
        for part in section.parts:
            tells = {told.get(section.sources[source - 1][0], i) for source in part.sources}
            elsewhere_at = None if section.written or i in tells else number[min(tells)]
            parts.append(replace(part, text="" if elsewhere_at is not None else part.text, told_in=elsewhere_at))
        also = tuple(made[j].question for j, to in gone.items() if to == i)
        once.append(replace(section, parts=tuple(parts), also=(*section.also, *also)))
    return once


def _introductions(index: Index, found: Sequence[Branch]) -> dict[str, str]:
    """What every document says first, by its title."""
    written = {document.id: document.format for document in index.documents}
    first = dict[str, str]()
    for branch in found:
        row = branch.rows[0]
        owner = index.graph.ids[index.graph.documents[row]] if index.graph.documents[row] >= 0 else index.graph.ids[row]
        first.setdefault(" ".join(branch.titles[0].split()), introduction(index.graph.texts[row], written.get(owner, "text")))
    return {title: text for title, text in first.items() if text}


def _place(graph: Graph, id: str) -> str:
    """Where a passage stands: its document and headings, and how it begins."""
    row = graph.row(id)
    owner = graph.ids[graph.documents[row]] if graph.documents[row] >= 0 else id
    titles = [short(title) for title in titles_of(graph, row)[1:]]
    begins = " ".join(graph.texts[row].split()[:8])
    return " > ".join([owner, *titles]) + f": {begins} ..."


def _related(made: Sequence[Section]) -> list[Section]:
    """Each with the sections that share most of its sources."""
    read = [{id for id, _ in section.sources} for section in made]
    related = []
    for i, section in enumerate(made):
        shared = {j: len(read[i] & read[j]) for j in range(len(made)) if j != i and read[i] & read[j]}
        related.append(replace(section, related=tuple(sorted(sorted(shared, key=lambda j: (-shared[j], j))[:RELATED]))))
    return related
