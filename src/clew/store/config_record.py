"""What an index is made with, as records in the manifest: names and parameters, never code.

A part that is clew's own is made again from its parameters. A part that is the caller's own must be
given again, and must be the same, as far as its name and what it does to a known text can tell.

A record of a part is one of these:

* `{"name", "own", "parameters", "counters"}`: an object of clew's own class `own`, or None;
* `{"name", "plain"}`: a number, a text, a truth value, or a list or mapping of such;
* `{"name", "corpus_wide"}`, with `"kind"` for a link: an object of the caller's own;
* `{"name", "own", "probe"}`: a tokenizer, and what it counts in a known text.

A tuple of parts is a list of records.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

import clew.algorithms.nearest
import clew.generate
import clew.link
import clew.read
from clew.embedding.embedder import FITTED, Embedder, FittedEmbedder, embed_texts
from clew.embedding.static import StaticEmbedding
from clew.graph import Generated, Graph, text_with_heading
from clew.read import Passage, Triple, is_corpus_wide
from clew.read.json_values import from_json, to_json
from clew.text.estimate import estimate_tokens
from clew.text.tokens import Tiktoken, counter_name, make_counter

PROBE = "The clew of thread that Theseus unwound, 12,345 cubits of it; Ariadne's. 迷宫"
"""A text that tells tokenizers and embedders apart."""

MIN_COSINE = 0.98
"""The least cosine of two vectors of one text by one embedder; there is room for other batches,
other hardware and quantised answers."""

HOMES = (clew.read, clew.link, clew.generate, clew.algorithms.nearest)
"""Where the classes are that a manifest may name."""

MAY_BE_MISSING = ("extractor", "generators")
"""Parts that are needed to change an index, but not to ask it."""

Record = Mapping[str, Any]
Records = Record | Sequence[Record]
CallerParts = Mapping[str, object]
"""Parts that the caller gives again at loading, by name. A part that is not in it is made as it was
saved."""


def check_settings(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the settings of a manifest.

    Raises:
        ValueError, KeyError, TypeError, AttributeError: They are none.
    """
    embedder, config, fitted = settings["embedder"], settings["config"], settings["fitted"]
    records = [config["count"]]
    for name, some in config.items():
        if name != "count":
            records += some if isinstance(some, list) else [some]
    kinds = [
        *((record["name"], str) for record in (embedder, config["canonical"], *records)),
        *((record["parameters"], dict) for record in records[1:] if "own" in record),
        *((record["counters"], dict) for record in records[1:] if "own" in record),
        *(
            (counter, str)
            for record in records[1:]
            if "own" in record
            for counter in record["counters"].values()
        ),
        *((flag, bool) for flag in (embedder["own"], config["count"]["own"], fitted)),
        *((number, int) for number in (embedder["dimension"], config["count"]["probe"])),
        (settings.get("changed", 0), int),
    ]
    if any(type(value) is not kind for value, kind in kinds):
        raise ValueError("its settings are not those of an index")
    return settings


def describe_config(config: Mapping[str, object]) -> dict[str, Records]:
    """Return the records of the parts that an index is made with, by name."""
    return {name: _describe(name, value) for name, value in config.items()}


def restore_config(records: Mapping[str, Any], caller_parts: CallerParts) -> dict[str, Any]:
    """Return the parts that an index is made with, by name.

    Args:
        records: What `describe_config` returned.
        caller_parts: Parts that the caller gives again. None in place of `count` stands for the
            saved one.

    Raises:
        ValueError: A part is needed and was not given, or what was given is not what was saved.
    """
    config = {name: _restore(name, record, caller_parts) for name, record in records.items()}
    canonical = config["canonical"]
    if not callable(config["count"]) or not (canonical is None or callable(canonical)):
        raise ValueError("its settings are not those of an index")  # it is damaged
    unknown_then = {
        name: part
        for name, part in caller_parts.items()
        if name not in config and name != "embedder"
    }
    return config | unknown_then


def describe_embedder(embedder: Embedder, dimension: int) -> Record:
    """Return the embedder's name, its dimension, and whether it is the embedded default."""
    return {"name": embedder.name, "dimension": dimension, "own": embedder.fitted is not None}


def restore_embedder(record: Record, source: object, fitted: FittedEmbedder | None) -> Embedder:
    """Return the embedder of a saved index.

    Args:
        record: What `describe_embedder` returned.
        source: The caller's embedder; None for the embedded default.
        fitted: What the embedded default is made of, where it was saved.

    Raises:
        ValueError: An embedder is needed and was not given, it has another name, or it is the
            embedded default, weighted by another corpus.
    """
    if source is None and record["own"] and record["name"] not in FITTED.values():
        raise ValueError(
            f"the index was made with clew's embedder {record['name']}, "
            f"this version of clew has {FITTED[StaticEmbedding]}: make the index anew"
        )
    if source is None and fitted is None:
        named = f"{record['name']!r} ({record['dimension']} dimensions)"
        raise ValueError(_give_again("embedder", named))
    embedder = Embedder.of(fitted if source is None else source)
    _check_same("embedder", record["name"], embedder.name)
    _check_same_corpus(fitted, embedder)
    return embedder


def _check_same_corpus(saved: FittedEmbedder | None, embedder: Embedder) -> None:
    """Check that static vectors are weighted as the saved ones.

    Their counts are compared, since the vectors of one text differ little from corpus to corpus.
    The directions of `LatentSemantic` differ with the corpus and in their last digits with the
    hardware, so that `check_embedder` compares its vectors.
    """
    given = embedder.fitted
    if (
        isinstance(saved, StaticEmbedding)
        and isinstance(given, StaticEmbedding)
        and not saved.has_counts_of(given)
    ):
        raise ValueError(
            "the index was made with another embedder than this one, though both are named "
            f"{embedder.name!r}: that one was weighted by {saved.n_texts} texts with "
            f"{len(saved.vocabulary)} words, this one by other texts ({given.n_texts} with "
            f"{len(given.vocabulary)} words); give none, and the saved one is used"
        )


def check_embedder(embedder: Embedder, graph: Graph, ids_with_own_vector: frozenset[str]) -> None:
    """Check that an embedder gives the vector that the index has for one of its texts.

    Args:
        embedder: What was given.
        graph: What was saved.
        ids_with_own_vector: Nodes whose vectors came from elsewhere. They are not compared.

    Raises:
        ValueError: The dimension or the vector is another.
    """
    if not len(graph):
        return  # an emptied index has no vectors, and takes those of any embedder
    width = graph.vectors.shape[1]
    comparable = (
        row
        for row in np.flatnonzero(graph.content | graph.kinds.mask("entity")).tolist()
        if graph.texts[row].strip()
        and graph.ids[row] not in ids_with_own_vector
        and graph.vectors[row].any()
    )
    row = next(comparable, None)
    text = PROBE if row is None else text_with_heading(graph, row)
    vector = embed_texts(embedder, [text])[0]
    if len(vector) != width:
        raise ValueError(
            f"the index has vectors of {width} dimensions, made by {embedder.name!r}; "
            f"the embedder given makes {len(vector)}"
        )
    if row is not None and (cosine := float(vector @ graph.vectors[row])) < MIN_COSINE:
        raise ValueError(
            "the index was made with another embedder than this one, though both are named "
            f"{embedder.name!r}: their vectors of {graph.ids[row]!r} have a cosine of {cosine:.3f}"
        )


@dataclass(frozen=True)
class MissingPart:
    """Stands for an extractor or generator of the caller's own that was not given again.

    The index can be asked, but not built again. What an extractor read in passages that are still
    there is known, if it reads each by itself; such an index can be filtered and deleted from.

    Attributes:
        name: The `repr` of the part that is missing.
        option: The name by which it is given again.
        corpus_wide: Whether what the extractor reads in one passage depends on the others.
        model: Not None, so that a filter does not ask it.
    """

    name: str
    option: str = "generators"
    corpus_wide: bool = False
    model: str = "missing"

    def on(self, graph: Graph) -> Generated:
        """Generate nothing."""
        raise ValueError(_give_again(self.option, self.name))

    def triples(self, passages: Sequence[Passage]) -> list[list[Triple]]:
        """Read nothing."""
        raise ValueError(_give_again(self.option, self.name))


def _describe(name: str, value: Any) -> Records:  # noqa: ANN401  # a part of any kind
    if name == "count":
        return {"name": counter_name(value), "own": _is_own_counter(value), "probe": value(PROBE)}
    if isinstance(value, tuple):
        return [_describe_part(part) for part in value]
    return _describe_part(value)


def _describe_part(part: object) -> Record:
    if isinstance(part, MissingPart):
        return {"name": part.name, "corpus_wide": part.corpus_wide}
    try:
        if isinstance(part, (bool, int, float, str, list, Mapping)):
            return {"name": repr(part), "plain": to_json(part, "it")}
        if part is None or (is_dataclass(part) and _own_class(type(part).__name__) is type(part)):
            return _describe_own(part)
    except ValueError:  # it has what cannot be saved
        pass
    return _describe_foreign(part)


def _describe_own(part: object) -> Record:
    """Return the record of a part of clew's own; raise ValueError where it cannot be saved."""
    if part is None:
        return {"name": "None", "own": None, "parameters": {}, "counters": {}}
    assert is_dataclass(part)
    values = {field.name: getattr(part, field.name) for field in fields(part) if field.init}
    counters = {name: counter_name(v) for name, v in values.items() if _is_own_counter(v)}
    record = {
        "name": _name_of(part),
        "own": type(part).__name__,
        "parameters": to_json({n: v for n, v in values.items() if n not in counters}, "it"),
        "counters": counters,
    }
    if _make(record) != part:
        raise ValueError("its parameters do not make it again")
    return record


def _describe_foreign(part: object) -> Record:
    record = {"name": _name_of(part), "corpus_wide": is_corpus_wide(part)}
    kind = getattr(part, "kind", None)
    return record | ({"kind": kind} if isinstance(kind, str) else {})


def _restore(name: str, record: Any, caller_parts: CallerParts) -> Any:  # noqa: ANN401  # a part of any kind
    if name == "count":
        return _restore_counter(record, caller_parts.get(name))
    if isinstance(record, list):
        return _restore_all(name, record, caller_parts)
    if name in caller_parts:
        _check_same(name, record["name"], _name_of(caller_parts[name]))
        return caller_parts[name]
    return _make_or_miss(name, record)


def _restore_all(
    name: str, records: Sequence[Record], caller_parts: CallerParts
) -> tuple[object, ...]:
    names = [_name_now(record) for record in records]
    if name not in caller_parts:
        needed = [record for record in records if not _can_be_made(record)]
        if needed and name not in MAY_BE_MISSING:
            raise ValueError(_give_again(name, ", ".join(names)))
        return tuple(_make_or_miss(name, record) for record in records)
    parts: tuple[Any, ...] = tuple(caller_parts[name])  # type: ignore[arg-type]  # its repr is compared
    _check_same(name, _listed(names), _listed([_name_of(part) for part in parts]))
    for record, part in zip(records, parts, strict=True):
        kind = getattr(part, "kind", None)
        if record.get("kind", kind) != kind:  # an index of an older clew knows no kind
            raise ValueError(
                f"the index has edges of the kind {record['kind']!r} by {record['name']}, "
                f"and the one given makes {kind!r}: give the same, or make a new index"
            )
    return parts


def _name_now(record: Record) -> str:
    """Return what a part is called today: a parameter that came since it was saved has a value."""
    name: str = record["name"]
    if record.get("own") is None:
        return name
    try:
        return _name_of(_make(record))
    except ValueError:  # which says why where it is made
        return name


def _restore_counter(record: Record, source: object) -> Callable[[str], int]:
    if source is None and not record["own"]:
        raise ValueError(_give_again("count", record["name"]))
    count = make_counter(record["name"], fetch=False) if source is None else make_counter(source)
    _check_same("count", record["name"], counter_name(count))
    if (probe := int(count(PROBE))) != record["probe"]:
        raise ValueError(
            "the index was made with another counter than the one given, though both are named "
            f"{counter_name(count)}: by that a text of ours has {record['probe']} tokens, "
            f"by this {probe}"
        )
    return count


def _make_or_miss(name: str, record: Record) -> object:
    if _can_be_made(record):
        return _make(record)
    if name not in MAY_BE_MISSING:
        raise ValueError(_give_again(name, record["name"]))
    corpus_wide = name == "extractor" and bool(record.get("corpus_wide", True))
    return MissingPart(record["name"], name, corpus_wide)


def _can_be_made(record: Record) -> bool:
    return "own" in record or "plain" in record


def _make(record: Record) -> object:
    if "plain" in record:
        return from_json(record["plain"])
    name = record["own"]
    if name is None:
        return None
    own_class = _own_class(name)
    if own_class is None:
        raise ValueError(
            f"the index was made with {record['name']}, which this version of clew has not"
        )
    parameters = from_json(record["parameters"])
    counters = {
        field: make_counter(counter, fetch=False) for field, counter in record["counters"].items()
    }
    try:
        return own_class(**parameters, **counters)
    except TypeError as error:
        raise ValueError(
            f"the index was made with {record['name']}, "
            f"which this version of clew cannot make: {error}"
        ) from error


def _own_class(name: str) -> Callable[..., object] | None:
    """Return the public dataclass of this name that a part may be of; never anything else."""
    for home in HOMES:
        own_class = getattr(home, name, None) if name in home.__all__ else None
        if isinstance(own_class, type) and is_dataclass(own_class):
            return own_class
    return None


def _is_own_counter(value: object) -> bool:
    return value is estimate_tokens or isinstance(value, Tiktoken)


def _name_of(part: object) -> str:
    """Return what a part is called in an index: its `repr`, without addresses in memory."""
    return re.sub(r" at 0x[0-9A-Fa-f]+", "", repr(part))


def _listed(names: Sequence[str]) -> str:
    return f"({', '.join(names)})"


def _check_same(option: str, saved: str, now: str) -> None:
    if saved != now:
        raise ValueError(
            f"the index was made with {option}={saved}; {now} was given: "
            "give the same, or make a new index"
        )


def _give_again(option: str, name: str) -> str:
    return (
        f"the index was made with {option}={name}, which is not part of it: "
        f"give it again, as load(path, {option}=...)"
    )
