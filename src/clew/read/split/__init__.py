"""A document is cut into sections, passages and sentences."""

from typing import TYPE_CHECKING

from clew.on_demand import load_on_demand

if TYPE_CHECKING:
    from clew.read.split.files import SplitFiles, is_of_file
    from clew.read.split.splitter import Splitter
    from clew.read.split.whole import keep_whole
else:
    __getattr__, __dir__ = load_on_demand(
        __name__,
        {
            "files": "SplitFiles is_of_file",
            "splitter": "Splitter",
            "whole": "keep_whole",
        },
    )

__all__ = ["SplitFiles", "Splitter", "is_of_file", "keep_whole"]
