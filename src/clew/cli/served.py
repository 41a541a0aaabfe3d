"""What `clew serve` and `clew mcp` share: an index that others ask."""

from __future__ import annotations

import argparse

from clew import recipes
from clew.cli.parser import Parser, positive_integer, share
from clew.cli.question_options import add_recipe_options, add_source, chosen_method
from clew.cli.settings import label_of
from clew.cli.source import add_reading_options, is_saved, open_source, saved_place
from clew.index.answer import UNTRUSTED_SHARE
from clew.index.question import DEFAULT_BUDGET, check_share
from clew.serve.following import INTERVAL, STORAGE_INTERVAL, Follower
from clew.serve.served_index import ServedIndex, ServedOptions
from clew.storage.address import is_storage


def add_served_options(parser: Parser) -> None:
    """Declare what is served, how it is read, and how it is asked where a question does not say."""
    add_source(parser, "INDEX|FOLDER|FILE")
    parser.add_argument(
        "--budget",
        type=positive_integer,
        default=DEFAULT_BUDGET,
        metavar="N",
        help=f"tokens of a context where a question says nothing else (default: {DEFAULT_BUDGET})",
    )
    parser.add_argument(
        "--max-share",
        type=share,
        default=UNTRUSTED_SHARE,
        metavar="S",
        help="one source has at most this share of a context, above 0 and at most 1, since "
        f"strangers may write the documents (default: {UNTRUSTED_SHARE:g}; 1 for no cap)",
    )
    parser.add_argument(
        "--follow",
        type=float,
        metavar="SECONDS",
        help="look for what others have saved every so many seconds; 0 for never (default: "
        f"{INTERVAL:g} for a folder, {STORAGE_INTERVAL:g} for a storage, where a look is two "
        "requests)",
    )
    add_recipe_options(parser)
    add_reading_options(parser, cached=True)


def served_options(options: argparse.Namespace) -> ServedOptions:
    """Return how questions are asked that do not say, as it was typed.

    Raises:
        ValueError: The recipe, a setting or a number is wrong.
    """
    check_share(options.max_share)
    if options.follow is not None and not 0 <= options.follow < float("inf"):
        raise ValueError(f"--follow takes a number of seconds, 0 for never; got {options.follow}")
    place = saved_place(options.source)
    return ServedOptions(
        recipe=label_of(options.recipe or recipes.DEFAULT, options.set),
        method=chosen_method(options),
        budget=options.budget,
        max_share=options.max_share,
        saved_to=place,
    )


def open_served(options: argparse.Namespace, how: ServedOptions) -> ServedIndex:
    """Return what is served, ready for the first question.

    What other processes save where a saved index is, is followed.

    Args:
        options: What was typed.
        how: How it is asked.
    """
    if not is_saved(options.source):
        options.untrusted = True  # whoever may send or write documents is a stranger
    served = ServedIndex(open_source(options), how)
    served.prepare()
    usual = STORAGE_INTERVAL if is_storage(how.saved_to) else INTERVAL
    interval = usual if options.follow is None else options.follow
    if how.saved_to is not None and interval:
        Follower(served, interval).start()
    return served
