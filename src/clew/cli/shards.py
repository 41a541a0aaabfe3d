"""`clew index --shards N`: a folder that is larger than memory becomes several indexes."""

from __future__ import annotations

import argparse
import re
import shlex
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

from clew.cli.parser import Parser, positive_integer
from clew.cli.source import MAX_NAMES, existing_path, generators_of, print_skipped, reading_keywords
from clew.cli.terminal import counted, print_remark, print_result
from clew.index.index import Index
from clew.store import is_index
from clew.store.manifest import generations

NAME = "shard-{}"
NAMES = re.compile(r"shard-[1-9][0-9]*")
REFUSED = ("model", "facts", "watch", "dry_run")  # what is read, paid or looked at as a whole


def add_shards_option(parser: Parser) -> None:
    """Declare `--shards`."""
    parser.add_argument(
        "--shards",
        type=positive_integer,
        metavar="N",
        help="make N indexes, DIR/shard-1 and so on, one after the other, each of its share of the "
        "files: memory is needed for the largest of them alone; `clew ask DIR/shard-* ...` asks "
        "them as one",
    )


def index_shards(options: argparse.Namespace) -> int:
    """Build the shards in `options.output`, or bring them up to date, and print how many they are.

    Raises:
        ValueError: The output is no folder of so many shards, or an option needs one index.
    """
    if not isinstance(options.output, Path):
        raise ValueError("--shards makes folders: name a folder after -o")  # noqa: TRY004  # typed
    typed = [name for name in REFUSED if getattr(options, name)]
    if typed or generators_of(options):
        raise ValueError(
            "--shards reads files alone: leave "
            f"--{typed[0].replace('_', '-') if typed else 'reports, --summaries and --titles'} out"
        )
    from clew.sharded import EmptyShardWarning, build_shards

    targets = [options.output / NAME.format(i + 1) for i in range(options.shards)]
    _check_output(options.output, targets)
    began, newest = time.perf_counter(), _newest(targets)
    keywords = reading_keywords(
        options, savable=True, before=_shard_before(targets, options), keeps_patterns=True
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", EmptyShardWarning)
        numbers = build_shards(existing_path(options.source), targets, **keywords)
    seconds = time.perf_counter() - began
    if _newest(targets) == newest:
        print_result(f"{options.output}: nothing has changed")
        return 0
    built = [target for target, number in zip(targets, numbers, strict=True) if number]
    opened = (Index.load(target, embedder=options.embedder) for target in built)
    skipped = [one for shard in opened for one in shard.skipped]
    skipped += _say_which_are_empty(caught)
    if skipped:
        print_skipped(skipped)
    shards, documents = counted(len(built), "shard"), counted(sum(numbers), "document")
    print_result(f"{options.output}: {shards} of {documents} in {seconds:.1f} s")
    named = f"{shlex.quote(str(options.output))}/shard-*"
    print_result(f'ask them: clew ask {named} "..."')
    return 0


def _say_which_are_empty(caught: Sequence[warnings.WarningMessage]) -> list[tuple[str, str]]:
    """Print which shards have no document, and return what was left out of these.

    Args:
        caught: What `build_shards` warned of; all else is shown as it would have been.
    """
    from clew.sharded import EmptyShardWarning

    skipped = list[tuple[str, str]]()
    for one in caught:
        if not isinstance(one.message, EmptyShardWarning):
            warnings.showwarning(one.message, one.category, one.filename, one.lineno)
            continue
        names = [Path(target).name for target in one.message.targets]
        more = f" and {len(names) - MAX_NAMES:,} more" if len(names) > MAX_NAMES else ""
        print_remark(f"no document goes to {', '.join(names[:MAX_NAMES])}{more}: no index is there")
        skipped += one.message.skipped
    return skipped


def _shard_before(targets: Sequence[Path], options: argparse.Namespace) -> Index | None:
    """Return a shard that the command made before, whose patterns stay where none are typed."""
    try:
        return next(
            (Index.load(one, embedder=options.embedder) for one in targets if is_index(one)), None
        )
    except (OSError, ValueError):  # damaged, or made with other keywords: `build_shards` says so
        return None


def _newest(targets: Sequence[Path]) -> list[int]:
    """Return the newest generation of each shard, 0 for one that is not there."""
    return [next(iter(generations(one)), 0) for one in targets]


def _check_output(output: Path, targets: Sequence[Path]) -> None:
    """Raise ValueError unless a folder is new or empty, or holds these very shards."""
    if not output.exists():
        return
    found = {one.name for one in output.iterdir()} if output.is_dir() else {output.name}
    if foreign := sorted(name for name in found if not NAMES.fullmatch(name)):
        raise ValueError(
            f"{output} has {foreign[0]}, which is no shard: name a new folder after -o"
        )
    if more := found - {one.name for one in targets}:
        last = max(int(name.rpartition("-")[2]) for name in more)
        raise ValueError(
            f"{output} was made of more shards than {len(targets)}, so {NAME.format(last)} would "
            f"stay: type --shards {last}, or name a new folder after -o"
        )
