"""Collections of abstracts with requests and judgements: Cranfield in XML, CISI in SMART's format."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import NamedTuple

from tests.benchmarks.prepare.material import Draft, Material, Place
from tests.benchmarks.prepare.words import quotes_along

HIGHEST_GRADE = 4  # of Cranfield's judgements: 1 answers completely, 4 is of some interest


class Collection(NamedTuple):
    """Abstracts, requests, and which abstracts a request wants.

    Attributes:
        abstracts: Title and text by number.
        requests: What is asked, by number.
        wanted: Numbers of abstracts by number of request.
    """

    abstracts: Mapping[str, tuple[str, str]]
    requests: Mapping[str, str]
    wanted: Mapping[str, list[str]]


def read_xml(documents: str, requests: str, judgements: str) -> Collection:
    """Return the collection of three files: <doc> records, <top> records, lines of TREC judgements.

    The numbers of judgements count the requests, which have gaps in their own.
    """
    abstracts = {
        _element(record, "docno"): (_element(record, "title"), _element(record, "text"))
        for record in re.findall(r"<doc>(.*?)</doc>", documents, re.DOTALL)
    }
    asked = re.findall(r"<top>(.*?)</top>", requests, re.DOTALL)
    wanted: dict[str, list[str]] = {}
    for line in judgements.splitlines():
        request, _, abstract, grade = line.split()
        if 1 <= int(grade) <= HIGHEST_GRADE:
            wanted.setdefault(request, []).append(abstract)
    return Collection(
        abstracts, {str(i): _element(top, "title") for i, top in enumerate(asked, 1)}, wanted
    )


def read_smart(documents: str, requests: str, judgements: str) -> Collection:
    """Return the collection of three files in the format of the SMART system: .I, .T, .W and lines of pairs."""
    abstracts = {
        number: (fields.get("T", ""), fields.get("W", "")) for number, fields in _records(documents)
    }
    wanted: dict[str, list[str]] = {}
    for line in judgements.splitlines():
        if pair := line.split()[:2]:
            wanted.setdefault(pair[0], []).append(pair[1])
    return Collection(
        abstracts, {number: fields.get("W", "") for number, fields in _records(requests)}, wanted
    )


def prepare(collection: Collection) -> Material:
    """Return one text file an abstract, its title first, and a question a request.

    Any wanted abstract answers. Its quotes are along its text, so that each passage of it counts.
    """
    texts = {
        number: (title, text) for number, (title, text) in collection.abstracts.items() if text
    }
    files = {
        _file(number): f"{title}\n\n{text.removeprefix(title).strip()}\n"
        for number, (title, text) in texts.items()
    }
    drafts = [
        Draft(
            " ".join(request.split()),
            tuple(
                Place(_file(abstract), quote)
                for abstract in collection.wanted.get(number, [])
                if abstract in texts
                for quote in quotes_along([files[_file(abstract)].split("\n\n", 1)[1]], every=45)
            ),
            f"request {number}",
        )
        for number, request in collection.requests.items()
    ]
    return Material(files, drafts)


def _file(number: str) -> str:
    return f"{int(number):04}.txt"


def _element(record: str, tag: str) -> str:
    found = re.search(rf"<{tag}>(.*?)</{tag}>", record, re.DOTALL)
    return html.unescape(found[1]).strip() if found else ""


def _records(text: str) -> list[tuple[str, dict[str, str]]]:
    """Return number and fields of each record; a field starts with a line of a point and a letter."""
    records = []
    for record in re.split(r"^\.I ", text, flags=re.MULTILINE)[1:]:
        number, *fields = re.split(r"^\.([A-Z])[ \t]*\n", record, flags=re.MULTILINE)
        pairs = zip(fields[::2], fields[1::2], strict=True)
        records.append((number.strip(), {key: value.strip() for key, value in pairs}))
    return records
