"""What an ended run had read of files, as columns: one file for each time that some was written.

Each such file is whole or it is not there, and begins with its checksum. Nothing in it is run.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

import numpy as np

from clew.document import Document
from clew.read import Piece
from clew.read.checkpoint import CheckpointFile
from clew.read.json_values import to_json
from clew.store import disk
from clew.store.arrays import write_file
from clew.store.columns import read_documents, write_documents
from clew.store.file_readings import read_readings, restore_readings, write_readings
from clew.store.metadata_texts import parse_metadata
from clew.store.packing import pack, unpack
from clew.store.tables import ColumnReader, ColumnWriter

SUFFIX, UNFINISHED = ".files", ".unfinished"
DIGEST_BYTES = 32
NONE = -1  # in the place of a number

Value = TypeVar("Value")


def write_checkpoint(folder: Path, files: Sequence[CheckpointFile]) -> int:
    """Write files that were read, beside those that were written before.

    Args:
        folder: Where to; it exists.
        files: What was read. Left out is what columns cannot hold: such a file is read again.

    Returns:
        How many of them were written.

    Raises:
        OSError: The disk is full or failed.
    """
    held = _held(files)
    if not held:
        return 0
    packed = pack(_columns(held)).data
    digest = blake2b(packed, digest_size=DIGEST_BYTES).digest()
    name = f"{time.time_ns():020d}-{secrets.token_hex(4)}"
    unfinished = folder / f"{name}{UNFINISHED}"
    write_file(unfinished, [digest, packed])
    disk.rename(unfinished, folder / f"{name}{SUFFIX}")
    disk.sync_folder(folder)
    return len(held)


def read_checkpoint(folder: Path) -> dict[str, CheckpointFile]:
    """Return what was written to a folder, by the path of each file; the last of a path counts.

    What is damaged, or of another version, is left out: those files are read again.
    """
    found = dict[str, CheckpointFile]()
    for part in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            content = part.read_bytes()
            digest, packed = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
            if blake2b(packed, digest_size=DIGEST_BYTES).digest() == digest:
                found |= _files(ColumnReader(unpack(np.frombuffer(packed, np.uint8)).__getitem__))
        except (OSError, ValueError, TypeError, KeyError):
            continue
    return found


def _held(files: Iterable[CheckpointFile]) -> list[tuple[CheckpointFile, list[str]]]:
    """Return the files that columns can hold, each with the metadata of its documents as text."""
    held, ids = list[tuple[CheckpointFile, list[str]]](), set[str]()
    for file in files:
        documents = file.reading.documents
        own = [document.id for document in documents]
        is_foreign = any(one.original is not None or one.vector is not None for one in documents)
        if is_foreign or len({*own}) < len(own) or not ids.isdisjoint(own):
            continue
        try:
            metadata = [json.dumps(to_json(one.metadata, one.id)) for one in documents]
        except ValueError:  # saving such an index says so
            continue
        ids.update(own)
        held.append((file, metadata))
    return held


def _columns(held: Sequence[tuple[CheckpointFile, Sequence[str]]]) -> dict[str, np.ndarray]:
    writer = ColumnWriter()
    files = [file for file, _ in held]
    documents = [document for file in files for document in file.reading.documents]
    write_readings(writer, [file.reading for file in files])
    writer.texts("files.cutting", [file.cutting for file in files])
    write_documents(writer, documents, None)
    writer.texts("documents.metadata", [text for _, own in held for text in own])
    cut = [_in_place(file) for file in files]
    _write_pieces(writer, documents, [pieces for own in cut for pieces in own])
    return writer.done()


def _in_place(file: CheckpointFile) -> list[Sequence[Piece] | None]:
    """Return the pieces of every document of a file; none where they were not cut."""
    is_cut = len(file.pieces) == len(file.reading.documents)
    return [*file.pieces] if is_cut else [None] * len(file.reading.documents)


def _write_pieces(
    writer: ColumnWriter,
    documents: Sequence[Document],
    cut: Sequence[Sequence[Piece] | None],
) -> None:
    """Write pieces as places in their documents, with their texts where these are others."""
    writer.numbers("pieces.counts", [NONE if own is None else len(own) for own in cut], np.int64)
    pairs = [
        (document.text, piece)
        for document, own in zip(documents, cut, strict=True)
        for piece in own or ()
    ]
    pieces = [piece for _, piece in pairs]
    numbers = [
        (piece.start, piece.end, _number(piece.parent), _number(piece.tokens)) for piece in pieces
    ]
    writer.numbers("pieces.numbers", np.array(numbers, np.int64).reshape(-1, 4))
    writer.texts("pieces.kinds", [piece.kind for piece in pieces])
    writer.texts(
        "pieces.texts",
        [
            None if piece.text == text[piece.start : piece.end] else piece.text
            for text, piece in pairs
        ],
    )
    writer.lists("pieces.references", [piece.references for piece in pieces])


def _files(reader: ColumnReader) -> dict[str, CheckpointFile]:
    metadata = [parse_metadata(text) for text in reader.texts("documents.metadata")]
    documents = read_documents(reader, metadata, [None] * len(metadata))
    cut = _read_pieces(reader, documents)
    pieces_of = {one.id: own for one, own in zip(documents, cut, strict=True)}
    stored, cuttings = read_readings(reader), reader.texts("files.cutting")
    readings = restore_readings(stored, documents)
    return {
        each.path: CheckpointFile(
            readings[each.path], cutting, [pieces_of[id] for id in each.documents]
        )
        for each, cutting in zip(stored, cuttings, strict=True)
    }


def _read_pieces(reader: ColumnReader, documents: Sequence[Document]) -> list[list[Piece] | None]:
    columns = zip(
        reader.numbers("pieces.numbers", 2).tolist(),
        reader.texts("pieces.kinds"),
        reader.optional_texts("pieces.texts"),
        reader.lists("pieces.references"),
        strict=True,
    )
    counts, cut = reader.numbers("pieces.counts").tolist(), list[list[Piece] | None]()
    for document, count in zip(documents, counts, strict=True):
        own = list[Piece]()
        for _ in range(max(0, count)):
            (start, end, parent, tokens), kind, text, references = next(columns)
            text = document.text[start:end] if text is None else text
            own.append(
                Piece(kind, text, start, end, _or_none(parent), references, _or_none(tokens))
            )
        cut.append(None if count == NONE else own)
    return cut


def _number(value: int | None) -> int:
    return NONE if value is None else value


def _or_none(number: int) -> int | None:
    return None if number == NONE else number
