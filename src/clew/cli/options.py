"""What can be typed: the commands, their options, and examples of each."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from clew.cli.examples import ASK, DOCUMENT, EXAMPLES, INDEX, MEASURE, RECIPES, WARM, WHAT
from clew.recipes import DEFAULT
from clew.render import STYLES

TOKENS, BUDGET, SECTION = 256, 2000, 1500
MODEL = "a function prompt -> text or a framework's model in a module, or MODULE:CLASS:MODEL"


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line, as all others are."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"clew: {message} (see `{self.prog} --help`)\n")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line; `options.run(options)` does what was asked."""
    top = Parser(
        "clew",
        description=WHAT,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"clew {_version()}")
    top.set_defaults(run=None, traceback=False)
    commands = top.add_subparsers(title="commands", metavar="COMMAND")
    _ask(
        _command(
            commands,
            "ask",
            "make the context for a question, from a folder, a file or an index",
            ASK,
            _run_ask,
        )
    )
    _index(_command(commands, "index", "read a folder once and save its index", INDEX, _run_index))
    _document(
        _command(
            commands,
            "document",
            "write documentation of a folder, from the questions it answers",
            DOCUMENT,
            _run_document,
        )
    )
    listing = _command(
        commands,
        "recipes",
        "list the methods and the stages they are made of",
        RECIPES,
        _run_recipes,
    )
    listing.add_argument("names", nargs="*", metavar="NAME", help="only these")
    listing.add_argument("--json", action="store_true", help="as JSON")
    _measure(
        _command(
            commands,
            "measure",
            "compare recipes on questions with known answers",
            MEASURE,
            _run_measure,
        )
    )
    warm = _command(
        commands, "warm", "compile in advance what first questions would wait for", WARM, _run_warm
    )
    warm.add_argument("names", nargs="*", metavar="NAME", help="only what these recipes need")
    return top


def _command(
    commands: Any, name: str, help: str, examples: str, run: Callable[[argparse.Namespace], int]
) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = commands.add_parser(
        name,
        help=help,
        description=f"{help[0].upper()}{help[1:]}.",
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--traceback", action="store_true", help="show where an error came from")
    made.set_defaults(run=run)
    return made


def _ask(ask: argparse.ArgumentParser) -> None:
    ask.add_argument(
        "source",
        metavar="FOLDER|FILE|INDEX",
        help="what to read; an index is a folder made by `clew index`",
    )
    ask.add_argument("question", type=_question, help="the question, in quotes")
    ask.add_argument(
        "--recipe",
        metavar="NAME",
        help=f"the method (default: {DEFAULT}; `clew recipes` lists them)",
    )
    ask.add_argument(
        "--budget",
        type=_budget,
        default=BUDGET,
        metavar="N",
        help=f"the most tokens of context, or none (default: {BUDGET})",
    )
    ask.add_argument(
        "--limit", type=_count, metavar="K", help="exactly so many items while there are so many"
    )
    ask.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="read only what has this metadata value; the same key again allows another value",
    )
    ask.add_argument(
        "--model",
        metavar="MODULE:NAME",
        help=f"the language model, for recipes that ask one: {MODEL}",
    )
    ask.add_argument(
        "--style", choices=STYLES, help="how the context is written (default: the recipe's own)"
    )
    out = ask.add_mutually_exclusive_group()
    out.add_argument("--json", action="store_true", help="everything about the context, as JSON")
    out.add_argument(
        "--mermaid",
        action="store_true",
        help="the way from the question to every item, as a Mermaid flowchart",
    )
    ask.add_argument("--html", type=Path, metavar="FILE", help="write a page to look at, too")
    ask.add_argument(
        "--explain",
        action="store_true",
        help="say why every item is there, what was left out, and how long each stage took",
    )
    _reading(ask)


def _index(index: argparse.ArgumentParser) -> None:
    index.add_argument("source", metavar="FOLDER|FILE", help="what to read")
    index.add_argument(
        "-o", "--output", required=True, type=Path, metavar="DIR", help="where to save the index"
    )
    extractors = _reading(index)
    extractors.add_argument(
        "--model", metavar="MODULE:NAME", help=f"read facts with this language model: {MODEL}"
    )
    index.add_argument(
        "--rounds",
        type=_rounds,
        default=0,
        metavar="N",
        help="ask so often again for facts that were missed (default: 0)",
    )
    index.add_argument(
        "--workers",
        type=_count,
        default=4,
        metavar="N",
        help="prompts under way at a time (default: 4)",
    )
    index.add_argument(
        "--answers",
        type=Path,
        metavar="FILE",
        help="where its answers are kept (default: DIR.answers)",
    )
    index.add_argument(
        "--dry-run", action="store_true", help="say what the model would be asked, and ask nothing"
    )


def _document(document: argparse.ArgumentParser) -> None:
    document.add_argument(
        "source",
        metavar="FOLDER|FILE|INDEX",
        help="what to document: source code, Markdown, HTML, text, or an index",
    )
    document.add_argument(
        "-o",
        "--output",
        required=True,
        type=Path,
        metavar="DIR",
        help="the folder to write Markdown to",
    )
    document.add_argument(
        "--title", metavar="TEXT", help="of the first page (default: the folder's name)"
    )
    document.add_argument(
        "--recipe",
        default=DEFAULT,
        metavar="NAME",
        help=f"how the context of a section is had (default: {DEFAULT})",
    )
    document.add_argument(
        "--budget",
        type=_count,
        default=SECTION,
        metavar="N",
        help=f"the most tokens of a section (default: {SECTION})",
    )
    document.add_argument(
        "--sections",
        type=_count,
        metavar="K",
        help="how many in the first round (default: what parts them best)",
    )
    document.add_argument(
        "--cover",
        type=_share,
        default=0.8,
        metavar="SHARE",
        help="go on until this much of the passages is read (default: 0.8)",
    )
    document.add_argument(
        "--by",
        choices=("words", "graph", "transport"),
        default="words",
        help="what makes questions alike: their words, or what they do to the graph (transport: slower, and less of a bound)",
    )
    document.add_argument(
        "--model",
        metavar="MODULE:NAME",
        help=f"let this language model write; its answers stay in DIR.answers: {MODEL}",
    )
    document.add_argument(
        "--dry-run",
        action="store_true",
        help="say what a model would be asked, and ask and write nothing",
    )
    _reading(document)


def _reading(command: argparse.ArgumentParser) -> Any:
    """The options of reading; returned is the group of extractors, of which there is one."""
    command.add_argument(
        "--tokens",
        type=_count,
        metavar="N",
        help=f"split documents into passages of at most so many tokens (default: {TOKENS})",
    )
    command.add_argument(
        "--embedder",
        metavar="NAME",
        help="a sentence-transformers model (default: clew's own, fitted to what is read); give it again to ask an index made with it",
    )
    command.add_argument(
        "--reports",
        action="store_true",
        help="write reports on communities, without a model, for the recipes global and enterprise",
    )
    command.add_argument(
        "--plain",
        action="store_true",
        help="find passages by their text without Markdown, HTML and citation marks",
    )
    command.add_argument(
        "--facts",
        type=Path,
        metavar="FILE",
        help="JSON: {document id: [[subject, relation, object], ...]}",
    )
    extractors = command.add_mutually_exclusive_group()
    extractors.add_argument(
        "--names",
        action="store_true",
        help="read names and what is said of them, without a model, for the recipes on facts",
    )
    return extractors


def _measure(measure: argparse.ArgumentParser) -> None:
    measure.add_argument(
        "source",
        nargs="?",
        metavar="FOLDER",
        help="corpus.jsonl, queries.jsonl and what else `--prepare` writes",
    )
    measure.add_argument(
        "--recipes", type=_names, metavar="A,B", help="which recipes (default: all)"
    )
    measure.add_argument(
        "--budgets",
        type=_counts,
        metavar="N,M",
        help="budgets in tokens (default: 256,512,1024,2048)",
    )
    measure.add_argument(
        "--limits", type=_counts, metavar="K,L", help="numbers of passages (default: 2,5,10)"
    )
    measure.add_argument(
        "--baseline",
        default="dense",
        metavar="NAME",
        help="what the others are compared with (default: dense)",
    )
    measure.add_argument(
        "--embedder",
        metavar="NAME",
        help="a sentence-transformers model (default: the folder's vectors, else clew's own)",
    )
    measure.add_argument(
        "--own-vectors",
        action="store_true",
        help="leave the folder's vectors aside: embed with clew's own default",
    )
    measure.add_argument(
        "--facts",
        choices=("any", "triples", "surface_triples", "none"),
        default="any",
        help="which of the folder's triples (default: any)",
    )
    measure.add_argument(
        "--names",
        action="store_true",
        help="facts read by clew.Names() in the place of the folder's, without the folder's vectors",
    )
    measure.add_argument(
        "--reports",
        action="store_true",
        help="with reports on communities, made without a model; wants --embedder or --own-vectors",
    )
    measure.add_argument(
        "--model",
        metavar="MODULE:NAME",
        help=f"exact match and F1 of this model's answers, too: {MODEL}",
    )
    measure.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of the intervals' resampling (default: 0)"
    )
    measure.add_argument(
        "--intervals", action="store_true", help="write every difference and its interval"
    )
    measure.add_argument("--json", action="store_true", help="as JSON")
    measure.add_argument(
        "--prepare",
        type=Path,
        metavar="FILE",
        help="make a folder of MuSiQue's, HotpotQA's or 2WikiMultihopQA's own file",
    )
    measure.add_argument("-o", "--output", type=Path, metavar="FOLDER", help="the folder to make")
    measure.add_argument(
        "--questions",
        type=_count,
        metavar="N",
        help="prepare so many questions, drawn at random (default: all)",
    )


def _question(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("a question has at least one word")
    return text


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a whole number of at least 1 is wanted, not {text!r}")
    return int(text)


def _rounds(text: str) -> int:
    return 0 if text == "0" else _count(text)


def _budget(text: str) -> int | None:
    return None if text == "none" else _count(text)


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"a share from 0 to 1 is wanted, not {text!r}")
    return share


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _counts(text: str) -> list[int]:
    return [_count(number) for number in _names(text)]


def _version() -> str:
    from clew import __version__

    return __version__


def _run_ask(options: argparse.Namespace) -> int:
    from clew.cli.ask import ask

    return ask(options)


def _run_index(options: argparse.Namespace) -> int:
    from clew.cli.indexing import index

    return index(options)


def _run_document(options: argparse.Namespace) -> int:
    from clew.cli.documenting import document

    return document(options)


def _run_recipes(options: argparse.Namespace) -> int:
    from clew.cli.recipes import recipes

    return recipes(options)


def _run_measure(options: argparse.Namespace) -> int:
    from clew.cli.measuring import measure

    return measure(options)


def _run_warm(options: argparse.Namespace) -> int:
    from clew.cli.warming import warm

    return warm(options)
