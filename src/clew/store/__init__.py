"""The files of a saved index: immutable arrays, one checksummed manifest per generation.

Nothing in a file is ever executed.
"""

from clew.store.loading import load
from clew.store.saved_index import SavedIndex
from clew.store.saving import is_index, save

__all__ = ["SavedIndex", "is_index", "load", "save"]
