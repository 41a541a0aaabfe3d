"""What an index was made with: its embedder, counter, splitter, extractor and links, by their names and parameters, never by their code.

What is clew's own is made again from its parameters. What is the caller's own must be given again, and must be the same as far as its
name and what it does to a known text can tell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from types import EllipsisType
from typing import Any

import numpy as np

import clew.generate
import clew.link
import clew.read
from clew.embedding.embedder import LATENT, Embedder, embed_texts
from clew.embedding.latent_semantic import LatentSemantic
from clew.graph import Generated, Graph, text_with_heading
from clew.read import Passage, Triple, is_corpus_wide
from clew.store.json_values import from_json, to_json
from clew.text.tokens import Tiktoken, counter_name, estimate_tokens, make_counter

PROBE = "The clew of thread that Theseus unwound, 12,345 cubits of it; Ariadne's. 迷宫"
LEAST = 0.98  # cosine of two vectors of one text by one embedder, with room for other batches, hardware and quantised answers
HOMES = {
    "splitter": clew.read,
    "canonical": clew.read,
    "extractor": clew.read,
    "links": clew.link,
    "writers": clew.generate,
}
Record = Mapping[str, Any]
NONE: Record = {"name": "None", "own": None, "parameters": {}, "counters": {}}


def checked(settings: Any) -> Record:
    """Return the settings of a manifest; raise ValueError or KeyError if they are none."""
    embedder, count = settings["embedder"], settings["count"]
    extractor = settings.get("extractor", NONE)  # an older clew knew none
    canonical = settings.get("canonical", NONE)  # likewise
    writers = settings.get("writers", [])
    parts = [settings["splitter"], extractor, canonical, *settings["links"], *writers]
    names = [embedder["name"], count["name"], *(part["name"] for part in parts)]
    flags = (embedder["own"], count["own"], settings["fitted"])
    known = all(
        isinstance(part["parameters"], dict) and isinstance(part["counters"], dict)
        for part in parts
        if "own" in part
    )
    if not known or not all(isinstance(name, str) for name in names):
        raise ValueError("its settings are not those of an index")
    if [type(embedder["dimension"]), type(count["probe"])] != [int, int] or any(
        type(flag) is not bool for flag in flags
    ):
        raise ValueError("its settings are not those of an index")
    return {**settings, "extractor": extractor, "writers": writers, "canonical": canonical}


def described(what: str, part: Any) -> Record:
    """Return how to make a splitter or link again, if it is clew's own, and its name."""
    name = type(part).__name__
    if isinstance(part, Lost):
        return {"name": part.name, "corpus_wide": part.corpus_wide}
    if part is None or (is_dataclass(part) and getattr(HOMES[what], name, None) is type(part)):
        parameters = (
            {} if part is None else {f.name: getattr(part, f.name) for f in fields(part) if f.init}
        )
        counters = {
            field: counter_name(value) for field, value in parameters.items() if _own_counter(value)
        }
        try:
            plain = to_json(
                {field: value for field, value in parameters.items() if field not in counters}, "it"
            )
        except ValueError:
            return _foreign(part)
        record = {
            "name": named(part),
            "own": None if part is None else name,
            "parameters": plain,
            "counters": counters,
        }
        return record if _made(what, record) == part else _foreign(part)
    return _foreign(part)


def _foreign(part: Any) -> Record:
    kind = getattr(part, "kind", None)
    return {
        "name": named(part),
        "corpus_wide": is_corpus_wide(part),
        **({"kind": kind} if isinstance(kind, str) else {}),
    }


def splitter_of(record: Record, given: Any) -> Any:
    """Return the splitter that was saved; see `_same` for one that is given."""
    return _one("splitter", record, given)


def canonical_of(record: Record, given: Any) -> Any:
    """Return what made texts canonical; see `_same` for one that is given."""
    return _one("canonical", record, given)


def extractor_of(record: Record, given: Any) -> Any:
    """Return the extractor that was saved, with `Lost` in the place of one that is not clew's own; see `_same` for one that is given."""
    if given is ... and "own" not in record:
        return Lost(record["name"], "extractor", bool(record.get("corpus_wide", True)))
    return _one("extractor", record, given)


def links_of(records: Sequence[Record], given: Any) -> tuple[Any, ...]:
    """Return the links that were saved, in their order; see `_same` for those that are given."""
    if isinstance(given, EllipsisType):
        if not all("own" in record for record in records):
            raise ValueError(_wanted("links", ", ".join(record["name"] for record in records)))
        return tuple(_made("links", record) for record in records)
    given = tuple(given)
    saved, now = (
        f"({', '.join(names)})" for names in ([r["name"] for r in records], map(named, given))
    )
    made: tuple[Any, ...] = _same("links", saved, now, given)
    for record, link in zip(records, made, strict=True):
        if record.get("kind", link.kind) != link.kind:  # an index of an older clew knows no kind
            raise ValueError(
                f"the index has edges of the kind {record['kind']!r} by {record['name']}, and the one given makes {link.kind!r}: "
                "give the same, or make a new index"
            )
    return made


@dataclass(frozen=True)
class Lost:
    """The place of a writer or extractor that is the caller's own and was not given again: the index can be asked, but not made anew.

    What an extractor read in passages that are still there is known, if it read each by itself: such an index can be filtered and
    deleted from.
    """

    name: str
    what: str = "writers"
    corpus_wide: bool = False
    model: str = "lost"

    def on(self, graph: Graph) -> Generated:
        raise ValueError(_wanted(self.what, self.name))

    def triples(self, passages: Sequence[Passage]) -> list[list[Triple]]:
        raise ValueError(_wanted(self.what, self.name))


def writers_of(records: Sequence[Record], given: Any) -> tuple[Any, ...]:
    """Return the writers that were saved, in their order, with `Lost` in the place of those that are not clew's own; or those given."""
    if isinstance(given, EllipsisType):
        return tuple(
            _made("writers", record) if "own" in record else Lost(record["name"])
            for record in records
        )
    given = tuple(given)
    saved, now = (
        f"({', '.join(names)})" for names in ([r["name"] for r in records], map(named, given))
    )
    made: tuple[Any, ...] = _same("writers", saved, now, given)
    return made


def described_count(count: Callable[[str], int]) -> Record:
    """Return the counter's name and what it counts in a known text."""
    return {"name": counter_name(count), "own": _own_counter(count), "probe": int(count(PROBE))}


def count_of(record: Record, given: Any) -> Callable[[str], int]:
    """Return the counter that was saved, if it is clew's own or tiktoken's, or the given one, if it counts as that did."""
    if given is None and not record["own"]:
        raise ValueError(_wanted("count", record["name"]))
    count = make_counter(record["name"] if given is None else given)
    _same("count", record["name"], counter_name(count), count)
    if (found := int(count(PROBE))) != record["probe"]:
        raise ValueError(
            f"the index was made with another counter than the one given, though both are named {counter_name(count)}: "
            f"by that a text of ours has {record['probe']} tokens, by this {found}"
        )
    return count


def described_embedder(embedder: Embedder, dimension: int) -> Record:
    """Return the embedder's name, the dimension of its vectors, and whether it is the embedded default, which is saved."""
    return {"name": embedder.name, "dimension": dimension, "own": embedder.latent is not None}


def embedder_of(record: Record, given: Any, latent: LatentSemantic | None) -> Embedder:
    """Return the embedder that is given, if its name is the saved one, or the embedded default, which was saved as `latent`."""
    if given is None and latent is None:
        raise ValueError(
            _wanted("embedder", f"{record['name']!r} ({record['dimension']} dimensions)")
        )
    if given is None and record["name"] != LATENT:
        raise ValueError(
            f"the index was made with clew's embedder {record['name']}, this version of clew has {LATENT}: make the index anew"
        )
    embedder = Embedder.of(latent if given is None else given)
    return _same("embedder", record["name"], embedder.name, embedder)  # type: ignore[no-any-return]  # it is what came


def check_embedder(embedder: Embedder, graph: Graph, given: frozenset[str]) -> None:
    """Raise ValueError unless the embedder gives the vector that the index has for one of its texts.

    Args:
        given: ids of the nodes whose vectors came from elsewhere, of which the dimension alone is compared.
    """
    width = graph.vectors.shape[1]
    rows = [
        row
        for row in np.flatnonzero(graph.content | graph.kinds.mask("entity")).tolist()
        if graph.texts[row].strip()
    ]
    own = next(
        (row for row in rows if graph.ids[row] not in given and graph.vectors[row].any()), None
    )
    text = PROBE if own is None else text_with_heading(graph, own)
    found = embed_texts(embedder, [text])[0]
    if len(found) != width:
        raise ValueError(
            f"the index has vectors of {width} dimensions, made by {embedder.name!r}; the embedder given makes {len(found)}"
        )
    if own is not None and float(found @ graph.vectors[own]) < LEAST:
        raise ValueError(
            f"the index was made with another embedder than this one, though both are named {embedder.name!r}: their vectors of "
            f"{graph.ids[own]!r} have a cosine of {float(found @ graph.vectors[own]):.3f}"
        )


def named(part: Any) -> str:
    """Return how a part is called in an index: its repr, without addresses in memory."""
    return re.sub(r" at 0x[0-9A-Fa-f]+", "", repr(part))


def _own_counter(value: Any) -> bool:
    return value is estimate_tokens or isinstance(value, Tiktoken)


def _one(what: str, record: Record, given: Any) -> Any:
    if given is ...:
        if "own" not in record:
            raise ValueError(_wanted(what, record["name"]))
        return _made(what, record)
    return _same(what, record["name"], named(given), given)


def _made(what: str, record: Record) -> Any:
    name, home = record["own"], HOMES[what]
    if name is None:
        return None
    kind = getattr(home, name, None) if name in home.__all__ else None
    if not is_dataclass(kind):
        raise ValueError(
            f"the index was made with {record['name']}, which this version of clew has not"
        )
    try:
        return kind(
            **from_json(record["parameters"]),
            **{field: make_counter(name) for field, name in record["counters"].items()},
        )  # type: ignore[operator]  # a class of ours
    except TypeError as error:
        raise ValueError(
            f"the index was made with {record['name']}, which this version of clew cannot make: {error}"
        ) from error


def _same(what: str, saved: str, now: str, given: Any) -> Any:
    if saved != now:
        raise ValueError(
            f"the index was made with {what}={saved}; {now} was given: give the same, or make a new index"
        )
    return given


def _wanted(what: str, name: str) -> str:
    return f"the index was made with {what}={name}, which is not part of it: give it again, as load(path, {what}=...)"
