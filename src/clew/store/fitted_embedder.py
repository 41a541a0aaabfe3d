"""The embedded default as columns: that of this version, and that of the versions before."""

from __future__ import annotations

import numpy as np

from clew.embedding.embedder import FITTED, FittedEmbedder
from clew.embedding.latent_semantic import LatentSemantic
from clew.embedding.static import SIGNATURE_WIDTH, StaticEmbedding
from clew.embedding.word_vectors import DIMENSIONS, PIECES
from clew.graph import freeze
from clew.store.tables import ColumnReader, ColumnWriter


def write_fitted(writer: ColumnWriter, fitted: FittedEmbedder) -> None:
    """Write what the embedded default is made of."""
    if isinstance(fitted, StaticEmbedding):
        writer.texts("static.vocabulary", fitted.vocabulary)
        writer.numbers("static.n_texts", [fitted.n_texts], np.int64)
        writer.numbers("static.word_counts", fitted.word_counts)
        writer.numbers("static.piece_counts", fitted.piece_counts)
        writer.numbers("static.mean", fitted.mean)
        return
    writer.texts("latent.vocabulary", fitted.vocabulary)
    writer.numbers("latent.unknown", [fitted.unknown], np.float64)
    for name in ("idf", "components", "overlap"):
        writer.numbers(f"latent.{name}", getattr(fitted, name))


def read_fitted(reader: ColumnReader, name: str) -> FittedEmbedder | None:
    """Return the embedded default of that name; None for one that this version does not have.

    Raises:
        ValueError: The arrays do not fit together.
    """
    if name == FITTED[StaticEmbedding]:
        return _read_static(reader)
    return _read_latent(reader) if name == FITTED[LatentSemantic] else None


def _read_static(reader: ColumnReader) -> StaticEmbedding:
    vocabulary, n_texts = reader.stored_texts("static.vocabulary"), reader.numbers("static.n_texts")
    word_counts, piece_counts, mean = (
        reader.numbers(f"static.{name}") for name in ("word_counts", "piece_counts", "mean")
    )
    if (
        n_texts.shape != (1,)
        or word_counts.shape != (len(vocabulary),)
        or piece_counts.shape != (PIECES,)
        or mean.shape != (DIMENSIONS + SIGNATURE_WIDTH,)
    ):
        raise ValueError(
            f"the embedder of {len(vocabulary)} words has arrays of shapes "
            f"{n_texts.shape}, {word_counts.shape}, {piece_counts.shape} and {mean.shape}"
        )
    return StaticEmbedding(
        int(n_texts[0]),
        vocabulary,
        freeze(word_counts, np.int32),
        freeze(piece_counts, np.int32),
        freeze(mean, np.float32),
    )


def _read_latent(reader: ColumnReader) -> LatentSemantic:
    vocabulary, unknown = reader.texts("latent.vocabulary"), reader.numbers("latent.unknown")
    idf = reader.numbers("latent.idf")
    components, overlap = (
        reader.numbers(f"latent.{name}", 2) for name in ("components", "overlap")
    )
    if (
        unknown.shape != (1,)
        or idf.shape != (len(vocabulary),)
        or components.shape != (len(vocabulary), len(overlap))
        or overlap.ndim != 2
    ):
        raise ValueError(
            f"the embedder of {len(vocabulary)} words has arrays of shapes "
            f"{idf.shape}, {components.shape} and {overlap.shape}"
        )
    return LatentSemantic(
        vocabulary,
        freeze(idf, np.float64),
        float(unknown[0]),
        freeze(components, np.float32),
        freeze(overlap, np.float32),
    )
