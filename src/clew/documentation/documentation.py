"""Documentation out of a corpus: questions on every branch, clusters of them, a section for each cluster (Kurisu-G2, appendix D).

    hierarchy -> questions per branch -> clusters -> a pivot question each -> context -> what of it belongs -> section
    -> merged, cross-referenced, listed

Every step that asks a language model has a stated way without one: see `questions`, `sections`; the pivot question is then the one in the
middle of its cluster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from clew.budget import BudgetError
from clew.documentation.belonging import belonging
from clew.documentation.branches import Branch, branches, centres, numbered, pages_of, short
from clew.documentation.clusters import By, Clusters, cluster_questions, parted
from clew.documentation.fences import written_in
from clew.documentation.merging import merged, once, related
from clew.documentation.questions import READ, DocumentationQuestion, questions
from clew.documentation.sections import Section, extract, introduction, written_by
from clew.embedding.embedder import embed_texts
from clew.graph import EMPTY, Graph, Vectors
from clew.graph.headings import titles_of
from clew.index.index import Index
from clew.model import Model, parse_json
from clew.recipes import DEFAULT
from clew.types import Method


@dataclass(frozen=True, eq=False)
class Documentation:
    """Sections in the order of the corpus, and how they came about.

    `questions` and `clusters` are what they are made of; `introductions` what each document begins with, by what it is called; `told` the
    numbers of the sections that tell of each document, by what it is called, in the order of the corpus, all documents among them;
    `uncovered` the ids of the passages that no section has read, and `places` where these stand; `failed` what could not be done, with
    the reasons. `save` writes it as a folder of Markdown.
    """

    title: str
    sections: tuple[Section, ...]
    questions: tuple[DocumentationQuestion, ...]
    clusters: Clusters
    uncovered: tuple[str, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    introductions: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    places: tuple[str, ...] = ()
    told: Mapping[str, tuple[int, ...]] = field(default_factory=lambda: EMPTY)

    def save(self, path: str | Path) -> list[Path]:
        """Write index.md, a page per document and the map of questions to a folder; return the files. See `clew.documentation.pages.save`."""
        from clew.documentation.pages import save

        return save(self, path)


@dataclass(frozen=True)
class DocumentationEstimate:
    """What a language model would be asked: so many calls, with at most so many tokens in all of them, by the index's counter."""

    calls: int
    tokens: int


def estimate_documentation(
    index: Index, *, budget: int = 1500, sections: int | None = None, each: int = 3
) -> DocumentationEstimate:
    """Return what `document` would ask of a model, without asking: answers and second attempts are not counted."""
    found = branches(index.graph)
    k = max(2, int(np.sqrt(each * len(found)))) if sections is None else sections
    return DocumentationEstimate(len(found) + 2 * k, len(found) * READ + k * (budget + 500))


def write_documentation(
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
            again and have sections of their own, for as long as that brings new passages, and so have those on documents of which nothing
            was read. 0 for one round, as in the paper.
        each: questions per branch that a model is asked for. by: what makes questions alike; see `clew.documentation.clusters`.

    Raises:
        ValueError: an index of nothing to read, numbers out of their range.
    """
    if not 0 <= cover <= 1:
        raise ValueError(f"cover is a share from 0 to 1; got {cover!r}")
    found = branches(index.graph)
    if not found:
        raise ValueError("there is nothing to document: the index has no passages")
    writer = None if model is None else Model.of(model)
    asked, failed = questions(
        index.graph, found, writer, each=each, workers=workers, progress=progress
    )
    pages, of = pages_of(index.graph, found), numbered(index.graph, found)
    work = _Work(index, found, pages, of, asked, writer, recipe, budget, by, list(failed), progress)
    groups = work.clusters(asked, sections)
    made = work.sections(asked, groups)
    while cover and (rest := work.left_out(made, cover)):
        more = work.sections(rest, work.clusters(rest, None), made)
        if not _read_by(more) - _read_by(made):
            break
        made += more
    kept = merged(made, of, work.embed)
    order, place = (
        list(dict.fromkeys(pages)),
        {id: number for number, id in enumerate(index.graph.ids)},
    )
    kept.sort(
        key=lambda section: (
            order.index(section.page),
            min(place.get(id, len(place)) for id, _ in section.sources),
        )
    )
    missed = tuple(
        index.graph.ids[row]
        for branch in found
        for row in branch.rows
        if index.graph.ids[row] not in _read_by(kept)
    )
    begun, places = (
        _introductions(index, found, pages),
        tuple(_place(index.graph, id) for id in missed),
    )
    whole = tuple(related(once(kept, of)))
    return Documentation(
        title,
        whole,
        asked,
        groups,
        missed,
        tuple(work.failed),
        begun,
        places,
        _told(whole, pages, of),
    )


@dataclass(frozen=True, eq=False)
class _Work:
    """One documentation under way: what all its steps share."""

    index: Index
    found: tuple[Branch, ...]
    pages: tuple[str, ...]
    of: Mapping[str, int]
    asked: tuple[DocumentationQuestion, ...]
    model: Model | None
    recipe: str | Method
    budget: int
    by: By
    failed: list[tuple[str, str]]
    progress: bool

    def embed(self, texts: list[str]) -> Vectors:
        return embed_texts(self.index.embedder, texts, width=self.index.graph.vectors.shape[1])

    def clusters(self, asked: Sequence[DocumentationQuestion], k: int | None) -> Clusters:
        vectors = self.embed([one.text for one in asked]).astype(np.float64)
        groups = cluster_questions(vectors, self.index.graph, by=self.by, k=k)
        if k is not None:
            return groups
        contents = centres(self.index.graph, self.found)[[one.branch for one in asked]]
        return parted(groups, vectors, contents, [self.pages[one.branch] for one in asked])

    def left_out(self, made: Sequence[Section], cover: float) -> list[DocumentationQuestion]:
        """The questions on branches of which most is unread, or else too much, where too little is; else on documents quite unread."""
        read, ids = _read_by(made), self.index.graph.ids
        share = [
            sum(ids[row] in read for row in branch.rows) / len(branch.rows) for branch in self.found
        ]
        if sum(ids[row] in read for branch in self.found for row in branch.rows) < cover * sum(
            len(branch.rows) for branch in self.found
        ):
            most = [one for one in self.asked if share[one.branch] < 0.5]
            return most or [one for one in self.asked if share[one.branch] < cover]
        seen = {page for page, part in zip(self.pages, share, strict=True) if part > 0}
        return [one for one in self.asked if self.pages[one.branch] not in seen]

    def sections(
        self,
        asked: Sequence[DocumentationQuestion],
        groups: Clusters,
        before: Sequence[Section] = (),
    ) -> list[Section]:
        from tqdm import tqdm

        made = []
        for cluster in tqdm(
            range(len(groups)), desc="sections", unit="section", disable=not self.progress
        ):
            members = [asked[i] for i in np.flatnonzero(groups.labels == cluster).tolist()]
            section = self.section(asked[int(groups.pivots[cluster])], members, before)
            made += [] if section is None else [section]
        return made

    def section(
        self,
        pivot: DocumentationQuestion,
        members: Sequence[DocumentationQuestion],
        before: Sequence[Section],
    ) -> Section | None:
        question, problem = (
            (pivot.text, "") if self.model is None else _pivot(self.model, pivot, members)
        )
        if problem:
            self.failed.append(
                (f"the pivot question of {pivot.text!r} and {len(members) - 1} more", problem)
            )
        try:
            context = self.index.ask(
                question, recipe=self.recipe, budget=self.budget, model=self.model
            )
        except BudgetError as error:
            self.failed.append((f"the section on {question!r}", str(error)))
            return None
        documents = {one.id: one for one in self.index.documents}
        about = tuple(dict.fromkeys((pivot.branch, *(one.branch for one in members))))
        vector = self.embed([question])[0].astype(np.float64)
        told = _read_by([section for section in before if section.branch == pivot.branch])
        context = belonging(context, self.index.graph, self.found, self.of, about, vector, told)
        if not any(self.of.get(item.id) == pivot.branch for item in context):
            self.failed.append(
                (
                    f"the section on {question!r}",
                    f"no passage of what it is titled after fits into {self.budget} tokens",
                )
            )
            return None
        section = extract(context, self.found, self.of, about, self.pages, documents, self.embed)
        if self.model is None:
            return section
        section, problem = written_by(self.model, section, context)
        if problem:
            self.failed.append((f"the section on {question!r}", problem))
        return section


def _read_by(made: Sequence[Section]) -> set[str]:
    return {id for section in made for id, _ in section.sources}


def _pivot(
    model: Model, pivot: DocumentationQuestion, members: Sequence[DocumentationQuestion]
) -> tuple[str, str]:
    """One question for all of a cluster, and ""; or the one in its middle and why the model's could not be used."""
    if len(members) == 1:
        return pivot.text, ""

    def read(answer: str) -> str:
        said = parse_json(answer)
        if (
            not isinstance(said, dict)
            or not isinstance(said.get("question"), str)
            or not said["question"].strip()
        ):
            raise ValueError('wanted a JSON object with "question"')
        return " ".join(said["question"].split())

    listed = "\n".join(f"- {one.text}" for one in members)
    prompt = f"These questions belong together:\n\n{listed}\n\nWrite the one question that stands for all of them, in their language. "
    answer = model.ask(
        prompt + 'Answer with a JSON object {"question": "..."} and nothing else.', read
    )
    return (pivot.text, answer.error) if answer.value is None else (answer.value, "")


def _told(
    made: Sequence[Section], pages: Sequence[str], of: Mapping[str, int]
) -> dict[str, tuple[int, ...]]:
    """The sections that tell of each document, or took over its questions, by what it is called."""
    told: dict[str, dict[int, None]] = {page: {} for page in pages}
    for i, section in enumerate(made):
        sources = {n for part in section.parts if part.told_in is None for n in part.sources}
        for id in (section.sources[n - 1][0] for n in sorted(sources)):
            if id in of:
                told[pages[of[id]]][i] = None
    for i, section in enumerate(made):
        for page in dict.fromkeys(pages[number] for number in section.about):
            if not told[page]:
                told[page][i] = None
    return {page: tuple(sections) for page, sections in told.items()}


def _introductions(index: Index, found: Sequence[Branch], pages: Sequence[str]) -> dict[str, str]:
    """What every document says first, by what it is called."""
    written = {document.id: written_in(document) for document in index.documents}
    first = dict[str, str]()
    for branch, page in zip(found, pages, strict=True):
        row = branch.rows[0]
        owner = (
            index.graph.ids[index.graph.documents[row]]
            if index.graph.documents[row] >= 0
            else index.graph.ids[row]
        )
        first.setdefault(page, introduction(index.graph.texts[row], written.get(owner, "text")))
    return {page: text for page, text in first.items() if text}


def _place(graph: Graph, id: str) -> str:
    """Where a passage stands: its document and headings, and how it begins."""
    row = graph.row(id)
    owner = graph.ids[graph.documents[row]] if graph.documents[row] >= 0 else id
    titles = [short(title) for title in titles_of(graph, row)[1:]]
    begins = " ".join(graph.texts[row].split()[:8])
    return " > ".join([owner, *titles]) + f": {begins} ..."
