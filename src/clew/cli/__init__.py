"""The command `clew`: ask a folder, index it, list the recipes, measure them.

Results go to stdout, everything else to stderr. What a user can mend is one line and exit code 2.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from clew.cli.options import parser
from clew.cli.terminal import complain, prepare, say

__all__ = ["main"]

MENDABLE = (ValueError, TypeError, OSError, ImportError)
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0, 2 for what the user can mend, 130 after Ctrl-C."""
    prepare()
    top = parser()
    options = top.parse_args(arguments)
    try:
        if options.run is None:
            say(top.format_help().rstrip())
            return 0
        code: int = options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output has enough of it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except MENDABLE as error:
        if options.traceback:
            raise
        complain(error)
        return 2
    return code
