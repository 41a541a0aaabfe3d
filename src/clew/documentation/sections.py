"""One section of documentation: what a context says on a question, with its sources (Kurisu-G2, algorithm 9).

A language model writes title, summary, explanations and examples out of the numbered items of the context, and must name the numbers that
it has them from. Without one the section is an extract: the title is that of the branch in its middle, the summary the sentences nearest
to the question of those on that branch, or else on those of the other questions, the explanations the items as they stand, neighbours in
one, the examples the sessions and code blocks in them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clew.algorithms.ranking import top_k
from clew.context import Context, Item
from clew.document import Document
from clew.documentation.branches import Branch, short
from clew.documentation.fences import PROSE, written_in
from clew.graph import Vectors
from clew.model import Model, parse_json
from clew.show import location_of
from clew.text.spans import sentences

SENTENCES = 2  # of a summary that is an extract

_DOCSTRING = re.compile(r'("""|\'\'\')(.+?)(?:\1|\Z)', re.DOTALL)
_SESSION = re.compile(r"^[ \t]*>>> .*(?:\n(?![ \t]*$).*)*", re.MULTILINE)
_FENCED = re.compile(r"^(```+|~~~+)[^\n]*\n(.*?)^\1", re.MULTILINE | re.DOTALL)
_LITERAL = re.compile(
    r"(?::\w+(?::\w+)?:)?``?([^`\n]+)``?"
)  # with the role that reStructuredText may put before it
_MARKUP = re.compile(r"([\\`*_<>\[\]#|])")


@dataclass(frozen=True)
class Part:
    """An explanation: Markdown under a heading (or ""), with the numbers of its sources, from 1; `told_in` is the section that tells it.

    `examples` are the sessions and code blocks in what stands as it is in the sources.
    """

    heading: str
    text: str
    sources: tuple[int, ...]
    told_in: int | None = None
    examples: tuple[str, ...] = ()


@dataclass(frozen=True)
class Section:
    """A section: its `title`, the `question` it answers, a `summary`, explanations, examples, and the `sources` as ids and places.

    `page` is what the document of the branch in its middle is called, `branch` that branch's number, and `about` those of the branches of
    all its questions. `related` are the numbers of sections that share sources; `also` the questions of sections that were merged into it;
    `written` says whether a language model wrote it.
    """

    title: str
    question: str
    summary: str
    parts: tuple[Part, ...]
    examples: tuple[str, ...]
    sources: tuple[tuple[str, str], ...]
    page: str
    branch: int = 0
    related: tuple[int, ...] = ()
    also: tuple[str, ...] = ()
    written: bool = False
    about: tuple[int, ...] = ()

    def text(self) -> str:
        """Return all that it says, as plain text."""
        return "\n\n".join([self.title, self.summary, *(part.text for part in self.parts)])


def extract(
    context: Context,
    found: Sequence[Branch],
    of: Mapping[str, int],
    about: Sequence[int],
    pages: Sequence[str],
    documents: Mapping[str, Document],
    embed: Callable[[list[str]], Vectors],
) -> Section:
    """Return the section that is an extract of a context.

    It begins with the branch that it is titled after, then the others of its document, then those of other documents, each under the titles
    of its own.

    Args:
        found: all branches. of: the number of that in which each passage stands, by id. about: those that the section's questions are on,
            that in their middle first. pages: what the document of each branch is called. documents: by their ids.
    """
    texts, place = (
        {id: document.text for id, document in documents.items()},
        {id: i for i, id in enumerate(documents)},
    )
    page, own = pages[about[0]], about[0]
    title = _heading(found[own], page, page)

    def rank(item: Item) -> tuple[int, int, int, tuple[int, int]]:
        number = of.get(item.id, -1)
        its = _heading(found[number], pages[number], page) if number >= 0 else ""
        outside = 3 if number < 0 else 0 if its == title else 1 if pages[number] == page else 2
        return outside, number, place.get(item.document or item.id, len(place)), item.span or (0, 0)

    items = sorted(context, key=rank)
    numbers = {id(item): at for at, item in enumerate(items, 1)}
    parts, said = list[Part](), dict[int, list[tuple[str, int]]]()
    for run in _runs(items, texts):
        written, text, number = (
            _format(run[0], documents),
            _text_of(run, texts),
            of.get(run[0].id, -1),
        )
        heading = (
            run[0].kind.capitalize() + "s"
            if number < 0
            else _heading(found[number], pages[number], page)
        )
        parts.append(
            Part(
                heading,
                _shown(text, written),
                tuple(numbers[id(item)] for item in run),
                examples=tuple(_examples(text)),
            )
        )
        for item in run:
            said.setdefault(number, []).extend(
                (sentence, numbers[id(item)]) for sentence in _sentences(item.text, written)
            )
    return Section(
        title=title,
        question=context.question,
        summary=_summary(context.question, said, about, parts, embed),
        parts=tuple(parts),
        examples=tuple(dict.fromkeys(example for part in parts for example in part.examples)),
        sources=tuple((item.id, location_of(item, texts)) for item in items),
        page=page,
        branch=own,
        about=tuple(about),
    )


def _heading(branch: Branch, its: str, page: str) -> str:
    """What a branch is called on a page: by its last titles below its document, with that where it is another's."""
    titles = list(map(short, branch.titles[1:][-2:]))
    return " > ".join(titles if its == page and titles else [its, *titles])


def _summary(
    question: str,
    said: Mapping[int, list[tuple[str, int]]],
    about: Sequence[int],
    parts: Sequence[Part],
    embed: Callable[[list[str]], Vectors],
) -> str:
    """The sentences nearest to the question on the branch in the middle, or else on the others; "" where they are all that is told."""
    own = said.get(about[0]) or [one for number in about[1:] for one in said.get(number, [])]
    whole = " ".join(" ".join(part.text for part in parts).split())
    summary = _nearest(question, own, embed)
    if len(own) <= SENTENCES and " ".join(_marked(sentence) for sentence, _ in own) == whole:
        return ""
    return summary


def written_by(model: Model, plain: Section, context: Context) -> tuple[Section, str]:
    """Return the section as a language model writes it, and ""; or `plain` and the reason why its answer could not be used."""
    count = len(context)

    def read(answer: str) -> Section:
        said = parse_json(answer)
        if not isinstance(said, dict) or not all(
            isinstance(said.get(key), str) and said[key].strip() for key in ("title", "summary")
        ):
            raise ValueError('wanted a JSON object with "title" and "summary"')
        parts = tuple(_part(one, count) for one in said.get("explanations") or [])
        if not parts:
            raise ValueError('"explanations" is empty')
        examples = tuple(str(one).strip() for one in said.get("examples") or [] if str(one).strip())
        title = " ".join(said["title"].split())
        return replace(
            plain,
            title=title,
            summary=said["summary"].strip(),
            parts=parts,
            examples=examples,
            written=True,
        )

    of = {item.id: item for item in context}
    numbered = "\n\n".join(
        f"[{number}] {of[id].heading}\n{of[id].text}"
        for number, (id, _) in enumerate(plain.sources, 1)
    )
    answer = model.ask(
        f"Write one section of documentation that answers the question {context.question!r}, using only the numbered sources below.\n\n"
        f"{numbered}\n\nAnswer with a JSON object and nothing else: "
        '{"title": "a few words", "summary": "one to three sentences", "explanations": [{"heading": "...", "text": "Markdown", '
        '"sources": [1]}], "examples": ["code, or a case, that stands in the sources"]}. Every explanation names the numbers of the '
        "sources that it is taken from. Write in the language of the sources. Leave examples empty where there are none.",
        read,
    )
    return (plain, answer.error) if answer.value is None else (answer.value, "")


def introduction(text: str, written: str) -> str:
    """Return the first sentences of a document's first passage, as Markdown; "" where it has none."""
    return " ".join(map(_marked, _sentences(text, written)[:SENTENCES]))


def _runs(items: list[Item], texts: Mapping[str, str]) -> list[list[Item]]:
    """Items that follow each other under one heading with nothing but white space between them, together."""
    runs = list[list[Item]]()
    for item in items:
        before = runs[-1][-1] if runs else None
        if (
            before is not None
            and (before.document, before.heading) == (item.document, item.heading)
            and before.span
            and item.span
        ):
            text = texts.get(item.document or "", "")
            if (
                before.span[1] <= item.span[0]
                and not text[before.span[1] : item.span[0]].strip()
                and _there(item, text)
            ):
                runs[-1].append(item)
                continue
        runs.append([item])
    return runs


def _there(item: Item, text: str) -> bool:
    return item.span is not None and text[slice(*item.span)] == item.text


def _text_of(run: list[Item], texts: Mapping[str, str]) -> str:
    """What a run says, with the space before its first line, so that it can be moved to the left as a whole."""
    text = texts.get(run[0].document or "", "")
    if not all(_there(item, text) for item in run) or run[0].span is None or run[-1].span is None:
        return "\n\n".join(item.text for item in run)
    start, end = run[0].span[0], run[-1].span[1]
    line = text.rfind("\n", 0, start) + 1
    return text[start if text[line:start].strip() else line : end]


def _part(one: Any, count: int) -> Part:
    if not isinstance(one, dict) or not isinstance(one.get("text"), str) or not one["text"].strip():
        raise ValueError('every explanation is an object with "heading", "text" and "sources"')
    numbers = one.get("sources")
    if (
        not isinstance(numbers, list)
        or not numbers
        or not all(isinstance(n, int) and 1 <= n <= count for n in numbers)
    ):
        raise ValueError(
            f"every explanation names at least one source, by its number from 1 to {count}; got {numbers!r}"
        )
    return Part(
        " ".join(str(one.get("heading") or "").split()),
        one["text"].strip(),
        tuple(dict.fromkeys(numbers)),
    )


def _format(item: Item, documents: Mapping[str, Document]) -> str:
    return written_in(documents.get(item.document or item.id))


def _shown(text: str, written: str) -> str:
    """The text as Markdown: as it is, in a fence of its language, or with its signs escaped."""
    if written == "markdown":
        return text
    if written not in PROSE:
        fence = "```" if "```" not in text else "````"
        return f"{fence}{written}\n{_dedented(text)}\n{fence}"
    return _escaped(text.strip("\n"))


def _marked(text: str) -> str:
    """The text without meaning as Markdown, but for the literals of reStructuredText and Markdown, which are code in both."""
    return "".join(part if i % 2 else _escaped(part) for i, part in enumerate(_literals(text)))


def _literals(text: str) -> list[str]:
    """What is no literal and what is one, in turn, the literals in single backticks."""
    parts = _LITERAL.split(text)
    return [f"`{part}`" if i % 2 else part for i, part in enumerate(parts)]


def _escaped(text: str) -> str:
    """The text without meaning as Markdown."""
    return _MARKUP.sub(r"\\\1", text)


def _examples(text: str) -> list[str]:
    return [_dedented(found.group(0)) for found in _SESSION.finditer(text)] + [
        found.group(2).rstrip() for found in _FENCED.finditer(text)
    ]


def _dedented(text: str) -> str:
    from textwrap import dedent

    lines = text.strip("\n").split("\n")
    if len(lines) > 1 and lines[0].startswith(
        ">>>"
    ):  # a session that starts where its first sign stands, without the space before
        return "\n".join([lines[0], dedent("\n".join(lines[1:]))])
    return dedent("\n".join(lines))


def _sentences(text: str, written: str) -> list[str]:
    """The sentences of the prose in a text: all of it, or in source code that of its documentation strings."""
    prose = [text] if written in PROSE else [found.group(2) for found in _DOCSTRING.finditer(text)]
    found = list[str]()
    for one in prose:
        for a, b in sentences(one, 0, len(one), "en"):
            sentence = " ".join(one[a:b].split())
            if len(sentence) > 20 and ">>>" not in sentence and sentence[-1:] in ".!?。！？।؟":
                found.append(sentence)
    return found


def _nearest(
    question: str, said: list[tuple[str, int]], embed: Callable[[list[str]], Vectors]
) -> str:
    """The sentences nearest to the question, in the order they stand in, each with the number of its source."""
    said = list(dict(said).items())
    if not said:
        return ""
    vectors = embed([question, *(sentence for sentence, _ in said)])
    chosen = np.sort(top_k(vectors[1:] @ vectors[0], SENTENCES))
    return " ".join(f"{_marked(said[i][0])} [{said[i][1]}]" for i in chosen.tolist())
