"""`clew recipes`: what there is to choose from."""

from __future__ import annotations

import argparse
import inspect
import json
import re
from dataclasses import fields, is_dataclass
from typing import Any

from clew import recipes as known
from clew.cli.terminal import say
from clew.pipeline import Pipeline


def recipes(options: argparse.Namespace) -> int:
    """Print every recipe with what it does and its stages; those that are named with what each stage does."""
    listed = {name: described(name) for name in options.names or known.names()}
    if options.json:
        say(json.dumps(listed, ensure_ascii=False, indent=2))
        return 0
    for name, about in listed.items():
        say(f"{name}{' (the default)' if name == known.DEFAULT else ''}\n    {about['does']}")
        stages = [(role, stage) for role, several in about["stages"].items() for stage in several]
        if options.names:
            for role, stage in stages:
                say(f"    {role:<6}  {stage['stage']}\n            {stage['does']}")
        elif stages:
            say(
                "    "
                + " -> ".join(
                    f"{role} {stage['stage'].partition('(')[0]}" for role, stage in stages
                )
            )
    if not options.names:
        say("\n`clew recipes NAME` says what each stage does, and its parameters.")
    return 0


def described(name: str) -> dict[str, Any]:
    """Return the first sentence of what a recipe does, and its stages by role, each with the first sentence of its own."""
    method: Any = known.get(name)
    if isinstance(method, Pipeline):
        stages: dict[str, list[Any]] = {
            "seed": [method.seed],
            "spread": list(method.spreads),
            "select": list(method.selects),
            "order": [method.order],
        }
    else:
        stages = (
            {field.name: [getattr(method, field.name)] for field in fields(method)}
            if is_dataclass(method)
            else {}
        )
        stages = {role: values for role, values in stages.items() if hasattr(values[0], "on")}
    said = {
        role: [{"stage": repr(stage), "does": _first_sentence(stage)} for stage in values]
        for role, values in stages.items()
        if values
    }
    return {
        "does": _above().get(name.lower()) or _first_sentence(method),
        "method": repr(method),
        "stages": said,
    }


def _above() -> dict[str, str]:
    """What stands above each recipe on its page."""
    found = re.findall(
        r"((?:^# .*\n)+)^([A-Z][A-Z0-9_]*) = ", inspect.getsource(known), re.MULTILINE
    )
    return {
        name.lower(): " ".join(line.removeprefix("# ") for line in lines.splitlines()).rstrip(".")
        for lines, name in found
    }


def _first_sentence(thing: Any) -> str:
    """The first sentence of a docstring; one that a dataclass wrote for itself says nothing."""
    said = " ".join((type(thing).__doc__ or "").split("\n\n")[0].split())
    if said.startswith(f"{type(thing).__name__}("):
        return ""
    return said.partition(". ")[0].rstrip(".")
