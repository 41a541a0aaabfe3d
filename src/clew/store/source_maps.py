"""The maps of documents to their files, as columns: those that an earlier version lacks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from clew.graph import freeze
from clew.source_map import SourceMap
from clew.store.tables import ColumnReader, ColumnWriter

DOCUMENTS = "maps.documents"
TARGETS = "maps.targets"


def write_source_maps(writer: ColumnWriter, maps: Sequence[SourceMap | None]) -> None:
    """Write the maps of documents, each column as one run of all; nothing where there are none.

    Args:
        writer: What writes.
        maps: The map of each document, or None.
    """
    known = [(row, source_map) for row, source_map in enumerate(maps) if source_map is not None]
    if not known:
        return
    some = [source_map for _, source_map in known]
    writer.numbers(DOCUMENTS, [row for row, _ in known], np.int32)
    writer.texts("maps.files", [source_map.file for source_map in some])
    writer.numbers("maps.pages", [source_map.page or 0 for source_map in some], np.int32)
    writer.lists("maps.anchors", [source_map.anchors for source_map in some])
    if any(source_map.targets for source_map in some):
        writer.lists(TARGETS, [source_map.targets for source_map in some])
        places = np.concatenate([source_map.target_places for source_map in some])
        writer.numbers("maps.target_places", places)
    starts = np.cumsum([0, *(len(source_map.places) for source_map in some)])
    writer.numbers("maps.starts", starts, np.int64)
    for name in ("places", "lines", "verbatim", "anchor_places"):
        column = np.concatenate([getattr(source_map, name) for source_map in some])
        writer.numbers(f"maps.{name}", column)


def read_source_maps(reader: ColumnReader, n: int) -> list[SourceMap | None]:
    """Return the map of each of `n` documents, or None.

    Raises:
        ValueError: The columns do not fit together.
    """
    maps: list[SourceMap | None] = [None] * n
    if not reader.has(DOCUMENTS):
        return maps
    documents = reader.numbers(DOCUMENTS).tolist()
    if documents and not (min(documents) >= 0 and max(documents) < n):
        raise ValueError(f"{DOCUMENTS} points outside the {n} documents")
    places, lines = reader.numbers("maps.places"), reader.numbers("maps.lines")
    verbatim, anchor_places = reader.numbers("maps.verbatim"), reader.numbers("maps.anchor_places")
    starts, anchors = reader.numbers("maps.starts"), reader.stored_lists("maps.anchors")
    anchor_starts = np.cumsum([0, *map(len, anchors)])
    targets, target_places = _read_targets(reader, len(anchors))
    target_starts = np.cumsum([0, *map(len, targets)])
    fits = (
        len(starts) == len(anchors) + 1
        and starts[0] == 0
        and (np.diff(starts) >= 0).all()
        and len(places) == len(lines) == len(verbatim) == starts[-1]
        and len(anchor_places) == anchor_starts[-1]
        and len(targets) == len(anchors)
        and len(target_places) == target_starts[-1]
    )
    if not fits:
        raise ValueError("the columns of maps.places have other lengths than maps.starts")
    columns = zip(
        documents,
        reader.texts("maps.files"),
        reader.numbers("maps.pages").tolist(),
        anchors,
        pairwise(starts.tolist()),
        pairwise(anchor_starts.tolist()),
        targets,
        pairwise(target_starts.tolist()),
        strict=True,
    )
    for document, file, page, names, (a, b), (c, d), own, (e, f) in columns:
        maps[document] = SourceMap(
            file,
            page or None,
            freeze(places[a:b], np.int32),
            freeze(lines[a:b], np.int32),
            freeze(verbatim[a:b], np.bool_),
            freeze(anchor_places[c:d], np.int32),
            names,
            freeze(target_places[e:f], np.int32),
            own,
        )
    return maps


def _read_targets(
    reader: ColumnReader, n: int
) -> tuple[Sequence[tuple[str, ...]], NDArray[np.integer]]:
    """Return the targets of each of `n` maps and all their places; an earlier version has none."""
    if not reader.has(f"{TARGETS}.starts"):
        return [()] * n, np.zeros(0, np.int32)
    return reader.stored_lists(TARGETS), reader.numbers("maps.target_places")
