"""`--recipe` as a name or a file, and `--set PATH=VALUE`: every parameter from the command."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import TypeVar

from clew.cli.parser import Parser
from clew.recipe_files import SUFFIX, read_recipe, with_settings
from clew.types import Method

Value = TypeVar("Value")

OF_AN_INDEX = ("splitter", "names", "terms", "triples", "titles", "summaries", "reports")
"""The first words of paths that say how an index is built; all others are fields of the recipe."""


def add_settings_option(parser: Parser, *, recipe: bool = True) -> None:
    """Declare `--set`.

    Args:
        parser: The parser of a command.
        recipe: Whether the command takes a recipe.
    """
    of_a_recipe = (
        "of the recipe, such as select.k=5 (see `clew recipes NAME --toml`), or " if recipe else ""
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="PATH=VALUE",
        help=f"a parameter {of_a_recipe}of the reading: {', '.join(OF_AN_INDEX)}, such as "
        "splitter.language=de or reports.level=1; may come several times",
    )


def recipe_settings(settings: Sequence[str]) -> list[str]:
    """Return the settings of the recipe.

    Example:
        >>> recipe_settings(["select.k=5", "reports.level=1"])
        ['select.k=5']
    """
    return [one for one in settings if _first_word(one) not in OF_AN_INDEX]


def index_settings(settings: Sequence[str]) -> list[str]:
    """Return the settings of the index.

    Example:
        >>> index_settings(["select.k=5", "reports.level=1"])
        ['reports.level=1']
    """
    return [one for one in settings if _first_word(one) in OF_AN_INDEX]


def method_of(recipe: str, settings: Sequence[str]) -> Method:
    """Return the method of a recipe's name or file, with the settings that are a recipe's.

    Raises:
        ValueError: The name, the file or a setting is wrong.
    """
    method: Method = with_settings(read_recipe(recipe), recipe_settings(settings))
    return method


def label_of(recipe: str, settings: Sequence[str]) -> str:
    """Return what a recipe with settings is called in a table.

    Example:
        >>> label_of("agrag", ["select.variant=sum"]), label_of("tuned/my.toml", [])
        ('agrag select.variant=sum', 'my')
    """
    name = recipe.replace("\\", "/").rpartition("/")[2] if recipe.endswith(SUFFIX) else recipe
    return " ".join([name.removesuffix(SUFFIX), *recipe_settings(settings)])


def configured(name: str, value: Value, settings: Iterable[str]) -> Value:
    """Return a part of an index with its own settings.

    Args:
        name: The first word of their paths.
        value: The part, a frozen dataclass.
        settings: All settings of the index.
    """
    own = [one.partition(".")[2] for one in settings if _first_word(one) == name]
    return with_settings(value, own)


def check_used(settings: Iterable[str], used: Iterable[str], options: argparse.Namespace) -> None:
    """Refuse settings of parts that the index does not have.

    Args:
        settings: All settings of the index.
        used: The parts that the index has.
        options: What was typed, for the message.

    Raises:
        ValueError: A setting is of another part.
    """
    known = set(used)
    for setting in settings:
        part = _first_word(setting)
        if part not in known:
            advice = "give `clew index` a --model" if part == "triples" else f"add --{part}"
            raise ValueError(f"--set {setting}: {options.source} is read without {part}: {advice}")


def _first_word(setting: str) -> str:
    return setting.partition("=")[0].partition(".")[0]
