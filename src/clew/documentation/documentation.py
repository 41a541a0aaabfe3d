"""Documentation: its sections, and the folder of Markdown that they are saved as.

The folder has a first page with the contents, a page for each document, and the map of the
questions.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path, PurePath

from clew.documentation.clusters import Clusters
from clew.documentation.markdown import fence_for, one_line, safe_markdown
from clew.documentation.question_map import draw_map
from clew.documentation.questions import DocumentationQuestion
from clew.documentation.sections import Section
from clew.graph import EMPTY
from clew.usage import NO_USAGE, Usage

MARK = "<!-- made by clew document: written anew each time -->"
FIRST_FILE, MAP_FILE = "index.md", "questions.svg"
MAX_SLUG = 60  # letters


def earlier_pages(folder: Path) -> list[Path]:
    """Return the pages of an earlier run in a folder that documentation is to be written to.

    Raises:
        ValueError: The folder has other files, and none of an earlier run; or it is a file.
    """
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file; documentation is written to a folder")
    earlier = sorted(
        file
        for file in folder.glob("*.md")
        if file.read_text(encoding="utf-8", errors="replace").startswith(MARK)
    )
    if folder.exists() and any(folder.iterdir()) and not earlier:
        raise ValueError(
            f"{folder} has other files and no documentation of an earlier run: name a new or "
            "empty folder"
        )
    return earlier


@dataclass(frozen=True, eq=False)
class Documentation:
    """Sections in the order of the corpus, and how they were made.

    Attributes:
        title: The title of the first page.
        sections: The sections.
        questions: The questions on the corpus.
        clusters: The clusters of the questions, of which sections were made.
        uncovered: The ids of the passages that are in no section.
        failed: What could not be done, each with the reason.
        introductions: How each document begins, by its page.
        uncovered_places: Where the passages stand that are in no section.
        sections_of: The numbers of the sections on each document, by its page; all documents of
            the corpus, in its order.
        usage: The calls and tokens of the language model.
    """

    title: str
    sections: tuple[Section, ...]
    questions: tuple[DocumentationQuestion, ...]
    clusters: Clusters
    uncovered: tuple[str, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    introductions: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    uncovered_places: tuple[str, ...] = ()
    sections_of: Mapping[str, tuple[int, ...]] = field(default_factory=lambda: EMPTY)
    usage: Usage = NO_USAGE

    def save(self, path: str | Path) -> list[Path]:
        """Write the pages to a folder; pages of an earlier run in that folder are replaced.

        Args:
            path: An empty folder, one of an earlier run, or one that does not exist.

        Returns:
            The files: index.md, a page for each document, and the map of the questions.

        Raises:
            ValueError: The folder has other files, and none of an earlier run; or it is a file.
        """
        folder = Path(path)
        earlier = earlier_pages(folder)
        folder.mkdir(parents=True, exist_ok=True)
        pages = self.pages()
        for file in earlier:
            if file.name not in pages:
                file.unlink()
        for name, text in pages.items():
            # Half of a surrogate pair, as broken JSON has it, is no text.
            (folder / name).write_text(text, encoding="utf-8", errors="replace")
        return [folder / name for name in pages]

    def pages(self) -> dict[str, str]:
        """Return the text of every file by its name, the first page first, the map last."""
        site = _Site.of(self.sections)
        pages = {FIRST_FILE: _first_page(self, site)}
        for page, name in site.files.items():
            pages[name] = _page(page, self.introductions.get(page, ""), site)
        pages[MAP_FILE] = draw_map(
            self.clusters.points,
            self.clusters.labels,
            [question.text for question in self.questions],
            self.clusters.pivots.tolist(),
        )
        return pages


@dataclass(frozen=True)
class _Site:
    """Where everything is found: the file of each page and the anchor of each section.

    Attributes:
        sections: All sections.
        files: The name of each page's file.
        sections_on: The numbers of the sections on each page.
    """

    sections: tuple[Section, ...]
    files: Mapping[str, str]
    sections_on: Mapping[str, list[int]]

    @classmethod
    def of(cls, sections: tuple[Section, ...]) -> _Site:
        groups = groupby(enumerate(sections), key=lambda pair: pair[1].page)
        sections_on = {page: [i for i, _ in group] for page, group in groups}
        files = dict(zip(sections_on, _file_names(list(sections_on)), strict=True))
        return cls(sections, files, sections_on)

    def anchor(self, i: int) -> str:
        return f"{i + 1}-{_slug(self.sections[i].title)}".rstrip("-")

    def target(self, i: int) -> str:
        """What a link to a section leads to."""
        return f"{self.files[self.sections[i].page]}#{self.anchor(i)}"

    def title(self, i: int) -> str:
        return one_line(self.sections[i].title)

    def title_from(self, i: int, page: str) -> str:
        """A section's title as a page shows it: with the section's own page, if it is another."""
        section = self.sections[i]
        if section.page in (page, section.title):
            return one_line(section.title)
        return one_line(f"{section.page} > {section.title}")

    def link(self, i: int, page: str) -> str:
        return f"[{self.title_from(i, page)}]({self.target(i)})"


def _first_page(documentation: Documentation, site: _Site) -> str:
    lines = [MARK, "", f"# {documentation.title}", ""]
    for page in documentation.sections_of or site.files:
        lines += _contents_of_document(documentation, site, page)
    by_model = sum(section.by_model for section in documentation.sections)
    clusters = documentation.clusters
    counts = (
        f"{len(documentation.questions):,} questions in {len(clusters):,} clusters "
        f"(silhouette {clusters.silhouette:.2f}), {len(documentation.sections):,} sections, "
        f"{by_model:,} of them written by a language model and the others extracts of the sources."
    )
    alternative = "The questions, near each other where they are alike; a colour for each cluster"
    lines += ["", "## How it was made", "", counts, "", f"![{alternative}]({MAP_FILE})"]
    if documentation.uncovered:
        count = len(documentation.uncovered)
        places = documentation.uncovered_places or documentation.uncovered
        lines += ["", f"<details><summary>{count:,} passages are in no section</summary>", ""]
        lines += [f"- {one_line(place)}" for place in places]
        lines += ["", "</details>"]
    if documentation.failed:
        lines += ["", "What could not be done:", ""]
        lines += [f"- {one_line(task)}: {one_line(why)}" for task, why in documentation.failed]
    return "\n".join(lines) + "\n"


def _contents_of_document(documentation: Documentation, site: _Site, page: str) -> list[str]:
    """A line on a document, and a line on each section on it."""
    introduction = documentation.introductions.get(page, "")
    introduction = f": {introduction}" if introduction else ""
    if page in site.files:
        numbers = site.sections_on[page]
        lines = [f"- [{one_line(page)}]({site.files[page]}){introduction}"]
        if [site.sections[i].title for i in numbers] == [page]:
            return lines
        return lines + [f"  - [{site.title(i)}]({site.target(i)})" for i in numbers]
    elsewhere = documentation.sections_of.get(page, ())
    lines = [f"- {one_line(page)}{introduction}"]
    lines += [f"  - {site.link(i, page)}" for i in elsewhere]
    return lines if elsewhere else [*lines, "  - in no section"]


def _page(page: str, introduction: str, site: _Site) -> str:
    """The page of a document.

    With one section it has neither introduction nor contents: the section begins with what the
    document says first, and is all there is to list.
    """
    numbers = site.sections_on[page]
    head = [MARK, f"# {one_line(page)}", f"[Contents]({FIRST_FILE})"]
    if len(numbers) > 1:
        contents = "\n".join(f"- [{site.title(i)}]({site.target(i)})" for i in numbers)
        head += [introduction, contents] if introduction else [contents]
    return "\n\n".join([*head, *(_section(i, site) for i in numbers)]) + "\n"


def _section(i: int, site: _Site) -> str:
    section = site.sections[i]
    questions = [f"*{one_line(text)}*" for text in (section.question, *section.merged_questions)]
    lines = [f'<a id="{site.anchor(i)}"></a>', "", f"## {one_line(section.title)}"]
    if section.by_model:
        lines += ["", questions[0]]
        if questions[1:]:
            lines += ["", "Also: " + " ".join(questions[1:])]
    if section.summary:
        lines += ["", section.summary]
    lines += _explanations(section)
    lines += _examples(section)
    lines += _references(section, site)
    lines += ["", "Sources:", ""]
    lines += [
        f"{number}. {one_line(place)}" for number, (_, place) in enumerate(section.sources, 1)
    ]
    if not section.by_model:
        lines += ["", "Found by: " + "; ".join(questions)]
    return "\n".join(lines)


def _explanations(section: Section) -> list[str]:
    lines = list[str]()
    heading = section.title
    for part in section.explanations:
        if part.moved_to is not None:
            continue
        if part.heading and part.heading != heading:
            heading = part.heading
            lines += ["", f"### {one_line(heading)}"]
        lines += ["", safe_markdown(part.text), "", _source_numbers(part.sources)]
    return lines


def _examples(section: Section) -> list[str]:
    """The examples; of an extract, those that its explanations do not show."""
    shown = _squeeze(" ".join(part.text for part in section.explanations))
    examples = [
        example
        for example in section.examples
        if section.by_model or _squeeze(example) not in shown
    ]
    lines = ["", "### Examples"] if examples else []
    for example in examples:
        fence = fence_for(example)
        lines += ["", fence, example, fence]
    return lines


def _references(section: Section, site: _Site) -> list[str]:
    """The sections that have what was moved from this one, and related ones."""
    moved: dict[int, list[int]] = {}
    for part in section.explanations:
        if part.moved_to is not None:
            moved.setdefault(part.moved_to, []).extend(part.sources)
    lines = list[str]()
    if moved:
        links = (
            f"{site.link(j, section.page)} {_source_numbers(sources)}"
            for j, sources in sorted(moved.items())
        )
        lines += ["", "Told elsewhere: " + ", ".join(links)]
    if related := [j for j in section.related if j not in moved]:
        lines += ["", "See also: " + ", ".join(site.link(j, section.page) for j in related)]
    return lines


def _source_numbers(sources: Sequence[int]) -> str:
    return " ".join(f"[{number}]" for number in sources)


def _squeeze(text: str) -> str:
    return " ".join(text.split())


def _file_names(pages: Sequence[str]) -> list[str]:
    """A file name for each page, numbered in order, so that no two are the same on any disk."""
    width = len(str(len(pages)))
    return [
        f"{number:0{width}d}-{_slug(PurePath(page).name) or 'page'}.md"
        for number, page in enumerate(pages, 1)
    ]


def _slug(text: str) -> str:
    """Letters and digits of any script, the rest as hyphens."""
    words = re.sub(r"[\W_]+", "-", unicodedata.normalize("NFKC", text).casefold())
    return words.strip("-")[:MAX_SLUG].strip("-")
