"""The public names of programs in the languages of the extra `code`, by the tags of their grammars.

What is public is what a language marks so, as far as a definition shows it by itself: `export`,
`pub`, `public`, a capital in Go, and in C what is not `static`. The documentation is the comment
above a definition.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from textwrap import dedent
from typing import NamedTuple

from clew.document import Document
from clew.documentation.entries import (
    CodeReference,
    DocSection,
    DocumentedModule,
    Kind,
    PublicName,
    SourcePlace,
)
from clew.documentation.python_reference import is_example
from clew.read.extract.code.code_file import CodeFile
from clew.read.extract.code.tagged_code import Definition, read_tags
from clew.text.code_languages import LANGUAGES

SCRIPTS = ("javascript", "typescript", "tsx")
C_LIKE = ("c", "cpp")
MAX_DECLARATION = 25  # lines of a type that are shown as its signature
MAX_SIGNATURE = 600  # characters
_COMMENT_LINE = re.compile(r"[ \t]*(?://[/!]?|\*(?!/)|#(?![\[!]))[ ]?(.*)$")
_DECORATOR = re.compile(r"[ \t]*(?:@\w|#\[|template\b)")
_TYPE = re.compile(r"\b(?:class|struct|interface|enum|trait|union|namespace|mod|record|type)\b")
_TAG = re.compile(r"^@(\w+)[ \t]*(?:\{([^}]*)\})?[ \t]*(.*)$")
_EXPORTED = re.compile(
    r"\bexport\s{0,9}\{([^{}]{0,5000})\}|\bexports\.(\w{1,99})"
    r"|module\.exports\s{0,9}=\s{0,9}\{?([^{;}]{0,5000})"
)
_WORD = re.compile(r"[^\W\d]\w*")
_LICENCE = re.compile(r"copyright|licen[cs]e|SPDX", re.IGNORECASE)


def read_program_reference(documents: Sequence[Document]) -> CodeReference:
    r"""Return the public names of programs.

    Args:
        documents: Documents; those in other formats are left out.

    Raises:
        ImportError: The grammar of a language is not installed.

    Example:
        >>> text = "// Cut cuts wood.\nfunc Cut(w Wood) {}\n\nfunc saw(w Wood) {}\n"
        >>> found = read_program_reference([Document("kit.go", text, format="go")])
        >>> [(entry.signatures, entry.docs[0].text) for entry in found.walk()]
        [(('func Cut(w Wood)',), 'Cut cuts wood.')]
    """
    own = [one for one in documents if one.format in LANGUAGES]
    examples = frozenset(one.id for one in own if is_example(one.id))
    documented = [one for one in own if one.id not in examples] or own
    documented = [one for one in documented if not PurePosixPath(one.id).name.startswith("_")]
    modules = tuple(_Program.read(one).module() for one in documented)
    return CodeReference(
        tuple(module for module in modules if module.entries),
        frozenset(one.id for one in own),
        examples if len(examples) < len(own) else frozenset(),
    )


class _Node(NamedTuple):
    """A definition with its text and its members."""

    definition: Definition
    start: int
    end: int
    name: str


@dataclass(frozen=True)
class _Program:
    """A program and what it defines."""

    document: Document
    nodes: tuple[_Node, ...]
    exported: frozenset[str]

    @classmethod
    def read(cls, document: Document) -> _Program:
        tagged = read_tags(
            CodeFile(document.id, document.format, document.id, False, document.text)
        )
        nodes = tuple(
            _Node(one, tagged.places(one.start), tagged.places(one.end), one.name)
            for one in tagged.definitions
        )
        exported = {
            word
            for match in _EXPORTED.finditer(document.text)
            for group in match.groups()
            for word in _WORD.findall(group or "")
        }
        return cls(document, nodes, frozenset(exported))

    def module(self) -> DocumentedModule:
        entries: dict[str, PublicName] = {}
        for node in self.nodes:
            owner = node.name.rpartition(".")[0]
            if node.name in entries or (
                owner and owner not in entries and not self._is_go_like(owner)
            ):
                continue
            if self._is_public(node, owner):
                entries[node.name] = self._entry(node)
        for name in sorted(entries, key=lambda name: -name.count(".")):
            owner = name.rpartition(".")[0]
            if owner in entries:
                member = replace(entries.pop(name), kind="method")
                around = entries[owner]
                members = sorted((*around.members, member), key=lambda one: one.place.line)
                entries[owner] = replace(around, kind="class", members=tuple(members))
        lines = self.document.text.count("\n") + 1
        docs = self._docs_of_file()
        place = SourcePlace(self.document.id, 1, lines)
        found = tuple(entries.values())
        return DocumentedModule(self.document.id, self.document.format, docs, place, found)

    def _is_go_like(self, owner: str) -> bool:
        """Return whether methods may stand in another file than their type, as in Go and Rust."""
        return self.document.format in ("go", "rust", "c", "cpp") and "." not in owner

    def _is_public(self, node: _Node, owner: str) -> bool:
        last, language = node.name.rpartition(".")[2], self.document.format
        head = self._signature(node)
        if last.startswith(("_", "#")):
            return False
        if language == "go":
            return all(part[:1].isupper() for part in node.name.split("."))
        if language == "rust":
            in_trait = node.definition.is_required
            return in_trait or re.match(r"pub\b(?!\s{0,9}\()", head) is not None
        if language == "java":
            return re.search(r"\bpublic\b", head.partition("(")[0]) is not None
        if language in SCRIPTS and not owner:
            is_script = "export" not in self.document.text
            return is_script or head.startswith("export") or last in self.exported
        if language in C_LIKE and not owner:
            return re.match(r"(?:\w+\s+)*static\b", head) is None
        return re.match(r"(?:private|protected)\b", head) is None

    def _entry(self, node: _Node) -> PublicName:
        signature = self._signature(node)
        text = self.document.text
        line = text.count("\n", 0, node.start) + 1
        kind: Kind = "class" if _TYPE.search(signature.partition("(")[0]) else "function"
        comment = self._comment_above(line - 1)
        path = f"{self.document.id}:{node.name}"
        return PublicName(
            name=node.name.rpartition(".")[2],
            kind=kind,
            path=path,
            defined_as=path,
            signatures=(signature,),
            language=self.document.format,
            docs=(DocSection(text=comment),) if comment else (),
            place=SourcePlace(self.document.id, line, text.count("\n", 0, node.end) + 1),
        )

    def _signature(self, node: _Node) -> str:
        """Return a definition up to its body; a short type as a whole, for it has no other body."""
        text = self.document.text
        begin = text.rfind("\n", 0, node.start) + 1
        begin = begin if _WORD.match(text[begin : node.start].strip() or "x") else node.start
        written = dedent(text[begin : node.end])
        head = _head(written)
        is_type = _TYPE.search(head.partition("(")[0]) is not None
        has_members = any(node.start < one.start < node.end for one in self.nodes)
        if is_type and not has_members and written.count("\n") < MAX_DECLARATION:
            return written.strip()
        return head[:MAX_SIGNATURE]

    def _comment_above(self, line: int) -> str:
        """Return the comment that ends above a line, counted from 0, without its marks."""
        lines = self.document.text.split("\n")
        i = line - 1
        while i >= 0 and _DECORATOR.match(lines[i]):
            i -= 1
        return _comment(lines, i)

    def _docs_of_file(self) -> tuple[DocSection, ...]:
        lines = self.document.text.split("\n")
        if self.document.format == "rust":
            inner = [line[3:].removeprefix(" ") for line in lines if line.startswith("//!")]
            return (DocSection(text="\n".join(inner)),) if inner else ()
        end = next((i for i, line in enumerate(lines) if not line.strip()), len(lines))
        comment = (
            _comment(lines, end - 1) if lines[:1] and lines[0].lstrip().startswith("/") else ""
        )
        return (DocSection(text=comment),) if comment and not _LICENCE.search(comment) else ()


def _head(text: str) -> str:
    """Return a definition up to its body."""
    depth = 0
    for i, sign in enumerate(text[: 4 * MAX_SIGNATURE]):
        if sign in "([<" and text[i - 1 : i + 1] != "<-":
            depth += 1
        elif sign in ")]>" and text[i - 1 : i + 1] not in ("=>", "->"):
            depth = max(depth - 1, 0)
        elif depth == 0 and (sign in "{;" or text[i : i + 2] == "=>"):
            return text[:i].rstrip(" \t\n=:")
    return text.split("\n")[0].rstrip()


def _comment(lines: Sequence[str], last: int) -> str:
    """Return the comment whose last line is given, without its marks."""
    if last < 0:
        return ""
    found = list[str]()
    if lines[last].rstrip().endswith("*/"):
        while last >= 0:
            found.insert(0, lines[last])
            if "/*" in lines[last]:
                break
            last -= 1
        text = "\n".join(found)
        inner = text.strip().removeprefix("/").lstrip("*").removeprefix("!").removesuffix("/")
        inner = inner.rstrip("*").strip(" \t").rstrip()
        found = [re.sub(r"^[ \t]*\*(?!/)[ ]?", "", line) for line in inner.split("\n")]
    else:
        while (
            last >= 0 and (match := _COMMENT_LINE.match(lines[last])) and "*" not in lines[last][:2]
        ):
            if not lines[last].lstrip().startswith("//"):
                break
            found.insert(0, match[1])
            last -= 1
    return "\n".join(_with_fields(found)).strip()


def _with_fields(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a comment, with the tags of JSDoc and Javadoc as fields."""
    example = list[str]()
    in_example = False
    for line in lines:
        tag = _TAG.match(line.strip())
        if tag is None:
            if in_example:
                example.append(line)
            else:
                yield line
            continue
        if in_example:
            yield from _fenced(example)
            example, in_example = [], False
        name, type, rest = tag[1], tag[2] or "", tag[3]
        if name == "example":
            in_example = True
            yield "Example:"
        elif name == "param":
            word, _, text = rest.partition(" ")
            yield f":param {type} {word.strip('[]')}: {text.removeprefix('- ')}".replace("  ", " ")
        else:
            yield f":{name}{f' {type}' if type else ''}: {rest.removeprefix('- ')}"
    if in_example:
        yield from _fenced(example)


def _fenced(lines: Sequence[str]) -> Iterator[str]:
    text = "\n".join(lines).strip("\n")
    if text.lstrip().startswith("```"):
        yield text
    elif text:
        yield from ("", "```", text, "```", "")
