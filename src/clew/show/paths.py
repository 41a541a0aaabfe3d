"""The path from the question to an item, in plain words."""

from __future__ import annotations

from collections.abc import Mapping

from clew.graph import EMPTY
from clew.items import Hop, Item

ENTITY_PREFIX = "entity:"
VERBS = {  # of edge kinds that read the same in both directions
    "next": "stands next to",
    "shared": "names the same things as",
    "similar": "is like",
    "synonym": "is another name for",
    "hyperlink": "is linked with",
    "related": "is related to",
}


def path_in_words(item: Item, names: Mapping[str, str] = EMPTY) -> str:
    """Return the path to an item as one sentence without a full stop.

    Args:
        item: An item of a context.
        names: What nodes on the path are called, by id; others have their id without its prefix.

    Example:
        >>> path = (Hop("question", "touches", "oars", weight=0.91),)
        >>> path_in_words(Item("oars", "Oars are of ash.", 0.7, "seed", "passage", 5, why=path))
        'the question touches it (0.91)'
    """
    if not item.why:
        return "no path to it is known"
    clauses = []
    for i, hop in enumerate(item.why):
        target = (
            "it"
            if hop.target == item.id
            else f"“{names.get(hop.target) or display_name(hop.target)}”"
        )
        clauses.append(_later_clause(hop, target) if i else _first_clause(hop, target, item))
    return "the question " + ", which ".join(clauses)


def display_name(thing: Item | str) -> str:
    """Return a name for people: of an item its title or document, of a node its id without prefix.

    Example:
        >>> display_name("entity:anna")
        'anna'
    """
    if isinstance(thing, str):
        return " ".join(thing.removeprefix(ENTITY_PREFIX).split())
    if thing.role == "fact":
        return "a fact"
    name = thing.heading or thing.metadata.get("title") or thing.document or thing.id
    return " ".join(str(name).split())


def shorten(text: str, max_length: int) -> str:
    """Return the text on one line, cut at a word with "…" where it is longer than `max_length`.

    Example:
        >>> shorten("Oars are of ash,  sails of flax.", 18)
        'Oars are of ash,…'
    """
    line = " ".join(text.split())
    if len(line) <= max_length:
        return line
    start = line[: max_length - 1]
    cut_at_word = " " in start[max_length // 2 :]
    return (start.rpartition(" ")[0] if cut_at_word else start) + "…"


def _first_clause(hop: Hop, target: str, item: Item) -> str:
    if hop.kind == "fact":
        match = f"matches the fact “{hop.text}” ({hop.weight:.2f})"
        return match if item.role == "fact" or target == "it" else f"{match} of {target}"
    if not hop.weight:
        return f"does not touch {target}, and no short path leads to it"
    return f"{hop.kind} {target} ({hop.weight:.2f})"


def _later_clause(hop: Hop, target: str) -> str:
    if hop.kind == "contains":
        return f"contains {target}" if hop.forward else f"is a part of {target}"
    if hop.kind == "mentions":
        return f"names {target}" if hop.forward else f"is named in {target}"
    if hop.kind == "fact":
        return f"the fact “{hop.text}” ties to {target}"
    if hop.kind == "shared" and hop.text:
        return f"names {hop.text}, as {target} does"
    if hop.kind == "related" and hop.text:
        return f"“{hop.text}” relates to {target}"
    if hop.kind not in VERBS:
        return f"is tied to {target} ({hop.kind})"
    weight = f" ({hop.weight:.2f})" if hop.kind == "similar" else ""
    return f"{VERBS[hop.kind]} {target}{weight}"
