"""`clew document`: a folder of documents or code becomes a folder of documentation."""

from __future__ import annotations

import argparse
from contextlib import suppress
from pathlib import Path, PurePosixPath

import numpy as np

from clew.cli import models
from clew.cli.parser import Commands, add_command, positive_integer, share
from clew.cli.settings import add_settings_option, method_of
from clew.cli.source import add_reading_options, check_writable_folder, open_source
from clew.cli.terminal import counted, print_remark, print_result, shows_progress
from clew.document import Document
from clew.documentation import estimate_documentation, write_documentation
from clew.documentation.documentation import Documentation, earlier_pages
from clew.documentation.first_page import MAP_FILE
from clew.documentation.search_page import SEARCH_FILE
from clew.documentation.site_html import MARK
from clew.index.index import Index
from clew.recipes import DEFAULT, SECTIONS

BUDGET = 1500  # tokens of a section, unless the user says otherwise
COVERAGE = 0.8  # of the passages

EXAMPLES = """examples:
  clew document src/ -o docs/
  clew document src/ -o docs/ --sections 12 --by graph
  clew document notes.clew -o docs/ --title "Notes" --budget 800
  clew document . -o site/ --format html

Source code becomes a reference: a page for each module, with its documentation, the public names
(those of `__all__`, or else without a leading underscore), their signatures, docstrings and
examples, links to each line, and which other names use them. What tests and examples call is shown
with what it calls. Nothing is imported or run. Python needs the extra `document`, the other
languages the extra `code`; without it the code is shown in passages, and a remark says so.

Of prose, questions are asked on every branch of the documents: chapter and section. The questions
are clustered, and each cluster becomes a section with a summary, explanations, examples and
sources. Without a language model (--model) the sections are extracts."""


def add_parser(commands: Commands) -> None:
    """Declare the command and its options."""
    summary = "write documentation of a folder, from the questions it answers"
    parser = add_command(commands, "document", summary, EXAMPLES, document)
    parser.add_argument(
        "source",
        metavar="FOLDER|FILE|INDEX",
        help="what to document: source code, Markdown, HTML, text, or an index",
    )
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        type=Path,
        metavar="DIR",
        help="the folder to write to",
    )
    parser.add_argument(
        "--format",
        choices=("markdown", "html"),
        default="markdown",
        help="pages in Markdown, or a site that a browser shows without a network (default: "
        "markdown); both have a search page",
    )
    parser.add_argument(
        "--code",
        choices=("reference", "passages"),
        help="source code as pages of its public names, with signatures, documentation and what "
        "uses them, or as passages (default: reference; passages with --as-retrieved)",
    )
    parser.add_argument(
        "--title", metavar="TEXT", help="of the first page (default: the folder's name)"
    )
    parser.add_argument(
        "--recipe",
        metavar="NAME|FILE.toml",
        help="the method that finds the context of a section (default: the words and vectors of "
        f"each passage alone; with --set and without --recipe, {DEFAULT})",
    )
    parser.add_argument(
        "--budget",
        type=positive_integer,
        default=BUDGET,
        metavar="N",
        help=f"a section has at most N tokens (default: {BUDGET})",
    )
    parser.add_argument(
        "--sections",
        type=positive_integer,
        metavar="K",
        help="how many in the first round (default: as many as separate the questions best)",
    )
    parser.add_argument(
        "--cover",
        type=share,
        default=COVERAGE,
        metavar="SHARE",
        help=f"go on until this share of the passages is in a section (default: {COVERAGE})",
    )
    parser.add_argument(
        "--by",
        choices=("words", "graph", "transport"),
        default="words",
        help="what makes questions alike: their words, or what they do to the graph (transport: "
        "slower and more exact)",
    )
    parser.add_argument(
        "--as-retrieved",
        action="store_true",
        help="a section has what the recipe retrieved, and nothing else (default: its branches are "
        "completed, and what has nothing to do with them is left out)",
    )
    parser.add_argument(
        "--model",
        metavar=models.METAVAR,
        help=f"let this language model write; its answers stay in DIR.answers: {models.HELP}",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="say what a model would be asked; ask nothing and write nothing",
    )
    models.add_model_options(parser)
    add_settings_option(parser)
    add_reading_options(parser)


def document(options: argparse.Namespace) -> int:
    """Write the documentation, and print what is in it."""
    if not options.dry_run:
        earlier_pages(options.output)
        check_writable_folder(options.output)
    model = None
    if options.model is not None:  # a wrong model is an error before anything is read
        answers = options.output.with_name(f"{options.output.name}.answers")
        model = models.model_of(options.model, options, answers=answers)
    chosen = options.recipe or options.set
    code = options.code or ("passages" if options.as_retrieved else "reference")
    recipe = method_of(options.recipe or DEFAULT, options.set) if chosen else SECTIONS
    index = without_pages(open_source(options), options.source)
    if options.dry_run:
        estimate = estimate_documentation(
            index, recipe=recipe, budget=options.budget, sections=options.sections
        )
        print_result(
            f"about {estimate.calls:,} calls with {estimate.tokens:,} tokens at most in the first "
            "round, answers not counted"
        )
        return 0
    documentation = write_documentation(
        index,
        title=options.title or Path(options.source).resolve().name,
        model=model,
        recipe=recipe,
        budget=options.budget,
        sections=options.sections,
        coverage=options.cover,
        by=options.by,
        as_retrieved=options.as_retrieved,
        reference=code == "reference",
        progress=shows_progress(),
    )
    files = documentation.save(options.output, options.format)
    print_result(f"{options.output}: {_counts(documentation, index)}")
    print_result(
        f"begin with {files[0]}; {SEARCH_FILE} searches, {files[-1].name} is the map of the "
        "questions"
    )
    for task, reason in documentation.failed:
        print_remark(f"{task}: {reason}")
    if documentation.usage:
        print_remark(f"the language model: {documentation.usage}")
    return 0


def _counts(documentation: Documentation, index: Index) -> str:
    """Return how much there is on how many pages, and of how many passages."""
    reference, sections = documentation.reference, documentation.sections
    names = sum(1 for _ in reference.walk())
    pages = len({section.page for section in sections}) + len(reference.modules)
    topics = len(documentation.topics)
    counts = [counted(names, "public name")] if names else []
    counts += [counted(len(sections), "section")] if sections or not names else []
    counts += [counted(topics, "topic")] if topics else []
    text = f"{', '.join(counts)} on {counted(pages, 'page')}"
    if not sections and names:
        return text
    graph = index.graph
    is_passage = graph.content & ~graph.kinds.mask("sentence")
    of_code = sum(
        graph.ids[int(graph.documents[row])] in reference.documents
        for row in np.flatnonzero(is_passage & (graph.documents >= 0)).tolist()
    )
    passages = int(is_passage.sum()) - of_code
    covered = passages - len(documentation.uncovered)
    of_prose = " of prose" if names else ""
    return f"{text}, from {covered:,} of {counted(passages, 'passage')}{of_prose}"


def without_pages(index: Index, source: str) -> Index:
    """Return the index without what `clew document` wrote earlier; a remark says what that is.

    Args:
        index: What was read.
        source: What the user named.

    Raises:
        ValueError: There is nothing else in the index.
    """
    pages = [document.id for document in index.documents if _is_page(document)]
    if not pages:
        return index
    folders = {PurePosixPath(page).parent for page in pages}
    maps = [
        document.id
        for document in index.documents
        if PurePosixPath(document.id).name == MAP_FILE
        and PurePosixPath(document.id).parent in folders
    ]
    written = [*pages, *maps]
    if len(written) == len(index.documents):
        raise ValueError(
            f"{source} has nothing in it but documentation that `clew document` made: name what "
            "that was made of"
        )
    names = ", ".join(pages[:2]) + (", …" if len(written) > 2 else "")
    print_remark(f"left out: {len(written):,} files that `clew document` made ({names})")
    return index.delete(written)


def _is_page(document: Document) -> bool:
    """Return whether `clew document` wrote a document; one in HTML says so in its file alone."""
    if document.format in ("html", "markdown") and not document.text.startswith(MARK):
        with (
            suppress(OSError, ValueError, TypeError, KeyError),
            Path(document.metadata["path"]).open("rb") as file,
        ):
            return file.read(len(MARK)) == MARK.encode()
    return document.text.startswith(MARK)
