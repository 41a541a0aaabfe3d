"""Documentation as a folder of Markdown: a first page with the contents and the map of questions, and a page per document."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from clew.documentation.question_map import map_of
from clew.documentation.sections import Section

if TYPE_CHECKING:
    from clew.documentation.documentation import Documentation

MARK = "<!-- made by clew document: written anew each time -->"
FIRST, MAP = "index.md", "questions.svg"


def save(documentation: Documentation, path: str | Path) -> list[Path]:
    """Write the pages and return their paths; pages of an earlier run in that folder are replaced.

    Raises:
        ValueError: the folder has other files, and none of an earlier run; or it is a file.
    """
    root = Path(path)
    if root.exists() and not root.is_dir():
        raise ValueError(f"{root} is a file; documentation is written to a folder")
    old = sorted(
        file
        for file in root.glob("*.md")
        if file.read_text(encoding="utf-8", errors="replace").startswith(MARK)
    )
    if root.exists() and any(root.iterdir()) and not old:
        raise ValueError(
            f"{root} has other files and no documentation of an earlier run: name a new or empty folder"
        )
    root.mkdir(parents=True, exist_ok=True)
    pages = pages_of(documentation)
    for file in old:
        if file.name not in pages:
            file.unlink()
    for name, text in pages.items():
        (root / name).write_text(text, encoding="utf-8")
    return [root / name for name in pages]


def pages_of(documentation: Documentation) -> dict[str, str]:
    """Return the text of every file by its name."""
    sections = documentation.sections
    groups = [
        (page, [i for i, _ in of])
        for page, of in groupby(enumerate(sections), key=lambda pair: pair[1].page)
    ]
    names = _names([page for page, _ in groups])
    where = {
        i: f"{name}#{_anchor(i, sections[i])}"
        for name, (_, inside) in zip(names, groups, strict=True)
        for i in inside
    }
    pages = {FIRST: _first(documentation, groups, names, where)}
    for name, (page, inside) in zip(names, groups, strict=True):
        body = "\n\n".join(_section(i, sections, where) for i in inside)
        several = (
            len(inside) > 1
        )  # else the one section begins so itself, and is all there is to list
        begins = documentation.introductions.get(page, "") if several else ""
        within = (
            "\n".join(f"- [{_plain(sections[i].title)}]({where[i]})" for i in inside)
            if several
            else ""
        )
        head = "\n\n".join(
            part
            for part in (MARK, f"# {_plain(page)}", f"[Contents]({FIRST})", begins, within)
            if part
        )
        pages[name] = f"{head}\n\n{body}\n"
    pivots = documentation.clusters.pivots.tolist()
    texts = [question.text for question in documentation.questions]
    pages[MAP] = map_of(documentation.clusters.points, documentation.clusters.labels, texts, pivots)
    return pages


def _first(
    documentation: Documentation,
    groups: Sequence[tuple[str, list[int]]],
    names: Sequence[str],
    where: dict[int, str],
) -> str:
    sections, clusters = documentation.sections, documentation.clusters
    lines = [MARK, "", f"# {documentation.title}", ""]
    own = {page: (name, inside) for name, (page, inside) in zip(names, groups, strict=True)}
    for page in documentation.told or own:
        name, inside = own.get(page, ("", documentation.told.get(page, ())))
        begins = documentation.introductions.get(page, "")
        lines.append(
            (f"- [{_plain(page)}]({name})" if name else f"- {_plain(page)}")
            + (f": {begins}" if begins else "")
        )
        inside = inside if [sections[i].title for i in inside] != [page] or not name else []
        lines += [
            f"  - [{_plain(sections[i].title) if name else _title(i, page, sections)}]({where[i]})"
            for i in inside
        ]
        lines += [] if name or inside else ["  - in no section"]
    lines += ["", "## How it was made", ""]
    by = sum(section.written for section in sections)
    lines.append(
        f"{len(documentation.questions):,} questions in {len(clusters):,} clusters (silhouette {clusters.silhouette:.2f}), "
        f"{len(sections):,} sections, {by:,} of them written by a language model and the others extracts of the sources."
    )
    lines += [
        "",
        f"![The questions, near each other where they are alike; a colour for each cluster]({MAP})",
    ]
    if documentation.uncovered:
        lines += [
            "",
            f"<details><summary>{len(documentation.uncovered):,} passages are in no section</summary>",
            "",
        ]
        lines += [
            *(f"- {_plain(place)}" for place in documentation.places or documentation.uncovered),
            "",
            "</details>",
        ]
    if documentation.failed:
        lines += [
            "",
            "What could not be done:",
            "",
            *(f"- {_plain(what)}: {_plain(why)}" for what, why in documentation.failed),
        ]
    return "\n".join(lines) + "\n"


def _section(i: int, sections: Sequence[Section], where: dict[int, str]) -> str:
    section = sections[i]
    lines = [f'<a id="{_anchor(i, section)}"></a>', "", f"## {_plain(section.title)}"]
    if section.written:
        lines += ["", f"*{_plain(section.question)}*"]
        lines += (
            ["", "Also: " + " ".join(f"*{_plain(question)}*" for question in section.also)]
            if section.also
            else []
        )
    if section.summary:
        lines += ["", section.summary]
    elsewhere: dict[int, list[int]] = {}
    above = section.title
    for part in section.parts:
        if part.told_in is not None:
            elsewhere.setdefault(part.told_in, []).extend(part.sources)
            continue
        if part.heading and part.heading != above:
            lines += ["", f"### {_plain(part.heading)}"]
            above = part.heading
        lines += ["", part.text, "", " ".join(f"[{number}]" for number in part.sources)]
    shown = " ".join(" ".join(part.text for part in section.parts).split())
    if examples := [
        example
        for example in section.examples
        if section.written or " ".join(example.split()) not in shown
    ]:
        lines += ["", "### Examples"]
        for example in examples:
            fence = "```" if "```" not in example else "````"
            lines += ["", fence, example, fence]
    told = [
        f"[{_title(j, section.page, sections)}]({where[j]}) {' '.join(f'[{number}]' for number in of)}"
        for j, of in sorted(elsewhere.items())
    ]
    if told:
        lines += ["", "Told elsewhere: " + ", ".join(told)]
    if related := [j for j in section.related if j not in elsewhere]:
        lines += [
            "",
            "See also: "
            + ", ".join(f"[{_title(j, section.page, sections)}]({where[j]})" for j in related),
        ]
    lines += [
        "",
        "Sources:",
        "",
        *(f"{number}. {_plain(place)}" for number, (_, place) in enumerate(section.sources, 1)),
    ]
    if not section.written:
        lines += [
            "",
            "Found by: "
            + "; ".join(f"*{_plain(question)}*" for question in (section.question, *section.also)),
        ]
    return "\n".join(lines)


def _title(j: int, here: str, sections: Sequence[Section]) -> str:
    """A section's title as another page speaks of it: with the page it is on, where that is not `here`."""
    page = "" if sections[j].page in (here, sections[j].title) else f"{sections[j].page} > "
    return _plain(page + sections[j].title)


def _names(titles: Sequence[str]) -> list[str]:
    """A file name for each page, numbered in order, so that no two are the same on any disk."""
    width = len(str(len(titles)))
    return [
        f"{number:0{width}d}-{_slug(PurePath(title).name) or 'page'}.md"
        for number, title in enumerate(titles, 1)
    ]


def _anchor(i: int, section: Section) -> str:
    return f"{i + 1}-{_slug(section.title)}".rstrip("-")


def _slug(text: str) -> str:
    """Letters and digits of any script, the rest as hyphens."""
    return (
        re.sub(r"[\W_]+", "-", unicodedata.normalize("NFKC", text).casefold())
        .strip("-")[:60]
        .strip("-")
    )


def _plain(text: str) -> str:
    """On one line, and without meaning as Markdown."""
    return re.sub(r"([\\`*_<>\[\]|#])", r"\\\1", " ".join(text.split()))
