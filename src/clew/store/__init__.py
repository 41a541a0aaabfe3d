"""The files of a saved index: immutable arrays, one checksummed manifest per generation, nothing that is ever executed."""

from clew.store.saved import is_index, load, save

__all__ = ["is_index", "load", "save"]
