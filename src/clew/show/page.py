"""A context as one page of HTML that needs nothing else: no network, no script."""

from __future__ import annotations

from html import escape

from clew.context import Context, Item
from clew.show.network import drawn
from clew.show.paths import named, path_in_words
from clew.show.style import STYLE
from clew.show.svg import svg


def html(context: Context, *, edges: int = 60) -> str:
    """Return the page: the question, a drawing of the ways, the items in reading order, what was left out, and how long each stage took.

    Args:
        edges: the most edges that are drawn beside the ways, the strongest first; the page says how many were left out.
    """
    network, left_out = drawn(context, edges)
    note = f"<p class='note'>{left_out} weaker edges are not drawn.</p>" if left_out else ""
    parts = [
        f"<header><h1>{escape(context.question)}</h1>{_facts(context)}</header>",
        f"<figure>{svg(network)}{note}{_legend({item.role for item in context})}</figure>",
        *(_item(rank, item) for rank, item in enumerate(context, 1)),
        _listed("Left out", [(dropped.id, dropped.reason) for dropped in context.dropped]),
        _listed("Could not be joined", list(context.missing)),
        _listed(
            "Stages",
            [
                (step.stage, f"{1000 * step.seconds:.1f} ms, {_notes(step.notes)}")
                for step in context.trace
            ],
        ),
        f"<details><summary>The text as a language model reads it</summary><pre>{escape(context.text)}</pre></details>",
    ]
    title = f"<title>{escape(context.question)}</title>"
    viewport = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    head = f'<head><meta charset="utf-8">{viewport}{title}<style>{STYLE}</style></head>'
    return (
        f'<!doctype html>\n<html lang="en">{head}<body><main>\n'
        + "\n".join(part for part in parts if part)
        + "\n</main></body></html>\n"
    )


def _facts(context: Context) -> str:
    budget = "" if context.budget is None else f" of {context.budget:,}"
    proof = "" if context.gap is None else f" · within {context.gap:.1%} of the best possible"
    return f"<p>{len(context)} items · {context.tokens:,}{budget} tokens{proof}</p><p class='method'>{escape(context.method)}</p>"


def _legend(roles: set[str]) -> str:
    """The roles that occur, each with its colour and meaning."""
    spans = "".join(
        f"<span class='role {role}'>{role}</span> {escape(said)} "
        for role, said in ROLES.items()
        if role in roles
    )
    return f"<figcaption>{spans}</figcaption>"


def _item(rank: int, item: Item) -> str:
    place = f", characters {item.span[0]:,} to {item.span[1]:,}" if item.span else ""
    return (
        f"<article id='item-{rank}' class='{escape(item.role)}'><h2><span class='rank'>{rank}</span> {escape(named(item))} "
        f"<span class='role {escape(item.role)}'>{escape(item.role)}</span></h2>"
        f"<p class='note'>{escape(item.id)}{place} · prize {item.score:.3f} · {item.tokens} tokens</p>"
        f"<p class='way'>Why: {escape(path_in_words(item))}.</p><pre>{escape(item.text.strip())}</pre></article>"
    )


def _listed(title: str, pairs: list[tuple[str, str]]) -> str:
    if not pairs:
        return ""
    rows = "".join(
        f"<tr><td>{escape(left)}</td><td>{escape(right)}</td></tr>" for left, right in pairs
    )
    return f"<details><summary>{title} ({len(pairs)})</summary><table>{rows}</table></details>"


def _notes(notes: object) -> str:
    return ", ".join(f"{name} {value}" for name, value in dict(notes).items())  # type: ignore[call-overload]  # a mapping


ROLES = {
    "seed": "the question touches it",
    "expansion": "the links lead to it",
    "bridge": "it joins others",
    "fact": "a fact that is stated",
    "report": "a report on a community",
    "fill": "fills the wanted number",
}
