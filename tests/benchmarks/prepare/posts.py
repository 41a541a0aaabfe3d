"""Questions that definitions in Python's documentation answer: titles of posts, and written ones.

CoNaLa has the titles of Stack Overflow's posts. DocPrompting names the definition of each function
that the code of an answer calls, as `python.library.os#os.chdir`: page and anchor.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from selectolax.lexbor import LexborHTMLParser, LexborNode

from clew.measure.quotes import words_of
from tests.benchmarks.prepare.material import TAGS, Draft, Material, Place, half_of, in_drawn_order
from tests.benchmarks.prepare.words import quotes_along

FOLDER = "library/"
PAGES = "python.library."  # what comes before a page and an anchor
PER_DEFINITION = 2  # posts on one definition
# Markup that leaves no trace in a text; a link leaves its address there.
UNSEEN = re.compile(r"</?(?:em|strong|code|span|cite|abbr)\b[^>]*>")


def prepare_written(files: Mapping[str, str], questions: str) -> Material:
    """Return the documentation, and questions that were written for it.

    Args:
        files: The documentation in HTML as Sphinx builds it, by path.
        questions: Lines of JSON: `question`, and `definitions` or sections that answer it, each
            PAGE#ANCHOR.
    """
    records = [json.loads(line) for line in questions.splitlines()]
    wanted = [[_entry(name) for name in record["definitions"]] for record in records]
    quotes = _quotes_by_definition(files, {entry for own in wanted for entry in own})
    drafts = [
        Draft(record["question"], _places(own, quotes), f"{FOLDER}{own[0][0]}.html")
        for record, own in zip(records, wanted, strict=True)
    ]
    return Material(files, drafts, per_half=len(drafts))


def prepare_posts(files: Mapping[str, str], titles: str, answers: Iterable[str]) -> Material:
    """Return the documentation, and the posts that one of its definitions answers.

    A definition answers a post if it is the only one that the code of an answer is documented by,
    and the code is a call of it by its name: `os.chdir(...)`, `x = sorted(...)`, neither
    `name.split(...)`, whose type nobody knows, nor `name[: len(end)]`. Any stretch of the definition is gold, and so are those of the post's other
    answers. At most `PER_DEFINITION` posts are on one definition.

    Args:
        files: The documentation in HTML as Sphinx builds it, by path.
        titles: JSON: the posts' titles by number.
        answers: JSON: the code of answers and what documents it.
    """
    records = [record for text in answers for record in json.loads(text)]
    wanted = dict[str, set[tuple[str, str]]]()
    for record in records:
        if (entry := _only_entry(record)) and entry[1] in _called(record["cmd"]):
            wanted.setdefault(record["question_id"].split("-")[0], set()).add(entry)
    quotes = _quotes_by_definition(files, {entry for own in wanted.values() for entry in own})
    posts = {str(post["question_id"]): _plain(post["intent"]) for post in json.loads(titles)}
    drafts = list(_drafts(posts, wanted, quotes))
    asked = Counter(words_of(draft.question) for draft in drafts)
    counts = Counter[str]()
    kept = []
    for draft in in_drawn_order([own for own in drafts if asked[words_of(own.question)] == 1], ""):
        definition = draft.places[0].quote
        counts[definition] += 1
        if counts[definition] <= PER_DEFINITION:
            kept.append(draft)
    return Material(files, kept, min_words=4)


def _drafts(
    posts: Mapping[str, str],
    wanted: Mapping[str, set[tuple[str, str]]],
    quotes: Mapping[tuple[str, str], list[str]],
) -> Iterator[Draft]:
    """Yield the posts whose definitions are in files of one half."""
    for number in sorted(wanted.keys() & posts.keys()):
        places = _places(sorted(wanted[number]), quotes)
        if len({half_of(place.file) for place in places}) == 1:
            yield Draft(posts[number], places, places[0].file)


def _places(
    entries: Iterable[tuple[str, str]], quotes: Mapping[tuple[str, str], list[str]]
) -> tuple[Place, ...]:
    return tuple(
        Place(f"{FOLDER}{page}.html", quote)
        for page, name in entries
        for quote in quotes.get((page, name), ())
    )


def _entry(address: str) -> tuple[str, str]:
    """Return the page and the anchor of `os#os.chdir`."""
    page, _, name = address.partition("#")
    return page, name


def _only_entry(record: Mapping[str, list[str]]) -> tuple[str, str] | None:
    """Return page and anchor of the definition that documents an answer, if it is one alone."""
    if len(record["oracle_man"]) != 1 or not record["oracle_man"][0].startswith(PAGES):
        return None
    return _entry(record["oracle_man"][0].removeprefix(PAGES))


def _called(code: str) -> set[str]:
    """Return the dotted name that code of one statement calls last, and that with a module.

    Nothing else becomes of what the call returns but that it gets a name.
    """
    try:
        statements = ast.parse(code).body
    except SyntaxError:
        return set()
    value = getattr(statements[0], "value", None) if len(statements) == 1 else None
    if not isinstance(value, ast.Call):
        return set()
    name = ast.unparse(value.func)
    # `datetime.now` is `datetime.datetime.now` where a class has the name of its module.
    return {name, f"{name.split('.')[0]}.{name}"}


def _quotes_by_definition(
    files: Mapping[str, str], wanted: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], list[str]]:
    trees = dict[str, LexborHTMLParser]()
    quotes = {}
    for page, name in sorted(wanted):
        path = f"{FOLDER}{page}.html"
        if path in files and f'id="{name}"' in files[path]:
            tree = trees.setdefault(path, LexborHTMLParser(files[path]))
            text = _described(tree.css_first(f'[id="{name}"]'))
            if text is not None:
                quotes[page, name] = list(_quotes(text))
    return quotes


def _described(anchor: LexborNode | None) -> LexborNode | None:
    """Return what describes a term, or the section that an anchor is, or that it stands in."""
    node = anchor
    if node is not None and node.tag == "dt":
        while node is not None and node.tag != "dd":
            node = node.next
        return node
    while node is not None and node.tag != "section":
        node = node.parent
    return node


def _quotes(text: LexborNode) -> Iterator[str]:
    """Yield quotes of a text, without what describes its members and the sections in it."""
    own = LexborHTMLParser(text.html or "")  # a copy: the members are wanted, too
    for inner in own.css("dl.py, section section, h1, h2, h3, h4"):
        inner.decompose()
    segments = [_plain(segment) for segment in TAGS.split(UNSEEN.sub("", own.html or ""))]
    yield from quotes_along(segments, every=30)


def _plain(markup: str) -> str:
    """Return the text of markup, in one line."""
    return " ".join(LexborHTMLParser(f"<body>{markup}").text().split())
