"""A section of documentation: its question, what it says, and the sources of all it says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Explanation:
    """A part of a section, with its sources.

    Attributes:
        heading: What it is about, or "".
        text: Markdown.
        sources: The numbers of its sources in the section, from 1.
        moved_to: The number of the section that has this explanation instead; None for this one.
        examples: The sessions and code blocks in an extract.
    """

    heading: str
    text: str
    sources: tuple[int, ...]
    moved_to: int | None = None
    examples: tuple[str, ...] = ()


@dataclass(frozen=True)
class Section:
    """A section.

    Attributes:
        title: Its title.
        question: The question that it answers.
        summary: A few sentences; "" where the explanations are as short.
        explanations: What it says.
        examples: Code, or cases.
        sources: The id and the place of each source.
        page: The name of the document that it belongs to.
        branch: The number of the branch that it is titled after.
        related: The numbers of sections that share sources with it.
        merged_questions: The questions of sections that were merged into it.
        by_model: Whether a language model wrote it.
        branches: The numbers of the branches of all its questions.
    """

    title: str
    question: str
    summary: str
    explanations: tuple[Explanation, ...]
    examples: tuple[str, ...]
    sources: tuple[tuple[str, str], ...]
    page: str
    branch: int = 0
    related: tuple[int, ...] = ()
    merged_questions: tuple[str, ...] = ()
    by_model: bool = False
    branches: tuple[int, ...] = ()

    @property
    def source_ids(self) -> tuple[str, ...]:
        """The ids of the sources."""
        return tuple(id for id, _ in self.sources)

    def text(self) -> str:
        """Return title, summary and explanations as one text."""
        explanations = (explanation.text for explanation in self.explanations)
        return "\n\n".join([self.title, self.summary, *explanations])
