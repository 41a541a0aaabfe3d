"""Documentation: its sections and its reference, and the folder that they are saved as.

The folder has a first page with the contents, a page for each document, one for each module of
source code, the index of all names, the topics, a search page, and the map of the questions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from clew.document import Document
from clew.documentation.clusters import Clusters
from clew.documentation.entries import CodeReference
from clew.documentation.first_page import (
    MAP_FILE,
    NAMES_FILE,
    TOPICS_FILE,
    FirstPage,
    topics_page,
)
from clew.documentation.markdown import one_line
from clew.documentation.name_links import NameLinks
from clew.documentation.question_map import draw_map
from clew.documentation.questions import DocumentationQuestion
from clew.documentation.reference_pages import ReferencePages, breadcrumbs, file_names, targets_of
from clew.documentation.search_page import SEARCH_FILE, Found, search_page
from clew.documentation.section_pages import Site, page_of
from clew.documentation.sections import Section
from clew.documentation.site_html import MARK, PageFormat, to_html_page
from clew.documentation.source_files import SourceFiles
from clew.documentation.topics import Topic
from clew.documentation.uses import Uses
from clew.graph import EMPTY
from clew.usage import NO_USAGE, Usage

FIRST_FILE = "index.md"
_README = re.compile(r"(?:^|/)readme(?:\.[a-z]+)?$", re.IGNORECASE)
NO_REFERENCE = CodeReference((), frozenset())


def earlier_pages(folder: Path) -> list[Path]:
    """Return the pages of an earlier run in a folder that documentation is to be written to.

    Raises:
        ValueError: The folder has other files, and none of an earlier run; or it is a file.
    """
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file; documentation is written to a folder")
    earlier = sorted(
        file
        for file in (*folder.glob("*.md"), *folder.glob("*.html"))
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
        reference: The public names of source code.
        uses: How these are used.
        topics: Groups of them.
        documents: What was read.
        referenced_pages: The names of documents that the reference stands for.
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
    reference: CodeReference = NO_REFERENCE
    uses: Uses = field(default_factory=Uses)
    topics: tuple[Topic, ...] = ()
    documents: tuple[Document, ...] = ()
    referenced_pages: frozenset[str] = frozenset()

    def save(self, path: str | Path, format: PageFormat = "markdown") -> list[Path]:
        """Write the pages to a folder; pages of an earlier run in that folder are replaced.

        Args:
            path: An empty folder, one of an earlier run, or one that does not exist.
            format: "markdown", or "html" for a site that a browser shows without a network.

        Returns:
            The files: the first page first, the map of the questions last.

        Raises:
            ValueError: The folder has other files, and none of an earlier run; or it is a file.
        """
        folder = Path(path)
        earlier = earlier_pages(folder)
        folder.mkdir(parents=True, exist_ok=True)
        pages = self.pages(folder, format)
        for file in earlier:
            if file.name not in pages:
                file.unlink()
        for name, text in pages.items():
            # Half of a surrogate pair, as broken JSON has it, is no text.
            (folder / name).write_text(text, encoding="utf-8", errors="replace")
        return [folder / name for name in pages]

    def pages(self, folder: Path | None = None, format: PageFormat = "markdown") -> dict[str, str]:
        """Return the text of every file by its name, the first page first, the map last.

        Args:
            folder: The folder that they will be in: files that were read are linked from there.
            format: "markdown" or "html".
        """
        files = file_names(self.reference)
        links = NameLinks.of(self.reference, targets_of(self.reference, files))
        sources = SourceFiles.of(self.documents, folder)
        site = Site.of(self.sections, links, sources)
        bodies = {
            name: page_of(page, self.introductions.get(page, ""), site)
            for page, name in site.files.items()
        }
        reference = ReferencePages(self.reference, self.uses, links, sources, files, site.explained)
        bodies |= dict(reference.pages())
        if files:
            bodies[NAMES_FILE] = reference.names_page()
        if self.topics:
            bodies[TOPICS_FILE] = topics_page(self.topics, reference)
        trails = {files[one.name]: breadcrumbs(one, links) for one in self.reference.modules}
        trails |= {name: one_line(page) for page, name in site.files.items()}
        listed = dict.fromkeys(site.files, ()) | dict(self.sections_of)
        shown = {page: listed[page] for page in (self.sections_of or site.files) if page in listed}
        shown = {page: own for page, own in shown.items() if page not in self.referenced_pages}
        made = _how_it_was_made(self)
        opening = self._opening(site)
        first = FirstPage(self.title, self.topics, self.introductions, shown, made, opening)
        pages = {FIRST_FILE: first.text(site, reference)}
        for name, body in bodies.items():
            pages[name] = f"{self._trail(trails.get(name, ''), bodies)}\n\n{body}"
        search = search_page(self.title, list(self._found(site, reference)), format)
        files_of = dict(_in_format(pages, format))
        files_of[SEARCH_FILE] = search
        files_of[MAP_FILE] = draw_map(
            self.clusters.points,
            self.clusters.labels,
            [question.text for question in self.questions],
            self.clusters.pivots.tolist(),
        )
        return files_of

    def _opening(self, site: Site) -> str:
        """How the outermost README begins, and a link to its page."""
        found = [one for one in self.documents if _README.search(one.id)]
        if not found:
            return ""
        readme = min(found, key=lambda one: (one.id.count("/"), one.id))
        file = site.page_of_document.get(readme.id)
        page = next((page for page, name in site.files.items() if name == file), "")
        introduction = self.introductions.get(page, "")
        return f"{introduction} [{one_line(page)}]({file})" if introduction and file else ""

    def _trail(self, trail: str, bodies: Mapping[str, str]) -> str:
        """The line of links above a page."""
        links = [f"[Contents]({FIRST_FILE})" + (f" › {trail}" if trail else "")]
        links += [
            f"[{title}]({file})"
            for title, file in (("Topics", TOPICS_FILE), ("Names", NAMES_FILE))
            if file in bodies
        ]
        return " · ".join([*links, f"[Search]({SEARCH_FILE})"])

    def _found(self, site: Site, reference: ReferencePages) -> Iterator[Found]:
        """What can be searched for: modules, names and sections."""
        for module in self.reference.modules:
            text = " ".join(part.text for part in module.docs)
            yield Found(module.name, reference.files[module.name], "module", text)
            for entry in module.walk():
                target = reference.links.target(entry.path)
                text = " ".join(part.text for part in entry.docs)
                yield Found(entry.path, target, entry.kind, text, entry.signatures[0])
        for i, section in enumerate(self.sections):
            title = site.title_from(i, "").replace("\\", "")
            text = " ".join(part.text for part in section.explanations)
            yield Found(title, site.target(i), "section", text)


def _in_format(pages: Mapping[str, str], format: PageFormat) -> Iterator[tuple[str, str]]:
    for name, text in pages.items():
        if format == "markdown":
            yield name, f"{MARK}\n\n{text}"
        else:
            yield f"{name.removesuffix('.md')}.html", to_html_page(text, frozenset(pages))


def _how_it_was_made(documentation: Documentation) -> list[str]:
    by_model = sum(section.by_model for section in documentation.sections)
    clusters = documentation.clusters
    counts = (
        f"{len(documentation.questions):,} questions in {len(clusters):,} clusters "
        f"(silhouette {clusters.silhouette:.2f})"
    )
    if documentation.sections:
        counts += (
            f", {len(documentation.sections):,} sections, {by_model:,} of them written by a "
            "language model and the others extracts of the sources"
        )
    if documentation.reference.modules:
        counts += (
            ". The pages of modules are read from their text; nothing was imported or run. They "
            "have the public names: those of `__all__`, or else without a leading underscore"
        )
    counts += "."
    alternative = "The questions, near each other where they are alike; a colour for each cluster"
    lines = ["", "## How it was made", "", counts, "", f"![{alternative}]({MAP_FILE})"]
    if documentation.uncovered:
        count = len(documentation.uncovered)
        places: tuple[str, ...] = documentation.uncovered_places or documentation.uncovered
        lines += ["", f"<details><summary>{count:,} passages are in no section</summary>", ""]
        lines += [f"- {one_line(place)}" for place in places]
        lines += ["", "</details>"]
    if documentation.failed:
        lines += ["", "What could not be done:", ""]
        lines += [f"- {one_line(task)}: {one_line(why)}" for task, why in documentation.failed]
    return lines
