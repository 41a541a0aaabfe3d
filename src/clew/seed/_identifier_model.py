"""The model of the language identifier, unpacked once and then looked at where it lies on the disk.

The library py3langid has its model in a compressed file, and a process takes half a second to
unpack the 68 MB that are in it. A question or a corpus looks at few of its pages. So the first
process that needs the model writes the arrays beside the machine code of the loops, and later ones
map them into memory. A folder is found by a digest of the library's file, so nothing outdated is
ever read. It is written under another name, and renamed when it is complete. Where it can neither
be read nor written, the model is unpacked as the library does it.
"""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.graph import freeze

LAYOUT = b"1"  # of the folder
DTYPES: dict[str, type[np.generic]] = {
    "blocks": np.uint16,
    "moves": np.uint32,
    "outputs": np.int32,
    "weights": np.float16,
    "priors": np.float32,
    "codes": np.str_,
}


class IdentifierModel(NamedTuple):
    """A multinomial naive Bayes classifier over what an automaton finds in a text.

    Attributes:
        blocks: uint16 [states], the number of the block of 256 moves that each state has.
        moves: uint32 [256 * blocks], the next state by block and byte.
        outputs: int32 [states], the feature that each state has found; negative for none.
        weights: float16 [features, classes].
        priors: float32 [classes].
        codes: The language of each class; one that is written in two scripts has two.
    """

    blocks: NDArray[np.uint16]
    moves: NDArray[np.uint32]
    outputs: NDArray[np.int32]
    weights: NDArray[np.float16]
    priors: NDArray[np.float32]
    codes: NDArray[np.str_]


@lru_cache(maxsize=1)
def identifier_model() -> IdentifierModel:
    """Return the model of the library; arrays that cannot be written to.

    Example:
        >>> model = identifier_model()
        >>> model.weights.shape == (int(model.outputs.max()) + 1, len(model.codes))
        True
    """
    # What reads and writes files is loaded where a language is to be identified.
    import hashlib

    from py3langid.langid import MODEL_DIR, MODEL_FILE

    from clew.algorithms.kernels.machine_code import find_folder

    packed, cache = MODEL_DIR / MODEL_FILE, find_folder()
    if cache is None:
        return unpacked(packed)
    digest = hashlib.sha256(LAYOUT + packed.read_bytes()).hexdigest()[:24]
    folder = cache / f"languages-{digest}"
    found = load(folder)
    if found is None:
        found = unpacked(packed)
        store(found, folder)
    return found


def unpacked(packed: Path) -> IdentifierModel:
    """Return the model of a file of the library."""
    from py3langid.modelio import load_model

    weights, priors, codes, moves, blocks, outputs = load_model(packed)
    given = blocks, moves, outputs, weights, priors, codes
    # Frozen: as plain Python, a loop keeps a copy of every array that it may change.
    arrays: list[NDArray[Any]] = [
        freeze(one, dtype) for one, dtype in zip(given, DTYPES.values(), strict=True)
    ]
    return IdentifierModel(*arrays)


def load(folder: Path) -> IdentifierModel | None:
    """Return the model of a folder that `store` has written; None where there is none."""
    arrays = []
    for name, dtype in DTYPES.items():
        try:
            mapped = np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError):  # it is not there, or was cut off
            return None
        if not np.issubdtype(mapped.dtype, dtype):
            return None
        arrays.append(np.asarray(mapped))
    return IdentifierModel(*arrays)


def store(model: IdentifierModel, folder: Path) -> None:
    """Write the model to a folder, complete or not at all; that it is there already does no harm.

    Args:
        model: The model.
        folder: Where `load` finds it.
    """
    import shutil
    import tempfile

    with suppress(OSError):
        part = Path(tempfile.mkdtemp(prefix="languages-", dir=folder.parent))
        try:
            part.chmod(0o755)  # as the machine code beside it
            for name, array in model._asdict().items():
                np.save(part / f"{name}.npy", array, allow_pickle=False)
            shutil.rmtree(folder, ignore_errors=True)  # a damaged one
            part.rename(folder)
        finally:
            shutil.rmtree(part, ignore_errors=True)
