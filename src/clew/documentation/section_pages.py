"""The pages of documents: their sections, what each is made of, and links between them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import PurePath

from clew.documentation.entries import SourcePlace
from clew.documentation.markdown import code_and_prose, fence_for, one_line, safe_markdown
from clew.documentation.name_links import NameLinks
from clew.documentation.sections import Section
from clew.documentation.source_files import SourceFiles
from clew.graph import EMPTY

MAX_SLUG = 60  # letters
_PLACE = re.compile(r"(.+?):(\d+)(?:-(\d+))?(?: > .*)?$")
_LINK = re.compile(r"(!?)\[([^\[\]]*)\]\(([^()\s]+)\)")
_SOURCE_NUMBER = re.compile(r" \[(\d+)\]")


@dataclass(frozen=True)
class Site:
    """Where everything is found: the file of each page and the anchor of each section.

    Attributes:
        sections: All sections.
        files: The name of each page's file.
        sections_on: The numbers of the sections on each page.
        names: Where the names of source code lead to.
        sources: Where the sources are.
        page_of_document: The page that has the most of a document, by the document's id.
        explained: For each entry of the reference, links to the sections that name it; grows.
    """

    sections: tuple[Section, ...]
    files: Mapping[str, str]
    sections_on: Mapping[str, list[int]]
    names: NameLinks = field(default_factory=lambda: NameLinks(EMPTY, EMPTY))
    sources: SourceFiles = field(default_factory=SourceFiles)
    page_of_document: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    explained: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        sections: tuple[Section, ...],
        names: NameLinks | None = None,
        sources: SourceFiles | None = None,
    ) -> Site:
        groups = groupby(enumerate(sections), key=lambda pair: pair[1].page)
        sections_on = {page: [i for i, _ in group] for page, group in groups}
        files = dict(zip(sections_on, file_names_of(list(sections_on)), strict=True))
        pages = _pages_of_documents(sections, files)
        return cls(
            sections,
            files,
            sections_on,
            names or NameLinks(EMPTY, EMPTY),
            sources or SourceFiles(),
            pages,
        )

    def anchor(self, i: int) -> str:
        return f"{i + 1}-{slug(self.sections[i].title)}".rstrip("-")

    def target(self, i: int) -> str:
        """What a link to a section leads to."""
        return f"{self.files[self.sections[i].page]}#{self.anchor(i)}"

    def title(self, i: int) -> str:
        """A section's title; a further section of one title says so."""
        section = self.sections[i]
        before = self.sections_on[section.page]
        is_further = any(self.sections[j].title == section.title for j in before if j < i)
        return one_line(section.title) + (" (continued)" if is_further else "")

    def title_from(self, i: int, page: str) -> str:
        """A section's title as a page shows it: with the section's own page, if it is another."""
        section = self.sections[i]
        if section.page in (page, section.title):
            return one_line(section.title)
        return one_line(f"{section.page} > {section.title}")

    def link(self, i: int, page: str) -> str:
        return f"[{self.title_from(i, page)}]({self.target(i)})"


def _pages_of_documents(sections: Sequence[Section], files: Mapping[str, str]) -> dict[str, str]:
    """Return for each document the page that shows most passages of it, by its id."""
    shown: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for section in sections:
        for part in section.explanations:
            for number in part.sources if part.moved_to is None else ():
                if match := _PLACE.match(section.sources[number - 1][1]):
                    shown[match[1]][files[section.page]] += 1
    return {document: pages.most_common(1)[0][0] for document, pages in shown.items()}


def page_of(page: str, introduction: str, site: Site) -> str:
    """Return the page of a document.

    With one section it has neither introduction nor contents: the section begins with what the
    document says first, and is all there is to list.
    """
    numbers = site.sections_on[page]
    head = [f"# {one_line(page)}"]
    if len(numbers) > 1:
        contents = "\n".join(f"- [{site.title(i)}]({site.target(i)})" for i in numbers)
        head += [introduction, contents] if introduction else [contents]
    return "\n\n".join([*head, *(_section(i, site) for i in numbers)]) + "\n"


def _section(i: int, site: Site) -> str:
    section = site.sections[i]
    lines = [f'<a id="{site.anchor(i)}"></a>', "", f"## {site.title(i)}"]
    if section.by_model:
        questions = [
            f"*{one_line(text)}*" for text in (section.question, *section.merged_questions)
        ]
        lines += ["", questions[0]]
        if questions[1:]:
            lines += ["", "Also: " + " ".join(questions[1:])]
    if section.summary:
        lines += ["", section.summary if section.by_model else _without_numbers(section.summary)]
    lines += _explanations(i, site)
    lines += _examples(section)
    lines += _references(section, site)
    if section.by_model:
        places = [_place_link(place, site) for _, place in section.sources]
        lines += ["", "Sources:", ""]
        lines += [f"{number}. {place}" for number, place in enumerate(places, 1)]
    return "\n".join(lines)


def _explanations(i: int, site: Site) -> list[str]:
    section, lines = site.sections[i], list[str]()
    heading = section.title
    for part in section.explanations:
        if part.moved_to is not None:
            continue
        if part.heading and part.heading != heading:
            heading = part.heading
            lines += ["", f"### {one_line(heading)}"]
        text = safe_markdown(part.text)
        match = _PLACE.match(section.sources[part.sources[0] - 1][1]) if part.sources else None
        text = _relinked(text, match[1] if match else "", site)
        lines += ["", _named(text, i, site), "", _sources(part.sources, section, site)]
    return lines


def _named(text: str, i: int, site: Site) -> str:
    """Return a text with links on the names of source code; each entry learns who names it."""

    def used(path: str) -> None:
        site.explained.setdefault(path, []).append(site.link(i, ""))

    return site.names.linked(text, used) if site.names.targets else text


def _relinked(text: str, document: str, site: Site) -> str:
    """Return a text whose links to files lead there from the page; the others are no links."""

    def relink(match: re.Match[str]) -> str:
        mark, words, target = match.groups()
        if _is_address(target):
            return match[0]
        address = site.sources.from_document(document, target, site.page_of_document)
        if address and (not mark or not address.endswith(".md")):
            return f"{mark}[{words}]({address})"
        return words

    parts = code_and_prose(text)
    return "".join(part if is_code else _LINK.sub(relink, part) for part, is_code in parts)


def _is_address(target: str) -> bool:
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+:|//", target) is not None


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


def _references(section: Section, site: Site) -> list[str]:
    """The sections that have what was moved from this one, and related ones."""
    moved: dict[int, list[int]] = {}
    for part in section.explanations:
        if part.moved_to is not None:
            moved.setdefault(part.moved_to, []).extend(part.sources)
    lines = list[str]()
    if moved:
        links = (
            f"{site.link(j, section.page)}"
            + (f" {_sources(sources, section, site)}" if section.by_model else "")
            for j, sources in sorted(moved.items())
        )
        lines += ["", "More on it: " + ", ".join(links)]
    if related := [j for j in section.related if j not in moved]:
        lines += ["", "See also: " + ", ".join(site.link(j, section.page) for j in related)]
    return lines


def _sources(numbers: Sequence[int], section: Section, site: Site) -> str:
    """Return where a part of a section is from: of an extract the lines of each document."""
    if section.by_model:
        return " ".join(_source_number(number, section, site) for number in numbers)
    lines: dict[str, tuple[int, int]] = {}
    others = list[str]()
    for place in (section.sources[number - 1][1] for number in numbers):
        match = _PLACE.match(place)
        if match is None:
            others.append(one_line(place))
            continue
        first, last = int(match[2]), int(match[3] or match[2])
        before = lines.get(match[1], (first, last))
        lines[match[1]] = min(first, before[0]), max(last, before[1])
    links = [
        site.sources.link(
            SourcePlace(name, first, last), f"{name}:{first}-{last}".removesuffix(f"-{first}")
        )
        for name, (first, last) in lines.items()
    ]
    return f"Source: {', '.join([*links, *dict.fromkeys(others)])}"


def _source_number(number: int, section: Section, site: Site) -> str:
    """Return a number that leads to the line of its source, where that is a file."""
    match = _PLACE.match(section.sources[number - 1][1])
    if match is None or match[1] not in site.sources.addresses:
        return f"[{number}]"
    return site.sources.link(SourcePlace(match[1], int(match[2]), 0), f"[{number}]")


def _place_link(place: str, site: Site) -> str:
    match = _PLACE.match(place)
    if match is None:
        return one_line(place)
    return site.sources.link(SourcePlace(match[1], int(match[2]), 0), place)


def _without_numbers(summary: str) -> str:
    """Return a summary without the numbers of its sources, which stand below with their lines."""
    return _SOURCE_NUMBER.sub("", summary)


def _squeeze(text: str) -> str:
    return " ".join(text.split())


def file_names_of(pages: Sequence[str]) -> list[str]:
    """A file name for each page, numbered in order, so that no two are the same on any disk."""
    width = len(str(len(pages)))
    return [
        f"{number:0{width}d}-{slug(PurePath(page).name) or 'page'}.md"
        for number, page in enumerate(pages, 1)
    ]


def slug(text: str) -> str:
    """Letters and digits of any script, the rest as hyphens."""
    words = re.sub(r"[\W_]+", "-", unicodedata.normalize("NFKC", text).casefold())
    return words.strip("-")[:MAX_SLUG].strip("-")
