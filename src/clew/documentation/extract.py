"""A section without a language model: an extract of a context (Kurisu-G2, algorithm 9).

The title is that of the section's own branch. The summary has the sentences nearest to the
question: those on that branch, or else those on the branches of the section's other questions. The
explanations are the items as they stand, neighbours joined. The examples are the sessions and code
blocks in them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import dedent

import numpy as np

from clew.algorithms.ranking import top_k
from clew.context import Context
from clew.document import Document
from clew.documentation.fences import language_of
from clew.documentation.markdown import (
    as_markdown,
    examples_in,
    prose_sentences,
    prose_with_literals,
)
from clew.documentation.markup import markup_to_markdown
from clew.documentation.outline import DocumentationOutline
from clew.documentation.sections import Explanation, Section
from clew.graph import Vectors
from clew.index.locating import with_locations
from clew.items import Item
from clew.show import location_of

SUMMARY_SENTENCES = 2
MIN_WORDS = 120  # of a section that has a summary

Embed = Callable[[list[str]], Vectors]


@dataclass(frozen=True)
class _Sentence:
    """A sentence, and the number of the source that it stands in."""

    text: str
    source: int


def extract_section(
    context: Context,
    outline: DocumentationOutline,
    section_branches: Sequence[int],
    documents: Mapping[str, Document],
    embed: Embed,
) -> Section:
    """Return the section that is an extract of a context.

    The branch that it is titled after comes first, then the others of its document, then those of
    other documents, each under its own heading.

    Args:
        context: What the section is made of.
        outline: The outline of the corpus.
        section_branches: The numbers of the branches of the section's questions; the section is
            titled after the first.
        documents: The documents by id.
        embed: Returns a unit row [n, d] for each text.
    """
    own = section_branches[0]
    page = outline.pages[own]
    title = outline.heading(own, page)
    texts = {id: document.text for id, document in documents.items()}
    items = _reading_order(context, outline, own, list(documents))
    number_of = {id(item): number for number, item in enumerate(items, 1)}
    explanations = list[Explanation]()
    sentences_on: dict[int, list[_Sentence]] = {}
    for run in _runs(items, texts):
        branch = outline.branch_of.get(run[0].id, -1)
        language = language_of(documents.get(run[0].document or run[0].id))
        text = _text_of_run(run, texts)
        explanation = Explanation(
            heading=_heading(run[0], outline, branch, page),
            text=markup_to_markdown(dedent(text))
            if language == "rst"
            else as_markdown(text, language),
            sources=tuple(number_of[id(item)] for item in run),
            examples=tuple(examples_in(text)),
        )
        explanations.append(explanation)
        sentences_on.setdefault(branch, []).extend(
            _Sentence(sentence, number_of[id(item)])
            for item in run
            for sentence in prose_sentences(item.text, language)
        )
    candidates = sentences_on.get(own) or [
        sentence for number in section_branches[1:] for sentence in sentences_on.get(number, [])
    ]
    examples = (example for part in explanations for example in part.examples)
    return Section(
        title=title,
        question=context.question,
        summary=_summary(context.question, candidates, explanations, embed),
        explanations=tuple(explanations),
        examples=tuple(dict.fromkeys(examples)),
        sources=tuple((item.id, location_of(item)) for item in with_locations(items, documents)),
        page=page,
        branch=own,
        branches=tuple(section_branches),
    )


def introduction(text: str, language: str) -> str:
    """Return the first sentences of a text as Markdown; "" where it has none.

    Args:
        text: The first passage of a document.
        language: What `fences.language_of` returns for the document.
    """
    first = prose_sentences(text, language)[:SUMMARY_SENTENCES]
    return " ".join(prose_with_literals(sentence) for sentence in first)


def _reading_order(
    context: Context, outline: DocumentationOutline, own: int, document_ids: Sequence[str]
) -> list[Item]:
    page = outline.pages[own]
    title = outline.heading(own, page)
    place = {id: i for i, id in enumerate(document_ids)}

    def key(item: Item) -> tuple[int, int, int, tuple[int, int]]:
        number = outline.branch_of.get(item.id, -1)
        if number < 0:
            distance = 3  # a fact or a report
        elif outline.heading(number, page) == title:
            distance = 0
        else:
            distance = 1 if outline.pages[number] == page else 2
        document = place.get(item.document or item.id, len(place))
        return distance, number, document, item.span or (0, 0)

    return sorted(context, key=key)


def _heading(item: Item, outline: DocumentationOutline, branch: int, page: str) -> str:
    """The heading of a branch; of items without one, their kind: "Facts", "Reports"."""
    return outline.heading(branch, page) if branch >= 0 else f"{item.kind.capitalize()}s"


def _summary(
    question: str,
    candidates: Sequence[_Sentence],
    explanations: Sequence[Explanation],
    embed: Embed,
) -> str:
    """The sentences nearest to the question; "" where the section is as soon read."""
    if sum(len(part.text.split()) for part in explanations) < MIN_WORDS:
        return ""
    if len(candidates) <= SUMMARY_SENTENCES:
        everything = " ".join(" ".join(part.text for part in explanations).split())
        if " ".join(prose_with_literals(one.text) for one in candidates) == everything:
            return ""
    return _nearest_sentences(question, candidates, embed)


def _nearest_sentences(question: str, candidates: Sequence[_Sentence], embed: Embed) -> str:
    """The nearest sentences in the order they stand in, each with the number of its source."""
    source_of = {sentence.text: sentence.source for sentence in candidates}  # each text once
    if not source_of:
        return ""
    texts = list(source_of)
    vectors = embed([question, *texts])
    nearest = np.sort(top_k(vectors[1:] @ vectors[0], SUMMARY_SENTENCES)).tolist()
    return " ".join(f"{prose_with_literals(texts[i])} [{source_of[texts[i]]}]" for i in nearest)


def _runs(items: Sequence[Item], texts: Mapping[str, str]) -> list[list[Item]]:
    """The items, those together that stand next to each other under one heading."""
    runs = list[list[Item]]()
    for item in items:
        if runs and _is_next(runs[-1][-1], item, texts):
            runs[-1].append(item)
        else:
            runs.append([item])
    return runs


def _is_next(before: Item, item: Item, texts: Mapping[str, str]) -> bool:
    """Whether only white space stands between two items of one document and heading."""
    if (before.document, before.heading) != (item.document, item.heading):
        return False
    if not before.span or not item.span:
        return False
    end, start = before.span[1], item.span[0]
    text = texts.get(item.document or "", "")
    return end <= start and not text[end:start].strip() and _stands_in(item, text)


def _stands_in(item: Item, text: str) -> bool:
    return item.span is not None and text[slice(*item.span)] == item.text


def _text_of_run(run: Sequence[Item], texts: Mapping[str, str]) -> str:
    """The text of a run, with the space before its first line, so that it can be dedented."""
    text = texts.get(run[0].document or "", "")
    first, last = run[0].span, run[-1].span
    if first is None or last is None or not all(_stands_in(item, text) for item in run):
        return "\n\n".join(item.text for item in run)
    start, end = first[0], last[1]
    line_start = text.rfind("\n", 0, start) + 1
    return text[start if text[line_start:start].strip() else line_start : end]
