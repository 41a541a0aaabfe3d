"""`clew ask`: the context for a question, and where it comes from."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from dataclasses import is_dataclass, replace
from typing import Any

from clew import recipes
from clew.cli.models import model_of
from clew.cli.report import explained, fallbacks, sources
from clew.cli.source import opened
from clew.cli.terminal import remark, say
from clew.index.index import Index
from clew.show import html, mermaid


def ask(options: argparse.Namespace) -> int:
    """Print the context that was asked for; an unknown recipe or filter is said before anything is read."""
    method, where = _styled(options.recipe or recipes.DEFAULT, options.style), wanted(options.where)
    model = None if options.model is None else model_of(options.model)
    index = opened(options)
    how = {"budget": options.budget, "limit": options.limit, "where": where or None, "model": model}
    context = index.ask(options.question, recipe=method, **how)
    for fallback in fallbacks(context):
        if "filter" in fallback:
            remark(f"{fallback}; its metadata has {_keys(index)}")
        elif options.recipe:  # who names none is content with whatever it does
            remark(fallback)
    if options.html:
        options.html.write_text(html(context), encoding="utf-8")
        remark(f"wrote {options.html}")
    if options.json:
        say(json.dumps(context.to_dict(), ensure_ascii=False, indent=2))
    elif options.mermaid:
        say(mermaid(context).rstrip())
    else:
        if context.text:
            say(f"{context.text}\n")
        say(sources(context, index))
        if options.explain:
            say(f"\n{explained(context)}")
    return 0


def wanted(pairs: Iterable[str]) -> dict[str, list[Any]]:
    """Return the values allowed for each metadata key: as text and, where it reads as JSON, as the number or truth value it says."""
    values: dict[str, list[Any]] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key:
            raise ValueError(f"--where takes KEY=VALUE; got {pair!r}")
        values.setdefault(key, []).append(text)
        try:
            values[key].append(json.loads(text))
        except ValueError:
            continue
    return values


def _keys(index: Index) -> str:
    return (
        ", ".join(sorted({str(key) for document in index.documents for key in document.metadata}))
        or "no keys"
    )


def _styled(recipe: str, style: str | None) -> Any:
    method: Any = recipes.get(recipe)
    if style is None:
        return method
    if not is_dataclass(method) or not hasattr(method, "render"):
        raise ValueError(f"the recipe {recipe!r} writes its page in its own way: leave --style out")
    return replace(method, render=replace(method.render, style=style))  # type: ignore[type-var]  # an instance, not the class
