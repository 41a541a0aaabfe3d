"""Kurisu-G2: descent through a document hierarchy."""

from clew.methods.kurisu.descent import Descent

__all__ = ["Descent"]
