"""The first page: what there is, by package, by topic and by document, and how it was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clew.documentation.markdown import one_line
from clew.documentation.reference_pages import ReferencePages
from clew.documentation.search_page import SEARCH_FILE
from clew.documentation.section_pages import Site
from clew.documentation.topics import Topic

NAMES_FILE, TOPICS_FILE, MAP_FILE = "names.md", "topics.md", "questions.svg"


@dataclass(frozen=True)
class FirstPage:
    """What the first page lists beside modules.

    Attributes:
        title: Its title.
        topics: The topics.
        introductions: How each document begins, by its page.
        sections_of: The numbers of the sections on each document, by its page.
        made: How the documentation was made.
        opening: How the README begins, and where it is; "" without one.
    """

    title: str
    topics: Sequence[Topic]
    introductions: Mapping[str, str]
    sections_of: Mapping[str, tuple[int, ...]]
    made: Sequence[str]
    opening: str = ""

    def text(self, site: Site, reference: ReferencePages) -> str:
        """Return the page."""
        lines = [f"# {self.title}", "", f"[Search]({SEARCH_FILE})", ""]
        lines += [self.opening, ""] if self.opening else []
        modules = reference.reference.modules
        if modules:
            lines += ["## Modules", "", *_modules(reference), ""]
            lines += [f"[All names]({NAMES_FILE})", ""]
        if self.topics:
            lines += ["## Topics", ""]
            lines += [
                f"- [{one_line(topic.title)}]({TOPICS_FILE}#topic-{i})"
                for i, topic in enumerate(self.topics, 1)
            ]
            lines.append("")
        if modules and self.sections_of:
            lines += ["## Documents", ""]
        for page in self.sections_of:
            lines += self._contents(site, page)
        return "\n".join([*lines, *self.made]) + "\n"

    def _contents(self, site: Site, page: str) -> list[str]:
        """A line on a document, and a line on each section on it."""
        introduction = self.introductions.get(page, "")
        introduction = f": {introduction}" if introduction else ""
        if page in site.files:
            numbers = site.sections_on[page]
            lines = [f"- [{one_line(page)}]({site.files[page]}){introduction}"]
            if [site.sections[i].title for i in numbers] == [page]:
                return lines
            return lines + [f"  - [{site.title(i)}]({site.target(i)})" for i in numbers]
        elsewhere = self.sections_of.get(page, ())
        lines = [f"- {one_line(page)}{introduction}"]
        lines += [f"  - {site.link(i, page)}" for i in elsewhere]
        return lines if elsewhere else [*lines, "  - in no section"]


def topics_page(topics: Sequence[Topic], reference: ReferencePages) -> str:
    """Return the page of the topics."""
    entries = {entry.path: entry for entry in reference.reference.walk()}
    lines = ["# Topics", "", "Names that belong together, by the questions that they answer."]
    for i, topic in enumerate(topics, 1):
        lines += ["", f'<a id="topic-{i}"></a>', "", f"## {one_line(topic.title)}", ""]
        lines += [reference.line(entries[path], with_class=True) for path in topic.entries]
        if topic.related:
            links = (f"[{one_line(topics[j].title)}](#topic-{j + 1})" for j in topic.related)
            lines += ["", f"See also: {', '.join(links)}"]
    return "\n".join(lines) + "\n"


def _modules(reference: ReferencePages) -> list[str]:
    """Return the modules as a list, each below its package, with the first sentence on it."""
    names = {module.name for module in reference.reference.modules}
    lines = list[str]()
    for module in reference.reference.modules:
        parts = module.name.split(".")
        depth = sum(".".join(parts[:n]) in names for n in range(1, len(parts)))
        summary = reference.summary(module.docs, module.name)
        link = reference.links.module_link(module.name)
        lines.append("  " * depth + f"- {link}" + (f": {summary}" if summary else ""))
    return lines
