"""Documentation of a corpus: questions on every branch, clusters of them, a section for each.

    hierarchy -> questions per branch -> clusters -> a pivot question each -> context
    -> what of it belongs -> section -> merged, cross-referenced, listed

(Kurisu-G2, appendix D.) Every step that asks a language model has a way without one: see
`questions` and `extract`; the pivot question is then the one in the middle of its cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np

from clew import recipes
from clew.budget import BudgetError
from clew.context import Context
from clew.documentation.belonging import select_for_section
from clew.documentation.branches import Branch, branch_vectors, find_branches, short_title
from clew.documentation.clusters import By, Clusters, cluster_questions, split_by_topic
from clew.documentation.documentation import NO_REFERENCE, Documentation
from clew.documentation.entries import CodeReference
from clew.documentation.extract import extract_section, introduction
from clew.documentation.fences import language_of
from clew.documentation.merging import link_related, merge_sections, place_passages
from clew.documentation.model_section import write_pivot_question, write_section
from clew.documentation.outline import DocumentationOutline
from clew.documentation.questions import (
    MAX_SHOWN_TOKENS,
    DocumentationQuestion,
    generate_questions,
)
from clew.documentation.reference import read_reference
from clew.documentation.sections import Section
from clew.documentation.topics import Topic, find_topics
from clew.documentation.uses import Uses, find_uses
from clew.embedding.embedder import embed_texts
from clew.graph import Graph, Vectors, titles_of
from clew.index.index import Index
from clew.model import Model
from clew.progress import progress_bar
from clew.recipes import SECTIONS
from clew.types import Method, may_ask_model
from clew.usage import metered

First = TypeVar("First")
Second = TypeVar("Second")
Result = TypeVar("Result")

PROMPT_TOKENS = 500  # of a prompt for a section, beside its context
RETRIEVAL_TOKENS = 2000  # of a prompt by which a recipe has facts filtered
MAX_TOPIC_SIZE, TOPIC_SIZE = 12, 8  # questions in the mean topic: at most, and where it is cut
PLACE_WORDS = 8  # of a passage, beside where it stands


@dataclass(frozen=True)
class DocumentationEstimate:
    """What a language model would be asked in the first round.

    Attributes:
        calls: How many prompts; second attempts are not counted.
        tokens: The most tokens in all of them, by the index's counter; answers are not counted.
    """

    calls: int
    tokens: int


def estimate_documentation(
    index: Index,
    *,
    recipe: str | Method = SECTIONS,
    budget: int = 1500,
    sections: int | None = None,
    questions_per_branch: int = 3,
) -> DocumentationEstimate:
    """Return what `write_documentation` would ask a language model, without asking it.

    Where the recipe asks a model, that is one prompt for each section, by which facts are filtered;
    "da_rag" asks more.

    Args:
        index: The index to document.
        recipe: As in `write_documentation`.
        budget: As in `write_documentation`.
        sections: As in `write_documentation`.
        questions_per_branch: As in `write_documentation`.

    Example:
        >>> from clew import Document, Index
        >>> oars = Document("oars", "Oars are of ash.")
        >>> sails = Document("sails", "Sails are of flax.")
        >>> index = Index.from_documents([oars, sails])
        >>> estimate_documentation(index, sections=2)
        DocumentationEstimate(calls=6, tokens=7000)
    """
    n = len(find_branches(index.graph))
    k = max(2, int(np.sqrt(questions_per_branch * n))) if sections is None else sections
    filtered = k if len(index.graph.facts) and may_ask_model(recipes.get(recipe)) else 0
    return DocumentationEstimate(
        n + 2 * k + filtered,
        n * MAX_SHOWN_TOKENS + k * (budget + PROMPT_TOKENS) + filtered * RETRIEVAL_TOKENS,
    )


def write_documentation(  # noqa: PLR0913  # the options of one call, each named by its caller
    index: Index,
    *,
    title: str = "Documentation",
    model: object = None,
    recipe: str | Method = SECTIONS,
    budget: int = 1500,
    sections: int | None = None,
    coverage: float = 0.8,
    questions_per_branch: int = 3,
    by: By = "words",
    as_retrieved: bool = False,
    reference: bool = False,
    workers: int = 4,
    progress: bool = False,
) -> Documentation:
    """Return the documentation of what an index holds.

    Args:
        index: The index; best of documents with sections.
        title: The title of the first page.
        model: A language model, whatever `clew.Model.of` takes; None to write without one.
        recipe: The method that finds the context of a section.
        budget: The most tokens of a section's context.
        sections: The number of clusters of questions; None for as many as separate them best.
        coverage: The share of the passages that the sections are to have, in [0, 1]. Questions on
            branches that were left out are clustered again, for as long as that adds passages, and
            so are those on documents that no section has anything of. 0 for one round, as in the
            paper.
        questions_per_branch: How many questions a model is asked for on each branch.
        by: What makes questions alike; see `clew.documentation.clusters`.
        as_retrieved: Whether a section has what the recipe retrieved for its question, as it stands
            (algorithm 8 as printed; with the recipe "kurisu" or "kurisu_paper", the paper's whole
            way). False completes the branches that the section is on, and leaves out what has
            nothing to do with them; see `clew.documentation.belonging`.
        reference: Whether source code has a page for each module, with the public names, their
            signatures and documentation, instead of passages. Tests and examples are shown with
            what they call. A model's sections on code are kept beside it.
        workers: How many prompts are asked at a time.
        progress: Whether to show progress bars.

    Raises:
        ValueError: The index has no passages, or a number is out of its range.

    Example:
        >>> from clew import Document, Index
        >>> oars = Document("oars", "Oars are of ash.")
        >>> sails = Document("sails", "Sails are of flax.")
        >>> index = Index.from_documents([oars, sails])
        >>> [section.title for section in write_documentation(index).sections]
        ['oars', 'sails']
    """
    if not 0 <= coverage <= 1:
        raise ValueError(f"coverage is a share from 0 to 1; got {coverage!r}")
    outline = DocumentationOutline.compute(index.graph)
    if not outline.branches:
        raise ValueError("there is nothing to document: the index has no passages")
    language_model = None if model is None else Model.of(model, count=index.graph.count)
    code = read_reference(index.documents) if reference else NO_REFERENCE
    with metered(index.graph.count) as meter:
        questions, failed = generate_questions(
            index.graph,
            outline.branches,
            language_model,
            questions_per_branch=questions_per_branch,
            workers=workers,
            progress=progress,
        )
        referenced = _branches_of(index.graph, outline, code)
        uses = find_uses(code, index.documents)
        on_code = [one for one in questions if one.branch in referenced]
        left = questions
        if language_model is None:  # what the reference tells, no extract repeats
            left = tuple(one for one in questions if one.branch not in referenced)
        settings = _Settings(recipe, budget, by, language_model, progress, as_retrieved, workers)
        writer = _Writer(index, outline, left, settings, [*failed, *code.failed], referenced)
        written, clusters = writer.write_rounds(sections, coverage) if left else ([], None)
        groups = writer.cluster_by_topic(on_code) if on_code else None
        topics = writer.topics(groups, on_code, code, uses) if groups is not None else ()
    written = [one for one in written if one.by_model or one.branch not in referenced]
    written = merge_sections(written, outline.branch_of, writer.embed)
    shown = [branch for i, branch in enumerate(outline.branches) if i not in referenced]
    uncovered = _uncovered_ids(index.graph, shown, written)
    written = _in_corpus_order(written, outline, index.graph)
    written = link_related(place_passages(written, outline.branch_of))
    drawn = (left, clusters) if clusters is not None else (tuple(on_code), groups)
    assert drawn[1] is not None, "there is a branch, and a question on each"
    return Documentation(
        title,
        tuple(written),
        drawn[0],
        drawn[1],
        uncovered,
        tuple(writer.failed),
        _introductions(index, outline),
        tuple(_place(index.graph, id) for id in uncovered),
        _sections_of_pages(written, outline),
        meter.usage,
        code,
        uses,
        topics,
        tuple(index.documents),
        frozenset(outline.pages[i] for i in referenced),
    )


class _Settings(NamedTuple):
    """What the caller chose: see `write_documentation`."""

    recipe: str | Method
    budget: int
    by: By
    model: Model | None
    progress: bool
    as_retrieved: bool
    workers: int


@dataclass(frozen=True, eq=False)
class _Writer:
    """Writes sections of one documentation.

    Attributes:
        index: The index to document.
        outline: Its outline.
        questions: All questions on it.
        settings: What the caller chose.
        failed: What could not be done, each with the reason; grows.
        referenced: The branches of source code that a reference tells of.
    """

    index: Index
    outline: DocumentationOutline
    questions: tuple[DocumentationQuestion, ...]
    settings: _Settings
    failed: list[tuple[str, str]]
    referenced: frozenset[int] = frozenset()

    def write_rounds(self, sections: int | None, coverage: float) -> tuple[list[Section], Clusters]:
        """Return the sections of all rounds, and the clusters of the first."""
        clusters = self.cluster(self.questions, sections)
        written = self.write_all(self.questions, clusters)
        while coverage and (open_questions := self.uncovered_questions(written, coverage)):
            own_clusters = self.cluster(open_questions, None)
            further = self.write_all(open_questions, own_clusters, written)
            if not _covered_ids(further) - _covered_ids(written):
                break
            written += further
        return written, clusters

    def cluster_by_topic(self, questions: Sequence[DocumentationQuestion]) -> Clusters:
        """Return clusters of questions that are small enough to be read as topics."""
        clusters = self.cluster(questions, None)
        if len(questions) <= MAX_TOPIC_SIZE * len(clusters):
            return clusters
        return self.cluster(questions, len(questions) // TOPIC_SIZE)

    def topics(
        self,
        clusters: Clusters,
        questions: Sequence[DocumentationQuestion],
        code: CodeReference,
        uses: Uses,
    ) -> tuple[Topic, ...]:
        """Return the topics of clusters of questions on source code."""
        texts = {document.id: document.text for document in self.index.documents}
        branches, graph = self.outline.branches, self.index.graph
        return find_topics(clusters, questions, branches, graph, code, uses, texts)

    def embed(self, texts: list[str]) -> Vectors:
        return embed_texts(self.index.embedder, texts, width=self.index.graph.vectors.shape[1])

    def cluster(self, questions: Sequence[DocumentationQuestion], k: int | None) -> Clusters:
        """Return k clusters of questions; None for as many as separate them best by topic."""
        graph, outline = self.index.graph, self.outline
        vectors = self.embed([question.text for question in questions]).astype(np.float64)
        clusters = cluster_questions(vectors, graph, by=self.settings.by, k=k)
        if k is not None:
            return clusters
        contents = branch_vectors(graph, outline.branches)[
            [question.branch for question in questions]
        ]
        documents = [outline.pages[question.branch] for question in questions]
        return split_by_topic(clusters, vectors, contents, documents)

    def uncovered_questions(
        self, written: Sequence[Section], coverage: float
    ) -> list[DocumentationQuestion]:
        """Return the questions that the next round is about.

        Where too few passages are covered: the questions on branches that are covered by less than
        half, or, if there are none, by less than `coverage`. Else: the questions on documents of
        which nothing is covered.
        """
        covered, ids = _covered_ids(written), self.index.graph.ids
        counts = [
            sum(ids[row] in covered for row in branch.rows) for branch in self.outline.branches
        ]
        sizes = [len(branch.rows) for branch in self.outline.branches]
        if self.settings.model is None:  # the reference tells of the whole of a branch
            counts = [
                size if i in self.referenced else count
                for i, (count, size) in enumerate(zip(counts, sizes, strict=True))
            ]
        shares = [count / size for count, size in zip(counts, sizes, strict=True)]
        if sum(counts) < coverage * sum(sizes):
            mostly_open = [one for one in self.questions if shares[one.branch] < 0.5]
            return mostly_open or [one for one in self.questions if shares[one.branch] < coverage]
        pages = self.outline.pages
        covered_pages = {page for page, share in zip(pages, shares, strict=True) if share > 0}
        return [one for one in self.questions if pages[one.branch] not in covered_pages]

    def write_all(
        self,
        questions: Sequence[DocumentationQuestion],
        clusters: Clusters,
        before: Sequence[Section] = (),
    ) -> list[Section]:
        """Return a section for each cluster, where one can be written.

        Args:
            questions: The questions.
            clusters: The clusters of these questions.
            before: The sections of earlier rounds.
        """
        clustered = [
            [questions[i] for i in np.flatnonzero(clusters.labels == number).tolist()]
            for number in range(len(clusters))
        ]
        pivots = [questions[i] for i in clusters.pivots.tolist()]
        asked = self._for_each(self._pivot_question, list(zip(pivots, clustered, strict=True)))
        extracts = list[tuple[Section, Context]]()
        for pivot, members, (question, problem) in zip(pivots, clustered, asked, strict=True):
            if problem:
                task = f"the pivot question of {pivot.text!r} and {len(members) - 1} more"
                self.failed.append((task, problem))
            made = self._extract(question, pivot, members, before)
            if made is not None:
                extracts.append(made)
        written = list[Section]()
        for (extract, _), (section, problem) in zip(
            extracts, self._for_each(self._write, extracts, label="sections"), strict=True
        ):
            if problem:
                self.failed.append((f"the section on {extract.question!r}", problem))
            written.append(section)
        return written

    def _extract(
        self,
        question: str,
        pivot: DocumentationQuestion,
        members: Sequence[DocumentationQuestion],
        before: Sequence[Section],
    ) -> tuple[Section, Context] | None:
        """Return the extract of one cluster's section, and what it is made of.

        None where nothing, or no passage of its own, fits the budget.
        """
        settings, outline = self.settings, self.outline
        section_name = f"the section on {question!r}"
        try:
            takes_model = may_ask_model(recipes.get(settings.recipe))
            context = self.index.ask(
                question,
                recipe=settings.recipe,
                budget=settings.budget,
                model=settings.model if takes_model else None,
                min_relevance=0.0,  # a heading is not a question that may have no answer
            )
        except BudgetError as error:
            self.failed.append((section_name, str(error)))
            return None
        if self.referenced and settings.model is None:
            own = outline.branch_of
            kept = (item for item in context if own.get(item.id, -1) not in self.referenced)
            context = replace(context, items=tuple(kept))
        own_branches = tuple(dict.fromkeys((pivot.branch, *(one.branch for one in members))))
        if settings.as_retrieved:
            passages = [item for item in context if item.id in outline.branch_of]
            context = replace(context, items=tuple(passages))
            if not passages:
                self.failed.append((section_name, "nothing was retrieved"))
                return None
        else:
            context = select_for_section(
                context,
                self.index.graph,
                outline.branches,
                outline.branch_of,
                own_branches,
                self.embed([question])[0].astype(np.float64),
                _covered_ids([section for section in before if section.branch == pivot.branch]),
            )
            if not any(outline.branch_of.get(item.id) == pivot.branch for item in context):
                reason = f"no passage of what it is titled after fits into {settings.budget} tokens"
                self.failed.append((section_name, reason))
                return None
        documents = {document.id: document for document in self.index.documents}
        return extract_section(context, outline, own_branches, documents, self.embed), context

    def _write(self, extract: Section, context: Context) -> tuple[Section, str]:
        """Return the section that the model writes of an extract, and what went wrong."""
        if self.settings.model is None:
            return extract, ""
        return write_section(self.settings.model, extract, context)

    def _pivot_question(
        self, pivot: DocumentationQuestion, members: Sequence[DocumentationQuestion]
    ) -> tuple[str, str]:
        """Return the question for a whole cluster, and what went wrong."""
        if self.settings.model is None:
            return pivot.text, ""
        return write_pivot_question(self.settings.model, pivot, members)

    def _for_each(
        self,
        work: Callable[[First, Second], tuple[Result, str]],
        pairs: Sequence[tuple[First, Second]],
        label: str = "pivot questions",
    ) -> list[tuple[Result, str]]:
        """Return what `work` makes of every pair, in their order, `workers` at a time.

        Each runs in a copy of the caller's context variables, so that what counts calls there
        counts these too.
        """
        settings, results = self.settings, list[tuple[Result, str]]()
        hidden = not settings.progress or settings.model is None
        with (
            ThreadPoolExecutor(settings.workers if settings.model else 1) as pool,
            progress_bar(shown=not hidden, total=len(pairs), label=label, unit="prompt") as bar,
        ):
            futures = [
                pool.submit(partial(copy_context().run, work, one, other)) for one, other in pairs
            ]
            try:
                for future in futures:
                    results.append(future.result())
                    bar.update()
            finally:
                pool.shutdown(cancel_futures=True)
        return results


def _covered_ids(sections: Sequence[Section]) -> set[str]:
    return {id for section in sections for id in section.source_ids}


def _branches_of(
    graph: Graph, outline: DocumentationOutline, reference: CodeReference
) -> frozenset[int]:
    """The numbers of the branches in documents that a reference stands for."""
    return frozenset(
        number
        for number, branch in enumerate(outline.branches)
        if _document_id(graph, branch.rows[0]) in reference.documents
    )


def _uncovered_ids(
    graph: Graph, branches: Sequence[Branch], sections: Sequence[Section]
) -> tuple[str, ...]:
    covered = _covered_ids(sections)
    ids = (graph.ids[row] for branch in branches for row in branch.rows)
    return tuple(id for id in ids if id not in covered)


def _in_corpus_order(
    sections: Sequence[Section], outline: DocumentationOutline, graph: Graph
) -> list[Section]:
    """The sections by the first branch of their document, then by their first source."""
    page_place = {page: i for i, page in enumerate(dict.fromkeys(outline.pages))}
    row = {id: i for i, id in enumerate(graph.ids)}

    def key(section: Section) -> tuple[int, int]:
        return page_place[section.page], min(row.get(id, len(row)) for id in section.source_ids)

    return sorted(sections, key=key)


def _sections_of_pages(
    sections: Sequence[Section], outline: DocumentationOutline
) -> dict[str, tuple[int, ...]]:
    """The sections that have passages of each document; else those that have its questions."""
    numbers: dict[str, dict[int, None]] = {page: {} for page in outline.pages}
    for i, section in enumerate(sections):
        own = {n for part in section.explanations if part.moved_to is None for n in part.sources}
        for id in (section.source_ids[n - 1] for n in sorted(own)):
            if id in outline.branch_of:
                numbers[outline.pages[outline.branch_of[id]]][i] = None
    for i, section in enumerate(sections):
        for page in dict.fromkeys(outline.pages[branch] for branch in section.branches):
            if not numbers[page]:
                numbers[page][i] = None
    return {page: tuple(own) for page, own in numbers.items()}


def _introductions(index: Index, outline: DocumentationOutline) -> dict[str, str]:
    """How every document begins, by its page."""
    graph = index.graph
    languages = {document.id: language_of(document) for document in index.documents}
    introductions: dict[str, str] = {}
    for branch, page in zip(outline.branches, outline.pages, strict=True):
        if page not in introductions:
            row = branch.rows[0]
            language = languages.get(_document_id(graph, row), "text")
            introductions[page] = introduction(graph.texts[row], language)
    return {page: text for page, text in introductions.items() if text}


def _place(graph: Graph, id: str) -> str:
    """Where a passage stands: its document and headings, and how it begins."""
    row = graph.row(id)
    titles = [short_title(title) for title in titles_of(graph, row)[1:]]
    beginning = " ".join(graph.texts[row].split()[:PLACE_WORDS])
    return " > ".join([_document_id(graph, row), *titles]) + f": {beginning} ..."


def _document_id(graph: Graph, row: int) -> str:
    document = int(graph.documents[row])
    return graph.ids[document] if document >= 0 else graph.ids[row]
