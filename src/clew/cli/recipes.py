"""`clew recipes`: the methods to choose from."""

from __future__ import annotations

import argparse
from dataclasses import fields, is_dataclass
from typing import Any

from clew import recipes as known
from clew.cli.parser import Commands, add_command
from clew.cli.terminal import print_json, print_result, print_toml
from clew.pipeline import Pipeline
from clew.recipe_files import write_recipe
from clew.types import Method

EXAMPLES = """examples:
  clew recipes
  clew recipes hipporag
  clew recipes agrag --toml      a file to begin from: > my.toml, then ask with --recipe my.toml
  clew recipes --json | jq 'keys'"""


def add_parser(commands: Commands) -> None:
    """Declare the command and its options."""
    summary = "list the methods and the stages they are made of"
    parser = add_command(commands, "recipes", summary, EXAMPLES, recipes)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="as JSON")
    output.add_argument(
        "--toml",
        action="store_true",
        help="as a file with all parameters, to begin from: `clew ask ... --recipe FILE.toml`",
    )


def recipes(options: argparse.Namespace) -> int:
    """Print every recipe with its summary and stages; of recipes that are named, all of it."""
    if options.toml:
        if len(options.names) != 1:
            raise ValueError("--toml writes one recipe: name it, as in clew recipes agrag --toml")
        print_toml(_as_file(options.names[0]).rstrip())
        return 0
    descriptions = {name: describe_recipe(name) for name in options.names or known.names()}
    if options.json:
        print_json(descriptions, indent=2)
        return 0
    for name, description in descriptions.items():
        default = " (the default)" if name == known.DEFAULT else ""
        print_result(f"{name}{default}\n    {description['does']}")
        if options.names:
            _print_details(description)
        elif stages := _stages(known.get(name)):
            names = (f"{role} {type(stage).__name__}" for role, stage in stages)
            print_result(f"    {' -> '.join(names)}")
    if not options.names:
        print_result("\n`clew recipes NAME` says what each stage does, and its parameters.")
    return 0


def _as_file(name: str) -> str:
    """A recipe as TOML, with what is known of it above."""
    method = known.get(name)
    recipe = known.RECIPES[name.lower()]
    about = [f"{name.lower()}: {recipe.summary}"]
    about += [f"{label}: {text}" for label, text in (("when", recipe.when),) if text]
    about.append('"none" is no value; `use` names a class of clew.')
    return write_recipe(method, "\n".join(about))


def describe_recipe(name: str) -> dict[str, Any]:
    """Return what a recipe does, its source, when to choose it, and its stages by role."""
    method = known.get(name)
    recipe = known.RECIPES[name.lower()]
    about = {"does": recipe.summary, "source": recipe.source, "when": recipe.when}
    stages: dict[str, list[dict[str, str]]] = {}
    for role, stage in _stages(method):
        description = {"stage": repr(stage), "does": _first_sentence(stage)}
        stages.setdefault(role, []).append(description)
    return {**about, "method": repr(method), "stages": stages}


def _print_details(description: dict[str, Any]) -> None:
    for label in ("when", "source"):
        if description.get(label):
            print_result(f"    {label}: {description[label]}")
    for role, stages in description["stages"].items():
        for stage in stages:
            print_result(f"    {role:<6}  {stage['stage']}\n            {stage['does']}")


def _stages(method: Method) -> list[tuple[str, object]]:
    """The stages of a method, each with its role; of a method of its own kind, its stage fields."""
    if isinstance(method, Pipeline):
        return [
            ("seed", method.seed),
            *(("spread", stage) for stage in method.spreads),
            *(("select", stage) for stage in method.selects),
            ("order", method.order),
        ]
    if not is_dataclass(method):
        return []
    values = [(field.name, getattr(method, field.name)) for field in fields(method)]
    return [(name, value) for name, value in values if hasattr(value, "on")]


def _first_sentence(thing: object) -> str:
    """The first sentence of a docstring; one that a dataclass wrote for itself says nothing."""
    kind = type(thing)
    paragraph = " ".join((kind.__doc__ or "").split("\n\n")[0].split())
    if paragraph.startswith(f"{kind.__name__}("):
        return ""
    return paragraph.partition(". ")[0].rstrip(".")
