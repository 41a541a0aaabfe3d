"""The pages of a reference: one for each module, and the index of all names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from clew.documentation.entries import CodeReference, DocSection, DocumentedModule, PublicName
from clew.documentation.markdown import MIN_SENTENCE
from clew.documentation.markup import Link, as_literal, fenced, markup_to_markdown
from clew.documentation.name_links import NameLinks, module_path
from clew.documentation.source_files import SourceFiles
from clew.documentation.uses import Uses
from clew.graph import EMPTY
from clew.text.spans import sentences

MAX_USERS = 6  # that are named
MAX_RELATED = 5
MIN_LISTED = 3  # members, beyond which they are listed before they are described
MAX_OPENING = 2000  # characters of documentation in which its first sentence is looked for
MAX_SUMMARY = 240  # characters
GROUPS = (
    ("Classes", ("class",)),
    ("Functions", ("function", "method")),
    ("Constants and types", ("attribute", "property", "type", "name")),
)


@dataclass(frozen=True)
class ReferencePages:
    """Writes the pages of a reference.

    Attributes:
        reference: The reference.
        uses: How its entries are used.
        links: Where names lead to.
        sources: Where the sources are.
        files: The name of the file of each module's page.
        explained: Links to sections on other pages that name an entry, by its path.
    """

    reference: CodeReference
    uses: Uses
    links: NameLinks
    sources: SourceFiles = field(default_factory=SourceFiles)
    files: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    explained: Mapping[str, Sequence[str]] = field(default_factory=lambda: EMPTY)

    def pages(self) -> Iterator[tuple[str, str]]:
        """Yield the title of each page and its Markdown, without what all pages begin with."""
        for module in self.reference.modules:
            yield self.files[module.name], self._module(module)

    def summary(self, docs: Sequence[DocSection], scope: str) -> str:
        """Return the first sentence of documentation as Markdown on one line, or ""."""
        text = docs[0].text[:MAX_OPENING] if docs else ""
        first = " ".join(re.split(r"\n[ \t]*\n|::?\s*$", text.strip(), maxsplit=1)[0].split())
        if not first or first.startswith((">>>", "..", "```", "- ", ":")):
            return ""
        spans = list(sentences(first, 0, len(first), "en"))
        end = next((end for start, end in spans if end - start >= 1), len(first))
        for _, stop in spans:  # a sentence is not cut behind "e.g." or within a literal
            if stop > MIN_SENTENCE and first[:stop].count("`") % 2 == 0:
                end = stop
                break
        sentence = first[:end].strip()
        if len(sentence) > MAX_SUMMARY:
            sentence = sentence[:MAX_SUMMARY].rpartition(" ")[0] + " …"
        markdown = markup_to_markdown(sentence, self.links.linker(scope))
        return " ".join(markdown.split()) if "```" not in markdown else ""

    def line(self, entry: PublicName, *, with_class: bool = False) -> str:
        """Return an item of a list that names an entry and says what it is."""
        summary = self.summary(entry.docs, entry.path)
        name = _called(entry)
        if with_class:
            name = self._short(entry.path) + name.removeprefix(entry.name)
        return f"- {self.links.link(name, entry.path)}" + (f": {summary}" if summary else "")

    def names_page(self) -> str:
        """Return the index of all names."""
        of_module = [
            (entry, module) for module in self.reference.modules for entry in module.walk()
        ]
        of_module.sort(key=lambda pair: (pair[0].name.strip("_").casefold(), pair[0].path))
        lines = ["# Names", ""]
        lines.append(f"The {len(of_module):,} public names, by their letters.")
        for letter, group in groupby(
            of_module, key=lambda pair: pair[0].name.strip("_")[:1].upper()
        ):
            lines += ["", f"## {letter}", ""]
            for entry, module in group:
                where = re.sub(r"[.:]$", "", entry.path.removesuffix(entry.name))
                is_module = where == module.name
                link = self.links.module_link if is_module else self.links.link
                within = f" in {link(where, where if not is_module else '')}" if where else ""
                lines.append(f"- {self.links.link(entry.name, entry.path)}: {entry.kind}{within}")
        return "\n".join(lines) + "\n"

    def _module(self, module: DocumentedModule) -> str:
        lines = [f"# {as_literal(module.name)}"]
        lines += self._docs(module.docs, module.name, ())
        if module.place is not None:
            lines += ["", f"Source: {self.sources.link(module.place, module.place.document)}"]
        lines += self._submodules(module)
        lines += self._contents(module)
        lines += self._reexports(module)
        for _, kinds in GROUPS:
            entries = [entry for entry in module.entries if entry.kind in kinds]
            brief = [one for one in entries if _is_brief(one)]
            for entry in (one for one in entries if not _is_compact(one) and one not in brief):
                lines += ["", *self._entry(entry, 2)]
            if brief:
                lines += ["", "## Constants", "", *map(self._compact, brief)]
        if compact := [one for one in module.entries if _is_compact(one)]:
            lines += ["", "## Without documentation", "", *map(self._compact, compact)]
        return "\n".join(lines) + "\n"

    def _submodules(self, module: DocumentedModule) -> list[str]:
        below = [
            other
            for other in self.reference.modules
            if other.name.startswith(f"{module.name}.")
            and "." not in other.name.removeprefix(f"{module.name}.")
        ]
        if not below:
            return []
        lines = ["", "## Modules", ""]
        for other in below:
            summary = self.summary(other.docs, other.name)
            link = self.links.module_link(other.name)
            lines.append(f"- {link}" + (f": {summary}" if summary else ""))
        return lines

    def _contents(self, module: DocumentedModule) -> list[str]:
        """Return the lists of what is on the page, each with a sentence on it."""
        lines = list[str]()
        for title, kinds in GROUPS:
            entries = [one for one in module.entries if one.kind in kinds and not _is_compact(one)]
            entries = [one for one in entries if not _is_brief(one)]
            if entries:
                lines += ["", f"**{title}**", "", *map(self.line, entries)]
        return lines

    def _reexports(self, module: DocumentedModule) -> list[str]:
        if not module.reexports:
            return []
        by_path = {entry.defined_as: entry for entry in self.reference.walk()}
        lines = ["", "## From other modules", ""]
        for name, defined_as in module.reexports:
            entry = by_path.get(defined_as)
            summary = self.summary(entry.docs, entry.path) if entry is not None else ""
            home = (entry.path if entry is not None else defined_as).rpartition(".")[0]
            link = self.links.link(name, defined_as)
            origin = f" from {self.links.module_link(home)}" if home else ""
            lines.append(f"- {link}{origin}" + (f": {summary}" if summary else ""))
        return lines

    def _entry(self, entry: PublicName, level: int) -> Iterator[str]:
        yield f'<a id="{anchor_of(entry.path)}"></a>'
        yield ""
        yield f"{'#' * min(level, 6)} {_heading(entry)}"
        yield ""
        yield fenced("\n".join(entry.signatures), entry.language)
        if any(base.defined_as for base in entry.bases):
            named = (
                self.links.link(base.text, base.defined_as)
                if base.defined_as
                else as_literal(base.text)
                for base in entry.bases
            )
            yield f"\nBases: {', '.join(named)}"
        yield from self._docs(entry.docs, entry.path, entry.parameters)
        if example := self.uses.examples.get(entry.defined_as):
            yield f"\nAs it is used in {self.sources.link(example.place)}:\n"
            yield fenced(_without_indent(example.text), entry.language)
        yield from self._references(entry)
        brief = [one for one in entry.members if _is_brief(one)]
        if brief:
            yield "\n**Attributes**\n"
            yield from map(self._compact, brief)
        compact = [one for one in entry.members if _is_compact(one)]
        if compact:
            yield "\n**Without documentation**\n"
            yield from map(self._compact, compact)
        for base, names in entry.inherited:
            if self.links.target(base):
                shown = ", ".join(self.links.link(name, f"{base}.{name}") for name in names)
                yield f"\nInherited from {self.links.link(base.rpartition('.')[2], base)}: {shown}"
        if entry.also:
            shown = ", ".join(self.sources.link(place, name) for name, place in entry.also)
            yield f"\nAlso defined: {shown}"
        whole = [one for one in entry.members if one not in compact and one not in brief]
        if len(whole) > MIN_LISTED:
            shown = ", ".join(self.links.link(_called(one), one.path) for one in whole)
            yield f"\nMembers: {shown}"
        for member in whole:
            yield ""
            yield from self._entry(member, level + 1)

    def _references(self, entry: PublicName) -> Iterator[str]:
        """Yield where the source is, who uses it, and what else there is to read."""
        yield f"\nSource: {self.sources.link(entry.place)}"
        if users := self._users(entry):
            yield f"\nUsed by: {users}"
        related = [
            path for path in self.uses.see_also.get(entry.defined_as, ()) if self.links.target(path)
        ]
        if related:
            shown = (self.links.link(self._short(path), path) for path in related[:MAX_RELATED])
            yield f"\nSee also: {', '.join(shown)}"
        if explained := self.explained.get(entry.path, ()):
            yield f"\nExplained in: {', '.join(list(dict.fromkeys(explained))[:MAX_RELATED])}"

    def _users(self, entry: PublicName) -> str:
        uses = self.uses.used_by.get(entry.defined_as, ())
        documented = [use.user for use in uses if use.user]
        shown = [self.links.link(self._short(path), path) for path in documented[:MAX_USERS]]
        if not shown:
            shown = [self.sources.link(use.place) for use in uses[:MAX_USERS]]
        more = max(len(documented), len(uses) if not documented else 0) - len(shown)
        return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")

    def _short(self, path: str) -> str:
        """Return a path without its module."""
        path = self.links.paths.get(path, path)
        parts = re.split(r"[.:]", path)
        for n in range(len(parts) - 1, 0, -1):
            if module_path(".".join(parts[:n])) in self.links.modules:
                return ".".join(parts[n:])
        return path.rpartition(":")[2] if ":" in path else parts[-1]

    def _compact(self, entry: PublicName) -> str:
        signature = " ".join(" ".join(entry.signatures).split())
        source = self.sources.link(entry.place, f"line {entry.place.line}")
        docs = self._docs(entry.docs, entry.path, ())
        description = " ".join("".join(docs).split())
        return (
            f'- <a id="{anchor_of(entry.path)}"></a>{as_literal(signature)}'
            f"{f': {description}' if description else ''} ({source})"
        )

    def _docs(
        self, docs: Sequence[DocSection], scope: str, ignored: Sequence[str]
    ) -> Iterator[str]:
        link = self.links.linker(scope, ignored)
        for section in docs:
            if section.title:
                yield f"\n**{markup_to_markdown(section.title)}**"
            if section.text:
                yield f"\n{markup_to_markdown(section.text, link)}"
            if section.items:
                yield ""
                yield from _items(section, link)


def _items(section: DocSection, link: Link) -> Iterator[str]:
    for name, type, text in section.items:
        of = f" ({_type(type, link)})" if name and type else _type(type, link) if type else ""
        head = f"{as_literal(name) if name else ''}{of}"
        body = markup_to_markdown(text, link).replace("\n", "\n  ") if text else ""
        yield re.sub(r"\n +\n", "\n\n", f"- {': '.join(filter(None, [head, body]))}")


def _type(type: str, link: Link) -> str:
    return link(type, type)


def anchor_of(path: str) -> str:
    """Return the anchor of an entry or module: its path, without signs that have a meaning.

    Example:
        >>> anchor_of("lib/wood.js:Box")
        'lib-wood.js-Box'
    """
    return re.sub(r"[^\w.-]+", "-", path)


def file_names(reference: CodeReference) -> dict[str, str]:
    """Return the name of each module's page, no two of which are the same on any disk."""
    names: dict[str, str] = {}
    times: defaultdict[str, int] = defaultdict(int)
    for module in reference.modules:
        slug = anchor_of(module.name).casefold().strip("-.")[:100] or "module"
        times[slug] += 1
        number = f"-{times[slug]}" if times[slug] > 1 else ""
        names[module.name] = f"api-{slug}{number}.md"
    return names


def targets_of(reference: CodeReference, files: Mapping[str, str]) -> dict[str, str]:
    """Return the address of each module and entry, by its path."""
    targets = {module_path(module.name): files[module.name] for module in reference.modules}
    for module in reference.modules:
        for entry in module.walk():
            targets[entry.path] = f"{files[module.name]}#{anchor_of(entry.path)}"
    return targets


def breadcrumbs(module: DocumentedModule, links: NameLinks) -> str:
    """Return the links to the packages around a module."""
    parts = module.name.split(".") if module.language == "python" else [module.name]
    packages = (
        links.module_link(".".join(parts[: i + 1]), part) for i, part in enumerate(parts[:-1])
    )
    return " › ".join([*packages, as_literal(parts[-1])])


def _heading(entry: PublicName) -> str:
    kind = f"{entry.kind} " if entry.kind in ("class", "type") else ""
    behind = " (property)" if entry.kind == "property" else ""
    return f"{kind}{as_literal(_called(entry))}{behind}"


def _called(entry: PublicName) -> str:
    return f"{entry.name}()" if entry.kind in ("function", "method") else entry.name


def _is_compact(entry: PublicName) -> bool:
    """Return whether a line is enough for an entry: one that nothing is written on."""
    return entry.kind != "class" and not entry.docs and len(entry.signatures) == 1


def _is_brief(entry: PublicName) -> bool:
    """Return whether an attribute and what is written on it is as soon read in a line."""
    if entry.kind != "attribute" or len(entry.docs) != 1 or entry.docs[0].items:
        return False
    text = entry.docs[0].text.strip()
    return len(text) <= MAX_SUMMARY and not re.search(r"\n[ \t]*\n|>>>|```|::|\n[ \t]*[-*.] ", text)


def _without_indent(text: str) -> str:
    lines = text.split("\n")
    indent = min((len(one) - len(one.lstrip()) for one in lines if one.strip()), default=0)
    return "\n".join(line[indent:] for line in lines)
