"""The command line of benchmarks that compare this checkout of clew with another on one folder."""

from __future__ import annotations

import argparse
from pathlib import Path

THIS = Path(__file__).parents[2] / "src"


def parser_of(documentation: str | None) -> argparse.ArgumentParser:
    """Return a parser that asks for the folder, and for the other checkout."""
    parser = argparse.ArgumentParser(
        description=documentation, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--before", type=Path, help="another checkout of clew, to compare with")
    return parser


def sources_of(options: argparse.Namespace) -> dict[str, Path]:
    """Return the folder of each version's modules; refuse a folder that is not there."""
    if not options.folder.is_dir():
        raise FileNotFoundError(f"{options.folder} is no folder")
    before = {} if options.before is None else {"before": options.before / "src"}
    return {"this": THIS, **before}
