"""`clew ask`: the context for a question, and where it comes from."""

from __future__ import annotations

import argparse
import shlex
import warnings
from dataclasses import is_dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from clew import recipes
from clew.cli import models
from clew.cli.databases import open_remote, open_several
from clew.cli.parser import Commands, add_command, question
from clew.cli.question_options import (
    add_question_options,
    add_source,
    chosen_method,
    question_parameters,
)
from clew.cli.report import (
    explanation,
    nothing_in_words,
    print_answer,
    print_sources,
    rejects_all,
)
from clew.cli.source import (
    STDIN,
    add_reading_options,
    is_saved,
    one_or_several,
    open_source,
    refuse_building_options,
)
from clew.cli.terminal import print_json, print_mermaid, print_remark, print_result
from clew.context import Context, fallbacks
from clew.conversation import ALONE, NOTHING, TOO_LONG, Conversation
from clew.index.answer import UnusedModelWarning
from clew.index.index import Index
from clew.index.question import DEFAULT_BUDGET
from clew.index.saving import is_remote
from clew.render import STYLES
from clew.show import check_writable
from clew.types import Method
from clew.usage import NO_USAGE, metered

NOTHING_FOUND = 1  # the exit code
MODEL_LIBRARY = "sentence_transformers"  # which loads the models that --embedder names

EXAMPLES = """examples:
  clew ask docs/ "How do I cancel a running job?"          the context, then its sources
  clew ask docs/ "..." --budget 500 --explain              why each item is there, what was left out
  clew ask docs/ README.md "..."                           several folders and files
  clew ask docs/ "..." --include '*.md' --exclude drafts/  some of the files
  clew ask docs/ "..." --names --style numbered            names and facts are used; items numbered
  clew ask docs/ "..." --where file_name=jobs.md --where file_name=queues.md
  clew ask docs/ "What is all of this about?" --reports --recipe global    reports on the corpus
  clew ask docs/ "..." --recipe agrag --set select.variant=sum       any parameter of a recipe
  clew ask docs/ "..." --answer                            the sentences that answer, with sources
  clew ask 'postgresql://anna@host/db?index=docs' "..."    an index in a database
  clew ask s3://bucket/docs "..."                          an index in a storage (extra storage)
  clew ask docs.clew notes.clew "..."                      several indexes as one, also shards
  man tar | clew ask - "How do I list an archive?" --answer          what comes in on stdin
  clew ask docs/ "..." --json | jq '.items[].id'
  clew ask docs/ "..." --html why.html                     a page that shows the path to every item

Several indexes are asked as one where no two have a file of the same path in their folders;
several folders are told apart: clew ask docs/ notes/ "..."

The next question on a folder reads what has changed alone; `clew cache` shows what is kept for it.
The context goes to stdout, remarks to stderr."""


def add_parser(commands: Commands) -> None:
    """Declare the command and its options."""
    summary = "make the context for a question, from a folder, a file or an index"
    parser = add_command(commands, "ask", summary, EXAMPLES, ask)
    add_source(parser, "FOLDER|FILE|INDEX", "; - reads stdin", several=True)
    parser.add_argument("question", type=question, help="the question, in quotes")
    add_question_options(parser, DEFAULT_BUDGET)
    models.add_model_options(parser, "the language model, for recipes that ask one")
    parser.add_argument(
        "--style", choices=STYLES, help="how the context is written (default: as the recipe has it)"
    )
    output = parser.add_mutually_exclusive_group()
    output.add_argument(
        "--answer",
        action="store_true",
        help="the answer and what it cites: what --model writes, or without one the sentences that "
        "answer",
    )
    output.add_argument("--sources", action="store_true", help="only where the context is from")
    output.add_argument("--json", action="store_true", help="the whole context, as JSON")
    output.add_argument(
        "--mermaid",
        action="store_true",
        help="the path from the question to every item, as a Mermaid flowchart",
    )
    parser.add_argument("--html", type=Path, metavar="FILE", help="also write a page to look at")
    parser.add_argument(
        "--explain",
        action="store_true",
        help="say why every item is there, what was left out, and how long each stage took",
    )
    add_reading_options(parser, cached=True)


def _check_order(sources: list[str], question: str) -> None:
    """Raise FileNotFoundError where the question came first, as it does for grep."""
    first, *others = sources
    is_source = first == STDIN or is_saved(first) or Path(first).expanduser().exists()
    if not is_source and Path(question).expanduser().exists():
        typed = shlex.join(["clew", "ask", *others, question, first])
        raise FileNotFoundError(
            f"there is no file or folder {first!r}; the question comes last: {typed}"
        )


def ask(options: argparse.Namespace) -> int:
    """Print the context for the question; the exit code is 1 where nothing was found, as grep's is.

    So it is where the answer is that the files say nothing.

    A wrong recipe, filter or model, and a place that no page can be written to, is an error before
    anything is read.
    """
    _check_order(options.source, options.question)
    options.source = one_or_several(options.source, indexes=True)
    if options.html:
        check_writable(options.html)
    method = _with_style(chosen_method(options), options)
    model, is_answered, usage = models.typed_model(options), True, NO_USAGE
    asked: Any = {"recipe": method, "model": model, **question_parameters(options)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnusedModelWarning)  # it is a remark here
        if _is_pulled_from(options):
            refuse_building_options(options)
            several = isinstance(options.source, list)
            with open_several(options) if several else open_remote(options) as opened:
                context, index = opened.ask(options.question, **asked), None
        else:
            index = open_source(options)
            conversation = Conversation.of(index, **asked)
            if options.answer:
                with metered() as meter:  # of the context and of the answer
                    print_answer(f"{ALONE}{options.question}", conversation)
                context, usage = conversation.turns[-1].context, meter.usage
                is_answered = conversation.turns[-1].answer not in (NOTHING, TOO_LONG)
            else:
                context = index.ask(options.question, options=conversation.options)
    if context.nothing_found:
        print_remark(nothing_in_words(context, index) + _hint_at_models(context, index, options))
    elif options.recipe is not None or (options.model is not None and not options.answer):
        for fallback in fallbacks(context):
            print_remark(fallback)
    if usage := usage or context.usage:
        print_remark(f"the language model: {usage}")
    _print_context(context, options)
    return 0 if context.items and is_answered else NOTHING_FOUND


def _is_pulled_from(options: argparse.Namespace) -> bool:
    """Return whether a question pulls what it needs of an index in a database, or of several.

    Raises:
        ValueError: The answer alone is wanted of several.
    """
    if not isinstance(options.source, list):
        return is_remote(options.source) and not options.answer
    if not is_saved(options.source):
        return False
    if options.answer:
        raise ValueError("--answer asks one index; several are asked for the context")
    return True


def _print_context(context: Context, options: argparse.Namespace) -> None:
    """Print the context in the form that the options name, and write the page to look at."""
    if options.html:
        context.to_html(options.html)
        print_remark(f"wrote {options.html}")
    if options.json:
        print_json(context.to_dict(), indent=2)
    elif options.mermaid:
        print_mermaid(context.to_mermaid().rstrip())
    elif options.sources:
        if context.items:
            print_sources(context)
    elif not options.answer and context.items:
        print_result(f"{context.text}\n")
        print_sources(context)
    if options.explain and not (options.json or options.mermaid):
        print_result(f"\n{explanation(context)}")


def _hint_at_models(context: Context, index: Index | None, options: argparse.Namespace) -> str:
    """Return the hint that a model may find what is said in other words, where one could be used.

    Source code is asked for by its names, and an index keeps the embedder that it was made with.
    """
    if index is None:
        return ""
    is_of_use = not (options.embedder or rejects_all(context) or index.is_of_code)
    if not is_of_use or is_saved(options.source) or find_spec(MODEL_LIBRARY) is None:
        return ""
    return "; --embedder NAME finds what is said in other words"


def _with_style(method: Method, options: argparse.Namespace) -> Method:
    """Return the method, with its context written in another style if one was typed."""
    if options.style is None:
        return method
    if not is_dataclass(method) or not hasattr(method, "render"):
        recipe = options.recipe or recipes.DEFAULT
        raise ValueError(f"the recipe {recipe!r} has a style of its own: leave --style out")
    changed: Any = method
    styled: Method = replace(changed, render=replace(changed.render, style=options.style))
    return styled
