"""A document is cut into sections, passages and sentences."""

from clew.read.split.files import SplitFiles, is_of_file
from clew.read.split.splitter import Splitter
from clew.read.split.whole import keep_whole

__all__ = ["SplitFiles", "Splitter", "is_of_file", "keep_whole"]
