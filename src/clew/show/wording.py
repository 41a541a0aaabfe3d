"""What roles and kinds of links are called on the page, for people who are new to it."""

from __future__ import annotations

from typing import NamedTuple


class Role(NamedTuple):
    """A role for people: a short name, and what it means."""

    name: str
    meaning: str


ROLES = {
    "seed": Role("matches", "its own words or meaning match the question"),
    "expansion": Role("linked", "links lead to it from what matches"),
    "bridge": Role("bridge", "it joins other items, which have no shorter link"),
    "fact": Role("fact", "a single statement found in the documents"),
    "report": Role("report", "a summary of several passages that belong together"),
    "fill": Role("filler", "fills up the wanted number of items"),
    "connector": Role("name", "a name or a document on a path, not read itself"),
}
LINKS = {  # what is read from the tail to the head, and from the head to the tail
    "touches": ("matches", "is matched by"),
    "mentions": ("names", "is named in"),
    "next": ("is next to", "is next to"),
    "shared": ("shares names with", "shares names with"),
    "similar": ("is like", "is like"),
    "alike": ("has a name like", "has a name like"),
    "synonym": ("is another name for", "is another name for"),
    "shortform": ("shares a short form with", "shares a short form with"),
    "hyperlink": ("links to", "is linked from"),
    "related": ("is related to", "is related to"),
    "contains": ("contains", "is a part of"),
    "states": ("states", "is stated by"),
    "read from": ("is a source of", "is read from"),
}
WEIGHTED = frozenset({"touches", "similar", "shared", "alike", "synonym", "related"})


def role_of(role: str) -> Role:
    """Return a role for people; one that is not known has its own name.

    Example:
        >>> role_of("seed").name
        'matches'
    """
    return ROLES.get(role, Role(role, role))


def link_in_words(kind: str, text: str, weight: float, *, forward: bool = True) -> str:
    """Return what a link says: the fact that it states, or its kind and weight.

    Args:
        kind: The kind of the edge.
        text: The fact that it states, or "".
        weight: Its weight, which is shown where it differs between the edges of a kind.
        forward: Whether it is read from its tail to its head.

    Example:
        >>> link_in_words("similar", "", 0.4), link_in_words("fact", "Anna married Ben", 1.0)
        ('is like 0.40', '“Anna married Ben”')
        >>> link_in_words("mentions", "", 1.0, forward=False)
        'is named in'
    """
    text = " ".join(text.split())
    if text and kind == "shared":
        return f"has in common: {text}"
    if text:
        return f"“{text}”"
    own_name = " ".join(kind.split())
    words = LINKS.get(kind, (own_name, own_name))[not forward]
    return f"{words} {share_in_words(weight)}" if kind in WEIGHTED else words


def share_in_words(value: float) -> str:
    """Return a number with two digits behind the point; one that is hardly above 0 as "<0.01".

    Example:
        >>> share_in_words(0.4), share_in_words(1e-5), share_in_words(0.0)
        ('0.40', '<0.01', '0.00')
    """
    return "<0.01" if 0 < value < 0.005 else f"{value:.2f}"
