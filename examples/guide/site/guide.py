"""What the pages of the guide need beside Sphinx: drawings, tables and names out of clew itself.

A page has blocks of its own:

- `{drawing} NAME`: what the page's Python calls NAME, a context, as clew draws it. The Python of
  the page is run in the order of reading when the site is built.
- `{names} MODULE`: all public names of a module with their docstrings.
- `{about} MODULE`: the docstring of a module alone.
- `{settings} CLASS`: a class with its fields, which the reference has, too.
- `{page} FILE HEADING`: another page of the repository, from a heading on if there is one.
- `{recipes}`: a list of all recipes, and when to choose each.
- `{departures} RECIPE`: in what the recipe that is named without `_paper` differs from its paper.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import os
import re
import types
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from blocks import Block, Reader, blocks_of, in_samples
from docutils import nodes
from docutils.parsers.rst.states import Inliner
from docutils.utils.math.latex2mathml import tex2mathml
from public import homes, modules, names_of
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.domains.python import PyObject
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

import clew

FOLDER = Path(__file__).parents[1]
ROOT = FOLDER.parents[1]
PAGES = {
    "CHANGELOG.md": "changelog",
    "CONTRIBUTING.md": "own-stage",
    "SECURITY.md": "security",
    "examples/harbour": "samples",
    "integrations/langchain-clew/README.md": "reference/langchain-clew",
    "integrations/llama-index-postprocessor-clew/README.md": (
        "reference/llama-index-postprocessor-clew"
    ),
    "integrations/llama-index-retrievers-clew/README.md": "reference/llama-index-retrievers-clew",
    "tests/benchmarks/README.md": "measured",
    "tests/benchmarks/everyday/README.md": "measured-everyday",
    **{
        f"tests/benchmarks/measured/{path.name}": f"measured/{path.stem}"
        for path in (FOLDER / "measured").glob("*.md")
    },
}
"""The pages of the repository that are pages of the site, too."""
CODE = re.compile(r"(^```.*?^```$|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([\w./#-]+)\)")
DOTTED = re.compile(r"[A-Za-z_][\w.]*(\(\))?")
SECTION = re.compile(r"(Args|Attributes|Example|Examples|Glossary|Raises|Returns|Yields):")
ITEM = re.compile(r"- |\d+\. ")
MIN_SCALE = 0.8  # of a drawing where it is wider than the page: then it scrolls
MAX_VALUE = 90  # letters of a constant's value
log = logging.getLogger(__name__)


def read_source(app: Sphinx, docname: str, source: list[str]) -> None:
    """Replace the blocks that this module knows; run the page's code where it is drawn from."""
    source[0] = with_links(source[0], FOLDER / f"{docname}.md", docname)
    own = {"{drawing}", "{names}", "{about}", "{settings}", "{departures}", "{recipes}", "{page}"}
    blocks = blocks_of(source[0])
    if not any(block.language in own for block in blocks):
        return
    drawn = any(block.language == "{drawing}" for block in blocks)
    with in_samples() if drawn else contextlib.nullcontext():
        reader, parts, at = Reader(), [], 0
        for block in blocks:
            if block.language in own:
                parts += [source[0][at : block.start], *made_of(app, docname, block, reader)]
                at = block.end
            elif drawn:
                reader.carry_out(block)
    source[0] = "".join([*parts, source[0][at:]])


def made_of(app: Sphinx, docname: str, block: Block, reader: Reader) -> Iterator[str]:
    """Yield the Markdown that takes the place of a block."""
    if block.language == "{drawing}":
        yield from drawing(app, docname, block, reader.names[block.rest])
    elif block.language == "{departures}":
        rows = [(d.published, d.ours, d.brings) for d in clew.recipes.DEPARTURES[block.rest]]
        yield from table(("the paper", "ours", "what that brings"), rows)
    elif block.language == "{page}":
        yield other_page(docname, *block.rest.partition(" ")[::2])
    elif block.language == "{recipes}":
        for name, recipe in clew.recipes.RECIPES.items():
            yield f"- **`{name}`**: {recipe.summary}. *When:* {recipe.when}.\n"
    elif block.language == "{about}":
        yield (
            f"From the docstring of {{py:mod}}`{block.rest}`:\n\n```{{eval-rst}}\n"
            f".. container:: docstring\n\n   .. automodule:: {block.rest}\n      :no-index:\n```"
        )
    elif block.language == "{settings}":
        yield f"```{{eval-rst}}\n.. autoclass:: {block.rest}\n   :no-index:\n```"
    else:
        yield "\n".join(["```{eval-rst}", *names_in(block.rest), "```"])


def other_page(docname: str, path: str, heading: str) -> str:
    """Return a page of the repository as a part of this one.

    Args:
        docname: This page.
        path: Where the other one is, from here.
        heading: The line that it is read from, whose level becomes the second; "" for all of it.
    """
    file = (FOLDER / docname).parent / path
    text = file.read_text(encoding="utf-8")
    if heading:
        text = text[text.index(heading) :]
        parts = CODE.split(text)
        parts[::2] = [re.sub(r"^#(#+ )", r"\1", part, flags=re.MULTILINE) for part in parts[::2]]
        text = "".join(parts)
    return with_links(text, file.resolve(), docname)


def with_links(text: str, file: Path, docname: str) -> str:
    """Return a page whose links to other pages of the repository are links within the site.

    Args:
        text: The page.
        file: Where it is in the repository, from where its links count.
        docname: The page of the site that it becomes a part of.
    """

    def within(found: re.Match[str]) -> str:
        path, _, anchor = found[1].partition("#")
        target = Path(os.path.normpath(file.parent / path)) if path else file
        place = target.relative_to(ROOT).as_posix()
        if target.is_relative_to(FOLDER) and target.exists():
            page = target.relative_to(FOLDER).as_posix()
        elif place in PAGES:
            page = f"{PAGES[place]}.md"
        elif target.is_file():  # Sphinx lays a copy of it beside the pages
            page = os.path.relpath(target, FOLDER)
        else:
            raise ValueError(f"{file} links to {found[1]}, which is not in the repository")
        if not path:
            return found[0]
        return f"]({os.path.relpath(page, Path(docname).parent)}{'#' if anchor else ''}{anchor})"

    parts = CODE.split(text)
    parts[::2] = [LINK.sub(within, part) for part in parts[::2]]
    return "".join(parts)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield a table in Markdown."""
    yield f"| {' | '.join(head)} |\n|{'---|' * len(head)}\n"
    for cells in rows:
        yield f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |\n"


def drawing(app: Sphinx, docname: str, block: Block, context: object) -> Iterator[str]:
    """Yield a figure with the drawing of a context; the whole page of it is a file beside it."""
    assert isinstance(context, clew.Context), f"{docname}: {block.rest} is no context"
    page = context.to_html()
    name = f"{docname.replace('/', '-')}-{block.rest}.html"
    folder = Path(app.outdir) / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(page, encoding="utf-8")
    svg = re.search(r'<svg class="drawing".*?</svg>(?=</div>)', page, re.DOTALL)
    assert svg is not None, f"{docname}: {block.rest} has nothing to draw"
    svg_alone = re.sub(r"</?a\b[^>]*>", "", svg[0])  # its links lead to items of the whole page
    width = re.search(r'width="([\d.]+)"', svg_alone)
    assert width is not None
    style = f'style="min-width: {MIN_SCALE * float(width[1]):.0f}px" '
    svg_alone = svg_alone.replace("<svg ", f"<svg {style}", 1)
    caption = re.sub(r"`(.+?)`", r"<code>\1</code>", " ".join(block.text.split()))
    link = f"{'../' * docname.count('/')}pictures/{name}"
    yield (
        '```{raw} html\n<figure class="clew"><div class="clew-scroll" tabindex="0" role="region" '
        f'aria-label="The drawing">{svg_alone}</div><figcaption>{caption} '
        f'<a href="{link}">The whole page</a> has the texts, the reasons and the budget.'
        "</figcaption></figure>\n```"
    )


def names_in(module: str) -> Iterator[str]:
    """Yield reStructuredText that documents each public name of a module, once on the site."""
    yield from (f".. automodule:: {module}", "")
    elsewhere = []
    for name, value in names_of(module):
        if isinstance(value, types.ModuleType):
            elsewhere.append(f":py:mod:`{value.__name__}`")
        elif (home := homes().get(id(value), (module, name))) != (module, name):
            elsewhere.append(f":py:obj:`{'.'.join(home)}`")
        else:
            yield from documented(module, name, value)
    if elsewhere:
        yield from (f"Also here: {', '.join(elsewhere)}.", "")


def documented(module: str, name: str, value: object) -> Iterable[str]:
    """Return the directive for one name."""
    path = f"{module}.{name}"
    if inspect.isclass(value):
        kind = "exception" if issubclass(value, BaseException) else "class"
        return (f".. auto{kind}:: {path}", "   :members:", "")
    if inspect.isroutine(value):
        return (f".. autofunction:: {path}", "")
    shown = ("",) if len(repr(value)) <= MAX_VALUE else ("   :no-value:", "")
    return (f".. autodata:: {path}", *shown)


def add_aliases(app: Sphinx, env: BuildEnvironment) -> None:
    """Let the inventory have each public name, wherever its documentation is."""
    domain = env.domains.python_domain
    for module in modules():
        for name, value in names_of(module):
            path, home = f"{module}.{name}", ".".join(homes().get(id(value), (module, name)))
            if isinstance(value, types.ModuleType) or path in domain.objects:
                continue
            if home in domain.objects:
                domain.objects[path] = domain.objects[home]._replace(aliased=True)
            else:
                log.warning("no page has {names} %s, where %s is", home.rpartition(".")[0], path)


def as_markdown(
    app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]
) -> None:
    """Let a docstring's indented blocks and lists be what they are in Markdown.

    A constant that has no docstring has none of its type, either.
    """
    if what == "data" and inspect.cleandoc("\n".join(lines)) in docstrings_of_type(value):
        lines.clear()
    lines[:] = tables_as_lists(lines)
    above, found, inside = "", [], False
    for at, line in enumerate(lines):
        is_below = at > 0 and bool(lines[at - 1].strip())
        starts = line.startswith("    ") and not is_below
        if starts and not inside and above[:1].strip() and not SECTION.fullmatch(above):
            found += ["::", ""]
            inside = True
        inside = inside and (not line.strip() or line.startswith(" "))
        if ITEM.match(line) and is_below and not ITEM.match(above) and not above.startswith(" "):
            found.append("")
        above = line if line.strip() else above
        found.append(line)
    lines[:] = found


def shorter_signature(
    app: Sphinx,
    what: str,
    name: str,
    value: object,
    options: object,
    signature: str | None,
    returned: str | None,
) -> tuple[str, str | None] | None:
    """Show the fields of a Pydantic model without its validators, and nothing of a protocol."""
    if what != "class" or signature is None:
        return None
    if getattr(value, "_is_protocol", False):
        return "", None
    fields = getattr(value, "model_fields", None)
    if fields is None:
        return None
    shown = (
        f"{field}={info.get_default(call_default_factory=True)!r}" for field, info in fields.items()
    )
    return f"(*, {', '.join(shown)})", None


def is_left_out(
    app: Sphinx, what: str, name: str, value: object, skip: bool, options: object
) -> bool | None:
    """Leave out how Pydantic is configured."""
    return True if name == "model_config" else None


def tables_as_lists(lines: Sequence[str]) -> list[str]:
    """Return lines with the tables of Markdown as those of reStructuredText.

    A row whose first cell is empty goes on with the row above it. Other bars stand for themselves.
    """
    found: list[str] = []
    rows: list[list[str]] = []
    for line in [*lines, ""]:
        if line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("| ").split("|")]
            cells = [""] * (line.count("|") - 1 - len(cells)) + cells
            if rows and not cells[0]:
                rows[-1] = [" ".join(pair).strip() for pair in zip(rows[-1], cells, strict=True)]
            elif set(line) - set("|- "):
                rows.append(cells)
            continue
        if rows:
            found += [".. list-table::", "   :header-rows: 1", ""]
            for row in rows:
                cells = [re.sub(r"^-", r"\\-", cell) for cell in row]
                found += [f"   {'  ' if i else '* '}- {cell}" for i, cell in enumerate(cells)]
            found.append("")
            rows = []
        is_literal = ">>>" in line or line.startswith("    ")
        found.append(line if is_literal else re.sub(r"\|(\w+)\|", r"\\|\1\\|", line))
    return found


def docstrings_of_type(value: object) -> set[str]:
    """Return what stands at the type of a value, not at the value."""
    texts = (inspect.getdoc(value), inspect.getdoc(type(value)), type(value).__doc__)
    return {inspect.cleandoc(text) for text in texts if text}


def name_role(
    role: str, rawtext: str, text: str, lineno: int, inliner: Inliner, *_: object, **__: object
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Link the backquoted name of something of clew; show everything else as it stands."""
    literal = nodes.literal(rawtext, text)
    env = inliner.document.settings.env
    if not DOTTED.fullmatch(text):
        return [literal], []
    target = text.removesuffix("()")
    if target.startswith("clew.") and not exists(target):
        log.warning("nothing is called %s", text, location=(env.docname, lineno))
    is_sure = "." in target or target[0].isupper()  # a parameter may be called as a function is
    reference = addnodes.pending_xref(
        rawtext,
        literal,
        refdomain="py",
        reftype="obj",
        reftarget=target,
        refexplicit=False,
        refwarn=False,
        **{"py:module": env.ref_context.get("py:module")},
        **{"py:class": env.ref_context.get("py:class")},
        **({"refspecific": True} if is_sure else {}),
    )
    return [reference], []


@cache
def exists(path: str) -> bool:
    """Return whether a dotted name is a module or something in one."""
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        try:
            value: object = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            fields = getattr(value, "__dataclass_fields__", {})
            if not hasattr(value, part) and part not in fields:
                return False
            value = getattr(value, part, None)
        return True
    return False


def inline_math(translator: HTML5Translator, node: nodes.math) -> None:
    """Write a formula in a line as MathML, which browsers draw by themselves."""
    translator.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def display_math(translator: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula of its own as MathML."""
    rows: Sequence[str] = [row for row in node.astext().split("\n\n") if row.strip()]
    for row in rows:
        translator.body.append(f'<div class="math">{tex2mathml(row, as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx what there is."""
    for kind in PyObject.doc_field_types:
        if kind.name == "variable":
            kind.label = "Fields"
    app.connect("source-read", read_source)
    app.connect("env-updated", add_aliases)
    app.connect("autodoc-skip-member", is_left_out)
    app.connect("autodoc-process-signature", shorter_signature)
    app.connect("autodoc-process-docstring", as_markdown, priority=100)
    app.add_role("name", name_role)
    app.add_html_math_renderer("mathml", (inline_math, None), (display_math, None))
    return {"parallel_read_safe": False, "parallel_write_safe": True}
