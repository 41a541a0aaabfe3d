"""`clew index`: read once, ask often."""

from __future__ import annotations

import argparse
import time

from clew.cli.models import model_of
from clew.cli.source import existing, made, splitter_of
from clew.cli.terminal import say
from clew.read import Triples, estimate_extraction


def index(options: argparse.Namespace) -> int:
    """Make and save an index, and say what is in it."""
    from clew.store import is_index

    if (
        options.output.exists()
        and not is_index(options.output)
        and (options.output.is_file() or any(options.output.iterdir()))
    ):
        raise ValueError(
            f"{options.output} exists and is not an index: name an index or a new folder after -o"
        )
    extractor = None if options.model is None else _extractor(options)
    if options.dry_run:
        if extractor is None:
            raise ValueError("--dry-run says what a model would be asked: name one with --model")
        say(
            str(
                estimate_extraction(
                    existing(options.source), extractor, splitter=splitter_of(options)
                )
            )
        )
        return 0
    begun = time.perf_counter()
    built = made(options, extractor)
    if extractor is not None and built.failed and not len(built.graph.facts):
        raise ValueError(
            f"the model read no passage, so nothing was saved; it said for the first: {built.failed[0][1]}"
        )
    built.save(options.output)
    seconds = time.perf_counter() - begun
    kinds = ", ".join(
        f"{len(rows):,} {_several(kind)}" for kind in KINDS if len(rows := built.graph.rows(kind))
    )
    say(
        f"{options.output}: {len(built):,} documents ({kinds}; {len(built.graph.edges):,} edges) in {seconds:.1f} s"
    )
    say(f'ask it: clew ask {options.output} "..."')
    return 0


def _extractor(options: argparse.Namespace) -> Triples:
    """What reads facts with the model, its answers kept in a file beside the index, so that a crash pays for nothing twice."""
    kept = options.answers or options.output.with_name(f"{options.output.name}.answers")
    known = (
        kept if kept.exists() or not options.dry_run else None
    )  # a dry run leaves nothing behind
    return Triples(
        model_of(options.model), rounds=options.rounds, workers=options.workers, answers=known
    )


KINDS = ("section", "passage", "sentence", "entity", "report")


def _several(kind: str) -> str:
    return "entities" if kind == "entity" else f"{kind}s"
