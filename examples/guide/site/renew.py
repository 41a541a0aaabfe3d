"""Run the code of pages, and write what it prints where they show it.

    python examples/guide/site/renew.py examples/guide/first-app/*.md

What a page shows with three dots stays, as long as it is still so. Read what changed before it is
committed: `git diff` shows each line that the program prints otherwise than before.
"""

from __future__ import annotations

import sys
from pathlib import Path

from blocks import Reader, blocks_of, in_samples, matches, trimmed


def renewed(page: str) -> str:
    """Return a page with what its code prints now."""
    reader, parts, at = Reader(), [], 0
    with in_samples():
        for block in blocks_of(page):
            if block.language != "text" or reader.printed is None:
                reader.carry_out(block)
            elif not matches(reader.printed, block.text):
                parts += [page[at : block.start], f"```text\n{trimmed(reader.printed)}```"]
                at = block.end
    return "".join([*parts, page[at:]])


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name).resolve()
        path.write_text(renewed(path.read_text(encoding="utf-8")), encoding="utf-8")
