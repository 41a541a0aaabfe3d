"""What is fuzzed: every reader of what a stranger wrote, as a function of bytes.

A target returns, or raises an error that says in words what is wrong. `check` tells these from
crashes.
"""

from __future__ import annotations

import contextlib
import copy
import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path

from clew import Document, Index
from clew.cite import citations
from clew.documentation.markdown import safe_markdown
from clew.model import parse_json
from clew.read import Names, Passage, Splitter, keep_whole, read_passages
from clew.read.formats import FORMATS, SourceFile, UnreadableFileError
from clew.recipe_files import parse_recipe
from clew.render import STYLES, Render
from clew.store.manifest import BEGIN, END, MIDDLE, read_manifest
from clew.text.estimate import cumulative_estimate, estimate_tokens
from clew.text.words import contains_phrase, fold_case, terms, words
from tests.conftest import hashed_words
from tests.store.small import small_index


class CrashError(AssertionError):
    """An error that is not one in words."""


def check(target: Target, data: bytes) -> None:
    """Run a target.

    Raises:
        CrashError: It raised what is no error of clew's in words.
    """
    try:
        target.run(data)
    except UnreadableFileError:
        return
    except (ValueError, TypeError) as error:
        in_words = type(error) in target.errors and len(str(error).split()) > 3
        if not in_words or isinstance(error, UnicodeError):
            raise CrashError(f"{target.name}: {type(error).__name__}: {error}") from error


@dataclass(frozen=True)
class Target:
    """A reader that is fuzzed.

    Attributes:
        name: What the command calls it.
        run: Takes the bytes.
        seeds: Bytes to begin with.
        errors: The errors by which it may refuse, beside an unreadable file.
    """

    name: str
    run: Callable[[bytes], object]
    seeds: tuple[bytes, ...]
    errors: tuple[type[Exception], ...] = (ValueError,)


class Choices:
    """Bytes as a row of choices."""

    def __init__(self, data: bytes) -> None:
        self.bytes: Iterator[int] = iter(data)

    def number(self) -> int:
        """Return the next byte, 0 at the end."""
        return next(self.bytes, 0)

    def among(self, options):
        """Return one of the options."""
        return options[self.number() % len(options)]


SAMPLE = {
    "markdown": (b"---\ntitle: T\n---\n# A `b` *c*\n\n- [x](y.md) ![z](w)\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```py\nd\n```\n> e\n<b>f</b>\n[g]: h\n",),
    "html": (b"<html><head><title>T</title></head><body><h1>A</h1><p>b <a href='c'>d</a><ul><li>e</ul><table><tr><td>f</table><pre>g</pre><!-- h --></html>",),
    "rst": (b"Title\n=====\n\n.. note:: a\n\n:ref:`b` `c <d>`_ ``e``\n\n* f\n\n.. code-block:: py\n\n   g\n",),
    "manual page": (
        b'.TH A 1\n.ds B c\n.SH NAME\na \\- \\fBb\\fR \\*B\n.TP\n.BR \\-d " e"\nf\n.nf\ng\n.fi\n.if n \\{.RS\n.IP \\(bu\nh\n.RE\\}\n.TS\nl l.\ni\tT{\nj\nT}\n.TE\n.de K\nl \\\\$1\n..\n.K m\n',
        b".Dd n\n.Dt A 1\n.Sh NAME\n.Nm a\n.Nd b\n.Bl -tag\n.It Fl c Ns Ar d Xo\n.Oo e Oc\n.Xc\n.Op Fl f\n.Xr g 1 .\n.El\n.Bd -literal\nh\n.Ed\n",
    ),
    "notebook": (b'{"cells": [{"cell_type": "markdown", "source": ["# A\\n"], "metadata": {}}, {"cell_type": "code", "source": "b", "outputs": [{"text": "c"}]}], "metadata": {"kernelspec": {"language": "python"}}, "nbformat": 4}',),
    "record": (
        b'[{"name": "Anna", "text": "b", "c": [1, 2.5, null]}]',
        b'{"name": "Anna"}\n{"name": "Ben"}\n',
        b'name,fee\n"Anna, B",10\nBen,"2\n0"\n',
    ),
    "mail": (
        b"From: A <a@b>\nTo: c@d, =?utf-8?q?=C3=A9?= <e@f>\nDate: Tue, 05 Mar 2024 10:11:12 +0100\nSubject: =?utf-8?b?xYE=?=\nContent-Type: multipart/mixed; boundary=g\n\n--g\nContent-Type: multipart/alternative; boundary=h\n\n--h\nContent-Type: text/plain; charset=koi8-r\nContent-Transfer-Encoding: quoted-printable\n\n=EC=\n> i\n--h\nContent-Type: text/html\nContent-Transfer-Encoding: base64\n\nPHA+ag==\n--h--\n--g\nContent-Type: message/rfc822\n\nSubject: k\n\nl\n--g\nContent-Disposition: attachment; filename*=utf-8''m%C3%A9\n\nn\n--g--\n",
        b"From a Tue Mar  5 10:11:12 2024\nSubject: b\n\nc\n>From d\n\nFrom e Tue Mar  5 10:11:12 2024\nTo: f\nContent-Type: text/plain; charset=utf-7\n\ng\n",
    ),
    "python": (b'import a.b as c\nclass D(E):\n    """F."""\n    def g(self):\n        return self.h()\n',),
    **dict.fromkeys(
        ("javascript", "typescript", "tsx", "java", "go", "rust", "c", "cpp"),
        (b"/** D. */\nimport a from 'b';\npublic class C { int f(int g) { return h(g); } }\nfunc (i J) K() {}\n",),
    ),
    "pdf": (b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj 3 0 obj<</Type/Page/Parent 2 0 R/Contents 4 0 R>>endobj 4 0 obj<</Length 20>>stream\nBT (Hello) Tj ET\nendstream endobj\ntrailer<</Root 1 0 R>>\n%%EOF",),
}  # fmt: skip


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp())


def _reader(name: str) -> Callable[[bytes], None]:
    format = FORMATS[name]
    suffixes = format.suffixes or (".txt",)

    def read(data: bytes) -> None:
        file = _folder() / f"x{suffixes[len(data) % len(suffixes)]}"
        file.write_bytes(data)
        documents = list(format.read(SourceFile(file, file.name, data)))
        for document in documents:
            Splitter(20)(document)
            Splitter(20, sentences=True)(document)
            if format.declared_title:
                format.declared_title(document.text)
        if documents:
            read_passages(documents[:3])

    return read


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").replace("\ue000", "\ud800")  # half of a pair


def _names(data: bytes) -> None:
    pieces = _text(data).split("\x00")[:4]
    documents = [Document(f"d{i}", text) for i, text in enumerate(pieces) if text.strip()]
    if documents:
        Index.from_documents(documents, embedder=hashed_words, extractor=Names())
    passages = [Passage(text, f"p{i}") for i, text in enumerate(pieces)]
    assert len(Names().triples(passages)) == len(Names().names(passages)) == len(passages)


def _words(data: bytes) -> None:
    text = _text(data)
    first, _, second = text.partition("\x00")
    list(words(text)), terms(text), fold_case(text), contains_phrase(first, second)
    total, (sums, _) = estimate_tokens(text), cumulative_estimate(text)
    assert total >= 0
    assert len(sums) == len(text) + 1
    for style in STYLES:
        render = Render(style)
        assert render.original_text(render.entry(text, 3), 3) == text
    safe_markdown(text), citations(text, ()), keep_whole(Document("a", text or "a"))


@cache
def _saved() -> Path:
    folder = Path(tempfile.mkdtemp())
    small_index(hashed_words).save(folder)
    return folder


@cache
def _body() -> bytes:
    [file] = _saved().glob("MANIFEST-*.json")
    content = json.loads(file.read_bytes())["index"]
    return json.dumps(content, separators=(",", ":")).encode()


def _manifest(data: bytes) -> None:
    """Open an index by what follows the checksum of a manifest, with the right checksum."""
    file = _saved() / "MANIFEST-00000001.json"
    file.write_bytes(data)
    with contextlib.suppress(ValueError):  # its checksum is wrong, as good as always
        read_manifest(file)
    digest = blake2b(data, digest_size=32).hexdigest().encode()
    file.write_bytes(BEGIN + digest + MIDDLE + data + END)
    Index.load(_saved(), embedder=hashed_words)


def _manifest_edits(data: bytes) -> None:
    """Open an index by its manifest with some values in it replaced."""
    content, choices = json.loads(_body()), Choices(data)
    for _ in range(1 + choices.number() % 4):
        _replace_one(content, choices)
    _manifest(json.dumps(content).encode())


STRANGE = (None, True, -1, 0, 2**70, 1.5, "", "x", "nodes.ids", [], {}, [1, "a"], {"name": "x"}, "Ω\ud800",
           "[" * 40, {"name": "Splitter()", "own": "Splitter", "parameters": {"tokens": -1}, "counters": {}})  # fmt: skip


def _replace_one(content: object, choices: Choices) -> None:
    while isinstance(content, (dict, list)) and content:
        keys = list(content) if isinstance(content, dict) else list(range(len(content)))
        key = choices.among(keys)
        inner = content[key]
        if not isinstance(inner, (dict, list)) or not inner or choices.number() % 4 == 0:
            action = choices.number()
            if action % 5 == 0:
                del content[key]
            elif action % 5 == 1:
                content[key] = copy.deepcopy(content[choices.among(keys)])
            else:
                content[key] = copy.deepcopy(choices.among(STRANGE))
            return
        content = inner


KEYS = ("year", "tags", "name", "", "$gt", "$", "a.b", "Ω")
VALUES = (1, 0, -2.5, True, None, "Corfu", "", [1, "a"], [], {"a": 1}, float("nan"), float("inf"), 10**30,
          ("x",), {"$gt": 1}, {1}, "\ud800", b"x", object)  # fmt: skip
METADATA = (
    {},
    {"year": 1910, "tags": ["sea", 1], "name": "Anna"},
    {"year": "1910", "tags": None, "name": {"a": 1}, "": 1, "$gt": 2, "Ω": [[1]]},
    {"year": float("nan"), "tags": {"sea"}, "name": ["Corfu"]},
)
OPERATORS = ("$eq", "$ne", "$in", "$nin", "$gt", "$gte", "$lt", "$lte", "$exists", "$not", "$and", "$or", "$x")  # fmt: skip


def _filter(choices: Choices, depth: int = 0) -> object:
    kind = choices.number() % 6
    if kind < 2 or depth > 6:
        return choices.among(VALUES)
    if kind == 2:
        return [_filter(choices, depth + 1) for _ in range(choices.number() % 4)]
    return {
        choices.among(OPERATORS if kind % 2 else KEYS): _filter(choices, depth + 1)
        for _ in range(choices.number() % 3 + 1)
    }


def _langchain_filter(data: bytes) -> None:
    from langchain_clew.filters import where_of

    filter = parse_json(_text(data)) if data[:1] == b"{" else _filter(Choices(data))
    test = where_of(filter)
    repr(test)
    for metadata in METADATA:
        assert test is None or test(metadata) in (True, False)


def _llama_index_filter(data: bytes) -> None:
    from llama_index.core.vector_stores.types import (
        FilterCondition,
        FilterOperator,
        MetadataFilter,
        MetadataFilters,
    )
    from llama_index.retrievers.clew.filters import where_of
    from pydantic import ValidationError

    choices = Choices(data)
    operators, conditions = [*FilterOperator], [*FilterCondition, None]

    def group(depth: int) -> object:
        parts = []
        for _ in range(choices.number() % 4):
            if depth < 5 and choices.number() % 3 == 0:
                parts.append(group(depth + 1))
                continue
            try:
                parts.append(
                    MetadataFilter(
                        key=choices.among(KEYS),
                        value=choices.among(VALUES),
                        operator=choices.among(operators),
                    )
                )
            except ValidationError:  # the framework refuses it itself
                continue
        return MetadataFilters(filters=parts, condition=choices.among(conditions))

    test = where_of(group(0))
    for metadata in METADATA:
        assert test is None or test(metadata) in (True, False)


def _where(data: bytes) -> None:
    """Filter by the core's own language: a mapping of wanted values."""
    choices = Choices(data)
    where = {choices.among(KEYS): choices.among(VALUES) for _ in range(choices.number() % 4)}
    index = _index_of_metadata()
    for item in index.ask("Who?", recipe="bm25", where=where):
        assert set(where) <= set(item.metadata)


@cache
def _index_of_metadata() -> Index:
    documents = [Document(f"d{i}", f"text {i}", metadata) for i, metadata in enumerate(METADATA)]
    return Index.from_documents(documents, embedder=hashed_words)


SENTENCES = "Anna Smith (born 1910) married Ben in Corfu. She works at ACME Corp.\x00Ben met Dr. Müller; 北京 и Пётр."
FILTERS = (b"\x03\x00\x00\x01", b"\x03\x01\x03\x04\x05\x06\x07\x08", b"\x05\x02\x03\x0a\x03\x04\x05\x06\x07")  # fmt: skip
BY_NAME = (ValueError, TypeError)
RECIPES = (
    b'use = "Pipeline"\nseed = "BM25"\norder = "ByPrize"',
    b'use = "Pipeline"\nselects = [{use = "MCMI", max_steps = 3}]\n[seed]\nuse = "Dense"\n',
)


@cache
def targets() -> dict[str, Target]:
    """Return every target by its name."""
    readers = [
        Target(name, _reader(name), SAMPLE.get(name, (SENTENCES.encode(),)))
        for name, format in FORMATS.items()
        if format.is_installed()
    ]
    others = [
        Target("names", _names, (SENTENCES.encode(), "Anna \ue000 met Ben.".encode())),
        Target("words", _words, (SENTENCES.encode(), "Anna\ue000 met".encode(), b"[1] \\# a\n- b\xe2\x80\x8b")),
        Target("manifest", _manifest, (_body(),)),
        Target("manifest-edits", _manifest_edits, (b"\x01\x05\x02\x03", b"\x00\x04\x01")),
        Target("langchain-filter", _langchain_filter, (*FILTERS, b'{"a": {"$gt": 1}}'), BY_NAME),
        Target("llama-index-filter", _llama_index_filter, FILTERS, BY_NAME),
        Target("where", _where, FILTERS, BY_NAME),
        Target("model-json", lambda data: parse_json(_text(data)), (b'x ```json\n{"a": [1]}\n``` y',)),
        Target("recipe-file", lambda data: parse_recipe(_text(data)), RECIPES),
    ]  # fmt: skip
    return {target.name: target for target in [*readers, *others]}
