"""The files of a saved index: immutable arrays, one checksummed manifest per generation.

A generation has files of its own, or those of the one before and one more, of what changed.

Nothing in a file is ever executed.
"""

from typing import TYPE_CHECKING

from clew.on_demand import load_on_demand

if TYPE_CHECKING:
    from clew.store.checking import CheckedGeneration, check
    from clew.store.loading import DEFAULT_VERIFY, Verify, load
    from clew.store.saved_index import SavedAs, SavedIndex
    from clew.store.saving import are_the_same, delete, foreign_files, is_index, is_newest, save
else:
    __getattr__, __dir__ = load_on_demand(
        __name__,
        {
            "checking": "CheckedGeneration check",
            "loading": "DEFAULT_VERIFY Verify load",
            "saved_index": "SavedAs SavedIndex",
            "saving": "are_the_same delete foreign_files is_index is_newest save",
        },
    )

__all__ = [
    "DEFAULT_VERIFY",
    "CheckedGeneration",
    "SavedAs",
    "SavedIndex",
    "Verify",
    "are_the_same",
    "check",
    "delete",
    "foreign_files",
    "is_index",
    "is_newest",
    "load",
    "save",
]
