"""Definitions and references in a program, by the tags of its grammar.

The wheels of tree-sitter's grammars ship queries that tag what defines and what refers by name, as
code hosts use them to navigate (https://tree-sitter.github.io/tree-sitter/4-code-navigation.html).
What they leave out of calls and base classes is added here. Documentation is not asked for: the
patterns for it take time that grows with the square of a run of comments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from clew.read.extract.code.code_file import CALLS, INHERITS, CodeFile
from clew.read.formats.source_code import (
    SyntaxNode,
    byte_places,
    find_grammar,
    parse_source,
)
from clew.text.code_languages import LANGUAGES

_DOCUMENTATION = re.compile(
    r"\(comment\)\* @doc\s*\.|\(#(?:strip|select-adjacent|set-adjacent)![^)]*\)"
)
_WORD = re.compile(r"[^\W\d][\w-]*")
MORE_TAGS = {  # beside the grammar's own
    "javascript": "(class_heritage (identifier) @name) @reference.implementation",
    "typescript": """
        (extends_clause value: (identifier) @name) @reference.implementation
        (implements_clause (type_identifier) @name) @reference.implementation
        (implements_clause (generic_type name: (type_identifier) @name)) @reference.implementation
        (extends_type_clause type: (type_identifier) @name) @reference.implementation
        (extends_type_clause type: (generic_type name: (type_identifier) @name))
            @reference.implementation""",
    "java": """
        (constructor_declaration name: (identifier) @name) @definition.method
        (enum_declaration name: (identifier) @name) @definition.class
        (record_declaration name: (identifier) @name) @definition.class
        (superclass (generic_type (type_identifier) @name)) @reference.implementation
        (type_list (generic_type (type_identifier) @name)) @reference.implementation
        (object_creation_expression type: (generic_type (type_identifier) @name))
            @reference.class""",
    "go": """
        (method_elem name: (field_identifier) @name) @definition.method
        (interface_type (type_elem . (type_identifier) @name .)) @reference.implementation
        (interface_type (type_elem . (generic_type type: (type_identifier) @name) .))
            @reference.implementation
        (field_declaration !name type: (type_identifier) @name) @reference.implementation
        (field_declaration !name type: (generic_type type: (type_identifier) @name))
            @reference.implementation""",
    "rust": """
        (function_signature_item name: (identifier) @name) @definition.method
        (impl_item trait: (generic_type type: (type_identifier) @name)) @reference.implementation
        (call_expression function: (scoped_identifier name: (identifier) @name)) @reference.call""",
    "c": "(call_expression function: (identifier) @name) @reference.call",
    "cpp": """
        (call_expression function: (identifier) @name) @reference.call
        (call_expression function: (field_expression field: (field_identifier) @name))
            @reference.call
        (call_expression function: (qualified_identifier name: (identifier) @name)) @reference.call
        (new_expression type: (type_identifier) @name) @reference.class
        (base_class_clause (type_identifier) @name) @reference.implementation
        (base_class_clause (qualified_identifier name: (type_identifier) @name))
            @reference.implementation
        (base_class_clause (template_type name: (type_identifier) @name))
            @reference.implementation""",
}
MORE_TAGS["tsx"] = MORE_TAGS["typescript"]
BASES = ("superclass", "type_list")  # tagged as classes, but inherited from
RECEIVERS = (
    "object",
    "operand",
    "value",
    "argument",
    "path",
    "scope",
)  # what a method is called on
IMPORTS_OF = (
    *("import_statement", "import_declaration", "use_declaration", "preproc_include"),
    *("mod_item", "package_declaration"),
)
DECLARATIONS = ("function_definition", "declaration", "field_declaration")  # of C and C++
# What has a body only where it is not for others to define; in C++ what is `= 0`.
BODILESS = (
    *("method_signature", "abstract_method_signature", "function_signature_item"),
    *("method_declaration", "method_elem", "field_declaration"),
)
MAX_PARENTS = 6  # between the name of a function in C and its definition


class Definition(NamedTuple):
    """What a program defines.

    Attributes:
        start: Where it starts, in bytes.
        end: Where it ends.
        place: Where its name is.
        name: Its name, with those of what it is in.
        is_required: Whether it is a member without a body, for others to define.
        own_object: What a method in Go calls the object that it belongs to.
    """

    start: int
    end: int
    place: int
    name: str
    is_required: bool
    own_object: str = ""


class NamedReference(NamedTuple):
    """A name that refers to something.

    Attributes:
        place: Where the name is, in bytes.
        name: The name.
        relation: "calls" or "inherits from".
        receiver: What it is called on, such as "this"; "" where on nothing.
        scope: The name of the definition around it; "" for none.
    """

    place: int
    name: str
    relation: str
    receiver: str
    scope: str


@dataclass(frozen=True, eq=False)
class TaggedFile:
    """The definitions and references of a file.

    Attributes:
        file: The file.
        definitions: What it defines, by place.
        references: What it refers to.
        imported: The words of its imports.
        places: Offset in bytes -> place in the text.
    """

    file: CodeFile
    definitions: Sequence[Definition]
    references: Sequence[NamedReference]
    imported: frozenset[str]
    places: Callable[[int], int]


def defining(file: CodeFile, names: Iterable[str]) -> TaggedFile:
    """Return a file of which nothing is known but the names that it defines.

    Example:
        >>> file = CodeFile("a.c", "c", "a.c", False, "")
        >>> [definition.name for definition in defining(file, ["cut"]).definitions]
        ['cut']
    """
    definitions = [Definition(0, 0, 0, name, False) for name in names]
    return TaggedFile(file, definitions, (), frozenset(), byte_places(""))


def read_tags(file: CodeFile) -> TaggedFile:
    """Return the definitions and references of a file; none where its parser finds no sense.

    Raises:
        ImportError: The grammar of its language is not installed.
    """
    raw = file.text.encode("utf-8", "surrogatepass")
    root = parse_source(raw, file.format)
    if root is None:
        return TaggedFile(file, (), (), frozenset(), byte_places(""))
    found: dict[tuple[int, int], Definition] = {}
    named: list[tuple[SyntaxNode, str]] = []
    for node, name, tag in _tags(root, file.format):
        if tag.startswith("definition."):
            definition = _definition(node, name, raw)
            if definition is not None:
                found.setdefault((definition.place, definition.end), definition)
        elif relation := _relation(node, tag):
            named.append((name, relation))
    definitions = _nest(sorted(found.values(), key=lambda one: (one.start, -one.end)))
    references = sorted(
        {_reference(name, relation, raw) for name, relation in named}, key=lambda one: one.place
    )
    imports = " ".join(
        raw[node.start_byte : node.end_byte].decode("utf-8", "replace")
        for node in root.named_children
        if _is_import(node, raw)
    )
    return TaggedFile(
        file,
        definitions,
        _with_scopes(references, definitions),
        frozenset(_WORD.findall(imports)),
        byte_places(file.text),
    )


def _tags(root: SyntaxNode, language: str) -> Iterator[tuple[SyntaxNode, SyntaxNode, str]]:
    """Yield (node, its name, tag) for what the queries of a language tag."""
    import tree_sitter

    cursor: Any = tree_sitter.QueryCursor(_query(language))
    for _, captures in cursor.matches(root):
        names = captures.pop("name", ())
        for tag, nodes in captures.items():
            if names and tag.startswith(("definition.", "reference.")):
                yield nodes[0], names[0], tag


@lru_cache
def _query(language: str) -> Any:  # noqa: ANN401  # tree-sitter may be missing
    from tree_sitter import Query

    modules = [LANGUAGES[language].module]
    if language in ("typescript", "tsx"):  # its tags are an addition to those of JavaScript
        modules.append(LANGUAGES["javascript"].module)
    sources = [MORE_TAGS.get(language, "")]
    for module in modules:
        folder = Path(str(import_module(module).__file__)).parent / "queries"
        source = (folder / "tags.scm").read_text(encoding="utf-8")
        sources.append(_DOCUMENTATION.sub("", source))
    return Query(find_grammar(language), "\n".join(sources))


def _relation(node: SyntaxNode, tag: str) -> str:
    if tag == "reference.implementation" or node.type in BASES:
        return INHERITS
    parent = getattr(node, "parent", None)
    if tag == "reference.class" and parent is not None and parent.type in BASES:
        return INHERITS
    return CALLS if tag in ("reference.call", "reference.class") else ""


def _definition(node: SyntaxNode, name: SyntaxNode, raw: bytes) -> Definition | None:
    """Return a definition, with its body; None for a declaration of what is defined elsewhere."""
    own = _text(name, raw)
    outer = node
    if node.type == "function_declarator":  # in C the name is deep within the definition
        for _ in range(MAX_PARENTS):
            parent = getattr(outer, "parent", None)
            if parent is None or outer.type in DECLARATIONS:
                break
            outer = parent
        default = outer.child_by_field_name("default_value")
        is_pure = (
            outer.type == "field_declaration" and default is not None and _text(default, raw) == "0"
        )
        if outer.type != "function_definition" and not is_pure:
            return None
        scope = getattr(name, "parent", None)
        if scope is not None and scope.type == "qualified_identifier":
            own = _text(scope, raw).replace("::", ".")
    words = _words_of_owner(node, raw)
    own = f"{words[-1]}.{own}" if words else own
    has_body = outer.child_by_field_name("body") is not None
    is_required = not has_body and outer.type in BODILESS
    own_object = words[0] if len(words) > 1 else ""
    return Definition(
        outer.start_byte, outer.end_byte, name.start_byte, own, is_required, own_object
    )


def _words_of_owner(node: SyntaxNode, raw: bytes) -> list[str]:
    """Return the type that a method in Go or Rust belongs to, behind what Go calls its object."""
    receiver = node.child_by_field_name("receiver")
    if receiver is not None:
        return _WORD.findall(_text(receiver, raw).partition("[")[0])
    body = getattr(node, "parent", None)
    block = getattr(body, "parent", None)
    if block is None or block.type != "impl_item":
        return []
    of = block.child_by_field_name("type")
    return _WORD.findall(_text(of, raw).partition("<")[0])[-1:] if of is not None else []


def _reference(name: SyntaxNode, relation: str, raw: bytes) -> NamedReference:
    parent = getattr(name, "parent", None)
    receiver = ""
    if parent is not None and (relation == CALLS or parent.type == "qualified_identifier"):
        fields = (parent.child_by_field_name(field) for field in RECEIVERS)
        on = next((field for field in fields if field is not None), None)
        is_other = on is not None and on.start_byte < name.start_byte
        receiver = _text(on, raw)[:200] if on is not None and is_other else ""
    scope, trait = "", name
    if parent is not None and parent.type == "generic_type":
        trait, parent = parent, getattr(parent, "parent", None)
    if parent is not None and parent.type == "impl_item":
        of = parent.child_by_field_name("type")
        is_trait = parent.child_by_field_name("trait") == trait
        scope = _text(of, raw).partition("<")[0] if of is not None and is_trait else "-"
    return NamedReference(name.start_byte, _text(name, raw), relation, receiver, scope)


def _nest(definitions: Sequence[Definition]) -> list[Definition]:
    """Return definitions with the names of those around them."""
    nested: list[Definition] = []
    around: list[Definition] = []
    for definition in definitions:
        while around and around[-1].end <= definition.start:
            around.pop()
        inside = around[-1] if around else None
        if inside is not None and inside.end >= definition.end and inside.place != definition.place:
            definition = definition._replace(name=f"{inside.name}.{definition.name}")
        nested.append(definition)
        around.append(definition)
    return nested


def _with_scopes(
    references: Sequence[NamedReference], definitions: Sequence[Definition]
) -> list[NamedReference]:
    """Return references with the innermost definition around each."""
    scoped: list[NamedReference] = []
    around: list[Definition] = []
    waiting = list(reversed(definitions))
    for reference in references:
        while waiting and waiting[-1].start <= reference.place:
            around.append(waiting.pop())
            while len(around) > 1 and around[-2].end <= around[-1].start:
                del around[-2]
        while around and around[-1].end <= reference.place:
            around.pop()
        if reference.scope == "-":  # a block of methods, without a trait
            continue
        inside = around[-1].name if around else ""
        is_own = bool(around) and reference.receiver == around[-1].own_object != ""
        receiver = "self" if is_own else reference.receiver
        scoped.append(reference._replace(scope=reference.scope or inside, receiver=receiver))
    return scoped


def _is_import(node: SyntaxNode, raw: bytes) -> bool:
    if node.type in ("lexical_declaration", "variable_declaration"):
        return b"require(" in raw[node.start_byte : node.end_byte]
    if node.type == "export_statement":
        return node.child_by_field_name("source") is not None
    return node.type in IMPORTS_OF


def _text(node: SyntaxNode, raw: bytes) -> str:
    return raw[node.start_byte : node.end_byte].decode("utf-8", "replace")
