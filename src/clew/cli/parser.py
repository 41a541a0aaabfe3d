"""What all commands share when they declare what can be typed."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import NoReturn, TypeAlias

from clew.recipes import SIMILAR

Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, as all other errors are."""

    def error(self, message: str) -> NoReturn:
        """Print the error to stderr, with what may have been meant, and leave with exit code 2."""
        meant = self._meant(message)
        hint = f"did you mean {meant}? " if meant else ""
        self.exit(2, f"clew: {message} ({hint}see `{self.prog} --help`)\n")

    def _meant(self, message: str) -> str:
        """Return the option or the word that is spelt much as one that was typed."""
        if unknown := re.search(r"unrecognized arguments: --([\w-]+)", message):
            known = [name.removeprefix("--") for name in self._known if name.startswith("--")]
            return "".join(f"--{name}" for name in get_close_matches(unknown[1], known, 1, SIMILAR))
        typed, behind, choices = message.partition("invalid choice: '")[2].partition(
            "' (choose from "
        )
        known = [name.strip("' ") for name in choices.rstrip(")").split(",")] if behind else []
        return next(iter(get_close_matches(typed, known, 1, SIMILAR)), "")

    @property
    def _known(self) -> list[str]:
        """What can be typed, of the commands, too."""
        own = list(self._option_string_actions)
        commands = (one for one in self._actions if isinstance(one, argparse._SubParsersAction))
        below = (parser for action in commands for parser in action.choices.values())
        return [*own, *(name for parser in below for name in parser._option_string_actions)]


def add_command(
    commands: Commands,
    name: str,
    summary: str,
    examples: str,
    run: Callable[[argparse.Namespace], int],
) -> Parser:
    """Declare a command.

    Args:
        commands: Where `clew` keeps its commands.
        name: What is typed.
        summary: What it does, in lower case, without a full stop.
        examples: What `--help` shows below the options.
        run: Runs the command with the options that were typed, and returns the exit code.

    Returns:
        The command's parser, to which its options are added.
    """
    parser = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--traceback", action="store_true", help="show where an error came from")
    parser.set_defaults(run=run)
    return parser


def question(text: str) -> str:
    """Return a question, which has at least one word."""
    if not text.strip():
        raise argparse.ArgumentTypeError("a question has at least one word")
    return text


def positive_integer(text: str) -> int:
    """Return a whole number of at least 1.

    Example:
        >>> positive_integer("800")
        800
    """
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a whole number of at least 1 is wanted, not {text!r}")
    return int(text)


def non_negative_integer(text: str) -> int:
    """Return a whole number of at least 0."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"a whole number of at least 0 is wanted, not {text!r}")
    return int(text)


def token_budget(text: str) -> int | None:
    """Return a number of tokens, or None for "none".

    Example:
        >>> token_budget("none") is None
        True
    """
    return None if text == "none" else positive_integer(text)


def share(text: str) -> float:
    """Return a number from 0 to 1."""
    try:
        number = float(text)
    except ValueError:
        number = -1
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"a share from 0 to 1 is wanted, not {text!r}")
    return number


def names(text: str) -> list[str]:
    """Return the names in a list that is separated by commas.

    Example:
        >>> names("dense, bm25")
        ['dense', 'bm25']
    """
    return [name.strip() for name in text.split(",") if name.strip()]


def positive_integers(text: str) -> list[int]:
    """Return the whole numbers in a list that is separated by commas."""
    return [positive_integer(number) for number in names(text)]
