"""A document is cut into sections, passages and sentences."""

from clew.read.split.splitter import Splitter

__all__ = ["Splitter"]
