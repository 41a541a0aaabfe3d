"""The files of a saved index: immutable arrays, one checksummed manifest per generation.

Nothing in a file is ever executed.
"""

from clew.store.checking import CheckedGeneration, check
from clew.store.loading import DEFAULT_VERIFY, Verify, load
from clew.store.saved_index import SavedIndex
from clew.store.saving import is_index, save

__all__ = [
    "DEFAULT_VERIFY",
    "CheckedGeneration",
    "SavedIndex",
    "Verify",
    "check",
    "is_index",
    "load",
    "save",
]
