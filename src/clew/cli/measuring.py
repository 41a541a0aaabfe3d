"""`clew measure`: recipes side by side on questions with known answers."""

from __future__ import annotations

import argparse
import json

from clew.cli.models import model_of
from clew.cli.terminal import say, watched
from clew.generate import Reports
from clew.measure import answer_figures, compare_folder, prepare
from clew.measure.compare import BUDGETS, KS
from clew.read import Names


def measure(options: argparse.Namespace) -> int:
    """Print the tables for a prepared folder, or prepare one."""
    if options.prepare:
        return _prepare(options)
    if options.source is None:
        raise ValueError(
            "name a folder of questions and passages; --prepare SOURCE -o FOLDER makes one"
        )
    if options.output:
        raise ValueError("-o belongs to --prepare: the tables go to stdout")
    compared = compare_folder(
        options.source,
        options.recipes or (),
        ks=options.limits or KS,
        budgets=options.budgets or BUDGETS,
        baseline=options.baseline,
        embedder=options.embedder,
        vectors=not options.own_vectors,
        facts=options.facts,
        extractor=Names() if options.names else None,
        writers=(Reports(),) if options.reports else (),
        figures=None if options.model is None else answer_figures(model_of(options.model)),
        seed=options.seed,
        progress=watched(),
    )
    say(
        json.dumps(compared.to_dict(), ensure_ascii=False)
        if options.json
        else compared.to_markdown(intervals=options.intervals).rstrip()
    )
    return 0


def _prepare(options: argparse.Namespace) -> int:
    if options.source is not None or options.output is None:
        raise ValueError(
            "--prepare takes the downloaded file and -o the folder to make: clew measure --prepare FILE -o FOLDER"
        )
    done = prepare(options.prepare, options.output, limit=options.questions)
    skipped = f", {done.skipped:,} unanswerable questions left out" if done.skipped else ""
    say(
        f"{done.folder}: {done.questions:,} questions on {done.passages:,} passages, of {done.kind}{skipped}"
    )
    say(f"measure it: clew measure {done.folder}")
    return 0
