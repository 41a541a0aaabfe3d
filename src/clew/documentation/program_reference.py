"""The public names of programs in the languages of the extra `code`, by the tags of their grammars.

What is public is what a language marks so, as far as a definition shows it by itself: `export`,
`pub`, `public`, a capital in Go, what a trait or an interface has, and in C what is not `static`.
The documentation is the comment above a definition. Functions of one name are overloads.
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
from clew.documentation.markup import as_literal
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
_TYPES = frozenset(
    ("class", "struct", "interface", "enum", "trait", "union", "namespace", "mod", "record", "type")
)
_MENTIONED_ENUM = re.compile(r"enum\s+\w+")  # which the grammar of C takes for its definition
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
        if document.format in C_LIKE:
            nodes = _defined_once(nodes, document.text)
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
            if owner and owner not in entries and not self._is_go_like(owner):
                continue
            around = entries.get(owner)
            if around is not None and around.kind != "class" and "(" in around.signatures[0]:
                continue  # what a function defines for itself
            if self._is_public(node, owner, around):
                entry, before = self._entry(node), entries.get(node.name)
                entries[node.name] = entry if before is None else _with_overload(before, entry)
        for name in sorted(entries, key=lambda name: -name.count(".")):
            owner = name.rpartition(".")[0]
            if owner in entries:
                own, around = entries.pop(name), entries[owner]
                member = own if own.kind == "class" else replace(own, kind="method")
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

    def _is_public(self, node: _Node, owner: str, around: PublicName | None) -> bool:
        last, language = node.name.rpartition(".")[2], self.document.format
        head = self._signature(node)
        if last.startswith(("_", "#")):
            return False
        if language == "go":
            return all(part[:1].isupper() for part in node.name.split("."))
        if language == "rust":
            of_trait = around is not None and re.search(r"\btrait\b", around.signatures[0])
            return (
                node.definition.is_required
                or bool(of_trait)
                or re.match(r"pub\b(?!\s{0,9}\()", head) is not None
            )
        if language == "java":
            if around is not None and re.search(r"\binterface\b", around.signatures[0]):
                return re.match(r"private\b", head) is None
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
        kind: Kind = "class" if _is_type(signature, node.name) else "function"
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
        before = text[begin : node.start].strip() or "x"
        begin = begin if _WORD.match(before) and not set(before) & set("{};") else node.start
        written = dedent(text[begin : node.end])
        head = _head(written)
        is_type = _is_type(head, node.name)
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
        is_rust = self.document.format == "rust"
        return _comment(lines, i, "//!" if is_rust else None)  # which is on what is around it

    def _docs_of_file(self) -> tuple[DocSection, ...]:
        lines = self.document.text.split("\n")
        if self.document.format == "rust":
            inner = [line[3:].removeprefix(" ") for line in lines if line.startswith("//!")]
            return (DocSection(text="\n".join(inner)),) if inner else ()
        if self.document.format == "go":  # the comment on a package stands right above its name
            end = next((i for i, line in enumerate(lines) if line.startswith("package ")), 0)
            comment = _comment(lines, end - 1)
            return (DocSection(text=comment),) if comment and not _LICENCE.search(comment) else ()
        end = next((i for i, line in enumerate(lines) if not line.strip()), len(lines))
        comment = (
            _comment(lines, end - 1) if lines[:1] and lines[0].lstrip().startswith("/") else ""
        )
        return (DocSection(text=comment),) if comment and not _LICENCE.search(comment) else ()


def _defined_once(nodes: Sequence[_Node], text: str) -> tuple[_Node, ...]:
    """Return the definitions of C without mentions of an enum, and each `typedef` once.

    `typedef struct point {...} point;` names one type twice, the one within the other.
    """
    typedefs = {one.name for one in nodes if text.startswith("typedef", one.start)}

    def is_again(node: _Node) -> bool:
        owner, _, last = node.name.rpartition(".")
        return owner in typedefs and owner.rpartition(".")[2] == last

    return tuple(
        one
        for one in nodes
        if not _MENTIONED_ENUM.fullmatch(text, one.start, one.end) and not is_again(one)
    )


def _is_type(head: str, name: str) -> bool:
    """Return whether a definition up to its body is that of a type.

    The word of a type may also be that of a result, or the name itself: `struct box *new_box(`.
    """
    before, parenthesis, _ = head.partition("(")
    words = _WORD.findall(_without_generics(before))
    last = name.rpartition(".")[2]
    if parenthesis and words[-1:] == [last]:  # a function, or a type such as `record Point(int x)`
        return bool(_TYPES.intersection(words[-2:-1]))
    return any(word in _TYPES and word != last for word in words)


def _without_generics(head: str) -> str:
    """Return a head without what stands between its first "<" and its last ">"."""
    start, end = head.find("<"), head.rfind(">")
    return head if not 0 <= start < end else f"{head[:start]} {head[end + 1 :]}"


def _with_overload(before: PublicName, other: PublicName) -> PublicName:
    """Return an entry with the signature and the documentation of another of the same name."""
    signature = other.signatures[0]
    called = signature.partition("(")[0].rstrip()
    is_outside = other.language == "cpp" and called.endswith(f"::{other.name}")
    if "class" in (before.kind, other.kind) or signature in before.signatures or is_outside:
        return before
    own = [one for one in other.docs if all(one.text != known.text for known in before.docs)]
    more = (replace(one, title=as_literal(signature)) for one in own)
    return replace(before, signatures=(*before.signatures, signature), docs=(*before.docs, *more))


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


def _comment(lines: Sequence[str], last: int, other: str | None = None) -> str:
    """Return the comment whose last line is given, without its marks.

    Args:
        lines: The lines of the program.
        last: The number of the last line.
        other: The mark of comments that say nothing of what is below them.
    """
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
            stripped = lines[last].lstrip()
            if not stripped.startswith("//") or (other and stripped.startswith(other)):
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
