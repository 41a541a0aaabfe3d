"""Questions on whole repositories, with documentation, source code, tests and a changelog, as people clone them.

    git clone https://github.com/pallets/flask SOURCES/flask
    python -m tests.benchmarks.repositories SOURCES/flask SOURCES/httpx SOURCES/just SOURCES/pytest --half held

The name of a folder says which questions of `everyday/repositories.jsonl` are asked of it: on how the
program is used (`use`), on what changed from version to version (`changes`) and on how it is written (`code`).
A question is hit at k if one of the k best passages, asked with `limit=10`, stands in a file, or below a folder,
that answers it. The first recipe is the baseline: an interval is that of the mean paired difference from it,
at 95 %. The figures in `measured/folders.md` are of these commits:

    flask 2ac89889, httpx ae1b9f66, just 4f41f609, pytest df87db7b (half `held`)
    caddy 0cf03d32, fzf 956562da, helix 079a789e, ripgrep 3fce3b5b, and of laurent22/joplin db966f91
    the folder `readme` alone (half `tune`)
    LukeSmithxyz/based.cooking 2d8642e, rust-lang/book 91754488, python/peps ba4deeb7 and
    alphagov/govuk-design-system efb0d77d (half `tune`)

Choose by `tune` alone.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import clew
from clew.measure.files import read_lines
from clew.measure.paired import build_table
from tests.benchmarks.everyday import KS, QUESTIONS, best

SMOKE = "{folder} --questions {folder}/everyday.jsonl --recipes fused hipporag"
WANTS = ("use", "changes", "code")


def hits(index: clew.Index, question: Mapping[str, Any], recipe: str) -> list[bool]:
    """Return whether a passage among the best answers, for each number of passages."""
    places = tuple(place["file"] for place in question["gold"])
    context = index.ask(question["question"], recipe=recipe, limit=max(KS))
    answers = [item.id.startswith(places) for item in best(context, max(KS))]
    return [any(answers[:k]) for k in KS]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path, help="repositories")
    parser.add_argument("--questions", type=Path, default=QUESTIONS / "repositories.jsonl")
    parser.add_argument("--half", choices=("tune", "held"), default="tune")
    parser.add_argument("--recipes", nargs="+", default=["fused", "bm25", "hipporag"])
    options = parser.parse_args()
    asked = [
        question
        for _, question in read_lines(options.questions)
        if question["half"] == options.half and question["answerable"]
    ]
    figures: dict[str, dict[str, dict[str, list[bool]]]] = {
        wants: {recipe: defaultdict(list) for recipe in options.recipes} for wants in WANTS
    }
    for folder in options.folders:
        own = [one for one in asked if one.get("repository", folder.name) == folder.name]
        if not own:
            parser.error(f"no question of the half {options.half!r} is on {folder.name!r}")
        index = clew.Index.from_documents(folder)
        print(f"{folder.name}: {len(own)} questions, {len(index.graph.rows('passage')):,} passages")
        for question in own:
            for recipe, columns in figures[question.get("wants", "use")].items():
                for k, hit in zip(KS, hits(index, question, recipe), strict=True):
                    columns[f"hit@{k}"].append(hit)
    for wants, values in figures.items():
        if n := len(values[options.recipes[0]]["hit@1"]):
            table = build_table(f"{wants}: {n} questions", values, options.recipes[0])
            print(f"\n## {table.title}\n\n{table.to_markdown(intervals=True)}")


if __name__ == "__main__":
    main()
