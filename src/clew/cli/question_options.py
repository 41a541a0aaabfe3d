"""The options of a question, declared alike wherever one is asked."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from clew import recipes
from clew.cli.parser import Parser, positive_integer, share, token_budget
from clew.cli.settings import add_settings_option, method_of
from clew.relevance import MIN_RELEVANCE, MIN_RELEVANCE_IN_CODE
from clew.types import Method

# The parameters of `Index.ask` that are passed on as they are typed, but for the budget.
PARAMETERS: Mapping[str, Mapping[str, Any]] = {
    "limit": {"type": positive_integer, "metavar": "K", "help": "K items, if there are so many"},
    "max_share": {
        "type": share,
        "metavar": "S",
        "help": "one source has at most this share of the context, above 0 and at most 1 "
        "(default: 0.5 with --untrusted, else no cap)",
    },
    "min_relevance": {
        "type": share,
        "metavar": "R",
        "help": "leave out what is less relevant than this, from 0 to 1 (default: nothing, unless "
        f"the best is below {MIN_RELEVANCE:g}, or {MIN_RELEVANCE_IN_CODE:g} in source code: then "
        "nothing is found)",
    },
}


def add_source(parser: Parser, kinds: str, note: str = "", *, several: bool = False) -> None:
    """Declare what is asked.

    Args:
        parser: The parser of a command.
        kinds: What it may be, as the help names it.
        note: What the help adds.
        several: Whether several folders and files may be named.
    """
    also = ", also several folders and files" if several else ""
    parser.add_argument(
        "source",
        nargs="+" if several else None,
        metavar=kinds,
        help=f"what to read{also}; an index is a folder made by `clew index`{note}",
    )


def add_recipe_options(parser: Parser) -> None:
    """Declare `--recipe` and `--set`."""
    parser.add_argument(
        "--recipe",
        metavar="NAME|FILE.toml",
        help=f"the method (default: {recipes.DEFAULT}; `clew recipes` lists them, and "
        "`clew recipes NAME --toml` writes one to a file)",
    )
    add_settings_option(parser)


def add_question_options(parser: Parser, budget: int) -> None:
    """Declare how a question is asked, of which `question_parameters` makes the parameters.

    Args:
        parser: The parser of a command.
        budget: Tokens of a context, unless the user says otherwise.
    """
    parser.add_argument(
        "--budget",
        type=token_budget,
        default=budget,
        metavar="N",
        help=f"the context has at most N tokens; none for no limit (default: {budget:,})",
    )
    for name, settings in PARAMETERS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", **settings)
    add_recipe_options(parser)
    parser.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="read only what has this metadata value; the same key again allows another value",
    )


def question_parameters(options: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters of `Index.ask` that were typed, but for the recipe."""
    typed = {name: getattr(options, name) for name in ("budget", *PARAMETERS)}
    return {**typed, "where": parse_where(options.where) or None}


def chosen_method(options: argparse.Namespace) -> Method:
    """Return the method that was typed, or the default.

    Raises:
        ValueError: The name, the file or a setting is wrong.
    """
    return method_of(options.recipe or recipes.DEFAULT, options.set)


def parse_where(pairs: Iterable[str]) -> dict[str, list[Any]]:
    """Return the values that are allowed for each metadata key.

    Args:
        pairs: Texts of the form KEY=VALUE.

    Returns:
        Each value as text and, where it reads as JSON, also as the number or truth value; and a
        path also as it is from the root, with forward slashes.

    Raises:
        ValueError: A text has another form.

    Example:
        >>> parse_where(["year=2020", "kind=note"])
        {'year': ['2020', 2020], 'kind': ['note']}
    """
    allowed: dict[str, list[Any]] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key:
            raise ValueError(f"--where takes KEY=VALUE; got {pair!r}")
        values = allowed.setdefault(key, [])
        values.append(text)
        if key == "path":  # which is absolute where a folder is asked
            values.append(Path(text).resolve().as_posix())
        try:
            values.append(json.loads(text))
        except ValueError:
            continue
    return allowed
