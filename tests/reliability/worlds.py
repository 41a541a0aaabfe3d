"""Pairs of corpora that differ only in what a filter forbids: no answer may tell them apart.

The allowed documents of both are the same. The forbidden ones have the same ids, since allowed ones
refer to them, and other texts, metadata and facts; in one corpus there are more of them. Every text
of the forbidden has the word "canary" in it.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from clew import Document

TOPICS = ("fee", "harbour", "Corfu", "winter", "ferry", "Anna", "lighthouse", "captain", "museum")
QUESTIONS = (
    "What fee does the harbour of Corfu take in winter?",
    "Who is the captain of the ferry?",
    "Where is Anna in winter?",
    "museum lighthouse",
)
RELATIONS = ("takes", "of", "near", "sails to")
PERMISSIONS = (
    {"tenant": "a"},
    {"tenant": ["a", "c"]},
    {"tenant": "a", "level": [0, 1]},
    {"groups": "staff"},
)
"""Filters. Permissions are mixed: a tenant, one of several, a tenant and a level, a group of many."""

Facts = dict[str, list[tuple[str, str, str]]]


@dataclass
class World:
    """A corpus.

    Attributes:
        documents: What is indexed.
        facts: Triples by document.
    """

    documents: list[Document] = field(default_factory=list)
    facts: Facts = field(default_factory=dict)


def is_allowed(where: dict[str, object], metadata: dict[str, object]) -> bool:
    """Return whether a filter allows a passage, computed plainly."""
    for key, wanted in where.items():
        values = wanted if isinstance(wanted, list) else [wanted]
        has = metadata.get(key, ())
        if not any(one in values for one in (has if isinstance(has, list) else [has])):
            return False
    return True


def pair_of_worlds(where: dict[str, object], chance: random.Random) -> tuple[World, World]:
    """Return two corpora with books, parts of books and pages, of which a filter allows some."""
    one, other = World(), World()
    for book in range(chance.randrange(2, 5)):
        _add(one, other, f"book-{book}", where, chance, heading=True)
        above = f"book-{book}"
        if chance.random() < 0.4:
            _add(one, other, f"part-{book}", where, chance, heading=True, parent=above)
            above = f"part-{book}"
        previous = None
        for page in range(chance.randrange(2, 6)):
            id = f"page-{book}-{page}"
            around = {"source": above, "span": (0, 9)} if page == 2 else {"parent": above}
            others = [f"page-{book}-{chance.randrange(6)}"] if chance.random() < 0.3 else []
            _add(one, other, id, where, chance, previous=previous, references=tuple(others), **around)  # fmt: skip
            previous = id
    for i in range(chance.randrange(4)):
        _add_forbidden(other, f"extra-{i}", where, chance, {})
    _add_shared(one, other, where, chance)
    return one, other


def _add(
    one: World, other: World, id: str, where: dict[str, object], chance: random.Random, **how
) -> None:
    """Add an allowed document to both, or a forbidden one to each."""
    if chance.random() < 0.45:
        _add_forbidden(one, id, where, chance, how)
        _add_forbidden(other, id, where, chance, how)
        return
    metadata = {"tenant": "a", "level": chance.randrange(2), "groups": ["staff", "all"], "year": 1}
    chosen = chance.sample(TOPICS, 4)
    text = f"The {chosen[0]} of {chosen[1]} in {chosen[2]} {id}: {chosen[3]} {chance.randrange(9)}."
    facts = _facts(chance, TOPICS)
    for world in (one, other):
        world.documents.append(Document(id, text, metadata, **how))
        if facts and not how.get("heading"):
            world.facts[id] = facts


def _add_forbidden(
    world: World, id: str, where: dict[str, object], chance: random.Random, how: dict
) -> None:
    metadata: dict[str, object] = {"tenant": "a", "level": 0, "groups": ["staff"]}
    key = chance.choice(list(where))
    metadata[key] = {"tenant": "b", "level": 7, "groups": ["guests", "none"]}[key]
    metadata |= {
        "secret": f"canary-{chance.randrange(99)}",
        "title": f"Canary {chance.choice(TOPICS)}",
    }
    chosen = chance.sample(TOPICS, chance.randrange(2, 7))
    text = f"Canary-{chance.randrange(99)}: the {' and '.join(chosen)} of Canary."
    world.documents.append(Document(id, text, metadata, **how))
    if not how.get("heading"):
        world.facts[id] = _facts(chance, (*TOPICS, "Canary One", "Canary Two"))


def _add_shared(one: World, other: World, where: dict[str, object], chance: random.Random) -> None:
    """Add a container without metadata, with a page that is allowed and one that is not."""
    for world in (one, other):
        world.documents.append(Document("shared", f"Canary heading {id(world)}", heading=True))
    allowed = {"tenant": "a", "level": 1, "groups": ["staff"]}
    for world in (one, other):
        world.documents.append(
            Document("shared-1", "The ferry of Corfu.", allowed, parent="shared")
        )
        _add_forbidden(world, "shared-2", where, chance, {"parent": "shared"})


def _facts(chance: random.Random, names: tuple[str, ...]) -> list[tuple[str, str, str]]:
    return [
        (chance.choice(names), chance.choice(RELATIONS), chance.choice(names))
        for _ in range(chance.randrange(3))
    ]
