"""The way from the question to an item, in plain words."""

from __future__ import annotations

from clew.context import Hop, Item

ENTITY = "entity:"


def path_in_words(item: Item) -> str:
    """Return the item's way as one sentence without a full stop: "the question touches it (0.91)"."""
    if not item.why:
        return "nothing is known of the way to it"
    sentence = "the question"
    for i, hop in enumerate(item.why):
        target = "it" if hop.target == item.id else f"“{named(hop.target)}”"
        sentence += (", which " if i else " ") + (
            _verb(hop, target) if i else _first(hop, target, item)
        )
    return sentence


def named(thing: Item | str) -> str:
    """Return a name for people: an item's title or document, a node's id without what clew put in front of it."""
    if isinstance(thing, str):
        return " ".join(thing.removeprefix(ENTITY).split())
    if thing.role == "fact":
        return "a fact"
    return " ".join(
        str(thing.heading or thing.metadata.get("title") or thing.document or thing.id).split()
    )


def shortened(text: str, most: int) -> str:
    """Return the text on one line, at most so many characters, cut at a word with "…" where it was longer."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    start = line[: most - 1]
    return (start.rpartition(" ")[0] if " " in start[most // 2 :] else start) + "…"


def _first(hop: Hop, target: str, item: Item) -> str:
    if hop.kind == "fact":
        return (
            f"matches the fact “{hop.text}” ({hop.weight:.2f})"
            if item.role == "fact" or target == "it"
            else (f"matches the fact “{hop.text}” ({hop.weight:.2f}) of {target}")
        )
    if not hop.weight:
        return f"does not touch {target}, and no short way leads to it"
    return f"{hop.kind} {target} ({hop.weight:.2f})"


def _verb(hop: Hop, target: str) -> str:
    if hop.kind == "contains":
        return f"contains {target}" if hop.forward else f"is a part of {target}"
    if hop.kind == "mentions":
        return f"names {target}" if hop.forward else f"is named in {target}"
    if hop.kind == "fact":
        return f"the fact “{hop.text}” ties to {target}"
    said = VERBS.get(hop.kind)
    return (
        f"{said} {target}" + (f" ({hop.weight:.2f})" if hop.kind == "similar" else "")
        if said
        else f"is tied to {target} ({hop.kind})"
    )


VERBS = {
    "next": "stands next to",
    "shared": "names the same things as",
    "similar": "is like",
    "synonym": "is another name for",
    "hyperlink": "is linked with",
    "related": "is related to",
}
